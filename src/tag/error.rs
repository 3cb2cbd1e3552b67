//! What can go wrong while tagging, and while training a tagger.

use std::path::PathBuf;

use crate::compute::ComputeError;
use crate::learn::FileError;
use crate::model::coded;
use crate::nn::NnError;
use crate::tokenize::TokenizeError;

/// What can go wrong in the tagger.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// A sentence is too long for the encoder.
    #[error(
        "cannot encode sentence {sentence}: {pieces} pieces, the encoder takes at most {limit}; leave the sentence out"
    )]
    TooLong {
        /// Index of the sentence in its batch.
        sentence: usize,
        /// Its length, special tokens counted.
        pieces: usize,
        /// Longest input of the encoder.
        limit: usize,
    },
    /// There is nothing to learn from or to measure.
    #[error("cannot train a tagger: no word of the {part} data has a tag")]
    NoTags {
        /// Which data: `training` or `development`.
        part: &'static str,
    },
    /// A file of a tagger or of tagged sentences cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The tagger was trained on another encoder.
    #[error("cannot use tagger `{tagger}` with this encoder: it was trained on the states of `{expected}`, this is `{found}`; give the encoder it names, or train a tagger on this one", tagger = .tagger.display())]
    Encoder {
        /// Directory of the tagger.
        tagger: PathBuf,
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
    #[error("cannot score tags")]
    Compute {
        /// Why.
        #[from]
        source: ComputeError,
    },
}

coded!(TagError {
    Self::File(error) => error.trouble(),
    Self::NoTags { .. } => BadInput.coded("E-no-tags"),
    Self::Encoder { .. } => Failed.coded("M-tagger-encoder"),
});

impl TagError {
    /// Index in its batch of the sentence that is to blame, when one is: the others would have gone
    /// through without it.
    #[must_use]
    pub fn sentence(&self) -> Option<usize> {
        match self {
            Self::TooLong { sentence, .. } => Some(*sentence),
            _ => None,
        }
    }
}
