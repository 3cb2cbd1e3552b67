//! `expand --shard`: a part of an expansion in a file.

use std::ops::ControlFlow;
use std::path::Path;

use fnstore::database::Database;
use fnstore::expand::{self, ExpandError, Manifest, Recipe, RunOptions, Shard};
use fnstore::query::Expression;

use crate::cli::print::output::tell;
use crate::cli::print::progress;
use crate::cli::print::render::ONE_ROW;
use crate::cli::process::stop;
use crate::cli::{Context, Outcome};

pub(super) fn run(
    database: &Database,
    told: (&Expression, &Recipe, &RunOptions),
    (shard, file): (&str, &Path),
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let shard = Shard::from_request(shard)?;
    let stopped = stop::on_interrupt("stopping after the step that runs")?;
    let bar = progress::bar("expanding", "sets");
    let outcome = expand::run_shard(database, told, (shard, file), &mut |at| {
        bar.set_expansion(at);
        if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    if let Err(ExpandError::NoSeeds { .. }) = &outcome {
        return Outcome::nothing("no human annotation set matches");
    }
    let (manifest, report) = outcome?;
    let Some(manifest) = manifest else {
        tell("interrupted; the same command resumes behind the last whole seed");
        return Ok(Outcome::Interrupted);
    };
    if report.is_none() {
        tell(&format!("`{}` is there already, whole", file.display()));
    }
    context.output.report(&manifest, ONE_ROW, |output| {
        let Manifest { seeds, sets, lexunits, bytes, .. } = &manifest;
        output.heading(&format!("shard {}/{} in {}", shard.number, shard.of, file.display()))?;
        for (name, count) in
            [("seeds", seeds), ("sentences", sets), ("LUs proposed", lexunits), ("bytes", bytes)]
        {
            output.count(name, *count, "")?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}
