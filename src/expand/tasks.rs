//! Alignment tasks from what a store holds: sentences, each with a paraphrase that lacks its
//! trigger.
//!
//! Culkin et al. 2021, section 4.1: at most four sentences of each LU, each paraphrased once by
//! sampling among the ten likeliest tokens, the trigger and its forms banned. Which sentences are
//! taken and what is drawn for them depends on the seed alone, so a larger request holds a smaller
//! one. Each LU has one task before any has two, so that a few tasks are of many LUs.
//! [`Collection`](crate::align::Collection) reads what annotators answer.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::ExpandError;
use super::chain::Chain;
use super::seed::{Seed, distinct_pieces};
use super::seeds::human_sets;
use crate::align::Task;
use crate::database::Database;
use crate::engine::SampleSettings;
use crate::model::{AnnotationSetId, LuId, ReleaseId};
use crate::paraphrase::{Constraints, Paraphraser, Refusal, Request, RequestOutcome, Settings};
use crate::query::Expression;
use crate::text::{CharIndex, CharSpan, Morphology};

/// Sentences that are rewritten side by side.
const BATCH: usize = 32;

/// Which tasks are made.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSettings {
    /// Most sentences of an LU.
    pub per_lu: usize,
    /// Tokens among which each one is drawn; 0 for all.
    pub top_k: usize,
    /// Decides which sentences are taken and what is drawn.
    pub seed: u64,
    /// Most tasks in all.
    pub limit: Option<usize>,
    /// Longer sentences are left out, in pieces of the rewriter.
    pub max_source_pieces: usize,
}

impl Default for TaskSettings {
    /// The paper's: four sentences, ten tokens.
    fn default() -> Self {
        Self { per_lu: 4, top_k: 10, seed: 1, limit: None, max_source_pieces: 80 }
    }
}

/// A sentence that was drawn for an LU.
#[derive(Debug, Clone)]
struct Pick {
    /// What the sentences of an LU are ordered by.
    draw: [u8; 32],
    release: ReleaseId,
    release_name: String,
    set: AnnotationSetId,
    frame: Arc<str>,
    lexunit: Arc<str>,
}

/// Tasks, made some dozens at a time as they are asked for.
pub struct Tasks<'a> {
    database: &'a Database,
    paraphraser: &'a mut Paraphraser,
    settings: TaskSettings,
    picks: std::vec::IntoIter<Pick>,
    made: std::vec::IntoIter<Task>,
    left_out: BTreeMap<&'static str, u64>,
    /// How words of the releases are inflected.
    morphologies: HashMap<ReleaseId, Morphology>,
}

impl<'a> Tasks<'a> {
    /// Draws the sentences: of the human sets for which the expression holds, those whose target is
    /// in one piece.
    ///
    /// # Errors
    /// When the expression names what the database does not hold, the rewriter is made for another
    /// language than a release, or the database fails.
    pub fn new(
        database: &'a Database,
        expression: &Expression,
        paraphraser: &'a mut Paraphraser,
        settings: TaskSettings,
    ) -> Result<Self, ExpandError> {
        let mut of_lu: BTreeMap<(ReleaseId, LuId), Vec<Pick>> = BTreeMap::new();
        let mut left_out = BTreeMap::new();
        for answer in database.query(&human_sets(expression))? {
            let answer = answer?;
            let pieces = distinct_pieces(&answer.sentence.text, &answer.set.targets);
            if pieces.len() != 1 {
                let why = if pieces.is_empty() { "no target" } else { "target in several pieces" };
                *left_out.entry(why).or_default() += 1;
                continue;
            }
            let picks = of_lu.entry((answer.release.id, answer.set.lu)).or_default();
            let pick = Pick {
                draw: draw(settings.seed, answer.set.id),
                release: answer.release.id,
                release_name: answer.release.name.clone(),
                set: answer.set.id,
                frame: answer.frame,
                lexunit: answer.lexunit,
            };
            let place = picks.partition_point(|other| other.draw < pick.draw);
            picks.insert(place, pick);
            picks.truncate(settings.per_lu);
        }
        let picks = in_turn(of_lu.into_values(), settings.limit.unwrap_or(usize::MAX));
        let releases = picks.iter().map(|pick| pick.release);
        database.check_languages([paraphraser.declared()], releases)?;
        let (picks, made) = (picks.into_iter(), Vec::new().into_iter());
        let morphologies = HashMap::new();
        Ok(Self { database, paraphraser, settings, picks, made, left_out, morphologies })
    }

