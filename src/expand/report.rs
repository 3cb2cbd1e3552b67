//! What an expansion did, and how far it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::{Dropped, FilterTally, Guidance};
use crate::endpoint::Usage;
use crate::model::{
    Amount, AnnotationSet, AnnotationSetId, CarriedElement, LexUnit, RecipeId, ReleaseId, Sentence,
    by_name, named, seconds,
};

named! {
    /// What an expansion does.
    #[non_exhaustive]
    pub enum Phase {
        /// It looks for seeds, and reads how far each is.
        FindingSeeds => "finding seeds",
        /// Seeds are rewritten.
        Rewriting => "rewriting",
    }
}

/// A sentence that an expansion made, as the store has it or would have it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Output {
    /// The release of its seed.
    pub release: ReleaseId,
    /// The sentence.
    pub sentence: Sentence,
    /// Its annotation, whose provenance names seed, round and scores.
    pub set: AnnotationSet,
    /// The LU, where one is proposed for it.
    pub lexunit: Option<LexUnit>,
    /// The other sets of its source that stand in the sentence, too.
    pub along: Vec<AnnotationSet>,
}

/// How far an expansion is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ExpansionProgress {
    /// What it does now.
    pub phase: Phase,
    /// The seed of the last step that ended; many are under way side by side.
    pub seed: Option<AnnotationSetId>,
    /// The last sentence that was made. It is written with the next commit.
    pub last: Option<Arc<Output>>,
    /// Seeds that are finished, those done before included.
    pub seeds: u64,
    /// Seeds that match, without those that a limit leaves to a later run.
    pub of: u64,
    /// Sentences written in this run.
    pub sentences: u64,
    /// Rounds that this run has behind it, with those that seeds which ended early do not need.
    /// They grow more evenly than seeds.
    pub rounds: u64,
    /// Rounds that were missing when it began.
    pub of_rounds: u64,
}

impl ExpansionProgress {
    /// Before the first seed.
    pub(super) fn at(phase: Phase) -> Self {
        Self {
            phase,
            seed: None,
            last: None,
            seeds: 0,
            of: 0,
            sentences: 0,
            rounds: 0,
            of_rounds: 0,
        }
    }
}

/// What an expansion did; as JSON, `schema/expand.schema.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The recipe's number in the store.
    pub recipe: RecipeId,
    /// Human annotation sets that match.
    pub seeds: u64,
    /// Those of them that had been through all rounds before this run.
    pub done_before: u64,
    /// Those that a limit or a budget left to a later run.
    pub left: u64,
    /// Sentences written.
    pub sentences: u64,
    /// Triggers that no annotation set of the store had before, letter case folded.
    pub new_triggers: u64,
    /// (Frame, Trigger) pairs that the store did not have before, letter case folded.
    pub new_pairs: u64,
    /// LUs proposed for lemmas that their frame does not have.
    pub proposed_lexunits: u64,
    /// Sentences written by flag.
    pub flags: BTreeMap<&'static str, u64>,
    /// Chains that had ended before their last round in earlier runs, by reason.
    #[serde(serialize_with = "by_name")]
    pub ended_before: BTreeMap<EndReason, u64>,
    /// Chains that ended before their last round in this run, by reason.
    #[serde(serialize_with = "by_name")]
    pub ended: BTreeMap<EndReason, u64>,
    /// Seeds worked on in this run that have no sentence at all, by reason.
    #[serde(serialize_with = "by_name")]
    pub unproductive: BTreeMap<EndReason, u64>,
    /// What outputs must contain. `lexicon`: another LU of the frame, then a similar word. `alike`:
    /// a similar word. `context`: what a language model would say in the trigger's place. `none`:
    /// nothing.
    #[serde(rename = "guide")]
    pub guidance: Guidance,
    /// How many of the seeds' FEs were found again.
    pub elements: CarriedTally,
    /// How many of the other sets of the seeds' sentences were carried along.
    pub carried: CompanyTally,
    /// How many of the sentences written a filter keeps, where there is one.
    pub kept: Option<FilterTally>,
    /// Outputs that held a banned phrase in their final text, and were dropped: expected to be 0.
    pub leaks: u64,
    /// Steps of all searches.
    pub steps: u64,
    /// How many of them were those of the round before, and took no work.
    pub steps_reused: u64,
    /// What a server was asked.
    #[serde(rename = "endpoint")]
    pub asked: Usage,
    /// Time from the first sentence to the last commit.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
    /// Sentences written per second.
    pub sentences_per_second: Amount,
    /// Whether the run was stopped; the same command resumes here.
    pub interrupted: bool,
    /// Whether a server's budget ended the run.
    pub out_of_budget: bool,
}

