//! `expand --status` and `--dry-run`: how far an expansion is, and how long the rest takes.

use std::ops::ControlFlow;

use fnstore::database::Database;
use fnstore::expand::{
    self, Estimate, FrameStatus, Recipe, RunOptions, Shard, Status, StatusRecord,
};
use fnstore::model::Amount;
use fnstore::query::Expression;
use serde::Serialize;

use crate::cli::print::output::{Format, Output, counted, tell};
use crate::cli::print::progress::{self, duration};
use crate::cli::print::render::{ONE_ROW, Row};
use crate::cli::process::stop;
use crate::cli::{Context, Outcome};

impl Row for StatusRecord {
    const COLUMNS: &'static [&'static str] =
        &["release", "frame", "seeds", "done", "ended", "begun", "rounds_missing"];

    fn cells(&self) -> Vec<String> {
        let FrameStatus { seeds, done, ended, begun, rounds_missing } = &self.status;
        let ended = ended.iter().map(|(reason, count)| format!("{count} {reason}"));
        vec![
            self.release.clone(),
            self.frame.clone(),
            seeds.to_string(),
            done.to_string(),
            ended.collect::<Vec<_>>().join(", "),
            begun.to_string(),
            rounds_missing.to_string(),
        ]
    }
}

/// What is missing, and how long it takes, as JSON; see `schema/expand-estimate.schema.json`.
#[derive(Debug, Serialize)]
struct EstimateRecord<'a> {
    #[serde(flatten)]
    status: &'a FrameStatus,
    measured_rounds: u64,
    measured_seconds: Amount,
    missing_seconds: Amount,
    fixed_seconds: Amount,
    /// Whether no measured round ended, so that it takes longer than is told.
    at_least: bool,
}

/// Lists how far each frame is.
pub(super) fn run(
    database: &Database,
    expression: &Expression,
    recipe: (&Recipe, &RunOptions),
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let status = expand::status(database, expression, recipe)?;
    let records = status.records(database)?;
    context.output.rows(Format::Jsonl, records)?;
    found(&status, context)
}

/// Says what is missing, and how long it takes.
pub(super) fn dry_run(
    database: &Database,
    asked: (&Expression, &Recipe, &RunOptions),
    shard: Option<Shard>,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let stopped = stop::on_interrupt("stopping after the step that runs")?;
    let bar = progress::bar("measuring", "rounds");
    let outcome = expand::estimate(database, asked, shard, &mut |at| {
        bar.set_length(at.of_rounds);
        bar.set_position(at.rounds);
        if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    let (status, estimate) = outcome?;
    let total = status.total();
    let record = EstimateRecord {
        status: &total,
        measured_rounds: estimate.map_or(0, |estimate| estimate.rounds),
        measured_seconds: estimate.map_or(0.0, |estimate| estimate.elapsed.as_secs_f64()),
        missing_seconds: estimate.map_or(0.0, |estimate| estimate.missing.as_secs_f64()),
        fixed_seconds: estimate.map_or(0.0, |estimate| estimate.fixed.as_secs_f64()),
        at_least: estimate.is_some_and(|estimate| estimate.rounds == 0),
    };
    context.output.report(&record, ONE_ROW, |output| lay_out(&total, estimate, output))?;
    if stopped() {
        context.output.flush()?;
        tell("interrupted; what was measured until then is told");
        return Ok(Outcome::Interrupted);
    }
    found(&status, context)
}

fn found(status: &Status, context: &mut Context) -> anyhow::Result<Outcome> {
    Outcome::or_tell(
        !status.frames.is_empty(),
        "no human annotation set matches",
        &mut context.output,
    )
}

fn lay_out(
    total: &FrameStatus,
    estimate: Option<Estimate>,
    output: &mut Output,
) -> anyhow::Result<()> {
    let ended: u64 = total.ended.values().sum();
    let rows = [
        ("annotation sets", total.seeds),
        ("through all rounds", total.done),
        ("ended before", ended),
        ("begun", total.begun),
        ("rounds missing", total.rounds_missing),
    ];
    for (name, count) in rows {
        output.count(name, count, "")?;
    }
    let Some(Estimate { rounds, elapsed, missing, .. }) = estimate else { return Ok(()) };
    let seconds = elapsed.as_secs_f64();
    let by = match rounds {
        0 => format!("at least: no round ended in {seconds:.0} s; nothing was written"),
        _ => {
            format!("about, by {} in {seconds:.1} s; nothing was written", counted(rounds, "round"))
        }
    };
    let time = duration(missing.as_secs());
    Ok(output.figure("time", &time, &by)?)
}
