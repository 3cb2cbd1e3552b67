//! What can go wrong in a database as a whole.

use std::path::PathBuf;

mod backup;
mod edit;
mod export;
mod lookup;
mod release;
mod script;
mod split_list;

pub use backup::BackupError;
pub use edit::EditError;
pub use export::ExportError;
pub use lookup::LookupError;
pub use release::ReleaseError;
pub use script::ScriptError;
pub use split_list::SplitListError;

use crate::exchange::ExchangeError;
use crate::framenet::FramenetError;
use crate::index::IndexError;
use crate::lexica::LexicaError;
use crate::model::{LanguageError, coded};
use crate::query::{BuildError, QueryError};
use crate::store::StoreError;

/// A database operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A release cannot be read.
    #[error(transparent)]
    Framenet(#[from] FramenetError),
    /// A lexicon of another kind than FrameNet's cannot be read.
    #[error(transparent)]
    Lexica(#[from] LexicaError),
    /// A backup cannot be written or restored.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// A file of another format cannot be read or written.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// A query is not one.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// An expression cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// An edit cannot be made.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// A script of edits is wrong.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A query or command names what the store does not hold.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// A model is made for another language than that of a release.
    #[error(transparent)]
    Language(#[from] LanguageError),
    /// A release cannot be taken in.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// An export cannot be made.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A split list does not fit the store.
    #[error(transparent)]
    SplitList(#[from] SplitListError),
    /// The handle was opened for reading, or for edits alone.
    #[error(
        "the database in `{}` was opened for reading, or for edits alone; save edits by \
         `edit`, or open it for writing (S-read-only)",
        path.display()
    )]
    ReadOnly {
        /// The store's directory.
        path: PathBuf,
    },
    /// A callback writes by the handle that calls it.
    #[error(
        "the handle on `{}` is writing, and this thread is inside of that call; write when it has \
         returned (S-busy)",
        path.display()
    )]
    Busy {
        /// The store's directory.
        path: PathBuf,
    },
}

coded!(DatabaseError {
    Self::Store(error) => error.trouble(),
    Self::Index(error) => error.trouble(),
    Self::Framenet(error) => error.trouble(),
    Self::Lexica(error) => error.trouble(),
    Self::Backup(error) => error.trouble(),
    Self::Exchange(error) => error.trouble(),
    Self::Query(error) => error.trouble(),
    Self::Edit(error) => error.trouble(),
    Self::Script(error) => error.trouble(),
    Self::Lookup(error) => error.trouble(),
    Self::Language(error) => error.trouble(),
    Self::Release(error) => error.trouble(),
    Self::SplitList(error) => error.trouble(),
    Self::Export(error) => error.trouble(),
    Self::ReadOnly { .. } => Failed.coded("S-read-only"),
    Self::Busy { .. } => Locked.coded("S-busy"),
});

impl DatabaseError {
    /// Whether it says of one record that it cannot be read, which leaves the others readable.
    #[must_use]
    pub fn is_unreadable_record(&self) -> bool {
        matches!(self, Self::Store(StoreError::Damaged { .. }))
    }

    /// Says of a record that could not be read again which file has it; `line` is 0 where it is not
    /// known.
    pub(crate) fn in_file(self, file: &str, line: usize) -> Self {
        match self {
            Self::Store(error @ (StoreError::TooLarge { .. } | StoreError::Invalid { .. })) => {
                ReleaseError::TooLarge { file: file.to_owned(), line, error: Box::new(error) }
                    .into()
            }
            other => other,
        }
    }
}
