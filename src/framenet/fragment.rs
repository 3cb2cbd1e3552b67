//! Pieces of XML that are kept as they stand, and what they must be to stand in a file again.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::place::{MAX_FOREIGN_DEPTH, not_xml};
use crate::model::{is_xml, is_xml_name};

/// Why a piece of XML cannot stand between the elements of a file, or in the text of one; `None`
/// for one that can.
#[must_use]
pub fn fragment_fault(xml: &str) -> Option<String> {
    Fragment::default().read(xml).err()
}

/// How far a piece is read.
#[derive(Default)]
struct Fragment {
    depth: usize,
}

impl Fragment {
    fn read(&mut self, xml: &str) -> Result<(), String> {
        if not_xml(xml).is_some() {
            return Err("a character that XML does not have".to_owned());
        }
        let mut reader = Reader::from_str(xml);
        let config = reader.config_mut();
        config.check_comments = true;
        config.expand_empty_elements = true;
        loop {
            match reader.read_event().map_err(|error| error.to_string())? {
                Event::Start(start) => self.start(&start)?,
                Event::End(_) => self.depth = self.depth.saturating_sub(1),
                Event::Text(piece) if piece.contains("]]>") => {
                    return Err("`]]>` in a text".to_owned());
                }
                Event::GeneralRef(reference) => {
                    let name = reference.xml10_content();
                    let letter = reference.resolve_char_ref().map_err(|error| error.to_string())?;
                    let entity = quick_xml::escape::resolve_predefined_entity(&name);
                    if letter.map_or(entity.is_none(), |letter| !is_xml(letter)) {
                        return Err(format!("the entity `&{name};`, which nothing declares"));
                    }
                }
                Event::PI(piece) if piece.target().eq_ignore_ascii_case("xml") => {
                    return Err("an XML declaration".to_owned());
                }
                Event::PI(piece) => check_name(piece.target())?,
                Event::Decl(_) => return Err("an XML declaration".to_owned()),
                Event::DocType(_) => return Err("a document type declaration".to_owned()),
                Event::Eof if self.depth > 0 => {
                    return Err("an element without an end".to_owned());
                }
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_FOREIGN_DEPTH {
            return Err(format!("elements nested more than {MAX_FOREIGN_DEPTH} deep"));
        }
        check_name(start.name().into_inner())?;
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| error.to_string())?;
            check_name(attribute.key.into_inner())?;
            if attribute.value.contains('<') {
                return Err("`<` in an attribute".to_owned());
            }
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            if !value.map_err(|error| error.to_string())?.chars().all(is_xml) {
                return Err("a character that XML does not have".to_owned());
            }
        }
        Ok(())
    }
}

fn check_name(name: &str) -> Result<(), String> {
    if is_xml_name(name) {
        return Ok(());
    }
    Err(format!("`{}`, which is no name in XML", name.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_may_hold_between_elements_is_a_piece() {
        for xml in [
            "",
            " a &amp; &#x41; b ",
            "<a/>",
            "<x:a b=\"1\" c='2'><!-- - --><?p q?><![CDATA[<]]>\u{e9}</x:a> and <b></b>",
        ] {
            assert_eq!(fragment_fault(xml), None, "{xml}");
        }
        let deep = |depth| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
        assert_eq!(fragment_fault(&deep(MAX_FOREIGN_DEPTH)), None);
        assert!(fragment_fault(&deep(MAX_FOREIGN_DEPTH + 1)).unwrap().contains("nested"));
    }

    #[test]
    fn what_would_make_its_file_unreadable_is_none() {
        for (xml, part) in [
            ("<a>", "without an end"),
            ("</a>", ""),
            ("</sentence><sentence>", ""),
            ("<a><b></a></b>", ""),
            ("<1a/>", "`1a`, which is no name"),
            ("<a b=\"1\" b=\"2\"/>", ""),
            ("<a b=\"<\"/>", "`<` in an attribute"),
            ("<a b=1/>", ""),
            ("<a -b=\"1\"/>", "no name"),
            ("&odd;", "`&odd;`, which nothing declares"),
            ("&#1;", "`&#1;`"),
            ("a & b", ""),
            ("]]>", "`]]>`"),
            ("<!-- a -- b -->", ""),
            ("<?xml version=\"1.0\"?>", "XML declaration"),
            ("<!DOCTYPE a>", "document type"),
            ("\u{1}", "a character"),
            ("<a", ""),
        ] {
            let fault = fragment_fault(xml);
            assert!(fault.as_ref().is_some_and(|fault| fault.contains(part)), "{xml}: {fault:?}");
        }
    }
}
