//! Numbers and names of a file, whatever stands in their place.
//!
//! A release that is not Berkeley's may give an id letters, thirteen digits or nothing at all, use
//! one for two records, and leave names empty. None of that ends a reading: ids become numbers by
//! the rules of [`WrittenNumbers`], and what was odd is a warning.

use std::collections::HashSet;
use std::fmt::Display;
use std::str::FromStr;

use super::element::Element;
use super::xml::XmlFile;
use super::{Result, WarningCode};
use crate::model::{NumberKind, is_invisible};

impl<'a> XmlFile<'a> {
    /// The number in the attribute of that name. One that is not there is told apart by `name`, the
    /// name of what it should number.
    pub(super) fn id(
        &mut self,
        element: &Element<'a>,
        kind: NumberKind,
        attribute: &str,
        name: &str,
    ) -> Result<u64> {
        let text = element.value(attribute)?.unwrap_or_default();
        Ok(self.id_in(element, kind, (attribute, &text), name))
    }

    /// As [`id`](Self::id), of a kind that has 32 bits.
    pub(super) fn short_id(
        &mut self,
        element: &Element<'a>,
        kind: NumberKind,
        attribute: &str,
        name: &str,
    ) -> Result<u32> {
        self.id(element, kind, attribute, name).map(short)
    }

    /// The number in an attribute, when that is there.
    pub(super) fn optional_id(
        &mut self,
        element: &Element<'a>,
        kind: NumberKind,
        attribute: &str,
    ) -> Result<Option<u32>> {
        let text = element.value(attribute)?;
        Ok(text.and_then(|text| self.optional_id_in(element, kind, (attribute, &text))))
    }

    /// The number that an attribute with this text holds; none where the text is empty.
    pub(super) fn optional_id_in(
        &mut self,
        element: &Element<'a>,
        kind: NumberKind,
        (attribute, text): (&str, &str),
    ) -> Option<u32> {
        if text.is_empty() {
            self.warn_empty(element, attribute);
            return None;
        }
        Some(short(self.id_in(element, kind, (attribute, text), "")))
    }

    fn warn_empty(&mut self, element: &Element<'a>, attribute: &str) {
        self.warn_with(element, WarningCode::UnreadableValue, || {
            format!("`{attribute}` of `{}` is empty; kept for exports", element.name())
        });
        self.keep_attribute(element, attribute, String::new(), "");
    }

    /// The number that an attribute with this text holds.
    pub(super) fn id_in(
        &mut self,
        element: &Element<'a>,
        kind: NumberKind,
        (attribute, text): (&str, &str),
        name: &str,
    ) -> u64 {
        if let Some(plain) = self.numbers.plain(kind, text) {
            return plain;
        }
        let number = self.numbers.number_of(kind, text, if text.is_empty() { name } else { "" });
        self.warn_with(element, WarningCode::IdWritten, || {
            let of = element.name();
            match text {
                "" => format!("`{of}` has no `{attribute}`; number {number} stands for it"),
                _ => format!(
                    "`{attribute}` of `{of}` is `{text}`; kept as written, number {number} stands \
                     for it"
                ),
            }
        });
        number
    }

    /// The number of a character, or one that lies outside every text for what is none.
    pub(super) fn offset_in(
        &mut self,
        element: &Element<'a>,
        (attribute, text): (&str, &str),
    ) -> Option<u32> {
        if text.is_empty() {
            self.warn_empty(element, attribute);
            return None;
        }
        let plain = NumberKind::Offset.plain(text);
        let number = || self.numbers.number_of(NumberKind::Offset, text, "");
        Some(short(plain.unwrap_or_else(number)))
    }

    /// The number of a character as it is written.
    pub(super) fn offset(&self, number: u32) -> String {
        let written = self.numbers.text(NumberKind::Offset, number.into());
        written.map_or(number.to_string(), str::to_owned)
    }

