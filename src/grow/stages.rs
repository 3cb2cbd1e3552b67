//! What the loop joins: who proposes sentences, who checks them, who hears of it.

use std::ops::ControlFlow;

use super::writer::Generated;
use crate::database::JournalWrite;
use crate::engine::GoesOn;
use crate::model::{AnnotationSetId, ReleaseId};

/// A seed on its way through the loop.
pub(crate) trait Work {
    /// What a check lets through.
    type Accepted: AsRef<[Generated]>;
    /// Why a seed ends before its time.
    type Reason: Copy;

    /// The release that its sentences are written to.
    fn release(&self) -> ReleaseId;

    /// Takes in what was written, with its ids in the same order. Gives why it ends, if it does so
    /// before its time.
    fn written(
        &mut self,
        accepted: &Self::Accepted,
        ids: &[AnnotationSetId],
    ) -> Option<Self::Reason>;

    /// Whether nothing more is wanted of it.
    fn is_through(&self) -> bool;

    /// What the journal is to say of it.
    fn journal(&self, end: Option<Self::Reason>) -> Vec<JournalWrite>;
}

/// A seed that ends.
pub(crate) struct Finish<W: Work> {
    pub(crate) work: W,
    /// Why, if before its time.
    pub(crate) reason: Option<W::Reason>,
    /// Whether it does so with a round, and not before its first or between two.
    pub(crate) with_round: bool,
}

/// What became of a seed that was taken up.
pub(crate) enum Begun<W: Work> {
    /// Sentences will be proposed for it.
    UnderWay,
    /// It ended at once.
    Ended(Finish<W>),
    /// The store has it no longer.
    Gone,
}

/// What a proposer gives next.
pub(crate) enum Proposed<W, O> {
    /// Outputs for a seed, which waits for what the checker says.
    Outputs(W, O),
    /// No seed is under way.
    Nothing,
    /// What a server may cost is spent.
    OutOfBudget,
}

/// Why a proposer is asked again for a seed.
#[derive(Clone, Copy)]
pub(crate) enum Why<R> {
    /// Something was written: the next round.
    Accepted,
    /// Something else may be better; the seed remembers the best so far.
    Improvable,
    /// Nothing may be written, for this reason.
    Refused(R),
}

/// What a checker says of the outputs for a seed.
pub(crate) enum Verdict<W: Work> {
    /// These may be written.
    Accept(W::Accepted),
    /// The proposer shall try something else first; the seed remembers the best so far.
    Improvable,
    /// None may be written.
    Refuse(W::Reason),
}

/// Writes sentences for seeds, many side by side.
pub(crate) trait Proposer {
    /// What it shares with the checker.
    type Shared;
    /// What it is given.
    type Seed;
    /// A seed on its way.
    type Work: Work;
    /// What it proposes for one.
    type Outputs;
    /// What can go wrong.
    type Error;

    /// Whether it takes one more seed before it gives outputs.
    fn has_room(&self) -> bool;

    /// Seeds that are under way.
    fn under_way(&self) -> usize;

    /// Takes up a seed.
    fn begin(
        &mut self,
        shared: &mut Self::Shared,
        seed: Self::Seed,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Begun<Self::Work>, Self::Error>;

    /// Gives the next outputs. It fails with an error that [`is_stopped`](Self::is_stopped) knows
    /// when `goes_on` says so.
    fn next(
        &mut self,
        shared: &mut Self::Shared,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Proposed<Self::Work, Self::Outputs>, Self::Error>;

    /// Takes a seed up again; gives it back if there is nothing more to propose. As it stands it is
    /// for whoever proposes once for each seed.
    fn again(
        &mut self,
        _shared: &mut Self::Shared,
        work: Self::Work,
        why: Why<<Self::Work as Work>::Reason>,
    ) -> Result<Option<Finish<Self::Work>>, Self::Error> {
        let reason = match why {
            Why::Refused(reason) => Some(reason),
            Why::Accepted | Why::Improvable => None,
        };
        Ok(Some(Finish { work, reason, with_round: true }))
    }

    /// Hears that a seed ended.
    fn close(&mut self, _work: &Self::Work) {}

    /// Hears that the store has everything that was accepted so far.
    fn stored(&mut self, _shared: &mut Self::Shared) {}

    /// Whether an error says that whoever asked stopped it.
    fn is_stopped(error: &Self::Error) -> bool;
}

/// Says which outputs of a proposer may be written.
pub(crate) trait Checker<P: Proposer> {
    /// Looks at the outputs for a seed.
    fn check(
        &mut self,
        shared: &mut P::Shared,
        work: &mut P::Work,
        outputs: P::Outputs,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Verdict<P::Work>, P::Error>;
}

/// What happens in the loop.
pub(crate) enum Event<'e, W: Work> {
    /// A seed is under way.
    Begun,
    /// Outputs for it are written, with which a round of it is over.
    Accepted {
        work: &'e W,
        accepted: &'e W::Accepted,
        /// Ids of the outputs, in the same order.
        ids: &'e [AnnotationSetId],
        /// Whether that was its last round; then it ends next.
        is_last: bool,
    },
    /// It ended.
    Ended(&'e Finish<W>),
    /// The store had it no longer.
    Gone,
}

/// Hears what happens, and says whether the loop goes on.
pub(crate) trait Observer<W: Work> {
    /// Hears of an event.
    fn hear(&mut self, event: Event<'_, W>);

    /// Whether the loop goes on with so many seeds under way: asked after each step, and now and
    /// then within one.
    fn goes_on(&mut self, under_way: usize) -> ControlFlow<Stop>;
}

/// How work ends before its time. A later run makes what is missing, with the same ids and texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The rounds that are under way are finished and written, and none begins.
    AfterRound,
    /// At once, within a step of a network: what is finished is written, what is under way is
    /// dropped.
    Now,
}
