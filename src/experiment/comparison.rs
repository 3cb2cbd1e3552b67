//! Arms side by side: mean and deviation over the draws, and the gain over the plain arm.

use super::ledger::Training;
use super::paired::{deviation, mean, paired_t};
use crate::model::{Amount, Fraction, Positive};

/// Name of the arm that learns from human sets alone, with which the others are compared.
pub(super) const PLAIN: &str = "plain";

/// The name of a measure, and what figures say of it.
pub(super) type Measure<F> = (&'static str, fn(&F) -> f64);

/// How an arm does by one measure, over all draws of a share.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Comparison {
    /// Percent of the training sentences that is drawn; with `+`, exemplars are beside them.
    pub share: String,
    /// What is added to the draw; nothing for `plain`.
    /// JSON `{"enum": ["plain", "augmented", "p", "r", "agreement", "substitution", "generated",
    /// "human"]}`.
    pub arm: String,
    /// What is measured.
    pub measure: &'static str,
    /// Sentences of full text that were learnt from.
    pub sentences: usize,
    /// Exemplars beside them.
    pub exemplars: usize,
    /// Annotation sets that the arm added, mean over the draws.
    pub added: Amount,
    /// Draws.
    pub resamples: Positive<usize>,
    /// Mean of the measure over the draws.
    pub mean: Fraction,
    /// Its standard deviation; none for one draw.
    pub deviation: Option<Amount>,
    /// Mean less that of `plain` on the same draws; null for `plain`.
    /// JSON `{"type": ["number", "null"], "minimum": -1, "maximum": 1}`.
    pub gain: Option<f64>,
    /// Paired t statistic of the gain; null for `plain`, for one draw, and where all draws gain the
    /// same.
    pub t: Option<f64>,
    /// Two-sided p of that test; null for `plain` and for one draw.
    pub p_value: Option<Fraction>,
    /// The measure on each draw.
    pub runs: Vec<Fraction>,
}

/// Compares trainings: a row for each share, arm and measure, in the order in which they first
/// occur. Draws of which an arm or the plain one lacks a training are left out of its gain.
pub(super) fn compare<F>(trainings: &[Training<F>], measures: &[Measure<F>]) -> Vec<Comparison> {
    let mut cells: Vec<(&str, &str)> = Vec::new();
    for training in trainings {
        let cell = (&*training.key.share, &*training.key.arm);
        if !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    let mut rows = Vec::new();
    for (share, arm) in cells {
        let of = |arm: &str| -> Vec<&Training<F>> {
            let of = trainings.iter().filter(|t| t.key.share == share && t.key.arm == arm);
            let mut of: Vec<_> = of.collect();
            of.sort_by_key(|training| training.key.resample);
            of
        };
        let (plain, runs) = (of(PLAIN), of(arm));
        for (measure, value) in measures {
            rows.push(row((share, arm, measure), &plain, &runs, value));
        }
    }
    rows
}

fn row<F>(
    (share, arm, measure): (&str, &str, &'static str),
    plain: &[&Training<F>],
    runs: &[&Training<F>],
    value: impl Fn(&F) -> f64,
) -> Comparison {
    let pairs = runs.iter().filter_map(|run| {
        let of_draw = |plain: &&&Training<F>| plain.key.resample == run.key.resample;
        Some((value(&plain.iter().find(of_draw)?.figures), value(&run.figures)))
    });
    let (before, after): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let is_compared = arm != PLAIN && !after.is_empty();
    let values: Vec<f64> = runs.iter().map(|run| value(&run.figures)).collect();
    let added: Vec<f64> = runs.iter().map(|run| run.added as f64).collect();
    let test = if is_compared { paired_t(&before, &after) } else { None };
    Comparison {
        share: share.to_owned(),
        arm: arm.to_owned(),
        measure,
        sentences: runs.first().map_or(0, |run| run.sentences),
        exemplars: runs.first().map_or(0, |run| run.exemplars),
        added: mean(&added),
        resamples: values.len(),
        mean: mean(&values),
        deviation: deviation(&values),
        gain: is_compared.then(|| mean(&after) - mean(&before)),
        t: test.map(|test| test.t),
        p_value: test.map(|test| test.p),
        runs: values,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ledger::Key;
    use super::*;

    fn training(arm: &str, resample: usize, figures: f64, added: usize) -> Training<f64> {
        let key = Key { share: "10".to_owned(), arm: arm.to_owned(), resample };
        Training { key, sentences: 4, exemplars: 0, added, figures, agreed: Vec::new() }
    }

    #[test]
    fn an_arm_is_compared_with_the_plain_one_draw_by_draw() {
        // The second draw of the plain arm was done last, as after a resumption.
        let trainings = [
            training(PLAIN, 0, 0.50, 0),
            training("augmented", 0, 0.51, 10),
            training("augmented", 1, 0.63, 12),
            training(PLAIN, 1, 0.60, 0),
        ];
        let rows = compare(&trainings, &[("f1", |figures| *figures)]);
        assert_eq!(rows.len(), 2);
        let (plain, augmented) = (&rows[0], &rows[1]);
        assert_eq!((plain.gain, plain.t), (None, None));
        assert_eq!((&*augmented.arm, augmented.added), ("augmented", 11.0));
        assert_eq!(augmented.runs, [0.51, 0.63]);
        assert!((augmented.gain.unwrap() - 0.02).abs() < 1e-12);
        // Differences 0.01 and 0.03: mean 0.02, standard error 0.01, t = 2.
        assert!((augmented.t.unwrap() - 2.0).abs() < 1e-9);
        assert!((augmented.deviation.unwrap() - 0.12 / 2.0_f64.sqrt()).abs() < 1e-12);
    }
}
