//! How an annotated vocabulary grows: what people annotated, then what each round of expansion
//! added.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Lexicon;
use crate::database::{DatabaseError, Result};
use crate::index::TriggerEntry;
use crate::model::{FrameId, LuId, PROPOSED, Positive, Provenance, SentenceId};
use crate::query::Expression;
use crate::search::{Distinct, Match, new_in_each};
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
    sentences: Distinct<SentenceId>,
    triggers: HashMap<String, Trigger>,
    lexunits: HashSet<(FrameId, LuId)>,
}

/// What one round says of a trigger.
#[derive(Default)]
struct Trigger {
    sets: u64,
    /// In order.
    frames: Vec<FrameId>,
    has_listed_lu: bool,
}

impl Trigger {
    fn merge(&mut self, other: &Self) {
        self.sets += other.sets;
        self.has_listed_lu |= other.has_listed_lu;
        add_frames(&mut self.frames, &other.frames);
    }
}

impl Round {
    fn merge(&mut self, other: Self) {
        self.sets += other.sets;
        self.sentences.merge(other.sentences);
        self.lexunits.extend(other.lexunits);
        for (text, trigger) in other.triggers {
            match self.triggers.entry(text) {
                Entry::Vacant(place) => drop(place.insert(trigger)),
                Entry::Occupied(mut known) => known.get_mut().merge(&trigger),
            }
        }
    }
}

/// Rounds by number, with the folded names of their LUs.
#[derive(Default)]
struct Rounds {
    by_number: BTreeMap<u16, Round>,
    names: HashMap<(FrameId, LuId), String>,
}

impl Rounds {
    /// Counts a set, unless its sentence is gone. What was carried along is no growth.
    fn add(&mut self, found: &Match<'_>) -> Result<()> {
        if matches!(found.set().provenance, Provenance::Carried(_)) {
            return Ok(());
        }
        let Some(text) = found.trigger()? else { return Ok(()) };
        let set = found.set();
        let number = match &set.provenance {
            Provenance::Generated(generation) => generation.round,
            _ => 0,
        };
        let round = self.by_number.entry(number).or_default();
        round.sets += 1;
        round.sentences.add(set.sentence);
        let text = fold(&text);
        if text.is_empty() {
            return Ok(());
        }
        let lexunit = (set.frame, set.lu);
        if round.lexunits.insert(lexunit) && !self.names.contains_key(&lexunit) {
            self.names.insert(lexunit, fold(&found.lexunit()?));
        }
        let trigger = round.triggers.entry(text).or_default();
        trigger.sets += 1;
        add_frames(&mut trigger.frames, &[set.frame]);
        if !trigger.has_listed_lu {
            trigger.has_listed_lu = *found.lexunit_status()? != *PROPOSED;
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        for (number, round) in other.by_number {
            self.by_number.entry(number).or_default().merge(round);
        }
        self.names.extend(other.names);
    }
}

/// The LUs of a release: their folded names, and whether they are listed, not proposed.
type LexUnits = HashMap<(FrameId, LuId), (String, bool)>;

impl Rounds {
    /// Counts what an index says of a trigger; `false` where a set's LU is gone.
    fn add_entries(&mut self, text: &str, entries: &[TriggerEntry], lexunits: &LexUnits) -> bool {
        let mut sorted: Vec<_> = entries.iter().filter(|of| !of.is_carried).copied().collect();
        sorted.sort_unstable();
        for entries in sorted.chunk_by(|a, b| a.round == b.round) {
            let round = self.by_number.entry(entries[0].round).or_default();
            round.sets += entries.len() as u64;
            entries.iter().for_each(|entry| round.sentences.add(entry.sentence));
            if text.is_empty() {
                continue;
            }
            let mut trigger = Trigger { sets: entries.len() as u64, ..Trigger::default() };
            let place = |of: &TriggerEntry| (of.frame, of.lu);
            for entries in entries.chunk_by(|a, b| place(a) == place(b)) {
                let lexunit = place(&entries[0]);
                let Some((_, is_listed)) = lexunits.get(&lexunit) else { return false };
                round.lexunits.insert(lexunit);
                add_frames(&mut trigger.frames, &[lexunit.0]);
                trigger.has_listed_lu |= is_listed;
            }
            match round.triggers.get_mut(text) {
                Some(known) => known.merge(&trigger),
                None => drop(round.triggers.insert(text.to_owned(), trigger)),
            }
        }
        true
    }
}

impl Lexicon<'_> {
    /// Counts the annotation sets that a query finds, round by round; people's annotation is
    /// round 0. Sets that were carried along count nowhere: they say again what people said.
    ///
    /// Every round stands in the result that has a set; a set without a target counts as a sentence
    /// and adds no trigger.
    ///
    /// # Errors
    /// As [`Database::query`](super::Database::query).
    pub fn growth(&self, expression: &Expression) -> Result<Vec<RoundGrowth>> {
        let here = self.here(expression);
        let rounds = match self.rounds_indexed(&here)? {
            Some(rounds) => rounds,
            None => self.rounds_read(&here)?,
        };
        Ok(accumulate(rounds))
    }

