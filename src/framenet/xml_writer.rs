//! Writes XML in the manner of FrameNet's releases: four spaces a level, elements without content
//! closed at once.
//!
//! Law: what [`XmlFile`](super::xml::XmlFile) reads back is what was written.

use super::foreign_writer::ForeignWriter;
use super::fresh_numbers::{LikeOwn, Numbers, instruction};
use super::place::not_xml;
use crate::model::{Foreign, ForeignAttribute, NumberKind, is_xml};

/// Declaration that every file starts with.
const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
/// Name space of every file, and that of schemas.
pub(super) const NAMESPACES: [(&str, &str); 2] = [
    ("xmlns", "http://framenet.icsi.berkeley.edu"),
    ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
];

/// A file being written.
pub(super) struct XmlWriter<'a> {
    /// What fresh numbers are written as.
    numbers: Numbers<'a>,
    content: String,
    open: Vec<&'static str>,
    /// Whether the last start tag is still open for attributes.
    in_tag: bool,
    /// Whether the innermost element holds text, so that its end tag stands on the same line.
    inline: bool,
    /// Where the last start tag begins.
    tag: usize,
    /// What the file holds beside FrameNet.
    foreign: Option<ForeignWriter<'a>>,
    /// Where the root element begins.
    root: usize,
    /// Whether the file has numbers that no release gives.
    has_own: bool,
    /// Ids of the release itself that would be taken for such numbers.
    like_own: LikeOwn,
}

impl<'a> XmlWriter<'a> {
    /// A file, with the style sheet that a browser shows it with, and what it holds beside
    /// FrameNet.
    pub(super) fn new(
        style_sheet: Option<&str>,
        numbers: Numbers<'a>,
        foreign: &'a Foreign,
    ) -> Self {
        let mut content = DECLARATION.to_owned();
        if let Some(name) = style_sheet {
            content.push_str("<?xml-stylesheet type=\"text/xsl\" href=\"");
            content.push_str(name);
            content.push_str("\"?>\n");
        }
        let foreign = ForeignWriter::new(foreign);
        let root = content.len();
        Self {
            numbers,
            content,
            open: Vec::new(),
            in_tag: false,
            inline: false,
            tag: 0,
            foreign,
            root,
            has_own: false,
            like_own: LikeOwn::new(),
        }
    }

    /// Starts an element; attributes may follow until content does.
    pub(super) fn start(&mut self, name: &'static str) -> &mut Self {
        self.end_tag();
        let before = self.foreign.as_mut().map_or(&[][..], ForeignWriter::before_child);
        for piece in before {
            self.new_line();
            self.content.push_str(&piece.xml);
        }
        if !self.open.is_empty() {
            self.new_line();
        }
        self.tag = self.content.len();
        self.content.push('<');
        self.content.push_str(name);
        self.open.push(name);
        self.in_tag = true;
        self
    }

    /// Declares the schema, as a root element does after its own attributes.
    pub(super) fn schema(&mut self, path: &str) {
        self.attribute("xsi:schemaLocation", path);
        for (name, value) in NAMESPACES {
            self.attribute(name, value);
        }
    }

    pub(super) fn attribute(&mut self, name: &str, value: &str) -> &mut Self {
        if let Some(foreign) = &mut self.foreign {
            foreign.see(name, value);
        }
        self.content.push(' ');
        self.content.push_str(name);
        self.content.push_str("=\"");
        escape(value, XmlContext::Attribute, &mut self.content);
        self.content.push('"');
        self
    }

    /// An attribute that is left out when there is nothing to say.
    pub(super) fn attribute_if_any(&mut self, name: &str, value: &str) -> &mut Self {
        if value.is_empty() { self } else { self.attribute(name, value) }
    }

    pub(super) fn number(&mut self, name: &str, value: impl std::fmt::Display) -> &mut Self {
        use std::fmt::Write as _;
        if let Some(foreign) = &mut self.foreign {
            foreign.see(name, &value.to_string());
        }
        write!(self.content, " {name}=\"{value}\"").expect("a string takes all");
        self
    }

