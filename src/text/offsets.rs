//! Byte offsets to code point offsets and back.
//!
//! Inside the crate an offset counts UTF-8 bytes ([`Span`]); JSON, Python and FrameNet's XML count
//! code points. [`CharIndex`] is built once per text and converts any number of spans. For an
//! ASCII text, which most are, it holds nothing and both counts are equal.
//!
//! Law: `to_bytes(to_chars(s)) == s` for every span `s` that lies on character boundaries.

use crate::model::{Span, coded};

/// A half-open stretch `start..end` of a text, in Unicode code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CharSpan {
    /// First code point.
    pub start: u32,
    /// One past the last code point.
    pub end: u32,
}

/// A span that does not fit its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OffsetError {
    /// The span ends after the text, or before it starts.
    #[error(
        "cannot place span `{start}..{end}`: expected start <= end <= {length}, the length of the text in {unit}"
    )]
    Outside {
        /// First unit of the span.
        start: u32,
        /// One past its last unit.
        end: u32,
        /// Length of the text in the same unit.
        length: u32,
        /// `bytes` or `code points`.
        unit: &'static str,
    },
    /// A byte offset lies inside a character.
    #[error(
        "cannot place byte offset `{offset}`: it cuts a character; expected an offset on a character boundary"
    )]
    CutsCharacter {
        /// The offset.
        offset: u32,
    },
}

coded!(OffsetError {});

/// The character boundaries of one text.
///
/// ```
/// use fnstore::model::Span;
/// use fnstore::text::{CharIndex, CharSpan};
///
/// let index = CharIndex::new("na\u{ef}ve idea");
/// assert_eq!(index.to_chars(Span::new(7, 11))?, CharSpan { start: 6, end: 10 });
/// assert_eq!(index.to_bytes(CharSpan { start: 6, end: 10 })?, Span::new(7, 11));
/// # Ok::<(), fnstore::text::OffsetError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CharIndex {
    bytes: u32,
    /// Byte offset of every code point and of the end; empty for an ASCII text.
    boundaries: Vec<u32>,
}

impl CharIndex {
    /// Reads a text once. Costs 4 bytes per code point unless the text is ASCII.
    ///
    /// # Panics
    /// If the text is 4 GiB long or longer: spans hold `u32`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let bytes = u32::try_from(text.len()).expect("a sentence is shorter than 4 GiB");
        let boundaries = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().map(|(at, _)| at as u32).chain([bytes]).collect()
        };
        Self { bytes, boundaries }
    }

    /// Length of the text in code points.
    #[must_use]
    pub fn chars(&self) -> u32 {
        if self.boundaries.is_empty() { self.bytes } else { self.boundaries.len() as u32 - 1 }
    }

    /// The span in code points.
    ///
    /// # Errors
    /// When the span reaches beyond the text or cuts a character.
    pub fn to_chars(&self, span: Span) -> Result<CharSpan, OffsetError> {
        let Span { start, end } = span;
        if start > end || end > self.bytes {
            return Err(OffsetError::Outside { start, end, length: self.bytes, unit: "bytes" });
        }
        Ok(CharSpan { start: self.char_at(start)?, end: self.char_at(end)? })
    }

    /// The span in bytes.
    ///
    /// # Errors
    /// When the span reaches beyond the text or ends before it starts.
    pub fn to_bytes(&self, span: CharSpan) -> Result<Span, OffsetError> {
        let CharSpan { start, end } = span;
        if start > end || end > self.chars() {
            let length = self.chars();
            return Err(OffsetError::Outside { start, end, length, unit: "code points" });
        }
        if self.boundaries.is_empty() {
            return Ok(Span::new(start, end));
        }
        Ok(Span::new(self.boundaries[start as usize], self.boundaries[end as usize]))
    }

    fn char_at(&self, offset: u32) -> Result<u32, OffsetError> {
        if self.boundaries.is_empty() {
            return Ok(offset);
        }
        let found = self.boundaries.binary_search(&offset);
        found.map(|at| at as u32).map_err(|_| OffsetError::CutsCharacter { offset })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_astral_character_is_one_code_point_and_a_combining_mark_another() {
        let text = "\u{1F600} e\u{301}t";
        let index = CharIndex::new(text);
        assert_eq!(index.chars(), 5);
        assert_eq!(index.to_chars(Span::new(5, 8)), Ok(CharSpan { start: 2, end: 4 }));
    }

    #[test]
    fn a_span_outside_the_text_is_refused_in_either_unit() {
        let index = CharIndex::new("abc");
        let error = index.to_chars(Span::new(1, 4)).unwrap_err();
        assert!(error.to_string().contains("`1..4`"));
        for (start, end) in [(2, 1), (0, 4)] {
            let outside = OffsetError::Outside { start, end, length: 3, unit: "code points" };
            assert_eq!(index.to_bytes(CharSpan { start, end }), Err(outside));
        }
    }

    #[test]
    fn a_byte_offset_inside_a_character_is_refused() {
        let index = CharIndex::new("\u{e9}t\u{e9}");
        assert_eq!(index.to_chars(Span::new(0, 1)), Err(OffsetError::CutsCharacter { offset: 1 }));
    }

    proptest! {
        #[test]
        fn byte_spans_survive_the_way_to_code_points_and_back(
            text in "\\PC{0,12}", a in 0_usize..13, b in 0_usize..13
        ) {
            let index = CharIndex::new(&text);
            let at: Vec<u32> =
                text.char_indices().map(|(i, _)| i as u32).chain([text.len() as u32]).collect();
            let (a, b) = (a.min(at.len() - 1), b.min(at.len() - 1));
            let span = Span::new(at[a.min(b)], at[a.max(b)]);
            let chars = index.to_chars(span).unwrap();
            prop_assert_eq!(chars, CharSpan { start: a.min(b) as u32, end: a.max(b) as u32 });
            prop_assert_eq!(index.to_bytes(chars).unwrap(), span);
        }
    }
}
