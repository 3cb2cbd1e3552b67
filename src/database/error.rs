//! What can go wrong in a database as a whole.

use std::path::PathBuf;

use super::{EditError, ScriptError};
use crate::framenet::FramenetError;
use crate::index::IndexError;
use crate::query::QueryError;
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
    /// A query is not one.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// An edit cannot be made.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// A script of edits is wrong.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A query or command names something that the store does not hold.
    #[error("there is no {kind} `{name}`{}", suggestion(.nearest))]
    UnknownName {
        /// What it should be, as in `frame`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The nearest name of that kind.
        nearest: Option<String>,
    },
    /// A release of that name is there already.
    #[error(
        "the store already holds a release `{name}`, imported from `{source_path}`; import under \
         another name with `--release NAME`"
    )]
    ReleaseExists {
        /// The name.
        name: String,
        /// Where the one that is there was read from.
        source_path: String,
    },
    /// The handle was opened for reading.
    #[error("the database in `{}` was opened for reading; open it for writing", path.display())]
    ReadOnly {
        /// The store's directory.
        path: PathBuf,
    },
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |name| format!("; did you mean `{name}`?"))
}
