//! How long a generation takes, by some of its LUs, of which nothing is written.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::generator::Generator;
use super::placement::Shared;
use super::proposer::BATCH;
use super::report::{Estimate, GenerationProgress};
use super::run::{prepare, run_seeds};
use super::seeds::{Seed, Seeds};
use super::sisters::Sisters;
use super::tally::Tally;
use super::{GenerationRecipe, Result};
use crate::database::Database;
use crate::expand::{MEASURED_LONGEST, spread};
use crate::grow::Nowhere;
use crate::model::{Frame, LexUnit, ReleaseId};
use crate::query::Expression;

/// Of all LUs, the share that is measured, in whole batches.
const MEASURED_SHARE: f64 = 0.08;

/// An LU that is not done. The sentences of its frame are read again when it is measured: those of
/// all frames would fill the memory.
type Todo = (ReleaseId, Rc<Frame>, LexUnit);

/// How many LUs a generation has before it, and how long they take. It is measured on LUs from all
/// over: less than a tenth of all, in batches as the generation makes them, for a minute or little
/// more, and one batch at least. What is read once, or once a frame, counts once. Nothing is
/// written. `progress` is told of the LUs that are measured; where it answers `Break`, what was
/// seen by then counts.
///
/// # Errors
/// As [`run_with`](super::run_with).
pub fn estimate(
    database: &Database,
    expression: &Expression,
    (recipe, limit): (&GenerationRecipe, Option<usize>),
    generator: &mut Generator,
    progress: &mut dyn FnMut(&GenerationProgress) -> ControlFlow<()>,
) -> Result<Estimate> {
    let began = Instant::now();
    let (gaps, fingerprint, sink) = prepare(database, (expression, recipe, limit), generator)?;
    let lexunits = gaps.iter().map(|gap| gap.lexunits.len() as u64).sum();
    // The sisters of each frame are read here as the generation reads them.
    let seeds = Seeds::new(database, (recipe, sink.known_recipe()), None, gaps);
    let done_before = seeds.done_before();
    let todo = seeds.map(|seed| seed.map(|of| (of.release, of.frame, of.lexunit)));
    let mut todo: Vec<Todo> = todo.collect::<Result<_>>()?;
    let mut shared = Shared::new(database, recipe, generator);
    for (release, ..) in &todo {
        shared.actors_of(*release)?;
    }
    let fixed = began.elapsed();
    todo.truncate(limit.unwrap_or(usize::MAX));
    let left = todo.len();
    let mut reading = Duration::ZERO;
    let sampled = spread(todo).into_iter().take(wanted(left));
    let mut sample = sampled.map(|(release, frame, lexunit)| {
        let since = Instant::now();
        let sisters = Rc::new(Sisters::of(database, release, &frame)?);
        reading += since.elapsed();
        Ok(Seed { release, frame, sisters, lexunit })
    });
    let most = (wanted(left) as u64, None);
    let mut tally = Tally::new(most, Rc::default(), MEASURED_LONGEST, progress);
    run_seeds(&mut shared, (sink.recipe(), fingerprint), Nowhere, &mut sample, &mut tally)?;
    let (elapsed, measured) = tally.pace();
    let elapsed = elapsed.saturating_sub(reading);
    let missing = match measured {
        0 => Duration::ZERO,
        _ => fixed + elapsed.mul_f64(left as f64 / measured as f64),
    };
    let done_before = done_before.get();
    Ok(Estimate { lexunits, done_before, left: left as u64, measured, elapsed, missing })
}

/// On how many of some LUs a generation is measured.
fn wanted(missing: usize) -> usize {
    let batches = (missing as f64 * MEASURED_SHARE) as usize / BATCH;
    (batches.max(1) * BATCH).min(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_batches_are_measured_and_one_at_least() {
        assert_eq!([0, 5, 200, 399, 400, 1000].map(wanted), [0, 5, 16, 16, 32, 80]);
    }
}
