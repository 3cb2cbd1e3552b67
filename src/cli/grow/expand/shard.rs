//! `expand --shard`: a part of an expansion in a file.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context as _, bail};
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
    let shard = parsed(shard)?;
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

/// The part that is asked for: `3/16`, or `/16` in a task of a Slurm array.
pub(super) fn parsed(text: &str) -> anyhow::Result<Shard> {
    if let Some(of) = text.strip_prefix('/') {
        return of_slurm(of);
    }
    Shard::parse(text).with_context(|| {
        format!("`shard` is `{text}`; expected a part and the number of parts, as in `3/16`")
    })
}

/// The part of so many that is a task's of a Slurm array: the one of its number, whichever tasks
/// the array has.
fn of_slurm(of: &str) -> anyhow::Result<Shard> {
    const TASK: &str = "SLURM_ARRAY_TASK_ID";
    let Ok(task) = std::env::var(TASK) else {
        bail!("there is no {TASK}: this is no task of a Slurm array; say `--shard I/N`");
    };
    Shard::parse(&format!("{task}/{of}")).with_context(|| {
        format!("task {task} of an array for `--shard /{of}`; expected a task from 1 to {of}")
    })
}
