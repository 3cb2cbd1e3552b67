//! Words beside a seed's trigger that a round bans, so that an output rewords more than the
//! trigger.
//!
//! A rewriter copies what it may copy. Culkin et al. 2021 ban triggers alone; sentences that differ
//! in one word teach less. So a recipe may ban a share of the sentence's other content words, as
//! far as there are enough other ones in each round. They stay banned for that round alone: they
//! evoke other frames.

use super::phrase_set::PhraseSet;
use super::seed::Seed;
use super::{ExpandError, Result};
use crate::model::Pos;
use crate::tag::Tagger;
use crate::text::{Morphology, fold, is_stop_word, words};

/// A shorter word seldom has another way to be said.
const LEAST_LETTERS: usize = 4;
/// Most words of a round. A prompt lists 16 banned words, and the trigger shall be among them.
const MOST_A_ROUND: usize = 12;
/// Content words without which a sentence says the opposite, or another amount.
const TURNING: [&str; 26] = [
    "almost", "barely", "else", "enough", "even", "ever", "every", "fewer", "hardly", "least",
    "less", "many", "more", "most", "much", "never", "nobody", "none", "nothing", "only", "other",
    "rarely", "scarcely", "seldom", "several", "without",
];

/// The words of a seed that rounds ban in turn.
#[derive(Default)]
pub(super) struct Rewording {
    /// Each with its inflections, in the order in which they are banned.
    words: Vec<Vec<String>>,
    share: f32,
}

impl Rewording {
    /// Each round bans a share of the words that are free.
    pub(super) fn of(
        tagger: &Tagger,
        seed: &Seed,
        morphology: &Morphology,
        share: f32,
    ) -> Result<Self> {
        let spans = words(&seed.text);
        let sentence: Vec<&str> = spans.iter().filter_map(|span| span.of(&seed.text)).collect();
        let tagged = tagger.tag_each(std::slice::from_ref(&sentence));
        let tagged = tagged.map_err(|source| ExpandError::Tag { source })?.pop();
        // A sentence that is too long for the tagger is not reworded.
        let Some(Ok(tagged)) = tagged else { return Ok(Self { words: Vec::new(), share }) };
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        for ((span, word), tag) in spans.iter().zip(sentence).zip(tagged) {
            let Some(pos) = content(tag.name) else { continue };
            if !may_go(word) || seed.overlaps_target(*span) {
                continue;
            }
            let (lemma, _) = morphology.lemmatize(&fold(word), pos, &|_, _| false);
            if found.iter().all(|(other, _)| *other != lemma) {
                let mut forms = morphology.forms_of_trigger(word, &lemma, pos);
                forms.retain(|form| !is_stop_word(form));
                found.push((lemma, forms));
            }
        }
        // By hash: the beginning of a sentence is no more to be reworded than its end.
        found.sort_by_cached_key(|(lemma, _)| *blake3::hash(lemma.as_bytes()).as_bytes());
        Ok(Self { words: found.into_iter().map(|(_, forms)| forms).collect(), share })
    }

    /// Whether there is no word to ban.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// What the round after so many others bans, of words that nothing asks for and that are not
    /// banned by themselves.
    pub(super) fn bans(&self, rounds: u16, asked: &[String], banned: &[String]) -> Vec<String> {
        let banned = PhraseSet::new(banned);
        let is_free = |forms: &&Vec<String>| {
            let set = PhraseSet::new(*forms);
            !banned.has(&forms[0]) && !asked.iter().any(|phrase| set.is_in(phrase))
        };
        let free: Vec<&Vec<String>> = self.words.iter().filter(is_free).collect();
        if free.is_empty() {
            return Vec::new();
        }
        let wanted = (self.share * free.len() as f32).round() as usize;
        let a_round = wanted.clamp(1, MOST_A_ROUND.min(free.len()));
        let first = usize::from(rounds) * a_round;
        let of_round = (first..first + a_round).map(|at| free[at % free.len()]);
        of_round.flatten().cloned().collect()
    }
}

/// Whether a content word may be said otherwise.
fn may_go(word: &str) -> bool {
    let is_plain = word.chars().all(char::is_alphabetic) && !is_stop_word(word);
    let is_long = word.chars().count() >= LEAST_LETTERS;
    is_plain && is_long && TURNING.binary_search(&fold(word).as_str()).is_err()
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

    use super::super::seed::Elements;
    use super::*;
    use crate::engine::Device;
    use crate::model::{AnnotationSetId, FrameId, IdSpace, ReleaseId, Span};

    fn rewording(share: f32) -> Rewording {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
        let at = |name: &str| models.join(name);
        let tagger = Tagger::open(&at("tagger"), &at("aligner-encoder"), &Device::cpu()).unwrap();
        let seed = Seed {
            release: ReleaseId(1),
            set: AnnotationSetId::new(IdSpace::Exemplar, 1),
            frame: FrameId(102),
            text: "In London they quickly inspected the old brakes , and never found the train ."
                .to_owned(),
            targets: vec![Span::new(23, 32)],
            lemma: "inspect".to_owned(),
            pos: Pos::Verb,
            expressed: None,
            elements: Elements::default(),
        };
        Rewording::of(&tagger, &seed, &Morphology::English, share).unwrap()
    }

    #[test]
    fn rounds_ban_other_content_words_in_turn() {
        let all = rewording(1.0).bans(0, &[], &[]);
        for word in ["quickly", "brakes", "brake", "train", "found", "find"] {
            assert!(all.iter().any(|form| form == word), "{word} of {all:?}");
        }
        for word in ["London", "inspected", "they", "old", "the", "never"] {
            assert!(!all.iter().any(|form| form == word), "{word} of {all:?}");
        }
        let some = rewording(0.25);
        let [first, second, third, fourth, fifth] =
            [0, 1, 2, 3, 4].map(|at| some.bans(at, &[], &[]));
        let mut rounds = vec![first.clone(), second, third, fourth];
        rounds.sort();
        rounds.dedup();
        assert_eq!((rounds.len(), fifth), (4, first), "four words in turn");
    }

    #[test]
    fn a_round_bans_of_the_words_that_nothing_asks_for_and_nothing_bans() {
        let asked = ["braked the train".to_owned()];
        let left = rewording(1.0).bans(0, &asked, &["found".to_owned()]);
        assert!(left.contains(&"brakes".to_owned()) && left.contains(&"quickly".to_owned()));
        assert!(!left.contains(&"train".to_owned()) && !left.contains(&"find".to_owned()));
        // A share of what is free is still one word.
        let one = rewording(0.01).bans(7, &asked, &[]);
        assert!(!one.is_empty() && !one.contains(&"train".to_owned()), "{one:?}");
        assert!(Rewording::default().bans(3, &[], &[]).is_empty());
        assert!(TURNING.is_sorted());
    }
}
