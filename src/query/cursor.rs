//! A place between two answers of a query, where the next page begins.

use std::fmt;
use std::str::FromStr;

use super::{Case, Expression, Pattern, QueryError, SortKey, Value};
use crate::model::{AnnotationSetId, FrameId, LuId, ReleaseId, SentenceId};

/// Where a page of answers ended: what its last answer is ordered by, and where that is kept.
///
/// It is a place, not an answer: it stays good when that answer is edited or removed, or others are
/// added, and the next page begins behind it. It belongs to one expression in one letter case and
/// order, of one store, under one split list. Written as text it has neither spaces nor characters
/// that shells look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// Which query, in which order.
    query: u32,
    pub(crate) place: Place,
    /// The values that are compared before the place.
    pub(crate) values: Vec<Option<Value>>,
}

/// Where an annotation set is kept: its release, frame, LU, sentence and id.
pub(crate) type Place = (ReleaseId, FrameId, LuId, SentenceId, AnnotationSetId);

impl Cursor {
    pub(crate) fn new(asked: Question<'_>, place: Place, values: Vec<Option<Value>>) -> Self {
        Self { query: asked.mark(), place, values }
    }

    /// Refuses a cursor that another query gave, or the same one in another order or of another
    /// store: answers would be left out.
    pub(crate) fn require(&self, asked: Question<'_>) -> Result<(), QueryError> {
        let is_own = self.query == asked.mark() && self.values.len() == asked.sort.len();
        is_own.then_some(()).ok_or_else(|| QueryError::ForeignCursor { cursor: self.to_string() })
    }
}

/// What a cursor belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) expression: &'a Expression,
    pub(crate) sort: &'a [SortKey],
    /// Of what it is asked: the store, and the split list.
    pub(crate) of: &'a [u8],
}

impl Question<'_> {
    /// The same for the same question, in every build.
    fn mark(self) -> u32 {
        let mut hash = blake3::Hasher::new();
        hash.update(self.expression.to_string().as_bytes());
        // The text of an expression does not tell its letter case.
        for term in self.expression.terms() {
            let is_sensitive = |pattern: &Pattern| pattern.case() == Case::Sensitive;
            hash.update(&[u8::from(term.test.patterns().any(is_sensitive))]);
        }
        for key in self.sort {
            hash.update(if key.descending { b"\0-" } else { b"\0+" });
            hash.update(key.field.name().as_bytes());
        }
        hash.update(self.of);
        let [a, b, c, d, ..] = *hash.finalize().as_bytes();
        u32::from_be_bytes([a, b, c, d])
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (release, frame, lu, sentence, set) = &self.place;
        write!(f, "{:08x}.{release}.{frame}.{lu}.{sentence}.{set}", self.query)?;
        for value in &self.values {
            match value {
                None => f.write_str(".-")?,
                Some(Value::Text(text)) => {
                    f.write_str(".t")?;
                    text.bytes().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                }
                Some(Value::Integer(number)) => write!(f, ".i{number}")?,
                Some(Value::Number(number)) => write!(f, ".n{:08x}", number.to_bits())?,
                Some(Value::Set(id)) => write!(f, ".s{id}")?,
                Some(Value::Sentence(id)) => write!(f, ".e{id}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Cursor {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        read(text).ok_or_else(|| QueryError::Cursor { cursor: text.to_owned() })
    }
}

fn read(text: &str) -> Option<Cursor> {
    let mut parts = text.split('.');
    let mark = parts.next().filter(|mark| mark.len() == 8)?;
    let query = u32::from_str_radix(mark, 16).ok()?;
    let place = (
        ReleaseId(parts.next()?.parse().ok()?),
        FrameId(parts.next()?.parse().ok()?),
        LuId(parts.next()?.parse().ok()?),
        SentenceId::parse(parts.next()?)?,
        AnnotationSetId::parse(parts.next()?)?,
    );
    Some(Cursor { query, place, values: parts.map(read_value).collect::<Option<_>>()? })
}

fn read_value(text: &str) -> Option<Option<Value>> {
    if text == "-" {
        return Some(None);
    }
    let (kind, rest) = text.split_at_checked(1)?;
    let value = match kind {
        "t" => Value::Text(String::from_utf8(bytes(rest)?).ok()?),
        "i" => Value::Integer(rest.parse().ok()?),
        "n" => Value::Number(f32::from_bits(u32::from_str_radix(rest, 16).ok()?)),
        "s" => Value::Set(AnnotationSetId::parse(rest)?),
        "e" => Value::Sentence(SentenceId::parse(rest)?),
        _ => return None,
    };
    Some(Some(value))
}

fn bytes(hexadecimal: &str) -> Option<Vec<u8>> {
    let digits = hexadecimal.as_bytes();
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let pair = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::IdSpace;
    use proptest::prelude::*;

    fn cursor(expression: &str, values: Vec<Option<Value>>) -> Cursor {
        let keys = SortKey::parse_list("frame,-aligner").unwrap();
        let sentence = SentenceId::new(IdSpace::FullText, 7);
        let set = AnnotationSetId::new(IdSpace::Generated, 9);
        let place = (ReleaseId(1), FrameId(2), LuId(3), sentence, set);
        let expression = Expression::parse(expression).unwrap();
        Cursor::new(Question { expression: &expression, sort: &keys, of: b"store" }, place, values)
    }

    #[test]
    fn a_cursor_reads_back_with_every_kind_of_value() {
        let set = AnnotationSetId::new(IdSpace::Exemplar, 4);
        let values = [Value::Integer(3), Value::Number(-0.5), Value::Set(set)].map(Some);
        let texts = ["", "\u{e9}t\u{e9}. - x"].map(|text| Some(Value::Text(text.to_owned())));
        let all = values.into_iter().chain(texts).chain([None]).collect();
        let one = cursor("frame=Checking", all);
        assert_eq!(one.to_string().parse(), Ok(one));
    }

    #[test]
    fn a_cursor_belongs_to_its_expression_case_order_and_store() {
        let parse = |text| Expression::parse(text).unwrap();
        let keys = |text| SortKey::parse_list(text).unwrap();
        let own = cursor("frame=A", vec![None, None]);
        let require = |expression: &Expression, keys: &[SortKey], of: &[u8]| {
            own.require(Question { expression, sort: keys, of })
        };
        assert_eq!(require(&parse("frame=A"), &keys("frame,-aligner"), b"store"), Ok(()));
        let sensitive = Expression::parse_with("frame=A", Case::Sensitive).unwrap();
        for (expression, sort, of) in [
            (parse("frame=B"), keys("frame,-aligner"), b"store"),
            (parse("frame=A"), keys("frame,aligner"), b"store"),
            (parse("frame=A"), Vec::new(), b"store"),
            (sensitive, keys("frame,-aligner"), b"store"),
            (parse("frame=A"), keys("frame,-aligner"), b"other"),
        ] {
            let error = require(&expression, &sort, of).unwrap_err();
            assert!(matches!(error, QueryError::ForeignCursor { .. }), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC*", tail in "[.a-z0-9-]*") {
            let _ = text.parse::<Cursor>();
            let _ = format!("00000000.1.2.3.x4.x5.{tail}").parse::<Cursor>();
        }
    }
}
