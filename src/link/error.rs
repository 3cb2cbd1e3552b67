//! What can go wrong while links are computed or decided on.

use crate::database::DatabaseError;
use crate::expand::ExpandError;
use crate::model::coded;
use crate::store::StoreError;
use crate::verify::VerifyError;

/// Links cannot be computed or decided on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The database fails.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A frame cannot be asked about.
    #[error(transparent)]
    Expand(Box<ExpandError>),
    /// The verifier fails.
    #[error(transparent)]
    Verify(Box<VerifyError>),
    /// There is nothing to link to of that name.
    #[error(
        "V-link-target: no lexicon of the store has `{target}`: expected a synset's id, the name of a class or \
         roleset, or that and a role, as in `leave-51.2:Agent`"
    )]
    NoTarget {
        /// What was named.
        target: String,
    },
    /// Several links go by the name.
    #[error("V-link-several: several links lead to `{target}`, expected one: name its role or its lexicon ({})", places.join(", "))]
    Several {
        /// What was named.
        target: String,
        /// Where they lead to.
        places: Vec<String>,
    },
    /// No such decision stands.
    #[error("V-link-undecided: no decision on the link to `{target}` stands")]
    Undecided {
        /// What is linked.
        target: String,
    },
}

coded!(LinkError {
    Self::Database(error) => error.trouble(),
    Self::Expand(error) => error.trouble(),
    Self::Verify(error) => error.trouble(),
    Self::NoTarget { .. } => Failed.coded("V-link-target"),
    Self::Several { .. } => Failed.coded("V-link-several"),
    Self::Undecided { .. } => Failed.coded("V-link-undecided"),
});

impl From<ExpandError> for LinkError {
    fn from(error: ExpandError) -> Self {
        Self::Expand(Box::new(error))
    }
}

impl From<VerifyError> for LinkError {
    fn from(error: VerifyError) -> Self {
        Self::Verify(Box::new(error))
    }
}

impl From<StoreError> for LinkError {
    fn from(error: StoreError) -> Self {
        Self::Database(error.into())
    }
}

impl LinkError {
    /// Whether whoever was asked answered that it is to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Verify(error) if error.is_stopped())
    }
}
