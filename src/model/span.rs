//! Half-open stretches of a sentence's text.
//!
//! Inside the crate an offset is always a UTF-8 byte offset. FrameNet's XML counts characters and
//! includes the end; `framenet/` converts once on the way in. JSON counts code points; `text/`
//! converts on the way out.

use serde::{Deserialize, Serialize};

/// A half-open stretch `start..end` of a text, in UTF-8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span `start..end`.
    ///
    /// # Panics
    /// If `end < start`.
    #[must_use]
    pub fn new(start: u32, end: u32) -> Self {
        assert!(start <= end, "a span ends where it starts or later: {start}..{end}");
        Self { start, end }
    }

    /// Where a part of a text stands for the first time.
    ///
    /// ```
    /// # use fnstore::model::Span;
    /// let text = "\u{c9}mile checked it.";
    /// assert_eq!(Span::of_part(text, "checked").and_then(|span| span.of(text)), Some("checked"));
    /// assert_eq!(Span::of_part(text, "looked"), None);
    /// ```
    #[must_use]
    pub fn of_part(text: &str, part: &str) -> Option<Self> {
        let start = text.find(part)?;
        let place = |at: usize| u32::try_from(at).ok();
        Some(Self { start: place(start)?, end: place(start + part.len())? })
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether the span covers nothing.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether the two spans share at least one byte.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The covered text, or `None` when the span lies outside `text` or cuts a character.
    #[must_use]
    pub fn of(self, text: &str) -> Option<&str> {
        text.get(self.start as usize..self.end as usize)
    }
}

/// A target of one piece, where several are taken.
impl From<Span> for Vec<Span> {
    fn from(span: Span) -> Self {
        vec![span]
    }
}
