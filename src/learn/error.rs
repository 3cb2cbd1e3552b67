//! What can go wrong with a small network over an encoder, and while it is trained.

use std::path::PathBuf;

use super::FileError;
use crate::engine::{ComputeError, NnError, TokenizeError};
use crate::model::{coded, named};

named! {
    /// A small network that names the encoder it was trained on.
    #[non_exhaustive]
    pub enum SmallNetwork {
        /// It gives words their parts of speech.
        Tagger => "tagger",
        /// It finds targets and their frames.
        FrameModel => "frame model",
        /// It finds frame elements.
        Labeller => "labeller",
        /// It aligns spans.
        Head => "head",
        /// It links words.
        Linker => "linker",
    }
}

/// What can go wrong in a tagger, a frame model, a labeller, a head, a linker, or a classifier of
/// entailment pairs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A sentence is too long for the encoder.
    #[error(
        "cannot encode the sentence of item {item}: {pieces} pieces, the encoder takes at most \
         {limit}; leave it out"
    )]
    TooLong {
        /// Index of the sentence in its batch; of the target where there are several in one.
        item: usize,
        /// Length of the sentence, special tokens counted.
        pieces: usize,
        /// Longest input of the encoder.
        limit: usize,
    },
    /// A target covers no word of its text.
    #[error(
        "cannot label target {item}: its span covers no word of the text; give offsets in bytes, \
         inside the text"
    )]
    NoTarget {
        /// Index of the target in its batch.
        item: usize,
    },
    /// There is nothing to learn from or to measure.
    #[error("cannot train a {}: no {wanted} in the {part} data", network.as_str())]
    NoData {
        /// What is trained.
        network: SmallNetwork,
        /// What the data lack.
        wanted: &'static str,
        /// Which data: `training` or `development`.
        part: &'static str,
    },
    /// A sentence of the data that measures is also among those that teach.
    #[error(
        "cannot train on {shared} sentences that the model is measured on; leave out the parts \
         `dev` and `test`"
    )]
    Leak {
        /// How many are in both.
        shared: usize,
    },
    /// A labeller cannot find FEs.
    #[error(
        "cannot find FEs: the labeller was trained to classify given spans; use one that was \
         trained to find spans"
    )]
    GivenSpans,
    /// There are no pairs of a split to learn from or to measure.
    #[error(
        "no pair is the `original` of the split `{split}`; expected what an augmentation writes of \
         a table with the splits train, dev and test"
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
    /// A file of a network or of its data cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The network was trained on another encoder.
    #[error(
        "cannot use {} `{}` with this encoder: it was trained on the states of `{expected}`, this \
         is `{found}`; give the encoder it names, or train a {} on this one",
        network.as_str(), model.display(), network.as_str()
    )]
    Encoder {
        /// What it is.
        network: SmallNetwork,
        /// Its directory.
        model: PathBuf,
        /// Name and fingerprint of the encoder it was trained on.
        expected: String,
        /// Fingerprint of the encoder given.
        found: String,
    },
    /// The encoder refused its weights or its input.
    #[error("cannot load or run the encoder, or the network over it")]
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
    #[error("cannot run the network on the encoder's states")]
    Compute {
        /// Why.
        #[from]
        source: ComputeError,
    },
}

impl SmallNetwork {
    /// Refuses to train where the training data, or that for development, has none of what is
    /// `wanted`.
    pub(crate) fn require_data(
        self,
        wanted: &'static str,
        [training, development]: [bool; 2],
    ) -> Result<(), NetworkError> {
        for (there, part) in [(training, "training"), (development, "development")] {
            if !there {
                return Err(NetworkError::NoData { network: self, wanted, part });
            }
        }
        Ok(())
    }
}

coded!(NetworkError {
    Self::File(error) => error.trouble(),
    Self::NoData { .. } => BadInput.coded("E-no-data"),
    Self::Leak { .. } => BadInput.coded("E-leak"),
    Self::NoPairs { .. } => BadInput.coded("E-no-pairs"),
    Self::OneLabel { .. } => BadInput.coded("E-one-label"),
    Self::GivenSpans => Failed.coded("M-given-spans"),
    Self::Encoder { network: SmallNetwork::Tagger, .. } => Failed.coded("M-tagger-encoder"),
    Self::Encoder { network: SmallNetwork::FrameModel, .. } => Failed.coded("M-frames-encoder"),
    Self::Encoder { network: SmallNetwork::Labeller, .. } => Failed.coded("M-fes-encoder"),
    Self::Encoder { network: SmallNetwork::Head | SmallNetwork::Linker, .. } =>
        Failed.coded("M-aligner-encoder"),
    Self::Network { source } => source.trouble(),
    Self::Compute { source } => source.trouble(),
});

impl NetworkError {
    /// Index in its batch of the sentence that is to blame, when one is: the others would have gone
    /// through without it.
    #[must_use]
    pub fn item(&self) -> Option<usize> {
        match self {
            Self::TooLong { item, .. } | Self::NoTarget { item } => Some(*item),
            _ => None,
        }
    }

    /// The same of a sentence that has another place in the caller's batch.
    pub(crate) fn of_item(self, which: impl FnOnce(usize) -> usize) -> Self {
        match self {
            Self::TooLong { item, pieces, limit } => {
                Self::TooLong { item: which(item), pieces, limit }
            }
            other => other,
        }
    }
}
