//! Lines of an input of which a bad one costs nobody the others.
//!
//! A line that cannot be worked on becomes a [`LineError`] with a code, which its record carries in
//! its place, and the next line is read.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::Context as _;
use fnstore::model::Span;
use fnstore::text::{CharIndex, CharSpan};
use serde::{Deserialize, Serialize};

/// Longest line in bytes. A line is held in memory, and no sentence comes near.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Why a line has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct LineError {
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl LineError {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The error of a line that is not the JSON object it should be.
    pub(super) fn json(error: &serde_json::Error) -> Self {
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
}

/// Opens a file, or standard input for none and for `-`.
pub(super) fn open(file: Option<&Path>) -> anyhow::Result<Box<dyn BufRead + Send>> {
    Ok(match file.filter(|path| *path != Path::new("-")) {
        None => Box::new(BufReader::new(io::stdin())),
        Some(path) => {
            let file = File::open(path)
                .with_context(|| format!("cannot read lines from `{}`", path.display()))?;
            Box::new(BufReader::new(file))
        }
    })
}

/// The number of a line, from 1, and its bytes without its end.
pub(super) type NumberedLine = (u64, Result<Vec<u8>, LineError>);

/// Reads lines one by one.
pub(super) struct LineReader<R> {
    input: R,
    number: u64,
}

impl<R: BufRead> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, number: 0 }
    }

    /// The next line; `None` at the end of the input.
    pub(super) fn next(&mut self) -> io::Result<Option<NumberedLine>> {
        let Some(line) = self.read()? else { return Ok(None) };
        self.number += 1;
        Ok(Some((self.number, line)))
    }

    /// The bytes of a line without its end. Of a line that is too long nothing is kept.
    fn read(&mut self) -> io::Result<Option<Result<Vec<u8>, LineError>>> {
        let mut line = Vec::new();
        let mut length = 0;
        loop {
            let part = self.input.fill_buf()?;
            if part.is_empty() && length == 0 {
                return Ok(None);
            }
            let end = part.iter().position(|&byte| byte == b'\n');
            let taken = &part[..end.unwrap_or(part.len())];
            length += taken.len();
            if length <= MAX_LINE_BYTES {
                line.extend_from_slice(taken);
            }
            let is_last = end.is_some() || part.is_empty();
            let consumed = taken.len() + usize::from(end.is_some());
            self.input.consume(consumed);
            // An empty line has an end and no byte.
            length = length.max(usize::from(consumed > 0));
            if is_last {
                break;
            }
        }
        if length > MAX_LINE_BYTES {
            let message =
                format!("the line has `{length}` bytes: expected at most {MAX_LINE_BYTES}");
            return Ok(Some(Err(LineError::new("E-too-long", message))));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(Some(Ok(line)))
    }
}

/// The caller's own mark of a line that is a JSON object, whatever else the object has: a line that
/// fails shall be found again.
pub(super) fn id_of(line: &[u8]) -> Option<serde_json::Value> {
    #[derive(Deserialize)]
    struct Marked {
        id: Option<serde_json::Value>,
    }
    serde_json::from_slice::<Marked>(line).ok()?.id
}

/// The text of a line.
pub(super) fn text(bytes: &[u8]) -> Result<&str, LineError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("the line is not UTF-8: invalid from byte {}", error.valid_up_to());
        LineError::new("E-utf8", message)
    })?;
    if text.trim().is_empty() {
        return Err(LineError::new("E-empty", "the line is empty"));
    }
    Ok(text)
}

/// A span of code points of a text, in bytes.
pub(super) fn span_in_bytes(text: &str, [start, end]: [u32; 2]) -> Result<Span, LineError> {
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
    fn a_line_without_end_is_not_held_in_memory() {
        let mut input = vec![b'x'; MAX_LINE_BYTES + 9];
        input.extend_from_slice(b"\nnext\n");
        let mut lines = LineReader::new(input.as_slice());
        assert_eq!(lines.next().unwrap().unwrap().1.unwrap_err().code, "E-too-long");
        assert_eq!(lines.next().unwrap(), Some((2, Ok(b"next".to_vec()))));
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn a_mark_is_found_beside_whatever_else_an_object_has() {
        assert_eq!(id_of(br#"{"txt": 5, "id": ["a", 7]}"#), Some(serde_json::json!(["a", 7])));
        for line in [&br#"{"id": null}"#[..], br#"{"text": "x"}"#, br#"{"id": "a"#, b"id", b"7"] {
            assert_eq!(id_of(line), None, "{line:?}");
        }
    }

    #[test]
    fn blank_lines_and_bytes_that_are_no_text_have_a_code() {
        assert_eq!(text(b" \t").unwrap_err().code, "E-empty");
        let error = text(b"tw\xffo").unwrap_err();
        assert_eq!(error.code, "E-utf8");
        assert!(error.message.ends_with("from byte 2"), "{}", error.message);
        assert_eq!(text(b" a"), Ok(" a"));
    }
}
