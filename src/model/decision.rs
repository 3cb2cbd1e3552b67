//! What reviewers decide of LUs that expansions proposed.

use super::{AnnotationSetId, FrameId, LuId};

/// What becomes of a proposed LU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It is an LU of its frame.
    Accept,
    /// It is none, and is not proposed again.
    Reject,
    /// It is an LU of another frame.
    Move,
    /// It is another spelling or form of an LU that the frame has.
    Merge,
}

impl Verdict {
    /// All verdicts, in the order of their codes in records.
    pub const ALL: [Self; 4] = [Self::Accept, Self::Reject, Self::Move, Self::Merge];

    /// As written in records and output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Move => "move",
            Self::Merge => "merge",
        }
    }

    /// The verdict of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == name)
    }
}

/// What generated sets say of a proposed LU. Means are over its sets; those of filters over the
/// sets that a filter has scored.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Generated sets.
    pub sets: u32,
    /// Human sets that they grew from.
    pub seeds: u32,
    /// Bit `n - 1` stands for round `n`; the last bit for all rounds from 32 on.
    pub rounds: u32,
    /// Mean paraphrase score; lower is better.
    pub paraphrase: f32,
    /// Mean aligner score, 0 to 1.
    pub aligner: f32,
    /// Mean score of the precision filter, 0 to 1.
    pub p: Option<f32>,
    /// Mean score of the recall filter, 0 to 1.
    pub r: Option<f32>,
    /// Other frames that have an LU of the lemma and part of speech.
    pub frames: u32,
    /// How much the lemma is like the frame's LUs by word vectors, -1 to 1.
    pub likeness: Option<f32>,
}

/// Where the sets of a proposed LU went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The frame that they went to.
    pub frame: FrameId,
    /// The LU that they went to.
    pub lu: LuId,
    /// Whether the decision made that LU.
    pub made: bool,
    /// The sets.
    pub sets: Vec<AnnotationSetId>,
}

/// Who took a decision back, when and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// Who: any name without control characters.
    pub reviewer: String,
    /// When, in seconds since 1970 (UTC).
    pub time: u64,
    /// Why; may be empty.
    pub note: String,
}

/// One decision on a proposed LU.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What was decided.
    pub verdict: Verdict,
    /// Who decided: any name without control characters.
    pub reviewer: String,
    /// When, in seconds since 1970 (UTC).
    pub time: u64,
    /// Why; may be empty.
    pub note: String,
    /// The proposed LU's number.
    pub lu: LuId,
    /// What the reviewer had before them.
    pub evidence: Evidence,
    /// Where the sets went, for [`Verdict::Move`] and [`Verdict::Merge`].
    pub moved: Option<Moved>,
    /// That it was taken back.
    pub undone: Option<Undone>,
}

/// All decisions on one (frame, `lemma.pos`), the earliest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The frame.
    pub frame: FrameId,
    /// The LU's name, as in `vet.v`.
    pub name: String,
    /// Never empty.
    pub history: Vec<Decision>,
}

impl Decided {
    /// The last decision that was not taken back.
    #[must_use]
    pub fn standing(&self) -> Option<&Decision> {
        self.history.iter().rev().find(|decision| decision.undone.is_none())
    }

    /// Whether an earlier state of the same record was this one: since then decisions were made or
    /// taken back.
    #[must_use]
    pub fn goes_on_from(&self, earlier: &Self) -> bool {
        let is_kept = |(now, then): (&Decision, &Decision)| {
            now == then
                || then.undone.is_none() && Decision { undone: None, ..now.clone() } == *then
        };
        self.history.len() >= earlier.history.len()
            && self.history.iter().zip(&earlier.history).all(is_kept)
    }
}
