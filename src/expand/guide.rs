//! What the lexicon says of words that may evoke a frame.
//!
//! A rewriter that may not use a word puts another one in its place, but a word of another meaning stands there as
//! well, and neither rewriter nor aligner minds much: both look at how words stand. The lexicon knows better. So
//! outputs are asked to hold
//!
//! 1. a *sister LU* (Cui and Swayamdipta 2024): another LU of the frame, of the seed's part of speech and in the
//!    form in which the seed's trigger is;
//! 2. where no output with one is faultless, or there is none left, a word that is like the LUs of the frame, by word
//!    vectors: it is likely to evoke it, too, though it is no LU of it yet;
//! 3. nothing, where that leads to nothing good. If the trigger is unlike the frame then, the chain ends.
//!
//! Of a round's outputs one is kept whose trigger is like the frame's LUs (`choice.rs`).
//!
//! Culkin et al. 2021 ban words and ask for none; Cui and Swayamdipta put the sister into the sentence as it is. Here
//! the rewriter makes the sentence that goes with it.
//!
//! LUs that were proposed by an expansion do not count, or outputs would depend on what was expanded before.

use std::collections::{HashMap, HashSet};

use super::Guidance;
use super::chain::Chain;
use super::lexicon::Lexicon;
use super::run::Result;
use crate::decode::violations;
use crate::model::{FrameId, Pos, ReleaseId};
use crate::text::{TriggerForm, fold, is_stop_word, words};
use crate::vectors::{WordVectors, cosine, likeness};

/// Likeness from which a word that is no LU is asked for. Of outputs that were judged with such triggers, 43 of 100 from here
/// on evoked the frame (`models/word-vectors/MODEL_CARD.md`).
const LEAST_LIKE: f32 = 0.5;
/// What a word loses of its likeness that FrameNet has in other frames and not in this one.
const OF_OTHER_FRAMES: f32 = 0.15;
/// Most words that are asked for, the most alike first: more seldom write another sentence, and cost time.
const MOST_WORDS: usize = 100;
/// Below this likeness a trigger is flagged: of the judged ones 9 in 100 evoked the frame.
pub(super) const UNLIKE: f32 = 0.45;
/// What a likeness of 1 is worth beside log-probabilities. On the judged outputs a tenth more made twice to four
/// times as many acceptable, which is what one to one and a half of log-probability should mean; of 10, 13 and 25, which
/// were tried on 60 other exemplars, any kept nearly the same.
pub(super) const LIKENESS_WEIGHT: f64 = 20.0;
/// What the cosine of the trigger's lemma with the seed's is worth: of the LUs of a large frame those come first that
/// mean nearly the same. Without it some more outputs of 30 exemplars looked at were far-fetched.
pub(super) const CLOSENESS_WEIGHT: f64 = 6.0;

/// What of this a recipe's outputs depend on, beside the models, in words.
pub(super) fn rules(guidance: Guidance) -> String {
    let sisters = match guidance {
        Guidance::Lexicon => {
            "end where a trigger is unlike the frame; ask for an LU of it, of the seed's part of speech and form; then "
        }
        _ => "",
    };
    format!(
        "{sisters}ask for one of at most {MOST_WORDS} words like the frame ({LEAST_LIKE}, {OF_OTHER_FRAMES} less for \
         LUs of other frames) in the seed's form; object to triggers unlike it ({UNLIKE}), of another part of speech \
         and that are not what was asked for; a likeness is worth {LIKENESS_WEIGHT}, that of an LU is 1, one with the \
         seed's LU {CLOSENESS_WEIGHT}; where all is objected to, rewrite again, at last asking for nothing; v2"
    )
}

/// Word vectors, and what was found for the frames of a run.
pub(super) struct Guide {
    guidance: Guidance,
    vectors: WordVectors,
    /// Whether the rewriter writes each word of the table.
    is_written: Vec<bool>,
    frames: HashMap<(ReleaseId, FrameId), FrameGuide>,
}

