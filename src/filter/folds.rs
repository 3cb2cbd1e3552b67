//! What is chosen on held-out data: how much a label weighs, and from which score on a set is kept.
//!
//! Judged outputs are cut into ten parts by their seeds, for rounds of one seed are not independent. Ten times a network
//! learns from eight parts; the next part is its development data, the last one its test. So each output has a score
//! of a network that saw nothing of its seed: as development data to choose by, as test data to report.

use std::collections::BTreeSet;

use super::classifier::FilterEdition;
use super::evidence::{Evidence, Input};
use super::judged::Judged;
use super::network::Network;
use super::table::Share;
use super::train::{Aim, Example, Options, fit};

/// Number of parts.
pub(super) const FOLDS: usize = 10;

/// Least share of the outputs that an edition keeps which misses its precision.
const LEAST_KEPT: f64 = 0.1;

/// An example and the part that its seed belongs to.
pub(super) struct Placed {
    pub(super) example: Example,
    part: usize,
}

/// The judged outputs, each with its label and part.
pub(super) fn placed(data: &[&Judged], inputs: &[Input]) -> Vec<Placed> {
    let judged = data.iter().filter_map(|output| Some((output, output.is_acceptable()?)));
    judged
        .map(|(output, label)| Placed {
            example: Example { inputs: inputs_of(&output.evidence, inputs), label },
            part: part_of(&output.seed),
        })
        .collect()
}

/// The parts that have an output.
pub(super) fn parts(placed: &[Placed]) -> BTreeSet<usize> {
    placed.iter().map(|one| one.part).collect()
}

pub(super) fn inputs_of(evidence: &Evidence, inputs: &[Input]) -> Vec<f32> {
    inputs.iter().map(|input| input.of(evidence)).collect()
}

fn part_of(seed: &str) -> usize {
    let hash = blake3::hash(seed.as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    (u64::from_be_bytes(first) % FOLDS as u64) as usize
}

/// Scores of outputs by networks that saw nothing of their seeds, in the outputs' order.
struct HeldOut {
    dev: Vec<f32>,
    test: Vec<f32>,
}

/// Trains and scores over all folds; each label weighs what `aim` gives it under `weight`.
fn held_out(placed: &[Placed], aim: Aim, weight: f32, options: &Options) -> HeldOut {
    let mut scores =
        HeldOut { dev: vec![f32::NAN; placed.len()], test: vec![f32::NAN; placed.len()] };
    for fold in 0..FOLDS {
        let dev = (fold + 1) % FOLDS;
        let seen: Vec<&Example> = placed
            .iter()
            .filter(|one| one.part != fold && one.part != dev)
            .map(|one| &one.example)
            .collect();
        let network = fit(&seen, aim, weight, options);
        for (at, one) in placed.iter().enumerate() {
            let score = |network: &Network| network.score(&one.example.inputs);
            if one.part == fold {
                scores.test[at] = score(&network);
            } else if one.part == dev {
                scores.dev[at] = score(&network);
            }
        }
    }
    scores
}

/// The edition of an aim that does best on development data, and the test scores of the networks that it was chosen by.
pub(super) fn choose(placed: &[Placed], aim: Aim, options: &Options) -> (FilterEdition, Vec<f32>) {
    let labels: Vec<bool> = placed.iter().map(|one| one.example.label).collect();
    let tried = options.weights.iter().map(|&weight| {
        let HeldOut { dev, test } = held_out(placed, aim, weight, options);
        (cut(&dev, &labels, aim, weight, options), test)
    });
    let better = |a: &FilterEdition, b: &FilterEdition| {
        let merit = |edition: &FilterEdition| match aim {
            Aim::Precision if edition.reached => edition.recall.share(),
            _ => edition.precision.share(),
        };
        a.reached.cmp(&b.reached).then(merit(a).total_cmp(&merit(b)))
    };
    tried
        .reduce(|best, next| if better(&next.0, &best.0).is_gt() { next } else { best })
        .expect("there is a weight to try: options are checked")
}

/// The score from which on sets are kept: for precision the lowest one at which it is reached; for recall the highest.
fn cut(scores: &[f32], labels: &[bool], aim: Aim, weight: f32, options: &Options) -> FilterEdition {
    let mut ranked: Vec<(f32, bool)> = scores.iter().copied().zip(labels.iter().copied()).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let acceptable = labels.iter().filter(|label| **label).count() as u64;
    let mut accepted = 0;
    let mut editions = Vec::new();
    for (at, &(score, label)) in ranked.iter().enumerate() {
        accepted += u64::from(label);
        // Sets of one score are kept together.
        if ranked.get(at + 1).is_some_and(|next| next.0 == score) {
            continue;
        }
        let precision = Share { hits: accepted, of: at as u64 + 1 };
        let recall = Share { hits: accepted, of: acceptable };
        let reached = match aim {
            Aim::Precision => precision.share() >= options.precision,
            Aim::Recall => recall.share() >= options.recall,
        };
        editions.push(FilterEdition { weight, cut: score, reached, precision, recall });
    }
    let reached = |edition: &&FilterEdition| edition.reached;
    let found = match aim {
        Aim::Precision => editions.iter().rev().find(reached),
        Aim::Recall => editions.iter().find(reached),
    };
    let enough = (LEAST_KEPT * labels.len() as f64).ceil() as u64;
    let most_precise = || {
        let kept = editions.iter().filter(|edition| edition.precision.of >= enough);
        kept.max_by(|a, b| a.precision.share().total_cmp(&b.precision.share()))
    };
    found.or_else(most_precise).expect("all outputs together are enough").clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options { precision: 0.75, recall: 0.75, ..Options::new("out".into()) }
    }

    const SCORES: [f32; 6] = [0.9, 0.8, 0.7, 0.6, 0.5, 0.5];

    #[test]
    fn precision_is_reached_with_as_many_sets_as_can_be() {
        // Three of four are right from 0.6 on, though only one of the first two.
        let labels = [true, false, true, true, false, false];
        let edition = cut(&SCORES, &labels, Aim::Precision, 0.1, &options());
        assert!(edition.reached);
        assert_eq!((edition.cut, edition.precision.hits, edition.precision.of), (0.6, 3, 4));
        assert_eq!(edition.recall.share(), 1.0);
    }

    #[test]
    fn recall_is_reached_with_as_few_sets_as_can_be() {
        let labels = [true, true, true, false, true, false];
        let edition = cut(&SCORES, &labels, Aim::Recall, 0.1, &options());
        assert_eq!((edition.reached, edition.cut, edition.recall.hits), (true, 0.7, 3));
        // Sets of one score stay together.
        let strict = Options { recall: 1.0, ..options() };
        let edition = cut(&SCORES, &labels, Aim::Recall, 0.1, &strict);
        assert_eq!((edition.cut, edition.precision.of), (0.5, 6));
    }

    #[test]
    fn a_precision_out_of_reach_gives_the_most_precise_cut_and_says_so() {
        let labels = [false, true, true, false, false, false];
        let edition = cut(&SCORES, &labels, Aim::Precision, 0.1, &options());
        assert_eq!((edition.reached, edition.cut), (false, 0.7));
    }

    #[test]
    fn rounds_of_a_seed_are_never_on_both_sides() {
        let parts: BTreeSet<usize> = (0..200).map(|seed| part_of(&format!("x{seed}"))).collect();
        assert_eq!(parts.len(), FOLDS);
        assert_eq!(part_of("x7"), part_of("x7"));
    }
}
