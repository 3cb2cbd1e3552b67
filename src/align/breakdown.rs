//! How well an aligner does on which spans.
//!
//! Culkin et al. 2021, section 4.6, takes its test set apart three ways, and so does this:
//!
//! ```text
//! Figure 4       length in words of the source span, of the gold span, of the span found
//! Figure 5       d(source, gold), the difference in position, in bins of five
//! Memorization   source spans that were seen in training, and those that were not
//! ```

use std::collections::HashSet;

use serde::Serialize;

use super::candidates::WordSpan;
use super::data::AlignedSpan;
use super::error::TooLong;
use super::metrics::{Agreement, AlignmentReport};

/// Spans of this length and longer ones share a bin.
pub const LONGEST: u32 = 8;

/// Width of the bins of distances (Figure 5's).
pub const DISTANCE_BIN: u32 = 5;

/// Number of bins of distances; the last one holds all that is further.
pub const DISTANCE_BINS: usize = 8;

/// Some of the items, and how well the aligner does on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Bin {
    /// Number of items.
    pub items: u64,
    /// Spans and words right, predicted and gold.
    pub agreement: Agreement,
}

impl Bin {
    fn add(&mut self, found: Option<WordSpan>, gold: Option<WordSpan>) {
        self.items += 1;
        self.agreement.add(found, gold);
    }
}

/// Spans of one kind by their length in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Lengths {
    /// Number of spans.
    pub spans: u64,
    /// Words in all of them.
    pub words: u64,
    /// Spans of more than one word.
    pub multiword: u64,
    /// The items whose span of this kind has one word, two words, ... [`LONGEST`] or more.
    pub bins: [Bin; LONGEST as usize],
}

impl Lengths {
    fn add(&mut self, span: WordSpan, found: Option<WordSpan>, gold: Option<WordSpan>) {
        self.spans += 1;
        self.words += u64::from(span.len());
        self.multiword += u64::from(span.len() > 1);
        self.bins[span.len().clamp(1, LONGEST) as usize - 1].add(found, gold);
    }

    /// Mean length in words; 0 of no spans.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.words as f64 / self.spans.max(1) as f64
    }

    /// Share of the spans that have more than one word; 0 of no spans.
    #[must_use]
    pub fn multiword_share(&self) -> f64 {
        self.multiword as f64 / self.spans.max(1) as f64
    }
}

/// The wording of source spans, case aside: what a head that was trained on them may know by heart.
#[derive(Debug, Clone, Default)]
pub struct SeenSpans(HashSet<String>);

impl SeenSpans {
    /// The source spans of a data set.
    #[must_use]
    pub fn of(items: &[AlignedSpan]) -> Self {
        Self(items.iter().map(wording).collect())
    }

    /// Whether an item's source span is worded as one of these.
    #[must_use]
    pub fn contains(&self, item: &AlignedSpan) -> bool {
        self.0.contains(&wording(item))
    }
}

fn wording(item: &AlignedSpan) -> String {
    crate::text::fold(&item.source[item.source_span.range()].join(" "))
}

/// What an aligner found in a data set, compared with the gold spans and taken apart.
///
/// ```
/// use fnstore::align::{AlignedSpan, Breakdown, WordSpan};
///
/// let line = r#"{"id":"a","source":["it","grew"],"source_span":[1,2],
///                "target":["it","rose"],"target_span":[1,2],"changed":true}"#;
/// let items: Vec<AlignedSpan> = vec![serde_json::from_str(line)?];
/// let breakdown = Breakdown::new(&items, &[Ok(Some(WordSpan::new(1, 2)))], 5, None);
/// assert_eq!(breakdown.report.changed.exact.f1(), 1.0);
/// assert_eq!(breakdown.source.bins[0].items, 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Breakdown {
    /// All items.
    pub report: AlignmentReport,
    /// Items whose source span was seen in training, and those whose was not; none where it is not
    /// known what was seen.
    pub novelty: Option<[AlignmentReport; 2]>,
    /// Source spans by their length.
    pub source: Lengths,
    /// Gold spans by their length.
    pub gold: Lengths,
    /// Spans found by their length.
    pub found: Lengths,
    /// Items with a gold span by the difference of its position to the source span's
    /// ([`WordSpan::distance`]): below [`DISTANCE_BIN`], below twice that, and so on.
    pub distances: [Bin; DISTANCE_BINS],
}

