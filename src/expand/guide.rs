//! What the lexicon says of words that may evoke a frame.
//!
//! A rewriter that may not use a word puts another one in its place, often of another meaning.
//! Neither rewriter nor aligner minds much: both look at how words stand. The lexicon knows better.
//! So outputs must contain
//!
//! 1. a *sister LU* (Cui and Swayamdipta 2024): another LU of the frame, of the seed's part of
//!    speech and inflected like its trigger. LUs whose annotated sentences express the seed's FEs
//!    come first (`valence.rs`);
//! 2. where no output with one is faultless, or there is none left, another of them;
//! 3. then a word that is like the LUs of the frame, by word vectors: it is likely to evoke it,
//!    too, though it is no LU of it yet;
//! 4. nothing, where that leads to nothing good. If the trigger is unlike the frame then, or is no
//!    LU of it and something can be objected to it, the chain ends.
//!
//! Of a round's outputs one is kept whose trigger is like the frame's LUs (`ranking.rs`).
//!
//! Culkin et al. 2021 ban words and ask for none; Cui and Swayamdipta put the sister into the
//! sentence as it is. Here the rewriter makes the sentence that goes with it.
//!
//! LUs that were proposed by an expansion do not count, or outputs would depend on what was
//! expanded before.

use std::collections::HashMap;
use std::sync::Arc;

use super::chain::Chain;
use super::frame_guide::{FrameGuide, could_stand};
use super::in_context;
use super::trigger_lexicon::TriggerLexicon;
use super::trigger_slot::TriggerSlot;
use super::unit::Unit;
use super::{FromSisters, Guidance, Result};
use crate::model::{FrameId, Pos, ReleaseId};
use crate::text::{is_stop_word, plain_lemma};
use crate::vectors::{WordVectors, cosine, likeness};

/// Likeness from which a word that is no LU of the frame is asked for. Of judged outputs with such
/// triggers, 25 of 63 from here on evoked the frame (`models/word-vectors/MODEL_CARD.md`).
const LEAST_LIKE: f32 = 0.5;
/// Most words that are asked for, the most alike first: more seldom write another sentence, and
/// cost time.
const MOST_WORDS: usize = 100;
/// Below this likeness a trigger is flagged: of the judged ones 11 of 125 evoked the frame.
const UNLIKE: f32 = 0.45;
/// Below this likeness a trigger is flagged in a lexicon that has three LUs a frame. Such LUs are
/// seldom like one another, and a word is seldom like all of them. Of 60 frames that the experiment
/// from scratch leaves alone, the earliest after its twenty, 164 of 1,561 other LUs are among the
/// 73 words a frame that three LUs are so much like; 35 are among six from [`LEAST_LIKE`] on.
const LIKE_FEW: f32 = 0.3;
/// Weights beside log-probabilities: of a likeness of 1 to the frame's other LUs, of being an LU of
/// the frame, of being one of e times as many frames. Of 444 judged triggers that were LUs, 15 in
/// 100 did not evoke the frame; of those of several frames 21, of six and more 34 (`say` for
/// Text_creation). Odds rose by a factor of 1.4 to 1.6 with each standard deviation of these two
/// (0.15; 0.64), and by 1.3 with one of the output's score. Closeness to the seed's own LU added
/// nothing. The weights are two fifths of what that would make.
const LIKENESS_WEIGHT: f64 = 30.0;
const OWN_WORTH: f64 = 10.0;
const AMBIGUITY_COST: f64 = 5.0;

/// The weight of full agreement of an LU's sentences with the seed's FEs, and the share of the best
/// agreement from which on LUs are required first. Of 282 judged triggers that were annotated LUs,
/// 97 in 100 evoked the frame from 0.85 of the best on, 88 from 0.7, 70 below. Odds rose by a
/// factor of 2.2 with each standard deviation of the agreement (0.24).
const AGREEMENT_WEIGHT: f64 = 40.0;
const AGREEING: f64 = 0.8;

