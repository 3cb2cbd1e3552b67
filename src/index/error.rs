//! What can go wrong in the index; Tantivy's errors are turned into these here.

use std::path::PathBuf;

/// The index cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// Tantivy failed.
    #[error("the index in `{}` failed while {action}: {reason}", path.display())]
    Engine {
        /// The index's directory.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// Tantivy's own words.
        reason: String,
    },
    /// A directory cannot be made or removed.
    #[error("cannot use `{}`", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
