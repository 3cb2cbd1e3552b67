//! Lines of an input of which a bad one costs nobody the others.
//!
//! A line that cannot be worked on becomes a [`LineError`] with a code, which its record carries in
//! its place, and the next line is read.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::Context as _;
use fnstore::model::Span;
use fnstore::text::input::Lines;
pub(crate) use fnstore::text::input::id_of;
use fnstore::text::{CharIndex, CharSpan};
use serde::Serialize;

/// Longest line in bytes. A line is held in memory, and no sentence comes near.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Why a line has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LineError {
    /// JSON `{"type": "string", "pattern": "^E-[a-z-]+$"}`.
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl LineError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The error of a line that is not the JSON object it should be.
    pub(crate) fn json(error: &serde_json::Error) -> Self {
        // The position is in the line: there is no other.
        let message = error.to_string().replace(" at line 1 column ", " at column ");
        let code = match &message {
            _ if !error.is_data() => "E-json",
            message if message.starts_with("unknown field") => "E-key",
            message if message.starts_with("missing field") => "E-key",
            _ => "E-type",
        };
        Self::new(code, format!("cannot read the line as JSON: {message}"))
    }

    /// As [`json`](Self::json), of lines that are JSON alone: one that is none is told what they
    /// hold.
    pub(crate) fn json_with(error: &serde_json::Error, fields: &str) -> Self {
        let mut wrong = Self::json(error);
        if wrong.code == "E-json" {
            wrong.message.push_str(&format!("; expected an object with {fields}"));
        }
        wrong
    }
}

/// Lines of a file or of standard input.
pub(crate) type Input = LineReader<Box<dyn BufRead + Send>>;

/// Opens a file, or standard input for none and for `-`.
pub(crate) fn open(file: Option<&Path>) -> anyhow::Result<Input> {
    Ok(match file.filter(|path| *path != Path::new("-")) {
        None => LineReader::new(Box::new(BufReader::new(io::stdin()))),
        Some(path) => {
            let file = File::open(path)
                .with_context(|| format!("cannot read lines from `{}`", path.display()))?;
            let LineReader(lines) = LineReader::new(Box::new(BufReader::new(file)) as Box<_>);
            LineReader(lines.named(path))
        }
    })
}

/// The number of a line, from 1, and its text.
pub(crate) type NumberedLine = (u64, Result<String, LineError>);

/// Reads lines one by one.
pub(crate) struct LineReader<R>(Lines<R>);

impl<R: BufRead> LineReader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self(Lines::new(input, MAX_LINE_BYTES))
    }

    /// The next line; `None` at the end of the input.
    pub(crate) fn next(&mut self) -> io::Result<Option<NumberedLine>> {
        if !self.0.advance()? {
            return Ok(None);
        }
        let line = self.0.text().map(str::to_owned);
        let line = line.map_err(|fault| LineError::new(fault.code(), fault.to_string()));
        Ok(Some((self.0.number(), line)))
    }

    /// Whether the lines are JSON objects, as the file's name or the first line that is not blank
    /// says.
    pub(crate) fn is_json(&self) -> bool {
        self.0.is_json()
    }
}

/// The line, unless it is blank.
pub(crate) fn filled(line: &str) -> Result<&str, LineError> {
    if line.trim().is_empty() {
        return Err(LineError::new("E-empty", "the line is empty"));
    }
    Ok(line)
}

/// A span of code points of a text, in bytes.
pub(crate) fn span_in_bytes(text: &str, [start, end]: [u32; 2]) -> Result<Span, LineError> {
    let index = CharIndex::new(text);
    let span = if start < end { index.to_bytes(CharSpan { start, end }).ok() } else { None };
    span.ok_or_else(|| {
        let message = format!(
            "`span` is [{start}, {end}): expected a part of `text`, which has {} code points",
            index.chars()
        );
        LineError::new("E-span", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_bytes_that_are_no_text_have_a_code() {
        assert_eq!(filled(" \t").unwrap_err().code, "E-empty");
        assert_eq!(filled(" a"), Ok(" a"));
        let mut lines = LineReader::new(&b"tw\xffo\n{}\n"[..]);
        let (number, error) = lines.next().unwrap().unwrap();
        assert_eq!((number, error.unwrap_err().code), (1, "E-encoding"));
        assert!(!lines.is_json());
        assert_eq!(lines.next().unwrap(), Some((2, Ok("{}".to_owned()))));
        let long = vec![b'{'; MAX_LINE_BYTES + 9];
        let mut lines = LineReader::new(long.as_slice());
        assert_eq!(lines.next().unwrap().unwrap().1.unwrap_err().code, "E-too-long");
        assert!(lines.is_json());
        assert_eq!(lines.next().unwrap(), None);
    }
}
