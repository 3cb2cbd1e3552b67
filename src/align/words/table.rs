//! The probability that a word of the sentence is rewritten as a word of the paraphrase, `t(f |
//! e)`.
//!
//! Only pairs of words that stand together in some sentence pair have an entry, of 16 bytes.
//! 100,000 pairs of 20 words a side take some 300 MB in each direction. Counts are whole numbers of
//! `2^-32`, so that threads may add to them in any order and the sum is the same.

use std::sync::atomic::{AtomicU64, Ordering};

use super::bitext::{NULL, Pair, Vocabulary};

/// What is believed before any pair is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prior {
    /// Pseudo-count of every entry. Above 0 the mean-field estimate is used, which makes rare
    /// chances rarer (Dyer et al. 2013, section 2.2).
    pub(super) alpha: f64,
    /// Additional pseudo-count of a word rewritten as itself, and a part of it as one that looks
    /// like it ([`Vocabulary::likeness`]).
    pub(super) identity: f64,
}

/// Entries a buffer may hold before doubles are thrown out.
const BUFFER: usize = 1 << 24;

/// One, in counts.
const ONE: f64 = (1_u64 << 32) as f64;

#[derive(Debug)]
pub(super) struct Table {
    /// Row `e` is `starts[e]..starts[e + 1]`.
    starts: Vec<usize>,
    /// The `f` of each entry, ascending within a row.
    targets: Vec<u32>,
    probabilities: Vec<f32>,
    counts: Vec<AtomicU64>,
    prior: Prior,
}

impl Table {
    /// A table for the words that stand together in `pairs`. At first a word is rewritten as any
    /// other as gladly, and `1 + identity` times so as itself. (Only their proportion counts, so
    /// they need not sum to 1.)
    pub(super) fn new(pairs: &[Pair], vocabulary: &Vocabulary, prior: Prior) -> Self {
        let keys = keys(pairs);
        let size = vocabulary.len();
        let mut starts = vec![0; size + 1];
        for key in &keys {
            starts[(key >> 32) as usize + 1] += 1;
        }
        for row in 0..size {
            starts[row + 1] += starts[row];
        }
        let targets: Vec<u32> = keys.into_iter().map(|key| key as u32).collect();
        let mut table = Self {
            probabilities: vec![0.0; targets.len()],
            counts: targets.iter().map(|_| AtomicU64::new(0)).collect(),
            starts,
            targets,
            prior,
        };
        for source in 0..size as u32 {
            for at in table.row(source) {
                let likeness = vocabulary.likeness(source, table.targets[at]);
                let chance = (1.0 + prior.identity * likeness) / (1.0 + prior.identity);
                table.probabilities[at] = chance as f32;
            }
        }
        table
    }

    fn row(&self, source: u32) -> std::ops::Range<usize> {
        self.starts[source as usize]..self.starts[source as usize + 1]
    }

    /// The entry of two words; none when they never stand together.
    pub(super) fn entry(&self, source: u32, target: u32) -> Option<usize> {
        let row = self.row(source);
        let at = self.targets[row.clone()].binary_search(&target).ok()?;
        Some(row.start + at)
    }

    /// `t(f | e)` of an entry.
    pub(super) fn probability(&self, entry: usize) -> f64 {
        f64::from(self.probabilities[entry])
    }

    /// Counts part of a word as rewritten so.
    pub(super) fn count(&self, entry: usize, share: f64) {
        self.counts[entry].fetch_add((share * ONE) as u64, Ordering::Relaxed);
    }

