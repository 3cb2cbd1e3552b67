//! One prediction from those of an item and its rewritings, and what changes by it.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::Serialize;

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
