//! Segmentations of a sentence: which stretches of words are FEs, and the words between them none.
//!
//! A sentence of `n` words is cut into *segments*, each a word without an FE (score 0) or a span of
//! at most `longest` words with one of K labels. A segmentation's score is the sum of its spans'
//! scores, and its probability is proportional to the exponential of that: a semi-Markov model of
//! order zero (Sarawagi and Cohen 2004). So spans never overlap, and sums over all segmentations
//! are exact and cheap: `n * longest` steps.
//!
//! ```text
//! before[0] = 0     before[t + 1] = log(exp before[t] + sum over spans i..=t of exp(before[i] + u(i, t)))
//! u(i, t) = log sum over labels of exp(score(i, t, label))
//! P(i, t, label) = exp(before[i] + score(i, t, label) + after[t + 1] - before[n])
//! ```

/// Labels that may be used once and are watched together; each doubles the states of the search.
const MOST_WATCHED: usize = 12;

/// Probabilities of spans below this are taken for zero.
const LEAST: f64 = 1e-7;

/// The spans of a sentence, by their first word, then by their length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spans {
    /// Number of words.
    pub(super) words: usize,
    /// Words of the longest span.
    longest: usize,
}

/// The sums over all segmentations.
#[derive(Debug)]
pub(super) struct Sums {
    /// Logarithm of the sum over the segmentations of the words before each place, N + 1.
    before: Vec<f64>,
    /// The same of the words from each place on.
    after: Vec<f64>,
}

/// A span that was chosen, with its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chosen {
    /// Number of the span.
    pub(super) span: usize,
    /// Number of the label.
    pub(super) label: usize,
}

impl Spans {
    /// Those of at most `longest` words.
    pub(super) fn new(words: usize, longest: usize) -> Self {
        Self { words, longest: longest.min(words).max(1) }
    }

    /// How many there are.
    pub(super) fn len(self) -> usize {
        self.before(self.words)
    }

    /// How many begin before a word.
    fn before(self, word: usize) -> usize {
        // Those of the last words are cut short by the end: by one, by two, and so on.
        let cut = (word + self.longest).saturating_sub(self.words + 1);
        word * self.longest - cut * (cut + 1) / 2
    }

    /// Every span as its first and last word, in order.
    pub(super) fn iter(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.words).flat_map(move |first| {
            (first..self.words.min(first + self.longest)).map(move |last| (first, last))
        })
    }

    /// The number of a span; none if it is too long or not of this sentence.
    pub(super) fn number(self, first: usize, last: usize) -> Option<usize> {
        let is_one = first <= last && last < self.words && last - first < self.longest;
        is_one.then(|| self.before(first) + last - first)
    }
}

/// `log(e^a + e^b)`.
fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// The logarithm of the sum of the exponentials of each row of scores, (S, K): S.
pub(super) fn log_sums(scores: &[f32], labels: usize) -> Vec<f64> {
    let sum = |row: &[f32]| {
        let highest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = row.iter().map(|score| f64::from(score - highest).exp()).sum();
        f64::from(highest) + sum.ln()
    };
    scores.chunks_exact(labels.max(1)).map(sum).collect()
}

impl Sums {
    /// The sums under spans' scores `u` (S), as [`log_sums`] gives them.
    pub(super) fn new(spans: Spans, u: &[f64]) -> Self {
        let n = spans.words;
        let mut before = vec![f64::NEG_INFINITY; n + 1];
        let mut after = before.clone();
        before[0] = 0.0;
        for first in 0..n {
            before[first + 1] = log_add(before[first + 1], before[first]);
            let of_first = spans.before(first)..spans.before(first + 1);
            for (last, score) in (first..).zip(&u[of_first]) {
                before[last + 1] = log_add(before[last + 1], before[first] + score);
            }
        }
        after[n] = 0.0;
        for first in (0..n).rev() {
            let mut sum = after[first + 1];
            let of_first = spans.before(first)..spans.before(first + 1);
            for (last, score) in (first..).zip(&u[of_first]) {
                sum = log_add(sum, score + after[last + 1]);
            }
            after[first] = sum;
        }
        Self { before, after }
    }

    /// Logarithm of the sum over all segmentations.
    pub(super) fn total(&self) -> f64 {
        self.after[0]
    }

