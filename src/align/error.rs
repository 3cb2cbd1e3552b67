//! What can go wrong while aligning, and while training the aligner.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::engine::{ComputeError, NnError, TokenizeError};
use crate::learn::{FileError, NetworkError};
use crate::model::coded;
use crate::text::OffsetError;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLine {
    pub(super) file: Arc<Path>,
    /// From 1.
    pub(super) line: usize,
}

impl fmt::Display for FileLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` line {}", self.file.display(), self.line)
    }
}

/// Why words have no encoder states while those beside them have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{side} too long for the encoder: {pieces} pieces, expected at most {limit}")]
pub struct TooLong {
    /// What is too long, with its verb.
    pub(super) side: &'static str,
    /// Number of pieces, special tokens counted.
    pub pieces: usize,
    /// Longest input of the encoder.
    pub limit: usize,
}

/// What can go wrong in the aligner.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AlignError {
    /// A source piece does not fit its sentence, or marks no word of it.
    #[error(
        "cannot align piece `{start}..{end}` of source {request}: expected a stretch of the sentence that holds a word"
    )]
    Piece {
        /// Index of the request in its batch.
        request: usize,
        /// First unit of the piece (bytes, or words for aligned words).
        start: u32,
        /// One past its last unit.
        end: u32,
        /// Why the offsets do not fit, when they do not.
        source: Option<OffsetError>,
    },
    /// A sentence and its paraphrase are too long for the encoder.
    #[error(
        "cannot encode pair {request}: {pieces} pieces, the encoder takes at most {limit}; leave the pair out"
    )]
    TooLong {
        /// Index of the request in its batch.
        request: usize,
        /// Length of the pair, special tokens counted.
        pieces: usize,
        /// Longest input of the encoder.
        limit: usize,
    },
    /// Words cannot be cut into pieces.
    #[error("cannot cut the words of pair {request} into pieces")]
    Cut {
        /// Index of the request in its batch.
        request: usize,
        /// Why not.
        source: TokenizeError,
    },
    /// An item of a data file cannot be aligned.
    #[error("cannot align {line}")]
    Item {
        /// Where it stands.
        line: FileLine,
        /// Why not.
        source: Box<AlignError>,
    },
    /// No directory of models has the encoder that a head or linker names.
    #[error("cannot find the encoder `{encoder}` that `{model}` names: looked in {}", listed(searched), model = .model.display())]
    EncoderMissing {
        /// Directory of the head or linker.
        model: PathBuf,
        /// Name of the encoder.
        encoder: String,
        /// Directories of models that were searched.
        searched: Vec<PathBuf>,
    },
    /// The directory of an encoder has no name that a head could call it by.
    #[error("cannot name the encoder `{path}` in what is trained: expected a directory whose name is UTF-8 without a backslash", path = .path.display())]
    EncoderName {
        /// The directory.
        path: PathBuf,
    },
    /// A file, the encoder or a network cannot be used.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

coded!(AlignError {
    Self::Item { .. } => BadInput.coded("E-item"),
    Self::Network(error) => error.trouble(),
});

/// What a network has is what the aligner has.
macro_rules! of_a_network {
    ($($error:ty),*) => {
        $(impl From<$error> for AlignError {
            fn from(error: $error) -> Self {
                Self::Network(error.into())
            }
        })*
    };
}

of_a_network!(FileError, NnError, TokenizeError, ComputeError);

/// Directories as a message lists them.
fn listed(directories: &[PathBuf]) -> String {
    let quoted: Vec<String> =
        directories.iter().map(|directory| format!("`{}`", directory.display())).collect();
    if quoted.is_empty() { "no directory".to_owned() } else { quoted.join(", ") }
}

impl AlignError {
    /// Index in its batch of the request that is to blame, when one is: the others would have gone
    /// through without it.
    #[must_use]
    pub fn request(&self) -> Option<usize> {
        match self {
            Self::Piece { request, .. }
            | Self::TooLong { request, .. }
            | Self::Cut { request, .. } => Some(*request),
            _ => None,
        }
    }

    /// Counts requests from the start of the caller's batch instead of from a part's.
    pub(super) fn counted_from(self, start: usize) -> Self {
        self.of_request(|request| start + request)
    }

    /// Blames another request for what is too long or cannot be cut.
    pub(super) fn of_request(self, which: impl FnOnce(usize) -> usize) -> Self {
        match self {
            Self::TooLong { request, pieces, limit } => {
                Self::TooLong { request: which(request), pieces, limit }
            }
            Self::Cut { request, source } => Self::Cut { request: which(request), source },
            other => other,
        }
    }
}
