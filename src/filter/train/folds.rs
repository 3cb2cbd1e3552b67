//! What is chosen on held-out data: how much a label weighs, and from which score on a set is kept.
//!
//! Judged outputs are cut into ten parts by the sentences of their seeds, for outputs of one
//! sentence are not independent. Ten times a network learns from eight parts; the next part is its
//! development data, the last one its test. So each output has a score of a network that saw
//! nothing of its sentence: as development data to choose by, as test data to report.

use std::collections::{BTreeSet, HashMap};

use rayon::prelude::*;

use super::{Aim, Example, Options, train};
use crate::filter::classifier::FilterEdition;
use crate::filter::committee::Committee;
use crate::filter::evidence::{Input, inputs_of};
use crate::filter::judged::Judged;
use crate::filter::table::{Share, rounded_down};

/// Number of parts.
pub(super) const FOLDS: usize = 10;

/// Least share of the outputs that an edition keeps: the precision of a few says nothing.
const LEAST_KEPT: f64 = 0.05;

/// An example and the part that its sentence belongs to.
pub(super) struct Placed {
    pub(super) example: Example,
    part: usize,
}

/// The part of each output. Sentences are dealt out to the parts in the order of their hashes, so
/// that each part has as many as any other, give or take one.
pub(super) fn parts_of(data: &[&Judged]) -> Vec<usize> {
    let hash = |output: &Judged| {
        let sentence = format!("{}/{}", output.release, output.sentence);
        *blake3::hash(sentence.as_bytes()).as_bytes()
    };
    let sentences: BTreeSet<[u8; 32]> = data.iter().map(|output| hash(output)).collect();
    let parts: HashMap<[u8; 32], usize> = sentences.into_iter().zip((0..FOLDS).cycle()).collect();
    data.iter().map(|output| parts[&hash(output)]).collect()
}

/// Judged outputs, each with its label and part.
pub(super) fn placed(data: &[&Judged], inputs: &[Input]) -> Vec<Placed> {
    let placed = data.iter().zip(parts_of(data)).filter_map(|(output, part)| {
        let label = output.is_acceptable()?;
        let inputs = inputs_of(&output.evidence, inputs);
        Some(Placed { example: Example { inputs, label }, part })
    });
    placed.collect()
}

/// Whether every network would have outputs of both kinds to learn from.
pub(super) fn all_learn(placed: &[Placed]) -> bool {
    (0..FOLDS).all(|fold| {
        let has = |label| seen_in(placed, fold).any(|example| example.label == label);
        has(true) && has(false) && placed.iter().any(|one| one.part == fold)
    })
}

/// What the network of a fold learns from.
fn seen_in(placed: &[Placed], fold: usize) -> impl Iterator<Item = &Example> {
    let others = placed.iter().filter(move |one| one.part != fold && one.part != dev_of(fold));
    others.map(|one| &one.example)
}

/// The part that a fold's network is chosen by.
fn dev_of(fold: usize) -> usize {
    (fold + 1) % FOLDS
}

/// Scores of outputs by networks that saw nothing of their seeds, in the outputs' order.
struct HeldOut {
    dev: Vec<f32>,
    test: Vec<f32>,
}

/// Trains and scores all folds side by side; labels weigh what `aim` gives under `weight`.
fn held_out(placed: &[Placed], aim: Aim, weight: f32, options: &Options) -> HeldOut {
    let train_fold = |fold| {
        let seen: Vec<&Example> = seen_in(placed, fold).collect();
        train(&seen, aim, weight, options)
    };
    let networks: Vec<Committee> = (0..FOLDS).into_par_iter().map(train_fold).collect();
    // The fold whose development data a part is.
    let before = |part: usize| (part + FOLDS - 1) % FOLDS;
    let score = |one: &Placed, fold: usize| networks[fold].score(&one.example.inputs);
    HeldOut {
        dev: placed.iter().map(|one| score(one, before(one.part))).collect(),
        test: placed.iter().map(|one| score(one, one.part)).collect(),
    }
}

/// The edition of an aim that does best on development data, and the test scores of the networks
/// that it was chosen by.
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

/// The score from which on sets are kept: for precision the lowest one at which it is reached; for
/// recall the highest.
fn cut(scores: &[f32], labels: &[bool], aim: Aim, weight: f32, options: &Options) -> FilterEdition {
    // What is printed shall be what is measured.
    let scores = scores.iter().map(|score| rounded_down(*score));
    let mut ranked: Vec<(f32, bool)> = scores.zip(labels.iter().copied()).collect();
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
    let enough = (LEAST_KEPT * labels.len() as f64).ceil() as u64;
    editions.retain(|edition| edition.precision.of >= enough);
    let reached = |edition: &&FilterEdition| edition.reached;
    let found = match aim {
        Aim::Precision => editions.iter().rev().find(reached),
        Aim::Recall => editions.iter().find(reached),
    };
    let most_precise =
        || editions.iter().max_by(|a, b| a.precision.share().total_cmp(&b.precision.share()));
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
    fn a_few_right_ones_reach_no_precision() {
        // The first alone is right, of forty; then one in two.
        let scores: Vec<f32> = (0..40).map(|at| 0.9 - at as f32 / 100.0).collect();
        let labels: Vec<bool> = (0..40).map(|at| at % 2 == 0).collect();
        let edition = cut(&scores, &labels, Aim::Precision, 0.1, &options());
        assert!(!edition.reached && edition.precision.of >= 2, "{edition:?}");
    }

    #[test]
    fn outputs_of_a_sentence_are_never_on_both_sides_and_parts_are_even() {
        let output = |at: usize| -> Judged {
            let line = format!(
                r#"{{"release": "r", "set": "g{at}", "seed": "x{at}", "sentence": "x{}", "round": 1, "paraphrase": 0.5,
                    "aligner": 0.5, "proposed": false, "frames": 1, "judgements": [{}]}}"#,
                at / 3,
                at % 2 * 100
            );
            serde_json::from_str(&line).unwrap()
        };
        let outputs: Vec<Judged> = (0..60).map(output).collect();
        let data: Vec<&Judged> = outputs.iter().collect();
        let placed = placed(&data, &Input::ALL);
        for sentence in placed.chunks(3) {
            assert!(sentence.iter().all(|one| one.part == sentence[0].part));
        }
        for part in 0..FOLDS {
            assert_eq!(placed.iter().filter(|one| one.part == part).count(), 6);
        }
        assert!(all_learn(&placed) && !all_learn(&placed[..12]));
    }
}