    /// The rounds as sets and their sentences have them.
    fn rounds_read(&self, expression: &Expression) -> Result<Rounds> {
        let mut rounds = Rounds::default();
        let add = |some: &mut Rounds, found: Match<'_>| Ok(some.add(&found).err());
        let take = |some| {
            rounds.merge(some);
            Ok::<_, DatabaseError>(())
        };
        self.database.fold_with_sentences(expression, Rounds::default, add, take)?;
        Ok(rounds)
    }

    /// The rounds as an index has them that is as new as the store; `None` where it cannot tell.
    fn rounds_indexed(&self, expression: &Expression) -> Result<Option<Rounds>> {
        // LUs and index are of one state; a writer's handle may move on meanwhile.
        let still = self.database.last_still()?;
        let revision = still.revision()?;
        let mut lexunits = LexUnits::new();
        for lu in still.store.lexunits(self.release.id)? {
            let lu = match lu.map_err(DatabaseError::from) {
                // Perhaps no set that is asked for has it.
                Err(error) if error.is_unreadable_record() => return Ok(None),
                lu => lu?,
            };
            lexunits.insert((lu.frame, lu.id), (fold(&lu.name), lu.status != *PROPOSED));
        }
        let begin = || (Rounds::default(), true);
        let add = |(rounds, are_known): &mut (Rounds, bool), text: &str, entries: &[_]| {
            *are_known &= rounds.add_entries(text, entries, &lexunits);
        };
        let merge = |(mut rounds, are_known): (Rounds, bool), (some, are_too): (Rounds, bool)| {
            rounds.merge(some);
            (rounds, are_known && are_too)
        };
        let folded = still.fold_triggers(expression, begin, add, merge)?;
        let Some((mut rounds, true)) = folded else { return Ok(None) };
        if still.revision()? != revision {
            return Ok(None);
        }
        rounds.names = lexunits.into_iter().map(|(place, (name, _))| (place, name)).collect();
        Ok(Some(rounds))
    }
}

fn accumulate(Rounds { by_number, names }: Rounds) -> Vec<RoundGrowth> {
    let (mut rounds, mut sentences) = (Vec::new(), Vec::new());
    for (number, mut round) in by_number {
        sentences.push(std::mem::take(&mut round.sentences).into_sorted());
        rounds.push((number, round));
    }
    let new_sentences = new_in_each(&sentences);
    let counts: Vec<_> =
        sentences.into_iter().map(|all| all.len() as u64).zip(new_sentences).collect();
    let (mut total, mut generated) = (Total::default(), Total::default());
    let mut total_sentences = 0;
    let mut growth = Vec::new();
    for ((number, round), (sentences, new_sentences)) in rounds.into_iter().zip(counts) {
        let pairs = round.triggers.values().map(|trigger| trigger.frames.len() as u64).sum();
        let triggers = round.triggers.len() as u64;
        let lemmas: HashSet<(FrameId, &str)> =
            round.lexunits.iter().map(|lexunit| (lexunit.0, names[lexunit].as_str())).collect();
        let (lemma_pairs, lemmas_before) = (lemmas.len() as u64, total.lemmas.len());
        if number > 0 {
            generated.lemmas.extend(lemmas.iter().copied());
        }
        total.lemmas.extend(lemmas);
        let (mut added, pairs_before) = (Vec::new(), total.pairs);
        for (text, trigger) in round.triggers {
            if number > 0 {
                generated.add(&text, &trigger);
            }
            if total.add(&text, &trigger) {
                let is_proposed = !trigger.has_listed_lu;
                added.push(NewTrigger { text, sets: trigger.sets, is_proposed });
            }
        }
        added.sort_by(|a, b| b.sets.cmp(&a.sets).then_with(|| a.text.cmp(&b.text)));
        total_sentences += new_sentences;
        growth.push(RoundGrowth {
            round: number,
            sets: round.sets,
            sentences,
            triggers,
            pairs,
            new_triggers: added.len() as u64,
            new_proposed: added.iter().filter(|trigger| trigger.is_proposed).count() as u64,
            added,
            new_pairs: total.pairs - pairs_before,
            total_sentences,
            total_triggers: total.frames_of.len() as u64,
            total_pairs: total.pairs,
            lemma_pairs,
            new_lemma_pairs: (total.lemmas.len() - lemmas_before) as u64,
            total_lemma_pairs: total.lemmas.len() as u64,
            generated_pairs: generated.pairs,
            generated_lemma_pairs: generated.lemmas.len() as u64,
        });
    }
    growth
}

/// What rounds up to one have.
#[derive(Default)]
struct Total<'n> {
    frames_of: HashMap<String, Vec<FrameId>>,
    pairs: u64,
    lemmas: HashSet<(FrameId, &'n str)>,
}

impl Total<'_> {
    /// Takes up a trigger; gives whether it is new.
    fn add(&mut self, text: &str, trigger: &Trigger) -> bool {
        let is_new = !self.frames_of.contains_key(text);
        if is_new {
            self.frames_of.insert(text.to_owned(), Vec::new());
        }
        let known = self.frames_of.get_mut(text).expect("it was put there");
        self.pairs += add_frames(known, &trigger.frames);
        is_new
    }
}

/// Adds frames to some in order; gives how many are new.
fn add_frames(known: &mut Vec<FrameId>, more: &[FrameId]) -> u64 {
    let before = known.len();
    for frame in more {
        if let Err(place) = known.binary_search(frame) {
            known.insert(place, *frame);
        }
    }
    (known.len() - before) as u64
}
