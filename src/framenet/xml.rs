//! A pull reader over one XML file that knows its file and line.
//!
//! A reading function follows the file. It opens an element, then [`XmlFile::children`] hands each
//! child to a closure, which reads it to its end with `children`, [`XmlFile::text`] or
//! [`XmlFile::skip`].

use quick_xml::XmlVersion;
use quick_xml::events::{BytesDecl, BytesStart, Event};
use quick_xml::reader::Reader;

use super::element::{Element, prefix_of};
use super::foreign_notes::Notes;
use super::fresh_numbers::{FileNumbers, like_own};
use super::place::{At, MAX_DEPTH, MAX_ELEMENTS, no_xml, not_xml, start_of};
use super::{FramenetError, Result, Warning, WarningCode, WarningLog};
use crate::model::{Foreign, WrittenNumbers, is_xml};

/// A frame's FE counts as so many: it takes more memory than others. FrameNet's frames have at most
/// some 50.
const FE_WEIGHT: usize = 16;

/// Attributes of a `corpus` and of a `document`.
pub(super) const TITLED: [&str; 3] = ["ID", "name", "description"];

/// An element that FrameNet has once in its parent: what comes after the first is not FrameNet's.
#[derive(Default)]
pub(super) struct Once {
    came: bool,
}

impl Once {
    pub(super) fn is_first(&mut self) -> bool {
        !std::mem::replace(&mut self.came, true)
    }
}

/// An XML file being read.
pub(super) struct XmlFile<'a> {
    pub(super) at: At<'a>,
    reader: Reader<&'a [u8]>,
    /// What stands before the name of the root element, and of every element of FrameNet's.
    prefix: String,
    /// The elements that are open: where their start tags were read, and the children so far.
    pub(super) open: Vec<(usize, u32)>,
    /// The elements so far, without those that are skipped.
    pub(super) elements: usize,
    /// What was odd so far.
    pub(super) warnings: WarningLog,
    /// What fresh numbers stand for.
    pub(super) numbers: FileNumbers<'a>,
    /// What is not FrameNet's.
    pub(super) notes: Notes,
}

impl<'a> XmlFile<'a> {
    /// Begins to read; `numbers` are those that earlier files of the release gave.
    pub(super) fn new(file: &'a str, bytes: &'a [u8], numbers: &'a WrittenNumbers) -> Result<Self> {
        let content = std::str::from_utf8(bytes).map_err(|error| {
            let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            let mut at = At::start(file, valid);
            at.advance(valid.len());
            let is_utf_16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
            at.malformed(if is_utf_16 { "UTF-16, expected UTF-8" } else { "not UTF-8" })
        })?;
        // Cut off here, once: the reader counts offsets from the text it is given.
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        if let Some(offset) = not_xml(content) {
            let mut at = At::start(file, content);
            at.advance(offset);
            let letter = content[offset..].chars().next().unwrap_or_default();
            return Err(at.malformed(no_xml(letter)));
        }
        let mut reader = Reader::from_str(content);
        reader.config_mut().expand_empty_elements = true;
        let (warnings, numbers) = (WarningLog::default(), FileNumbers::new(numbers));
        let (at, open, notes) = (At::start(file, content), Vec::new(), Notes::default());
        Ok(Self { at, reader, prefix: String::new(), open, elements: 0, warnings, numbers, notes })
    }