    /// A number, as [`number`](Self::number) writes it: most of what a file holds.
    fn digits(&mut self, name: &str, mut value: u64) -> &mut Self {
        let (mut digits, mut at) = ([0_u8; 20], 20);
        loop {
            at -= 1;
            digits[at] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        let digits = std::str::from_utf8(&digits[at..]).expect("digits are ASCII");
        if let Some(foreign) = &mut self.foreign {
            foreign.see(name, digits);
        }
        for piece in [" ", name, "=\"", digits, "\""] {
            self.content.push_str(piece);
        }
        self
    }

    /// An id as its release writes it; left out where that gives none.
    pub(super) fn id(&mut self, name: &str, kind: NumberKind, number: impl Into<u64>) -> &mut Self {
        let number = number.into();
        match self.numbers.text(kind, number) {
            None => {
                self.has_own |= kind.is_own(number);
                self.digits(name, number)
            }
            Some(written) => {
                self.like_own.extend(kind.own(written).map(|number| (kind, number)));
                self.attribute_if_any(name, written)
            }
        }
    }

    /// An id that may not be there.
    pub(super) fn optional_id(
        &mut self,
        name: &str,
        kind: NumberKind,
        number: Option<u32>,
    ) -> &mut Self {
        match number {
            Some(number) => self.id(name, kind, number),
            None => self,
        }
    }

    pub(super) fn optional(
        &mut self,
        name: &str,
        value: Option<impl std::fmt::Display>,
    ) -> &mut Self {
        match value {
            Some(value) => self.number(name, value),
            None => self,
        }
    }

    /// Text of the innermost element, which holds nothing else.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.text_in(text, XmlContext::Text);
        self
    }

    fn text_in(&mut self, text: &str, place: XmlContext) {
        self.end_tag();
        let pieces = self.foreign.as_mut().map_or(&[][..], ForeignWriter::rest);
        let mut done = 0;
        for piece in pieces {
            // A text that was edited since may be shorter.
            let end = text.floor_char_boundary(piece.after as usize).max(done);
            escape(&text[done..end], place, &mut self.content);
            self.content.push_str(&piece.xml);
            done = end;
        }
        escape(&text[done..], place, &mut self.content);
        self.inline = true;
    }

    /// An element of text in which quotes are escaped: FrameNet does so in sentences, and nowhere
    /// else.
    pub(super) fn sentence_element(&mut self, name: &'static str, text: &str) {
        self.start(name).text_in(text, XmlContext::Sentence);
        self.end();
    }

    /// Ends the innermost element.
    pub(super) fn end(&mut self) -> &mut Self {
        let rest = self.before_end();
        let name = self.open.pop().expect("every end has its start");
        if self.in_tag {
            self.content.push_str("/>");
            self.in_tag = false;
            return self;
        }
        if !self.inline || rest {
            self.new_line();
        }
        self.inline = false;
        self.content.push_str("</");
        self.content.push_str(name);
        self.content.push('>');
        self
    }

    /// An element of text.
    pub(super) fn text_element(&mut self, name: &'static str, text: &str) {
        self.start(name).text(text).end();
    }

    /// The file, whose root element has ended.
    pub(super) fn finish(mut self) -> String {
        debug_assert!(self.open.is_empty(), "{:?} not ended", self.open);
        if self.has_own {
            self.content.insert_str(self.root, &instruction(&self.like_own));
        }
        self.content
    }

    fn end_tag(&mut self) {
        if self.in_tag {
            self.foreign_attributes();
            self.in_tag = false;
            self.content.push('>');
        }
    }

    /// Gives the start tag its foreign attributes; one of a name that it has already takes its
    /// place.
    fn foreign_attributes(&mut self) {
        let (Some(foreign), Some(name)) = (&mut self.foreign, self.open.last()) else { return };
        let (tag, mut end) = (self.tag, self.content.len());
        for ForeignAttribute { name, value, instead_of } in foreign.entered(name) {
            let mut written = String::new();
            escape(value, XmlContext::Attribute, &mut written);
            let start = format!(" {name}=\"");
            // Some of a file's hundred thousand may stand here: only the tag's own are looked
            // through.
            let place = self.content[tag..end].find(&start);
            let place = place.map(|at| tag + at + start.len());
            match place.and_then(|at| Some(at..at + self.content[at..].find('"')?)) {
                Some(there) => {
                    if instead_of.is_empty() || self.content[there.clone()] == **instead_of {
                        end = end + written.len() - there.len();
                        self.content.replace_range(there, &written);
                    }
                }
                None => {
                    self.content.push_str(&start);
                    self.content.push_str(&written);
                    self.content.push('"');
                }
            }
        }
    }

    /// Writes what the innermost element holds beside its own children; says whether it does.
    fn before_end(&mut self) -> bool {
        if self.foreign.is_none() {
            return false;
        }
        if self.in_tag {
            self.foreign_attributes();
        }
        let rest = self.foreign.as_mut().map_or(&[][..], ForeignWriter::rest);
        if !rest.is_empty() && std::mem::take(&mut self.in_tag) {
            self.content.push('>');
        }
        for piece in rest {
            self.new_line();
            self.content.push_str(&piece.xml);
        }
        if let Some(foreign) = &mut self.foreign {
            foreign.left();
        }
        !rest.is_empty()
    }