    /// The probability that a span of a score is a segment.
    pub(super) fn probability(&self, (first, last): (usize, usize), score: f64) -> f64 {
        (self.before[first] + score + self.after[last + 1] - self.total()).exp().min(1.0)
    }
}

/// The segmentation of the highest score in which no label of `once` (K) is used twice; `scores`
/// are (S, K). Exact: labels are watched only once a better segmentation repeats them, and what is
/// best without a rule and keeps it is best with it. Beyond twelve labels that are repeated so, the
/// weaker spans of the others are dropped.
pub(super) fn best(spans: Spans, scores: &[f32], once: &[bool]) -> Vec<Chosen> {
    let mut watched: Vec<usize> = Vec::new();
    loop {
        let mut chosen = best_watching(spans, scores, once.len(), &watched);
        let mut uses = vec![0_usize; once.len()];
        chosen.iter().for_each(|chosen| uses[chosen.label] += 1);
        let repeated = (0..once.len()).find(|&label| once[label] && uses[label] > 1);
        let Some(repeated) = repeated else { return chosen };
        if watched.len() == MOST_WATCHED {
            drop_weaker(&mut chosen, scores, once);
            return chosen;
        }
        watched.push(repeated);
    }
}

/// Keeps of each label of `once` the span of the highest score.
fn drop_weaker(chosen: &mut Vec<Chosen>, scores: &[f32], once: &[bool]) {
    let score = |of: &Chosen| scores[of.span * once.len() + of.label];
    let all = chosen.clone();
    chosen.retain(|one| {
        let better = |other: &&Chosen| other.label == one.label && score(other) > score(one);
        !once[one.label] || !all.iter().any(|other| better(&other))
    });
}

/// The best segmentation in which each watched label is used at most once.
fn best_watching(spans: Spans, scores: &[f32], labels: usize, watched: &[usize]) -> Vec<Chosen> {
    if labels == 0 {
        return Vec::new();
    }
    let (states, n) = (1 << watched.len(), spans.words);
    // By word and set of watched labels that are used: the best score, and how it was come to.
    let mut reached = vec![f32::NEG_INFINITY; (n + 1) * states];
    let mut from: Vec<Option<(usize, usize, Option<Chosen>)>> = vec![None; (n + 1) * states];
    reached[0] = 0.0;
    let mut step = |at: (usize, usize), to: (usize, usize), gain: f32, chosen: Option<Chosen>| {
        let score = reached[at.0 * states + at.1] + gain;
        let place = to.0 * states + to.1;
        if score > reached[place] {
            reached[place] = score;
            from[place] = Some((at.0, at.1, chosen));
        }
    };
    let mut number = 0;
    for first in 0..n {
        for used in 0..states {
            step((first, used), (first + 1, used), 0.0, None);
        }
        for last in first..n.min(first + spans.longest) {
            let row = &scores[number * labels..][..labels];
            let free = (0..labels).filter(|label| !watched.contains(label));
            // Of equals the first.
            let free = free.reduce(|best, label| if row[label] > row[best] { label } else { best });
            // A span that gains nothing is left out.
            let gains = |label: &usize| row[*label] > 0.0;
            for used in 0..states {
                if let Some(label) = free.filter(gains) {
                    let chosen = Chosen { span: number, label };
                    step((first, used), (last + 1, used), row[label], Some(chosen));
                }
                for (bit, &label) in watched.iter().enumerate() {
                    if used & (1 << bit) == 0 && gains(&label) {
                        let chosen = Chosen { span: number, label };
                        let to = (last + 1, used | (1 << bit));
                        step((first, used), to, row[label], Some(chosen));
                    }
                }
            }
            number += 1;
        }
    }
    let mut at = n * states;
    for used in 1..states {
        if reached[n * states + used] > reached[at] {
            at = n * states + used;
        }
    }
    let mut chosen = Vec::new();
    while let Some((word, used, span)) = from[at] {
        chosen.extend(span);
        at = word * states + used;
    }
    chosen.reverse();
    chosen
}

