//! What can go wrong while labelling, and while training a labeller.

use std::path::PathBuf;

use crate::compute::ComputeError;
use crate::learn::FileError;
use crate::model::coded;
use crate::nn::NnError;
use crate::tokenize::TokenizeError;

/// What can go wrong in the labeller of FEs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// A sentence is too long for the encoder.
    #[error(
        "cannot encode the sentence of target {item}: {pieces} pieces, the encoder takes at most {limit}; leave the target out"
    )]
    TooLong {
        /// Index of the target in its batch, of the first in its sentence.
        item: usize,
        /// Length of the sentence, special tokens counted.
        pieces: usize,
        /// Longest input of the encoder.
        limit: usize,
    },
    /// A target covers no word of its text.
    #[error(
        "cannot label target {item}: its span covers no word of the text; give offsets in bytes, inside the text"
    )]
    NoTarget {
        /// Index of the target in its batch.
        item: usize,
    },
    /// There is nothing to learn from or to measure.
    #[error("cannot train a labeller: no set of the {part} data has annotated FEs")]
    NoElements {
        /// Which data: `training` or `development`.
        part: &'static str,
    },
    /// The labeller cannot find FEs.
    #[error(
        "cannot find FEs: the labeller was trained to classify given spans; use one that was trained to find spans"
    )]
    GivenSpans,
    /// A file of a labeller cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The labeller was trained on another encoder.
    #[error("cannot use labeller `{labeller}` with this encoder: it was trained on the states of `{expected}`, this is `{found}`; give the encoder it names, or train a labeller on this one", labeller = .labeller.display())]
    Encoder {
        /// Directory of the labeller.
        labeller: PathBuf,
        /// Name and fingerprint of the encoder it was trained on.
        expected: String,
        /// Fingerprint of the encoder given.
        found: String,
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
    #[error("cannot score spans")]
    Compute {
        /// Why.
        #[from]
        source: ComputeError,
    },
}

coded!(LabelError {
    Self::File(error) => error.trouble(),
    Self::NoElements { .. } => BadInput.coded("E-no-elements"),
    Self::GivenSpans => Failed.coded("M-given-spans"),
    Self::Encoder { .. } => Failed.coded("M-fes-encoder"),
});
