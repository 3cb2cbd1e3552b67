//! What can go wrong in a database as a whole.

use std::collections::BTreeSet;
use std::path::PathBuf;

mod backup;
mod edit;
mod script;

pub use backup::BackupError;
pub use edit::EditError;
pub use script::ScriptError;

use crate::exchange::ExchangeError;
use crate::framenet::FramenetError;
use crate::index::IndexError;
use crate::query::QueryError;
use crate::store::StoreError;
use crate::text::shortened;

/// Most values that a message lists.
const LISTED: usize = 40;

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
    /// A backup cannot be written or restored.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// A file of another format cannot be read or written.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
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
    #[error("there is no {kind} `{}`{}", shortened(.name), suggestion(.nearest))]
    UnknownName {
        /// What it should be, as in `frame`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The nearest name of that kind.
        nearest: Option<String>,
    },
    /// A query asks for a value that neither FrameNet nor anything in the store has, of a field
    /// that has few.
    #[error("there is no {kind} `{}`{}", shortened(.value), known_values(.nearest, .known))]
    UnknownValue {
        /// What it should be, as in `part of speech`.
        kind: &'static str,
        /// The value.
        value: String,
        /// The nearest one that there is.
        nearest: Option<String>,
        /// All that there are.
        known: BTreeSet<String>,
    },
    /// A file that is imported has a record that could not be read again.
    #[error("{file}:{}{error}", if *.line > 0 { format!("{line}: ") } else { " ".to_owned() })]
    TooLarge {
        /// The file.
        file: String,
        /// Its line, from 1; 0 where it is not known.
        line: usize,
        /// Which record.
        error: Box<StoreError>,
    },
    /// A text that cannot name a release.
    #[error(
        "E-value: a release cannot be called `{}`; expected a name without control characters, as in \
         `bfn-1.5`: give one",
        name.escape_debug()
    )]
    ReleaseName {
        /// The text.
        name: String,
    },
    /// A release came through a pipe, and nothing says what it is called.
    #[error("E-value: `{source_name}` gives the release no name; give it one")]
    ReleaseUnnamed {
        /// What it was read from.
        source_name: String,
    },
    /// A release of that name is there already.
    #[error(
        "the store already holds a release `{name}`, imported from `{source_path}`; import under \
         another name"
    )]
    ReleaseExists {
        /// The name.
        name: String,
        /// Where the one that is there was read from.
        source_path: String,
    },
    /// A file of one release would hold several.
    #[error(
        "the export would hold sets of several releases (`{}`), and a file holds one; name it with \
         `release=NAME`",
        names.join("`, `")
    )]
    SeveralReleases {
        /// The releases.
        names: Vec<String>,
    },
    /// A file adds to a release that the store does not have.
    #[error(
        "E-missing: `{}` adds to release `{name}`, which the store does not have; import that release first, or \
         name the one to add to",
        path.display()
    )]
    NoBase {
        /// The file.
        path: PathBuf,
        /// The release.
        name: String,
    },
    /// An export cannot be written.
    #[error("cannot write the export `{}` (X-io)", path.display())]
    Export {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// An export would overwrite something, or cannot take its place.
    #[error("cannot export to `{}` (X-place)", path.display())]
    ExportTarget {
        /// The directory.
        path: PathBuf,
        /// What is in the way.
        source: std::io::Error,
    },
    /// The handle was opened for reading.
    #[error(
        "the database in `{}` was opened for reading; open it for writing (S-read-only)",
        path.display()
    )]
    ReadOnly {
        /// The store's directory.
        path: PathBuf,
    },
}

impl DatabaseError {
    /// Says of a record that is too large which file has it; `line` is 0 where it is not known.
    pub(crate) fn in_file(self, file: &str, line: usize) -> Self {
        match self {
            Self::Store(error @ StoreError::TooLarge { .. }) => {
                Self::TooLarge { file: file.to_owned(), line, error: Box::new(error) }
            }
            other => other,
        }
    }
}

/// The value that was probably meant, or all there are.
fn known_values(nearest: &Option<String>, known: &BTreeSet<String>) -> String {
    if nearest.is_some() {
        return suggestion(nearest);
    }
    let first = known.iter().take(LISTED).map(|value| format!("`{}`", shortened(value)));
    let first = first.collect::<Vec<_>>().join(", ");
    match known.len().checked_sub(LISTED).filter(|more| *more > 0) {
        Some(more) => format!("; there are {first} and {more} more"),
        None => format!("; there are {first}"),
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    let meant = nearest.as_ref().map(|name| format!("; did you mean `{}`?", shortened(name)));
    meant.unwrap_or_default()
}
