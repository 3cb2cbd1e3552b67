//! What a search found of a frame, as it is kept.

use super::asking::WordAnswers;
use super::units::FrameUnit;
use super::writing::now;
use super::{Discoverer, FrameId};
use crate::model::{Discovery, LuId};

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
