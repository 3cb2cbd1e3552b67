//! The rewriter of `fnstore augment`: how far it is, and what came of it.

use std::ops::ControlFlow;

use fnstore::augment::{RememberingRewriter, RewriteTally, RewrittenText};
use fnstore::paraphrase::Request;

use crate::cli::print::output::{counted, counted_are, grouped, tell};
use crate::cli::print::progress;

/// Says what a file of rewritings had.
pub(super) fn tell_found(rewriter: &RememberingRewriter) {
    let (known, others) = rewriter.found();
    tell(&format!("{} known", counted_are(known, "rewriting")));
    if others > 0 {
        tell(&format!(
            "{} more are of another rewriter, beam or kind of numbers, and are left alone",
            grouped(others)
        ));
    }
}

/// The rewritings of the requests of each item.
pub(super) fn rewrite(
    rewriter: &mut RememberingRewriter,
    requests: &[Vec<Request>],
) -> anyhow::Result<Vec<Vec<Vec<RewrittenText>>>> {
    let bar = progress::bar("rewriting", "sentences");
    let all: Vec<Request> = requests.iter().flatten().cloned().collect();
    let found = rewriter.rewrite(&all, &mut |done, of| {
        bar.set_length(of);
        bar.set_position(done);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    let mut found = found?.unwrap_or_default().into_iter();
    Ok(requests.iter().map(|of_item| found.by_ref().take(of_item.len()).collect()).collect())
}

/// Says what was asked, met and lifted.
pub(super) fn tell_tally(rewriter: &RememberingRewriter) {
    let RewriteTally { requests, banned, required, met, lifted, without } = rewriter.tally();
    tell(&format!(
        "asked for {}, {} came to nothing; words banned {}, lifted {}; phrases required {}, met {}",
        counted(requests, "rewriting"),
        grouped(without),
        grouped(banned),
        grouped(lifted),
        grouped(required),
        grouped(met)
    ));
}
