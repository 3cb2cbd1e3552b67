//! What an export writes otherwise than the file that was read.
//!
//! An export writes a file anew, in the manner of FrameNet's releases. Of FrameNet's own files
//! every byte comes back. Of others the order of attributes, white space, comments and values that
//! stand for themselves may not. So each file is written as soon as it is read, and compared.
//! Whatever the reader does not tell the writer shows here, with its line.

use std::borrow::Cow;
use std::collections::BTreeMap;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::file_name::file_stem;
use super::place::start_of;
use super::write::SemTypeNames;
use super::{Warning, WarningCode, WarningLog};
use crate::model::SemTypeId;

/// Most attributes of an element that are compared.
const MOST_ATTRIBUTES: usize = 1 << 12;

/// The names beside semantic types, as a file gives them.
pub(super) fn names_of(types: &[(SemTypeId, String)]) -> SemTypeNames {
    types.iter().cloned().collect()
}

/// A file that was read.
pub(super) struct Rewritten<'a> {
    /// Its name inside the release.
    file: &'a str,
    content: &'a [u8],
    /// What an export calls it in its folder, without `.xml`, where no other file has a part in
    /// that.
    stem: Option<&'a str>,
}

impl<'a> Rewritten<'a> {
    pub(super) fn of(file: &'a str, content: &'a [u8], stem: Option<&'a str>) -> Self {
        Self { file, content, stem }
    }

    /// Warns of what stands in `written` otherwise than in the file.
    pub(super) fn compare(&self, written: &str, warnings: &mut WarningLog) {
        let name = self.file.rsplit('/').next().unwrap_or(self.file);
        let called = self.stem.map(|stem| format!("{}.xml", file_stem(stem)));
        if let Some(called) = called.filter(|called| called != name) {
            self.warn(0, format!("an export calls the file `{called}`"), warnings);
        }
        if self.content == written.as_bytes() {
            return;
        }
        // It was read: it is UTF-8, and well-formed.
        let content = std::str::from_utf8(self.content).unwrap_or_default();
        let is_warned = Comparison {
            read: Pieces::of(content.strip_prefix('\u{feff}').unwrap_or(content)),
            written: Pieces::of(written),
            of: self,
            warnings: &mut *warnings,
            is_warned: false,
        }
        .run();
        if !is_warned {
            let what = "white space, order of attributes, comments or spelling";
            let same = content.bytes().zip(written.bytes()).take_while(|(a, b)| a == b).count();
            let detail = format!("an export writes the same with other {what} from here on");
            self.warn(line(content, same), detail, warnings);
        }
    }

    fn warn(&self, line: usize, detail: String, warnings: &mut WarningLog) {
        let (code, file) = (WarningCode::WrittenOtherwise, self.file.to_owned());
        warnings.add(Warning { code, file, line, detail });
    }
}

/// The line of a place in a text, from 1.
fn line(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

/// What a file says, piece by piece.
enum Piece<'a> {
    Start(BytesStart<'a>),
    End,
    Text(String),
    Eof,
}

/// The pieces of a file, without what says nothing: comments, declarations, space between elements.
struct Pieces<'a> {
    content: &'a str,
    reader: Reader<&'a [u8]>,
    piece: Piece<'a>,
    /// What ended a text.
    after: Option<Piece<'a>>,
    /// Where the piece begins.
    at: usize,
}

impl<'a> Pieces<'a> {
    fn of(content: &'a str) -> Self {
        let mut reader = Reader::from_str(content);
        reader.config_mut().expand_empty_elements = true;
        let mut pieces = Self { content, reader, piece: Piece::Eof, after: None, at: 0 };
        pieces.next();
        pieces
    }

