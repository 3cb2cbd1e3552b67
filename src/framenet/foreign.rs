//! What a file holds beside FrameNet, kept as it stands while the file is read.

use super::element::Element;
use super::foreign_notes::{Noted, SeenNames, What};
use super::fragment::fragment_fault;
use super::place::{start_of, tag_at};
use super::xml::XmlFile;
use super::xml_writer::NAMESPACES;
use super::{Result, WarningCode};
use crate::model::{Foreign, ForeignAttribute, is_xml_name};

/// Whether an attribute of a root element is one that every file gets when it is written.
fn is_written(name: &str, value: &str) -> bool {
    let is_schema = value.starts_with("../schema/") || value.starts_with("schema/");
    NAMESPACES.contains(&(name, value)) || name == "xsi:schemaLocation" && is_schema
}

impl<'a> XmlFile<'a> {
    /// Keeps every attribute of an element that is not one of `known`, and warns of it.
    /// Declarations of name spaces and what belongs to XML Schema say nothing about FrameNet, and
    /// are kept without.
    pub(super) fn know(&mut self, element: &Element<'a>, known: &[&str]) -> Result<()> {
        if element.has_only(known) {
            return Ok(());
        }
        let mut seen = SeenNames::default();
        element.attributes(|name, value| {
            if !seen.is_first(name) {
                self.repeated_attribute(element, name, &value);
            } else if !known.contains(&name) {
                self.foreign_attribute(element, name, value.into_owned());
            }
            Ok(())
        })
    }

    /// Warns of an attribute that stands in its element again, which XML does not allow: the first
    /// counts.
    pub(super) fn repeated_attribute(&mut self, element: &Element<'a>, name: &str, value: &str) {
        self.warn_with(element, WarningCode::AttributeRepeated, || {
            let (of, value) = (element.name(), start_of(value));
            format!(
                "attribute `{name}` stands twice in `{of}`; the first counts, `{value}` does not"
            )
        });
    }

    /// Keeps an attribute that the schema does not know.
    pub(super) fn foreign_attribute(&mut self, element: &Element<'a>, name: &str, value: String) {
        let is_declared = name == "xmlns" || name.starts_with("xmlns:") || name.starts_with("xsi:");
        if !is_declared {
            self.warn_with(element, WarningCode::UnknownAttribute, || {
                let of = element.name();
                format!("attribute `{name}` of `{of}` is not FrameNet's; kept as it stands")
            });
        } else if is_written(name, &value) {
            return;
        }
        self.keep_attribute(element, name, value, "");
    }

    /// Keeps an attribute for exports; one of FrameNet's own takes the place of what the record
    /// says.
    pub(super) fn keep_attribute(
        &mut self,
        element: &Element<'a>,
        name: &str,
        value: String,
        instead_of: &str,
    ) {
        let (name, instead_of) = (name.to_owned(), instead_of.to_owned());
        let attribute = ForeignAttribute { name: name.clone(), value, instead_of };
        if !self.notes.attribute(element.place(), attribute) {
            self.warn_with(element, WarningCode::UnknownDropped, || {
                let of = element.name();
                format!("attribute `{name}` of `{of}` is beyond what is kept of a file; dropped")
            });
        }
    }

    /// Reads past an element that the schema does not know, and keeps it.
    pub(super) fn unknown(&mut self, element: &Element<'a>) -> Result<()> {
        self.unknown_after(element, None)
    }

    /// As [`unknown`](Self::unknown); in an element of text, behind some bytes of it.
    pub(super) fn unknown_after(
        &mut self,
        element: &Element<'a>,
        after: Option<usize>,
    ) -> Result<()> {
        self.warn_with(element, WarningCode::UnknownElement, || {
            format!("element `{}` is not FrameNet's; kept as it stands", element.name())
        });
        self.elements = self.elements.saturating_sub(1);
        self.skip()?;
        let (owner, children) = self.take_back_child();
        let after = after.map_or(children, |bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
        let end = self.position();
        if !self.notes.content(owner, after, element.place(), end) {
            self.warn_with(element, WarningCode::UnknownDropped, || {
                format!("element `{}` is beyond what is kept of a file; dropped", element.name())
            });
        }
        Ok(())
    }

    /// Keeps a text that stands where FrameNet has elements only.
    pub(super) fn unknown_text(&mut self, piece: &str) {
        self.warn_here(WarningCode::UnknownText, || {
            let shown = start_of(piece.trim());
            format!("text `{shown}` stands between elements; kept as it stands")
        });
        let (owner, after) = self.inside();
        let (from, to) = self.text_read();
        if !self.notes.content(owner, after, from, to) {
            self.warn_here(WarningCode::UnknownDropped, || {
                let shown = start_of(piece.trim());
                format!("text `{shown}` is beyond what is kept of a file; dropped")
            });
        }
    }

    /// The element that is being read: where its start tag is, and the children so far.
    fn inside(&self) -> (usize, u32) {
        let (offset, children) = self.open.last().copied().unwrap_or_default();
        (tag_at(self.at.content, offset), children)
    }

    /// As [`inside`](Self::inside), when the last child turned out to be none of FrameNet's.
    fn take_back_child(&mut self) -> (usize, u32) {
        if let Some((_, children)) = self.open.last_mut() {
            *children = children.saturating_sub(1);
        }
        self.inside()
    }

    /// Where the text lies that was read last, without white space around it.
    fn text_read(&self) -> (usize, usize) {
        let (from, to) = (tag_at(self.at.content, self.at.offset), self.position());
        let text = self.at.content.get(from..to).unwrap_or_default();
        (from, from + text.trim_end().len())
    }

    /// What was kept, once the file is read; warns of what had no room. What could not stand in a
    /// file again is not XML.
    pub(super) fn foreign(&mut self) -> Result<Foreign> {
        for Noted { what, owner } in &self.notes.noted {
            let (fault, place) = match what {
                What::Attribute(attribute) if is_xml_name(&attribute.name) => continue,
                What::Attribute(attribute) => {
                    let name = attribute.name.escape_debug();
                    (format!("`{name}`, which is no name in XML"), *owner)
                }
                What::Content { from, to, .. } => {
                    let piece = self.at.content.get(*from..*to).unwrap_or_default();
                    match fragment_fault(piece) {
                        Some(fault) => (fault, *from),
                        None => continue,
                    }
                }
            };
            return Err(self.at.moved(place).malformed(fault));
        }
        let (foreign, lost) = std::mem::take(&mut self.notes).locate(self.content());
        for _ in 0..lost {
            self.warn_here(WarningCode::UnknownDropped, || {
                "what is not FrameNet's is beyond what is kept of a file; dropped".to_owned()
            });
        }
        Ok(foreign)
    }
}
