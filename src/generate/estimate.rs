//! How long a generation takes, by some of its LUs, of which nothing is written.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::generator::Generator;
use super::placement::Shared;
use super::report::{Estimate, GenerationProgress};
use super::run::{prepare, run_seeds};
use super::seeds::{Seed, Seeds};
use super::sisters::Sisters;
use super::tally::Tally;
use super::{Recipe, Result};
use crate::database::Database;
use crate::expand::{MEASURED_LONGEST, MEASURED_SHARE, spread};
use crate::grow::Nowhere;
use crate::model::{Frame, FrameId, LexUnit, ReleaseId};
use crate::query::Expression;

/// An LU that is not done. The sentences of its frame are read again when it is measured: those of
/// all frames would fill the memory.
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
    (recipe, limit): (&Recipe, Option<usize>),
    generator: &mut Generator,
    progress: &mut dyn FnMut(&GenerationProgress) -> ControlFlow<()>,
) -> Result<Estimate> {
    let (gaps, fingerprint, sink) = prepare(database, (expression, recipe, limit), generator)?;
    let lexunits = gaps.iter().map(|gap| gap.lexunits.len() as u64).sum();
    let seeds = Seeds::new(database, (recipe, sink.known_recipe()), None, gaps);
    let done_before = seeds.done_before();
    let todo = seeds.map(|seed| seed.map(|of| (of.release, of.frame, of.lexunit)));
    let mut todo: Vec<Todo> = todo.collect::<Result<_>>()?;
    todo.truncate(limit.unwrap_or(usize::MAX));
    let frames: HashSet<(ReleaseId, FrameId)> =
        todo.iter().map(|(release, frame, _)| (*release, frame.id)).collect();
    let (left, frames) = (todo.len(), frames.len());
    let wanted = ((left as f64 * MEASURED_SHARE) as usize).max(1);
    let mut reading = Duration::ZERO;
    let mut sample = spread(todo).into_iter().take(wanted).map(|(release, frame, lexunit)| {
        let since = Instant::now();
        let sisters = Rc::new(Sisters::of(database, release, &frame)?);
        reading += since.elapsed();
        Ok(Seed { release, frame, sisters, lexunit })
    });
    let most = (wanted as u64, None);
    let mut tally = Tally::new(most, Rc::default(), MEASURED_LONGEST, progress);
    let mut shared = Shared::new(database, recipe, generator);
    run_seeds(&mut shared, (sink.recipe(), fingerprint), Nowhere, &mut sample, &mut tally)?;
    let (elapsed, measured) = tally.pace();
    // A run reads the sentences of a frame once for all its LUs.
    let each = |time: Duration| match measured {
        0 => 0.0,
        _ => time.as_secs_f64() / measured as f64,
    };
    let missing = each(elapsed.saturating_sub(reading)) * left as f64
        + each(reading) * frames.min(left) as f64;
    Ok(Estimate {
        lexunits,
        done_before: done_before.get(),
        left: left as u64,
        measured,
        elapsed,
        missing: Duration::from_secs_f64(missing),
    })
}
