//! BLEU of a sentence: how many of its sequences of words stand in other sentences.
//!
//! Papineni, Roukos, Ward and Zhu (2002), sequences of one to four words, clipped counts, brevity
//! penalty by the nearest length. Where a length has no match its count is taken as 0.1, as one
//! sentence often has no four words in common (Chen and Cherry 2014, method 1). *Self-BLEU* is the
//! mean of each sentence against the others (Zhu et al. 2018): low where sentences differ.

use std::collections::HashMap;

/// Longest sequence that counts.
const LONGEST: usize = 4;
/// What counts as matches where there are none.
const NO_MATCH: f64 = 0.1;

/// BLEU of a sentence against others, 0 to 1; 0 where it shares no word with them, or has none.
///
/// ```
/// use fnstore::text::bleu;
///
/// let sentence = ["they", "checked", "the", "old", "brakes"];
/// assert_eq!(bleu(&sentence, &[&sentence]), 1.0);
/// let other = ["they", "tested", "the", "old", "brakes"];
/// // 4 of 5 words, 2 of 4 pairs, 1 of 3 triples, no sequence of four.
/// let expected = (0.8_f64 * 0.5 * (1.0 / 3.0) * 0.05).powf(0.25);
/// assert!((bleu(&other, &[&sentence]) - expected).abs() < 1e-12);
/// ```
#[must_use]
pub fn bleu<S: AsRef<str>>(sentence: &[S], others: &[&[S]]) -> f64 {
    let mut product = 1.0;
    for length in 1..=LONGEST {
        let own = counts(sentence, length);
        let mut most: HashMap<Vec<&str>, usize> = HashMap::new();
        for other in others {
            for (words, count) in counts(other, length) {
                let known = most.entry(words).or_default();
                *known = count.max(*known);
            }
        }
        let matches: usize = own
            .iter()
            .map(|(words, count)| most.get(words).map_or(0, |most| *most.min(count)))
            .sum();
        if matches == 0 && length == 1 {
            return 0.0;
        }
        let of = own.values().sum::<usize>().max(1);
        product *= if matches == 0 { NO_MATCH } else { matches as f64 } / of as f64;
    }
    brevity(sentence.len(), others) * product.powf(1.0 / LONGEST as f64)
}

fn counts<S: AsRef<str>>(sentence: &[S], length: usize) -> HashMap<Vec<&str>, usize> {
    let mut counts = HashMap::new();
    for words in sentence.windows(length) {
        *counts.entry(words.iter().map(AsRef::as_ref).collect()).or_default() += 1;
    }
    counts
}

/// The brevity penalty, by the length that is nearest, of two the shorter.
fn brevity<S>(own: usize, others: &[&[S]]) -> f64 {
    let nearest = others.iter().map(|other| other.len()).min_by_key(|of| (of.abs_diff(own), *of));
    let nearest = nearest.unwrap_or(0);
    if own >= nearest { 1.0 } else { (1.0 - nearest as f64 / own as f64).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split(' ').collect()
    }

    #[test]
    fn counts_are_clipped_and_short_sentences_pay() {
        // The paper's example: `the` stands twice in a reference, 2 of 7; then nothing matches.
        let (the, cat) = (words("the the the the the the the"), words("the cat is on the mat"));
        let expected = (2.0 / 7.0 * (0.1 / 6.0) * (0.1 / 5.0) * (0.1 / 4.0_f64)).powf(0.25);
        assert!((bleu(&the, &[&cat]) - expected).abs() < 1e-12);
        let (short, long) = (words("a b c d"), words("a b c d e f"));
        assert!((bleu(&short, &[&long]) - (-0.5_f64).exp()).abs() < 1e-12);
        // The nearest of two lengths counts.
        assert_eq!(bleu(&short, &[&long, &short]), 1.0);
    }

    #[test]
    fn nothing_in_common_is_0_and_so_is_nothing_at_all() {
        assert_eq!(bleu(&words("a b"), &[&words("c d")]), 0.0);
        assert_eq!(bleu::<&str>(&[], &[&words("c d")]), 0.0);
        assert_eq!(bleu::<&str>(&words("a"), &[]), 0.0);
        // Shorter than the longest sequence: what is missing counts as one without a match.
        let expected = (1.0 * 1.0 * 0.1 * 0.1_f64).powf(0.25);
        assert!((bleu(&words("a b"), &[&words("a b")]) - expected).abs() < 1e-12);
    }
}
