//! What reviewers decide of LUs that expansions proposed.

use super::{AnnotationSetId, FrameId, LuId, named};

named! {
    /// What becomes of a proposed LU; records have the codes.
    pub enum Verdict {
        /// It is an LU of its frame.
        Accept => "accept",
        /// It is none, and is not proposed again.
        Reject => "reject",
        /// It is an LU of another frame.
        Move => "move",
        /// It is another spelling or form of an LU that the frame has.
        Merge => "merge",
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
    /// Mean probability of the frame at the sets' targets, over those that a frame model has
    /// judged.
    pub frame_fit: Option<f32>,
    /// How much the lemma is like the frame's LUs by word vectors, -1 to 1.
    pub likeness: Option<f32>,
    /// Other frames that have an LU of the lemma and part of speech.
    pub frames: u32,
    /// Share of the sets whose target has a word that nobody is known to use.
    pub unknown: f32,
    /// Words of the LU's name; 0 where an earlier program did not keep it.
    pub words: u32,
    /// Mean probability that the target evokes the frame, 0 to 1, over the sets about which a
    /// verifier was asked; absent where it was not asked.
    pub evokes: Option<f32>,
    /// Share of these sets whose probability is above 0.5.
    pub evokes_share: Option<f32>,
    /// How many sets these are.
    pub verified: u32,
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

/// Who decides or takes a decision back, when and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
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
    /// Who took it back, if anyone did.
    pub undone: Option<Reviewed>,
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
