//! The lines that come in: sentences, JSON lines, or ParaBank's tab-separated form.
//!
//! A line that cannot be read becomes a [`LineError`] with a code, and the next line is read: one
//! bad line costs nobody the others.

use std::io::{self, BufRead};

use fnstore::named;
use fnstore::paraphrase::{Constraints, ParaphraseError, Refusal, Request};
use fnstore::text::{CharIndex, CharSpan};
use serde::Deserialize;

use crate::cli::input::line_reader::{self, LineError, LineReader};

named! {
    /// How a line holds a sentence.
    pub(super) enum Layout {
        /// The sentence itself
        Text => "text",
        /// A JSON object: text, avoid, require, keep, prefix, id
        Jsonl => "jsonl",
        /// Tab-separated: sentence, phrases to avoid, phrases to require; `|` between phrases
        Parabank => "parabank",
    }
}

/// One line of the input.
#[derive(Debug)]
pub(super) struct Line {
    /// Counted from 1.
    pub(super) number: u64,
    /// What it asks for, or why that cannot be read, with the line's mark.
    pub(super) content: Result<Item, (Option<serde_json::Value>, LineError)>,
}

/// What a line asks for.
#[derive(Debug, PartialEq)]
pub(super) struct Item {
    /// The caller's own mark, handed back as it is.
    pub(super) id: Option<serde_json::Value>,
    pub(super) request: Request,
}

/// The error of a sentence, or of its constraints, that is refused; others are handed back.
pub(super) fn refusal(error: ParaphraseError) -> Result<LineError, ParaphraseError> {
    use fnstore::engine::DecodeError;
    let code = match &error {
        ParaphraseError::Refused(Refusal::Empty) => "E-empty",
        ParaphraseError::Refused(Refusal::TooLong { .. }) => "E-too-long",
        ParaphraseError::Refused(Refusal::UnknownLetter { .. }) => "E-letter",
        ParaphraseError::Refused(Refusal::Prompt { .. }) => "E-prompt",
        ParaphraseError::Decode { source: DecodeError::EmptyPhrase { .. } } => "E-phrase",
        ParaphraseError::Decode { source: DecodeError::TooManyRequired { .. } } => "E-phrase",
        ParaphraseError::Decode { source: DecodeError::Settings { .. } } => "E-phrase",
        _ => return Err(error),
    };
    let message = match &error {
        ParaphraseError::Refused(refusal) => refusal.to_string(),
        ParaphraseError::Decode { source } => source.to_string(),
        other => other.to_string(),
    };
    Ok(LineError::new(code, message))
}

/// Reads lines one by one.
pub(super) struct Lines<R> {
    input: LineReader<R>,
    layout: Option<Layout>,
}

impl<R: BufRead> Lines<R> {
    /// Lines of a layout; without one, JSON or sentences, as the lines show.
    pub(super) fn new(input: LineReader<R>, layout: Option<Layout>) -> Self {
        Self { input, layout }
    }

    /// The next line, `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let Some((number, line)) = self.input.next()? else { return Ok(None) };
        let shown = if self.input.is_json() { Layout::Jsonl } else { Layout::Text };
        let layout = self.layout.unwrap_or(shown);
        let content = line.map_err(|error| (None, error)).and_then(|line| {
            let id = || (layout == Layout::Jsonl).then(|| line_reader::id_of(&line)).flatten();
            parse(&line, layout).map_err(|error| (id(), error))
        });
        Ok(Some(Line { number, content }))
    }
}

fn parse(line: &str, layout: Layout) -> Result<Item, LineError> {
    let text = line_reader::filled(line)?;
    match layout {
        Layout::Text => {
            let request = Request { text: text.to_owned(), ..Request::default() };
            Ok(Item { id: None, request })
        }
        Layout::Jsonl => json(text),
        Layout::Parabank => parabank(text),
    }
}

/// `sentence`, `sentence TAB avoid|avoid`, or `sentence TAB avoid|avoid TAB require|require`: the
/// form of the ParaBank rewriter (Hu et al. 2019).
fn parabank(line: &str) -> Result<Item, LineError> {
    let columns: Vec<&str> = line.split('\t').collect();
    if columns.len() > 3 {
        let message = format!(
            "the line has `{}` columns: expected sentence, phrases to avoid, phrases to require",
            columns.len()
        );
        return Err(LineError::new("E-columns", message));
    }
    let phrases = |at: usize| {
        let column: &str = columns.get(at).copied().unwrap_or("");
        column.split('|').map(str::trim).filter(|phrase| !phrase.is_empty()).map(str::to_owned)
    };
    let constraints = Constraints {
        avoid: phrases(1).collect(),
        require: phrases(2).map(|phrase| vec![phrase]).collect(),
        ..Constraints::default()
    };
    Ok(Item { id: None, request: Request { text: columns[0].to_owned(), constraints } })
}

/// A line of JSON; see `schema/paraphrase-request.schema.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    id: Option<serde_json::Value>,
    text: String,
    #[serde(default)]
    avoid: Vec<String>,
    #[serde(default)]
    require: Vec<Alternatives>,
    /// Spans of the text that every paraphrase must contain: [start, end) in code points.
    #[serde(default)]
    keep: Vec<[u32; 2]>,
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    hint: Vec<String>,
}

/// A phrase, or several of which one will do.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a phrase or a list of phrases")]
enum Alternatives {
    One(String),
    Any(Vec<String>),
}

