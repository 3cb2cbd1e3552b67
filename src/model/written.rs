//! Numbers of a release that the store cannot hold as they are written.
//!
//! FrameNet's numbers are kept. Other releases write ids of thirteen digits, ids with letters, or
//! none at all, and use one number for two records. Such an id is kept as a text, and a *fresh
//! number* stands for it in records and keys. It is a hash of what it stands for, so two imports
//! agree. It lies in a range that no release's own numbers enter. One table for each release says
//! what a fresh number is written as.

use std::collections::BTreeMap;

use super::OWN_RANGE;
use super::named::named;

named! {
    /// What a number of FrameNet's files is the number of.
    #[repr(u8)]
    #[allow(missing_docs, reason = "each is what its name says")]
    pub enum NumberKind {
        Frame = 1 => "frame",
        FrameElement => "fe",
        LexUnit => "lu",
        SemType => "sem_type",
        Relation => "relation",
        /// A pair of FEs that a relation maps.
        FeRelation => "fe_relation",
        /// A kind of frame relation.
        RelationType => "relation_type",
        Corpus => "corpus",
        Document => "document",
        Sentence => "sentence",
        AnnotationSet => "set",
        Construction => "construction",
        Lemma => "lemma",
        /// The first or last character of a label.
        Offset => "offset",
    }
}

impl NumberKind {
    /// The kind of that code, as it stands in keys.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u32 == code)
    }

    /// Bits of a fresh number below its first: sentences and sets have 56 bits, the rest 31 below
    /// the store's own range.
    fn fresh_bits(self) -> u32 {
        match self {
            Self::Sentence | Self::AnnotationSet => 48,
            _ => 30,
        }
    }

    /// The first fresh number.
    #[must_use]
    pub fn first_fresh(self) -> u64 {
        1 << self.fresh_bits()
    }

    /// Whether a number is a fresh one.
    #[must_use]
    pub fn is_fresh(self, number: u64) -> bool {
        (self.first_fresh()..2 * self.first_fresh()).contains(&number)
    }

    /// First of the numbers that are too large.
    fn end(self) -> u64 {
        match self {
            Self::Sentence | Self::AnnotationSet => 1 << 56,
            _ => OWN_RANGE.into(),
        }
    }

    /// The number that is written as this text, digit by digit, unless it is too large or lies
    /// where fresh ones do.
    #[must_use]
    pub fn plain(self, text: &str) -> Option<u64> {
        let is_canonical = text == "0"
            || !text.starts_with('0') && text.bytes().all(|letter| letter.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_canonical)?;
        (number < self.end() && !self.is_fresh(number)).then_some(number)
    }

    /// Whether a number is one that no release gives: of the store's own range, or the whole
    /// integer of a sentence or a set.
    #[must_use]
    pub fn is_own(self, number: u64) -> bool {
        match self {
            Self::Sentence | Self::AnnotationSet => (1 << 56..4 << 56).contains(&number),
            Self::Offset => false,
            _ => (OWN_RANGE.into()..=u32::MAX.into()).contains(&number),
        }
    }

    /// The number that no release gives and that is written as this text, digit by digit.
    #[must_use]
    pub fn own(self, text: &str) -> Option<u64> {
        let number: u64 = text.parse().ok()?;
        (self.is_own(number) && number.to_string() == text).then_some(number)
    }

    /// The fresh number of what is written as `text`, and told apart by `beside`, where no other
    /// has it.
    pub(super) fn hashed(self, text: &str, beside: &str) -> u64 {
        let key = format!("{} {text}\0{beside}", self.as_str());
        let hash = blake3::hash(key.as_bytes());
        let low = hash.as_bytes()[..8].iter().fold(0, |low, byte| low << 8 | u64::from(*byte));
        self.first_fresh() + low % self.first_fresh()
    }

    fn after(self, number: u64) -> u64 {
        self.first_fresh() + (number + 1) % self.first_fresh()
    }
}

