//! What a run hears of its loop: the report, how far it is, and whether it goes on.

use std::ops::ControlFlow;
use std::time::Instant;

use super::pace::{self, Measurement, Pace};
use super::rewriting::{KeptPair, Rewriting};
use super::{ExpansionProgress, Report, Shard};
use crate::decode::Paced;
use crate::grow::{Ended, Event, Observer};

/// Told how far a run is, and asked whether it goes on.
pub(super) type OnProgress<'a> = dyn FnMut(&ExpansionProgress) -> ControlFlow<()> + 'a;

/// Folds events into a report.
pub(super) struct Tally<'p> {
    report: Report,
    pace: Pace,
    /// Rounds of a seed.
    rounds: u16,
    finished_seeds: u64,
    started: Instant,
    /// Whether the run only measures how long it would take.
    measures: bool,
    paced: Paced,
    on_progress: &'p mut OnProgress<'p>,
}

impl<'p> Tally<'p> {
    /// Begins with what is known of the seeds, and the rounds before them.
    pub(super) fn new(
        report: Report,
        (rounds, missing): (u16, u64),
        measures: bool,
        on_progress: &'p mut OnProgress<'p>,
    ) -> Self {
        Self {
            finished_seeds: report.done_before,
            report,
            pace: Pace::of(missing),
            rounds,
            started: Instant::now(),
            measures,
            paced: Paced::new(),
            on_progress,
        }
    }

    /// What a measured run says of all that is missing, the rounds before each seed and its weight,
    /// when some were in flight.
    pub(super) fn foresee<'w, 'r: 'w>(
        &self,
        shard: Option<Shard>,
        in_flight: impl Iterator<Item = &'w Rewriting<'r>>,
        missing: Vec<(u64, f64)>,
    ) -> Measurement {
        let in_flight =
            in_flight.map(|of| (pace::weight(&of.chain.seed.text), of.since.0.elapsed()));
        let missing = self.pace.forecast(self.started.elapsed(), in_flight, missing.into_iter());
        Measurement { shard, rounds: self.pace.rounds(), missing }
    }

    /// The report of a loop that ended so.
    pub(super) fn report(self, ended: Ended) -> Report {
        let out_of_budget = ended == Ended::OutOfBudget;
        let unfinished = self.report.seeds - self.report.left - self.finished_seeds;
        Report {
            left: self.report.left + if out_of_budget { unfinished } else { 0 },
            elapsed: self.started.elapsed(),
            interrupted: ended == Ended::Interrupted,
            out_of_budget,
            ..self.report
        }
    }

    fn progress(&self, in_flight: usize) -> ExpansionProgress {
        let (rounds, of_rounds) = match self.measures {
            true => (self.pace.measured(in_flight), self.pace.wanted()),
            false => (self.pace.done, self.pace.of),
        };
        ExpansionProgress {
            seeds: self.finished_seeds,
            of: self.report.seeds - self.report.left,
            sentences: self.report.sentences,
            rounds,
            of_rounds,
        }
    }

    fn keep(&mut self, kept: &KeptPair) {
        let report = &mut self.report;
        for made in kept.as_ref() {
            report.sentences += 1;
            report.proposed_lexunits += u64::from(made.proposed.is_some());
            for flag in made.generation.flags.names() {
                *report.flags.entry(flag).or_default() += 1;
            }
            if let Some(tally) = &mut report.kept {
                tally.count(&made.generation);
            }
        }
        report.new_triggers += u64::from(kept.is_new.0);
        report.new_pairs += u64::from(kept.is_new.1);
        report.elements += kept.elements.unwrap_or_default();
    }

    fn is_enough(&self, in_flight: usize) -> bool {
        self.measures && self.pace.is_enough(in_flight, self.started)
    }
}

impl Observer<Rewriting<'_>> for Tally<'_> {
    fn hear(&mut self, event: Event<'_, Rewriting<'_>>) {
        match event {
            Event::Begun => self.pace.begun(),
            Event::Kept(kept) => self.keep(kept),
            Event::RoundOver { work, is_last } => {
                let (since, before) = work.since;
                let behind =
                    if is_last { u64::from(self.rounds.saturating_sub(before)) } else { 1 };
                let weight = pace::weight(&work.chain.seed.text);
                self.pace.round((weight, since.elapsed()), behind);
            }
            Event::Ended { work, reason, with_round } => {
                self.finished_seeds += 1;
                if let Some(reason) = reason {
                    *self.report.ended.entry(reason).or_default() += 1;
                    if work.chain.sets.is_empty() {
                        *self.report.unproductive.entry(reason).or_default() += 1;
                    }
                }
                if !with_round {
                    let behind = u64::from(self.rounds.saturating_sub(work.chain.round));
                    self.pace.ended(behind, !work.was_opened());
                }
            }
            Event::Gone => {
                self.finished_seeds += 1;
                self.pace.ended(u64::from(self.rounds), true);
            }
        }
    }

    fn goes_on(&mut self, under_way: usize) -> ControlFlow<()> {
        let at = self.progress(under_way);
        let told = (self.on_progress)(&at);
        if self.is_enough(under_way) { ControlFlow::Break(()) } else { told }
    }

    fn goes_on_within(&mut self, under_way: usize) -> ControlFlow<()> {
        let (at, is_enough) = (self.progress(under_way), self.is_enough(0));
        let Self { paced, on_progress, .. } = self;
        paced.ask(|| if is_enough { ControlFlow::Break(()) } else { on_progress(&at) })
    }
}
