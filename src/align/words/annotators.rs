//! Two annotators of the same pairs: one gold standard from both, and how far they agree.
//!
//! Dolan et al. 2004, section 3.2: a link is sure if both say that it is, and possible if any other
//! is marked by either. Between annotators the error rate is asymmetric, so its directions are
//! averaged (footnote 5). The paper does not say which links stand for an answer; here it is the
//! sure ones, as possible links need not be found.

use super::bitext::SentencePair;
use super::error_rate::ErrorRate;
use super::links::Links;

/// The gold standard of two annotators of a pair; id and words are those of `first`.
///
/// ```
/// use fnstore::align::words::{SentencePair, combined};
///
/// let pair = |sure: &str, possible: &str| SentencePair {
///     sure: sure.parse().unwrap(),
///     possible: possible.parse().unwrap(),
///     ..SentencePair::default()
/// };
/// let gold = combined(&pair("0-0 1-1", ""), &pair("0-0", "1-1 2-1"));
/// assert_eq!((gold.sure.to_string(), gold.possible.to_string()), ("0-0".into(), "1-1 2-1".into()));
/// ```
#[must_use]
pub fn combined(first: &SentencePair, second: &SentencePair) -> SentencePair {
    let sure: Links = first.sure.iter().filter(|link| second.sure.contains(*link)).collect();
    let marked = [&first.sure, &first.possible, &second.sure, &second.possible];
    let marked = marked.into_iter().flat_map(Links::iter);
    let possible = marked.filter(|link| !sure.contains(*link)).collect();
    SentencePair { sure, possible, ..first.clone() }
}

/// The sure links of either annotator against the links of the other, summed over pairs.
#[must_use]
pub fn between(first: &[SentencePair], second: &[SentencePair]) -> [ErrorRate; 2] {
    let mut rates = [ErrorRate::default(); 2];
    for (first, second) in first.iter().zip(second) {
        rates[0].add(second, &first.sure);
        rates[1].add(first, &second.sure);
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(sure: &str, possible: &str) -> SentencePair {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        SentencePair {
            source: words("the dog sat"),
            target: words("the hound sat"),
            sure: sure.parse().unwrap(),
            possible: possible.parse().unwrap(),
            ..SentencePair::default()
        }
    }

    #[test]
    fn a_link_is_sure_only_if_both_say_so() {
        let gold = combined(&pair("0-0 1-1", "2-2"), &pair("0-0 2-2", "1-1"));
        assert_eq!(gold.sure.to_string(), "0-0");
        assert_eq!(gold.possible.to_string(), "1-1 2-2");
        assert_eq!(gold.source, ["the", "dog", "sat"]);
    }

    #[test]
    fn annotators_are_measured_in_both_directions() {
        let (first, second) = ([pair("0-0 1-1 2-2", "")], [pair("0-0 2-2", "1-1")]);
        let [forth, back] = between(&first, &second);
        // The first's three links are all possible to the second; the second misses one of the
        // first's.
        assert_eq!((forth.all.precision(), forth.all.recall()), (1.0, 1.0));
        assert_eq!((back.all.precision(), back.all.recall()), (1.0, 2.0 / 3.0));
        assert_eq!((back.identical.error_rate(), back.different.error_rate()), (0.0, 1.0));
    }
}
