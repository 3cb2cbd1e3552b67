//! The files of a run's models, which must stay what they are while it runs.

use std::path::PathBuf;

use super::sink::CommitError;
use crate::durable::Stamp;

/// Files of models, as they were when they were opened.
///
/// A recipe names its models by fingerprints of what was read then. A file that is written while a
/// model is opened could enter in part, and one that is written later may be read again after a
/// device is lost. So it is looked at before each commit.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelFiles(Vec<(PathBuf, Stamp)>);

impl ModelFiles {
    pub(crate) fn new(stamps: Vec<(PathBuf, Stamp)>) -> Self {
        Self(stamps)
    }

    /// Checks that nobody wrote one, or took it away.
    pub(crate) fn check(&self) -> Result<(), CommitError> {
        let is_changed = |(path, before): &&(PathBuf, Stamp)| Stamp::of(path).ok() != Some(*before);
        match self.0.iter().find(is_changed) {
            Some((path, _)) => Err(CommitError::ModelChanged { path: path.clone() }),
            None => Ok(()),
        }
    }
}