    fn next(&mut self) {
        if let Some(piece) = self.after.take() {
            self.piece = piece;
            return;
        }
        let mut text = String::new();
        self.at = usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX);
        loop {
            let piece = match self.reader.read_event() {
                Ok(Event::Text(piece)) => {
                    text.push_str(&piece.xml10_content());
                    continue;
                }
                Ok(Event::CData(piece)) => {
                    text.push_str(&piece.xml10_content());
                    continue;
                }
                Ok(Event::GeneralRef(reference)) => {
                    // The name alone tells most apart; a letter and its number are the same.
                    match reference.resolve_char_ref() {
                        Ok(Some(letter)) => text.push(letter),
                        _ => {
                            let name = reference.xml10_content();
                            let entity = quick_xml::escape::resolve_predefined_entity(&name);
                            text.push_str(entity.unwrap_or_default());
                        }
                    }
                    continue;
                }
                Ok(Event::Start(start)) => Piece::Start(start),
                Ok(Event::End(_)) => Piece::End,
                Ok(Event::Eof) | Err(_) => Piece::Eof,
                Ok(_) => continue,
            };
            self.piece = if text.trim().is_empty() {
                piece
            } else {
                self.after = Some(piece);
                Piece::Text(text)
            };
            return;
        }
    }

    /// Goes past the element whose start is here; says whether there was nothing in it.
    fn skip(&mut self) -> bool {
        let (mut depth, mut pieces) = (0_usize, 0_usize);
        loop {
            match self.piece {
                Piece::Start(_) => depth += 1,
                Piece::End => depth = depth.saturating_sub(1),
                Piece::Eof => return false,
                Piece::Text(_) => {}
            }
            self.next();
            pieces += 1;
            if depth == 0 {
                return pieces == 2;
            }
        }
    }

    fn line(&self) -> usize {
        let rest = self.content.get(self.at..).unwrap_or_default();
        line(self.content, self.at + (rest.len() - rest.trim_start().len()))
    }
}

struct Comparison<'a, 'w> {
    read: Pieces<'a>,
    written: Pieces<'a>,
    of: &'w Rewritten<'w>,
    warnings: &'w mut WarningLog,
    is_warned: bool,
}

impl Comparison<'_, '_> {
    /// Goes through both files; says whether there is a difference to speak of.
    fn run(mut self) -> bool {
        loop {
            match (&self.read.piece, &self.written.piece) {
                (Piece::Eof, Piece::Eof) => break,
                (Piece::End, Piece::End) => self.both(),
                (Piece::Text(read), Piece::Text(written)) => {
                    if read != written {
                        let (read, written) = (start_of(read), start_of(written));
                        self.warn(format!("an export writes `{written}` for `{read}`"));
                    }
                    self.both();
                }
                (Piece::Start(read), Piece::Start(written)) if local(read) == local(written) => {
                    self.attributes();
                    self.both();
                }
                // An element that says nothing, which FrameNet's files have and this one has not.
                (read, Piece::Start(written)) => {
                    let here = match read {
                        Piece::Start(start) => format!("element `{}`", local(start)),
                        Piece::Text(text) => format!("text `{}`", start_of(text.trim())),
                        Piece::End | Piece::Eof => "nothing".to_owned(),
                    };
                    let name = local(written);
                    self.warn(format!("an export writes element `{name}` where {here} stands"));
                    if !self.written.skip() {
                        break;
                    }
                }
                _ => {
                    self.warn("an export writes what stands here elsewhere, or not".to_owned());
                    break;
                }
            }
        }
        self.is_warned
    }

    fn both(&mut self) {
        self.read.next();
        self.written.next();
    }

    /// Compares attributes, unless there are more than any file but a hostile one has.
    fn attributes(&mut self) {
        let (Piece::Start(read), Piece::Start(written)) = (&self.read.piece, &self.written.piece)
        else {
            return;
        };
        let (read, written) = (read.clone(), written.clone());
        if [&read, &written]
            .iter()
            .any(|start| start.attributes().with_checks(false).count() > MOST_ATTRIBUTES)
        {
            return;
        }
        let (of, read, written) = (local(&read), values(&read), values(&written));
        for (name, value) in &read {
            match written.get(name) {
                None => self.warn_with(|| format!("an export leaves out `{name}` of `{of}`")),
                Some(other) if other != value => self.warn_with(|| {
                    let (value, other) = (start_of(value), start_of(other));
                    format!("an export writes `{name}` of `{of}` as `{other}`, not `{value}`")
                }),
                Some(_) => {}
            }
        }
        for (name, value) in written.iter().filter(|(name, _)| !read.contains_key(*name)) {
            self.warn_with(|| format!("an export gives `{of}` a `{name}`, `{}`", start_of(value)));
        }
    }

