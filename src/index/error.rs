//! What can go wrong in the index; Tantivy's errors are turned into these here.

use std::path::PathBuf;

/// The index cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// Files of the index are not what was written: it can be built again from the store.
    #[error(
        "the index in `{}` is damaged (C-index-damaged): {reason}, while {action}; build it again",
        path.display()
    )]
    Damaged {
        /// The index's directory.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// What is wrong, in Tantivy's own words where it said so.
        reason: String,
    },
    /// Tantivy failed.
    #[error("the index in `{}` failed while {action}: {reason} (S-index)", path.display())]
    Engine {
        /// The index's directory.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// Tantivy's own words.
        reason: String,
    },
    /// A directory cannot be made or removed.
    #[error("cannot use `{}` (S-io)", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
