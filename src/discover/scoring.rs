//! How likely a word is an LU of a frame, by what was found of it.

use super::neighbours::{Candidate, ELSEWHERE, UNKNOWN_LIKENESS};
use crate::learn::sigmoid;

/// What the score weighs: log-odds of the mean answer, with an undecided one beside those of the
/// sentences; the logarithm of 1 and the support; likeness; the difference in the slot; the
/// logarithm of the number of words.
const WEIGHTS: [f32; 5] = [1.0, 0.8, 3.0, 0.1, -0.8];
const BIAS: f32 = -3.0;

/// Log-odds, and differences in the slot, that count as certain.
const CERTAIN: f32 = 5.0;
const MOST_SLOT: f32 = 10.0;

/// How likely a word is an LU, 0 to 1: by what leads to it, the number of its words, the answers
/// that were given, and the difference in the slot if it is known.
pub(super) fn score(of: &Candidate, words: usize, answers: &[f32], slot: Option<f32>) -> f32 {
    let count = answers.len() as f32;
    let mean = (answers.iter().sum::<f32>() + 0.5) / (count + 1.0);
    let inputs = [
        (mean / (1.0 - mean)).ln().clamp(-CERTAIN, CERTAIN),
        of.support().ln_1p(),
        of.likeness.unwrap_or(UNKNOWN_LIKENESS),
        slot.unwrap_or(-MOST_SLOT / 2.0).clamp(-MOST_SLOT, MOST_SLOT),
        (words as f32).ln(),
    ];
    let products = WEIGHTS.iter().zip(inputs).map(|(weight, input)| weight * input);
    let elsewhere = if of.is_elsewhere { ELSEWHERE } else { 0.0 };
    sigmoid(BIAS + elsewhere + products.sum::<f32>())
}
