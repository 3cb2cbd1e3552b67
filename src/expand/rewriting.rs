//! A seed on its way through the loop, and what is written of one of its rounds.

use std::time::Instant;

use super::attempt::Attempt;
use super::chain::Chain;
use super::companions::NewTrigger;
use super::partners::Partners;
use super::seed::TARGET;
use super::{CarriedTally, CompanyTally, EndReason, Followed, Output};
use crate::database::JournalWrite;
use crate::grow::{Generated, Work};
use crate::model::{AnnotationSetId, FrameFit, Pos, ReleaseId};

/// A pair that a check lets through, as it is to be written.
pub(super) struct AcceptedPair {
    pub(super) made: [Generated; 1],
    /// What its trigger is a form of.
    pub(super) lemma: String,
    pub(super) pos: Pos,
    /// Triggers that took the place of those of sets that are carried along.
    pub(super) new: Vec<NewTrigger>,
    /// Whether no set of the store had the trigger so far.
    pub(super) is_new_trigger: bool,
    /// Whether no set of the frame had it.
    pub(super) is_new_pair: bool,
    /// How many of the seed's FEs were found, where they are looked for.
    pub(super) elements: Option<CarriedTally>,
    /// How many of the other sets of its sentence were carried along.
    pub(super) company: CompanyTally,
}

impl AcceptedPair {
    /// How likely its frame is, where the recipe asks.
    pub(super) fn fit(&self) -> Option<&FrameFit> {
        self.made[0].generation.fit.as_ref()
    }
}

impl AsRef<[Generated]> for AcceptedPair {
    fn as_ref(&self) -> &[Generated] {
        &self.made
    }
}

impl Output {
    /// What is made of a seed, under its id. Ids of sets that are carried along are those that
    /// nothing else has, in most stores the same.
    pub(super) fn of(work: &Rewriting<'_>, made: &Generated, id: AnnotationSetId) -> Self {
        let (sentence, set) = made.rows(id);
        let along = made.along.iter();
        let along =
            along.map(|of| of.row(of.carrying_beside(id).natural_id(of.frame), id)).collect();
        let (release, lexunit) = (work.chain.seed.release, made.proposed.clone());
        Self { release, sentence, set, lexunit, along }
    }
}

/// A seed that is being rewritten.
pub(super) struct Rewriting<'a> {
    pub(super) followed: Followed<'a>,
    pub(super) chain: Chain,
    /// Targets that rounds change beside the seed's.
    pub(super) partners: Partners,
    pub(super) attempt: Attempt,
    /// Whether it had a round in this run, also one that is in flight.
    pub(super) has_begun: bool,
    /// When its round began.
    pub(super) since: Instant,
    /// Rounds that were finished then.
    pub(super) rounds_before: u16,
}

impl<'a> Rewriting<'a> {
    /// A seed before its first round of this run, which begins now.
    pub(super) fn new(followed: Followed<'a>, (chain, partners): (Chain, Partners)) -> Self {
        let (since, rounds_before) = (Instant::now(), chain.round);
        let attempt = Attempt::default();
        Self { followed, chain, partners, attempt, has_begun: false, since, rounds_before }
    }
}

impl Work for Rewriting<'_> {
    type Accepted = AcceptedPair;
    type Reason = EndReason;

    fn release(&self) -> ReleaseId {
        self.chain.seed.release
    }

    fn written(&mut self, pair: &AcceptedPair, ids: &[AnnotationSetId]) -> Option<EndReason> {
        let (chain, recipe) = (&mut self.chain, self.followed.recipe);
        chain.round += 1;
        for (made, id) in pair.as_ref().iter().zip(ids) {
            chain.push(*id, &made.text, &made.targets, &pair.lemma, pair.pos);
            self.partners.push(*id, &made.text, &pair.new);
        }
        let is_unlikely = |fit: &FrameFit| fit.probability < recipe.least_frame_fit;
        let ends = pair.fit().is_some_and(is_unlikely) && !self.is_through();
        ends.then_some(EndReason::UnlikelyFrame)
    }

    fn is_through(&self) -> bool {
        self.chain.round >= self.followed.options.rounds
    }

    fn journal(&self, end: Option<EndReason>) -> Vec<JournalWrite> {
        let (seed, recipe) = (self.chain.seed.set, self.followed.id);
        vec![JournalWrite { seed, target: TARGET, recipe, entry: self.chain.journal(end) }]
    }
}