impl Breakdown {
    /// Compares what was `found` for each item that could be read. Candidates are within `k` words
    /// of the source span's length ([`AlignmentReport::covered`] counts by it).
    ///
    /// # Panics
    /// When there are not as many answers as items.
    #[must_use]
    pub fn new(
        items: &[AlignedSpan],
        found: &[Result<Option<WordSpan>, TooLong>],
        k: u32,
        seen: Option<&SeenSpans>,
    ) -> Self {
        assert_eq!(items.len(), found.len(), "each item has its answer");
        let mut breakdown = Self {
            report: AlignmentReport::default(),
            novelty: seen.map(|_| [AlignmentReport::default(); 2]),
            source: Lengths::default(),
            gold: Lengths::default(),
            found: Lengths::default(),
            distances: [Bin::default(); DISTANCE_BINS],
        };
        for (item, &found) in items.iter().zip(found) {
            breakdown.add(item, found, k, seen);
        }
        breakdown
    }

    fn add(
        &mut self,
        item: &AlignedSpan,
        answer: Result<Option<WordSpan>, TooLong>,
        k: u32,
        seen: Option<&SeenSpans>,
    ) {
        let gold = item.target_span;
        let covered = gold.is_some_and(|gold| gold.len().abs_diff(item.source_span.len()) <= k);
        self.report.add_answer(answer, gold, item.changed, covered);
        if let (Some(parts), Some(seen)) = (&mut self.novelty, seen) {
            let part = &mut parts[usize::from(!seen.contains(item))];
            part.add_answer(answer, gold, item.changed, covered);
        }
        let found = answer.ok().flatten();
        self.source.add(item.source_span, found, gold);
        if let Some(span) = found {
            self.found.add(span, found, gold);
        }
        if let Some(span) = gold {
            self.gold.add(span, found, gold);
            let bin = (span.distance(item.source_span) / DISTANCE_BIN) as usize;
            self.distances[bin.min(DISTANCE_BINS - 1)].add(found, gold);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(source: (u32, u32), target: Option<(u32, u32)>) -> AlignedSpan {
        let words = |prefix: &str| (0..60).map(|at| format!("{prefix}{at}")).collect();
        AlignedSpan {
            id: "a".to_owned(),
            source: words("s"),
            source_span: WordSpan::new(source.0, source.1),
            target: words("t"),
            target_span: target.map(|(start, end)| WordSpan::new(start, end)),
            changed: true,
        }
    }

    #[test]
    fn each_item_counts_by_the_length_of_each_of_its_spans() {
        let items = [item((0, 1), Some((0, 2))), item((4, 16), Some((4, 5))), item((2, 3), None)];
        let found = [Ok(Some(WordSpan::new(0, 2))), Ok(None), Ok(Some(WordSpan::new(9, 10)))];
        let breakdown = Breakdown::new(&items, &found, 5, None);
        assert_eq!((breakdown.source.spans, breakdown.source.words), (3, 14));
        assert_eq!((breakdown.source.mean(), breakdown.found.multiword_share()), (14.0 / 3.0, 0.5));
        // Long spans share the last bin.
        assert_eq!(breakdown.source.bins[LONGEST as usize - 1].items, 1);
        assert_eq!(breakdown.gold.bins.map(|bin| bin.items)[..3], [1, 1, 0]);
        assert_eq!(breakdown.gold.bins[1].agreement.exact.f1(), 1.0);
        assert_eq!(breakdown.gold.bins[0].agreement.exact.recall(), 0.0);
        // The span found where there is none is wrong in the bin of its length.
        assert_eq!(breakdown.found.bins[0].agreement.exact.predicted, 1);
        assert_eq!(breakdown.found.bins[0].agreement.exact.right, 0);
        assert_eq!((breakdown.report.covered, breakdown.novelty), (1, None));
    }

    #[test]
    fn bins_of_distance_are_five_wide_and_the_last_is_open() {
        let items = [
            item((0, 1), Some((2, 3))),
            item((0, 1), Some((3, 3 + 1))),
            item((0, 1), Some((50, 51))),
            item((0, 1), None),
        ];
        let found: Vec<_> = items.iter().map(|item| Ok(item.target_span)).collect();
        let breakdown = Breakdown::new(&items, &found, 5, None);
        let mut want = [0; DISTANCE_BINS];
        (want[0], want[1], want[DISTANCE_BINS - 1]) = (1, 1, 1);
        assert_eq!(breakdown.distances.map(|bin| bin.items), want);
    }

    #[test]
    fn source_spans_are_seen_whatever_their_case_and_place() {
        let mut shouted = item((3, 5), None);
        shouted.source[3] = "S7".to_owned();
        shouted.source[4] = "s8".to_owned();
        let seen = SeenSpans::of(&[item((7, 9), None)]);
        let items = [shouted, item((7, 8), None), item((7, 9), Some((1, 2)))];
        let breakdown = Breakdown::new(&items, &[Ok(None); 3], 5, Some(&seen));
        let [known, new] = breakdown.novelty.unwrap();
        assert_eq!((known.unaligned.gold, new.unaligned.gold), (1, 1));
        assert_eq!(known.all.exact.gold, 1);
    }
}
