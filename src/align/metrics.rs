//! Precision, recall and F1 of span alignment.
//!
//! As in Culkin et al. 2021, section 4.3: *exact* counts spans, *soft* counts words, micro-averaged
//! over all items. P = right / predicted, R = right / gold; where nothing is predicted, an item
//! lowers recall only, and a span predicted where there is none lowers precision only.

use serde::{Deserialize, Serialize};

use super::candidates::WordSpan;
use super::error::TooLong;

/// Counts from which precision, recall and F1 follow.
///
/// ```
/// use fnstore::align::Counts;
///
/// let counts = Counts { right: 3, predicted: 4, gold: 6 };
/// assert_eq!((counts.precision(), counts.recall(), counts.f1()), (0.75, 0.5, 0.6));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Spans (or words) that are both predicted and gold; of two annotators, that both marked.
    pub right: u64,
    /// Spans (or words) predicted; of two annotators, that the one marked.
    pub predicted: u64,
    /// Spans (or words) of the gold alignment; of two annotators, that the other marked.
    pub gold: u64,
}

impl Counts {
    /// Share of the predicted that is right; 0 when nothing is predicted.
    #[must_use]
    pub fn precision(&self) -> f64 {
        ratio(self.right, self.predicted)
    }

    /// Share of the gold that is found; 0 when there is none.
    #[must_use]
    pub fn recall(&self) -> f64 {
        ratio(self.right, self.gold)
    }

    /// Harmonic mean of precision and recall.
    #[must_use]
    pub fn f1(&self) -> f64 {
        ratio(2 * self.right, self.predicted + self.gold)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Exact and soft counts over a set of items.
///
/// ```
/// use fnstore::align::{Agreement, WordSpan};
///
/// let mut agreement = Agreement::default();
/// agreement.add(Some(WordSpan::new(0, 2)), Some(WordSpan::new(1, 2)));
/// assert_eq!((agreement.exact.right, agreement.soft.right), (0, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Agreement {
    /// Counts of spans.
    pub exact: Counts,
    /// Counts of words.
    pub soft: Counts,
}

impl Agreement {
    /// Adds one item.
    pub fn add(&mut self, predicted: Option<WordSpan>, gold: Option<WordSpan>) {
        if let Some(gold) = gold {
            self.exact.gold += 1;
            self.soft.gold += u64::from(gold.len());
        }
        if let Some(predicted) = predicted {
            self.exact.predicted += 1;
            self.soft.predicted += u64::from(predicted.len());
            if let Some(gold) = gold {
                self.exact.right += u64::from(predicted == gold);
                self.soft.right += u64::from(predicted.shared(gold));
            }
        }
    }
}

/// How well an aligner does on a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AlignmentReport {
    /// All items.
    pub all: Agreement,
    /// Items whose two spans differ in wording.
    pub changed: Agreement,
    /// Items whose two spans are worded alike.
    pub identical: Agreement,
    /// Items without an aligned span: those answered so are right.
    #[serde(default)]
    pub unaligned: Counts,
    /// Items whose gold span is among the candidates.
    pub covered: u64,
    /// Items that the aligner could not read. Their spans are not found, and they are not among
    /// those answered to have none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unanswered: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl AlignmentReport {
    /// Adds one item; `covered` says whether its gold span was among the candidates. An item
    /// without a gold span counts among all, but neither as changed nor as identical.
    pub fn add(
        &mut self,
        predicted: Option<WordSpan>,
        gold: Option<WordSpan>,
        changed: bool,
        covered: bool,
    ) {
        self.add_answer(Ok(predicted), gold, changed, covered);
    }

    /// Adds one item as [`add`](Self::add) does, or one that could not be read.
    pub fn add_answer(
        &mut self,
        found: Result<Option<WordSpan>, TooLong>,
        gold: Option<WordSpan>,
        changed: bool,
        covered: bool,
    ) {
        let predicted = found.ok().flatten();
        let said_none = found == Ok(None);
        self.all.add(predicted, gold);
        self.unanswered += u64::from(found.is_err());
        self.unaligned.predicted += u64::from(said_none);
        if gold.is_none() {
            self.unaligned.gold += 1;
            self.unaligned.right += u64::from(said_none);
            return;
        }
        let part = if changed { &mut self.changed } else { &mut self.identical };
        part.add(predicted, gold);
        self.covered += u64::from(covered);
    }
}