    fn new_line(&mut self) {
        const LINE: &str = "\n                                        ";
        match LINE.get(..1 + 4 * self.open.len()) {
            Some(line) => self.content.push_str(line),
            None => {
                self.content.push('\n');
                (0..self.open.len()).for_each(|_| self.content.push_str("    "));
            }
        }
    }
}

/// Puts U+FFFD in the place of each character that XML does not have, one for one, so that places
/// in a text stay where they are; gives their number.
#[must_use]
pub fn replace_not_xml(content: &mut String) -> u64 {
    let Some(first) = not_xml(content) else { return 0 };
    let (mut replaced, mut count) = (content[..first].to_owned(), 0);
    for letter in content[first..].chars() {
        count += u64::from(!is_xml(letter));
        replaced.push(if is_xml(letter) { letter } else { char::REPLACEMENT_CHARACTER });
    }
    *content = replaced;
    count
}

/// Where a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum XmlContext {
    Attribute,
    Text,
    Sentence,
}

/// Appends a text so that it reads back the same: a carriage return anywhere, and in attributes any
/// white space but the space, would be read as something else.
fn escape(text: &str, place: XmlContext, content: &mut String) {
    let special = |byte: u8| matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\r' | b'\n' | b'\t');
    if !text.bytes().any(special) {
        content.push_str(text);
        return;
    }
    for letter in text.chars() {
        match letter {
            '<' => content.push_str("&lt;"),
            '>' => content.push_str("&gt;"),
            '&' => content.push_str("&amp;"),
            '\r' => content.push_str("&#13;"),
            '"' if place != XmlContext::Text => content.push_str("&quot;"),
            '\n' if place == XmlContext::Attribute => content.push_str("&#10;"),
            '\t' if place == XmlContext::Attribute => content.push_str("&#9;"),
            _ => content.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::xml::XmlFile;
    use super::*;
    use crate::model::{ForeignPlace, WrittenNumbers};

    #[test]
    fn elements_are_laid_out_as_in_framenet() {
        let (numbers, foreign) = (WrittenNumbers::default(), Foreign::default());
        let mut xml = XmlWriter::new(None, (&numbers).into(), &foreign);
        xml.start("frame").attribute("name", "A").schema("../schema/frame.xsd");
        xml.text_element("definition", "");
        xml.start("FE").number("ID", 7);
        xml.text_element("definition", "\"a\" <b>");
        xml.start("semType").end();
        xml.end().end();
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
             <frame name=\"A\" xsi:schemaLocation=\"../schema/frame.xsd\" \
             xmlns=\"http://framenet.icsi.berkeley.edu\" \
             xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n    \
             <definition></definition>\n    <FE ID=\"7\">\n        \
             <definition>\"a\" &lt;b&gt;</definition>\n        <semType/>\n    </FE>\n</frame>";
        assert_eq!(xml.finish(), expected);
    }

    #[test]
    fn foreign_attributes_stand_behind_one_that_became_shorter() {
        let attribute = |name: &str, value: &str| ForeignAttribute {
            name: name.to_owned(),
            value: value.to_owned(),
            instead_of: String::new(),
        };
        let attributes = vec![attribute("x", ""), attribute("y", "\u{feff}"), attribute("z", "1")];
        let element = "/a".to_owned();
        let place = ForeignPlace { element, attributes, ..ForeignPlace::default() };
        let (numbers, foreign) = (WrittenNumbers::default(), Foreign { places: vec![place] });
        let mut xml = XmlWriter::new(None, (&numbers).into(), &foreign);
        // The tag once ended within the character that `y` has.
        xml.start("a").attribute("x", "six___").end();
        assert!(xml.finish().ends_with("<a x=\"\" y=\"\u{feff}\" z=\"1\"/>"));
    }

    proptest! {
        #[test]
        fn any_text_reads_back(
            text in "[ -~\\t\\r\\n\u{e9}\u{1f6b2}<>&\"']{0,40}",
            value in "[ -~\\t\\r\\n\u{e9}\u{1f6b2}<>&\"']{0,40}",
        ) {
            let (numbers, foreign) = (WrittenNumbers::default(), Foreign::default());
            let mut xml = XmlWriter::new(Some("a.xsl"), (&numbers).into(), &foreign);
            xml.start("a").attribute("value", &value).text(&text).end();
            let content = xml.finish();
            let mut file = XmlFile::new("a.xml", content.as_bytes(), &numbers).unwrap();
            let root = file.root("a").unwrap();
            prop_assert_eq!(root.attribute("value").unwrap(), Some(value));
            prop_assert_eq!(file.text().unwrap(), text);
        }
    }
}
