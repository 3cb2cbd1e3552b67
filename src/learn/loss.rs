//! What outputs cost, and which way each should move.

use super::{sigmoid, softplus};

/// What the rows of a step should come to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Labels {
    /// What the one output should come to behind a sigmoid, in [0, 1], and how much the row counts:
    /// the loss is binary cross-entropy.
    Scores(Vec<(f32, f32)>),
    /// The number of the output that should be highest: the loss is cross-entropy behind a softmax,
    /// averaged over the rows.
    Classes(Vec<usize>),
    /// The same of rows that each have outputs to choose from; the loss is the mean by their
    /// weights.
    Choices(Vec<Choice>),
}

/// What a row should come to that has a choice of outputs.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Choice {
    /// The number of the output that should be highest.
    pub(crate) label: usize,
    /// The outputs among which it should be, the label with them; empty for all. The others do not
    /// change.
    pub(crate) among: Vec<usize>,
    /// How much the row counts.
    pub(crate) weight: f32,
    /// Share of the label that is spread evenly over the outputs to choose from (Szegedy et al.
    /// 2016, section 7).
    pub(crate) smoothing: f32,
}

impl Labels {
    /// Labels in [0, 1], of which each counts as much as any other; the loss is their mean.
    pub(crate) fn scores(labels: &[f32]) -> Self {
        let weight = 1.0 / labels.len() as f32;
        Self::Scores(labels.iter().map(|label| (*label, weight)).collect())
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Scores(labels) => labels.len(),
            Self::Classes(labels) => labels.len(),
            Self::Choices(choices) => choices.len(),
        }
    }

    /// The loss of `outputs` (R, O), natural log; its derivatives take their place.
    pub(crate) fn loss(&self, outputs: &mut [f32]) -> f64 {
        let mut loss = 0.0;
        match self {
            Self::Scores(labels) => {
                for (logit, &(label, weight)) in outputs.iter_mut().zip(labels) {
                    loss += f64::from(weight) * f64::from(softplus(*logit) - label * *logit);
                    *logit = weight * (sigmoid(*logit) - label);
                }
            }
            Self::Classes(labels) => {
                let (rows, width) = (labels.len(), outputs.len() / labels.len().max(1));
                for (scores, &label) in outputs.chunks_exact_mut(width.max(1)).zip(labels) {
                    softmax(scores);
                    loss -= f64::from(scores[label].max(f32::MIN_POSITIVE)).ln() / rows as f64;
                    scores[label] -= 1.0;
                    scores.iter_mut().for_each(|share| *share /= rows as f32);
                }
            }
            Self::Choices(choices) => {
                let width = outputs.len() / choices.len().max(1);
                let total: f32 = choices.iter().map(|choice| choice.weight).sum();
                for (scores, choice) in outputs.chunks_exact_mut(width.max(1)).zip(choices) {
                    loss += choice.loss(scores, total.max(f32::MIN_POSITIVE));
                }
            }
        }
        loss
    }
}

impl Choice {
    /// What the outputs of its row cost, of rows that weigh `total`; the derivatives take their
    /// place.
    fn loss(&self, scores: &mut [f32], total: f32) -> f64 {
        let all: Vec<usize>;
        let among = match self.among.is_empty() {
            true => {
                all = (0..scores.len()).collect();
                &all
            }
            false => &self.among,
        };
        let mut shares: Vec<f32> = among.iter().map(|at| scores[*at]).collect();
        softmax(&mut shares);
        scores.fill(0.0);
        let weight = self.weight / total;
        let spread = self.smoothing / among.len() as f32;
        let mut loss = 0.0;
        for (&at, share) in among.iter().zip(shares) {
            let wanted = spread + f32::from(u8::from(at == self.label)) * (1.0 - self.smoothing);
            loss -= f64::from(weight * wanted) * f64::from(share.max(f32::MIN_POSITIVE)).ln();
            scores[at] = weight * (share - wanted);
        }
        loss
    }
}

/// Makes shares of scores.
pub(crate) fn softmax(scores: &mut [f32]) {
    let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - highest).exp());
    let sum: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|share| *share /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_odds_cost_the_logarithm_of_their_number() {
        let mut logits = [0.0; 4];
        let loss = Labels::scores(&[0.0, 1.0, 0.5, 0.25]).loss(&mut logits);
        assert!((loss - std::f64::consts::LN_2).abs() < 1e-6, "{loss}");
        assert_eq!(logits, [0.125, -0.125, 0.0, 0.0625]);
        let loss = Labels::Classes(vec![2, 0]).loss(&mut [0.0; 6]);
        assert!((loss - 3.0_f64.ln()).abs() < 1e-6, "{loss}");
    }

    #[test]
    fn a_choice_moves_only_the_outputs_that_it_is_among() {
        let choice = Choice { label: 2, among: vec![0, 2], weight: 3.0, smoothing: 0.2 };
        let other = Choice { label: 1, weight: 1.0, ..Choice::default() };
        let mut logits = [0.0; 8];
        let loss = Labels::Choices(vec![choice, other]).loss(&mut logits);
        // Three quarters of the weight at even odds of two, one quarter of four.
        assert!((loss - (0.75 * 2.0_f64.ln() + 0.25 * 4.0_f64.ln())).abs() < 1e-6, "{loss}");
        // Wanted: 0.1 of the first, 0.9 of the third.
        let expected = [0.75 * 0.4, 0.0, -0.75 * 0.4, 0.0, 0.0625, -0.1875, 0.0625, 0.0625];
        for (found, expected) in logits.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{logits:?}");
        }
    }

    #[test]
    fn a_loss_is_finite_however_sure_the_network_is() {
        let loss = Labels::Scores(vec![(0.0, 1.0)]).loss(&mut [1e4]);
        assert!(loss.is_finite() && loss > 9e3, "{loss}");
        let loss = Labels::Classes(vec![0]).loss(&mut [-1e4, 1e4]);
        assert!(loss.is_finite() && loss > 80.0, "{loss}");
    }
}
