//! The loop: seeds are proposed for, checked and written, many side by side.

use std::ops::ControlFlow;

use super::sink::Sink;
use super::stages::{
    Begun, Checker, Event, Finish, Observer, Proposed, Proposer, Verdict, Why, Work,
};
use super::writer::GeneratedWriter;

/// How a loop ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All seeds are through.
    Through,
    /// The observer ended it; what was under way is dropped, and a later run makes it anew.
    Interrupted,
    /// What a server may cost is spent.
    OutOfBudget,
}

/// The stages of a loop.
pub(crate) struct Augmentation<'a, 'd, P: Proposer, C, S, O> {
    pub(crate) shared: &'a mut P::Shared,
    pub(crate) proposer: &'a mut P,
    pub(crate) checker: &'a mut C,
    pub(crate) writer: &'a mut GeneratedWriter<'d, S>,
    pub(crate) observer: &'a mut O,
}

impl<P, C, S, O> Augmentation<'_, '_, P, C, S, O>
where
    P: Proposer,
    C: Checker<P>,
    S: Sink,
    O: Observer<P::Work>,
    P::Error: From<S::Error>,
{
    /// Works through the seeds. What was finished before a failure is committed.
    ///
    /// # Errors
    /// When a stage fails, or a commit does.
    pub(crate) fn run(
        mut self,
        seeds: &mut dyn Iterator<Item = Result<P::Seed, P::Error>>,
    ) -> Result<Ended, P::Error> {
        let ended = match self.work(seeds) {
            Err(error) if P::is_stopped(&error) => Ok(Ended::Interrupted),
            ended => ended,
        };
        let committed = self.commit();
        let ended = ended?;
        committed?;
        Ok(ended)
    }

    fn work(
        &mut self,
        seeds: &mut dyn Iterator<Item = Result<P::Seed, P::Error>>,
    ) -> Result<Ended, P::Error> {
        let mut goes_on = self.observer.goes_on(0);
        loop {
            while goes_on.is_continue() && self.proposer.has_room() {
                let Some(seed) = seeds.next() else { break };
                self.begin(seed?)?;
                goes_on = self.step_ended()?;
            }
            if goes_on.is_break() {
                return Ok(Ended::Interrupted);
            }
            let (under_way, observer) = (self.proposer.under_way(), &mut *self.observer);
            let mut within = || observer.goes_on_within(under_way);
            match self.proposer.next(self.shared, &mut within)? {
                Proposed::Outputs(work, outputs) => self.take(work, outputs)?,
                Proposed::OutOfBudget => return Ok(Ended::OutOfBudget),
                Proposed::Nothing => {
                    // The last seed may have ended without a step.
                    let _ = self.observer.goes_on(0);
                    return Ok(Ended::Through);
                }
            }
            goes_on = self.step_ended()?;
        }
    }

    fn begin(&mut self, seed: P::Seed) -> Result<(), P::Error> {
        let (under_way, observer) = (self.proposer.under_way(), &mut *self.observer);
        let mut within = || observer.goes_on_within(under_way);
        match self.proposer.begin(self.shared, seed, &mut within)? {
            Begun::UnderWay => self.observer.hear(Event::Begun),
            Begun::Gone => self.observer.hear(Event::Gone),
            Begun::Ended(finish) => self.finish(finish, false),
        }
        Ok(())
    }

    /// Has the outputs for a seed checked, and writes what may be kept.
    fn take(&mut self, mut work: P::Work, outputs: P::Outputs) -> Result<(), P::Error> {
        let (under_way, observer) = (self.proposer.under_way(), &mut *self.observer);
        let mut within = || observer.goes_on_within(under_way);
        match self.checker.check(self.shared, &mut work, outputs, &mut within)? {
            Verdict::Keep(kept) => self.keep(work, &kept),
            Verdict::Improvable => {
                let ended = self.proposer.again(self.shared, work, Why::Improvable)?;
                ended.into_iter().for_each(|finish| self.finish(finish, false));
                Ok(())
            }
            Verdict::Refuse(reason) => {
                let ended = self.proposer.again(self.shared, work, Why::Refused(reason))?;
                if let Some(finish) = ended {
                    let work = &finish.work;
                    self.observer.hear(Event::RoundOver { work, is_last: true });
                    self.finish(finish, true);
                }
                Ok(())
            }
        }
    }

    /// Writes what is kept of a seed, and takes it up again unless that was its last.
    fn keep(&mut self, mut work: P::Work, kept: &<P::Work as Work>::Kept) -> Result<(), P::Error> {
        let release = work.release();
        let sets = kept.as_ref().iter().map(|set| self.writer.write(release, set));
        let ids = sets.collect::<Result<Vec<_>, S::Error>>()?;
        let reason = work.written(kept, &ids);
        let is_last = reason.is_some() || work.is_through();
        self.observer.hear(Event::Kept(kept));
        self.observer.hear(Event::RoundOver { work: &work, is_last });
        if is_last {
            self.finish(Finish { work, reason }, true);
            return Ok(());
        }
        self.writer.note(release, work.journal(None));
        if let Some(finish) = self.proposer.again(self.shared, work, Why::Kept)? {
            self.finish(finish, false);
        }
        Ok(())
    }

    /// Notes how a seed ended.
    fn finish(&mut self, Finish { work, reason }: Finish<P::Work>, with_round: bool) {
        self.writer.note(work.release(), work.journal(reason));
        self.observer.hear(Event::Ended { work: &work, reason, with_round });
        self.proposer.close(&work);
    }

    /// Commits when it is time, and asks whether to go on.
    fn step_ended(&mut self) -> Result<ControlFlow<()>, P::Error> {
        if self.writer.is_due() {
            self.commit()?;
        }
        Ok(self.observer.goes_on(self.proposer.under_way()))
    }

    fn commit(&mut self) -> Result<(), P::Error> {
        if self.writer.commit()? {
            self.proposer.stored(self.shared);
        }
        Ok(())
    }
}
