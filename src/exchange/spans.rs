//! Plain span-labelled data, one text a line:
//! `{"text": "...", "spans": [{"start": 4, "end": 12, "type": "Check"}]}`;
//! or pairs as `fnstore mine` writes them, of which [`mined`](super::mined) makes such texts.
//!
//! Offsets count code points, ends are exclusive; spans may overlap. A line may also have `id`,
//! `document` and `split`, a span `lemma` and `pos`. Everything else in a line is an error: a key
//! that is not known may be a known one misspelt, and its data would be lost.

use std::collections::VecDeque;
use std::io::BufRead;
use std::path::Path;

use serde_json::Value;

use super::error::{ExchangeError, Fault, FaultCode};
use super::labelled::{Checked, LabelledSpan, LabelledText, name, nothing_else, object, wrong};
use super::lines::Lines;
use super::mined::{self, MinedCluster};
use crate::model::{Pos, Title};
use crate::text::{CharIndex, CharSpan};

/// Reads span-labelled texts, line by line; of mined pairs the texts of a cluster at once.
pub struct SpanReader<R> {
    lines: Lines<R>,
    is_empty: bool,
    cluster: MinedCluster,
    /// Texts of the cluster before, which were not given yet.
    mined: VecDeque<LabelledText>,
}

impl<R: BufRead> SpanReader<R> {
    /// A reader; `file` is named in messages.
    #[must_use]
    pub fn new(input: R, file: &Path) -> Self {
        Self {
            lines: Lines::new(input, file),
            is_empty: true,
            cluster: MinedCluster::default(),
            mined: VecDeque::new(),
        }
    }

    /// Number of the line that was read last, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.lines.line()
    }

    /// Number of bytes read so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.lines.bytes()
    }

    /// The next text; `None` after the last.
    ///
    /// # Errors
    /// When the line is no such text, with the field and what stands there, or no line holds one.
    pub fn read(&mut self) -> Result<Option<LabelledText>, ExchangeError> {
        loop {
            if let Some(text) = self.mined.pop_front() {
                return Ok(Some(text));
            }
            if !self.lines.advance()? {
                if self.is_empty {
                    let reason = "the file holds no text".to_owned();
                    return Err(self.lines.fault(FaultCode::Layout, reason));
                }
                self.mined = self.cluster.take().into();
                if self.mined.is_empty() {
                    return Ok(None);
                }
                continue;
            }
            self.is_empty = false;
            let value: Value = self.lines.json()?;
            let at = |fault: Fault| fault.at(self.lines.file(), self.lines.line());
            if !mined::is_pair(&value) {
                let text = labelled_text(value).map_err(at)?;
                return Ok(Some(LabelledText { number: u32::try_from(self.line()).ok(), ..text }));
            }
            self.mined = self.cluster.add(value).map_err(at)?.into();
        }
    }

    /// The error for the line that was read last: a field of it is something else than expected.
    pub fn wrong(
        &self,
        code: FaultCode,
        field: &str,
        found: &str,
        expected: &str,
    ) -> ExchangeError {
        Fault::new(code, field, found, expected).at(self.lines.file(), self.lines.line())
    }
}

const SPLITS: [&str; 3] = ["train", "dev", "test"];

fn labelled_text(value: Value) -> Checked<LabelledText> {
    let mut members = object("line", value)?;
    let text = match members.remove("text") {
        Some(Value::String(text)) => text,
        other => return Err(wrong("text", other, "a string")),
    };
    let spans = match members.remove("spans") {
        Some(Value::Array(spans)) => spans,
        other => return Err(wrong("spans", other, "an array of spans")),
    };
    let index = CharIndex::new(&text);
    let spans = spans.into_iter().enumerate().map(|(number, span)| {
        let span = labelled_span(span, &index);
        span.map_err(|fault| fault.inside(&format!("spans[{number}]")))
    });
    let spans = spans.collect::<Checked<Vec<_>>>()?;
    let split = match members.remove("split") {
        None | Some(Value::Null) => None,
        Some(value) => {
            let known = SPLITS.into_iter().find(|split| value.as_str() == Some(split));
            let expected = "`train`, `dev` or `test`";
            Some(known.ok_or_else(|| wrong("split", Some(value), expected))?)
        }
    };
    let id = match members.remove("id") {
        Some(Value::Number(number)) => Some(number.to_string()),
        other => name("id", other)?,
    };
    let document = name("document", members.remove("document"))?;
    let document = document.map(|name| Title { name, description: None });
    nothing_else(&members, "`text`, `spans`, `id`, `document` or `split`")?;
    Ok(LabelledText { text, id, number: None, document, corpus: None, split, spans })
}

