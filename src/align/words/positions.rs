//! Where the word stands that explains word `j` of the paraphrase.
//!
//! Positions count from 1 to `n` in the sentence; 0 is null. `emission[j][i]` is `t(f_j | e_i)`.

/// The part of a model that looks at positions.
#[derive(Debug, Clone)]
pub(super) enum Positions {
    /// Anywhere, null like any word: `1 / (n + 1)` (Brown et al. 1993, equation 5).
    Uniform,
    /// Near the diagonal (Dyer et al. 2013, equations 1 to 3): null has `null`, the rest goes by
    /// `exp(-tension |j / m - i / n|)`.
    Diagonal {
        /// Share of null.
        null: f64,
        /// How strictly the diagonal is kept; 0 is not at all.
        tension: f64,
    },
    /// So many words after the last one that explained something (Vogel et al. 1996), with one null
    /// for each of them (Och and Ney 2003, section 2.1).
    Jumps {
        /// Share of null.
        null: f64,
        /// Weight of each jump from `-REACH` to `REACH`, longer ones counted as these.
        weights: Vec<f64>,
    },
}

/// The longest jump that has a weight of its own.
const REACH: i64 = 40;

/// Least and greatest tension that is learnt, as in fast_align.
const TENSIONS: (f64, f64) = (0.1, 14.0);
const FIRST_TENSION: f64 = 4.0;

/// Posteriors of one pair: `m` rows of `n + 1`, the column 0 being null.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Posteriors {
    width: usize,
    shares: Vec<f64>,
}

impl Posteriors {
    /// Shares for word `j` of the paraphrase, counted from 0; those of a row sum to 1.
    pub(super) fn row(&self, j: usize) -> &[f64] {
        &self.shares[j * self.width..][..self.width]
    }
}

/// What positions learn from posteriors.
#[derive(Debug, Clone, Default)]
pub(super) struct Expected {
    /// Words with an explanation, and the sum of their `-|j / m - i / n|`.
    words: f64,
    nearness: f64,
    /// As `nearness`, under the model's own positions alone.
    prior_nearness: f64,
    /// Jumps made, by length.
    jumps: Vec<f64>,
}

impl Expected {
    pub(super) fn add(&mut self, other: &Self) {
        self.words += other.words;
        self.nearness += other.nearness;
        self.prior_nearness += other.prior_nearness;
        self.jumps.resize(self.jumps.len().max(other.jumps.len()), 0.0);
        self.jumps.iter_mut().zip(&other.jumps).for_each(|(sum, jumps)| *sum += jumps);
    }
}

impl Positions {
    pub(super) fn diagonal(null: f64) -> Self {
        Self::Diagonal { null, tension: FIRST_TENSION }
    }

    /// Jumps at first grow rarer with their distance from 1, the next word.
    pub(super) fn jumps(null: f64) -> Self {
        let weight = |jump: i64| 1.0 / (1.0 + (jump - 1).abs() as f64);
        Self::Jumps { null, weights: (-REACH..=REACH).map(weight).collect() }
    }

    /// The posteriors of a pair with `n` words in the sentence and `m` in the paraphrase, given its
    /// emissions, `m` rows of `n + 1`; what they teach is added to `expected`.
    pub(super) fn posteriors(
        &self,
        n: usize,
        emissions: &[f64],
        expected: &mut Expected,
    ) -> Posteriors {
        let width = n + 1;
        match self {
            Self::Uniform => normalized(width, emissions.to_vec()),
            Self::Diagonal { null, tension } => {
                let m = emissions.len() / width;
                let mut shares = emissions.to_vec();
                for (j, row) in shares.chunks_mut(width).enumerate() {
                    let prior = diagonal_row(j, m, n, null_share(*null, n, m), *tension);
                    expected.prior_nearness += nearness(&prior, j, m);
                    row.iter_mut().zip(prior).for_each(|(share, prior)| *share *= prior);
                }
                let posteriors = normalized(width, shares);
                for j in 0..m {
                    let row = posteriors.row(j);
                    expected.words += 1.0 - row[0];
                    expected.nearness += nearness(row, j, m);
                }
                posteriors
            }
            Self::Jumps { null, weights } => {
                expected.jumps.resize(weights.len(), 0.0);
                Chain::new(n, emissions, *null, weights).posteriors(&mut expected.jumps)
            }
        }
    }

