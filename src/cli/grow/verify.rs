//! `fnstore verify`: what a verifier says of annotation sets.

use fnstore::expand;

use super::pass::Pass;
use crate::cli::options::verifier::VerifierArgs;
use crate::cli::print::output::grouped;
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// Say whether targets evoke frames and rewritings say the same
///
/// Asks a verifier about each set, generated or not: does the target evoke the frame? It reads the
/// frame's definition and LUs in the store. Of a rewritten set it also asks whether the text says
/// what its source says, and the rewriter how likely the source is, given the text. Stores the
/// answers as `evokes` and `same_meaning`, which are calibrated probabilities, and `reverse`, a
/// negative log-likelihood per token. No set is removed: `fnstore query 'evokes<0.2'` finds those
/// that the verifier doubts. Skips sets whose question has not changed. An interrupted run resumes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Ask about the annotation sets that this query finds
    #[arg(value_name = "EXPR", required = true)]
    expression: Vec<String>,

    #[command(flatten)]
    verifier: VerifierArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore verify origin=generated
  fnstore verify frame=Verification && fnstore query frame=Verification --sort=evokes --limit 10";

const PASS: Pass = Pass {
    doing: "verifying",
    finishing: "writing what was answered",
    done: "what was answered",
    nothing: "no annotation set matches",
};

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let mut judges = args.verifier.open()?;
    let done = PASS.over(context, &text, |database, expression, progress| {
        Ok(expand::verify(database, expression, &mut judges, progress)?)
    })?;
    context.output.report(&done, ONE_ROW, |output| {
        let count = grouped(done.sets);
        output.heading(&format!("annotation sets looked at for {text}: {count}"))?;
        output.count("written", done.written, "")?;
        output.count("had it before", done.sets - done.written, "")?;
        Ok(output.count("without", done.without, "")?)
    })?;
    PASS.outcome(context, done.sets, done.interrupted)
}
