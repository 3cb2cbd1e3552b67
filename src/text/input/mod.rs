//! Lines of text that come in from files and pipes. Every command and every reader of the library
//! reads them here.
//!
//! - UTF-8 and UTF-16 are read, with a byte-order mark or without ([`Decoded`]). No line has the
//!   mark.
//! - A line ends with LF or CRLF; the last may have no end.
//! - The first line that is not blank says whether the lines are JSON objects ([`Form`]).
//! - A line that is no text, or too long, is a [`LineFault`]. The next line can be read.

mod decoded;

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

pub use decoded::Decoded;
use decoded::Encoding;

use crate::model::coded;

/// What a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A JSON object.
    Json,
    /// Anything else.
    Text,
}

impl Form {
    /// What the name of a file says of its lines: those of `.jsonl` are JSON, and those of `.tsv`
    /// are not. Other names say nothing.
    #[must_use]
    pub fn of_name(file: &Path) -> Option<Self> {
        let is = |ending: &str| file.extension().is_some_and(|of| of.eq_ignore_ascii_case(ending));
        if is("jsonl") { Some(Self::Json) } else { is("tsv").then_some(Self::Text) }
    }

    /// What a line shows.
    fn of_line(line: &[u8]) -> Self {
        if line.trim_ascii_start().starts_with(b"{") { Self::Json } else { Self::Text }
    }
}

/// Why a line cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineFault {
    /// It has more bytes than a line may have.
    TooLong {
        /// Most bytes that a line may have.
        limit: usize,
    },
    /// It is not UTF-8.
    NotUtf8 {
        /// The first byte that is wrong, from 1.
        byte: usize,
    },
    /// It has half a character of UTF-16.
    NotUtf16,
    /// It has a NUL character, as UTF-16 has for those who take it for UTF-8.
    Nul {
        /// The byte that it is, from 1.
        byte: usize,
    },
}

impl LineFault {
    /// The code of what is wrong.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "E-too-long",
            _ => "E-encoding",
        }
    }

    /// What the line has.
    #[must_use]
    pub fn found(&self) -> String {
        match self {
            Self::TooLong { limit } => format!("more than {limit} bytes"),
            Self::NotUtf8 { byte } => format!("a byte that is not UTF-8, its number {byte}"),
            Self::NotUtf16 => "half a character of UTF-16".to_owned(),
            Self::Nul { byte } => format!("a NUL character at byte {byte}"),
        }
    }

    /// What it should have, and what to do.
    #[must_use]
    pub fn expected(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "a line that is no longer",
            _ => "text in UTF-8, or in UTF-16 with a byte-order mark; save the file as UTF-8",
        }
    }
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the line has {}: expected {}", self.found(), self.expected())
    }
}

/// A line that ends the reading of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub fault: LineFault,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: line {}: {}", self.fault.code(), self.line, self.fault)
    }
}

impl std::error::Error for BadLine {}

coded!(BadLine { error => BadInput.coded(error.fault.code()), });

/// The lines of an input, one at a time and in bounded memory.
///
/// ```
/// use fnstore::text::input::{Form, Lines};
///
/// let mut lines = Lines::new("\u{feff}\r\n{\"id\": 1}\r\n".as_bytes(), 1 << 20);
/// assert!(lines.advance()? && lines.is_blank());
/// assert!(lines.advance()?);
/// assert_eq!((lines.number(), lines.text()), (2, Ok("{\"id\": 1}")));
/// assert_eq!(lines.form(), Some(Form::Json));
/// assert!(!lines.advance()?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Lines<R> {
    input: Decoded<R>,
    limit: usize,
    form: Option<Form>,
    number: u64,
    bytes: u64,
    /// The line without its end; empty where there is a fault.
    line: String,
    fault: Option<LineFault>,
    /// Whether the line has an end, which the last may lack.
    is_ended: bool,
    /// Whether the rest of the line, which is too long, was not read.
    is_cut: bool,
}

impl Lines<BufReader<File>> {
    /// Opens a file, whose name may say what the lines are.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(file: &Path, limit: usize) -> io::Result<Self> {
        Ok(Self::new(BufReader::new(File::open(file)?), limit).named(file))
    }
}

impl<R: BufRead> Lines<R> {
    /// The lines of an input; one of more than `limit` bytes is a fault.
    pub fn new(input: R, limit: usize) -> Self {
        Self {
            input: Decoded::new(input),
            limit,
            form: None,
            number: 0,
            bytes: 0,
            line: String::new(),
            fault: None,
            is_ended: false,
            is_cut: false,
        }
    }

    /// The same lines, of a file whose name may say what they are.
    #[must_use]
    pub fn named(self, file: &Path) -> Self {
        Self { form: Form::of_name(file), ..self }
    }