    /// Learns from what was expected.
    pub(super) fn maximize(&mut self, expected: &Expected) {
        match self {
            Self::Uniform => {}
            Self::Diagonal { tension, .. } => {
                // One step of gradient ascent, of fast_align's size.
                let words = expected.words.max(1.0);
                let gradient = (expected.nearness - expected.prior_nearness) / words;
                *tension = (*tension + 20.0 * gradient).clamp(TENSIONS.0, TENSIONS.1);
            }
            Self::Jumps { weights, .. } => {
                // One of each, so that no jump becomes impossible.
                let jumps = expected.jumps.iter().map(|count| count + 1.0);
                weights.iter_mut().zip(jumps).for_each(|(weight, count)| *weight = count);
            }
        }
    }
}

/// Makes the shares of each row sum to 1; a row without any goes to null.
fn normalized(width: usize, mut shares: Vec<f64>) -> Posteriors {
    for row in shares.chunks_mut(width) {
        let sum: f64 = row.iter().sum();
        if sum > 0.0 {
            row.iter_mut().for_each(|share| *share /= sum);
        } else {
            row.fill(0.0);
            row[0] = 1.0;
        }
    }
    Posteriors { width, shares }
}

fn distance(i: usize, j: usize, m: usize, n: usize) -> f64 {
    ((j + 1) as f64 / m as f64 - i as f64 / n as f64).abs()
}

/// The prior of word `j` over null and the `n` words.
fn diagonal_row(j: usize, m: usize, n: usize, null: f64, tension: f64) -> Vec<f64> {
    let mut row: Vec<f64> = vec![0.0];
    row.extend((1..=n).map(|i| (-tension * distance(i, j, m, n)).exp()));
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|share| *share *= (1.0 - null) / sum);
    row[0] = null;
    row
}

/// The share of null where `n` words explain `m`: of more words than that explain them, so many
/// more are explained by nothing.
fn null_share(null: f64, n: usize, m: usize) -> f64 {
    let left = 1.0 - (n as f64 / m.max(1) as f64).min(1.0);
    null + (1.0 - null) * left
}

fn nearness(row: &[f64], j: usize, m: usize) -> f64 {
    let n = row.len() - 1;
    (1..=n).map(|i| -row[i] * distance(i, j, m, n)).sum()
}

/// The hidden Markov model of one pair. A state is the last word that explained something, from 0
/// (none yet), and whether the current word has an explanation.
struct Chain<'a> {
    n: usize,
    m: usize,
    emissions: &'a [f64],
    null: f64,
    /// From each state to each word, `n + 1` rows of `n`, the share of null left out.
    transitions: Vec<f64>,
}

impl<'a> Chain<'a> {
    fn new(n: usize, emissions: &'a [f64], null: f64, weights: &[f64]) -> Self {
        let m = emissions.len() / (n + 1);
        let null = null_share(null, n, m);
        let mut transitions = Vec::with_capacity((n + 1) * n);
        for from in 0..=n {
            let start = transitions.len();
            transitions.extend((1..=n).map(|to| weights[jump(from, to)]));
            let sum: f64 = transitions[start..].iter().sum();
            transitions[start..].iter_mut().for_each(|share| *share *= (1.0 - null) / sum);
        }
        Self { n, m, emissions, null, transitions }
    }

    fn emission(&self, j: usize) -> &[f64] {
        &self.emissions[j * (self.n + 1)..][..self.n + 1]
    }

    fn transition(&self, from: usize) -> &[f64] {
        &self.transitions[from * self.n..][..self.n]
    }

