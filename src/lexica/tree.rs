//! A small XML file as a tree of elements, each with its line.

use std::path::{Path, PathBuf};
use std::{fs, io};

use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::error::{At, line_behind, text_of};
use super::{LexicaError, Result};

/// Most bytes of a file that is read as a tree.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// Deepest nesting of elements; classes of VerbNet nest some four deep, with ten elements each.
const DEEPEST: usize = 200;

/// Bytes that tell what a file is: its root stands behind its document type and comments.
const LOOKED_AT: u64 = 16 << 10;

/// An element with all that is in it.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
    /// The text directly in it.
    text: String,
    line: usize,
}

impl Element {
    /// The value of an attribute that is there and not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let value = self.attributes.iter().find(|(known, _)| known == name)?;
        Some(value.1.trim()).filter(|value| !value.is_empty())
    }

    /// As [`get`](Self::get); nothing where it is absent.
    pub(super) fn value(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_owned()
    }

    pub(super) fn need(&self, name: &str, file: &str) -> Result<String> {
        let absent =
            || self.at(file).wrong(format!("`{}` without `{name}`", self.name), "that attribute");
        self.get(name).map(str::to_owned).ok_or_else(absent)
    }

    pub(super) fn at<'a>(&self, file: &'a str) -> At<'a> {
        At { file, line: self.line }
    }

    /// The elements of a name directly in it.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The elements of a name in the elements of another directly in it, as in `ROLES/ROLE`.
    pub(super) fn within<'a>(
        &'a self,
        outer: &'a str,
        inner: &'a str,
    ) -> impl Iterator<Item = &'a Element> {
        self.all(outer).flat_map(move |of| of.all(inner))
    }

    /// Its text, with one space between words.
    pub(super) fn text(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The text that a reference stands for: a character's number, or an entity of XML's own.
pub(super) fn referred(reference: &BytesRef<'_>, at: At<'_>) -> Result<String> {
    let name = reference.xml10_content();
    let letter = reference.resolve_char_ref().ok().flatten();
    let entity = quick_xml::escape::resolve_predefined_entity(&name);
    match (letter, entity) {
        (Some(letter), _) => Ok(letter.to_string()),
        (None, Some(entity)) => Ok(entity.to_owned()),
        (None, None) => Err(at.wrong(format!("the entity `&{name};`"), "an entity of XML's own")),
    }
}

/// The attributes of a start tag.
pub(super) fn attributes_of(start: &BytesStart<'_>, at: At<'_>) -> Result<Vec<(String, String)>> {
    let mut values = Vec::new();
    for attribute in start.attributes() {
        let wrong = |error: String| at.wrong(error, "attributes of XML");
        let attribute = attribute.map_err(|error| wrong(error.to_string()))?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|error| wrong(error.to_string()))?;
        values.push((attribute.key.into_inner().to_owned(), value.into_owned()));
    }
    Ok(values)
}

/// The root element of a file's text.
pub(super) fn parse(file: &str, text: &str) -> Result<Element> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let (mut open, mut root) = (Vec::<Element>::new(), None);
    let (mut line, mut counted) = (1, 0);
    loop {
        let offset = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let offset = offset.min(text.len());
        line += line_behind(&text.as_bytes()[counted..offset]) - 1;
        counted = offset;
        let at = At { file, line };
        let event = reader.read_event().map_err(|error| {
            let offset = usize::try_from(reader.error_position()).unwrap_or(usize::MAX);
            let line = line_behind(&text.as_bytes()[..offset.min(text.len())]);
            At { file, line }.wrong(error.to_string(), "well-formed XML")
        })?;
        match event {
            Event::Start(_) if open.len() == DEEPEST => {
                let found = format!("more than {DEEPEST} elements in each other");
                return Err(at.wrong(found, "fewer"));
            }
            Event::Start(_) if open.is_empty() && root.is_some() => {
                return Err(at.wrong("a second root element", "the file's end"));
            }
            Event::Start(start) => open.push(Element {
                name: start.local_name().as_ref().to_owned(),
                attributes: attributes_of(&start, at)?,
                line,
                ..Element::default()
            }),
            Event::End(_) => {
                let Some(closed) = open.pop() else { continue };
                match open.last_mut() {
                    Some(parent) => parent.children.push(closed),
                    None => root = Some(closed),
                }
            }
            Event::Text(piece) => add(&mut open, &piece),
            Event::CData(piece) => add(&mut open, &piece),
            Event::GeneralRef(reference) => add(&mut open, &referred(&reference, at)?),
            Event::Eof => {
                return match root.filter(|_| open.is_empty()) {
                    Some(root) => Ok(root),
                    None => Err(at.wrong("the file's end", "end tags")),
                };
            }
            _ => {}
        }
    }
}