struct FrameGuide {
    /// Lemma and part of speech of the LUs.
    units: Vec<(String, Pos)>,
    /// The vectors of those lemmas that have one.
    vectors: Vec<Vec<f32>>,
    /// Words that may evoke the frame, with how much they are like its LUs, the most alike first.
    words: Vec<(String, f32)>,
}

impl Guide {
    /// A guide to the words that a rewriter writes.
    pub(super) fn new(
        guidance: Guidance,
        vectors: WordVectors,
        is_written: impl Fn(&str) -> bool,
    ) -> Self {
        let is_written = vectors
            .iter()
            .map(|(word, _)| word.chars().all(char::is_alphabetic) && is_written(word))
            .collect();
        Self { guidance, vectors, is_written, frames: HashMap::new() }
    }

    /// What the next output of a chain is asked for: lists of words of which it is to hold one, to be tried one after
    /// the other. None of the words is a form of what is banned or stands in its sentence already.
    pub(super) fn wishes(
        &mut self,
        chain: &Chain,
        lexicon: &Lexicon<'_>,
    ) -> Result<Vec<Vec<String>>> {
        self.frame(chain, lexicon)?;
        let seed = &chain.seed;
        let frame = &self.frames[&(seed.release, seed.frame)];
        let form = TriggerForm::of(&seed.trigger(), &seed.lemma, seed.pos);
        let old = old_words(chain, lexicon);
        let is_new = |word: &String| {
            let holds_banned = || word.contains(' ') && holds_any(word, &chain.banned);
            let lemma = lexicon.lemma(word, seed.pos).0;
            !old.contains(&fold(word)) && !old.contains(&lemma) && !holds_banned()
        };
        let mut wishes: Vec<Vec<String>> = Vec::new();
        if self.guidance == Guidance::Lexicon {
            let sisters = self.sisters(frame, &form, chain).into_iter();
            wishes.push(sisters.filter(is_new).take(MOST_WORDS).collect());
        }
        let may_evoke = |(word, likeness): &&(String, f32)| {
            let unit = lexicon.lemma(word, seed.pos);
            let fits = unit.1 == seed.pos && form.forms_of(&unit.0).contains(word);
            fits && likeness - frame.loss(lexicon, &unit) >= LEAST_LIKE
        };
        let alike = frame.words.iter().filter(may_evoke).map(|(word, _)| word.clone());
        wishes.push(alike.filter(is_new).take(MOST_WORDS).collect());
        wishes.retain(|words| !words.is_empty());
        Ok(wishes)
    }

    /// The LUs of the frame that have the seed's part of speech, in the form of its trigger; those that are most like
    /// its own lemma first.
    fn sisters(&self, frame: &FrameGuide, form: &TriggerForm, chain: &Chain) -> Vec<String> {
        let of_pos = frame.units.iter().filter(|(_, pos)| *pos == chain.seed.pos);
        let mut sisters: Vec<(f32, &str)> =
            of_pos.map(|(lemma, _)| (self.closeness(chain, lemma), lemma.as_str())).collect();
        sisters.sort_by(|a, b| b.0.total_cmp(&a.0));
        sisters.iter().flat_map(|(_, lemma)| form.forms_of(lemma)).collect()
    }

    /// How much a lemma is like the LUs of a chain's frame, from -1 to 1: 1 for an LU of it that has the seed's part of
    /// speech, 0 without a vector; none where the frame's LUs have none.
    pub(super) fn likeness(
        &mut self,
        chain: &Chain,
        lexicon: &Lexicon<'_>,
        unit: &(String, Pos),
    ) -> Result<Option<f32>> {
        let vector = self.vectors.of(&unit.0);
        let frame = self.frame(chain, lexicon)?;
        if unit.1 == chain.seed.pos && frame.units.contains(unit) {
            return Ok(Some(1.0));
        }
        let like = |vector: Vec<f32>| likeness(&vector, &frame.vectors) - frame.loss(lexicon, unit);
        Ok((!frame.vectors.is_empty()).then(|| vector.map_or(0.0, like)))
    }