    fn element(&self, start: BytesStart<'a>) -> Element<'a> {
        Element::new(start, self.at, &self.prefix)
    }

    fn next(&mut self) -> Result<Event<'a>> {
        self.at.advance(usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX));
        let event = self.reader.read_event().map_err(|error| {
            let offset = usize::try_from(self.reader.error_position()).unwrap_or(usize::MAX);
            self.at.moved(offset).malformed(error)
        })?;
        match &event {
            Event::Start(start) => {
                if let Some((_, children)) = self.open.last_mut() {
                    *children += 1;
                }
                self.open.push((self.at.offset, 0));
                let is_fe = self.open.len() == 2 && start.local_name().as_ref() == "FE";
                self.elements += if is_fe { FE_WEIGHT } else { 1 };
                if self.elements > MAX_ELEMENTS {
                    return Err(self.at.too_many_elements());
                }
            }
            Event::End(_) => drop(self.open.pop()),
            Event::Decl(declaration) => self.require_utf_8(declaration)?,
            // Before the root element.
            Event::PI(piece) if self.open.is_empty() => {
                self.numbers.like_own = like_own(piece).or(self.numbers.like_own.take());
            }
            _ => {}
        }
        if self.open.len() > MAX_DEPTH {
            let reason = format!("elements nested more than {MAX_DEPTH} deep");
            return Err(self.at.malformed(reason));
        }
        Ok(event)
    }

    /// A file that is declared to be in another encoding would be read wrongly, even where its
    /// bytes happen to be UTF-8.
    fn require_utf_8(&self, declaration: &BytesDecl<'_>) -> Result<()> {
        let Some(encoding) = declaration.encoding() else { return Ok(()) };
        let encoding = encoding.map_err(|error| self.at.malformed(error))?;
        if ["utf-8", "utf8", "us-ascii"].contains(&encoding.to_ascii_lowercase().as_str()) {
            return Ok(());
        }
        Err(self.at.malformed(format!("declared to be in `{encoding}`, expected UTF-8")))
    }

    /// The root element, which must be called `expected`.
    pub(super) fn root(&mut self, expected: &'static str) -> Result<Element<'a>> {
        loop {
            match self.next()? {
                Event::Start(start) => {
                    prefix_of(&start).clone_into(&mut self.prefix);
                    let element = self.element(start);
                    if element.name() != expected {
                        return Err(element.wrong("root element", element.name(), expected));
                    }
                    return Ok(element);
                }
                Event::Eof => return Err(self.at.malformed("the file has no root element")),
                Event::Text(piece) if !piece.trim().is_empty() => self.stray_text(&piece, "before"),
                _ => {}
            }
        }
    }

    /// What the root element declares beside FrameNet's own attributes: name spaces, schema,
    /// language.
    pub(super) fn declarations(&mut self) -> Result<Vec<(String, String)>> {
        loop {
            let start = match self.next()? {
                Event::Start(start) => start,
                Event::Eof => return Err(self.at.malformed("the file has no root element")),
                _ => continue,
            };
            let mut declared = Vec::new();
            for attribute in start.attributes().with_checks(false) {
                let attribute = attribute.map_err(|error| self.at.malformed(error))?;
                let key = attribute.key.into_inner();
                if key == "xmlns" || ["xmlns:", "xsi:", "xml:"].iter().any(|of| key.starts_with(of))
                {
                    let value = attribute
                        .normalized_value(XmlVersion::Implicit1_0)
                        .map_err(|error| self.at.malformed(error))?;
                    declared.push((key.to_owned(), value.into_owned()));
                }
            }
            return Ok(declared);
        }
    }

    /// Reads past what follows the root element, whose end was read. Gives what was odd in the
    /// whole file, what its fresh numbers stand for, and what of it is not FrameNet's.
    pub(super) fn finish(mut self) -> Result<(WarningLog, WrittenNumbers, Foreign)> {
        let foreign = self.foreign()?;
        loop {
            match self.next()? {
                Event::Start(start) => {
                    let element = self.element(start);
                    let detail = format!("{} after the root element; not read", element.brief()?);
                    self.warn(&element, WarningCode::OutsideRoot, detail);
                    self.skip()?;
                }
                Event::Text(piece) if !piece.trim().is_empty() => self.stray_text(&piece, "after"),
                Event::CData(piece) => self.stray_text(&piece, "after"),
                Event::GeneralRef(piece) => self.stray_text(&piece, "after"),
                Event::Eof => return Ok((self.warnings, self.numbers.own, foreign)),
                _ => {}
            }
        }
    }

    fn stray_text(&mut self, piece: &str, where_it_is: &str) {
        let detail = format!(
            "text `{}` ({} bytes) {where_it_is} the root element; not read",
            start_of(piece.trim()).escape_debug(),
            piece.len()
        );
        let (file, line) = (self.at.file.to_owned(), self.at.line_of(self.at.offset));
        self.warnings.add(Warning { code: WarningCode::OutsideRoot, file, line, detail });
    }

    /// Hands every child of the open element to `visit`, which reads it to its end.
    pub(super) fn children(
        &mut self,
        mut visit: impl FnMut(&mut Self, Element<'a>) -> Result<()>,
    ) -> Result<()> {
        loop {
            match self.next()? {
                Event::Start(start) => {
                    let element = self.element(start);
                    visit(self, element)?;
                }
                Event::End(_) => return Ok(()),
                Event::Eof => return Err(self.truncated()),
                Event::Text(piece) if !piece.trim().is_empty() => self.unknown_text(&piece),
                Event::CData(piece) => self.unknown_text(&piece),
                Event::GeneralRef(piece) => self.unknown_text(&piece),
                _ => {}
            }
        }
    }

    /// Reads an element that has attributes only to its end, and warns of anything else in it.
    pub(super) fn leaf(&mut self, element: &Element<'a>, known: &[&str]) -> Result<()> {
        self.know(element, known)?;
        self.end()
    }

    /// Reads the open element, which should hold nothing, to its end.
    pub(super) fn end(&mut self) -> Result<()> {
        self.children(|xml, child| xml.unknown(&child))
    }

    /// The line of an element, from 1.
    pub(super) fn line_of(&mut self, element: &Element<'a>) -> usize {
        self.at.line_of(element.place())
    }

    /// How far the file was read.
    pub(super) fn position(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }

    pub(super) fn content(&self) -> &'a str {
        self.at.content
    }

    /// The text of an element without attributes; see [`text`](Self::text).
    pub(super) fn text_of(&mut self, element: &Element<'a>) -> Result<String> {
        self.know(element, &[])?;
        self.text()
    }

    /// The text of the open element, to its end, byte-exact after XML's own unescaping.
    pub(super) fn text(&mut self) -> Result<String> {
        let mut text = String::new();
        loop {
            match self.next()? {
                Event::Text(piece) => text.push_str(&piece.xml10_content()),
                Event::CData(piece) => text.push_str(&piece.xml10_content()),
                Event::GeneralRef(reference) => {
                    let name = reference.xml10_content();
                    let resolved =
                        reference.resolve_char_ref().map_err(|error| self.at.malformed(error))?;
                    match (resolved, quick_xml::escape::resolve_predefined_entity(&name)) {
                        (Some(letter), _) if !is_xml(letter) => {
                            return Err(self.at.malformed(no_xml(letter)));
                        }
                        (Some(character), _) => text.push(character),
                        (None, Some(entity)) => text.push_str(entity),
                        (None, None) => {
                            return Err(self.at.malformed(format!("unknown entity `&{name};`")));
                        }
                    }
                }
                Event::Start(start) => {
                    let element = self.element(start);
                    self.unknown_after(&element, Some(text.len()))?;
                }
                Event::End(_) => return Ok(text),
                Event::Eof => return Err(self.truncated()),
                _ => {}
            }
        }
    }

    /// Reads past the end of the open element.
    pub(super) fn skip(&mut self) -> Result<()> {
        let (mut depth, counted) = (0_usize, self.elements);
        loop {
            // Nothing is made of them.
            self.elements = counted;
            match self.next()? {
                Event::Start(_) => depth += 1,
                Event::End(_) if depth == 0 => return Ok(()),
                Event::End(_) => depth -= 1,
                Event::Eof => return Err(self.truncated()),
                _ => {}
            }
        }
    }

    pub(super) fn warn(&mut self, element: &Element<'a>, code: WarningCode, detail: String) {
        self.warn_with(element, code, || detail);
    }

    /// Warns; `detail` is only made for the first of a code.
    pub(super) fn warn_with(
        &mut self,
        element: &Element<'a>,
        code: WarningCode,
        detail: impl FnOnce() -> String,
    ) {
        let at = &mut self.at;
        self.warnings.note(code, || {
            let (file, line) = (at.file.to_owned(), at.line_of(element.place()));
            Warning { code, file, line, detail: detail() }
        });
    }

    /// Warns of the place that is being read.
    pub(super) fn warn_here(&mut self, code: WarningCode, detail: impl FnOnce() -> String) {
        let at = &mut self.at;
        self.warnings.note(code, || Warning {
            code,
            file: at.file.to_owned(),
            line: at.line_of(at.offset),
            detail: detail(),
        });
    }

    fn truncated(&self) -> FramenetError {
        self.at.malformed("the file ends inside an element")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NumberKind;

    fn text_of(content: &str) -> Result<String> {
        let numbers = WrittenNumbers::default();
        let mut xml = XmlFile::new("a.xml", content.as_bytes(), &numbers)?;
        xml.root("a")?;
        xml.text()
    }

    #[test]
    fn text_is_unescaped_and_otherwise_untouched() {
        assert_eq!(
            text_of("<a> x &lt;b&gt; &amp; &#233; \u{1F600}\n </a>").unwrap(),
            " x <b> & \u{e9} \u{1F600}\n "
        );
    }

    #[test]
    fn a_malformed_file_names_its_line() {
        for (content, line) in
            [("<a>\n<b>\n</a>", 3), ("<a>\n\n", 3), ("\n<b/>", 2), ("<a>\n&nope;</a>", 2)]
        {
            let message = text_of(content).unwrap_err().to_string();
            assert!(message.starts_with(&format!("a.xml:{line}: ")), "{content:?}: {message}");
        }
    }

    #[test]
    fn what_stands_outside_the_root_element_is_said_with_its_line() {
        let odd = |content: &str| {
            let none = WrittenNumbers::default();
            let mut xml = XmlFile::new("a.xml", content.as_bytes(), &none)?;
            xml.root("a")?;
            xml.text()?;
            let (warnings, _, _) = xml.finish()?;
            let shown = warnings.iter().flat_map(|(_, _, examples)| examples);
            Ok(shown.map(ToString::to_string).collect::<Vec<_>>().join("; "))
        };
        let odd = |content: &str| odd(content).map_err(|error: FramenetError| error.to_string());
        assert_eq!(
            odd("<?xml version=\"1.0\"?>\n<a>x</a>\n<!-- b -->\n<?c?>\n"),
            Ok(String::new())
        );
        for (content, expected) in [
            (
                "<a/>\n\n<b ID=\"5\" name=\"c\"><d/></b>",
                "a.xml:3: element `b` (ID `5`, name `c`) after the root element; not read",
            ),
            ("<a/>\nx &amp;", "a.xml:1: text `x` (3 bytes) after the root element; not read"),
            ("x\n<a/>", "a.xml:1: text `x` (2 bytes) before the root element; not read"),
        ] {
            let odd = odd(content).unwrap();
            assert!(odd.contains(expected), "{content:?}: {odd}");
        }
        let error = odd("<a/>\n</a>").unwrap_err();
        assert!(error.starts_with("a.xml:2: malformed XML: "), "{error}");
    }

    #[test]
    fn another_encoding_is_refused_with_its_name() {
        for (content, reason) in [
            (&b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<a>x</a>"[..], "`ISO-8859-1`"),
            (b"\xff\xfe<\0a\0", "UTF-16, expected UTF-8"),
            (b"<a>\n\xe9</a>", "not UTF-8"),
        ] {
            let numbers = WrittenNumbers::default();
            let text = XmlFile::new("a.xml", content, &numbers).and_then(|mut xml| {
                xml.root("a")?;
                xml.text()
            });
            let message = text.unwrap_err().to_string();
            assert!(message.starts_with("a.xml:") && message.contains(reason), "{message}");
        }
        assert_eq!(text_of("<?xml version=\"1.0\" encoding=\"UTF-8\"?><a>x</a>").unwrap(), "x");
    }

    #[test]
    fn a_file_that_nests_without_end_is_refused_and_one_that_is_odd_throughout_is_counted() {
        let error = text_of(&format!("<a>\n{}", "<b>".repeat(1_000_000))).unwrap_err().to_string();
        assert_eq!(error, "a.xml:2: malformed XML: elements nested more than 64 deep");
        let (content, numbers) =
            (format!("<a>\n{}</a>", "<b/>\n".repeat(200_000)), WrittenNumbers::default());
        let mut xml = XmlFile::new("a.xml", content.as_bytes(), &numbers).unwrap();
        xml.root("a").unwrap();
        xml.end().unwrap();
        assert_eq!(xml.warnings.count(WarningCode::UnknownElement), 200_000);
        let (_, _, examples) = xml.warnings.iter().next().unwrap();
        assert_eq!((examples.len(), examples[19].line), (20, 21));
    }

    #[test]
    fn what_xml_has_no_character_for_is_refused_with_its_line() {
        let expected = "a.xml:2: malformed XML: the character U+0001, which XML does not have";
        for content in ["<a>\n\u{1}</a>", "<a>\n&#1;</a>"] {
            assert_eq!(text_of(content).unwrap_err().to_string(), expected);
        }
        let (content, numbers) = ("<a>\n<b name=\"&#xffff;\"/></a>", WrittenNumbers::default());
        let mut xml = XmlFile::new("a.xml", content.as_bytes(), &numbers).unwrap();
        xml.root("a").unwrap();
        let error = xml.children(|xml, element| xml.name(&element, "name").map(drop)).unwrap_err();
        assert!(error.to_string().contains("the character U+FFFF"), "{error}");
        let kept = "\t\u{85}\u{200b}\u{202e}\u{fffd}\u{10ffff}";
        assert_eq!(text_of(&format!("<a>{kept}</a>")).unwrap(), kept);
    }

    #[test]
    fn a_byte_order_mark_moves_no_line_and_cuts_no_character() {
        // Without the mark cut off, offsets fall inside the letters.
        let content = "\u{feff}<a>\n\u{e9}\u{e9}<b ID=\"x\"/>\u{e9}</a>";
        assert_eq!(id_of(content), "a.xml:2: `ID` of `b` is `x`");
        assert_eq!(text_of("\u{feff}<a>x</a>").unwrap(), "x");
        assert!(text_of("\u{feff}<a>\n<b>").unwrap_err().to_string().starts_with("a.xml:2: "));
    }

    #[test]
    fn what_is_no_number_is_kept_and_named_with_element_attribute_and_line() {
        assert_eq!(id_of("<a>\n  <b ID=\"x\"/></a>"), "a.xml:2: `ID` of `b` is `x`");
    }

    /// The warning of the only `b`, up to what was done about it.
    fn id_of(content: &str) -> String {
        let numbers = WrittenNumbers::default();
        let mut xml = XmlFile::new("a.xml", content.as_bytes(), &numbers).unwrap();
        xml.root("a").unwrap();
        xml.children(|xml, element| {
            let id = xml.id(&element, NumberKind::Frame, "ID", "")?;
            assert_eq!(xml.numbers.own.text(NumberKind::Frame, id), Some("x"));
            xml.end()
        })
        .unwrap();
        let mut warned = xml.warnings.iter();
        let (_, _, examples) = warned.find(|(code, ..)| *code == WarningCode::IdWritten).unwrap();
        let warning = examples[0].to_string();
        let warning = warning.strip_prefix("W-id-written: ").unwrap();
        warning.split(';').next().unwrap().to_owned()
    }
}
