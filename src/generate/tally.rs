//! What a run hears of its loop: the report, how far it is, and whether it goes on.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::placement::Placement;
use super::report::{GenerationProgress, GenerationReport};
use crate::grow::{Ended, Event, Finish, Observer, Stop};
use crate::model::{Pos, RecipeId};

/// Told how far a run is, and asked whether it goes on.
pub(super) type OnProgress<'a> = dyn FnMut(&GenerationProgress) -> ControlFlow<()> + 'a;

/// Folds events into a report.
pub(super) struct Tally<'p> {
    report: GenerationReport,
    /// LUs that are finished, without those done before.
    finished: u64,
    done_before: Rc<Cell<u64>>,
    /// Most LUs that the run takes.
    most: u64,
    started: Instant,
    /// Time after which the run ends by itself.
    longest: Duration,
    on_progress: &'p mut OnProgress<'p>,
}

impl<'p> Tally<'p> {
    /// Begins with so many LUs that lack sentences, of which the run takes at most so many.
    pub(super) fn new(
        (lexunits, most): (u64, Option<usize>),
        done_before: Rc<Cell<u64>>,
        longest: Duration,
        on_progress: &'p mut OnProgress<'p>,
    ) -> Self {
        Self {
            report: GenerationReport { lexunits, ..GenerationReport::default() },
            finished: 0,
            done_before,
            most: most.map_or(u64::MAX, |most| most as u64),
            started: Instant::now(),
            longest,
            on_progress,
        }
    }

    /// Time since the loop began, and LUs that were finished in it.
    pub(super) fn pace(&self) -> (Duration, u64) {
        (self.started.elapsed(), self.finished)
    }

    /// The report of a loop that ended so, under a recipe if the store has it.
    pub(super) fn report(self, ended: Ended, recipe: Option<RecipeId>) -> GenerationReport {
        let done_before = self.done_before.get();
        GenerationReport {
            recipe,
            done_before,
            given: self.report.fates.values().map(|fate| fate.given).sum(),
            left: self.report.lexunits - done_before - self.finished,
            elapsed: self.started.elapsed(),
            interrupted: ended == Ended::Interrupted,
            out_of_budget: ended == Ended::OutOfBudget,
            ..self.report
        }
    }

    fn progress(&self) -> GenerationProgress {
        let done_before = self.done_before.get();
        GenerationProgress {
            lexunits: done_before + self.finished,
            of: self.report.lexunits.min(done_before.saturating_add(self.most)),
            sentences: self.report.sentences,
        }
    }
}

impl Observer<Placement> for Tally<'_> {
    fn hear(&mut self, event: Event<'_, Placement>) {
        let Event::Ended(Finish { work, reason, .. }) = event else { return };
        self.finished += 1;
        self.report.add(&work.part);
        let fate = self.report.fates.entry(Pos::of_lu_name(&work.lexunit.name)).or_default();
        match reason {
            Some(skip) => *fate.skipped.entry(*skip).or_default() += 1,
            None => fate.given += 1,
        }
    }

    fn goes_on(&mut self, under_way: usize) -> ControlFlow<Stop> {
        let at = self.progress();
        let answer = (self.on_progress)(&at);
        // A batch takes its time before its first LU ends.
        let is_over = under_way == 0 && self.finished > 0 && self.started.elapsed() >= self.longest;
        let answer = if is_over { ControlFlow::Break(()) } else { answer };
        answer.map_break(|()| Stop::Now)
    }
}