    /// The cosine of a lemma with that of the seed's LU, 0 where one has no vector.
    pub(super) fn closeness(&self, chain: &Chain, lemma: &str) -> f32 {
        let vectors = self.vectors.of(&chain.seed.lemma).zip(self.vectors.of(lemma));
        vectors.map_or(0.0, |(seed, other)| cosine(&seed, &other))
    }

    fn frame(&mut self, chain: &Chain, lexicon: &Lexicon<'_>) -> Result<&FrameGuide> {
        let key = (chain.seed.release, chain.seed.frame);
        if !self.frames.contains_key(&key) {
            let guide = self.guide_to(lexicon.units_of(chain.seed.frame)?);
            self.frames.insert(key, guide);
        }
        Ok(&self.frames[&key])
    }

    fn guide_to(&self, units: Vec<(String, Pos)>) -> FrameGuide {
        let mut lemmas: Vec<&str> = units.iter().map(|(lemma, _)| lemma.as_str()).collect();
        lemmas.dedup();
        let vectors: Vec<Vec<f32>> =
            lemmas.iter().filter_map(|lemma| self.vectors.of(lemma)).collect();
        let mut alike: Vec<(&str, f32)> = self
            .vectors
            .iter()
            .zip(&self.is_written)
            .filter(|((word, _), is_written)| {
                // A function word is asked for only where it is an LU itself.
                **is_written && (!is_stop_word(word) || lemmas.contains(word))
            })
            .map(|((word, vector), _)| (word, likeness(vector, &vectors)))
            .filter(|(_, likeness)| *likeness >= LEAST_LIKE)
            .collect();
        // Stable: of equals the one that stands first in the table.
        alike.sort_by(|a, b| b.1.total_cmp(&a.1));
        let words = alike.iter().map(|(word, likeness)| ((*word).to_owned(), *likeness)).collect();
        FrameGuide { units, vectors, words }
    }
}

/// Words of what is banned and of the seed's sentence, with their lemmas, case folded.
fn old_words(chain: &Chain, lexicon: &Lexicon<'_>) -> HashSet<String> {
    let natural = chain.seed.natural();
    let mut old = HashSet::new();
    for text in chain.banned.iter().chain([&natural]) {
        let words = words(text);
        let words = words.iter().filter_map(|word| word.of(text)).chain([text.as_str()]);
        old.extend(words.flat_map(|word| [fold(word), lexicon.lemma(word, chain.seed.pos).0]));
    }
    old
}

impl FrameGuide {
    /// What an LU that other frames have, and this one has not, loses of its likeness to the frame.
    fn loss(&self, lexicon: &Lexicon<'_>, unit: &(String, Pos)) -> f32 {
        if lexicon.has_unit(unit) && !self.units.contains(unit) { OF_OTHER_FRAMES } else { 0.0 }
    }
}

