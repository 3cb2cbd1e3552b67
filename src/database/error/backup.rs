//! What can go wrong with a backup.

use crate::model::coded;
use std::path::PathBuf;

/// A backup cannot be written or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The directory for a backup holds something.
    #[error(
        "cannot write a backup to `{}`: something is there; name a directory that does not exist \
         or is empty (B-not-empty)",
        path.display()
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The directory for a backup cannot be replaced by one, or is inside the store.
    #[error("cannot write a backup to `{}` (B-place)", path.display())]
    Place {
        /// The directory.
        path: PathBuf,
        /// What is in the way.
        source: std::io::Error,
    },
    /// The directory holds no backup.
    #[error(
        "`{}` holds no backup: {reason}; expected a directory that a backup was written to, with \
         its `backup.json` (B-none)",
        path.display()
    )]
    NotABackup {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A backup is not what was written.
    #[error(
        "the backup in `{}` is damaged: {reason}; nothing was restored, use another backup (B-damaged)",
        path.display()
    )]
    Damaged {
        /// The backup's directory.
        path: PathBuf,
        /// Which file, and what is wrong with it.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error("cannot use `{}` (S-io)", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

coded!(BackupError {
    Self::NotEmpty { .. } => Failed.coded("B-not-empty"),
    Self::Place { .. } => Failed.coded("B-place"),
    Self::NotABackup { .. } => BadInput.coded("B-none"),
    Self::Damaged { .. } => BadInput.coded("B-damaged"),
    Self::Io { source, .. } => source.trouble().or(Failed.coded("S-io")),
});
