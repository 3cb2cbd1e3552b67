//! What can go wrong in opening word vectors.

use std::path::PathBuf;

use crate::engine::WeightsError;
use crate::model::coded;

/// Word vectors cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VectorsError {
    /// A file cannot be read.
    #[error("cannot read word vectors: `{path}`", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file does not hold what it should.
    #[error("cannot use `{path}` line {line}: found {found}, expected {expected}", path = .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What stands there.
        found: String,
        /// What should.
        expected: String,
    },
    /// The vectors cannot be used.
    #[error("cannot use the word vectors in `{path}`", path = .path.display())]
    Weights {
        /// Their directory.
        path: PathBuf,
        /// Why not.
        source: WeightsError,
    },
}

coded!(VectorsError {
    Self::Read { source, .. } => source.trouble(),
    Self::Content { .. } => BadInput.coded("M-content"),
    Self::Weights { source, .. } => source.trouble().or(BadInput.coded("M-weights")),
});