/// Whether a text holds one of some phrases, as whole words, letter case aside.
pub(super) fn holds_any(text: &str, phrases: &[String]) -> bool {
    violations(text, phrases).is_ok_and(|found| !found.is_empty())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::chain::Seed;
    use super::*;
    use crate::database::{Database, ImportOptions};
    use crate::model::{AnnotationSetId, IdSpace, Span};

    fn guide(is_written: impl Fn(&str) -> bool) -> Guide {
        let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/word-vectors");
        Guide::new(Guidance::Lexicon, WordVectors::open(&table).unwrap(), is_written)
    }

    fn units(lemmas: &[&str]) -> Vec<(String, Pos)> {
        lemmas.iter().map(|&lemma| (lemma.to_owned(), Pos::Verb)).collect()
    }

    #[test]
    fn words_are_asked_for_that_are_like_the_frame_and_written() {
        let lemmas = units(&["confirm", "verify", "certify", "no such lemma zzyzx"]);
        let guide = guide(|word| word != "confirmation");
        let frame = guide.guide_to(lemmas);
        let likeness_of = |word: &str| likeness(&guide.vectors.of(word).unwrap(), &frame.vectors);
        let likenesses: Vec<f32> = frame.words.iter().map(|(_, likeness)| *likeness).collect();
        assert!(frame.words.iter().all(|(word, likeness)| *likeness == likeness_of(word)));
        assert!(frame.words.len() >= 5);
        assert!(
            likenesses.is_sorted_by(|a, b| a >= b) && likenesses.iter().all(|l| *l >= LEAST_LIKE)
        );
        let has = |word: &str| frame.words.iter().any(|(other, _)| other == word);
        assert!(has("verify") && has("verified") && !has("confirmation") && !has("banana"));
    }

    #[test]
    fn function_words_are_asked_for_only_where_they_are_lexical_units() {
        let guide = guide(|_| true);
        let frame = guide.guide_to(units(&["any", "all"]));
        let has = |word: &str| frame.words.iter().any(|(other, _)| other == word);
        assert!(has("any") && has("all") && !has("some"), "{:?}", frame.words);
        for word in ["any", "some"] {
            let vector = guide.vectors.of(word).unwrap();
            assert!(is_stop_word(word) && likeness(&vector, &frame.vectors) >= LEAST_LIKE);
        }
        assert!(
            guide.guide_to(vec![]).words.is_empty() && guide.guide_to(vec![]).vectors.is_empty()
        );
    }

    /// What is asked for of a seed of the frame Checking in the mini lexicon, after some triggers.
    fn wishes(guidance: Guidance, trigger: &str, lemma: &str, banned: &[&str]) -> Vec<Vec<String>> {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open_writer(dir.path()).unwrap();
        let lexicon = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet");
        let report = database.import(&lexicon, &ImportOptions::default(), &mut |_| {}).unwrap();
        let release = report.release.id;
        let text = format!("They {trigger} the audit .");
        let set = AnnotationSetId::new(IdSpace::Exemplar, 1);
        let (frame, end) = (FrameId(102), 5 + u32::try_from(trigger.len()).unwrap());
        let targets = vec![Span::new(5, end)];
        let (lemma, pos) = (lemma.to_owned(), Pos::Verb);
        let mut chain =
            Chain::new(Seed { release, set, frame, text, targets: targets.clone(), lemma, pos });
        for word in banned {
            let text = format!("They {word} it.");
            let end = 5 + u32::try_from(word.len()).unwrap();
            chain.push(set, &text, &[Span::new(5, end)], word, Pos::Verb);
        }
        let lexicon = Lexicon::new(&database, release).unwrap();
        let vectors = guide(|_| true).vectors;
        Guide::new(guidance, vectors, |_| true).wishes(&chain, &lexicon).unwrap()
    }

    #[test]
    fn other_lexical_units_are_asked_for_in_the_form_of_the_trigger_then_words_like_them() {
        let asked = wishes(Guidance::Lexicon, "inspected", "inspect", &["verify"]);
        let [sisters, alike] = asked.as_slice() else { panic!("{asked:?}") };
        let mut sorted = sisters.clone();
        sorted.sort();
        // Not `verified`, which is banned, nor `audited`, a form of a word that the sentence has; no noun.
        assert_eq!(sorted, ["checked", "examined", "looked over", "proofed"]);
        assert_eq!(sisters[0], "examined", "the most alike first");
        let has = |word: &str| alike.iter().any(|other| other == word);
        assert!(has("tested") && !has("test") && !has("verified"), "{alike:?}");
        let other_form = wishes(Guidance::Lexicon, "inspect", "inspect", &[]);
        assert!(other_form[0].contains(&"look over".to_owned()), "{other_form:?}");
    }

    #[test]
    fn a_phrase_is_not_asked_for_when_it_holds_a_banned_word() {
        let asked = wishes(Guidance::Lexicon, "inspect", "inspect", &["look"]);
        assert!(!asked[0].contains(&"look over".to_owned()), "{asked:?}");
    }

    #[test]
    fn words_alike_alone_are_asked_for_on_request() {
        let asked = wishes(Guidance::Alike, "inspected", "inspect", &[]);
        assert!(asked.len() == 1 && asked[0].contains(&"examined".to_owned()), "{asked:?}");
    }
}