    /// Forward and backward (Rabiner 1989, section III), each row scaled to sum to 1.
    fn posteriors(&self, jumps: &mut [f64]) -> Posteriors {
        let width = self.n + 1;
        // 1. Forward: `explained[j][i]`, and `skipped[j][i]` when null explains word j.
        let mut explained = vec![0.0; self.m * width];
        let mut skipped = vec![0.0; self.m * width];
        let mut before = vec![0.0; width];
        before[0] = 1.0;
        let mut lasts = Vec::with_capacity(self.m);
        for j in 0..self.m {
            let row = &mut explained[j * width..][..width];
            let null = &mut skipped[j * width..][..width];
            let emission = self.emission(j);
            for (from, share) in before.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                null[from] = share * self.null * emission[0];
                for (to, step) in self.transition(from).iter().enumerate() {
                    row[to + 1] += share * step * emission[to + 1];
                }
            }
            let sum: f64 = row.iter().chain(null.iter()).sum();
            let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
            row.iter_mut().chain(null.iter_mut()).for_each(|share| *share *= scale);
            lasts.push(std::mem::take(&mut before));
            before = row.iter().zip(null.iter()).map(|(a, b)| a + b).collect();
        }
        // 2. Backward, and what the two say together.
        let mut after = vec![1.0; width];
        let mut shares = vec![0.0; self.m * width];
        for j in (0..self.m).rev() {
            let row = &explained[j * width..][..width];
            let null = &skipped[j * width..][..width];
            let share = &mut shares[j * width..][..width];
            for i in 1..width {
                share[i] = row[i] * after[i];
            }
            share[0] = null.iter().zip(&after).map(|(share, after)| share * after).sum();
            after = self.step_back(j, &lasts[j], &after, jumps);
        }
        normalized(width, shares)
    }

    /// What follows word `j - 1`, from what follows word `j`; counts the jumps to word `j`.
    fn step_back(&self, j: usize, before: &[f64], after: &[f64], jumps: &mut [f64]) -> Vec<f64> {
        let emission = self.emission(j);
        let ahead: Vec<f64> = (0..=self.n).map(|i| emission[i] * after[i]).collect();
        let mut earlier = vec![0.0; self.n + 1];
        let mut whole = 0.0;
        for from in 0..=self.n {
            let words: f64 =
                self.transition(from).iter().zip(&ahead[1..]).map(|(step, next)| step * next).sum();
            earlier[from] = words + self.null * emission[0] * after[from];
            whole += before[from] * earlier[from];
        }
        if whole > 0.0 {
            for from in (0..=self.n).filter(|from| before[*from] > 0.0) {
                for (to, step) in self.transition(from).iter().enumerate() {
                    jumps[jump(from, to + 1)] += before[from] * step * ahead[to + 1] / whole;
                }
            }
        }
        let greatest = earlier.iter().copied().fold(0.0, f64::max);
        if greatest > 0.0 {
            earlier.iter_mut().for_each(|share| *share /= greatest);
        }
        earlier
    }
}

