//! How long a generation takes, by some of its LUs, of which nothing is written.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::generator::Generator;
use super::report::{Estimate, GenerationProgress};
use super::run::{BATCH, Run};
use super::sisters::Sisters;
use super::{Recipe, Result};
use crate::database::Database;
use crate::decode::Paced;
use crate::expand::{FrameGap, MEASURED_LONGEST, MEASURED_SHARE, spread};
use crate::model::{Frame, LexUnit, ReleaseId};
use crate::query::Expression;

/// An LU that is not done.
type Todo = (ReleaseId, Rc<Frame>, LexUnit);

/// How many LUs a generation has before it, and how long they take. It is measured on LUs from all
/// over: less than a tenth of all, for a minute or little more, and one at least. Nothing is
/// written. `progress` is told of the LUs that are measured; where it answers `Break`, what was
/// seen by then counts.
///
/// # Errors
/// As [`run_with`](super::run_with).
pub fn estimate(
    database: &Database,
    expression: &Expression,
    recipe: &Recipe,
    generator: &mut Generator,
    progress: &mut dyn FnMut(&GenerationProgress) -> ControlFlow<()>,
) -> Result<Estimate> {
    let identifier = generator.identifier.clone();
    let models = (generator, identifier.as_deref());
    let (mut run, gaps) = Run::prepared(database, expression, recipe, models)?;
    let lexunits = run.report.lexunits;
    let mut todo = not_done(&run, gaps)?;
    let done_before = lexunits - todo.len() as u64;
    todo.truncate(recipe.limit.unwrap_or(usize::MAX));
    let missing = todo.len() as u64;
    let wanted = ((missing as f64 * MEASURED_SHARE) as usize).max(1);
    let mut todo = spread(todo).into_iter().peekable();
    let (started, mut paced, mut measured) = (Instant::now(), Paced::new(), 0);
    while todo.peek().is_some() && measured < wanted && started.elapsed() < MEASURED_LONGEST {
        let batch: Vec<Todo> = todo.by_ref().take(BATCH.min(wanted - measured)).collect();
        let many = batch.len();
        let mut plans = Vec::new();
        for (release, frame, lexunit) in batch {
            let sisters = Sisters::of(database, release, &frame)?;
            plans.extend(run.plan(release, &frame, &sisters, lexunit)?);
        }
        let at = GenerationProgress { lexunits: measured as u64, of: wanted as u64, sentences: 0 };
        match run.made(&mut plans, &mut || paced.ask(|| progress(&at))) {
            Err(error) if error.is_stopped() => break,
            made => made?,
        };
        measured += many;
        if progress(&GenerationProgress { lexunits: measured as u64, ..at }).is_break() {
            break;
        }
    }
    let elapsed = started.elapsed();
    let each = elapsed.as_secs_f64() / measured.max(1) as f64;
    let of_missing = if measured == 0 { 0.0 } else { each * missing as f64 };
    Ok(Estimate {
        lexunits,
        done_before,
        left: missing,
        measured: measured as u64,
        elapsed,
        missing: Duration::from_secs_f64(of_missing),
    })
}

fn not_done(run: &Run<'_>, gaps: Vec<FrameGap>) -> Result<Vec<Todo>> {
    let mut todo = Vec::new();
    for FrameGap { release, frame, lexunits } in gaps {
        let sisters = Sisters::of(run.database, release.id, &frame)?;
        let frame = Rc::new(frame);
        for lexunit in lexunits {
            if !run.is_done(release.id, &sisters, &lexunit)? {
                todo.push((release.id, Rc::clone(&frame), lexunit));
            }
        }
    }
    Ok(todo)
}
