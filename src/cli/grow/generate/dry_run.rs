//! `generate --dry-run`: how many LUs are left, and how long they take.

use std::ops::ControlFlow;

use fnstore::database::Database;
use fnstore::generate::{self, Estimate, GenerationRecipe, Generator};
use fnstore::model::Amount;
use fnstore::query::Expression;
use serde::Serialize;

use crate::cli::print::output::{grouped, tell};
use crate::cli::print::progress::{self, duration};
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// What is left, and how long it takes, as JSON; see `schema/generate-estimate.schema.json`.
#[derive(Debug, Serialize)]
struct EstimateRecord {
    lexunits: u64,
    done_before: u64,
    left: u64,
    measured_lexunits: u64,
    measured_seconds: Amount,
    left_seconds: Amount,
}

pub(super) fn run(
    database: &Database,
    (expression, recipe, limit): (&Expression, &GenerationRecipe, Option<usize>),
    generator: &mut Generator,
    stopped: &dyn Fn() -> bool,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let bar = progress::bar("measuring", "LUs");
    let outcome = generate::estimate(database, expression, (recipe, limit), generator, &mut |at| {
        bar.set_length(at.of);
        bar.set_position(at.lexunits);
        if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    let estimate = outcome?;
    let Estimate { lexunits, done_before, left, measured, elapsed, missing } = estimate;
    let record = EstimateRecord {
        lexunits,
        done_before,
        left,
        measured_lexunits: measured,
        measured_seconds: elapsed.as_secs_f64(),
        left_seconds: missing.as_secs_f64(),
    };
    context.output.report(&record, ONE_ROW, |output| {
        for (name, count) in
            [("LUs without sentences", lexunits), ("done before", done_before), ("left", left)]
        {
            output.line(&format!("  {name:<22} {:>9}", grouped(count)))?;
        }
        if measured == 0 {
            return Ok(());
        }
        let by = format!("about, by {measured} LUs in {:.1} s", elapsed.as_secs_f64());
        let time = duration(missing.as_secs());
        Ok(output.line(&format!("  {:<22} {time:>9}  {by}; nothing was written", "time"))?)
    })?;
    if stopped() {
        context.output.flush()?;
        tell("interrupted; what was measured until then is told");
        return Ok(Outcome::Interrupted);
    }
    Outcome::or_tell(lexunits > 0, "no LU without sentences matches", &mut context.output)
}
