//! Pairs that raters look at: which are drawn, what was said of them, and how far raters agree.

use std::collections::BTreeMap;

use serde::Serialize;

use super::estimate::{Estimate, estimate};
use crate::model::Amount;

/// What a pair is to a rater.
pub const LABELS: [&str; 3] = ["paraphrase", "partial", "unrelated"];

/// What a rater counts in a pair (Dolan et al. 2004, Table 2).
pub const COUNTS: [&str; 6] =
    ["elaboration", "phrasal", "spelling", "synonym", "anaphora", "reordering"];

/// A pair to be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RatedPair {
    /// Its id.
    pub id: String,
    /// One sentence.
    pub source: String,
    /// The other.
    pub target: String,
    /// What it is to the rater; empty until one says so.
    pub label: String,
    /// Instances of each kind of difference.
    #[serde(flatten)]
    pub counts: BTreeMap<&'static str, Option<u32>>,
}

/// Draws pairs: those of the seed, whatever the order of the pairs.
#[must_use]
pub fn draw(mut pairs: Vec<RatedPair>, count: usize, seed: u64) -> Vec<RatedPair> {
    let draw = |pair: &RatedPair| {
        let drawn = format!("{seed}\t{}\t{}", pair.source, pair.target);
        *blake3::hash(drawn.as_bytes()).as_bytes()
    };
    pairs.sort_by_cached_key(draw);
    pairs.truncate(count);
    pairs
}

/// What was found, as JSON; see `schema/mine-tally.schema.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RatingRow {
    /// What was counted
    pub what: String,
    /// By the first rater
    pub first: Option<Amount>,
    /// By the second
    pub second: Option<Amount>,
    /// By the program
    pub estimate: Option<Amount>,
}

/// What raters said of pairs. The second list is empty, or of the same pairs.
#[must_use]
pub fn ratings(first: &[RatedPair], second: &[RatedPair]) -> Vec<RatingRow> {
    let found: Vec<Estimate> =
        first.iter().map(|pair| estimate(&pair.source, &pair.target)).collect();
    let label = |label: &&str| {
        let share = |pairs: &[RatedPair]| {
            let labelled = pairs.iter().filter(|pair| !pair.label.is_empty()).count();
            let so = pairs.iter().filter(|pair| pair.label == *label).count();
            (labelled > 0).then(|| so as f64 / labelled as f64)
        };
        let what = format!("{label}, share");
        RatingRow { what, first: share(first), second: share(second), estimate: None }
    };
    let count = |name: &&str| {
        let mean = |pairs: &[RatedPair]| {
            let counts: Vec<u32> = pairs.iter().filter_map(|pair| pair.counts[name]).collect();
            let sum: u32 = counts.iter().sum();
            (!counts.is_empty()).then(|| f64::from(sum) / counts.len() as f64)
        };
        let estimated: Option<fn(&Estimate) -> usize> = match *name {
            "spelling" => Some(|of| of.spelling),
            "synonym" => Some(|of| of.synonym),
            "reordering" => Some(|of| of.reordering),
            _ => None,
        };
        let estimate = estimated
            .map(|of| found.iter().map(of).sum::<usize>() as f64 / found.len().max(1) as f64);
        let what = format!("{name}, a pair");
        RatingRow { what, first: mean(first), second: mean(second), estimate }
    };
    LABELS.iter().map(label).chain(COUNTS.iter().map(count)).collect()
}

/// How far two raters agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RaterAgreement {
    /// Pairs that both labelled.
    pub pairs: usize,
    /// Share of them that have one label.
    pub agreed: f64,
    /// The same beyond chance (Cohen 1960).
    pub kappa: f64,
}

/// How far two raters of the same pairs agree; `None` where no pair has two labels.
#[must_use]
pub fn rater_agreement(first: &[RatedPair], second: &[RatedPair]) -> Option<RaterAgreement> {
    let labelled =
        |pair: &(&RatedPair, &RatedPair)| !pair.0.label.is_empty() && !pair.1.label.is_empty();
    let both: Vec<(&RatedPair, &RatedPair)> = first.iter().zip(second).filter(labelled).collect();
    let count = both.len() as f64;
    let agreed = both.iter().filter(|(a, b)| a.label == b.label).count() as f64 / count;
    let chance: f64 = LABELS
        .iter()
        .map(|label| {
            let a = both.iter().filter(|(a, _)| a.label == *label).count() as f64;
            let b = both.iter().filter(|(_, b)| b.label == *label).count() as f64;
            a * b / (count * count)
        })
        .sum();
    let kappa = if chance < 1.0 { (agreed - chance) / (1.0 - chance) } else { 1.0 };
    (!both.is_empty()).then_some(RaterAgreement { pairs: both.len(), agreed, kappa })
}
