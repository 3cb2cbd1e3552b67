//! What can go wrong while frames are identified, and while the network for it is trained.

use std::path::PathBuf;

use crate::compute::ComputeError;
use crate::learn::FileError;
use crate::model::coded;
use crate::nn::NnError;
use crate::tag::TagError;
use crate::tokenize::TokenizeError;

/// What can go wrong in the identification of frames.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentifyError {
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
    #[error(
        "cannot train the identification of frames: no sentence of the {part} data has a target"
    )]
    NoTargets {
        /// Which data: `training` or `development`.
        part: &'static str,
    },
    /// A sentence of the data that measures is also among those that teach.
    #[error(
        "cannot train on {shared} sentences that the model is measured on; leave out the parts `dev` and `test`"
    )]
    Leak {
        /// How many are in both.
        shared: usize,
    },
    /// A file of a model cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The model was trained on another encoder.
    #[error("cannot use the frame model `{model}` with this encoder: it was trained on the states of `{expected}`, this is `{found}`; give the encoder it names, or train a frame model on this one", model = .model.display())]
    Encoder {
        /// Directory of the model.
        model: PathBuf,
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
    /// The tagger refused a sentence.
    #[error(transparent)]
    Tag(#[from] TagError),
    /// A kernel refused its operands.
    #[error("cannot score frames")]
    Compute {
        /// Why.
        #[from]
        source: ComputeError,
    },
}

coded!(IdentifyError {
    Self::File(error) => error.trouble(),
    Self::NoTargets { .. } => BadInput.coded("E-no-targets"),
    Self::Leak { .. } => BadInput.coded("E-leak"),
    Self::Encoder { .. } => Failed.coded("M-frames-encoder"),
});

impl IdentifyError {
    /// What a tagger says of a sentence, by its place in the batch.
    pub(super) fn of_tags(error: TagError, sentence: usize) -> Self {
        match error {
            TagError::TooLong { pieces, limit, .. } => Self::TooLong { sentence, pieces, limit },
            other => Self::Tag(other),
        }
    }

    /// The same of a batch before which so many sentences stand.
    pub(super) fn after(self, sentences: usize) -> Self {
        match self {
            Self::TooLong { sentence, pieces, limit } => {
                Self::TooLong { sentence: sentence + sentences, pieces, limit }
            }
            other => other,
        }
    }
}