/// How many of the seeds' FEs were found in the sentences written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct CarriedTally {
    /// Sentences of seeds whose FEs are annotated.
    pub sentences: u64,
    /// Those of them that have all core FEs of their seed.
    pub with_core: u64,
    /// Labels of the seeds that were found.
    pub found: u64,
    /// Labels that were not.
    pub lost: u64,
}

impl CarriedTally {
    /// Of one sentence, whose frame has such core FEs.
    pub(super) fn of(elements: &[CarriedElement], core: &BTreeSet<String>) -> Self {
        let lost = elements.iter().filter(|element| element.score.is_none());
        let has_core = !lost.clone().any(|of| core.contains(&of.name));
        let lost = lost.count() as u64;
        let found = elements.len() as u64 - lost;
        Self { sentences: 1, with_core: u64::from(has_core), found, lost }
    }
}

/// How many of the other sets of the seeds' sentences stand in the sentences written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CompanyTally {
    /// Sentences of seeds beside which there are other sets.
    pub sentences: u64,
    /// Those of them that have all of these sets.
    pub complete: u64,
    /// Sets that were carried along.
    pub found: u64,
    /// Those of them whose target is another LU of their frame.
    pub changed: u64,
    /// Sets that were not, by reason. `not-found`: the aligner did not find the target. `words`:
    /// other words stand in its place. `place`: another target stands there. `frame`: the verifier
    /// doubts the frame. `held-out`: the expansion is blind to the set.
    #[serde(serialize_with = "by_name")]
    pub dropped: BTreeMap<Dropped, u64>,
}

impl CompanyTally {
    /// Of one sentence, with so many sets and so many of them changed.
    pub(super) fn of((found, changed): (usize, usize), dropped: &[Dropped]) -> Self {
        let (all, other) = (found as u64, changed as u64);
        let mut tally = Self { found: all, changed: other, ..Self::default() };
        dropped.iter().for_each(|reason| *tally.dropped.entry(*reason).or_default() += 1);
        tally.sentences = u64::from(found + dropped.len() > 0);
        tally.complete = u64::from(found > 0 && dropped.is_empty());
        tally
    }
}

impl std::ops::AddAssign<&Self> for CompanyTally {
    fn add_assign(&mut self, other: &Self) {
        self.sentences += other.sentences;
        self.complete += other.complete;
        self.found += other.found;
        self.changed += other.changed;
        for (reason, count) in &other.dropped {
            *self.dropped.entry(*reason).or_default() += count;
        }
    }
}

impl std::ops::AddAssign for CarriedTally {
    fn add_assign(&mut self, other: Self) {
        self.sentences += other.sentences;
        self.with_core += other.with_core;
        self.found += other.found;
        self.lost += other.lost;
    }
}

impl Report {
    /// Whether everything had been done before.
    #[must_use]
    pub fn nothing_new(&self) -> bool {
        self.done_before == self.seeds
    }
}

named! {
    /// Why a chain of rounds ended before its time. Kept in the journal by its text.
    #[non_exhaustive]
    pub enum EndReason {
        /// The seed has no target to move.
        NoTarget => "no-target",
        /// The sentence has no text.
        EmptySentence => "empty-sentence",
        /// The sentence has more pieces than the recipe takes.
        TooLong => "too-long",
        /// No output kept a letter or sign that the rewriter's vocabulary lacks.
        UnknownLetter => "unknown-letter",
        /// The bans left the search no output.
        NothingLeft => "nothing-left",
        /// No output has words enough for the target, or all are too long for the aligner.
        NotAligned => "not-aligned",
        /// [`Guidance::Lexicon`]: no output has a trigger that is an LU of the frame, or is
        /// faultless with one like its LUs.
        NothingAlike => "nothing-alike",
        /// The frame of the last set, or of the round's best output, is less likely than the recipe
        /// asks for.
        UnlikelyFrame => "unlikely-frame",
    }
}

impl EndReason {
    /// What it means, for a reader.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        match self {
            Self::NoTarget => "the annotation marks no target",
            Self::EmptySentence => "the sentence is empty",
            Self::TooLong => "the sentence is longer than the recipe takes",
            Self::UnknownLetter => {
                "no output kept a letter or sign that the rewriter's vocabulary lacks"
            }
            Self::NothingLeft => "the search found no output without the banned words",
            Self::NotAligned => {
                "no output has words enough for the target, or all are too long for the aligner"
            }
            Self::NothingAlike => {
                "no output has another LU of the frame as its trigger, or passes with a word like them"
            }
            Self::UnlikelyFrame => {
                "the frame of the last sentence, or of what came then, is less likely than the recipe asks for"
            }
        }
    }
}
