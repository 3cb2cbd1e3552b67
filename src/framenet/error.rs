//! What can go wrong while reading a release.

use std::path::PathBuf;

use super::Warning;
use crate::model::{Trouble, coded};

/// A release cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FramenetError {
    /// A file or directory cannot be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The archive is damaged or no zip file.
    #[error(
        "cannot read `{}` as a zip archive: {reason}; check that the download is complete",
        path.display()
    )]
    Archive {
        /// The archive.
        path: PathBuf,
        /// What the archive reader found.
        reason: String,
    },
    /// The place holds no release.
    #[error(
        "E-no-release: `{}` holds no FrameNet release: expected {expected}; give the release's zip file, or the \
         directory that holds one of `frame/`, `lu/` and `fulltext/`",
        path.display()
    )]
    NotARelease {
        /// The place.
        path: PathBuf,
        /// What was looked for and not found.
        expected: &'static str,
    },
    /// A file is larger than any that is read.
    #[error(
        "`{file}` is larger than {} MiB, the most that is read of one file; FrameNet's own stay \
         under 3 MiB",
        limit >> 20
    )]
    TooLarge {
        /// The file, inside the release.
        file: String,
        /// Most bytes that are read.
        limit: u64,
    },
    /// A file has more elements than any that is read: what is made of them takes more memory than
    /// they do.
    #[error(
        "{file}:{line}: more than {limit} elements (an FE of a frame counts as 16), the most that are read of one file; FrameNet's own \
         have some 100,000"
    )]
    TooManyElements {
        /// The file, inside the release.
        file: String,
        /// The line, from 1.
        line: usize,
        /// Most elements that are read.
        limit: usize,
    },
    /// A file of a directory is a link to somewhere else.
    #[error(
        "`{}` is a link that leads out of the release, to `{}`; put the file itself there",
        path.display(),
        target.display()
    )]
    Outside {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// A file is not well-formed XML.
    #[error("{file}:{line}: malformed XML: {reason}")]
    Xml {
        /// The file, inside the release.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What the XML reader found.
        reason: String,
    },
    /// An element or attribute is not what FrameNet's schema says.
    #[error("{file}:{line}: {what} is `{found}`, expected {expected}")]
    Value {
        /// The file, inside the release.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The element or attribute.
        what: String,
        /// What stands there.
        found: String,
        /// What should.
        expected: &'static str,
    },
    /// A warning that was asked to count as an error.
    #[error("{0} (warnings count as errors here)")]
    Strict(Warning),
}

coded!(FramenetError {
    Self::Io { .. } => Trouble::OTHER,
    Self::NotARelease { .. } => BadInput.coded("E-no-release"),
    Self::Strict(_) => BadInput.coded("W-strict"),
    _ => BadInput.coded("I-release"),
});
