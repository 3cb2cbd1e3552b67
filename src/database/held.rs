//! How what reads a database holds it: borrowed, or shared for as long as it reads.

use std::ops::Deref;
use std::sync::Arc;

use super::Database;

/// A database that something reads.
#[derive(Clone)]
pub(crate) enum Held<'a> {
    /// Somebody else keeps it open.
    Borrowed(&'a Database),
    /// It stays open for as long as it is read.
    Shared(Arc<Database>),
}

impl Deref for Held<'_> {
    type Target = Database;

    fn deref(&self) -> &Database {
        match self {
            Self::Borrowed(database) => database,
            Self::Shared(database) => database,
        }
    }
}
