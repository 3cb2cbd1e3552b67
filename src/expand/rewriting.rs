//! A seed on its way through the loop, and what is written of one of its rounds.

use std::time::Instant;

use super::attempt::Attempt;
use super::chain::{Chain, TARGET};
use super::{CarriedTally, EndReason, Followed};
use crate::database::JournalWrite;
use crate::decode::SourceId;
use crate::grow::{Generated, Work};
use crate::model::{AnnotationSetId, FrameFit, Pos, RecipeId, ReleaseId};

/// A pair that is kept, as it is to be written.
pub(super) struct KeptPair {
    pub(super) made: [Generated; 1],
    /// What its trigger is a form of.
    pub(super) lemma: String,
    pub(super) pos: Pos,
    /// Whether no set had the trigger so far, and none of the frame.
    pub(super) is_new: (bool, bool),
    /// How many of the seed's FEs were found, where they are looked for.
    pub(super) elements: Option<CarriedTally>,
}

impl KeptPair {
    /// How likely its frame is, where the recipe asks.
    pub(super) fn fit(&self) -> Option<&FrameFit> {
        self.made[0].generation.fit.as_ref()
    }
}

impl AsRef<[Generated]> for KeptPair {
    fn as_ref(&self) -> &[Generated] {
        &self.made
    }
}

/// A seed that is being rewritten.
pub(super) struct Rewriting<'a> {
    pub(super) recipe: (RecipeId, Followed<'a>),
    pub(super) chain: Chain,
    pub(super) attempt: Attempt,
    /// Its sentence in the rewriter, once it is open there.
    pub(super) source: Option<SourceId>,
    /// When its round began, and how many were finished then.
    pub(super) since: (Instant, u16),
}

impl Rewriting<'_> {
    /// Whether it had a round in this run, also one that is in flight.
    pub(super) fn was_opened(&self) -> bool {
        self.source.is_some()
    }
}

impl Work for Rewriting<'_> {
    type Kept = KeptPair;
    type Reason = EndReason;

    fn release(&self) -> ReleaseId {
        self.chain.seed.release
    }

    fn written(&mut self, kept: &KeptPair, ids: &[AnnotationSetId]) -> Option<EndReason> {
        let (chain, recipe) = (&mut self.chain, self.recipe.1.0);
        chain.round += 1;
        for (made, id) in kept.as_ref().iter().zip(ids) {
            chain.push(*id, &made.text, &made.targets, &kept.lemma, kept.pos);
        }
        let is_unlikely = |fit: &FrameFit| fit.probability < recipe.least_frame_fit;
        let ends = kept.fit().is_some_and(is_unlikely) && !self.is_through();
        ends.then_some(EndReason::UnlikelyFrame)
    }

    fn is_through(&self) -> bool {
        self.chain.round >= self.recipe.1.1.rounds
    }

    fn journal(&self, end: Option<EndReason>) -> Vec<JournalWrite> {
        let (seed, recipe) = (self.chain.seed.set, self.recipe.0);
        vec![JournalWrite { seed, target: TARGET, recipe, entry: self.chain.journal(end) }]
    }
}
