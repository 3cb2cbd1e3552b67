//! Stretches of words, and those of a paraphrase that may answer to a source span.
//!
//! Culkin et al. 2021, section 4.1: candidates are all spans of the paraphrase whose length is
//! within `k` of the source span's (k = 5). Lengths count words here.

use crate::model::Span;

/// A half-open stretch `start..end` of a sequence of words.
///
/// ```
/// use fnstore::align::WordSpan;
///
/// let (found, gold) = (WordSpan::new(3, 4), WordSpan::new(2, 4));
/// assert_eq!((found.shared(gold), found.distance(gold)), (1, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WordSpan {
    /// First word.
    pub start: u32,
    /// One past the last word.
    pub end: u32,
}

impl WordSpan {
    /// The span `start..end`.
    #[must_use]
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Length in words.
    #[must_use]
    pub fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// Whether the span holds no word.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// Number of words that both spans hold.
    #[must_use]
    pub fn shared(self, other: Self) -> u32 {
        self.end.min(other.end).saturating_sub(self.start.max(other.start))
    }

    /// `d(a, b) = |a1 - b1| + |a2 - b2|` (Culkin et al. 2021, section 4.1).
    #[must_use]
    pub fn distance(self, other: Self) -> u32 {
        self.start.abs_diff(other.start) + self.end.abs_diff(other.end)
    }

    /// The words of the span, for indexing.
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The words that lie in a stretch of text, whose words these are; empty when it holds none whole.
pub(super) fn word_span(words: &[Span], span: Span) -> WordSpan {
    let start = words.partition_point(|word| word.start < span.start);
    let end = words.partition_point(|word| word.end <= span.end);
    WordSpan::new(start as u32, end as u32)
}

/// Candidate spans in a paraphrase of `target_words` words for a source span of `source_length`
/// words: by start, then by end.
pub fn candidates(source_length: u32, target_words: u32, k: u32) -> impl Iterator<Item = WordSpan> {
    let shortest = source_length.saturating_sub(k).max(1);
    let longest = source_length + k;
    (0..target_words).flat_map(move |start| {
        let ends = start + shortest..=(start + longest).min(target_words);
        ends.map(move |end| WordSpan { start, end })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_paraphrase_gives_all_its_spans() {
        let all: Vec<_> = candidates(1, 3, 5).map(|span| (span.start, span.end)).collect();
        assert_eq!(all, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        assert_eq!(candidates(2, 0, 5).count(), 0);
    }

    #[test]
    fn lengths_stay_within_k_of_the_source() {
        let lengths: Vec<_> = candidates(8, 20, 5).map(WordSpan::len).collect();
        assert_eq!((lengths.iter().min(), lengths.iter().max()), (Some(&3), Some(&13)));
    }

    #[test]
    fn distance_and_overlap_count_words() {
        let (a, b) = (WordSpan::new(2, 5), WordSpan::new(4, 9));
        assert_eq!((a.distance(b), a.shared(b), b.shared(a)), (6, 1, 1));
        assert_eq!(WordSpan::new(0, 2).shared(a), 0);
    }

    proptest! {
        #[test]
        fn candidates_are_exactly_the_spans_of_allowed_length(
            source in 1_u32..12, words in 0_u32..15, k in 0_u32..7
        ) {
            let found: Vec<_> = candidates(source, words, k).collect();
            let mut expected = Vec::new();
            for start in 0..words {
                for end in start + 1..=words {
                    if (end - start).abs_diff(source) <= k {
                        expected.push(WordSpan { start, end });
                    }
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