/// What outputs can be asked for, in the order in which it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Another LU of the frame whose sentences agree with the FEs of the seed.
    Agreeing,
    /// One of the others.
    Sister,
    /// A word that is like the frame's LUs.
    Alike,
    /// An LU of the frame without sentences, and nothing else.
    Unattested,
    /// What the rewriter would say in the trigger's place: of what is left the likeliest, or the
    /// one of that number behind it.
    InContext(usize),
}

/// What the lexicon says of a trigger.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TriggerFit {
    /// It is an LU of the frame, of the seed's part of speech.
    pub(super) is_own: bool,
    /// It is no LU of the frame and unlike those that are.
    pub(super) is_unlike: bool,
    /// What is to be added to log-probabilities; 0 where nobody knows.
    pub(super) worth: f64,
}

/// Which words of a table a rewriter writes.
pub(super) fn written_words(
    vectors: &WordVectors,
    is_written: impl Fn(&str) -> bool,
) -> Arc<[bool]> {
    let is_word = |word: &str| word.chars().all(char::is_alphabetic) && is_written(word);
    vectors.words().map(is_word).collect()
}

/// Word vectors, and what was found for the frames of a run.
pub(super) struct Guide {
    guidance: Guidance,
    from_sisters: Option<FromSisters>,
    /// The lexicon has few LUs and sentences: words of the table are known words, whether or not
    /// the store has them, and less likeness is asked for.
    has_few: bool,
    vectors: Arc<WordVectors>,
    /// Whether the rewriter writes each word of the table.
    is_written: Arc<[bool]>,
    frames: HashMap<(ReleaseId, FrameId), FrameGuide>,
}

impl Guide {
    /// A guide to the words that a rewriter writes.
    pub(super) fn new(
        guidance: Guidance,
        vectors: Arc<WordVectors>,
        is_written: Arc<[bool]>,
    ) -> Self {
        let frames = HashMap::new();
        Self { guidance, from_sisters: None, has_few: false, vectors, is_written, frames }
    }

    /// The same guide to a lexicon of few LUs and sentences, or of many.
    pub(super) fn with_few(self, has_few: bool) -> Self {
        Self { has_few, ..self }
    }

    /// Likeness from which a word is asked for.
    fn least_like(&self) -> f32 {
        if self.has_few { LIKE_FEW } else { LEAST_LIKE }
    }

    /// Likeness below which a trigger is flagged.
    fn unlike(&self) -> f32 {
        if self.has_few { LIKE_FEW } else { UNLIKE }
    }

    /// Whether it vouches for all words of a trigger.
    pub(super) fn knows_words(&self, trigger: &str) -> bool {
        let is_word = |word: &str| word.chars().any(char::is_alphabetic);
        let mut words = trigger.split_whitespace().peekable();
        self.has_few
            && words.peek().is_some()
            && words.all(|word| is_word(word) && self.vectors.of(word).is_some())
    }

    /// The same guide, which asks for LUs without sentences alone.
    pub(super) fn unattested_only(self, from_sisters: Option<FromSisters>) -> Self {
        Self { from_sisters, ..self }
    }

