//! What can go wrong with proposals.

use crate::database::DatabaseError;
use crate::exchange::ExchangeError;
use crate::learn::FileError;
use crate::model::{FrameId, coded};
use crate::store::StoreError;

/// What can go wrong with proposals.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProposalError {
    /// The database failed, or a decision cannot be made.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A ranker's file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no such proposal.
    #[error(
        "E-no-proposal: neither a generated set nor a search proposes `{name}` for frame {frame}; name one that is \
         proposed"
    )]
    Absent {
        /// The frame.
        frame: FrameId,
        /// The LU's name.
        name: String,
    },
    /// The name is none that an LU can have.
    #[error(
        "E-no-unit: `{name}` is no name of an LU, as it has function words or numbers alone, or a \
         digit; reject it, or merge it into another LU"
    )]
    NoUnit {
        /// The name.
        name: String,
    },
    /// The lexicon has an LU that is said to be hidden.
    #[error(
        "`lu` is `{name}`, which `{frame}` has in `{release}`; expected an LU that is hidden; `edit` removes it \
         from the store, or import a release without it"
    )]
    NotHidden {
        /// Name of the frame.
        frame: String,
        /// Name of the LU.
        name: String,
        /// Name of the release.
        release: String,
    },
    /// There are too few decisions to learn from.
    #[error(
        "cannot train a ranker on {accepted} accepted and {rejected} rejected proposals; expected at least {least} \
         of each: decide on more"
    )]
    TooFew {
        /// Proposals that belong to their frame.
        accepted: usize,
        /// Proposals that do not.
        rejected: usize,
        /// How many of each are needed.
        least: usize,
    },
}

coded!(ProposalError {
    Self::Database(error) => error.trouble(),
    Self::File(error) => error.trouble(),
    Self::Absent { .. } => Failed.coded("E-no-proposal"),
    Self::NoUnit { .. } => Failed.coded("E-no-unit"),
    Self::NotHidden { .. } => Failed.coded("E-not-hidden"),
    Self::TooFew { .. } => BadInput.coded("E-few-decisions"),
});

impl From<ExchangeError> for ProposalError {
    fn from(error: ExchangeError) -> Self {
        Self::Database(error.into())
    }
}

impl From<StoreError> for ProposalError {
    fn from(error: StoreError) -> Self {
        Self::Database(error.into())
    }
}