/// The negative log-likelihood of the annotated segments; its derivatives take the place of the
/// scores (S, K).
pub(super) fn likelihood(
    spans: Spans,
    scores: &mut [f32],
    labels: usize,
    golden: &[(usize, usize)],
) -> f64 {
    if labels == 0 {
        return 0.0;
    }
    let u = log_sums(scores, labels);
    let sums = Sums::new(spans, &u);
    let of_gold = golden.iter().map(|(span, label)| f64::from(scores[span * labels + label]));
    let loss = sums.total() - of_gold.sum::<f64>();
    for ((place, row), u) in spans.iter().zip(scores.chunks_exact_mut(labels)).zip(u) {
        if sums.probability(place, u) < LEAST {
            row.fill(0.0);
            continue;
        }
        for score in row {
            *score = sums.probability(place, f64::from(*score)) as f32;
        }
    }
    for (span, label) in golden {
        scores[span * labels + label] -= 1.0;
    }
    loss
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every segmentation, as the spans and labels that it uses.
    fn all(spans: Spans, labels: usize) -> Vec<Vec<Chosen>> {
        fn from(spans: Spans, labels: usize, word: usize) -> Vec<Vec<Chosen>> {
            if word == spans.words {
                return vec![Vec::new()];
            }
            let mut found = from(spans, labels, word + 1);
            for last in word..spans.words {
                let Some(span) = spans.number(word, last) else { break };
                for rest in from(spans, labels, last + 1) {
                    for label in 0..labels {
                        found.push([&[Chosen { span, label }], &rest[..]].concat());
                    }
                }
            }
            found
        }
        from(spans, labels, 0)
    }

    fn score(of: &[Chosen], scores: &[f32], labels: usize) -> f64 {
        of.iter().map(|one| f64::from(scores[one.span * labels + one.label])).sum()
    }

    proptest! {
        #[test]
        fn sums_and_the_best_are_those_of_trying_everything(
            words in 1_usize..5, longest in 1_usize..5, labels in 1_usize..4,
            numbers in prop::collection::vec(-3.0_f32..3.0, 30), once in prop::collection::vec(any::<bool>(), 3),
        ) {
            let spans = Spans::new(words, longest);
            prop_assert_eq!(spans.iter().count(), spans.len());
            for (number, (first, last)) in spans.iter().enumerate() {
                prop_assert_eq!(spans.number(first, last), Some(number));
            }
            let scores: Vec<f32> = numbers.iter().copied().cycle().take(spans.len() * labels).collect();
            let all = all(spans, labels);
            let weight = |of: &[Chosen]| score(of, &scores, labels).exp();
            let total: f64 = all.iter().map(|one| weight(one)).sum();
            let sums = Sums::new(spans, &log_sums(&scores, labels));
            prop_assert!((sums.total() - total.ln()).abs() < 1e-4);
            for (span, place) in spans.iter().enumerate() {
                for label in 0..labels {
                    let one = Chosen { span, label };
                    let with: f64 = all.iter().filter(|of| of.contains(&one)).map(|of| weight(of)).sum();
                    let found = sums.probability(place, f64::from(scores[span * labels + label]));
                    prop_assert!((found - with / total).abs() < 1e-5);
                }
            }
            let once = &once[..labels];
            let uses = |of: &[Chosen], label| of.iter().filter(|one| one.label == label).count();
            let keeps = |of: &[Chosen]| (0..labels).all(|label| !once[label] || uses(of, label) < 2);
            let highest = all
                .iter()
                .filter(|of| keeps(of))
                .map(|of| score(of, &scores, labels))
                .fold(f64::NEG_INFINITY, f64::max);
            let found = best(spans, &scores, once);
            prop_assert!(keeps(&found));
            prop_assert!((score(&found, &scores, labels) - highest).abs() < 1e-4);
        }
    }

    #[test]
    fn a_sentence_without_words_or_labels_has_no_segment() {
        assert_eq!(Spans::new(0, 5).len(), 0);
        assert_eq!(best(Spans::new(0, 5), &[], &[true]), []);
        assert_eq!(best(Spans::new(3, 2), &[], &[]), []);
        assert_eq!(Sums::new(Spans::new(0, 5), &[]).total(), 0.0);
    }

    #[test]
    fn of_more_repeated_labels_than_are_watched_the_stronger_span_stays() {
        let labels = MOST_WATCHED + 1;
        let spans = Spans::new(2 * labels, 1);
        let mut scores = vec![-1.0; spans.len() * labels];
        for word in 0..spans.words {
            scores[word * labels + word / 2] = 1.0 + word as f32;
        }
        let found = best(spans, &scores, &vec![true; labels]);
        let words: Vec<usize> = found.iter().map(|one| one.span).collect();
        assert_eq!(words, (0..labels).map(|label| 2 * label + 1).collect::<Vec<_>>());
    }
}
