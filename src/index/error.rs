//! What can go wrong in the index; Tantivy's errors are turned into these here.

use crate::model::{ErrorKind, Trouble, coded, shortage};
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
    #[error("the index in `{}` failed while {action}: {reason} ({})", path.display(), of_engine(reason).code.unwrap_or_default())]
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

coded!(IndexError {
    Self::Damaged { .. } => Failed.coded("C-index-damaged"),
    Self::Engine { reason, .. } => of_engine(reason),
    Self::Io { source, .. } => source.trouble().or(Failed.coded("S-io")),
});

/// The trouble that Tantivy tells of.
fn of_engine(reason: &str) -> Trouble {
    match shortage(reason) {
        Some(code) => ErrorKind::Full.coded(code),
        None => ErrorKind::Failed.coded("S-index"),
    }
}
