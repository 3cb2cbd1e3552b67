//! How far the parts of speech of a span change on its way into the paraphrase.
//!
//! Culkin et al. 2021, section 4.6 and Table 3. Of the tags of two spans, as sets S and T and as
//! counts u and v of each tag:
//!
//! ```text
//! not-EXT   1 when the two sequences of tags differ, else 0
//! JCD       1 - |S and T| / |S or T|                     (footnote 11)
//! WJCD      1 - sum of min(u, v) / sum of max(u, v)      (footnote 12)
//! ```
//!
//! each a mean over the pairs of spans. No tagger is known here: tags come in as names.

use std::collections::BTreeMap;

/// The distances between the tags of pairs of spans.
///
/// ```
/// use fnstore::align::TagDistances;
///
/// let mut distances = TagDistances::default();
/// distances.add(&["VBD", "RP"], &["VBD"]);
/// distances.add(&["NN"], &["NN"]);
/// assert_eq!((distances.not_exact(), distances.jaccard(), distances.weighted()), (0.5, 0.25, 0.25));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TagDistances {
    pairs: u64,
    different: u64,
    jaccard: f64,
    weighted: f64,
}

impl TagDistances {
    /// Counts a pair of spans by the tags of their words. Two spans without words do not differ.
    pub fn add(&mut self, source: &[&str], target: &[&str]) {
        let mut counts: BTreeMap<&str, [u32; 2]> = BTreeMap::new();
        for (side, tags) in [source, target].into_iter().enumerate() {
            tags.iter().for_each(|tag| counts.entry(tag).or_default()[side] += 1);
        }
        let both = counts.values().filter(|[u, v]| *u > 0 && *v > 0).count();
        let least: u32 = counts.values().map(|[u, v]| u.min(v)).sum();
        let most: u32 = counts.values().map(|[u, v]| u.max(v)).sum();
        self.pairs += 1;
        self.different += u64::from(source != target);
        if most > 0 {
            self.jaccard += 1.0 - both as f64 / counts.len() as f64;
            self.weighted += 1.0 - f64::from(least) / f64::from(most);
        }
    }

    /// Takes the pairs of others, too.
    pub fn append(&mut self, others: &Self) {
        self.pairs += others.pairs;
        self.different += others.different;
        self.jaccard += others.jaccard;
        self.weighted += others.weighted;
    }

    /// Number of pairs.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// not-EXT: the share of pairs whose tags are not the same in the same order; 0 of no pairs.
    #[must_use]
    pub fn not_exact(&self) -> f64 {
        self.different as f64 / self.pairs.max(1) as f64
    }

    /// JCD: the mean distance of Jaccard between the sets of tags; 0 of no pairs.
    #[must_use]
    pub fn jaccard(&self) -> f64 {
        self.jaccard / self.pairs.max(1) as f64
    }

    /// WJCD: the mean weighted distance of Jaccard, between the counts of tags; 0 of no pairs.
    #[must_use]
    pub fn weighted(&self) -> f64 {
        self.weighted / self.pairs.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(source: &[&str], target: &[&str]) -> [f64; 3] {
        let mut distances = TagDistances::default();
        distances.add(source, target);
        assert_eq!(distances.pairs(), 1);
        [distances.not_exact(), distances.jaccard(), distances.weighted()]
    }

    #[test]
    fn distances_are_those_worked_by_hand() {
        for (source, target, expected) in [
            (&["VBD"][..], &["VBD"][..], [0.0, 0.0, 0.0]),
            (&["VBD"], &["NN"], [1.0, 1.0, 1.0]),
            // {VBD, RP} and {VBD}: one of two; counts 1 + 0 of 1 + 1.
            (&["VBD", "RP"], &["VBD"], [1.0, 0.5, 0.5]),
            // The same set, other counts: 1 of 2.
            (&["NN", "NN"], &["NN"], [1.0, 0.0, 0.5]),
            // The same counts in another order.
            (&["DT", "NN"], &["NN", "DT"], [1.0, 0.0, 0.0]),
            // {DT, JJ, NN} and {DT, NN, IN}: 2 of 4; least 1 + 0 + 1 + 0, most 1 + 1 + 2 + 1.
            (&["DT", "JJ", "NN"], &["DT", "NN", "IN", "NN"], [1.0, 0.5, 0.6]),
            (&[], &["NN"], [1.0, 1.0, 1.0]),
            (&[], &[], [0.0, 0.0, 0.0]),
        ] {
            for (found, expected) in of(source, target).into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{source:?} {target:?}: {found}");
            }
        }
    }

    #[test]
    fn each_is_a_mean_over_pairs() {
        let mut distances = TagDistances::default();
        assert_eq!(distances.not_exact() + distances.jaccard() + distances.weighted(), 0.0);
        for target in [&["NN"][..], &["NN", "NN"], &["VB"], &["NN", "VB"]] {
            distances.add(&["NN"], target);
        }
        assert_eq!(distances.not_exact(), 0.75);
        assert_eq!(distances.jaccard(), (0.0 + 0.0 + 1.0 + 0.5) / 4.0);
        assert_eq!(distances.weighted(), (0.0 + 0.5 + 1.0 + 0.5) / 4.0);
    }

    proptest! {
        #[test]
        fn distances_are_symmetric_and_no_set_differs_more_than_its_counts(
            source in proptest::collection::vec("[A-D]", 0..6),
            target in proptest::collection::vec("[A-D]", 0..6),
        ) {
            let (source, target): (Vec<&str>, Vec<&str>) =
                (source.iter().map(String::as_str).collect(), target.iter().map(String::as_str).collect());
            let [different, jaccard, weighted] = of(&source, &target);
            prop_assert_eq!([different, jaccard, weighted], of(&target, &source));
            prop_assert!((0.0..=1.0).contains(&jaccard) && (0.0..=1.0).contains(&weighted));
            prop_assert!(different >= weighted, "equal sequences have equal counts");
        }
    }
}
