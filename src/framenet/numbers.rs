//! Numbers and names of a file, whatever stands in their place.
//!
//! A release that is not Berkeley's may give an id letters, thirteen digits or nothing at all, use one
//! for two records, and leave names empty. None of that ends a reading: ids become numbers by the rules of
//! [`WrittenNumbers`], and what was odd is a warning.

use std::str::FromStr;

use super::xml::{Element, XmlFile};
use super::{Result, WarningCode};
use crate::model::{NumberKind, WrittenNumber, WrittenNumbers, is_invisible};

/// What the fresh numbers of a file stand for.
pub(super) struct FileNumbers<'a> {
    /// Those that earlier files of the release gave.
    earlier: &'a WrittenNumbers,
    /// The others.
    pub(super) own: WrittenNumbers,
}

impl<'a> FileNumbers<'a> {
    pub(super) fn new(earlier: &'a WrittenNumbers) -> Self {
        Self { earlier, own: WrittenNumbers::default() }
    }

    fn is_empty(&self) -> bool {
        self.earlier.is_empty() && self.own.is_empty()
    }

    fn text(&self, kind: NumberKind, number: u64) -> Option<&str> {
        self.earlier.text(kind, number).or_else(|| self.own.text(kind, number))
    }

    /// The number of what is written so, if something is.
    fn find(&self, kind: NumberKind, text: &str, beside: &str) -> std::result::Result<u64, u64> {
        WrittenNumbers::find_in(&[self.earlier, &self.own], kind, text, beside)
    }

    fn number_of(&mut self, kind: NumberKind, text: &str, beside: &str) -> u64 {
        let number = match self.find(kind, text, beside) {
            Ok(number) => return number,
            Err(number) => number,
        };
        let written = WrittenNumber { text: text.to_owned(), beside: beside.to_owned() };
        self.own.insert(kind, number, written);
        number
    }
}

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
        let text = element.attribute(attribute)?.unwrap_or_default();
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
        let text = element.attribute(attribute)?;
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
        if let Some(plain) = kind.plain(text) {
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

    /// A number of its own for a record whose `number` an earlier one of the file has, told apart by
    /// name; `taken` says which numbers records of the file have.
    pub(super) fn own_id(
        &mut self,
        element: &Element<'a>,
        kind: NumberKind,
        (number, name): (u32, &str),
        taken: impl Fn(u32) -> bool,
    ) -> u32 {
        if !taken(number) {
            return number;
        }
        let text = self.numbers.text(kind, number.into()).map_or(number.to_string(), str::to_owned);
        let mut own = number;
        for beside in told_apart(name) {
            own = short(self.numbers.number_of(kind, &text, &beside));
            if !taken(own) {
                break;
            }
        }
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
    pub(super) fn count<N: FromStr>(
        &mut self,
        element: &Element<'a>,
        attribute: &str,
    ) -> Result<Option<N>> {
        let Some(text) = element.attribute(attribute)? else { return Ok(None) };
        let number = text.parse().ok();
        if number.is_none() {
            self.warn_with(element, WarningCode::UnreadableValue, || {
                format!(
                    "`{attribute}` of `{}` is `{text}`, no such number; kept for exports",
                    element.name()
                )
            });
            self.keep_attribute(element, attribute, text, "");
        }
        Ok(number)
    }

    /// The name in an attribute; empty where it is not there.
    pub(super) fn name(&mut self, element: &Element<'a>, attribute: &str) -> Result<String> {
        let name = element.attribute(attribute)?;
        let is_usual = |name: &String| !name.trim().is_empty() && !name.contains(is_invisible);
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

/// Texts by which records of one number are told apart: their names, and a count where these are the
/// same or empty.
pub(crate) fn told_apart(name: &str) -> impl Iterator<Item = String> + '_ {
    let counted = (2_usize..).map(move |time| format!("{name} ({time})"));
    Some(name.to_owned()).filter(|name| !name.is_empty()).into_iter().chain(counted)
}

/// A number of a kind that has 32 bits.
fn short(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A name with what does not show spelled out.
fn shown(name: &str) -> String {
    let spelled = |letter: char| match letter {
        letter if is_invisible(letter) => letter.escape_unicode().to_string(),
        letter => letter.to_string(),
    };
    name.chars().map(spelled).collect()
}
