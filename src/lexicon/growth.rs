//! How an annotated vocabulary grows: what people annotated, then what each round of expansion
//! added.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Lexicon;
use crate::database::Result;
use crate::model::{FrameId, LuId, PROPOSED, Positive, Provenance, SentenceId};
use crate::query::Expression;
use crate::text::fold;

/// One round of a vocabulary's growth. Triggers are compared without regard to case.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct RoundGrowth {
    /// 0 for annotation by people, from 1 for rounds of expansion.
    pub round: u16,
    /// Annotation sets of the round.
    pub sets: Positive,
    /// Distinct sentences of the round.
    pub sentences: Positive,
    /// Distinct triggers of the round.
    pub triggers: u64,
    /// Distinct (Frame, Trigger) pairs of the round.
    pub pairs: u64,
    /// Triggers that no earlier round has.
    pub new_triggers: u64,
    /// Those of the new triggers that belong to proposed LUs alone.
    pub new_proposed: u64,
    /// The new triggers, the most frequent first, then in order of their text.
    #[serde(skip)]
    pub added: Vec<NewTrigger>,
    /// (Frame, Trigger) pairs that no earlier round has.
    pub new_pairs: u64,
    /// Distinct sentences up to and with the round.
    pub total_sentences: Positive,
    /// Distinct triggers up to and with the round.
    pub total_triggers: u64,
    /// Distinct (Frame, Trigger) pairs up to and with the round.
    pub total_pairs: u64,
    /// Distinct (Frame, LU) pairs of the round: triggers after lemmatisation, as an LU is a lemma
    /// with its part of speech. Letter case is folded.
    pub lemma_pairs: u64,
    /// (Frame, LU) pairs that no earlier round has.
    pub new_lemma_pairs: u64,
    /// Distinct (Frame, LU) pairs up to and with the round.
    pub total_lemma_pairs: u64,
    /// Distinct (Frame, Trigger) pairs of generated sets alone, up to and with the round.
    pub generated_pairs: u64,
    /// Distinct (Frame, LU) pairs of generated sets alone, up to and with the round.
    pub generated_lemma_pairs: u64,
}

/// A trigger in the round that first has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTrigger {
    /// Its text, case folded.
    pub text: String,
    /// Annotation sets of that round that have it.
    pub sets: u64,
    /// Whether it belongs in that round to LUs alone that an expansion proposed.
    pub is_proposed: bool,
}

/// What one round holds.
#[derive(Default)]
struct Round {
    sets: u64,
    sentences: HashSet<SentenceId>,
    triggers: BTreeMap<String, Trigger>,
    lemmas: HashSet<(FrameId, String)>,
}

/// What one round says of a trigger.
#[derive(Default)]
struct Trigger {
    sets: u64,
    frames: HashSet<FrameId>,
    has_listed_lu: bool,
}

/// What rounds of expansion have, whether or not people had it before.
#[derive(Default)]
struct Generated {
    pairs: HashSet<(FrameId, String)>,
    lemmas: HashSet<(FrameId, String)>,
}

impl Generated {
    fn take(&mut self, round: &Round) {
        for (text, trigger) in &round.triggers {
            self.pairs.extend(trigger.frames.iter().map(|frame| (*frame, text.clone())));
        }
        self.lemmas.extend(round.lemmas.iter().cloned());
    }
}

impl Lexicon<'_> {
    /// Counts the annotation sets that a query finds, round by round; people's annotation is
    /// round 0.
    ///
    /// Every round stands in the result that has a set; a set without a target counts as a sentence
    /// and adds no trigger.
    ///
    /// # Errors
    /// As [`Database::query`](super::Database::query).
    pub fn growth(&self, expression: &Expression) -> Result<Vec<RoundGrowth>> {
        let mut rounds: BTreeMap<u16, Round> = BTreeMap::new();
        let mut proposed: HashMap<(FrameId, LuId), bool> = HashMap::new();
        for answer in self.annotations(expression)? {
            let answer = answer?;
            let number = match &answer.set.provenance {
                Provenance::Generated(generation) => generation.round,
                _ => 0,
            };
            let round = rounds.entry(number).or_default();
            round.sets += 1;
            round.sentences.insert(answer.sentence.id);
            let text = fold(&answer.trigger());
            if text.is_empty() {
                continue;
            }
            let (frame, lu) = (answer.set.frame, answer.set.lu);
            round.lemmas.insert((frame, fold(&answer.lexunit)));
            if let std::collections::hash_map::Entry::Vacant(unknown) = proposed.entry((frame, lu))
            {
                let lu = self.lu_of_frame(frame, lu)?;
                unknown.insert(lu.is_some_and(|lu| lu.status == PROPOSED));
            }
            let trigger = round.triggers.entry(text).or_default();
            trigger.sets += 1;
            trigger.frames.insert(frame);
            trigger.has_listed_lu |= !proposed[&(frame, lu)];
        }
        Ok(accumulate(rounds))
    }
}

fn accumulate(rounds: BTreeMap<u16, Round>) -> Vec<RoundGrowth> {
    let mut sentences: HashSet<SentenceId> = HashSet::new();
    let mut frames_of: HashMap<String, HashSet<FrameId>> = HashMap::new();
    let mut lemmas: HashSet<(FrameId, String)> = HashSet::new();
    let mut generated = Generated::default();
    let mut total_pairs = 0;
    let mut growth = Vec::new();
    for (number, round) in rounds {
        let pairs = round.triggers.values().map(|trigger| trigger.frames.len() as u64).sum();
        let triggers = round.triggers.len() as u64;
        if number > 0 {
            generated.take(&round);
        }
        let mut added = Vec::new();
        let mut new_pairs = 0;
        for (text, trigger) in round.triggers {
            let known = frames_of.entry(text.clone()).or_default();
            if known.is_empty() {
                let is_proposed = !trigger.has_listed_lu;
                added.push(NewTrigger { text, sets: trigger.sets, is_proposed });
            }
            let before = known.len();
            known.extend(trigger.frames);
            new_pairs += (known.len() - before) as u64;
        }
        // The order by text is there already.
        added.sort_by_key(|trigger| std::cmp::Reverse(trigger.sets));
        total_pairs += new_pairs;
        let sentences_of_round = round.sentences.len() as u64;
        sentences.extend(round.sentences);
        let (lemma_pairs, lemmas_before) = (round.lemmas.len() as u64, lemmas.len());
        lemmas.extend(round.lemmas);
        growth.push(RoundGrowth {
            round: number,
            sets: round.sets,
            sentences: sentences_of_round,
            triggers,
            pairs,
            new_triggers: added.len() as u64,
            new_proposed: added.iter().filter(|trigger| trigger.is_proposed).count() as u64,
            added,
            new_pairs,
            total_sentences: sentences.len() as u64,
            total_triggers: frames_of.len() as u64,
            total_pairs,
            lemma_pairs,
            new_lemma_pairs: (lemmas.len() - lemmas_before) as u64,
            total_lemma_pairs: lemmas.len() as u64,
            generated_pairs: generated.pairs.len() as u64,
            generated_lemma_pairs: generated.lemmas.len() as u64,
        });
    }
    growth
}