fn json(line: &str) -> Result<Item, LineError> {
    let record: Record = serde_json::from_str(line).map_err(|error| LineError::json(&error))?;
    let index = CharIndex::new(&record.text);
    let kept = record.keep.iter().map(|&[start, end]| {
        let span = index.to_bytes(CharSpan { start, end }).ok().filter(|_| start < end);
        let words = span.and_then(|span| span.of(&record.text));
        words.map(|words| vec![words.to_owned()]).ok_or_else(|| {
            let message =
                format!("cannot keep [{start}, {end}): the text has {} code points", index.chars());
            LineError::new("E-span", message)
        })
    });
    let mut require = kept.collect::<Result<Vec<_>, _>>()?;
    require.extend(record.require.into_iter().map(|alternatives| match alternatives {
        Alternatives::One(phrase) => vec![phrase],
        Alternatives::Any(phrases) => phrases,
    }));
    let constraints =
        Constraints { avoid: record.avoid, require, prefix: record.prefix, hint: record.hint };
    Ok(Item { id: record.id, request: Request { text: record.text, constraints } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &[u8], layout: Option<Layout>) -> Vec<Result<Item, LineError>> {
        let mut lines = Lines::new(LineReader::new(input), layout);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            assert_eq!(line.number, all.len() as u64 + 1);
            all.push(line.content.map_err(|(_, error)| error));
        }
        all
    }

    fn code(line: &str, layout: Layout) -> (&'static str, String) {
        let error = read(line.as_bytes(), Some(layout)).remove(0).unwrap_err();
        (error.code, error.message)
    }

    fn request(text: &str) -> Request {
        Request { text: text.to_owned(), ..Request::default() }
    }

    #[test]
    fn every_line_is_one_sentence_and_a_bad_one_does_not_stop_the_next() {
        let lines = read(b"one\r\n\ntw\xffo\nthree", Some(Layout::Text));
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0].as_ref().unwrap().request, request("one"));
        assert_eq!(lines[1].as_ref().unwrap_err().code, "E-empty");
        let error = lines[2].as_ref().unwrap_err();
        assert_eq!(error.code, "E-encoding");
        assert!(error.message.contains("its number 3"), "{}", error.message);
        assert_eq!(lines[3].as_ref().unwrap().request, request("three"));
        assert!(read(b"", None).is_empty());
        assert_eq!(read(b"\n", None).len(), 1);
    }

    #[test]
    fn the_first_line_shows_the_layout() {
        let lines = read(b"{\"text\": \"a\"}\n{\"text\": \"b\", \"id\": 7}\n", None);
        assert_eq!(lines[0].as_ref().unwrap().request.text, "a");
        assert_eq!(lines[1].as_ref().unwrap().id, Some(7.into()));
        assert_eq!(read(b"a\n{}\n", None)[1].as_ref().unwrap().request.text, "{}");
        let lines = read("\u{feff}\r\n{\"text\": \"a\", \"avoid\": [\"b\"]}\r\n".as_bytes(), None);
        assert_eq!(lines[0].as_ref().unwrap_err().code, "E-empty");
        assert_eq!(lines[1].as_ref().unwrap().request.constraints.avoid, ["b"]);
        let marked = read("\u{feff}a b\r\n".as_bytes(), None);
        assert_eq!(marked[0].as_ref().unwrap().request, request("a b"));
    }

    #[test]
    fn a_json_line_names_phrases_alternatives_and_spans() {
        let line = r#"{"text": "\u00e9 Paris now", "avoid": ["x"], "require": ["a", ["b", "c"]],
            "keep": [[2, 7]], "prefix": "So", "hint": ["z"]}"#
            .replace('\n', " ");
        let item = read(line.as_bytes(), None).remove(0).unwrap();
        let Constraints { avoid, require, prefix, hint } = item.request.constraints;
        assert_eq!((avoid, prefix), (vec!["x".to_owned()], "So".to_owned()));
        assert_eq!(hint, ["z"]);
        assert_eq!(require, [vec!["Paris"], vec!["a"], vec!["b", "c"]]);
    }

    #[test]
    fn what_is_wrong_with_a_json_line_has_a_code() {
        for (line, expected, names) in [
            ("{\"text\": \"a\"", "E-json", "column 12"),
            ("{\"text\": 5}", "E-type", "expected a string"),
            ("{\"text\": \"a\", \"avoid\": \"b\"}", "E-type", "expected a sequence"),
            ("{\"text\": \"a\", \"require\": [5]}", "E-type", "a phrase or a list of phrases"),
            ("{\"text\": \"a\", \"avoids\": []}", "E-key", "`avoids`"),
            ("{\"avoid\": []}", "E-key", "`text`"),
            ("[1]", "E-type", "invalid"),
            ("{\"text\": \"abc\", \"keep\": [[2, 9]]}", "E-span", "3 code points"),
            ("{\"text\": \"abc\", \"keep\": [[2, 2]]}", "E-span", "[2, 2)"),
        ] {
            let (code, message) = code(line, Layout::Jsonl);
            assert_eq!(code, expected, "{line}: {message}");
            assert!(message.contains(names), "{line}: {message}");
        }
    }

    #[test]
    fn the_form_of_the_parabank_rewriter_has_up_to_three_columns() {
        let item = read(b"a b\tx|y z\tb", Some(Layout::Parabank)).remove(0).unwrap();
        assert_eq!(item.request.text, "a b");
        assert_eq!(item.request.constraints.avoid, ["x", "y z"]);
        assert_eq!(item.request.constraints.require, [["b"]]);
        let item = read(b"a b", Some(Layout::Parabank)).remove(0).unwrap();
        assert_eq!(item.request, request("a b"));
        assert_eq!(code("a\tb\tc\td", Layout::Parabank).0, "E-columns");
    }
}