/// The threshold that gives the best exact F1, and that F1: items scored below it count as not
/// aligned. `scored` holds the score of each item's best span and whether it is the gold one;
/// `gold` is the number of items that have a gold span.
///
/// Of thresholds that do equally well the lowest is taken; 0 keeps everything.
#[must_use]
pub fn best_threshold(scored: &[(f32, bool)], gold: u64) -> (f32, f64) {
    let mut ascending = scored.to_vec();
    ascending.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut predicted = scored.len() as u64;
    let mut right = scored.iter().filter(|(_, right)| *right).count() as u64;
    let mut best = (0.0, ratio(2 * right, predicted + gold));
    for (dropped, &(score, was_right)) in ascending.iter().enumerate() {
        right -= u64::from(was_right);
        predicted -= 1;
        let Some(&(next, _)) = ascending.get(dropped + 1) else { break };
        if next > score {
            let f1 = ratio(2 * right, predicted + gold);
            if f1 > best.1 {
                best = (next, f1);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_counts_words_and_exact_counts_spans() {
        let mut report = AlignmentReport::default();
        report.add(Some(WordSpan::new(1, 3)), Some(WordSpan::new(2, 4)), true, true);
        report.add(Some(WordSpan::new(0, 1)), Some(WordSpan::new(0, 1)), false, true);
        report.add(None, Some(WordSpan::new(5, 6)), true, false);
        let soft = report.all.soft;
        assert_eq!(soft, Counts { right: 2, predicted: 3, gold: 4 });
        assert!((soft.f1() - 4.0 / 7.0).abs() < 1e-12);
        assert_eq!(report.changed.exact, Counts { right: 0, predicted: 1, gold: 2 });
        assert_eq!(report.identical.exact.f1(), 1.0);
        assert_eq!(report.covered, 2);
    }

    #[test]
    fn items_without_an_aligned_span_cost_precision_when_one_is_given() {
        let mut report = AlignmentReport::default();
        report.add(Some(WordSpan::new(1, 3)), None, true, false);
        report.add(None, None, true, false);
        report.add(None, Some(WordSpan::new(0, 1)), false, true);
        assert_eq!(report.all.exact, Counts { right: 0, predicted: 1, gold: 1 });
        assert_eq!(report.all.soft, Counts { right: 0, predicted: 2, gold: 1 });
        assert_eq!(report.changed, Agreement::default());
        assert_eq!(report.unaligned, Counts { right: 1, predicted: 2, gold: 2 });
    }

    #[test]
    fn an_item_that_is_not_read_lowers_recall_and_is_no_answer() {
        let too_long = TooLong { side: "`target` is", pieces: 9, limit: 8 };
        let mut report = AlignmentReport::default();
        report.add_answer(Err(too_long), Some(WordSpan::new(0, 2)), true, true);
        report.add_answer(Err(too_long), None, true, false);
        report.add(None, None, true, false);
        assert_eq!(report.changed.exact, Counts { right: 0, predicted: 0, gold: 1 });
        assert_eq!(report.unaligned, Counts { right: 1, predicted: 1, gold: 2 });
        assert_eq!((report.unanswered, report.covered), (2, 1));
        let json = serde_json::to_string(&AlignmentReport::default()).unwrap();
        assert!(!json.contains("unanswered"), "{json}");
    }

    #[test]
    fn nothing_at_all_scores_zero() {
        let counts = Counts::default();
        assert_eq!((counts.precision(), counts.recall(), counts.f1()), (0.0, 0.0, 0.0));
        assert_eq!(best_threshold(&[], 0), (0.0, 0.0));
    }

    #[test]
    fn the_threshold_drops_what_is_mostly_wrong() {
        // Without the two wrong items F1 rises from 2*2/8 to 2*2/6.
        let scored = [(0.9, true), (0.2, false), (0.8, true), (0.1, false)];
        let (threshold, f1) = best_threshold(&scored, 4);
        assert_eq!(threshold, 0.8);
        assert!((f1 - 4.0 / 6.0).abs() < 1e-12);
        assert_eq!(best_threshold(&[(0.5, true), (0.4, true)], 2).0, 0.0);
        // Two of four have no gold span: without them nothing is wrong.
        assert_eq!(best_threshold(&scored, 2), (0.8, 1.0));
    }

    #[test]
    fn items_of_equal_score_are_kept_or_dropped_together() {
        let (threshold, _) = best_threshold(&[(0.3, false), (0.3, true), (0.9, true)], 3);
        assert!(threshold == 0.0 || threshold == 0.9);
    }
}