/// What a fresh number stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WrittenNumber {
    /// The id as a file writes it; empty where a file gives none.
    pub text: String,
    /// What tells records of one written id apart, as a rule their name; empty where the id does.
    pub beside: String,
}

/// What the fresh numbers of a release are written as.
///
/// ```
/// use fnstore::model::{NumberKind, WrittenNumbers};
///
/// let mut numbers = WrittenNumbers::default();
/// let number = numbers.number_of(NumberKind::LexUnit, "1298076n", "");
/// assert_eq!(numbers.text(NumberKind::LexUnit, number), Some("1298076n"));
/// assert_eq!(numbers.number_of(NumberKind::LexUnit, "1207", ""), 1207);
/// assert_eq!(numbers.text(NumberKind::LexUnit, 1207), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenNumbers {
    numbers: BTreeMap<(NumberKind, u64), WrittenNumber>,
}

impl WrittenNumbers {
    /// What a number is written as; `None` for one that is written as it is.
    #[must_use]
    pub fn text(&self, kind: NumberKind, number: u64) -> Option<&str> {
        if self.numbers.is_empty() {
            return None;
        }
        self.numbers.get(&(kind, number)).map(|written| written.text.as_str())
    }

    /// Whether a number stands for a record that only its name tells from another of its id.
    #[must_use]
    pub fn is_told_apart(&self, kind: NumberKind, number: u64) -> bool {
        self.numbers.get(&(kind, number)).is_some_and(|written| !written.beside.is_empty())
    }

    /// The numbers of a kind that are written so, in order.
    pub fn written_as(&self, kind: NumberKind, text: &str) -> impl Iterator<Item = u64> {
        let of_kind = self.numbers.range((kind, 0)..=(kind, u64::MAX));
        of_kind.filter(move |(_, written)| written.text == text).map(|((_, number), _)| *number)
    }

    /// The number that stands for an id written as `text`, or for the record that `beside` tells
    /// from another of that id; a fresh one is taken down.
    pub fn number_of(&mut self, kind: NumberKind, text: &str, beside: &str) -> u64 {
        if let Some(plain) = kind.plain(text).filter(|_| beside.is_empty()) {
            return plain;
        }
        match self.find(kind, text, beside) {
            Ok(number) => number,
            Err(number) => {
                let written = WrittenNumber { text: text.to_owned(), beside: beside.to_owned() };
                self.numbers.insert((kind, number), written);
                number
            }
        }
    }

    /// The fresh number of an id, or `Err` with the one that it would get.
    pub fn find(&self, kind: NumberKind, text: &str, beside: &str) -> Result<u64, u64> {
        Self::find_in(&[self], kind, text, beside)
    }

    /// As [`find`](Self::find), in tables that together say what numbers stand for.
    pub fn find_in(
        tables: &[&Self],
        kind: NumberKind,
        text: &str,
        beside: &str,
    ) -> Result<u64, u64> {
        let there = |number| tables.iter().find_map(|table| table.numbers.get(&(kind, number)));
        let mut number = kind.hashed(text, beside);
        while let Some(written) = there(number) {
            if (written.text.as_str(), written.beside.as_str()) == (text, beside) {
                return Ok(number);
            }
            number = kind.after(number);
        }
        Err(number)
    }

    /// Takes down what a number stands for. `false`, and nothing changes, when it stands for
    /// something else already.
    pub fn insert(&mut self, kind: NumberKind, number: u64, written: WrittenNumber) -> bool {
        *self.numbers.entry((kind, number)).or_insert_with(|| written.clone()) == written
    }

    /// Takes over what another table says. `false`, and nothing changes, when a number stands for
    /// something else there.
    pub fn merge(&mut self, other: &Self) -> bool {
        let agrees = |(key, written)| self.numbers.get(key).is_none_or(|there| there == written);
        if !other.numbers.iter().all(agrees) {
            return false;
        }
        self.numbers.extend(other.numbers.iter().map(|(key, value)| (*key, value.clone())));
        true
    }

