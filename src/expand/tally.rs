//! What a run hears of its loop: the report, how far it is, and whether it goes on.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use super::pace::{self, Measurement, Pace};
use super::rewriting::{AcceptedPair, Rewriting};
use super::{ExpansionProgress, Output, Phase, Report, Shard};
use crate::grow::{Ended, Event, Finish, Observer, Stop};
use crate::model::AnnotationSetId;

/// Told how far a run is, and asked whether it goes on.
pub(super) type OnProgress<'a> = dyn FnMut(&ExpansionProgress) -> ControlFlow<Stop> + 'a;

/// Folds events into a report.
pub(super) struct Tally<'p> {
    report: Report,
    pace: Pace,
    /// Rounds of a seed.
    rounds: u16,
    finished_seeds: u64,
    started: Instant,
    /// Whether a seed was taken up.
    has_begun: bool,
    /// Whether the run only measures how long it would take.
    measures: bool,
    /// The seed of the last step, and the last sentence.
    seed: Option<AnnotationSetId>,
    last: Option<Arc<Output>>,
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
            has_begun: false,
            measures,
            seed: None,
            last: None,
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
        let in_flight = in_flight.map(|of| (pace::weight(&of.chain.seed.text), of.since.elapsed()));
        let missing = self.pace.forecast(self.started.elapsed(), in_flight, missing.into_iter());
        Measurement { shard, rounds: self.pace.rounds(), missing }
    }

    /// The report of a loop that ended so.
    pub(super) fn report(self, ended: Ended) -> Report {
        let out_of_budget = ended == Ended::OutOfBudget;
        let unfinished = self.report.seeds - self.report.left - self.finished_seeds;
        let elapsed = self.started.elapsed();
        let (sentences, seconds) = (self.report.sentences as f64, elapsed.as_secs_f64());
        Report {
            left: self.report.left + if out_of_budget { unfinished } else { 0 },
            elapsed,
            sentences_per_second: if seconds > 0.0 { sentences / seconds } else { 0.0 },
            interrupted: ended == Ended::Interrupted,
            out_of_budget,
            ..self.report
        }
    }

    fn progress(&self) -> ExpansionProgress {
        let (rounds, of_rounds) = match self.measures {
            true => (self.pace.measured(self.started.elapsed()), self.pace.of),
            false => (self.pace.done, self.pace.of),
        };
        ExpansionProgress {
            phase: Phase::Rewriting,
            seed: self.seed,
            last: self.last.clone(),
            seeds: self.finished_seeds,
            of: self.report.seeds - self.report.left,
            sentences: self.report.sentences,
            rounds,
            of_rounds,
        }
    }

    fn count(&mut self, pair: &AcceptedPair) {
        let report = &mut self.report;
        for made in pair.as_ref() {
            report.sentences += 1;
            report.proposed_lexunits += u64::from(made.proposed.is_some());
            for flag in made.generation.flags.names() {
                *report.flags.entry(flag).or_default() += 1;
            }
            if let Some(tally) = &mut report.kept {
                tally.count(&made.generation);
            }
        }
        report.new_triggers += u64::from(pair.is_new_trigger);
        report.new_pairs += u64::from(pair.is_new_pair);
        report.elements += pair.elements.unwrap_or_default();
        report.carried += &pair.company;
    }

    /// A round of a seed is over, and so many of those before it are behind it.
    fn round(&mut self, work: &Rewriting<'_>, behind: u16, is_over: bool) {
        let weight = pace::weight(&work.chain.seed.text);
        self.pace.round((weight, work.since.elapsed()), u64::from(behind), is_over);
    }
}

impl Observer<Rewriting<'_>> for Tally<'_> {
    fn hear(&mut self, event: Event<'_, Rewriting<'_>>) {
        if self.measures && !std::mem::replace(&mut self.has_begun, true) {
            // What the first seed opened is there for all.
            self.started = Instant::now();
        }
        match event {
            Event::Begun => self.pace.begun(),
            Event::Accepted { work, accepted, ids, is_last } => {
                self.count(accepted);
                let made = accepted.as_ref().iter().zip(ids).next_back();
                self.last = made.map(|(made, id)| Arc::new(Output::of(work, made, *id)));
                self.seed = Some(work.chain.seed.set);
                if !is_last {
                    self.round(work, 1, false);
                }
            }
            Event::Ended(Finish { work, reason, with_round }) => {
                self.finished_seeds += 1;
                self.seed = Some(work.chain.seed.set);
                if let Some(reason) = reason {
                    *self.report.ended.entry(*reason).or_default() += 1;
                    if work.chain.sets.is_empty() {
                        *self.report.unproductive.entry(*reason).or_default() += 1;
                    }
                }
                if *with_round {
                    let behind = self.rounds.saturating_sub(work.rounds_before);
                    self.round(work, behind, true);
                } else {
                    let behind = self.rounds.saturating_sub(work.chain.round);
                    self.pace.ended(u64::from(behind), !work.has_begun);
                }
            }
            Event::Gone => {
                self.finished_seeds += 1;
                // How many rounds it had is not known any more.
                let left = self.pace.of.saturating_sub(self.pace.done);
                self.pace.ended(left.min(u64::from(self.rounds)), true);
            }
        }
    }

    fn goes_on(&mut self, _: usize) -> ControlFlow<Stop> {
        let at = self.progress();
        let answer = (self.on_progress)(&at);
        let is_enough = self.measures && Pace::is_enough(self.started.elapsed());
        if is_enough { ControlFlow::Break(Stop::Now) } else { answer }
    }
}
