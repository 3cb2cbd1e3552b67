//! What can go wrong with a filter, and while training one.

use std::path::PathBuf;

use crate::engine::WeightsError;
use crate::learn::FileError;
use crate::model::coded;
use crate::prompt::PromptError;

/// What can go wrong with a filter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// A file of a filter or of judged outputs cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The weights of a filter cannot be read.
    #[error("cannot read the weights of filter `{path}`", path = .path.display())]
    Weights {
        /// Directory of the filter.
        path: PathBuf,
        /// Why not.
        source: WeightsError,
    },
    /// The weights of a choice cannot be used.
    #[error(transparent)]
    Choice(#[from] PromptError),
    /// There is too little to learn from.
    #[error(
        "too few judgements of `{question}`: {accepted} accepted and {refused} refused outputs of {sentences} \
         sentences; expected some of both in any eight of ten parts by sentence, and some hundred outputs for what is \
         of use: judge more"
    )]
    TooFew {
        /// The question: `evokes`, or `same_meaning` of outputs of which the first was answered.
        question: &'static str,
        /// Judged outputs that are acceptable.
        accepted: u64,
        /// Those that are not.
        refused: u64,
        /// Sentences of the seeds that they come from.
        sentences: usize,
    },
    /// An option is out of range.
    #[error("{name} is {found}, expected {expected}")]
    Option {
        /// Which one.
        name: &'static str,
        /// What was given.
        found: String,
        /// What is possible.
        expected: &'static str,
    },
}

coded!(FilterError {
    Self::File(error) => error.trouble(),
    Self::Choice(error) => error.trouble(),
    Self::TooFew { .. } => BadInput.coded("E-few-judgements"),
});
