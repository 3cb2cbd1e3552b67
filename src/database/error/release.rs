//! What can be wrong with a release that is imported.

use std::path::PathBuf;

use crate::model::coded;
use crate::store::StoreError;

/// A release cannot be imported; the store is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// A text that cannot name a release.
    #[error(
        "E-release-name: a release cannot be called `{}`; expected a name without control characters, as in \
         `bfn-1.5`: give one",
        name.escape_debug()
    )]
    Name {
        /// The text.
        name: String,
    },
    /// A release came through a pipe, and nothing says what it is called.
    #[error("E-release-name: `{source_name}` gives the release no name; give it one")]
    Unnamed {
        /// What it was read from.
        source_name: String,
    },
    /// A release of that name is there already.
    #[error(
        "E-release-exists: the store already holds a release `{name}`, imported from `{source_path}`; choose \
         another name"
    )]
    Exists {
        /// The name.
        name: String,
        /// Where the one that is there was read from.
        source_path: String,
    },
    /// A file adds to a release that the store does not have.
    #[error(
        "E-no-base: `{}` adds to release `{name}`, which the store does not have; import that release first, or \
         name the one to add to",
        path.display()
    )]
    NoBase {
        /// The file.
        path: PathBuf,
        /// The release.
        name: String,
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
    /// Whoever was told how far an import is answered that it is to stop.
    #[error("E-stopped: the import was stopped; the store is as it was before it")]
    Stopped,
}

coded!(ReleaseError {
    Self::Name { .. } | Self::Unnamed { .. } => Failed.coded("E-release-name"),
    Self::Exists { .. } => Failed.coded("E-release-exists"),
    Self::Stopped => Failed.coded("E-stopped"),
    Self::NoBase { .. } => BadInput.coded("E-no-base"),
    Self::TooLarge { error, .. } => error.trouble(),
});
