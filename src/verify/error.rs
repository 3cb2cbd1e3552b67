//! What can go wrong with a verifier.

use std::path::PathBuf;

use crate::engine::{DecodeError, NnError};
use crate::model::coded;
use crate::prompt::PromptError;
use crate::score::ScoreError;

/// A verifier that cannot be opened or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The adapter.
    #[error("cannot open the verifier `{}`", path.display())]
    Adapter {
        /// Its directory.
        path: PathBuf,
        /// What is wrong.
        source: NnError,
    },
    /// Its questions.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The language model.
    #[error(transparent)]
    Score(#[from] ScoreError),
}

coded!(VerifyError {
    Self::Adapter { source, .. } => source.trouble(),
    Self::Prompt(error) => error.trouble(),
    Self::Score(error) => error.trouble(),
});

impl VerifyError {
    /// Whether whoever asked for it stopped it.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Score(ScoreError::Decode(DecodeError::Stopped)))
    }
}
