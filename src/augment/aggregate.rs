//! One prediction from those of an item and its rewritings, and what changes by it.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::Serialize;

use crate::model::named;

/// What a model says of one variant of an item.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prediction {
    /// Which variant, as in `original`.
    pub variant: String,
    /// Share of each class.
    pub shares: Vec<f64>,
}

/// Weights that are tried for a variant.
const WEIGHTS: [f64; 5] = [0.0, 0.5, 1.0, 2.0, 3.0];

/// The weighted sum of the distributions of an item's variants; a variant without a weight counts
/// 0. None where nothing has a weight.
#[must_use]
pub fn combine(predictions: &[Prediction], weights: &BTreeMap<String, f64>) -> Option<Vec<f64>> {
    let mut sum: Vec<f64> = Vec::new();
    for Prediction { variant, shares } in predictions {
        let Some(weight) = weights.get(variant).filter(|weight| **weight > 0.0) else { continue };
        sum.resize(sum.len().max(shares.len()), 0.0);
        sum.iter_mut().zip(shares).for_each(|(sum, share)| *sum += weight * share);
    }
    (!sum.is_empty()).then_some(sum)
}

/// The greatest share that any variant has for each class (section 5.2: the better of original and
/// rewriting).
#[must_use]
pub fn max_vote(predictions: &[Prediction]) -> Vec<f64> {
    let mut best: Vec<f64> = Vec::new();
    for Prediction { shares, .. } in predictions {
        best.resize(best.len().max(shares.len()), 0.0);
        best.iter_mut().zip(shares).for_each(|(best, share)| *best = best.max(*share));
    }
    best
}

/// The class with the greatest share; of equals the first.
#[must_use]
pub fn best_class(shares: &[f64]) -> Option<usize> {
    let better = |best: Option<usize>, (at, share): (usize, &f64)| match best {
        Some(best) if shares[best] >= *share => Some(best),
        _ => Some(at),
    };
    shares.iter().enumerate().fold(None, better)
}

/// The weights with the most right answers on items with known classes, of equals those found
/// first. Each variant is tried with 0, 0.5, 1, 2 and 3 in turn, the others kept, until nothing is
/// gained. They begin with 1 for `original` and 0 for the others.
#[must_use]
pub fn search_weights(items: &[(Vec<Prediction>, usize)]) -> BTreeMap<String, f64> {
    let mut weights: BTreeMap<String, f64> = BTreeMap::new();
    for Prediction { variant, .. } in items.iter().flat_map(|(predictions, _)| predictions) {
        weights.entry(variant.clone()).or_insert(f64::from(u8::from(variant == "original")));
    }
    let right = |weights: &BTreeMap<String, f64>| {
        let is_right = |(predictions, class): &&(Vec<Prediction>, usize)| {
            combine(predictions, weights).and_then(|shares| best_class(&shares)) == Some(*class)
        };
        items.iter().filter(is_right).count()
    };
    let mut most = right(&weights);
    loop {
        let before = most;
        let variants: Vec<String> = weights.keys().cloned().collect();
        for variant in &variants {
            for weight in WEIGHTS {
                let mut tried = weights.clone();
                tried.insert(variant.clone(), weight);
                let found = right(&tried);
                if found > most {
                    (most, weights) = (found, tried);
                }
            }
        }
        if most == before {
            return weights;
        }
    }
}

/// How predictions change from one variant of items to another (Hu et al. 2019, Table 4).
///
/// ```
/// use fnstore::augment::Changes;
///
/// let mut changes = Changes::default();
/// changes.add(Some(0), Some(1), 1);
/// changes.add(Some(1), Some(1), 1);
/// assert_eq!((changes.wrong_to_right, changes.unchanged, changes.right_after()), (1, 1, 2));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Changes {
    /// Items; of several trainings, each counts once for each.
    pub items: u64,
    /// Items that were right before.
    pub right_before: u64,
    /// Items with the same class before and after.
    pub unchanged: u64,
    /// Items that became right.
    pub wrong_to_right: u64,
    /// Items that became wrong.
    pub right_to_wrong: u64,
    /// Items that went from one wrong class to another; 0 where there are two classes.
    pub wrong_to_wrong: u64,
}

impl Changes {
    /// Adds an item of that gold class.
    pub fn add(&mut self, before: Option<usize>, after: Option<usize>, class: usize) {
        let (was, is) = (before == Some(class), after == Some(class));
        self.items += 1;
        self.right_before += u64::from(was);
        *match (was, is) {
            _ if before == after => &mut self.unchanged,
            (false, true) => &mut self.wrong_to_right,
            (true, _) => &mut self.right_to_wrong,
            (false, false) => &mut self.wrong_to_wrong,
        } += 1;
    }

    /// Items that are right after.
    #[must_use]
    pub fn right_after(&self) -> u64 {
        self.right_before + self.wrong_to_right - self.right_to_wrong
    }
}