    /// What each round asks for, first to last; then for nothing.
    pub(super) fn strategies(&self) -> &'static [Strategy] {
        match self.guidance {
            _ if self.from_sisters.is_some() => &[Strategy::Unattested],
            Guidance::Lexicon => &[Strategy::Agreeing, Strategy::Sister, Strategy::Alike],
            Guidance::Alike => &[Strategy::Alike],
            Guidance::Context => &[Strategy::InContext(0), Strategy::InContext(1)],
            Guidance::None => &[],
        }
    }

    /// Words of which the next output of a chain is to hold one, the best first. None of them is a
    /// form of what is banned, holds what is banned, or stands in the sentence already.
    pub(super) fn words(
        &mut self,
        chain: &Chain,
        lexicon: &mut TriggerLexicon<'_>,
        strategy: Strategy,
    ) -> Result<Vec<String>> {
        let key = self.frame(chain, lexicon)?;
        let slot = TriggerSlot::of(chain, lexicon)?;
        let mut words = match strategy {
            Strategy::Agreeing | Strategy::Sister => {
                let agreeing = strategy == Strategy::Agreeing;
                self.sisters(&self.frames[&key], &slot, chain, lexicon, agreeing)?
            }
            Strategy::Unattested => self.unattested(&slot, chain),
            Strategy::InContext(place) => in_context::words(chain, &slot, lexicon, place)?,
            Strategy::Alike => {
                let least_like = self.least_like();
                let frame = self.frames.get_mut(&key).expect("it was put there just now");
                let words = frame.alike(chain, lexicon, least_like)?.iter();
                let fitting = words.filter(|(word, lemma)| slot.takes(word, lemma));
                fitting.map(|(word, _)| word.clone()).collect()
            }
        };
        words.truncate(MOST_WORDS);
        Ok(words)
    }

    /// The LUs of the frame that have the seed's part of speech, in the form of its trigger; those
    /// that are most like its own lemma first. They are parted into those that agree with the
    /// seed's FEs nearly as well as the best one, and the others; where all agree equally there are
    /// no others.
    fn sisters(
        &self,
        frame: &FrameGuide,
        slot: &TriggerSlot,
        chain: &Chain,
        lexicon: &mut TriggerLexicon<'_>,
        agreeing: bool,
    ) -> Result<Vec<String>> {
        let is_word = |word: &str| self.vectors.of(word).is_some();
        let mut sisters = Vec::new();
        for unit in frame.units.iter().filter(|unit| could_stand(unit, chain)) {
            let forms = slot.forms_of(&unit.lemma, &is_word);
            if !forms.is_empty() {
                let closeness = self.closeness(chain, &unit.lemma);
                let seed = chain.seed.expressed.as_ref();
                let agreement = lexicon.agreement(chain.seed.frame, seed, &unit.key())?;
                sisters.push((closeness, agreement, forms));
            }
        }
        let best = sisters.iter().map(|(_, agreement, _)| *agreement).fold(0.0, f64::max);
        sisters.retain(|(_, agreement, _)| (*agreement >= AGREEING * best) == agreeing);
        sisters.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(sisters.into_iter().flat_map(|(.., forms)| forms).collect())
    }

    /// The frame's LUs without sentences, in the form of the seed's trigger; those that are most
    /// like its own lemma first.
    fn unattested(&self, slot: &TriggerSlot, chain: &Chain) -> Vec<String> {
        let is_word = |word: &str| self.vectors.of(word).is_some();
        let (release, frame) = (chain.seed.release, chain.seed.frame);
        let units = self.from_sisters.as_ref().map_or(&[][..], |of| of.units_of(release, frame));
        let mut forms: Vec<(f32, Vec<String>)> = units
            .iter()
            .filter(|unit| could_stand(unit, chain))
            .map(|unit| (self.closeness(chain, &unit.lemma), slot.forms_of(&unit.lemma, &is_word)))
            .collect();
        forms.sort_by(|a, b| b.0.total_cmp(&a.0));
        forms.into_iter().flat_map(|(_, forms)| forms).collect()
    }

    /// What the lexicon says of a trigger that is read as a unit.
    pub(super) fn fit(
        &mut self,
        chain: &Chain,
        lexicon: &mut TriggerLexicon<'_>,
        unit: &(String, Pos),
    ) -> Result<TriggerFit> {
        if self.guidance == Guidance::Context {
            return Ok(TriggerFit::default());
        }
        let key = self.frame(chain, lexicon)?;
        let frame = &self.frames[&key];
        let is_own = unit.1 == chain.seed.pos && frame.has(unit);
        let of_own = match is_own {
            true => {
                let seed = chain.seed.expressed.as_ref();
                let agreement = lexicon.agreement(chain.seed.frame, seed, unit)?;
                OWN_WORTH + AGREEMENT_WEIGHT * agreement
            }
            false => 0.0,
        };
        if frame.vectors.is_empty() {
            return Ok(TriggerFit { is_own, is_unlike: false, worth: of_own });
        }
        let others = frame.vectors_beside(if is_own { &unit.0 } else { "" });
        let vector = self.vectors.of(&unit.0);
        let likeness = vector.map_or(0.0, |vector| likeness(&vector, &others));
        let likeness = likeness - frame.loss(lexicon, unit);
        let frames = f64::from(lexicon.frames_with(unit).max(1));
        let of_all = LIKENESS_WEIGHT * f64::from(likeness) - AMBIGUITY_COST * frames.ln();
        Ok(TriggerFit {
            is_own,
            is_unlike: !is_own && likeness < self.unlike(),
            worth: of_all + of_own,
        })
    }

    /// The cosine of a lemma with that of the seed's LU, 0 where one has no vector.
    fn closeness(&self, chain: &Chain, lemma: &str) -> f32 {
        let of_seed = self.vectors.of(&plain_lemma(&chain.seed.lemma));
        let vectors = of_seed.zip(self.vectors.of(lemma));
        vectors.map_or(0.0, |(seed, other)| cosine(&seed, &other))
    }

    /// Where a chain's frame stands among `frames`.
    fn frame(
        &mut self,
        chain: &Chain,
        lexicon: &mut TriggerLexicon<'_>,
    ) -> Result<(ReleaseId, FrameId)> {
        let key = (chain.seed.release, chain.seed.frame);
        if !self.frames.contains_key(&key) {
            let guide = self.guide_to(lexicon.units_of(chain.seed.frame)?.to_vec());
            self.frames.insert(key, guide);
        }
        Ok(key)
    }

    fn guide_to(&self, units: Vec<Unit>) -> FrameGuide {
        let mut lemmas: Vec<String> = units.iter().map(|unit| unit.key().0).collect();
        lemmas.sort_unstable();
        lemmas.dedup();
        let vectors: Vec<(String, Vec<f32>)> = lemmas
            .iter()
            .filter_map(|lemma| Some((lemma.clone(), self.vectors.of(lemma)?)))
            .collect();
        let all: Vec<&[f32]> = vectors.iter().map(|(_, vector)| vector.as_slice()).collect();
        let mut alike: Vec<(&str, f32)> = self
            .vectors
            .iter()
            .zip(&*self.is_written)
            .filter(|((word, _), is_written)| {
                // A function word is asked for only where it is an LU itself.
                **is_written && (!is_stop_word(word) || lemmas.iter().any(|lemma| lemma == word))
            })
            .map(|((word, vector), _)| (word, likeness(&vector, &all)))
            .filter(|(_, likeness)| *likeness >= self.least_like())
            .collect();
        // Stable: of equals the one that stands first in the table.
        alike.sort_by(|a, b| b.1.total_cmp(&a.1));
        let words = alike.iter().map(|(word, likeness)| ((*word).to_owned(), *likeness)).collect();
        FrameGuide { units, vectors, words, of_pos: HashMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::frame_guide::OF_OTHER_FRAMES;
    use super::super::seed::{Elements, Seed};
    use super::super::trigger_lexicon::in_test_lexicon;
    use super::*;
    use crate::expand::valence::{DOUBT, Expressed};
    use crate::model::{AnnotationSetId, IdSpace, Rules, Span};

    fn guide(is_written: impl Fn(&str) -> bool) -> Guide {
        let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/word-vectors");
        let vectors = WordVectors::open(&table).unwrap();
        let is_written = written_words(&vectors, is_written);
        Guide::new(Guidance::Lexicon, Arc::new(vectors), is_written)
    }

    fn units(lemmas: &[&str]) -> Vec<Unit> {
        lemmas.iter().map(|lemma| Unit::new(&format!("{lemma}.v"))).collect()
    }

    #[test]
    fn words_are_asked_for_that_are_like_the_frame_and_written() {
        let lemmas = units(&["confirm", "verify", "certify", "no such lemma zzyzx"]);
        let guide = guide(|word| word != "confirmation");
        let frame = guide.guide_to(lemmas);
        let likeness_of =
            |word: &str| likeness(&guide.vectors.of(word).unwrap(), &frame.vectors_beside(""));
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
            assert!(
                is_stop_word(word) && likeness(&vector, &frame.vectors_beside("")) >= LEAST_LIKE
            );
        }
        assert!(
            guide.guide_to(vec![]).words.is_empty() && guide.guide_to(vec![]).vectors.is_empty()
        );
    }

    /// What a guide answers on a seed of the frame Checking in the mini lexicon, after some
    /// triggers.
    fn with_guide<T>(
        guidance: Guidance,
        trigger: &str,
        lemma: &str,
        banned: &[&str],
        expressed: Option<Expressed>,
        ask: impl FnOnce(&mut Guide, &Chain, &mut TriggerLexicon<'_>) -> T,
    ) -> T {
        let text = format!("They {trigger} the audit .");
        let set = AnnotationSetId::new(IdSpace::Exemplar, 1);
        let (frame, end) = (FrameId(102), 5 + u32::try_from(trigger.len()).unwrap());
        let (targets, release) = (vec![Span::new(5, end)], ReleaseId(1));
        let (lemma, pos) = (lemma.to_owned(), Pos::Verb);
        let elements = Elements::default();
        let mut chain = Chain::new(Seed {
            release,
            set,
            frame,
            text,
            targets,
            lemma,
            pos,
            expressed,
            elements,
        });
        for word in banned {
            let text = format!("They {word} it.");
            let end = 5 + u32::try_from(word.len()).unwrap();
            chain.push(set, &text, &[Span::new(5, end)], word, Pos::Verb);
        }
        let mut guide = Guide { guidance, ..guide(|_| true) };
        in_test_lexicon(|lexicon| ask(&mut guide, &chain, lexicon))
    }

    /// What such a seed's output is asked for.
    fn strategies(
        guidance: Guidance,
        trigger: &str,
        lemma: &str,
        banned: &[&str],
    ) -> Vec<Vec<String>> {
        with_guide(guidance, trigger, lemma, banned, None, |guide, chain, lexicon| {
            let strategies = guide.strategies().iter();
            strategies.map(|strategy| guide.words(chain, lexicon, *strategy).unwrap()).collect()
        })
    }

    #[test]
    fn other_lexical_units_are_asked_for_in_the_form_of_the_trigger_then_words_like_them() {
        let asked = strategies(Guidance::Lexicon, "inspected", "inspect", &["verify"]);
        let [sisters, others, alike] = asked.as_slice() else { panic!("{asked:?}") };
        assert!(others.is_empty(), "nobody knows which agree with a seed without FEs: {others:?}");
        let mut sorted = sisters.clone();
        sorted.sort();
        // Not `verified`, which is banned, nor `audited`, a form of a word that the sentence has;
        // no noun.
        assert_eq!(sorted, ["checked", "examined", "looked over", "proofed"]);
        assert_eq!(sisters[0], "examined", "the most alike first");
        let has = |word: &str| alike.iter().any(|other| other == word);
        assert!(has("tested") && !has("test") && !has("verified"), "{alike:?}");
        let other_form = strategies(Guidance::Lexicon, "inspect", "inspect", &[]);
        assert!(other_form[0].contains(&"look over".to_owned()), "{other_form:?}");
    }

    #[test]
    fn lexical_units_are_asked_for_first_whose_sentences_express_what_the_seed_expresses() {
        // Checker and Matter; in the mini lexicon `check.v` has many sentences with both.
        let expressed = Some(["Checker", "Matter"].map(str::to_owned).into());
        let asked = |guide: &mut Guide, chain: &Chain, lexicon: &mut TriggerLexicon<'_>| {
            let words = |strategy| guide.words(chain, lexicon, strategy).unwrap();
            [Strategy::Agreeing, Strategy::Sister].map(words)
        };
        let ask = |expressed| {
            with_guide(Guidance::Lexicon, "inspected", "inspect", &["verify"], expressed, asked)
        };
        let ([agreeing, others], [all, _]) = (ask(expressed), ask(None));
        assert_eq!(agreeing, ["checked"]);
        assert_eq!(others, ["examined", "looked over", "proofed"]);
        assert_eq!(all.len(), agreeing.len() + others.len());
    }

    #[test]
    fn a_unit_is_worth_more_the_better_it_agrees_with_the_seed() {
        let worth = |lemma: &str, expressed: &[&str]| {
            let expressed = Some(expressed.iter().map(|fe| (*fe).to_owned()).collect());
            let unit = (lemma.to_owned(), Pos::Verb);
            let ask = |guide: &mut Guide, chain: &Chain, lexicon: &mut TriggerLexicon<'_>| {
                let agreement =
                    lexicon.agreement(chain.seed.frame, chain.seed.expressed.as_ref(), &unit);
                (guide.fit(chain, lexicon, &unit).unwrap().worth, agreement.unwrap())
            };
            with_guide(Guidance::Lexicon, "inspected", "inspect", &[], expressed, ask)
        };
        let ((good, high), (bad, low)) =
            (worth("check", &["Checker", "Matter"]), worth("check", &["Quarry"]));
        assert!(high > 0.4 && low < 0.1, "{high} {low}");
        assert!((good - bad - AGREEMENT_WEIGHT * (high - low)).abs() < 1e-9);
        let ((one, zero), (other, none)) =
            (worth("proof", &["Checker"]), worth("proof", &["Quarry"]));
        assert_eq!((zero, none, one), (0.0, 0.0, other), "nobody annotated it");
    }

    #[test]
    fn whoever_changes_a_number_of_the_rules_raises_theirs() {
        let numbers =
            [LIKENESS_WEIGHT, OWN_WORTH, AGREEMENT_WEIGHT, AMBIGUITY_COST, AGREEING, DOUBT];
        let likenesses = [LEAST_LIKE, OF_OTHER_FRAMES, UNLIKE];
        let found = format!("{numbers:?} {likenesses:?} {MOST_WORDS}");
        let of_rules = "[30.0, 10.0, 40.0, 5.0, 0.8, 8.0] [0.5, 0.15, 0.45] 100";
        assert_eq!((Rules::Guide.number(), found.as_str()), (1, of_rules));
    }

    #[test]
    fn a_phrase_is_not_asked_for_when_it_holds_a_banned_word() {
        let asked = strategies(Guidance::Lexicon, "inspect", "inspect", &["look"]);
        assert!(!asked[0].contains(&"look over".to_owned()), "{asked:?}");
    }

    #[test]
    fn words_alike_alone_are_asked_for_on_request() {
        let asked = strategies(Guidance::Alike, "inspected", "inspect", &[]);
        assert!(asked.len() == 1 && asked[0].contains(&"examined".to_owned()), "{asked:?}");
    }

    #[test]
    fn units_of_the_frame_are_worth_more_than_words_like_them_and_no_unit_is_unlike() {
        let fit = |lemma: &str, pos| {
            let unit = (lemma.to_owned(), pos);
            let ask = |guide: &mut Guide, chain: &Chain, lexicon: &mut TriggerLexicon<'_>| {
                guide.fit(chain, lexicon, &unit).unwrap()
            };
            with_guide(Guidance::Lexicon, "inspected", "inspect", &[], None, ask)
        };
        let (examine, proof) = (fit("examine", Pos::Verb), fit("proof", Pos::Verb));
        let (assess, wander) = (fit("assess", Pos::Verb), fit("wander", Pos::Verb));
        assert!(examine.worth > proof.worth, "it is more like the others");
        assert!(examine.worth > assess.worth + OWN_WORTH / 2.0 && assess.worth > wander.worth);
        assert!(!examine.is_unlike && !proof.is_unlike && !assess.is_unlike && wander.is_unlike);
        let noun = fit("examine", Pos::Noun);
        assert!(noun.worth < examine.worth, "of another part of speech it is no LU");
    }
}