    /// Everything, by kind and number.
    pub fn iter(&self) -> impl Iterator<Item = (NumberKind, u64, &WrittenNumber)> {
        self.numbers.iter().map(|((kind, number), written)| (*kind, *number, written))
    }

    /// Whether every number is written as it is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_framenet_is_itself_and_any_other_text_gets_a_fresh_one() {
        let mut numbers = WrittenNumbers::default();
        assert_eq!(numbers.number_of(NumberKind::Frame, "0", ""), 0);
        assert_eq!(numbers.number_of(NumberKind::Frame, "1073741823", ""), (1 << 30) - 1);
        assert!(numbers.is_empty());
        let odd = ["", "007", "+7", "-1", "7n", " 7", "1073741824", "4294967296", "1234567890123"];
        for text in odd {
            let number = numbers.number_of(NumberKind::Frame, text, "");
            assert!(NumberKind::Frame.is_fresh(number), "{text}: {number}");
            assert!(number < u64::from(crate::model::OWN_RANGE));
            assert_eq!(numbers.text(NumberKind::Frame, number), Some(text));
            assert_eq!(numbers.number_of(NumberKind::Frame, text, ""), number, "the same again");
        }
        assert_eq!(numbers.iter().count(), odd.len());
        assert_eq!(numbers.number_of(NumberKind::Sentence, "4294967296", ""), 1 << 32);
        assert_eq!(numbers.number_of(NumberKind::Sentence, "72057594037927935", ""), (1 << 56) - 1);
        let long = numbers.number_of(NumberKind::Sentence, "72057594037927936", "");
        assert!(NumberKind::Sentence.is_fresh(long));
    }

    #[test]
    fn records_of_one_number_are_told_apart_by_name() {
        let mut numbers = WrittenNumbers::default();
        let one = numbers.number_of(NumberKind::FrameElement, "7", "Agent");
        let other = numbers.number_of(NumberKind::FrameElement, "7", "Goal");
        assert_ne!(one, other);
        let found: Vec<u64> = numbers.written_as(NumberKind::FrameElement, "7").collect();
        assert_eq!(found, [one.min(other), one.max(other)]);
        assert_eq!(numbers.find(NumberKind::FrameElement, "7", "Goal"), Ok(other));
        let free = NumberKind::LexUnit.hashed("7", "Goal");
        assert_eq!(numbers.find(NumberKind::LexUnit, "7", "Goal"), Err(free));
    }

    #[test]
    fn two_texts_of_one_hash_get_two_numbers_in_any_table_that_has_the_first() {
        let kind = NumberKind::LexUnit;
        let mut seen = BTreeMap::new();
        let twins = (0_u64..).find_map(|number| {
            let text = format!("n{number}");
            let twin = seen.insert(kind.hashed(&text, ""), text.clone())?;
            Some((twin, text))
        });
        let (first, second) = twins.unwrap();
        let mut table = WrittenNumbers::default();
        let number = table.number_of(kind, &first, "");
        let mut alone = WrittenNumbers::default();
        assert_eq!(alone.number_of(kind, &second, ""), number);
        assert!(!table.merge(&alone), "one number for two texts");
        let other = table.number_of(kind, &second, "");
        assert_eq!(other, kind.after(number));
        assert_eq!(table.text(kind, number), Some(first.as_str()));
        assert_eq!(table.text(kind, other), Some(second.as_str()));
    }

    #[test]
    fn kinds_read_back_from_names_and_codes() {
        for kind in NumberKind::ALL {
            assert_eq!(NumberKind::parse(kind.as_str()), Some(kind));
            assert_eq!(NumberKind::from_code(kind as u32), Some(kind));
        }
        assert_eq!(NumberKind::parse("verb"), None);
        assert_eq!(NumberKind::from_code(0), None);
    }
}
