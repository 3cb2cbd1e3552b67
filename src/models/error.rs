//! What can go wrong with a model on disk.

use std::path::PathBuf;

use super::Finding;
use crate::engine::{NnError, WeightsError};
use crate::model::coded;

/// A directory that is no model, or that cannot become one of the models.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A file cannot be read or written.
    #[error("cannot {action} `{}`", path.display())]
    File {
        /// What was being done.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file does not hold what it should.
    #[error("cannot use `{}`: found {found}, expected {expected}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: String,
        /// What it should.
        expected: String,
    },
    /// The file that says which rewriter is preferred does not.
    #[error(
        "cannot use `{}`: found {found}, expected `{{\"paraphraser\": NAME}}`, as the choice of a \
         model writes it",
        path.display()
    )]
    Choice {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: String,
    },
    /// The weights cannot be read.
    #[error("cannot read the weights of `{}`", path.display())]
    Weights {
        /// The model's directory.
        path: PathBuf,
        /// Why not.
        source: WeightsError,
    },
    /// An adapter cannot be read.
    #[error("cannot read the adapter `{}`", path.display())]
    Adapter {
        /// Its directory.
        path: PathBuf,
        /// Why not.
        source: NnError,
    },
    /// A checkpoint that does not load.
    #[error("cannot add `{}`: {}", path.display(), listed(findings))]
    Broken {
        /// The checkpoint's directory.
        path: PathBuf,
        /// Everything that is wrong with it.
        findings: Vec<Finding>,
    },
    /// A name that cannot be a folder's on every platform.
    #[error(
        "`{name}` cannot name a model: expected letters, digits, `.`, `_` and `-`, a letter or digit \
         first; choose one"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// There is a model of that name.
    #[error(
        "there is a model `{}` already; choose another name, or remove that \
         directory first",
        path.display()
    )]
    Exists {
        /// Its directory.
        path: PathBuf,
    },
}

coded!(ModelError {
    Self::Content { .. } => BadInput.coded("M-content"),
    Self::Choice { .. } => BadInput.coded("M-choice"),
    Self::Weights { .. } => BadInput.coded("M-weights"),
    Self::Broken { .. } => BadInput.coded("M-broken"),
    Self::Name { .. } => Failed.coded("M-name"),
    Self::Exists { .. } => Failed.coded("M-exists"),
});

fn listed(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    lines.join("; ")
}
