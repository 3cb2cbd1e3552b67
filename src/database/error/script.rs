//! What can be wrong with a script of edits.

use super::DatabaseError;
use crate::model::{Trouble, coded};

/// A line of a script cannot be read or done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The script cannot be read.
    #[error("cannot read line {line}")]
    Read {
        /// The line, from 1.
        line: u64,
        /// Why.
        source: std::io::Error,
    },
    /// The line is no edit.
    #[error("line {line}: E-syntax: {reason}")]
    Syntax {
        /// The line, from 1.
        line: u64,
        /// What is wrong, in the JSON reader's words.
        reason: String,
    },
    /// The edit cannot be made.
    #[error("line {line}")]
    Edit {
        /// The line, from 1.
        line: u64,
        /// Why.
        source: Box<DatabaseError>,
    },
}

coded!(ScriptError {
    Self::Read { .. } => Trouble::OTHER,
    Self::Syntax { .. } => BadInput.coded("E-syntax"),
    Self::Edit { source, .. } => match (&**source, source.trouble()) {
        (DatabaseError::Store(_), trouble) => trouble,
        (_, trouble) => Trouble { kind: BadInput, ..trouble },
    },
});
