//! What can be wrong with a query, always with the place.

use std::path::PathBuf;

use super::{Field, Operator};
use crate::model::coded;
use crate::text::shortened;

/// A query that cannot be read.
///
/// Columns count code points of the query from 1.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The text does not follow the grammar.
    #[error("cannot read the query at column {column}: found {found}, expected {expected}")]
    Syntax {
        /// Where.
        column: usize,
        /// What stands there, quoted, or the words `the end`.
        found: String,
        /// What could have stood there.
        expected: &'static str,
    },
    /// No field has this name.
    #[error(
        "unknown field `{}` at column {column}{}",
        shortened(.name),
        did_you_mean(.suggestion, &fields())
    )]
    UnknownField {
        /// Where the name starts.
        column: usize,
        /// The name as written.
        name: String,
        /// The nearest field, when one is near.
        suggestion: Option<&'static str>,
    },
    /// The field exists and has no value that could be shown, counted or compared.
    #[error(
        "field `{field}` (column {column}) has no value that can be shown, counted or compared"
    )]
    NoValue {
        /// Where the name starts.
        column: usize,
        /// The field.
        field: Field,
    },
    /// The field exists and has no such operator.
    #[error(
        "field `{field}` has no operator `{operator}` (column {column}); it takes {}",
        listed(.field.operators().iter().map(|operator| operator.as_str()))
    )]
    Operator {
        /// Where the operator stands.
        column: usize,
        /// The field.
        field: Field,
        /// The operator as written.
        operator: Operator,
    },
    /// The field takes one of a few words, and this is none of them.
    #[error(
        "`{}` is no value of `{field}` (column {column}); expected {}{}",
        shortened(.value), listed(.expected.iter().copied()), did_you_mean(.suggestion, "")
    )]
    UnknownValue {
        /// Where the value starts.
        column: usize,
        /// The field.
        field: &'static str,
        /// The value as written.
        value: String,
        /// What the field takes.
        expected: Vec<&'static str>,
        /// The nearest of them, when one is near.
        suggestion: Option<&'static str>,
    },
    /// The field takes a number or an id, and this is none in its range.
    #[error(
        "`{}` is no value of `{field}` (column {column}); expected {expected}",
        shortened(.value)
    )]
    Malformed {
        /// Where the value starts.
        column: usize,
        /// The field.
        field: Field,
        /// The value as written.
        value: String,
        /// What the field takes.
        expected: &'static str,
    },
    /// The query names a file of ids that cannot be read.
    #[error("cannot read the ids in `{}` (column {column}): {reason}", .file.display())]
    IdFile {
        /// Where the name starts.
        column: usize,
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file of ids has a line that is none, or none at all.
    #[error(
        "{}:{line}: `{}` is no value of `{field}`; expected {expected}",
        .file.display(), shortened(.value)
    )]
    IdLine {
        /// Where the query names the file.
        column: usize,
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The field.
        field: Field,
        /// What stands there.
        value: String,
        /// What the field takes.
        expected: &'static str,
    },
    /// The regular expression cannot be compiled.
    #[error("cannot compile the regular expression `{}` at column {column}", shortened(.pattern))]
    Regex {
        /// Where the value starts.
        column: usize,
        /// The regular expression.
        pattern: String,
        /// What is wrong with it.
        source: regex::Error,
    },
    /// A text is no cursor.
    #[error("`{}` is no cursor; expected one that a page of answers gave", shortened(.cursor))]
    Cursor {
        /// The text.
        cursor: String,
    },
    /// The cursor is another query's.
    #[error(
        "the cursor `{}` is of another query or order; expected one that a page of this query \
         gave: start again without one",
        shortened(.cursor)
    )]
    ForeignCursor {
        /// The cursor.
        cursor: String,
    },
    /// Parentheses and `not` are nested too deep.
    #[error("the query nests deeper than {limit} levels at column {column}; write it flatter")]
    TooDeep {
        /// Where the first level too many starts.
        column: usize,
        /// Levels allowed.
        limit: usize,
    },
}

coded!(QueryError {
    Self::Syntax { .. } => Failed.coded("Q-syntax"),
    Self::UnknownField { .. } => Failed.coded("Q-field"),
    Self::UnknownValue { .. } | Self::Malformed { .. } => Failed.coded("Q-value"),
    Self::Operator { .. } => Failed.coded("Q-operator"),
    Self::IdFile { .. } => Failed.coded("Q-id-file"),
    Self::IdLine { .. } => BadInput.coded("Q-id-line"),
    Self::Regex { .. } => Failed.coded("Q-regex"),
    Self::Cursor { .. } | Self::ForeignCursor { .. } => Failed.coded("Q-cursor"),
    _ => Failed.coded("Q-query"),
});

/// An expression that cannot be built: no text could say it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A field has no test of this kind.
    #[error("field `{field}` takes no {given}, expected {expected}")]
    Kind {
        /// The field.
        field: Field,
        /// What it was given.
        given: &'static str,
        /// What it takes.
        expected: &'static str,
    },
    /// A value lies outside what the field takes.
    #[error("`{}` is no value of `{field}`, expected {expected}", shortened(.value))]
    Value {
        /// The field.
        field: Field,
        /// The value.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// A test of frames alone has a term that asks about annotation sets.
    #[error("field `{field}` asks about annotation sets, expected {}", listed(frame_fields()))]
    NotOfFrames {
        /// The field.
        field: Field,
    },
    /// Conjunctions, disjunctions and negations are nested too deep.
    #[error("the expression nests deeper than {limit} levels; build it flatter")]
    TooDeep {
        /// Levels allowed.
        limit: usize,
    },
}

coded!(BuildError {
    Self::Kind { .. } => Failed.coded("Q-operator"),
    Self::Value { .. } => Failed.coded("Q-value"),
    _ => Failed.coded("Q-query"),
});

/// Names of the fields that follow relations of frames.
fn frame_fields() -> impl Iterator<Item = &'static str> {
    Field::ALL.iter().filter(|field| field.followed().is_some()).map(|field| field.name())
}

impl QueryError {
    /// The column it was found at: code points of the query, from 1; so for what is wrong with a
    /// cursor.
    #[must_use]
    pub fn column(&self) -> usize {
        match self {
            Self::Syntax { column, .. }
            | Self::UnknownField { column, .. }
            | Self::NoValue { column, .. }
            | Self::Operator { column, .. }
            | Self::UnknownValue { column, .. }
            | Self::Malformed { column, .. }
            | Self::IdFile { column, .. }
            | Self::IdLine { column, .. }
            | Self::Regex { column, .. }
            | Self::TooDeep { column, .. } => *column,
            Self::Cursor { .. } | Self::ForeignCursor { .. } => 1,
        }
    }
}

/// All there are, for a name that is like none of them.
fn fields() -> String {
    let names: Vec<&str> = Field::ALL.iter().map(|field| field.name()).collect();
    format!("; the fields are {}", names.join(", "))
}

fn did_you_mean(suggestion: &Option<&str>, otherwise: &str) -> String {
    match suggestion {
        Some(name) => format!("; did you mean `{name}`?"),
        None => otherwise.to_owned(),
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
