//! A value that an annotation set has of a field: what is shown, counted and compared.

use std::cmp::Ordering;
use std::fmt;

use crate::model::{AnnotationSetId, SentenceId};
use crate::text::{composed, fold_letter};

/// A value of a field.
///
/// Values of one field are of one kind. They are ordered as people expect it: texts without regard
/// to case and to how letters are composed, then as they are written; numbers by value; ids by
/// origin and number.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A name, a word or a text.
    Text(String),
    /// A whole number.
    Integer(u64),
    /// A score.
    Number(f32),
    /// An annotation set.
    Set(AnnotationSetId),
    /// A sentence.
    Sentence(SentenceId),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => number.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Set(id) => id.fmt(f),
            Self::Sentence(id) => id.fmt(f),
        }
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        let kind = |value: &Self| match value {
            Self::Text(_) => 0,
            Self::Integer(_) => 1,
            Self::Number(_) => 2,
            Self::Set(_) => 3,
            Self::Sentence(_) => 4,
        };
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => {
                let (one, other) = (composed(a), composed(b));
                folded(&one).cmp(folded(&other)).then_with(|| a.cmp(b))
            }
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Set(a), Self::Set(b)) => a.cmp(b),
            (Self::Sentence(a), Self::Sentence(b)) => a.cmp(b),
            _ => kind(self).cmp(&kind(other)),
        }
    }
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(fold_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_ordered_as_people_expect() {
        let text = |text: &str| Value::Text(text.to_owned());
        let mut texts = ["b", "B", "a", "\u{c9}", "C", ""].map(text);
        texts.sort();
        assert_eq!(texts.map(|text| text.to_string()), ["", "a", "B", "b", "C", "\u{c9}"]);
        let mut texts = ["f", "e\u{301}", "\u{e9}", "e\u{301}a"].map(text);
        texts.sort();
        assert_eq!(texts.map(|text| text.to_string()), ["f", "e\u{301}", "\u{e9}", "e\u{301}a"]);
        let mut numbers = [10, 9, 100].map(Value::Integer);
        numbers.sort();
        assert_eq!(numbers.map(|number| number.to_string()), ["9", "10", "100"]);
        assert!(Value::Number(-0.5) < Value::Number(0.25));
        assert_eq!(Value::Number(0.95).to_string(), "0.95");
    }
}
