//! What the lexicon says of words that may evoke a frame.
//!
//! A rewriter that may not use a word puts another one in its place, but a word of another meaning stands there as
//! well, and neither rewriter nor aligner minds much: both look at how words stand. The lexicon knows better. Words
//! that are like the LUs of a frame, by word vectors, are likely to evoke it, too, also those that are no LU of it
//! yet. So outputs are asked to hold one of them, and of a round's outputs one is kept whose trigger is like
//! the frame's LUs (`choice.rs`). Where that leads to nothing good, the sentence is rewritten without being asked.
//!
//! The papers do without: Culkin et al. 2021 ban words and ask for none.
//!
//! LUs that were proposed by an expansion do not count, or outputs would depend on what was expanded before.

use std::collections::{HashMap, HashSet};

use super::chain::Chain;
use super::lexicon::Lexicon;
use super::run::Result;
use crate::model::{FrameId, ReleaseId};
use crate::text::{fold, is_stop_word, words};
use crate::vectors::{WordVectors, likeness};

/// Likeness from which a word is asked for. Of 200 outputs that were judged, half of those with a trigger from 0.5 on
/// evoked the frame, and 1 of 134 of those under 0.4 (`models/word-vectors/MODEL_CARD.md`).
const LEAST_LIKE: f32 = 0.45;
/// Most words that are asked for, the most alike first.
const MOST_WORDS: usize = 100;
/// Fewer words than this leave too little choice to ask for one.
const FEWEST_WORDS: usize = 5;
/// Below this likeness a trigger is flagged.
pub(super) const UNLIKE: f32 = 0.4;

/// Word vectors, and what was found for the frames of a run.
pub(super) struct Guide {
    vectors: WordVectors,
    /// Whether the rewriter writes each word of the table.
    is_written: Vec<bool>,
    frames: HashMap<(ReleaseId, FrameId), FrameGuide>,
}

struct FrameGuide {
    /// The vectors of the LUs' lemmas.
    lexunits: Vec<Vec<f32>>,
    /// Words that may evoke the frame, the most alike first.
    words: Vec<String>,
}

impl Guide {
    /// A guide to the words that a rewriter writes.
    pub(super) fn new(vectors: WordVectors, is_written: impl Fn(&str) -> bool) -> Self {
        let is_written = vectors
            .iter()
            .map(|(word, _)| word.chars().all(char::is_alphabetic) && is_written(word))
            .collect();
        Self { vectors, is_written, frames: HashMap::new() }
    }

    /// The words of which the next output of a chain is to hold one: they may evoke its frame, and are neither
    /// banned nor in its sentence already. None where there are too few.
    pub(super) fn words(&mut self, chain: &Chain, lexicon: &Lexicon<'_>) -> Result<Vec<String>> {
        let natural = fold(&chain.seed.natural());
        let there: HashSet<&str> =
            words(&natural).iter().filter_map(|word| word.of(&natural)).collect();
        let banned: HashSet<String> = chain.banned.iter().map(|phrase| fold(phrase)).collect();
        let is_new = |word: &&String| !there.contains(word.as_str()) && !banned.contains(*word);
        let frame = self.frame(chain, lexicon)?;
        let words: Vec<String> = frame.words.iter().filter(is_new).cloned().collect();
        Ok(if words.len() < FEWEST_WORDS { Vec::new() } else { words })
    }

    /// How much a lemma is like the LUs of a chain's frame, from -1 to 1; none where either has no vector.
    pub(super) fn likeness(
        &mut self,
        chain: &Chain,
        lexicon: &Lexicon<'_>,
        lemma: &str,
    ) -> Result<Option<f32>> {
        let Some(vector) = self.vectors.of(lemma) else { return Ok(None) };
        let lexunits = &self.frame(chain, lexicon)?.lexunits;
        Ok((!lexunits.is_empty()).then(|| likeness(&vector, lexunits)))
    }

    fn frame(&mut self, chain: &Chain, lexicon: &Lexicon<'_>) -> Result<&FrameGuide> {
        let key = (chain.seed.release, chain.seed.frame);
        if !self.frames.contains_key(&key) {
            let lemmas = lexicon.lemmas_of(chain.seed.frame)?;
            let guide = self.guide_to(&lemmas);
            self.frames.insert(key, guide);
        }
        Ok(&self.frames[&key])
    }

    fn guide_to(&self, lemmas: &[String]) -> FrameGuide {
        let lexunits: Vec<Vec<f32>> =
            lemmas.iter().filter_map(|lemma| self.vectors.of(lemma)).collect();
        let mut alike: Vec<(&str, f32)> = self
            .vectors
            .iter()
            .zip(&self.is_written)
            .filter(|((word, _), is_written)| {
                // A function word is asked for only where it is an LU itself.
                **is_written && (!is_stop_word(word) || lemmas.iter().any(|lemma| lemma == word))
            })
            .map(|((word, vector), _)| (word, likeness(vector, &lexunits)))
            .filter(|(_, likeness)| *likeness >= LEAST_LIKE)
            .collect();
        // Stable: of equals the one that stands first in the table.
        alike.sort_by(|a, b| b.1.total_cmp(&a.1));
        alike.truncate(MOST_WORDS);
        FrameGuide { lexunits, words: alike.iter().map(|(word, _)| (*word).to_owned()).collect() }
    }
}
