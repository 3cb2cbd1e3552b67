//! What a run did, and how far it is.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::Draft;
use super::blanks::NotBlank;
use super::job::Filled;
use crate::model::{Pos, RecipeId, by_name, named, seconds};

named! {
    /// Why an LU got no sentence, or a sister's sentence was passed over.
    pub enum Skip {
        /// Nobody annotated a sentence of an LU of the frame and part of speech.
        NoSister => "no-sister",
        /// The LU's name is a pattern, as `get a(n) eyeful`.
        Pattern => "pattern-name",
        /// The sister's target has no words.
        NoTarget => "no-target",
        /// The sister's target stands in several pieces.
        Discontinuous => "discontinuous-target",
        /// The LU lacks the form of the sister's target.
        NoForm => "no-form",
        /// No FE of the sentence is a candidate for other words.
        NoBlank => "no-candidate",
        /// The sentence is too long for the generator.
        TooLong => "too-long",
        /// The generator gave nothing that fits the blanks.
        Rejected => "rejected",
        /// The classifier read new words as another FE.
        Unfaithful => "unfaithful",
        /// No candidate is as likely to be accepted as was asked for.
        Doubtful => "doubtful",
    }
}

/// What a generation has before it, and how long that takes by some measured LUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// LUs that match and lack sentences.
    pub lexunits: u64,
    /// Those of them that are done under the same recipe.
    pub done_before: u64,
    /// Those that a run would take.
    pub left: u64,
    /// Those that were tried, without writing anything.
    pub measured: u64,
    /// How long that took.
    pub elapsed: Duration,
    /// How long those that are left would take; zero where none was tried.
    pub missing: Duration,
}

impl Skip {
    /// What it means, for a reader.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        match self {
            Self::NoSister => "no annotated LU of the frame has the part of speech",
            Self::Pattern => "the LU's name is a pattern",
            Self::NoTarget => "the sister's target has no words",
            Self::Discontinuous => "the sister's target stands in several pieces",
            Self::NoForm => "the LU lacks the form of the sister's target",
            Self::NoBlank => "no FE of the sentence is a candidate",
            Self::TooLong => "the sentence is too long for the generator",
            Self::Rejected => "the generator's answers do not fit the blanks",
            Self::Unfaithful => "the classifier reads new words as another FE",
            Self::Doubtful => "the best candidate is less likely to be accepted than was asked for",
        }
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenerationProgress {
    /// LUs that are finished, those done before included.
    pub lexunits: u64,
    /// LUs that match.
    pub of: u64,
    /// Sentences written in this run.
    pub sentences: u64,
}

/// What became of the LUs of a part of speech.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Fate {
    /// LUs that got a sentence.
    pub given: u64,
    /// LUs that got none, by reason.
    #[serde(serialize_with = "by_name")]
    pub skipped: BTreeMap<Skip, u64>,
}

/// The probability of a frame at its trigger from which on a report does not speak of it.
pub const UNLIKELY: f32 = 0.1;

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GenerationReport {
    /// The recipe's number in the store; none while nothing was written.
    #[serde(skip)]
    pub recipe: Option<RecipeId>,
    /// LUs without sentences that match.
    pub lexunits: u64,
    /// Those that were done under the recipe before.
    pub done_before: u64,
    /// Those that a limit or a budget left to a later run.
    pub left: u64,
    /// Those that got a sentence in this run.
    pub given: u64,
    /// Sentences written.
    pub sentences: u64,
    /// Sentences whose frame is less likely than 0.1 by the frame model (`frame_fit<0.1`).
    pub unlikely: u64,
    /// Sentences about which a verifier answered; null where none was asked.
    pub verified: Option<u64>,
    /// Candidates that the generator gave.
    pub candidates: u64,
    /// Candidates whose new words were all read as their FEs; null without a classifier.
    pub faithful: Option<u64>,
    /// FEs of the sentences taken that are written anew.
    pub blanks: u64,
    /// What became of the LUs of this run, by part of speech.
    #[serde(rename = "by_pos", serialize_with = "by_name")]
    pub fates: BTreeMap<Pos, Fate>,
    /// Sentences of sisters that were passed over, by reason.
    #[serde(serialize_with = "by_name")]
    pub passed_over: BTreeMap<Skip, u64>,
    /// FEs of the sentences taken that keep their words, by reason.
    #[serde(serialize_with = "by_name")]
    pub kept_elements: BTreeMap<NotBlank, u64>,
    /// Answers of the generator that could not be used, by code.
    pub rejects: BTreeMap<&'static str, u64>,
    /// What an endpoint was asked.
    #[serde(rename = "endpoint")]
    pub asked: crate::endpoint::Usage,
    /// Time from the first sentence to the last commit.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
    /// Whether the run was stopped; the same command goes on from here.
    pub interrupted: bool,
    /// Whether a budget ended the run.
    pub out_of_budget: bool,
}

impl GenerationReport {
    /// Counts what was seen and written for an LU.
    pub(super) fn add(&mut self, part: &Self) {
        self.sentences += part.sentences;
        self.unlikely += part.unlikely;
        if let Some(verified) = part.verified {
            *self.verified.get_or_insert_default() += verified;
        }
        self.blanks += part.blanks;
        self.candidates += part.candidates;
        if let Some(faithful) = part.faithful {
            *self.faithful.get_or_insert_default() += faithful;
        }
        for (reason, count) in &part.passed_over {
            *self.passed_over.entry(*reason).or_default() += count;
        }
        for (reason, count) in &part.kept_elements {
            *self.kept_elements.entry(*reason).or_default() += count;
        }
        for (code, count) in &part.rejects {
            *self.rejects.entry(code).or_default() += count;
        }
    }

    /// Counts a sentence that was taken, and what the generator gave for it.
    pub(super) fn count(&mut self, draft: &Draft, filled: &Filled) {
        self.blanks += draft.blanks.len() as u64;
        for (reason, count) in &draft.kept {
            *self.kept_elements.entry(*reason).or_default() += count;
        }
        for code in &filled.rejects {
            *self.rejects.entry(code).or_default() += 1;
        }
    }
}
