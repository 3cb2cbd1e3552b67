//! What can go wrong in a store; RocksDB's errors are turned into these here and nowhere else.

use std::path::PathBuf;

use super::lock::Holder;
use crate::model::hexadecimal;

/// A store cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store at the path.
    #[error(
        "there is no store in `{}`; make one with `fnstore import PATH`, or name another with \
         `--store DIR`",
        path.display()
    )]
    Absent {
        /// The path.
        path: PathBuf,
    },
    /// Another process is writing.
    #[error("the store in `{}` is being written by {holder}; wait until it ends", path.display())]
    Locked {
        /// The path.
        path: PathBuf,
        /// Who holds it.
        holder: Holder,
    },
    /// The store's format is not one that this build reads.
    #[error(
        "the store in `{}` has format {found} (last written by fnstore {written_by}), this build \
         reads format {supported}; use fnstore {written_by} or newer",
        path.display()
    )]
    Format {
        /// The path.
        path: PathBuf,
        /// The store's format, `major.minor`.
        found: String,
        /// What this build reads.
        supported: String,
        /// The version that wrote the store last.
        written_by: String,
    },
    /// A file of the store cannot be read or written.
    #[error("cannot use `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A reader has no place for its temporary files.
    #[error(
        "cannot make a reader's directory in `{}`; name a directory that can be written in the \
         variable `TMPDIR`",
        path.display()
    )]
    Scratch {
        /// Where it was to be made.
        path: PathBuf,
        /// Why it was not.
        source: std::io::Error,
    },
    /// Commits that were acknowledged are not in the store.
    #[error(
        "the store in `{}` is at revision {found}, and revision {acknowledged} was acknowledged: the \
         log that held the commits between is damaged; restore a backup with `fnstore restore DIR`, \
         or go on with what is left by `fnstore reindex`",
        path.display()
    )]
    CommitsLost {
        /// The store's directory.
        path: PathBuf,
        /// The store's revision.
        found: u64,
        /// The last revision that a writer acknowledged.
        acknowledged: u64,
    },
    /// The storage engine failed.
    #[error("the storage engine failed while {action}: {reason}")]
    Engine {
        /// What was being done.
        action: &'static str,
        /// The engine's own words.
        reason: String,
    },
    /// A table file is missing or cannot be opened.
    #[error(
        "rows of `{family}` are lost: `{}` is missing or damaged, or another table of that family; \
         restore a backup with `fnstore restore DIR`",
        path.display()
    )]
    FileLost {
        /// The file, or one of those that it keeps from being read.
        path: PathBuf,
        /// The column family whose rows were in it.
        family: String,
    },
    /// A key or a record is not what the format says.
    #[error("damaged {family} record {key}: {reason}; run a new import into an empty store")]
    Damaged {
        /// The column family.
        family: &'static str,
        /// The key, hexadecimal.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A write needs the writer's handle.
    #[error("the store was opened for reading; open it for writing")]
    ReadOnly,
}

impl StoreError {
    pub(super) fn engine(action: &'static str) -> impl Fn(rocksdb::Error) -> Self {
        move |error| Self::Engine { action, reason: error.into_string() }
    }

    pub(super) fn damaged(family: &'static str, key: &[u8], reason: impl ToString) -> Self {
        Self::Damaged { family, key: hexadecimal(key), reason: reason.to_string() }
    }
}
