//! How likely a word is an LU of a frame, by what was found of it.

use super::asking::WordAnswers;
use super::neighbours::{Candidate, ELSEWHERE, UNKNOWN_LIKENESS};
use super::units::FrameUnit;
use super::writing::now;
use super::{Discoverer, FrameId};
use crate::learn::sigmoid;
use crate::model::{Discovery, LuId};

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

/// A number between 0 and 1 that is higher for a higher difference in the slot, also where a
/// sigmoid is 1.
fn share_of(slot: f32) -> f32 {
    0.5 + 0.5 * slot / (1.0 + slot.abs())
}

impl Discoverer<'_> {
    /// The words that are proposed, the likeliest first.
    pub(super) fn ranked(
        &self,
        frame: FrameId,
        units: &[FrameUnit],
        asked: Vec<WordAnswers>,
    ) -> Vec<Discovery> {
        let verifier = self.verifier_id();
        let time = now();
        let score_of = |of: &WordAnswers| match self.is_by_slot {
            true => of.slot.map_or(0.0, share_of),
            false => of.score(),
        };
        let found = asked.into_iter().map(|of| Discovery {
            frame,
            // Given when it is written.
            lu: LuId(0),
            score: score_of(&of),
            evokes: of.evokes(),
            slot: of.slot,
            support: of.candidate.support(),
            likeness: of.candidate.likeness,
            sources: of.candidate.sources(units),
            sentences: of.sentences,
            name: of.name,
            refused: Vec::new(),
            candidates: 0,
            asked: 0,
            verifier,
            time,
        });
        let least = self.options.least;
        let mut found: Vec<Discovery> = found.filter(|of| of.score >= least).collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
        found
    }

    /// The row that says that a frame was searched.
    pub(super) fn search_row(&self, of: &super::FrameDiscoveries) -> Discovery {
        Discovery {
            frame: of.frame,
            name: String::new(),
            lu: LuId(0),
            score: 0.0,
            evokes: None,
            slot: None,
            support: 0.0,
            likeness: None,
            sources: self.ways(),
            sentences: Vec::new(),
            refused: of.refused.clone(),
            candidates: of.candidates,
            asked: of.asked,
            verifier: self.verifier_id(),
            time: now(),
        }
    }
}