    /// Makes probabilities of the counts, which start again from nothing.
    pub(super) fn maximize(&mut self, vocabulary: &Vocabulary) {
        let Prior { alpha, identity } = self.prior;
        for source in 0..self.starts.len() as u32 - 1 {
            let row = self.row(source);
            let mass: Vec<f64> = row
                .clone()
                .map(|at| {
                    let like = identity * vocabulary.likeness(source, self.targets[at]);
                    *self.counts[at].get_mut() as f64 / ONE + alpha + like
                })
                .collect();
            let total: f64 = mass.iter().sum();
            for (at, mass) in row.zip(mass) {
                let probability = match (total > 0.0, alpha > 0.0) {
                    (false, _) => 0.0,
                    (true, false) => mass / total,
                    (true, true) => (digamma(mass) - digamma(total)).exp(),
                };
                self.probabilities[at] = probability as f32;
                *self.counts[at].get_mut() = 0;
            }
        }
    }
}

/// `e << 32 | f` of all words that stand together, ascending, each once.
fn keys(pairs: &[Pair]) -> Vec<u64> {
    let mut keys: Vec<u64> = Vec::new();
    let mut sorted = 0;
    for pair in pairs {
        for source in std::iter::once(NULL).chain(pair.source.iter().copied()) {
            keys.extend(pair.target.iter().map(|f| u64::from(source) << 32 | u64::from(*f)));
        }
        if keys.len() - sorted > BUFFER {
            keys.sort_unstable();
            keys.dedup();
            sorted = keys.len();
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys.shrink_to_fit();
    keys
}

/// The logarithmic derivative of the gamma function, for `x > 0` (Abramowitz and Stegun 6.3.5
/// brings `x` above 6, 6.3.18 has the series).
fn digamma(mut x: f64) -> f64 {
    let mut below = 0.0;
    while x < 6.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series =
        square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)));
    x.ln() - 0.5 / x - series - below
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Prior = Prior { alpha: 0.0, identity: 0.0 };

    fn strangers() -> Vocabulary {
        Vocabulary::of_strangers(4)
    }

    fn pair(source: &[u32], target: &[u32]) -> Pair {
        Pair { source: source.to_vec(), target: target.to_vec() }
    }

    #[test]
    fn only_words_that_stand_together_have_an_entry() {
        let table = Table::new(&[pair(&[1, 2], &[3, 3]), pair(&[4], &[1])], &strangers(), PLAIN);
        assert!(table.entry(1, 3).is_some() && table.entry(NULL, 1).is_some());
        assert_eq!(table.entry(1, 1), None);
        assert_eq!(table.entry(3, 3), None);
        assert_eq!(table.probability(table.entry(NULL, 3).unwrap()), 1.0);
    }

    #[test]
    fn counts_become_shares_of_their_row() {
        let mut table = Table::new(&[pair(&[1], &[2, 3])], &strangers(), PLAIN);
        let (two, three) = (table.entry(1, 2).unwrap(), table.entry(1, 3).unwrap());
        table.count(two, 0.75);
        table.count(three, 0.25);
        table.maximize(&strangers());
        assert_eq!((table.probability(two), table.probability(three)), (0.75, 0.25));
        // Counts are used up, and a row without any has no probability to give.
        table.maximize(&strangers());
        assert_eq!(table.probability(two), 0.0);
    }

    #[test]
    fn a_word_is_rewritten_as_itself_before_it_is_seen_to_be() {
        let prior = Prior { alpha: 0.01, identity: 3.0 };
        let mut table = Table::new(&[pair(&[1], &[1, 2])], &strangers(), prior);
        let (same, other) = (table.entry(1, 1).unwrap(), table.entry(1, 2).unwrap());
        assert_eq!((table.probability(same), table.probability(other)), (1.0, 0.25));
        table.count(same, 0.5);
        table.count(other, 0.5);
        table.maximize(&strangers());
        assert!(table.probability(same) > 4.0 * table.probability(other));
    }

    #[test]
    fn digamma_has_its_known_values() {
        // -gamma, and the recurrence psi(x + 1) = psi(x) + 1 / x.
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-9);
        assert!((digamma(0.5) + 1.963_510_026_021_423_5).abs() < 1e-9);
        for x in [0.01, 0.3, 2.5, 17.0] {
            assert!((digamma(x + 1.0) - digamma(x) - 1.0 / x).abs() < 1e-8, "{x}");
        }
    }
}