    /// Goes to the next line; says whether there is one.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn advance(&mut self) -> io::Result<bool> {
        if std::mem::take(&mut self.is_cut) {
            self.bytes += self.input.skip_until(b'\n')? as u64;
        }
        let mut bytes = std::mem::take(&mut self.line).into_bytes();
        bytes.clear();
        // A mark and the end of the line are beyond the limit. What is cut here is longer than the
        // limit also when both are taken off.
        let most = (self.limit as u64).saturating_add(2 + MARK.len() as u64);
        let read = self.input.by_ref().take(most).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        self.bytes += read as u64;
        self.is_ended = bytes.last() == Some(&b'\n');
        self.is_cut = !self.is_ended && read as u64 == most;
        without_end_and_mark(&mut bytes);
        if self.form.is_none() && !bytes.trim_ascii().is_empty() {
            self.form = Some(Form::of_line(&bytes));
        }
        (self.line, self.fault) = match self.text_of(bytes) {
            Ok(line) => (line, None),
            Err(fault) => (String::new(), Some(fault)),
        };
        Ok(true)
    }

    fn text_of(&self, bytes: Vec<u8>) -> Result<String, LineFault> {
        if bytes.len() > self.limit {
            return Err(LineFault::TooLong { limit: self.limit });
        }
        if let Some(byte) = bytes.contains(&0).then(|| bytes.iter().position(|byte| *byte == 0)) {
            return Err(LineFault::Nul { byte: byte.map_or(1, |at| at + 1) });
        }
        String::from_utf8(bytes).map_err(|error| match self.input.encoding() {
            None | Some(Encoding::Utf8) => {
                LineFault::NotUtf8 { byte: error.utf8_error().valid_up_to() + 1 }
            }
            Some(Encoding::Utf16Le | Encoding::Utf16Be) => LineFault::NotUtf16,
        })
    }

    /// The line that [`advance`](Self::advance) went to, without its end.
    ///
    /// # Errors
    /// When it is too long, or no text.
    pub fn text(&self) -> Result<&str, &LineFault> {
        self.fault.as_ref().map_or(Ok(&self.line), Err)
    }

    /// The line, where one that cannot be used ends the reading.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub fn readable(&self) -> Result<&str, BadLine> {
        self.text().map_err(|fault| BadLine { line: self.number, fault: fault.clone() })
    }

    /// Whether the line is white space, or nothing.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.fault.is_none() && self.line.trim_start().is_empty()
    }

    /// The line's number, from 1; 0 before the first.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Number of bytes read so far, as UTF-8.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What the lines are, as the file's name says or the first line that is not blank; `None`
    /// before that.
    #[must_use]
    pub fn form(&self) -> Option<Form> {
        self.form
    }

    /// Whether the lines are JSON, as far as they were read.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.form == Some(Form::Json)
    }
}

/// The byte-order mark of UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Takes off what ends a line, and a mark: files that were joined have marks inside.
fn without_end_and_mark(line: &mut Vec<u8>) {
    for end in *b"\n\r" {
        if line.last() == Some(&end) {
            line.pop();
        }
    }
    if line.starts_with(MARK) {
        line.drain(..MARK.len());
    }
}

/// The caller's own mark of a line that is a JSON object, whatever else the object has: a line that
/// fails shall be found again.
#[must_use]
pub fn id_of(line: &str) -> Option<serde_json::Value> {
    #[derive(serde::Deserialize)]
    struct Marked {
        id: Option<serde_json::Value>,
    }
    serde_json::from_str::<Marked>(line).ok()?.id
}

/// Longest line of a small file that is read as a whole.
const TEXT_LINE_LIMIT: usize = 16 << 20;

/// The text of a small file, such as a prompt or a list: in an encoding as for [`Lines`], its lines
/// ended by LF.
///
/// # Errors
/// When the file cannot be read, or a line is no text: a [`BadLine`].
pub fn read_text(file: &Path) -> io::Result<String> {
    let mut lines = Lines::open(file, TEXT_LINE_LIMIT)?;
    let mut text = String::new();
    while lines.advance()? {
        let bad = |error: BadLine| io::Error::new(io::ErrorKind::InvalidData, error);
        text.push_str(lines.readable().map_err(bad)?);
        if lines.is_ended {
            text.push('\n');
        }
    }
    Ok(text)
}