/// Place of a jump's weight.
fn jump(from: usize, to: usize) -> usize {
    ((to as i64 - from as i64).clamp(-REACH, REACH) + REACH) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Emissions of 3 words by 2 words and null.
    const EMISSIONS: [f64; 9] = [0.1, 0.7, 0.2, 0.3, 0.3, 0.1, 0.05, 0.2, 0.6];

    fn posteriors(positions: &Positions) -> (Posteriors, Expected) {
        let mut expected = Expected::default();
        (positions.posteriors(2, &EMISSIONS, &mut expected), expected)
    }

    fn assert_close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    /// All 3 ^ 3 alignments, each with its probability.
    fn alignments(prior: impl Fn(usize, Option<usize>, usize) -> f64) -> Vec<([usize; 3], f64)> {
        let mut all = Vec::new();
        for code in 0..27 {
            let alignment = [code / 9, code / 3 % 3, code % 3];
            let (mut weight, mut last) = (1.0, None);
            for (j, i) in alignment.into_iter().enumerate() {
                weight *= EMISSIONS[j * 3 + i] * prior(j, last, i);
                last = if i > 0 { Some(i) } else { last };
            }
            all.push((alignment, weight));
        }
        let sum: f64 = all.iter().map(|(_, weight)| weight).sum();
        all.iter_mut().for_each(|(_, weight)| *weight /= sum);
        all
    }

    #[test]
    fn jumps_are_what_enumeration_of_all_alignments_gives() {
        let positions = Positions::jumps(0.2);
        let Positions::Jumps { weights, .. } = &positions else { unreachable!() };
        let step = |last: Option<usize>, to: usize| {
            let from = last.unwrap_or(0);
            weights[jump(from, to)] / (weights[jump(from, 1)] + weights[jump(from, 2)])
        };
        // Of 3 words 2 explain 2, so null has a third of what it leaves.
        let null = 0.2 + 0.8 / 3.0;
        let all = alignments(|_, last, i| if i == 0 { null } else { (1.0 - null) * step(last, i) });
        let (found, expected) = posteriors(&positions);
        for j in 0..3 {
            for i in 0..3 {
                let want = all.iter().filter(|(a, _)| a[j] == i).map(|(_, weight)| weight).sum();
                assert_close(found.row(j)[i], want);
            }
        }
        let mut want = vec![0.0; expected.jumps.len()];
        for (alignment, weight) in &all {
            let mut from = 0;
            for i in alignment.iter().copied().filter(|i| *i > 0) {
                want[jump(from, i)] += weight;
                from = i;
            }
        }
        expected.jumps.iter().zip(want).for_each(|(found, want)| assert_close(*found, want));
    }

    #[test]
    fn the_diagonal_is_what_its_formula_gives() {
        let (found, _) = posteriors(&Positions::Diagonal { null: 0.08, tension: 4.0 });
        // Word 2 of 3: |2/3 - 1/2| and |2/3 - 2/2|.
        let (near, far) = ((-4.0_f64 / 6.0).exp(), (-4.0_f64 / 3.0).exp());
        let null = 0.08 + 0.92 / 3.0;
        let word = |share: f64| (1.0 - null) * share / (near + far);
        let words = [null * 0.3, word(near) * 0.3, word(far) * 0.1];
        let sum: f64 = words.iter().sum();
        found.row(1).iter().zip(words).for_each(|(found, word)| assert_close(*found, word / sum));
    }

    #[test]
    fn tension_rises_when_words_keep_to_the_diagonal() {
        let mut positions = Positions::Diagonal { null: 0.08, tension: 4.0 };
        // 4 words by 4, each certain of its own place.
        let sharp: Vec<f64> =
            (0..20).map(|at| if at % 5 == at / 5 + 1 { 1.0 } else { 1e-6 }).collect();
        let mut expected = Expected::default();
        positions.posteriors(4, &sharp, &mut expected);
        positions.maximize(&expected);
        let Positions::Diagonal { tension, .. } = positions else { unreachable!() };
        assert!(tension > 4.0, "{tension}");
    }

    #[test]
    fn words_that_nothing_explains_go_to_null() {
        for positions in [Positions::Uniform, Positions::diagonal(0.1), Positions::jumps(0.1)] {
            let mut expected = Expected::default();
            let found = positions.posteriors(2, &[0.0, 0.0, 0.0, 0.5, 0.5, 0.0], &mut expected);
            assert_eq!(found.row(0), [1.0, 0.0, 0.0], "{positions:?}");
            assert_close(found.row(1).iter().sum(), 1.0);
        }
    }

    #[test]
    fn a_sentence_without_words_explains_nothing() {
        for positions in [Positions::Uniform, Positions::diagonal(0.1), Positions::jumps(0.1)] {
            let found = positions.posteriors(0, &[0.5, 0.5], &mut Expected::default());
            assert_eq!((found.row(0), found.row(1)), ([1.0].as_slice(), [1.0].as_slice()));
        }
    }
}