    /// Number of sentences that are still to be paraphrased.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.picks.len()
    }

    /// Sentences that were left out so far, by the reason.
    #[must_use]
    pub fn left_out(&self) -> &BTreeMap<&'static str, u64> {
        &self.left_out
    }

    /// Paraphrases the next sentences.
    fn make(&mut self) -> Result<Vec<Task>, ExpandError> {
        let picks: Vec<Pick> = self.picks.by_ref().take(BATCH).collect();
        let (mut chains, mut requests) = (Vec::new(), Vec::new());
        for pick in picks {
            let Some(seed) = Seed::read(self.database, pick.release, pick.set)? else {
                *self.left_out.entry("no longer in the store").or_default() += 1;
                continue;
            };
            let morphology = match self.morphologies.entry(pick.release) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(self.database.morphology(pick.release)?),
            };
            let chain = Chain::inflected(seed, morphology);
            requests.push(Request {
                text: chain.seed.natural(),
                constraints: Constraints::avoiding(&chain.banned),
            });
            chains.push((pick, chain));
        }
        let settings = Settings {
            sample: Some(SampleSettings {
                samples: 1,
                seed: self.settings.seed,
                top_k: self.settings.top_k,
                ..SampleSettings::default()
            }),
            max_source_pieces: self.settings.max_source_pieces,
            ..Settings::default()
        };
        let outcomes = self.paraphraser.paraphrase(&requests, &settings)?;
        let mut tasks = Vec::new();
        for ((pick, chain), outcome) in chains.iter().zip(outcomes) {
            let why = match &outcome {
                RequestOutcome::Paraphrases(found) => match found.first() {
                    Some(paraphrase) if paraphrase.ended => {
                        tasks.push(task(pick, chain, &paraphrase.text));
                        continue;
                    }
                    _ => "no end within the length limit",
                },
                RequestOutcome::NothingLeft(_) => "nothing left to say",
                RequestOutcome::Refused(Refusal::UnknownLetter { .. }) => "unknown letter",
                RequestOutcome::Refused(_) => "sentence too long",
            };
            *self.left_out.entry(why).or_default() += 1;
        }
        Ok(tasks)
    }
}

impl Iterator for Tasks<'_> {
    type Item = Result<Task, ExpandError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(task) = self.made.next() {
                return Some(Ok(task));
            }
            if self.picks.as_slice().is_empty() {
                return None;
            }
            match self.make() {
                Ok(tasks) => self.made = tasks.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The first `limit` of the sentences of all LUs, which are each in order of draw: first each LU's
/// first, by draw, then each one's second, and so on.
fn in_turn(lexunits: impl Iterator<Item = Vec<Pick>>, limit: usize) -> Vec<Pick> {
    let mut picks: Vec<(usize, Pick)> =
        lexunits.flat_map(|picks| picks.into_iter().enumerate()).collect();
    picks.sort_by_key(|(rank, pick)| (*rank, pick.draw));
    picks.into_iter().map(|(_, pick)| pick).take(limit).collect()
}

/// What a set is drawn by: the same in every store and order.
fn draw(seed: u64, set: AnnotationSetId) -> [u8; 32] {
    let mut key = seed.to_be_bytes().to_vec();
    key.extend_from_slice(&set.bits().to_be_bytes());
    *blake3::hash(&key).as_bytes()
}

fn task(pick: &Pick, chain: &Chain, paraphrase: &str) -> Task {
    let (text, trigger) = (&chain.seed.text, chain.seed.targets[0]);
    let CharSpan { start, end } =
        CharIndex::new(text).to_chars(trigger).expect("a target lies in its sentence");
    Task {
        id: format!("{}/{}", pick.release_name, pick.set),
        frame: pick.frame.to_string(),
        lu: pick.lexunit.to_string(),
        sentence: text.clone(),
        span: [start, end],
        trigger: trigger.of(text).unwrap_or_default().to_owned(),
        paraphrase: paraphrase.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::IdSpace;

    #[test]
    fn what_is_drawn_depends_on_the_seed_and_the_set_alone() {
        let set = |number| AnnotationSetId::new(IdSpace::Exemplar, number);
        assert_eq!(draw(1, set(7)), draw(1, set(7)));
        assert_ne!(draw(1, set(7)), draw(2, set(7)));
        assert_ne!(draw(1, set(7)), draw(1, set(8)));
    }

    #[test]
    fn each_lu_has_its_turn_before_any_has_a_second() {
        let pick = |lexunit: &str, first: u8| Pick {
            draw: [first; 32],
            release: ReleaseId(1),
            release_name: String::new(),
            set: AnnotationSetId::new(IdSpace::Exemplar, u64::from(first)),
            frame: "Checking".into(),
            lexunit: lexunit.into(),
        };
        let lexunits = [
            vec![pick("check.v", 1), pick("check.v", 2), pick("check.v", 3)],
            vec![pick("inspect.v", 7), pick("inspect.v", 8)],
            vec![pick("audit.v", 5)],
        ];
        let taken = |limit: usize| -> Vec<(String, u8)> {
            let picks = in_turn(lexunits.clone().into_iter(), limit).into_iter();
            picks.map(|pick| (pick.lexunit.to_string(), pick.draw[0])).collect()
        };
        let all = taken(usize::MAX);
        let order: Vec<u8> = all.iter().map(|(_, draw)| *draw).collect();
        assert_eq!(order, [1, 5, 7, 2, 8, 3]);
        let mut once: Vec<String> = taken(3).into_iter().map(|(lexunit, _)| lexunit).collect();
        once.sort();
        assert_eq!(once, ["audit.v", "check.v", "inspect.v"]);
        assert_eq!(taken(5), all[..5], "a smaller request is the beginning of a larger one");
    }
}