    /// A fresh number for a record whose `number` an earlier one of the file has; the name tells
    /// them apart. `taken` are the numbers that records of the file have; this one is added.
    pub(super) fn own_id(
        &mut self,
        element: &Element<'a>,
        kind: NumberKind,
        (number, name): (u32, &str),
        taken: &mut HashSet<u32>,
    ) -> u32 {
        if taken.insert(number) {
            return number;
        }
        let text = self.numbers.text(kind, number.into()).map_or(number.to_string(), str::to_owned);
        let mut apart = std::mem::take(&mut self.numbers.apart);
        let own = apart.find(kind, &text, name, |beside| {
            let own = short(self.numbers.number_of(kind, &text, beside));
            taken.insert(own).then_some(own)
        });
        self.numbers.apart = apart;
        self.warn_with(element, WarningCode::IdRepeated, || {
            let of = element.name();
            format!("`{of}` `{name}` has the number {text} of an earlier one; kept as {own}")
        });
        own
    }

    /// The number of the record that is called `name`, where several have the number `number`.
    pub(super) fn called(&self, kind: NumberKind, number: u32, name: &str) -> Option<u32> {
        if self.numbers.is_empty() {
            return None;
        }
        let text = self.numbers.text(kind, number.into()).map_or(number.to_string(), str::to_owned);
        self.numbers.find(kind, &text, name).ok().map(short)
    }

    /// The number in an attribute that counts or orders; `None` where it is not there, or none.
    pub(super) fn count<N: FromStr + Display>(
        &mut self,
        element: &Element<'a>,
        attribute: &str,
    ) -> Result<Option<N>> {
        let Some(text) = element.value(attribute)? else { return Ok(None) };
        let number: Option<N> = text.parse().ok();
        if let Some(number) = &number
            && text.starts_with(['0', '+'])
            && text.len() > 1
        {
            self.keep_attribute(element, attribute, text.into_owned(), &number.to_string());
        } else if number.is_none() {
            self.warn_with(element, WarningCode::UnreadableValue, || {
                format!(
                    "`{attribute}` of `{}` is `{text}`, no such number; kept for exports",
                    element.name()
                )
            });
            self.keep_attribute(element, attribute, text.into_owned(), "");
        }
        Ok(number)
    }

    /// What an attribute says that is true or false; what is neither counts as false.
    pub(super) fn flag(&mut self, element: &Element<'a>, name: &str, text: String) -> Result<bool> {
        let value = flag(&text);
        if value.is_none() {
            let detail = format!("`{name}` is `{text}`; read as `false`");
            self.warn(element, WarningCode::UnreadableValue, detail);
        }
        let value = value.unwrap_or(false);
        if text != value.to_string() {
            self.keep_attribute(element, name, text, &value.to_string());
        }
        Ok(value)
    }

    /// The name in an attribute; empty where it is not there.
    pub(super) fn name(&mut self, element: &Element<'a>, attribute: &str) -> Result<String> {
        let name = element.attribute(attribute)?;
        let is_plain = |name: &str| name.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let is_usual = |name: &String| {
            !name.trim().is_empty() && (is_plain(name) || !name.contains(is_invisible))
        };
        if !name.as_ref().is_some_and(is_usual) {
            self.warn_with(element, WarningCode::NameUnusual, || match &name {
                None => format!("`{}` has no `{attribute}`; kept as an empty one", element.name()),
                Some(name) => {
                    let (of, name) = (element.name(), shown(name));
                    format!("`{attribute}` of `{of}` is `{name}`, which does not show; kept")
                }
            });
        }
        Ok(name.unwrap_or_default())
    }
}

/// A number of a kind that has 32 bits.
fn short(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What a flag says, as XML Schema writes it in any case; `None` for what is none.
pub(super) fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// A name with what does not show spelled out.
fn shown(name: &str) -> String {
    let spelled = |letter: char| match letter {
        letter if is_invisible(letter) => letter.escape_unicode().to_string(),
        letter => letter.to_string(),
    };
    name.chars().map(spelled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_read_as_xml_schema_writes_them_in_any_case() {
        for (text, value) in [
            ("true", Some(true)),
            ("TRUE", Some(true)),
            ("1", Some(true)),
            ("False", Some(false)),
            ("0", Some(false)),
            ("yes", None),
            ("", None),
        ] {
            assert_eq!(flag(text), value, "{text}");
        }
    }
}
