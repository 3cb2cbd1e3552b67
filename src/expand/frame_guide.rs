//! What the lexicon says of one frame: its LUs, and words that are like them.

use std::collections::HashMap;

use super::Result;
use super::chain::Chain;
use super::trigger_lexicon::TriggerLexicon;
use super::unit::Unit;
use crate::model::Pos;
use crate::text::is_stop_word;

/// What a word loses of its likeness that FrameNet has in other frames and not in this one.
pub(super) const OF_OTHER_FRAMES: f32 = 0.15;

/// What guides to a frame.
pub(super) struct FrameGuide {
    pub(super) units: Vec<Unit>,
    /// Those of the LUs' lemmas that have a vector, with it.
    pub(super) vectors: Vec<(String, Vec<f32>)>,
    /// Words that may evoke the frame, with how much they are like its LUs, the most alike first.
    pub(super) words: Vec<(String, f32)>,
    /// Those that are likely to evoke it, as words of a part of speech: with their lemmas.
    pub(super) of_pos: HashMap<Pos, Vec<(String, String)>>,
}

/// Whether an LU could take the place of a seed's.
pub(super) fn could_stand(unit: &Unit, chain: &Chain) -> bool {
    let says_much = |text: &str| text.split(' ').any(|word| !is_stop_word(word));
    // An auxiliary could be any word's: `had` for `owned`.
    let may_be_empty = !says_much(&chain.seed.trigger());
    unit.pos == chain.seed.pos && !unit.is_pattern && (may_be_empty || says_much(&unit.lemma))
}

impl FrameGuide {
    pub(super) fn has(&self, unit: &(String, Pos)) -> bool {
        self.units.iter().any(|own| own.key() == *unit)
    }

    /// What an LU that other frames have, and this one has not, loses of its likeness to the frame.
    pub(super) fn loss(&self, lexicon: &TriggerLexicon<'_>, unit: &(String, Pos)) -> f32 {
        if lexicon.frames_with(unit) > 0 && !self.has(unit) { OF_OTHER_FRAMES } else { 0.0 }
    }

    /// The vectors of the LUs' lemmas, but for one of them.
    pub(super) fn vectors_beside(&self, lemma: &str) -> Vec<&[f32]> {
        let others = self.vectors.iter().filter(|(other, _)| other != lemma);
        others.map(|(_, vector)| vector.as_slice()).collect()
    }

    /// Words of the seed's part of speech that are likely to evoke the frame, with their lemmas,
    /// the most alike first.
    pub(super) fn alike(
        &mut self,
        chain: &Chain,
        lexicon: &mut TriggerLexicon<'_>,
        least_like: f32,
    ) -> Result<&[(String, String)]> {
        let (frame, pos) = (chain.seed.frame, chain.seed.pos);
        if !self.of_pos.contains_key(&pos) {
            let mut alike = Vec::new();
            for (word, likeness) in &self.words {
                let unit = lexicon.read(frame, word, pos)?;
                if unit.1 == pos && likeness - self.loss(lexicon, &unit) >= least_like {
                    alike.push((word.clone(), unit.0));
                }
            }
            self.of_pos.insert(pos, alike);
        }
        Ok(&self.of_pos[&pos])
    }
}
