//! What can be wrong with a script of edits.

use super::DatabaseError;

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
