//! What can go wrong while records are read from or written to a file of another format.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::model::{OutOfRange, coded, named, said};
use crate::text::input::LineFault;
use crate::text::shortened;

named! {
    /// What is wrong with a line of a file.
    #[non_exhaustive]
    pub enum FaultCode {
        /// It is longer than a line may be.
        LineLength => "E-line-length",
        /// It is not text in an encoding that is read.
        Encoding => "E-encoding",
        /// It is no JSON, or not the JSON that its kind of record has.
        Json => "E-json",
        /// The file does not begin, go on or end as such a file does.
        Layout => "E-layout",
        /// A value is not one of those that its field may have.
        Value => "E-value",
        /// A span does not lie inside its text.
        SpanRange => "E-span-range",
        /// A span covers nothing.
        SpanEmpty => "E-span-empty",
        /// A span does not cover the text that the record says it covers.
        SpanText => "E-span-text",
        /// Two records have one id.
        Repeated => "E-repeated",
        /// A record names something that neither the file before it nor the store has.
        Missing => "E-missing",
        /// A file of additions names what neither it nor the release that it adds to has.
        BaseLacks => "E-base-lacks",
        /// The file does not begin as an export as JSON lines does.
        NoExport => "E-no-export",
        /// The store has something else under the same id or name.
        Conflict => "E-conflict",
    }
}

impl FaultCode {
    /// The code of a line that cannot be used at all.
    pub(super) fn of_line(fault: &LineFault) -> Self {
        match fault {
            LineFault::TooLong { .. } => Self::LineLength,
            _ => Self::Encoding,
        }
    }
}

/// A file of records cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Words could not be given their parts of speech.
    #[error("cannot tag the words of the sentences that have no parts of speech")]
    Tagger {
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What was to be written could not be.
    #[error("cannot write the export")]
    Write {
        /// Why.
        #[from]
        source: io::Error,
    },
    /// A line is no record.
    #[error("{code}: {file}:{line}: {reason}")]
    Line {
        /// What is wrong.
        code: FaultCode,
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What stands there, in the reader's own words.
        reason: String,
    },
    /// A field of a record has a value that it cannot have.
    #[error("{code}: {file}:{line}: `{field}` is `{found}`, expected {expected}")]
    Field {
        /// What is wrong.
        code: FaultCode,
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The field, as a path into the record.
        field: String,
        /// What stands there.
        found: String,
        /// What should, and what to do.
        expected: String,
    },
    /// A record of the store cannot be written down: its span does not fit its text.
    #[error("cannot export {record}")]
    Record {
        /// The record.
        record: String,
        /// Why.
        source: crate::text::OffsetError,
    },
    /// The feature `parquet` is off.
    #[error(
        "this build writes no Parquet: it is built without the feature `parquet`; build with it, or export CSV"
    )]
    NotBuilt,
    /// The parquet writer refused a row group.
    #[error("cannot write the table: {reason}")]
    Table {
        /// The writer's own words.
        reason: String,
    },
}

coded!(ExchangeError {
    Self::Line { code, .. } | Self::Field { code, .. } => BadInput.coded(code.as_str()),
    Self::NotBuilt => Failed.coded("E-not-built"),
    Self::Table { reason } => said(reason),
});

/// A fault of a record before it is known where the record stands.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) code: FaultCode,
    pub(super) field: String,
    pub(super) found: String,
    pub(super) expected: String,
}

impl From<OutOfRange> for Fault {
    fn from(number: OutOfRange) -> Self {
        Self::value(number.field, number.found, number.expected)
    }
}

impl Fault {
    pub(super) fn new(
        code: FaultCode,
        field: impl Into<String>,
        found: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Self { code, field: field.into(), found: shortened(found), expected: expected.into() }
    }

    pub(super) fn value(
        field: impl Into<String>,
        found: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Self::new(FaultCode::Value, field, found, expected)
    }

    /// The fault with the field inside `outer`.
    pub(super) fn inside(mut self, outer: &str) -> Self {
        let dot = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        self.field = format!("{outer}{dot}{}", self.field);
        self
    }

    pub(super) fn at(self, file: &str, line: usize) -> ExchangeError {
        let Self { code, field, found, expected } = self;
        ExchangeError::Field { code, file: file.to_owned(), line, field, found, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_where_what_and_what_else() {
        let fault = Fault::value("status", "x".repeat(70) + "\n", "a word").inside("layers[2]");
        let message = fault.at("a.jsonl", 7).to_string();
        let shown = "x".repeat(60);
        let expected =
            format!("E-value: a.jsonl:7: `layers[2].status` is `{shown}...`, expected a word");
        assert_eq!(message, expected);
    }

    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = FaultCode::ALL.iter().map(|code| code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), FaultCode::ALL.len());
    }
}
