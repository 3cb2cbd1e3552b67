//! What a filter looks at.

use serde::{Deserialize, Serialize};

/// What is known of a generated set when it is filtered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Round, from 1.
    pub round: u16,
    /// Paraphrase score: negative log-likelihood per piece (natural log); lower is better.
    pub paraphrase: f32,
    /// Aligner score in `[0, 1]`; higher is better.
    pub aligner: f32,
    /// Whether an expansion proposed the LU: the release has none of the trigger's lemma in the frame.
    pub proposed: bool,
    /// Frames that have an LU of the trigger's lemma and part of speech, proposed ones aside: the more there are, the more
    /// it may mean.
    pub frames: u32,
}

/// An input of a filter's networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// [`Evidence::round`].
    Round,
    /// [`Evidence::paraphrase`].
    Paraphrase,
    /// [`Evidence::aligner`].
    Aligner,
    /// [`Evidence::proposed`], 1 or 0.
    Proposed,
    /// [`Evidence::frames`], as the logarithm of one more.
    Frames,
}

impl Input {
    /// The inputs of Culkin et al. 2021, section 6.1.
    pub const PAPER: [Self; 3] = [Self::Round, Self::Paraphrase, Self::Aligner];

    /// All there are.
    pub const ALL: [Self; 5] =
        [Self::Round, Self::Paraphrase, Self::Aligner, Self::Proposed, Self::Frames];

    /// Its name in files and options.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Round => "round",
            Self::Paraphrase => "paraphrase",
            Self::Aligner => "aligner",
            Self::Proposed => "proposed",
            Self::Frames => "frames",
        }
    }

    /// Its value.
    fn of(self, evidence: &Evidence) -> f32 {
        match self {
            Self::Round => f32::from(evidence.round),
            Self::Paraphrase => evidence.paraphrase,
            Self::Aligner => evidence.aligner,
            Self::Proposed => f32::from(u8::from(evidence.proposed)),
            Self::Frames => (evidence.frames as f32).ln_1p(),
        }
    }
}

/// The values of some inputs, in their order.
pub(super) fn inputs_of(evidence: &Evidence, inputs: &[Input]) -> Vec<f32> {
    inputs.iter().map(|input| input.of(evidence)).collect()
}