fn add(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

/// The text of a file, with its name and bytes.
pub(super) fn load(path: &Path) -> Result<(String, String)> {
    let failed = |source| LexicaError::Io { path: path.to_owned(), source };
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let size = fs::metadata(path).map_err(failed)?.len();
    if size > MOST_BYTES {
        let found = format!("{size} bytes");
        return Err(At { file: &name, line: 1 }.wrong(found, "a smaller file"));
    }
    let text = text_of(&name, fs::read(path).map_err(failed)?)?;
    Ok((name, text))
}

/// How a file begins, as text.
pub(super) fn beginning(path: &Path) -> String {
    let begins = || -> io::Result<String> {
        let mut start = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(fs::File::open(path)?, LOOKED_AT), &mut start)?;
        Ok(String::from_utf8_lossy(&start).into_owned())
    };
    begins().unwrap_or_default()
}

/// Whether the first element of an XML file's beginning has this name.
pub(super) fn has_root(beginning: &str, name: &str) -> bool {
    let mut rest = beginning;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, behind)| behind);
        } else if !rest.starts_with(['?', '!']) {
            let end = rest.find(|letter: char| letter.is_whitespace() || "/>".contains(letter));
            return &rest[..end.unwrap_or(rest.len())] == name;
        }
    }
    false
}

/// The files with an ending directly in a directory, by name.
pub(super) fn files_in(directory: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let ends = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        path.is_file() && endings.iter().any(|ending| name.ends_with(ending))
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(ends).collect();
    files.sort();
    files
}

/// The words of an attribute that is a list, without those that stand for nothing.
pub(super) fn list(value: Option<&str>) -> Vec<String> {
    let words = value.unwrap_or_default().split([' ', ',', ';']).map(str::trim);
    let words = words.filter(|word| !["", "-", "None", "none", "NM", "NULL"].contains(word));
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_tree_with_lines() {
        let text = "<?xml version='1.0'?>\n<!DOCTYPE a SYSTEM 'a.dtd'>\n<a x=' 1 '>\n <b>t &amp;\n u\
                    </b><b/>\n</a>";
        let root = parse("f", text).unwrap();
        assert_eq!((root.get("x"), root.line, root.all("b").count()), (Some("1"), 3, 2));
        assert_eq!(root.children[0].text(), "t & u");
        assert_eq!(root.children[1].line, 5);
        assert!(has_root(text, "a") && !has_root(text, "b"));
        assert!(has_root("<!-- <b> --><a>", "a") && !has_root("", "a"));
    }

    #[test]
    fn what_is_no_xml_is_told_with_its_line() {
        for (text, said) in [
            ("<a>\n<b></a>", "f:2: "),
            ("<a>\n\n", "f:3: the file's end, expected end tags"),
            ("", "f:1: the file's end"),
            ("<a/>\n<b/>", "f:2: a second root"),
            ("<a>\n&x;</a>", "f:2: the entity `&x;`"),
            ("<a>\n<b x='1' x='2'/></a>", "f:2: "),
        ] {
            let error = parse("f", text).unwrap_err().to_string();
            assert!(error.contains(said), "{text:?}: {error}");
        }
        let deep = "<a>".repeat(DEEPEST + 1);
        assert!(parse("f", &deep).unwrap_err().to_string().contains("in each other"));
    }
}