/// The beginning of a file as text, as far as `bytes` of it go: to look what it is.
///
/// # Errors
/// When the file cannot be read.
pub fn beginning(file: &Path, bytes: u64) -> io::Result<String> {
    let mut start = Vec::new();
    Decoded::new(BufReader::new(File::open(file)?.take(bytes))).read_to_end(&mut start)?;
    let text = String::from_utf8_lossy(&start);
    Ok(text.trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace()).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], limit: usize) -> Vec<(u64, Result<String, LineFault>)> {
        let mut lines = Lines::new(bytes, limit);
        let mut all = Vec::new();
        while lines.advance().unwrap() {
            let text = lines.text().map(str::to_owned).map_err(Clone::clone);
            all.push((lines.number(), text));
        }
        assert_eq!(lines.bytes(), bytes.len() as u64);
        all
    }

    fn form(bytes: &[u8]) -> Option<Form> {
        let mut lines = Lines::new(bytes, 99);
        while lines.advance().unwrap() {}
        lines.form()
    }

    #[test]
    fn lines_have_neither_end_nor_mark_and_keep_their_numbers() {
        let read = all("one\n\r\n\u{feff}tw\u{f6} \r\n\tx\t".as_bytes(), 99);
        let expected = [(1, "one"), (2, ""), (3, "tw\u{f6} "), (4, "\tx\t")];
        assert_eq!(read, expected.map(|(number, text)| (number, Ok(text.to_owned()))));
        assert!(all(b"", 99).is_empty());
        assert_eq!(all(b"\n", 99).len(), 1);
    }

    #[test]
    fn a_long_line_costs_no_memory_and_not_the_next() {
        let mut input = vec![b'x'; 1 << 20];
        input.extend_from_slice(b"\nnext\r\n12345");
        let too_long = Err(LineFault::TooLong { limit: 4 });
        let expected = [(1, too_long.clone()), (2, Ok("next".to_owned())), (3, too_long)];
        assert_eq!(all(&input, 4), expected);
        let mut lines = Lines::new(input.as_slice(), 4);
        assert!(lines.advance().unwrap());
        assert!(lines.bytes() < 10, "{}", lines.bytes());
    }

    #[test]
    fn neither_the_mark_nor_the_end_counts_for_the_length_of_a_line() {
        for end in ["\n", "\r\n", ""] {
            for letters in [9, 10, 11, 12, 100] {
                let line = "x".repeat(letters);
                let input = format!("a\n\u{feff}{line}{end}");
                let long =
                    if letters > 10 { Err(LineFault::TooLong { limit: 10 }) } else { Ok(line) };
                let read = all(input.as_bytes(), 10);
                assert_eq!(read, [(1, Ok("a".to_owned())), (2, long)], "{letters} {end:?}");
            }
        }
    }

    #[test]
    fn what_is_no_text_says_what_it_is_and_what_to_do() {
        let faults = [
            (&b"tw\xffo"[..], LineFault::NotUtf8 { byte: 3 }, "its number 3"),
            (b"tw\0o", LineFault::Nul { byte: 3 }, "NUL character at byte 3"),
            (b"\xff\xfea\0b", LineFault::NotUtf16, "half a character of UTF-16"),
        ];
        for (bytes, fault, says) in faults {
            let mut lines = Lines::new(bytes, 99);
            assert!(lines.advance().unwrap());
            assert_eq!(lines.text(), Err(&fault));
            let message = fault.to_string();
            assert!(message.contains(says) && message.ends_with("as UTF-8"), "{message}");
            assert_eq!(fault.code(), "E-encoding");
        }
    }

    #[test]
    fn the_first_line_that_is_not_blank_shows_the_form() {
        for json in ["{}", "\n \r\n{}\nx", "\u{feff}\n\u{feff} {\"a\": 1}\n"] {
            assert_eq!(form(json.as_bytes()), Some(Form::Json), "{json:?}");
        }
        for text in ["x\n{}", "\u{feff}x", "[1]"] {
            assert_eq!(form(text.as_bytes()), Some(Form::Text), "{text:?}");
        }
        assert_eq!(form(b"\n\n"), None);
        // Also where the line is of no other use.
        assert_eq!(form(b"{\"\xff\"}\nx"), Some(Form::Json));
        assert_eq!(form(&[&b"{"[..], &[b'x'; 200], b"\nx"].concat()), Some(Form::Json));
        let named = Lines::new(&b"x"[..], 9).named("a.JSONL".as_ref());
        assert_eq!(named.form(), Some(Form::Json));
        let mut table = Lines::new(&b"{x}\ty\n"[..], 9).named("a.TSV".as_ref());
        assert!(table.advance().unwrap());
        assert_eq!((table.form(), table.is_json()), (Some(Form::Text), false));
        assert_eq!(Form::of_name("a.tsv.txt".as_ref()), None);
    }

    #[test]
    fn a_mark_is_found_beside_whatever_else_an_object_has() {
        assert_eq!(id_of(r#"{"txt": 5, "id": ["a", 7]}"#), Some(serde_json::json!(["a", 7])));
        for line in [r#"{"id": null}"#, r#"{"text": "x"}"#, r#"{"id": "a"#, "id", "7"] {
            assert_eq!(id_of(line), None, "{line:?}");
        }
    }

    #[test]
    fn a_small_file_is_read_whole_or_says_which_line_is_wrong() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |bytes: &[u8]| {
            std::fs::write(file.path(), bytes).unwrap();
            read_text(file.path()).map_err(|error| error.to_string())
        };
        assert_eq!(read("\u{feff}a\r\n\r\nb".as_bytes()).unwrap(), "a\n\nb");
        assert_eq!(read(b"\xff\xfea\0\n\0b\0").unwrap(), "a\nb");
        let error = read(b"a\nb\xff").unwrap_err();
        assert!(error.starts_with("E-encoding: line 2: the line has a byte"), "{error}");
        assert_eq!(beginning(file.path(), 3).unwrap(), "a\nb");
        assert!(read_text("/nowhere".as_ref()).is_err());
    }
}
