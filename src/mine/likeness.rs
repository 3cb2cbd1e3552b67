//! How alike the sentences of pairs are, by the words that tell most.
//!
//! Dolan, Quirk and Brockett (2004, section 2) take what few edits part, and by that two short
//! sentences that share nothing are a pair, too. Rare words that both have tell such pairs from
//! paraphrases.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::text::{Idf, fold, words};

/// The likeness of each of some pairs, from 0 to 1: the weight of the words that both sentences
/// have, over the weight of those that either has. A word weighs `ln(1 + n / m)`, where `m` of the
/// `n` different sentences of all pairs have it. Case is folded, and signs are no words.
///
/// ```
/// let pairs = [
///     ["The storm closed the harbour.", "The storm shut the harbour."],
///     ["He said so.", "The harbour is shut."],
/// ];
/// let [storm, other] = fnstore::internals::mine::likenesses(&pairs)[..] else { panic!() };
/// assert!(storm > 0.5 && other < 0.1);
/// ```
#[must_use]
pub fn likenesses<S: AsRef<str> + Sync>(pairs: &[[S; 2]]) -> Vec<f64> {
    let sentences: HashSet<&str> = pairs.iter().flatten().map(AsRef::as_ref).collect();
    let idf = Idf::new(sentences);
    let likeness = |[one, other]: &[S; 2]| {
        let (one, other) = (words_of(one.as_ref()), words_of(other.as_ref()));
        // In a fixed order, so that sums are the same in every run.
        let weight = |words: &mut dyn Iterator<Item = &String>| {
            let mut weights: Vec<f64> = words.map(|word| idf.of(word).exp().ln_1p()).collect();
            weights.sort_by(f64::total_cmp);
            weights.iter().sum::<f64>()
        };
        let (both, either) =
            (weight(&mut one.intersection(&other)), weight(&mut one.union(&other)));
        if either > 0.0 { both / either } else { 0.0 }
    };
    pairs.par_iter().map(likeness).collect()
}

/// The different words of a sentence, case folded.
fn words_of(sentence: &str) -> HashSet<String> {
    let words = words(sentence).into_iter().filter_map(|word| word.of(sentence));
    words.filter(|word| word.chars().any(char::is_alphanumeric)).map(fold).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shared_words_count_by_how_rare_they_are() {
        let pairs =
            [["a quake in Aceh", "a quake in Peru"], ["a b", "a c"], ["a d", "a e"], ["!", "?"]];
        let likenesses = likenesses(&pairs);
        // Eight sentences: `a` in six of them, `quake` and `in` in two, each other word in one.
        let weight = |with: f64| (1.0 + 8.0 / with).ln();
        let both = weight(6.0) + 2.0 * weight(2.0);
        assert!((likenesses[0] - both / (both + 2.0 * weight(1.0))).abs() < 1e-12);
        assert!((likenesses[1] - weight(6.0) / (weight(6.0) + 2.0 * weight(1.0))).abs() < 1e-12);
        assert_eq!(likenesses[3], 0.0, "signs are no words");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_is_from_none_to_one_the_same_both_ways_and_one_of_the_same_words(
            texts in prop::collection::vec("[a-dA-D ,.]{0,12}", 2..12),
        ) {
            let pairs: Vec<[&str; 2]> =
                texts.windows(2).map(|two| [two[0].as_str(), two[1].as_str()]).collect();
            let turned: Vec<[&str; 2]> = pairs.iter().map(|[a, b]| [*b, *a]).collect();
            let found = likenesses(&pairs);
            prop_assert_eq!(&found, &likenesses(&turned));
            for (likeness, [a, b]) in found.iter().zip(&pairs) {
                prop_assert!((0.0..=1.0).contains(likeness));
                let (a, b) = (words_of(a), words_of(b));
                prop_assert_eq!(*likeness == 1.0, a == b && !a.is_empty());
                prop_assert_eq!(*likeness == 0.0, a.is_disjoint(&b));
            }
        }
    }
}
