//! An element of a file, with its attributes.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;
use quick_xml::events::attributes::Attribute;
use quick_xml::name::QName;

use super::place::{At, no_xml, tag_at};
use super::{FramenetError, Result};
use crate::model::is_xml;
use crate::text::shortened;

/// Most bytes of an attribute: they become names and keys, and FrameNet's have some hundreds.
const MAX_ATTRIBUTE: usize = 64 << 10;

/// Attributes of an element whose places are noted; FrameNet's elements have at most ten.
const NOTED: usize = 12;

/// Where the attributes of a start tag stand, so that the tag is gone through once: each is asked
/// for by name.
struct Noted {
    /// Where name and value of each begin and end.
    places: [[u32; 4]; NOTED],
    count: usize,
    /// Whether the tag has no others, and no fault.
    is_all: bool,
}

impl Noted {
    fn of(start: &BytesStart<'_>) -> Self {
        let mut noted = Self { places: [[0; 4]; NOTED], count: 0, is_all: true };
        let tag: &str = start;
        let place = |piece: &str| {
            let begin = piece.as_ptr() as usize - tag.as_ptr() as usize;
            [begin, begin + piece.len()].map(|at| u32::try_from(at).unwrap_or(u32::MAX))
        };
        for attribute in start.attributes().with_checks(false) {
            match attribute {
                Ok(Attribute { key, value: Cow::Borrowed(value) }) if noted.count < NOTED => {
                    let ([from, to], [begin, end]) = (place(key.into_inner()), place(value));
                    noted.places[noted.count] = [from, to, begin, end];
                    noted.count += 1;
                }
                _ => {
                    noted.is_all = false;
                    break;
                }
            }
        }
        noted
    }
}

/// An element whose start was read.
pub(super) struct Element<'a> {
    start: BytesStart<'a>,
    noted: Noted,
    at: At<'a>,
    /// Length of the prefix before its name, which the names of all FrameNet's elements of the file
    /// have.
    prefix: usize,
}

impl<'a> Element<'a> {
    /// `prefix` is what stands before the name of the root element, colon and all; nothing in most
    /// files.
    pub(super) fn new(start: BytesStart<'a>, at: At<'a>, prefix: &str) -> Self {
        let has_prefix = !prefix.is_empty() && start.name().into_inner().starts_with(prefix);
        let noted = Noted::of(&start);
        Self { start, noted, at, prefix: if has_prefix { prefix.len() } else { 0 } }
    }

    /// Its name: without a prefix when it is of FrameNet's name space.
    pub(super) fn name(&self) -> &str {
        &self.start.name().into_inner()[self.prefix..]
    }

    /// Where its start tag is.
    pub(super) fn place(&self) -> usize {
        tag_at(self.at.content, self.at.offset)
    }

    pub(super) fn line(&self) -> usize {
        // The position before a start tag is the end of what stands before it, line break and all.
        let mut at = self.at;
        let rest = &self.at.content[at.offset.min(self.at.content.len())..];
        at.offset += rest.len() - rest.trim_start().len();
        at.line()
    }

    /// The element with what tells it from others of its name, as in `frame` (ID 5, name `A`).
    pub(super) fn brief(&self) -> Result<String> {
        let mut of = Vec::new();
        for key in ["ID", "name"] {
            if let Some(value) = self.attribute(key)? {
                of.push(format!("{key} `{}`", shortened(value.escape_debug())));
            }
        }
        let of = if of.is_empty() { String::new() } else { format!(" ({})", of.join(", ")) };
        Ok(format!("element `{}`{of}", self.name()))
    }

    /// Calls `visit` with every attribute's name, prefix and all, and unescaped value. A name may
    /// come several times, though XML does not allow it.
    pub(super) fn attributes(
        &self,
        mut visit: impl FnMut(&str, Cow<'_, str>) -> Result<()>,
    ) -> Result<()> {
        for attribute in self.each() {
            let attribute = attribute?;
            visit(attribute.key.into_inner(), self.value_of(&attribute)?)?;
        }
        Ok(())
    }

    /// Every attribute, in order of the tag.
    fn each(&self) -> impl Iterator<Item = Result<Attribute<'_>>> {
        let (tag, noted): (&str, &Noted) = (&self.start, &self.noted);
        let piece = |from: u32, to: u32| &tag[from as usize..to as usize];
        let first = noted.places[..noted.count].iter().map(move |[from, to, begin, end]| {
            Attribute { key: QName(piece(*from, *to)), value: Cow::Borrowed(piece(*begin, *end)) }
        });
        let rest = (!noted.is_all).then(|| {
            let mut all = self.start.attributes();
            all.with_checks(false);
            all.skip(noted.count)
                .map(|attribute| attribute.map_err(|error| self.at.malformed(error)))
        });
        first.map(Ok).chain(rest.into_iter().flatten())
    }

    /// The unescaped value of an attribute.
    fn value_of<'s>(&self, attribute: &Attribute<'s>) -> Result<Cow<'s, str>> {
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|error| self.at.malformed(error))?;
        if value.len() > MAX_ATTRIBUTE {
            let name = attribute.key.local_name().into_inner();
            let reason = format!("attribute `{name}` is longer than {MAX_ATTRIBUTE} bytes");
            return Err(self.at.malformed(reason));
        }
        // Only a character reference brings in what the file itself does not hold.
        if let Cow::Owned(value) = &value
            && let Some(letter) = value.chars().find(|letter| !is_xml(*letter))
        {
            return Err(self.at.malformed(no_xml(letter)));
        }
        Ok(value)
    }

    /// The attribute's value, when it is there; the first of several. Others are not unescaped.
    pub(super) fn value(&self, name: &str) -> Result<Option<Cow<'_, str>>> {
        for attribute in self.each() {
            let attribute = attribute?;
            if attribute.key.into_inner() == name {
                return self.value_of(&attribute).map(Some);
            }
        }
        Ok(None)
    }

    /// As [`value`](Self::value), to be kept.
    pub(super) fn attribute(&self, name: &str) -> Result<Option<String>> {
        Ok(self.value(name)?.map(Cow::into_owned))
    }

    /// The attribute's value, or nothing at all as an empty text.
    pub(super) fn text_or_empty(&self, name: &str) -> Result<String> {
        Ok(self.attribute(name)?.unwrap_or_default())
    }

    /// Whether it has no attribute but those, and none twice. At most 32 are known.
    pub(super) fn has_only(&self, known: &[&str]) -> bool {
        let mut seen = 0_u32;
        self.each().all(|attribute| {
            let Ok(attribute) = attribute else { return false };
            let name = attribute.key.into_inner();
            let bit = known.iter().position(|known| *known == name).map_or(0, |at| 1 << at);
            let is_new = seen & bit == 0;
            seen |= bit;
            bit != 0 && is_new
        })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.each().flatten().any(|found| found.key.into_inner() == name)
    }

    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        self.each().flatten().any(|found| names.contains(&found.key.into_inner()))
    }

    pub(super) fn wrong(&self, what: &str, found: &str, expected: &'static str) -> FramenetError {
        FramenetError::Value {
            file: self.at.file.to_owned(),
            line: self.line(),
            what: format!("{what} of `{}`", self.name()),
            found: found.to_owned(),
            expected,
        }
    }
}

/// What stands before an element's own name, colon and all; nothing for most.
pub(super) fn prefix_of<'a>(start: &'a BytesStart<'_>) -> &'a str {
    let name = start.name().into_inner();
    name.find(':').map_or("", |colon| &name[..=colon])
}
