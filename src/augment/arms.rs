//! What rewriting does to a classifier of entailment pairs: Tables 3 and 4 of Hu et al. 2019.
//!
//! For each seed two classifiers are trained, on the original pairs and on all that [`augment nli`]
//! wrote of the training split. Each is asked on the original pairs, and on originals and
//! rewritings together, with weights searched on the development split
//! ([`search_weights`](super::search_weights)):
//!
//! ```text
//! baseline      trained on originals     asked on originals
//! + agg.        trained on originals     aggregated
//! + train       trained on all           asked on originals
//! + train+agg.  trained on all           aggregated
//! ```
//!
//! The development split chooses epochs and weights, so its figures are too good; the test split
//! chooses nothing.
//!
//! [`augment nli`]: crate::augment

use std::collections::{BTreeMap, HashMap};

use super::aggregate::{Changes, Prediction, best_class, combine, search_weights};
use super::classifier::{Classifier, ClassifierOptions, Examples};
use super::entailment::PairFeatures;
use crate::engine::Device;
use crate::learn::NetworkError;
use crate::model::Split;

/// Name of a pair as it was.
const ORIGINAL: &str = "original";

/// Name of what an item's variants say together.
const AGGREGATED: &str = "aggregated";

/// A pair, as it was or rewritten. Its features stand in the row of its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AugmentedPair {
    /// Names the item; its variants share it.
    pub id: String,
    /// The part of the data that it is in.
    pub part: Split,
    /// `original`, `premise`, `hypothesis`, `both`, or `again` for a copy that is trained on.
    pub variant: String,
    /// Its gold class, counted from 0.
    pub class: usize,
}

/// A row of Table 3.
#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    /// Whether the classifier was trained on rewritings too.
    pub is_trained: bool,
    /// Whether an item's variants were aggregated.
    pub is_aggregated: bool,
    /// Share of the development items that are right, for each seed.
    pub dev: Vec<f64>,
    /// The same of the test items.
    pub test: Vec<f64>,
}

/// A column of Table 4, summed over seeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brittleness {
    /// Whether the classifier was trained on rewritings too.
    pub is_trained: bool,
    /// Which items.
    pub part: Split,
    /// What the original's class is compared with: a variant, or `aggregated`.
    pub variant: String,
    /// How predictions change.
    pub changes: Changes,
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmsReport {
    /// The four rows.
    pub arms: Vec<Arm>,
    /// What rewriting changes, for either classifier.
    pub brittleness: Vec<Brittleness>,
    /// Weights of variants that were found, for each seed: those of the classifier trained on
    /// originals, and those of the other.
    pub weights: Vec<[BTreeMap<String, f64>; 2]>,
    /// Share of the test items that have the class that most training items have.
    pub majority: f64,
    /// Training pairs of either classifier.
    pub trained_on: [usize; 2],
    /// Items of the development and the test split.
    pub items: [usize; 2],
}

/// What a classifier says of the pairs that are measured.
#[derive(Debug)]
pub struct Answers<'a> {
    /// The seed of its training.
    pub seed: u64,
    /// Whether it was trained on rewritings too.
    pub is_trained: bool,
    /// Places of the pairs.
    pub pairs: &'a [usize],
    /// The share of each class, for each of them.
    pub shares: &'a [Vec<f64>],
}

/// The variants of an item that is measured.
struct Item {
    part: Split,
    class: usize,
    /// Variants, by their places among the pairs measured.
    variants: Vec<(String, usize)>,
}

