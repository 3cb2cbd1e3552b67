//! What a filter looks at.

use serde::{Deserialize, Serialize};

use crate::model::named;

/// What is known of a generated set when it is filtered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
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
}

named! {
    /// An input of a filter's networks.
    pub enum Input {
        /// [`Evidence::round`].
        Round => "round",
        /// [`Evidence::paraphrase`].
        Paraphrase => "paraphrase",
        /// [`Evidence::aligner`].
        Aligner => "aligner",
        /// [`Evidence::proposed`], 1 or 0.
        Proposed => "proposed",
        /// [`Evidence::frames`], as the logarithm of one more.
        Frames => "frames",
    }
}

impl Input {
    /// The inputs of Culkin et al. 2021, section 6.1.
    pub const PAPER: [Self; 3] = [Self::Round, Self::Paraphrase, Self::Aligner];

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
