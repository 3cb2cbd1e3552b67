//! The loop: seeds are proposed for, checked and written, many side by side.

use std::ops::ControlFlow;

use super::sink::Sink;
use super::stages::{
    Begun, Checker, Event, Finish, Observer, Proposed, Proposer, Stop, Verdict, Why, Work,
};
use super::writer::GeneratedWriter;
use crate::engine::Paced;

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
    /// Whether no seed and no round begins any more; at first it does.
    pub(crate) is_ending: bool,
}

/// Whether a step goes on that has begun. Who says once that it ends need not say it again.
fn within(answer: ControlFlow<Stop>, is_ending: &mut bool) -> ControlFlow<()> {
    *is_ending |= answer.is_break();
    match answer {
        ControlFlow::Break(Stop::Now) => ControlFlow::Break(()),
        ControlFlow::Break(Stop::AfterRound) | ControlFlow::Continue(()) => {
            ControlFlow::Continue(())
        }
    }
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
        let mut paced = Paced::new();
        let mut goes_on = self.ask();
        loop {
            while goes_on.is_continue() && !self.is_ending && self.proposer.has_room() {
                let Some(seed) = seeds.next() else { break };
                self.begin(seed?, &mut paced)?;
                goes_on = self.step_ended()?;
            }
            if goes_on.is_break() {
                return Ok(Ended::Interrupted);
            }
            let (under_way, observer) = (self.proposer.under_way(), &mut *self.observer);
            let ending = &mut self.is_ending;
            let mut goes = || paced.ask(|| within(observer.goes_on(under_way), ending));
            match self.proposer.next(self.shared, &mut goes)? {
                Proposed::Outputs(work, outputs) => {
                    goes_on = self.check(work, outputs, &mut paced)?;
                }
                Proposed::OutOfBudget => return Ok(Ended::OutOfBudget),
                Proposed::Nothing if self.is_ending => return Ok(Ended::Interrupted),
                Proposed::Nothing => return Ok(Ended::Through),
            }
        }
    }

    fn begin(&mut self, seed: P::Seed, paced: &mut Paced) -> Result<(), P::Error> {
        let (under_way, observer) = (self.proposer.under_way(), &mut *self.observer);
        let ending = &mut self.is_ending;
        let mut goes = || paced.ask(|| within(observer.goes_on(under_way), ending));
        match self.proposer.begin(self.shared, seed, &mut goes)? {
            Begun::UnderWay => self.observer.hear(Event::Begun),
            Begun::Gone => self.observer.hear(Event::Gone),
            Begun::Ended(finish) => self.finish(finish),
        }
        Ok(())
    }

    /// Has the outputs for a seed checked, and writes what may be written. Says whether to go on.
    fn check(
        &mut self,
        mut work: P::Work,
        outputs: P::Outputs,
        paced: &mut Paced,
    ) -> Result<ControlFlow<()>, P::Error> {
        let (under_way, observer) = (self.proposer.under_way(), &mut *self.observer);
        let ending = &mut self.is_ending;
        let mut goes = || paced.ask(|| within(observer.goes_on(under_way), ending));
        match self.checker.check(self.shared, &mut work, outputs, &mut goes)? {
            Verdict::Accept(accepted) => return self.accept(work, &accepted),
            Verdict::Improvable => self.again(work, Why::Improvable)?,
            Verdict::Refuse(reason) => self.again(work, Why::Refused(reason))?,
        }
        self.step_ended()
    }

    /// Writes what a check lets through of a seed, and takes the seed up again unless that was its
    /// last round.
    fn accept(
        &mut self,
        mut work: P::Work,
        accepted: &<P::Work as Work>::Accepted,
    ) -> Result<ControlFlow<()>, P::Error> {
        let release = work.release();
        let ids = self.writer.write(release, accepted.as_ref())?;
        let reason = work.written(accepted, &ids);
        let is_last = reason.is_some() || work.is_through();
        self.observer.hear(Event::Accepted { work: &work, accepted, ids: &ids, is_last });
        if is_last {
            self.finish(Finish { work, reason, with_round: true });
            return self.step_ended();
        }
        self.writer.note(release, work.journal(None));
        // Before the next round begins: who hears of this one may want no other.
        let goes_on = self.step_ended()?;
        if self.is_ending {
            self.proposer.close(&work);
        } else {
            self.again(work, Why::Accepted)?;
        }
        Ok(goes_on)
    }

    /// Has the proposer take a seed up again, if there is more to propose.
    fn again(
        &mut self,
        work: P::Work,
        why: Why<<P::Work as Work>::Reason>,
    ) -> Result<(), P::Error> {
        let finish = self.proposer.again(self.shared, work, why)?;
        finish.into_iter().for_each(|finish| self.finish(finish));
        Ok(())
    }

    /// Notes how a seed ended.
    fn finish(&mut self, finish: Finish<P::Work>) {
        let work = &finish.work;
        self.writer.note(work.release(), work.journal(finish.reason));
        self.observer.hear(Event::Ended(&finish));
        self.proposer.close(work);
    }

    /// Commits when it is time, and asks whether to go on.
    fn step_ended(&mut self) -> Result<ControlFlow<()>, P::Error> {
        if self.writer.is_due() {
            self.commit()?;
        }
        Ok(self.ask())
    }

    /// Asks whether the loop goes on, if only to end what is under way.
    fn ask(&mut self) -> ControlFlow<()> {
        within(self.observer.goes_on(self.proposer.under_way()), &mut self.is_ending)
    }

    fn commit(&mut self) -> Result<(), P::Error> {
        if self.writer.commit()? {
            self.proposer.stored(self.shared);
        }
        Ok(())
    }
}
