//! Words beside a seed's trigger that a round bans, so that an output rewords more than the
//! trigger.
//!
//! A rewriter copies what it may copy. Culkin et al. 2021 ban triggers alone; sentences that differ
//! in one word teach less. So a recipe may ban a share of the sentence's other content words, other
//! ones in each round. They stay banned for that round alone: they evoke other frames.

use super::chain::Seed;
use super::phrase_set::PhraseSet;
use super::{ExpandError, Result};
use crate::model::Pos;
use crate::tag::Tagger;
use crate::text::{inflections_of_trigger, is_stop_word, words};

/// What of this a recipe's outputs depend on, beside the tagger, in words.
pub(super) const RULES: &str = "of nouns, verbs, adjectives and adverbs beside the trigger, without names and words of \
                                three letters, so many a round in the order of their hashes, with their inflections; \
                                none that is asked for; v1";

/// A shorter word seldom has another way to be said.
const LEAST_LETTERS: usize = 4;

/// The words of a seed that rounds ban in turn.
#[derive(Default)]
pub(super) struct Rewording {
    /// Each with its inflections, in the order in which they are banned.
    words: Vec<Vec<String>>,
    a_round: usize,
}

impl Rewording {
    /// Each round bans a share of the words, at least one of them.
    pub(super) fn of(tagger: &Tagger, seed: &Seed, share: f32) -> Result<Self> {
        let spans = words(&seed.text);
        let sentence: Vec<&str> = spans.iter().filter_map(|span| span.of(&seed.text)).collect();
        let tagged = tagger.tag_each(std::slice::from_ref(&sentence));
        let tagged = tagged.map_err(|source| ExpandError::Tag { source })?.pop();
        // A sentence that is too long for the tagger is too long for the rewriter, too.
        let Some(Ok(tagged)) = tagged else { return Ok(Self::default()) };
        let mut found: Vec<Vec<String>> = Vec::new();
        for ((span, word), tag) in spans.iter().zip(sentence).zip(tagged) {
            let Some(pos) = content(tag.name) else { continue };
            let is_plain = word.chars().all(char::is_alphabetic) && !is_stop_word(word);
            if is_plain && word.chars().count() >= LEAST_LETTERS && !seed.overlaps_target(*span) {
                let forms = inflections_of_trigger(word, word, pos);
                if !found.contains(&forms) {
                    found.push(forms);
                }
            }
        }
        // By hash: the beginning of a sentence is no more to be reworded than its end.
        found.sort_by_cached_key(|forms| *blake3::hash(forms[0].as_bytes()).as_bytes());
        let a_round = ((share * found.len() as f32).round() as usize).max(1);
        Ok(Self { words: found, a_round })
    }

    /// What the round after so many others bans, but for words that it asks for.
    pub(super) fn bans(&self, rounds: u16, asked: &[String]) -> Vec<String> {
        let first = usize::from(rounds) * self.a_round;
        let of_round = (first..first + self.a_round.min(self.words.len()))
            .map(|at| &self.words[at % self.words.len()]);
        let may_go = |forms: &&Vec<String>| {
            let forms = PhraseSet::new(*forms);
            !asked.iter().any(|phrase| forms.is_in(phrase))
        };
        of_round.filter(may_go).flatten().cloned().collect()
    }
}

/// The part of speech of a content word by its tag of the Penn Treebank; none for others, and for
/// names.
fn content(tag: &str) -> Option<Pos> {
    match tag {
        "NN" | "NNS" => Some(Pos::Noun),
        "JJ" | "JJR" | "JJS" => Some(Pos::Adjective),
        "RB" | "RBR" | "RBS" => Some(Pos::Adverb),
        tag => tag.starts_with("VB").then_some(Pos::Verb),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::elements::Elements;
    use super::*;
    use crate::compute::Device;
    use crate::model::{AnnotationSetId, FrameId, IdSpace, ReleaseId, Span};

    fn rewording(share: f32) -> Rewording {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
        let at = |name: &str| models.join(name);
        let tagger = Tagger::open(&at("tagger"), &at("aligner-encoder"), &Device::cpu()).unwrap();
        let seed = Seed {
            release: ReleaseId(1),
            set: AnnotationSetId::new(IdSpace::Exemplar, 1),
            frame: FrameId(102),
            text: "In London they quickly inspected the old brakes of the big train .".to_owned(),
            targets: vec![Span::new(23, 32)],
            lemma: "inspect".to_owned(),
            pos: Pos::Verb,
            expressed: None,
            elements: Elements::default(),
        };
        Rewording::of(&tagger, &seed, share).unwrap()
    }

    #[test]
    fn rounds_ban_other_content_words_in_turn() {
        let all = rewording(1.0).bans(0, &[]);
        for word in ["quickly", "brakes", "brake", "train"] {
            assert!(all.iter().any(|form| form == word), "{word} of {all:?}");
        }
        for word in ["London", "inspected", "they", "old", "the"] {
            assert!(!all.iter().any(|form| form == word), "{word} of {all:?}");
        }
        let one = rewording(0.3);
        let [first, second, third, fourth] = [0, 1, 2, 3].map(|round| one.bans(round, &[]));
        assert!(first != second && second != third && third != first);
        assert_eq!(fourth, first);
    }

    #[test]
    fn what_is_asked_for_is_not_banned() {
        let asked = ["braked the train".to_owned()];
        let left = rewording(1.0).bans(0, &asked);
        assert!(left.contains(&"quickly".to_owned()) && !left.contains(&"train".to_owned()));
        assert!(Rewording::default().bans(3, &[]).is_empty());
    }
}