    fn warn(&mut self, detail: String) {
        self.warn_with(|| detail);
    }

    fn warn_with(&mut self, detail: impl FnOnce() -> String) {
        self.is_warned = true;
        let Self { read, of, warnings, .. } = self;
        let code = WarningCode::WrittenOtherwise;
        warnings.note(code, || {
            let (file, line) = (of.file.to_owned(), read.line());
            Warning { code, file, line, detail: detail() }
        });
    }
}

fn local<'a>(start: &'a BytesStart<'_>) -> &'a str {
    start.local_name().into_inner()
}

/// Names and values of attributes; without declarations of name spaces, which every file gets.
fn values<'a>(start: &'a BytesStart<'_>) -> BTreeMap<&'a str, Cow<'a, str>> {
    let mut attributes = start.attributes();
    let attributes = attributes.with_checks(false).flatten();
    let values = attributes.filter_map(|attribute| {
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
        Some((attribute.key.into_inner(), value))
    });
    let is_declared =
        |name: &str| name == "xmlns" || name.starts_with("xmlns:") || name.starts_with("xsi:");
    values.filter(|(name, _)| !is_declared(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(read: &str, written: &str) -> Vec<String> {
        let mut warnings = WarningLog::default();
        Rewritten::of("a.xml", read.as_bytes(), None).compare(written, &mut warnings);
        let examples = warnings.iter().flat_map(|(_, _, examples)| examples);
        examples.map(ToString::to_string).collect()
    }

    fn only(read: &str, written: &str, expected: &str) {
        let expected = format!("W-written-otherwise: a.xml:{expected}");
        assert_eq!(details(read, written), [expected], "{read} {written}");
    }

    #[test]
    fn what_is_the_same_gives_no_warning_and_what_is_not_says_how_and_where() {
        assert_eq!(details("<a b=\"1\">x</a>", "<a b=\"1\">x</a>"), [""; 0]);
        only("<a>\n<b/></a>", "<a>\n<b c=\"0\"/></a>", "2: an export gives `b` a `c`, `0`");
        only("<a b=\"\"/>", "<a/>", "1: an export leaves out `b` of `a`");
        only("<a\nb=\"01\"/>", "<a b=\"1\"/>", "1: an export writes `b` of `a` as `1`, not `01`");
        only("<a>x</a>", "<a>y</a>", "1: an export writes `y` for `x`");
        only(
            "<a>\n\n<c>1</c></a>",
            "<a><b></b><c>1</c></a>",
            "3: an export writes element `b` where element `c` stands",
        );
        only(
            "<a>\n<c>1</c><b>2</b></a>",
            "<a><b>2</b><c>1</c></a>",
            "2: an export writes element `b` where element `c` stands",
        );
        only("<a><b/></a>", "<a></a>", "1: an export writes what stands here elsewhere, or not");
    }

    #[test]
    fn white_space_comments_order_and_spelling_are_one_warning() {
        let detail = "an export writes the same with other white space, order of attributes, comments \
                      or spelling from here on";
        for (read, written, line) in [
            ("<a c=\"1\" b=\"2\"/>", "<a b=\"2\" c=\"1\"/>", 1),
            ("<a>\n  <b/>\n</a>", "<a>\n<b/></a>", 2),
            ("<a>\n<!-- c --><b/></a>", "<a>\n<b/></a>", 2),
            ("<a>&#x41;<![CDATA[<]]></a>", "<a>A&lt;</a>", 1),
            ("<f:a xmlns:f=\"x\"><f:b/></f:a>", "<a><b/></a>", 1),
            ("\u{feff}<a/>", "<a/>", 1),
        ] {
            only(read, written, &format!("{line}: {detail}"));
        }
    }

    #[test]
    fn a_file_that_an_export_calls_otherwise_is_named() {
        let mut warnings = WarningLog::default();
        Rewritten::of("lu/x.xml", b"<a/>", Some("lu5")).compare("<a/>", &mut warnings);
        let (_, _, examples) = warnings.iter().next().unwrap();
        assert_eq!(
            examples[0].to_string(),
            "W-written-otherwise: lu/x.xml: an export calls the file `lu5.xml`"
        );
    }
}
