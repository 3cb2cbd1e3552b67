//! Lines of a text file that are not blank, with the errors of this layer.

use std::io::BufRead;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::Result;
use super::error::{ExchangeError, Fault, FaultCode};
use crate::text::input;

/// Most bytes that a line may have. Far above the longest record of FrameNet 1.5 (an LU with its
/// valence tables, under 4 MB of JSON), far below what a hostile file could fill memory with.
pub const LINE_LIMIT: usize = 64 << 20;

/// The columns of a line parted by tabs, trimmed; `expected` says what they are.
pub(super) fn columns<'l, const N: usize>(
    line: &'l str,
    expected: &str,
) -> std::result::Result<[&'l str; N], Fault> {
    let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
    let count = columns.len();
    columns.try_into().map_err(|_| {
        let expected = format!("{N}, parted by tabs: {expected}");
        Fault::new(FaultCode::Layout, "number of columns", count, expected)
    })
}

/// The lines of a file that are not blank; what is wrong with one names file and line.
pub struct Lines<R> {
    input: input::Lines<R>,
    file: String,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, file: &Path) -> Self {
        Self::with_limit(input, file, LINE_LIMIT)
    }

    /// The lines of a file, which is named in messages; one of more than `limit` bytes is an error.
    #[must_use]
    pub fn with_limit(input: R, file: &Path, limit: usize) -> Self {
        Self { input: input::Lines::new(input, limit), file: file.display().to_string() }
    }

    /// The file, for messages.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Number of the line that was read last, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        usize::try_from(self.input.number()).unwrap_or(usize::MAX)
    }

    /// Number of bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.input.bytes()
    }

    /// Goes to the next line that is not blank; says whether there is one.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is too long or no text.
    pub fn advance(&mut self) -> Result<bool> {
        let unreadable = |source| ExchangeError::Read { path: self.file.clone().into(), source };
        while self.input.advance().map_err(unreadable)? {
            if let Err(fault) = self.input.text() {
                return Err(self.fault(FaultCode::of_line(fault), fault.to_string()));
            }
            if !self.input.is_blank() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The line that [`advance`](Self::advance) went to, without its end.
    #[must_use]
    pub fn text(&self) -> &str {
        self.input.text().unwrap_or_default()
    }

    /// The line as JSON. Nesting is limited by the JSON reader, to 128 levels.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T> {
        self.current().json()
    }

    pub(super) fn fault(&self, code: FaultCode, reason: String) -> ExchangeError {
        self.current().fault(code, reason)
    }

    /// The line with its place.
    pub(super) fn current(&self) -> Line<'_> {
        Line { file: &self.file, number: self.line(), text: self.text() }
    }
}

/// A line of a file, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) file: &'a str,
    /// From 1.
    pub(super) number: usize,
    pub(super) text: &'a str,
}

impl Line<'_> {
    pub(super) fn json<T: DeserializeOwned>(self) -> Result<T> {
        serde_json::from_str(self.text).map_err(|error| {
            // The reader takes each line for a document of its own: its line number says nothing.
            let message = error.to_string();
            let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
            self.fault(FaultCode::Json, format!("{what} (column {})", error.column()))
        })
    }

    pub(super) fn fault(self, code: FaultCode, reason: String) -> ExchangeError {
        // What is wrong with a file without lines is wrong with its first.
        let line = self.number.max(1);
        ExchangeError::Line { code, file: self.file.to_owned(), line, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], limit: usize) -> Lines<&[u8]> {
        Lines::with_limit(bytes, "a.jsonl".as_ref(), limit)
    }

    #[test]
    fn blank_lines_count_and_do_not_show() {
        let mut lines = lines(b"\xef\xbb\xbf1\n\n \r\n22\r\n333", 9);
        let mut seen = Vec::new();
        while lines.advance().unwrap() {
            seen.push((lines.line(), lines.json::<u32>().unwrap()));
        }
        assert_eq!(seen, [(1, 1), (4, 22), (5, 333)]);
    }

    #[test]
    fn what_is_wrong_with_an_empty_file_is_wrong_with_its_first_line() {
        let mut lines = lines(b"", 9);
        assert!(!lines.advance().unwrap());
        let error = lines.fault(FaultCode::Layout, "nothing".to_owned()).to_string();
        assert_eq!(error, "E-layout: a.jsonl:1: nothing");
    }

    #[test]
    fn a_long_line_is_refused_before_it_is_held() {
        let mut lines = lines(b"1\n12345678901234567890\n", 4);
        assert!(lines.advance().unwrap());
        let error = lines.advance().unwrap_err().to_string();
        let start = "E-line-length: a.jsonl:2: the line has more than 4 bytes";
        assert!(error.starts_with(start), "{error}");
        assert!(lines.bytes() < 15, "{}", lines.bytes());
    }

    #[test]
    fn a_line_that_is_no_text_or_no_json_says_where() {
        let mut bytes = lines(b"\"a\xff\"\n", 9);
        let error = bytes.advance().unwrap_err().to_string();
        let start = "E-encoding: a.jsonl:1: the line has a byte that is not UTF-8, its number 3";
        assert!(error.starts_with(start), "{error}");
        let deep = "[".repeat(300);
        let mut deep = lines(deep.as_bytes(), 999);
        assert!(deep.advance().unwrap());
        let error = deep.json::<serde_json::Value>().unwrap_err().to_string();
        let start = "E-json: a.jsonl:1: recursion limit exceeded";
        assert!(error.starts_with(start), "{error}");
    }
}