/// Trains and asks both classifiers for each seed; `heard` gets what each says. `labels` are the
/// names of the classes.
///
/// # Errors
/// When a split has no original, all training pairs have one class, or the device fails.
pub fn compare_arms(
    pairs: &[AugmentedPair],
    features: &PairFeatures,
    labels: &[String],
    options: &ClassifierOptions,
    seeds: &[u64],
    device: &Device,
    mut heard: impl FnMut(&Answers<'_>),
) -> Result<ArmsReport, NetworkError> {
    let examples = |wanted: &dyn Fn(&AugmentedPair) -> bool| {
        let mut examples = Examples::default();
        for (row, pair) in pairs.iter().enumerate().filter(|(_, pair)| wanted(pair)) {
            examples.push(row, pair.class);
        }
        examples
    };
    let originals = |part| {
        let found = examples(&|pair| pair.part == part && pair.variant == ORIGINAL);
        let is_empty = found.rows.is_empty();
        if is_empty { Err(NetworkError::NoPairs { split: part.as_str() }) } else { Ok(found) }
    };
    let train = [originals(Split::Train)?, examples(&|pair| pair.part == Split::Train)];
    let (dev, test) = (originals(Split::Dev)?, originals(Split::Test)?);
    let most = most_frequent(&train[0].classes, labels.len());
    if train[0].classes.iter().all(|class| *class == most) {
        return Err(NetworkError::OneLabel { label: labels[most].clone() });
    }
    let majority = share(test.classes.iter().filter(|class| **class == most).count(), &test);
    let (measured, items) = items(pairs);
    let mut report = ArmsReport {
        arms: [(false, false), (false, true), (true, false), (true, true)]
            .map(|(is_trained, is_aggregated)| Arm {
                is_trained,
                is_aggregated,
                dev: Vec::new(),
                test: Vec::new(),
            })
            .into(),
        brittleness: Vec::new(),
        weights: Vec::new(),
        majority,
        trained_on: train.each_ref().map(|examples| examples.rows.len()),
        items: [dev.rows.len(), test.rows.len()],
    };
    for &seed in seeds {
        let mut options = options.clone();
        options.training.seed = seed;
        let mut weights = [BTreeMap::new(), BTreeMap::new()];
        for (which, train) in train.iter().enumerate() {
            let is_trained = which == 1;
            let classifier =
                Classifier::train(&options, features, labels.len(), train, &dev, device)?;
            let shares = classifier.shares(features, &measured)?;
            heard(&Answers { seed, is_trained, pairs: &measured, shares: &shares });
            weights[which] = report.add(is_trained, &items, &shares);
        }
        report.weights.push(weights);
    }
    Ok(report)
}

fn share(count: usize, of: &Examples) -> f64 {
    count as f64 / of.rows.len().max(1) as f64
}

/// The class that most have; of equals the last.
fn most_frequent(classes: &[usize], count: usize) -> usize {
    let times = |class: &usize| classes.iter().filter(|other| *other == class).count();
    (0..count).max_by_key(times).unwrap_or(0)
}

/// The pairs that are measured, and the items that they are variants of; an item without its
/// original is none.
fn items(pairs: &[AugmentedPair]) -> (Vec<usize>, Vec<Item>) {
    let (mut measured, mut items) = (Vec::new(), Vec::<Item>::new());
    let mut places: HashMap<(Split, &str), usize> = HashMap::new();
    for (at, pair) in pairs.iter().enumerate().filter(|(_, pair)| pair.part != Split::Train) {
        let AugmentedPair { id, part, variant, class } = pair;
        let place = *places.entry((*part, id)).or_insert_with(|| {
            items.push(Item { part: *part, class: *class, variants: Vec::new() });
            items.len() - 1
        });
        items[place].variants.push((variant.clone(), measured.len()));
        measured.push(at);
    }
    items.retain(|item| item.variants.iter().any(|(variant, _)| variant == ORIGINAL));
    (measured, items)
}

impl ArmsReport {
    /// Counts what a classifier said, and returns the weights of variants that it is best with.
    fn add(
        &mut self,
        is_trained: bool,
        items: &[Item],
        shares: &[Vec<f64>],
    ) -> BTreeMap<String, f64> {
        let predictions = |item: &Item| -> Vec<Prediction> {
            let of = |(variant, at): &(String, usize)| Prediction {
                variant: variant.clone(),
                shares: shares[*at].clone(),
            };
            item.variants.iter().map(of).collect()
        };
        let dev = items.iter().filter(|item| item.part == Split::Dev);
        let known: Vec<_> = dev.map(|item| (predictions(item), item.class)).collect();
        let weights = search_weights(&known);
        for part in [Split::Dev, Split::Test] {
            let mut aggregated = Changes::default();
            for item in items.iter().filter(|item| item.part == part) {
                let said = predictions(item);
                let class = |variant: &str| {
                    let found = said.iter().find(|one| one.variant == variant)?;
                    best_class(&found.shares)
                };
                let before = class(ORIGINAL);
                for Prediction { variant, shares } in
                    said.iter().filter(|said| said.variant != ORIGINAL)
                {
                    let changes = self.changes(is_trained, part, variant);
                    changes.add(before, best_class(shares), item.class);
                }
                let after = combine(&said, &weights).and_then(|shares| best_class(&shares));
                aggregated.add(before, after, item.class);
            }
            *self.changes(is_trained, part, AGGREGATED) += aggregated;
            let share = |right: u64| right as f64 / aggregated.items.max(1) as f64;
            for arm in self.arms.iter_mut().filter(|arm| arm.is_trained == is_trained) {
                let right = match arm.is_aggregated {
                    true => aggregated.right_after(),
                    false => aggregated.right_before,
                };
                let shares = if part == Split::Dev { &mut arm.dev } else { &mut arm.test };
                shares.push(share(right));
            }
        }
        weights
    }

    fn changes(&mut self, is_trained: bool, part: Split, variant: &str) -> &mut Changes {
        let is_asked = |of: &Brittleness| {
            (of.is_trained, of.part, of.variant.as_str()) == (is_trained, part, variant)
        };
        let at = self.brittleness.iter().position(is_asked).unwrap_or_else(|| {
            let (variant, changes) = (variant.to_owned(), Changes::default());
            self.brittleness.push(Brittleness { is_trained, part, variant, changes });
            self.brittleness.len() - 1
        });
        &mut self.brittleness[at].changes
    }
}

/// Mean of figures and their standard deviation (of a sample, so that of one is 0).
///
/// ```
/// assert_eq!(fnstore::augment::mean_and_deviation(&[1.0, 2.0, 3.0]), (2.0, 1.0));
/// ```
#[must_use]
pub fn mean_and_deviation(figures: &[f64]) -> (f64, f64) {
    let count = figures.len().max(1) as f64;
    let mean = figures.iter().sum::<f64>() / count;
    let squares = figures.iter().map(|figure| (figure - mean).powi(2)).sum::<f64>();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(id: usize, part: Split, variant: &str, class: usize) -> AugmentedPair {
        AugmentedPair { id: id.to_string(), part, variant: variant.into(), class }
    }

    /// Items of two classes, which one number tells apart; the rewritten premise of each third says
    /// the other.
    fn data() -> (Vec<AugmentedPair>, PairFeatures) {
        let (mut pairs, mut features) =
            (Vec::new(), PairFeatures { width: 2, ..Default::default() });
        for id in 0..90 {
            let class = id % 2;
            let part = [Split::Train, Split::Train, Split::Dev, Split::Test][id / 2 % 4];
            let sign = if class == 0 { -1.0 } else { 1.0 };
            let mut add = |variant: &str, value: f32| {
                pairs.push(pair(id, part, variant, class));
                features.rows.extend([value, 1.0]);
            };
            add("original", sign);
            add("premise", if id % 3 == 0 { -sign } else { sign });
            if part == Split::Train {
                add("again", sign);
            }
        }
        (pairs, features)
    }

    fn options() -> ClassifierOptions {
        let mut options = ClassifierOptions { hidden: 4, ..ClassifierOptions::default() };
        (options.training.batch, options.training.learning_rate) = (8, 2e-2);
        options
    }

    fn compare(pairs: &[AugmentedPair]) -> Result<ArmsReport, NetworkError> {
        let (_, features) = data();
        let labels = ["no".to_owned(), "yes".to_owned()];
        let (options, device) = (options(), Device::cpu());
        compare_arms(pairs, &features, &labels, &options, &[1, 2], &device, |_| ())
    }

    #[test]
    fn four_arms_and_what_rewriting_changes_are_counted_for_each_seed() {
        let (pairs, features) = data();
        let mut heard = Vec::new();
        let labels = ["no".to_owned(), "yes".to_owned()];
        let device = Device::cpu();
        let hear = |answers: &Answers<'_>| heard.push((answers.seed, answers.is_trained));
        let report =
            compare_arms(&pairs, &features, &labels, &options(), &[1, 2], &device, hear).unwrap();
        assert_eq!(heard, [(1, false), (1, true), (2, false), (2, true)]);
        assert_eq!(report.trained_on, [46, 138]);
        assert_eq!(report.items, [22, 22]);
        assert_eq!(report.majority, 0.5);
        for arm in &report.arms {
            assert_eq!(arm.test, [1.0, 1.0], "{arm:?}");
        }
        let premise = report
            .brittleness
            .iter()
            .find(|of| (of.is_trained, of.part, &*of.variant) == (false, Split::Test, "premise"));
        let Changes { items, unchanged, right_to_wrong, .. } = premise.unwrap().changes;
        let broken = (0..90).filter(|id| id / 2 % 4 == 3 && id % 3 == 0).count() as u64;
        assert_eq!((items, right_to_wrong, unchanged), (44, 2 * broken, 44 - 2 * broken));
        assert_eq!(report.weights.len(), 2);
    }

    #[test]
    fn a_split_without_originals_and_a_single_label_are_refused() {
        let (pairs, _) = data();
        let without: Vec<AugmentedPair> =
            pairs.iter().filter(|pair| pair.part != Split::Test).cloned().collect();
        let error = compare(&without).unwrap_err();
        assert!(matches!(error, NetworkError::NoPairs { split: "test" }), "{error}");
        let one: Vec<AugmentedPair> =
            pairs.into_iter().map(|pair| AugmentedPair { class: 0, ..pair }).collect();
        let error = compare(&one).unwrap_err();
        assert!(matches!(&error, NetworkError::OneLabel { label } if label == "no"), "{error}");
    }

    #[test]
    fn an_item_without_its_original_is_not_measured() {
        let pairs = [pair(1, Split::Dev, "premise", 0), pair(2, Split::Dev, "original", 0)];
        let (measured, items) = items(&pairs);
        assert_eq!((measured.len(), items.len()), (2, 1));
    }
}
