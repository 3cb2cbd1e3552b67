//! What a person says of an annotation set.

use super::Percent;

/// The question of every set, whether its target evokes its frame, as people name it. Before the
/// name of another frame it asks for that one.
pub const EVOKES: &str = "evokes";

/// The question whether an output says what its source says, as judgements record it.
pub const MEANING: &str = "meaning";

/// A question of a set as judgements record it: [`EVOKES`], alone or before the set's own frame, is
/// the question of every set, which is recorded empty.
#[must_use]
pub fn recorded_question<'q>(named: &'q str, own: &str) -> &'q str {
    match named.strip_prefix(EVOKES) {
        Some("") => "",
        Some(frame) if frame.strip_prefix(' ') == Some(own) => "",
        _ => named,
    }
}

/// A reviewer's judgement of an annotation set; a reviewer has one of each set for each question.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Judgement {
    /// Who judged: any name without control characters.
    pub reviewer: String,
    /// What was asked, without control characters; empty for the question of every set, whether its
    /// target evokes its frame. Queries, filters and editions take answers to that question alone.
    pub question: String,
    /// From 0, wrong, to 100, right.
    pub score: Percent,
    /// When, in seconds since 1970 (UTC).
    pub time: u64,
    /// What the reviewer adds; may be empty.
    pub note: String,
    /// What the reviewer had before them, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
}

/// What a reviewer saw, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Shown {
    /// The sentence, the target in square brackets.
    pub text: String,
    /// Milliseconds from showing to answering.
    pub millis: u64,
}

impl Judgement {
    /// The highest score.
    pub const BEST: u8 = 100;

    /// Least mean score of what is right (Culkin et al. 2021, section 6.1).
    pub const ACCEPTED: f64 = 50.0;

    /// Whether it says if the target evokes the set's frame.
    #[must_use]
    pub fn is_of_frame(&self) -> bool {
        self.question.is_empty()
    }

    /// Whether it answers what another one answers: then it takes its place.
    #[must_use]
    pub fn replaces(&self, other: &Self) -> bool {
        (&self.reviewer, &self.question) == (&other.reviewer, &other.question)
    }
}

/// Kappa of several raters and two categories (Fleiss 1971); items may have different numbers of
/// raters. `(P - E) / (1 - E)`, with P the mean share of pairs of raters who agree and E what
/// chance would give. An item is the number of its raters who say yes, and of all; there are two or
/// more.
#[must_use]
pub fn fleiss_kappa(items: &[(u32, u32)]) -> Option<f64> {
    let (mut agreeing, mut said_yes, mut said) = (0.0, 0.0, 0.0);
    for &(yes, raters) in items {
        let (yes, raters) = (f64::from(yes), f64::from(raters));
        let no = raters - yes;
        agreeing += (yes * (yes - 1.0) + no * (no - 1.0)) / (raters * (raters - 1.0));
        (said_yes, said) = (said_yes + yes, said + raters);
    }
    let share = said_yes / said;
    kappa(agreeing / items.len() as f64, share * share + (1.0 - share) * (1.0 - share))
}

/// Agreement beyond chance; none where chance explains all.
#[must_use]
pub fn kappa(observed: f64, expected: f64) -> Option<f64> {
    let kappa = (observed - expected) / (1.0 - expected);
    kappa.is_finite().then_some(kappa)
}
