//! What can go wrong while new LUs are looked for.

use std::path::PathBuf;

use crate::database::DatabaseError;
use crate::engine::DecodeError;
use crate::expand::ExpandError;
use crate::model::coded;
use crate::paraphrase::ParaphraseError;
use crate::proposals::ProposalError;
use crate::score::ScoreError;
use crate::store::StoreError;
use crate::verify::VerifyError;

/// A search for new LUs failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoverError {
    /// The database failed, or holds no such frame.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// What a frame is asked about could not be read.
    #[error(transparent)]
    Expand(Box<ExpandError>),
    /// What the lexicon says could not be read.
    #[error(transparent)]
    Proposal(#[from] ProposalError),
    /// The verifier failed.
    #[error(transparent)]
    Verify(Box<VerifyError>),
    /// The language model failed.
    #[error(transparent)]
    Score(Box<ScoreError>),
    /// The rewriter failed.
    #[error(transparent)]
    Rewrite(Box<ParaphraseError>),
    /// LUs that lack nothing are to get sentences.
    #[error(
        "V-lacking: LUs that lack `nothing` get no sentences of a corpus; expected `annotation` or `exemplars`"
    )]
    LackingNothing,
    /// A corpus cannot be read.
    #[error("V-corpus-file: cannot read the corpus `{}`; expected a file of text or JSON lines", path.display())]
    Corpus {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line of a corpus is no text.
    #[error("V-corpus: {}:{line}: {reason}; expected text, or JSON lines with a sentence as `text`", path.display())]
    CorpusLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
}

coded!(DiscoverError {
    Self::Database(error) => error.trouble(),
    Self::Expand(error) => error.trouble(),
    Self::Proposal(error) => error.trouble(),
    Self::Verify(error) => error.trouble(),
    Self::Score(error) => error.trouble(),
    Self::Rewrite(error) => error.trouble(),
    Self::LackingNothing => BadInput.coded("V-lacking"),
    Self::Corpus { .. } => BadInput.coded("V-corpus-file"),
    Self::CorpusLine { .. } => BadInput.coded("V-corpus"),
});

/// Errors that are large stand in a box.
macro_rules! boxed {
    ($($variant:ident of $error:ty),*) => {$(
        impl From<$error> for DiscoverError {
            fn from(error: $error) -> Self {
                Self::$variant(Box::new(error))
            }
        }
    )*};
}

boxed! { Expand of ExpandError, Verify of VerifyError, Score of ScoreError, Rewrite of ParaphraseError }

impl From<StoreError> for DiscoverError {
    fn from(error: StoreError) -> Self {
        Self::Database(error.into())
    }
}

impl DiscoverError {
    /// Whether whoever was asked answered that it is to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Verify(error) => error.is_stopped(),
            Self::Score(error) => matches!(**error, ScoreError::Decode(DecodeError::Stopped)),
            Self::Rewrite(error) => {
                matches!(**error, ParaphraseError::Decode { source: DecodeError::Stopped })
            }
            _ => false,
        }
    }
}