impl AddAssign for Changes {
    fn add_assign(&mut self, other: Self) {
        self.items += other.items;
        self.right_before += other.right_before;
        self.unchanged += other.unchanged;
        self.wrong_to_right += other.wrong_to_right;
        self.right_to_wrong += other.right_to_wrong;
        self.wrong_to_wrong += other.wrong_to_wrong;
    }
}

named! {
    /// How predictions are combined.
    pub enum AggregateRule {
        /// The sum of their shares, with weights searched on `dev`
        Weights => "weights",
        /// The greatest share that any gives a class
        Max => "max",
    }
}

/// The predictions of an item's variants.
struct PredictedItem {
    class: usize,
    predictions: Vec<Prediction>,
}

/// Items with their predictions, by split and id.
#[derive(Default)]
pub struct PredictedItems(BTreeMap<(String, String), PredictedItem>);

/// What was found of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregatedItem {
    /// Its id.
    pub id: String,
    /// Its gold class.
    pub class: usize,
    /// The class by the original alone.
    pub original: Option<usize>,
    /// The class that was found.
    pub found: Option<usize>,
    /// The combined share of each class.
    pub shares: Vec<f64>,
}

/// What was found of items.
#[derive(Debug, Clone, Default)]
pub struct Aggregates {
    /// Each item that is not in the split `dev`.
    pub items: Vec<AggregatedItem>,
    /// The weight of each variant.
    pub weights: BTreeMap<String, f64>,
    /// How classes changed.
    pub changes: Changes,
}

impl PredictedItems {
    /// Adds the prediction of a variant.
    pub fn add(&mut self, (split, id): (String, String), class: usize, prediction: Prediction) {
        let new = || PredictedItem { class, predictions: Vec::new() };
        self.0.entry((split, id)).or_insert_with(new).predictions.push(prediction);
    }

    /// Combines the predictions of each item. Weights are those with which most items of the split
    /// `dev` are right; `None` where it has no item, and weights are asked for.
    #[must_use]
    pub fn aggregate(self, rule: AggregateRule) -> Option<Aggregates> {
        let (dev, test): (Vec<_>, Vec<_>) =
            self.0.into_iter().partition(|((split, _), _)| split == "dev");
        let weights = match rule {
            AggregateRule::Max => BTreeMap::new(),
            AggregateRule::Weights if dev.is_empty() => return None,
            AggregateRule::Weights => {
                let known = dev.into_iter().map(|(_, item)| (item.predictions, item.class));
                search_weights(&known.collect::<Vec<_>>())
            }
        };
        let mut changes = Changes::default();
        let mut items = Vec::new();
        for ((_, id), PredictedItem { class, predictions }) in test {
            let original = predictions.iter().find(|one| one.variant == "original");
            let original = original.and_then(|one| best_class(&one.shares));
            let shares = match rule {
                AggregateRule::Max => max_vote(&predictions),
                AggregateRule::Weights => combine(&predictions, &weights).unwrap_or_default(),
            };
            let found = best_class(&shares);
            changes.add(original, found, class);
            items.push(AggregatedItem { id, class, original, found, shares });
        }
        Some(Aggregates { items, weights, changes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_of_one_kind_and_the_right_ones_add_up() {
        let mut changes = Changes::default();
        let both = [(0, 0), (1, 1), (0, 1), (1, 0), (0, 2)];
        for (before, after) in both {
            changes.add(Some(before), Some(after), 1);
        }
        changes += Changes::default();
        let Changes { items, unchanged, wrong_to_right, right_to_wrong, wrong_to_wrong, .. } =
            changes;
        assert_eq!((items, unchanged), (5, 2));
        assert_eq!((wrong_to_right, right_to_wrong, wrong_to_wrong), (1, 1, 1));
        assert_eq!((changes.right_before, changes.right_after()), (2, 2));
    }

    fn prediction(variant: &str, shares: [f64; 2]) -> Prediction {
        Prediction { variant: variant.into(), shares: shares.into() }
    }

    #[test]
    fn a_variant_that_knows_better_gets_weight() {
        let item = |original, both, class| {
            (vec![prediction("original", original), prediction("both", both)], class)
        };
        let items = [
            item([0.6, 0.4], [0.1, 0.9], 1),
            item([0.9, 0.1], [0.4, 0.6], 0),
            item([0.2, 0.8], [0.3, 0.7], 1),
        ];
        let weights = search_weights(&items);
        assert_eq!((weights["both"], weights["original"]), (0.5, 1.0));
        let sum = combine(&items[0].0, &weights).unwrap();
        assert_eq!(best_class(&sum), Some(1));
        assert_eq!(combine(&items[0].0, &BTreeMap::new()), None);
    }

    #[test]
    fn a_vote_takes_the_surest() {
        let found = max_vote(&[prediction("original", [0.6, 0.4]), prediction("both", [0.1, 0.9])]);
        assert_eq!((found.clone(), best_class(&found)), (vec![0.6, 0.9], Some(1)));
        assert_eq!(best_class(&max_vote(&[])), None);
    }
}
