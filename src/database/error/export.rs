//! What can be wrong with an export.

use std::path::PathBuf;

use crate::model::{Trouble, coded};

/// An export cannot be made; what stood in its place is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// What holds sets of one release would hold those of several.
    #[error(
        "the query finds sets of several releases (`{}`), and one is expected; name it with \
         `release=NAME` (X-releases)",
        names.join("`, `")
    )]
    SeveralReleases {
        /// The releases.
        names: Vec<String>,
    },
    /// An export cannot be written.
    #[error("cannot write the export `{}` (X-io)", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another process exports to the same place.
    #[error("cannot export to `{}`", path.display())]
    Claimed {
        /// The directory.
        path: PathBuf,
        /// That it does, with a code.
        source: std::io::Error,
    },
    /// An export would overwrite something, or cannot take its place.
    #[error("cannot export to `{}` (X-place)", path.display())]
    Target {
        /// The directory.
        path: PathBuf,
        /// What is in the way.
        source: std::io::Error,
    },
}

coded!(ExportError {
    Self::SeveralReleases { .. } => Failed.coded("X-releases"),
    Self::Write { source, .. } => source.trouble().or(Failed.coded("X-io")),
    Self::Claimed { .. } => Trouble { kind: Locked, code: None },
    Self::Target { .. } => Failed.coded("X-place"),
});
