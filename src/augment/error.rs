//! What can go wrong while a classifier of entailment pairs is trained and asked.

use crate::compute::ComputeError;
use crate::model::coded;
use crate::nn::NnError;
use crate::tokenize::TokenizeError;

/// What can go wrong with a classifier of entailment pairs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AugmentError {
    /// There is nothing to learn from or to measure.
    #[error(
        "no pair is the `original` of the split `{split}`; expected what an augmentation writes of a \
         table with the splits train, dev and test"
    )]
    NoPairs {
        /// Which split.
        split: &'static str,
    },
    /// All training pairs have one label.
    #[error("all training pairs have the label `{label}`; expected two labels or more")]
    OneLabel {
        /// The label.
        label: String,
    },
    /// The network refused its weights or its input.
    #[error("cannot run the encoder")]
    Network {
        /// Why.
        #[from]
        source: NnError,
    },
    /// The tokenizer refused a sentence.
    #[error("cannot cut words into pieces")]
    Tokenize {
        /// Why.
        #[from]
        source: TokenizeError,
    },
    /// A kernel refused its operands.
    #[error("cannot classify pairs")]
    Compute {
        /// Why.
        #[from]
        source: ComputeError,
    },
}

coded!(AugmentError {
    Self::NoPairs { .. } => BadInput.coded("E-no-pairs"),
    Self::OneLabel { .. } => BadInput.coded("E-one-label"),
});