fn labelled_span(value: Value, index: &CharIndex) -> Checked<LabelledSpan> {
    let mut members = object("span", value)?;
    let mut offset = |field: &str| {
        let value = members.remove(field);
        let number = value.as_ref().and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        let expected = "a whole number from 0, which counts code points";
        number.ok_or_else(|| wrong(field, value, expected))
    };
    let (start, end) = (offset("start")?, offset("end")?);
    let span = index.to_bytes(CharSpan { start, end }).map_err(|_| {
        let field = if start > index.chars() { "start" } else { "end" };
        let found = if field == "start" { start } else { end };
        let length = index.chars();
        let expected = format!("start <= end <= {length}, the length of the text in code points");
        Fault::new(FaultCode::SpanRange, field, found, expected)
    })?;
    if span.is_empty() {
        let expected = format!("more than start `{start}`: a span covers at least one character");
        return Err(Fault::new(FaultCode::SpanEmpty, "end", end, expected));
    }
    let span_type = match name("type", members.remove("type"))? {
        Some(name) => name,
        None => return Err(wrong("type", None, "the name of a type")),
    };
    let lemma = name("lemma", members.remove("lemma"))?;
    let pos = name("pos", members.remove("pos"))?.map(|text| match Pos::parse(&text) {
        Pos::Other => Err(Fault::value("pos", text, "a part of speech of FrameNet, as in `v`")),
        pos => Ok(pos),
    });
    nothing_else(&members, "`start`, `end`, `type`, `lemma` or `pos`")?;
    Ok(LabelledSpan { span, span_type, lemma, pos: pos.transpose()?, definition: None })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(lines: &str) -> Result<Vec<LabelledText>, ExchangeError> {
        let mut reader = SpanReader::new(lines.as_bytes(), "data.jsonl".as_ref());
        let mut texts = Vec::new();
        while let Some(text) = reader.read()? {
            texts.push(text);
        }
        Ok(texts)
    }

    #[test]
    fn spans_count_code_points_and_may_overlap() {
        let line = "{\"id\": 7, \"split\": \"dev\", \"text\": \"\\ud83d\\ude00 e\\u0301t\\r\\n\", \
                    \"spans\": [{\"start\": 2, \"end\": 5, \"type\": \"A\", \"pos\": \"v\"}, \
                    {\"start\": 0, \"end\": 4, \"type\": \"b c\"}]}\n\n";
        let texts = read(line).unwrap();
        let [LabelledText { text, id, split, spans, .. }] = texts.as_slice() else { panic!() };
        assert_eq!((id.as_deref(), *split), (Some("7"), Some("dev")));
        assert_eq!(spans[0].span.of(text), Some("e\u{301}t"));
        assert_eq!((spans[0].pos, spans[1].pos), (Some(Pos::Verb), None));
        assert_eq!(spans[1].span.of(text), Some("\u{1F600} e\u{301}"));
    }

    #[test]
    fn whatever_is_wrong_is_said_with_line_field_and_value() {
        let span = |span: &str| format!("{{\"text\": \"abc\", \"spans\": [{span}]}}");
        for (line, message) in [
            ("[]".to_owned(), "E-value: data.jsonl:1: `line` is `[]`, expected an object"),
            ("{\"spans\": []}".to_owned(), "`text` is `missing`, expected a string"),
            ("{\"text\": 3, \"spans\": []}".to_owned(), "`text` is `3`, expected a string"),
            ("{\"text\": \"\"}".to_owned(), "`spans` is `missing`, expected an array"),
            (
                "{\"text\": \"\", \"spans\": [], \"label\": 1}".to_owned(),
                "`label` is `1`, expected no such key; known ones are `text`, `spans`",
            ),
            (
                "{\"text\": \"\", \"spans\": [], \"split\": \"val\"}".to_owned(),
                "`split` is `\"val\"`, expected `train`, `dev` or `test`",
            ),
            (
                span("{\"start\": 1, \"end\": 4, \"type\": \"T\"}"),
                "E-span-range: data.jsonl:1: `spans[0].end` is `4`, expected start <= end <= 3",
            ),
            (
                span("{\"start\": 9, \"end\": 4, \"type\": \"T\"}"),
                "E-span-range: data.jsonl:1: `spans[0].start` is `9`",
            ),
            (
                span("{\"start\": 2, \"end\": 1, \"type\": \"T\"}"),
                "E-span-range: data.jsonl:1: `spans[0].end` is `1`",
            ),
            (
                span("{\"start\": 1, \"end\": 1, \"type\": \"T\"}"),
                "E-span-empty: data.jsonl:1: `spans[0].end` is `1`",
            ),
            (span("{\"start\": -1, \"end\": 1, \"type\": \"T\"}"), "`spans[0].start` is `-1`"),
            (span("{\"start\": 0.5, \"end\": 1, \"type\": \"T\"}"), "`spans[0].start` is `0.5`"),
            (
                span("{\"start\": \"0\", \"end\": 1, \"type\": \"T\"}"),
                "`spans[0].start` is `\"0\"`",
            ),
            (span("{\"start\": 0, \"end\": 1}"), "`spans[0].type` is `missing`"),
            (span("{\"start\": 0, \"end\": 1, \"type\": \" \"}"), "`spans[0].type` is `\" \"`"),
            (span("{\"start\": 0, \"end\": 1, \"type\": \"a\\u0000\"}"), "`spans[0].type` is"),
            (
                span("{\"start\": 0, \"end\": 1, \"type\": \"T\", \"pos\": \"verb\"}"),
                "`spans[0].pos` is `verb`, expected a part of speech of FrameNet",
            ),
            (
                span("{\"start\": 0, \"end\": 1, \"type\": \"T\", \"End\": 2}"),
                "`spans[0].End` is `2`, expected no such key",
            ),
            ("{\"text\": \"\\ud800\", \"spans\": []}".to_owned(), "E-json: data.jsonl:1: "),
            ("{\"text\": \"a".to_owned(), "E-json: data.jsonl:1: EOF while parsing a string"),
        ] {
            let error = read(&line).unwrap_err().to_string();
            assert!(error.contains(message), "{line}: {error}");
        }
        let error = read("{\"text\": \"\", \"spans\": []}\n\n{}\n").unwrap_err().to_string();
        assert!(error.starts_with("E-value: data.jsonl:3: `text`"), "{error}");
    }

    proptest! {
        #[test]
        fn no_line_makes_the_reader_panic(line in "\\PC{0,40}") {
            let _ = read(&line);
        }

        #[test]
        fn every_span_inside_the_text_is_read(
            text in "[a\u{e9}\u{1F600}\u{301}\r\n\"]{1,12}", a in 0_u32..12, b in 0_u32..13
        ) {
            let (start, end) = (a.min(b), a.max(b));
            let span = serde_json::json!({"start": start, "end": end, "type": "T"});
            let line = serde_json::json!({"text": text, "spans": [span]}).to_string();
            let length = text.chars().count() as u32;
            match read(&line) {
                Ok(texts) => {
                    let covered: String =
                        text.chars().skip(start as usize).take((end - start) as usize).collect();
                    prop_assert_eq!(texts[0].spans[0].span.of(&texts[0].text), Some(&*covered));
                }
                Err(_) => prop_assert!(end > length || start == end),
            }
        }
    }
}
