//! How well frames are identified.
//!
//! Two questions. With gold targets: is the frame right, where the span is given? Without: are
//! spans and frames both right, exactly? The first is apart for targets that are forms of LUs of
//! several frames, and for LUs that training never saw.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::features::WordSpan;
use crate::align::Counts;

/// How well frames are identified in some sentences. In counts of gold targets, `right` over `gold`
/// is the accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Sentences with a target.
    pub sentences: u64,
    /// Spans with their frames.
    pub spans: Counts,
    /// Spans alone, whatever their frames.
    pub spans_alone: Counts,
    /// Frames at gold targets, those of the lexicon's LUs where it has one of the form.
    pub targets: Counts,
    /// So of targets whose form is one of LUs of several frames.
    pub ambiguous: Counts,
    /// So of targets whose LU is of no target of the training documents.
    pub unseen: Counts,
    /// Frames at gold targets among all frames: without the lexicon.
    pub unfiltered: Counts,
    /// Targets for which the lexicon has no LU of their frame with that form.
    pub uncovered: u64,
}

/// An LU by the names of its frame and its own.
pub type LexunitName = (Arc<str>, Arc<str>);

/// What was found at a gold target.
#[derive(Debug, Clone, Copy)]
pub(super) struct AtTarget<'a> {
    /// Its frame; none for one that the network does not know.
    pub(super) gold: Option<usize>,
    /// Its LU.
    pub(super) lexunit: &'a LexunitName,
    /// The likeliest frame with the lexicon, and without it.
    pub(super) found: Option<[usize; 2]>,
    /// The frames of the LUs that it is a form of.
    pub(super) candidates: &'a [usize],
}

impl Figures {
    /// Counts a gold target; `seen` are the LUs of the training data.
    pub(super) fn add_target(&mut self, target: AtTarget<'_>, seen: &HashSet<LexunitName>) {
        let is_right = |way: usize| {
            let found = target.found.map(|found| found[way]);
            found.is_some() && found == target.gold
        };
        let count = |counts: &mut Counts, is_right: bool| {
            counts.gold += 1;
            counts.predicted += 1;
            counts.right += u64::from(is_right);
        };
        count(&mut self.targets, is_right(0));
        count(&mut self.unfiltered, is_right(1));
        if target.candidates.len() > 1 {
            count(&mut self.ambiguous, is_right(0));
        }
        if !seen.contains(target.lexunit) {
            count(&mut self.unseen, is_right(0));
        }
        let is_covered = target.gold.is_some_and(|gold| target.candidates.contains(&gold));
        self.uncovered += u64::from(!is_covered);
    }

    /// Counts the spans of a sentence; a gold target without a span of words or a frame that is
    /// known has none here.
    pub(super) fn add_spans(
        &mut self,
        gold: &[(Option<WordSpan>, Option<usize>)],
        found: &[(WordSpan, usize)],
    ) {
        self.sentences += 1;
        let spans: HashSet<WordSpan> = gold.iter().filter_map(|(span, _)| *span).collect();
        let pairs: HashSet<(WordSpan, usize)> =
            gold.iter().filter_map(|(span, frame)| Some(((*span)?, (*frame)?))).collect();
        for counts in [&mut self.spans, &mut self.spans_alone] {
            counts.gold += gold.len() as u64;
            counts.predicted += found.len() as u64;
        }
        self.spans.right += found.iter().filter(|pair| pairs.contains(pair)).count() as u64;
        self.spans_alone.right +=
            found.iter().filter(|(span, _)| spans.contains(span)).count() as u64;
    }

    /// What a better epoch has more of: accuracy at gold targets and F1 of spans with frames,
    /// weighed alike.
    pub(super) fn merit(&self) -> f64 {
        self.targets.recall() + self.spans.f1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexunit(name: &str) -> LexunitName {
        (Arc::from("F"), Arc::from(name))
    }

    #[test]
    fn targets_count_by_ambiguity_and_by_what_training_saw() {
        let seen = HashSet::from([lexunit("check.v")]);
        let mut figures = Figures::default();
        let mut add = |gold, name, found, candidates: &[usize]| {
            let lexunit = &lexunit(name);
            figures.add_target(AtTarget { gold, lexunit, found, candidates }, &seen);
        };
        add(Some(1), "check.v", Some([1, 2]), &[1]);
        add(Some(1), "check.v", Some([3, 1]), &[1, 3]);
        add(Some(4), "look.v", Some([4, 4]), &[4, 5]);
        add(None, "look.v", Some([4, 4]), &[]);
        add(Some(4), "look.v", None, &[]);
        let of = |counts: Counts| (counts.right, counts.gold);
        assert_eq!(of(figures.targets), (2, 5));
        assert_eq!(of(figures.unfiltered), (2, 5));
        assert_eq!(of(figures.ambiguous), (1, 2));
        assert_eq!(of(figures.unseen), (1, 3));
        assert_eq!(figures.uncovered, 2);
    }

    #[test]
    fn spans_are_right_when_both_ends_and_the_frame_are() {
        let span = |first, len| WordSpan { first, len };
        let mut figures = Figures::default();
        let gold = [(Some(span(0, 1)), Some(7)), (Some(span(2, 2)), Some(8)), (None, Some(8))];
        figures.add_spans(&gold, &[(span(0, 1), 7), (span(2, 1), 8), (span(2, 2), 9)]);
        assert_eq!(figures.spans, Counts { right: 1, predicted: 3, gold: 3 });
        assert_eq!(figures.spans_alone, Counts { right: 2, predicted: 3, gold: 3 });
        assert_eq!(figures.sentences, 1);
    }
}
