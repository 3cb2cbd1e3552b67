//! What a filter looks at.

use serde::{Deserialize, Serialize};

use crate::model::{FrameFit, Verification, named};

/// What is known of a generated set when it is filtered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FilterEvidence {
    /// Round, from 1.
    pub round: u16,
    /// Paraphrase score: negative log-likelihood per piece (natural log); lower is better.
    pub paraphrase: f32,
    /// Aligner score in `[0, 1]`; higher is better.
    pub aligner: f32,
    /// Whether an expansion proposed the LU: the frame has none of the trigger's lemma.
    pub proposed: bool,
    /// Frames that have an LU of the trigger's lemma and part of speech, proposed ones aside: the
    /// more there are, the more it may mean.
    pub frames: u32,
    /// Probability of the seed's frame at the new trigger by the frame model; none where it was not
    /// asked, or does not know the frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_fit: Option<f32>,
    /// Probability that the new trigger evokes the frame, by a verifier; none where it was not
    /// asked or could not be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evokes: Option<f32>,
    /// Probability that the output says what its source says, by a verifier; none as above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_meaning: Option<f32>,
    /// Negative log-likelihood per token of the source as a rewriting of the output; none where no
    /// rewriter was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<f32>,
    /// Tokens of the source, the end counted; none where [`reverse`](Self::reverse) is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_tokens: Option<u32>,
}

impl FilterEvidence {
    /// What every output has: its round, the scores of rewriter and aligner, and whether an
    /// expansion proposed its LU, with the number of frames that have it.
    #[must_use]
    pub fn new(
        round: u16,
        (paraphrase, aligner): (f32, f32),
        (proposed, frames): (bool, u32),
    ) -> Self {
        Self {
            round,
            paraphrase,
            aligner,
            proposed,
            frames,
            frame_fit: None,
            evokes: None,
            same_meaning: None,
            reverse: None,
            reverse_tokens: None,
        }
    }

    /// With what the frame model and a verifier say of it, where they were asked.
    #[must_use]
    pub fn with(self, fit: Option<&FrameFit>, verification: Option<&Verification>) -> Self {
        let reverse = verification.and_then(|said| said.reverse);
        Self {
            frame_fit: fit.map(|fit| fit.probability),
            evokes: verification.and_then(|said| said.evokes),
            same_meaning: verification.and_then(|said| said.same_meaning),
            reverse: reverse.map(|reverse| reverse.score),
            reverse_tokens: reverse.map(|reverse| reverse.tokens),
            ..self
        }
    }
}

named! {
    /// An input of a filter's networks.
    pub enum Input {
        /// The round.
        Round => "round",
        /// What the paraphraser gave the output.
        Paraphrase => "paraphrase",
        /// What the aligner gave the span.
        Aligner => "aligner",
        /// Whether an expansion proposed the LU, 1 or 0.
        Proposed => "proposed",
        /// How many frames have an LU of its lemma, as the logarithm of one more.
        Frames => "frames",
        /// How likely the frame is, by the frame model.
        FrameFit => "frame_fit",
        /// How likely the trigger evokes the frame, by a verifier.
        Evokes => "evokes",
        /// How likely the output says what its source says, by a verifier.
        SameMeaning => "same_meaning",
        /// How likely the source is, given the output, by a rewriter.
        Reverse => "reverse",
    }
}

impl Input {
    /// The inputs of Culkin et al. 2021, section 6.1.
    pub const PAPER: [Self; 3] = [Self::Round, Self::Paraphrase, Self::Aligner];

    /// Its value, where it is known.
    fn of(self, evidence: &FilterEvidence) -> Option<f32> {
        Some(match self {
            Self::Round => f32::from(evidence.round),
            Self::Paraphrase => evidence.paraphrase,
            Self::Aligner => evidence.aligner,
            Self::Proposed => f32::from(u8::from(evidence.proposed)),
            Self::Frames => (evidence.frames as f32).ln_1p(),
            Self::FrameFit => evidence.frame_fit?,
            Self::Evokes => evidence.evokes?,
            Self::SameMeaning => evidence.same_meaning?,
            Self::Reverse => evidence.reverse?,
        })
    }
}

/// The values of some inputs, in their order, where they are known.
pub(super) fn inputs_of(evidence: &FilterEvidence, inputs: &[Input]) -> Vec<Option<f32>> {
    inputs.iter().map(|input| input.of(evidence)).collect()
}
