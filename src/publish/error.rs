//! What can go wrong while an edition is published.

use crate::database::DatabaseError;
use crate::expand::ExpandError;
use crate::model::coded;

/// An edition cannot be published; what stood in its place is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The database failed, the edition cannot be published as it is, or a file cannot be written.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// How far sentences differ cannot be measured.
    #[error(transparent)]
    Expand(Box<ExpandError>),
    /// The directory cannot take its place.
    #[error("cannot put the data set in its place (X-place)")]
    Place(#[from] std::io::Error),
}

coded!(PublishError {
    Self::Database(error) => error.trouble(),
    Self::Expand(error) => error.trouble(),
    Self::Place(error) => error.trouble().or(Failed.coded("X-place")),
});

impl From<ExpandError> for PublishError {
    fn from(error: ExpandError) -> Self {
        Self::Expand(Box::new(error))
    }
}
