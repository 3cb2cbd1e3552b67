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
/// evoked the frame, and 1 of 138 of those under 0.4 (`models/word-vectors/MODEL_CARD.md`).
const LEAST_LIKE: f32 = 0.45;
/// Most words that are asked for, the most alike first: more seldom write another sentence, and cost time.
const MOST_WORDS: usize = 100;
/// Fewer words than this leave too little choice to ask for one.
const FEWEST_WORDS: usize = 5;
/// Below this likeness a trigger is flagged.
pub(super) const UNLIKE: f32 = 0.4;
/// What a likeness of 1 is worth beside log-probabilities. On the judged outputs a tenth more made twice to four
/// times as many acceptable, which is what one to one and a half of log-probability should mean; of 10, 13 and 25, which
/// were tried on 60 other exemplars, any kept nearly the same.
pub(super) const LIKENESS_WEIGHT: f64 = 20.0;

/// What of this a recipe's outputs depend on, beside the models, in words.
pub(super) fn rules() -> String {
    format!(
        "ask for one of at most {MOST_WORDS} words like the frame ({LEAST_LIKE}), unless they are fewer than \
         {FEWEST_WORDS}; object to triggers unlike it ({UNLIKE}) and of another part of speech; a likeness is \
         worth {LIKENESS_WEIGHT}; where all is objected to, rewrite again and ask for nothing; v1"
    )
}

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

    /// The words of which the next output of a chain is to hold one: they may evoke its frame, and are no forms of
    /// what is banned or stands in its sentence already. None where there are too few.
    pub(super) fn words(&mut self, chain: &Chain, lexicon: &Lexicon<'_>) -> Result<Vec<String>> {
        let lemma = |word: &str| lexicon.lemma(word, chain.seed.pos).0;
        let natural = chain.seed.natural();
        let mut old = HashSet::new();
        for text in chain.banned.iter().chain([&natural]) {
            let words = words(text);
            let words = words.iter().filter_map(|word| word.of(text));
            old.extend(words.flat_map(|word| [fold(word), lemma(word)]));
        }
        let is_new = |word: &&String| !old.contains(*word) && !old.contains(&lemma(word));
        let frame = self.frame(chain, lexicon)?;
        let words: Vec<String> = frame.words.iter().filter(is_new).cloned().collect();
        Ok(if words.len() < FEWEST_WORDS { Vec::new() } else { words })
    }

    /// How much a lemma is like the LUs of a chain's frame, from -1 to 1, and 0 without a vector; none where the
    /// frame's LUs have none.
    pub(super) fn likeness(
        &mut self,
        chain: &Chain,
        lexicon: &Lexicon<'_>,
        lemma: &str,
    ) -> Result<Option<f32>> {
        let vector = self.vectors.of(lemma);
        let lexunits = &self.frame(chain, lexicon)?.lexunits;
        let like = |vector: Vec<f32>| likeness(&vector, lexunits);
        Ok((!lexunits.is_empty()).then(|| vector.map_or(0.0, like)))
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn guide(is_written: impl Fn(&str) -> bool) -> Guide {
        let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/word-vectors");
        Guide::new(WordVectors::open(&table).unwrap(), is_written)
    }

    fn owned(lemmas: &[&str]) -> Vec<String> {
        lemmas.iter().map(|&lemma| lemma.to_owned()).collect()
    }

    #[test]
    fn words_are_asked_for_that_are_like_the_frame_and_written() {
        let lemmas = owned(&["confirm", "verify", "certify", "no such lemma zzyzx"]);
        let guide = guide(|word| word != "confirmation");
        let frame = guide.guide_to(&lemmas);
        let likeness_of =
            |word: &String| likeness(&guide.vectors.of(word).unwrap(), &frame.lexunits);
        let likenesses: Vec<f32> = frame.words.iter().map(likeness_of).collect();
        assert!(frame.words.len() >= FEWEST_WORDS && frame.words.len() <= MOST_WORDS);
        assert!(
            likenesses.is_sorted_by(|a, b| a >= b) && likenesses.iter().all(|l| *l >= LEAST_LIKE)
        );
        let has = |word: &str| frame.words.iter().any(|other| other == word);
        assert!(has("verify") && has("verified") && !has("confirmation") && !has("banana"));
    }

    #[test]
    fn function_words_are_asked_for_only_where_they_are_lexical_units() {
        let guide = guide(|_| true);
        let frame = guide.guide_to(&owned(&["above", "below", "beneath", "over"]));
        let has = |word: &str| frame.words.iter().any(|other| other == word);
        assert!(has("above") && has("over") && !has("under"), "{:?}", frame.words);
        for word in ["over", "under"] {
            let vector = guide.vectors.of(word).unwrap();
            assert!(is_stop_word(word) && likeness(&vector, &frame.lexunits) >= LEAST_LIKE);
        }
        assert!(guide.guide_to(&[]).words.is_empty() && guide.guide_to(&[]).lexunits.is_empty());
    }
}
