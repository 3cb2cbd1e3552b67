//! Filters over what a store holds: scores for generated sets, and judged sets as data to train
//! filters on.
//!
//! A set gets its scores when it is written ([`Models::filter`](super::Models)). [`rescore`] gives
//! them to sets that were written without a filter or under another one. Scores decide nothing
//! here: sets are kept, and queries choose (`p>=0.78`).

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use super::ExpandError;
use super::known_units::{KnownUnits, unit_key};
use super::reading::{read_in_order, rewrite};
use crate::database::{Database, Write};
use crate::filter::{Filter, FilterEvidence, Judged};
use crate::model::{
    AnnotationSet, Fraction, Generation, MEANING, OWN_RANGE, Origin, PROPOSED, Provenance,
    ReleaseId,
};
use crate::query::Expression;
use crate::search::Answer;

/// Sets that are written together.
const BATCH: usize = 1024;

/// How many sets the two classifiers of a filter keep.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct FilterTally {
    /// Sets that were scored.
    #[serde(skip)]
    pub scored: u64,
    /// Score of the precision filter from which on it keeps a set.
    pub precision_cut: Fraction<f32>,
    /// How many it keeps.
    pub by_precision: u64,
    /// Score of the recall filter from which on it keeps a set.
    pub recall_cut: Fraction<f32>,
    /// How many it keeps.
    pub by_recall: u64,
}

impl FilterTally {
    /// Before the first set.
    #[must_use]
    pub fn of(filter: &Filter) -> Self {
        let config = filter.config();
        Self {
            precision_cut: config.precision.cut,
            recall_cut: config.recall.cut,
            ..Self::default()
        }
    }

    /// Counts a set.
    pub(super) fn count(&mut self, generation: &Generation) {
        if let Some(scores) = generation.filter {
            self.scored += 1;
            self.by_precision += u64::from(scores.precision >= self.precision_cut);
            self.by_recall += u64::from(scores.recall >= self.recall_cut);
        }
    }
}

/// What became of sets that were to be scored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rescored {
    /// How many are kept, of all that were found.
    pub kept: FilterTally,
    /// Sets whose scores were written; the others had them already.
    pub written: u64,
    /// Whether the run was stopped; the same command resumes here.
    pub interrupted: bool,
}

/// What a filter looks at in sets that are there; reads what a release's lexicon says once.
struct Witness<'a> {
    database: &'a Database,
    known: Mutex<HashMap<ReleaseId, Arc<KnownUnits>>>,
}

impl<'a> Witness<'a> {
    fn new(database: &'a Database) -> Self {
        Self { database, known: Mutex::default() }
    }

    /// What a release's lexicon knows.
    fn known(&self, release: ReleaseId) -> Result<Arc<KnownUnits>, ExpandError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match known.entry(release) {
            Entry::Occupied(known) => Arc::clone(known.get()),
            Entry::Vacant(place) => Arc::clone(
                place.insert(Arc::new(KnownUnits::read(self.database.store(), release)?)),
            ),
        })
    }

    /// What is known of a set with a generation.
    fn evidence(&self, answer: &Answer, made: &Generation) -> Result<FilterEvidence, ExpandError> {
        let (release, set) = (answer.release.id, &answer.set);
        // An LU of the store's own range was proposed, or someone added it.
        let proposed = set.lu.0 >= OWN_RANGE && {
            let lu = self.database.store().lexunit(release, set.frame, set.lu)?;
            lu.is_some_and(|lu| lu.status == PROPOSED)
        };
        let Generation { round, paraphrase, aligner, .. } = *made;
        let place = (set.frame, set.lu);
        let key = unit_key(self.database.store(), release, place, &answer.lexunit)?;
        let frames = self.known(release)?.frames_with(&key);
        let verification = self.database.store().verification(release, set.id)?;
        let evidence = FilterEvidence::new(round, (paraphrase, aligner), (proposed, frames));
        Ok(evidence.with(made.fit.as_ref(), verification.as_ref()))
    }
}

/// Gives the generated sets for which an expression holds the scores of a filter, in place of
/// earlier ones. Sets without a paraphrase score get none.
///
/// All threads look at sets, which are written some at a time; `progress` is told how many were
/// looked at, and a `Break` ends the run after those that were written. The same call resumes
/// there. A set that another thread edits or removes meanwhile gets no scores. In the list of
/// changes a set that gets scores is edited.
///
/// # Errors
/// When the expression names what the database does not hold, or the database fails. A record that
/// cannot be read is told of when the others have their scores.
pub fn rescore(
    database: &Database,
    expression: &Expression,
    filter: &Filter,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Rescored, ExpandError> {
    let mut done = Rescored { kept: FilterTally::of(filter), written: 0, interrupted: false };
    let witness = Witness::new(database);
    let read = |answer: Answer| {
        database.check_language(filter.declared(), &answer.release)?;
        let Provenance::Generated(made) = &answer.set.provenance else { return Ok(None) };
        // A filter wants to know how likely an output is, which a server does not say.
        if made.paraphrase_score().is_none() {
            return Ok(None);
        }
        let scores = filter.scores(&witness.evidence(&answer, made)?);
        let mut made = made.clone();
        let is_new = made.filter.replace(scores) != Some(scores);
        Ok(Some((answer.release.id, answer.set, made, is_new)))
    };
    let mut waiting = Vec::new();
    let ended = read_in_order(database, &generated_sets(expression), read, |scored| {
        let (release, set, made, is_new) = scored;
        done.kept.count(&made);
        if is_new {
            let new = AnnotationSet { provenance: Provenance::Generated(made), ..set.clone() };
            waiting.push((release, set, new));
        }
        if waiting.len() == BATCH {
            done.written += rewrite(database, waiting.drain(..))?;
        }
        let is_due = done.kept.scored.is_multiple_of(BATCH as u64);
        Ok(if is_due { progress(done.kept.scored) } else { ControlFlow::Continue(()) })
    });
    done.written += rewrite(database, waiting)?;
    done.interrupted = ended?.is_break();
    Ok(done)
}

pub(super) fn commit(
    database: &Database,
    writes: &mut BTreeMap<ReleaseId, Write>,
) -> Result<(), ExpandError> {
    for (release, write) in std::mem::take(writes) {
        database.write(release, &write)?;
    }
    Ok(())
}

/// Hands on the generated sets for which an expression holds, with what a filter looks at and what
/// people say of them. All threads read them; `take` gets them on this one, in the order of
/// [`Database::query`]. A set that nothing scored as a paraphrase has an infinite score.
///
/// # Errors
/// When the expression names what the database does not hold, or the database fails; those of
/// `take`, which end it.
pub fn filter_data<E: From<ExpandError>>(
    database: &Database,
    expression: &Expression,
    mut take: impl FnMut(Judged) -> Result<(), E>,
) -> Result<(), E> {
    let witness = Witness::new(database);
    let mut failed = None;
    let read = |answer| judged(&witness, &answer);
    let _ = read_in_order(database, &generated_sets(expression), read, |judged| {
        failed = take(judged).err();
        Ok(if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    failed.map_or(Ok(()), Err)
}

fn judged(witness: &Witness<'_>, answer: &Answer) -> Result<Option<Judged>, ExpandError> {
    let release = answer.release.id;
    let Provenance::Generated(made) = &answer.set.provenance else { return Ok(None) };
    let judgements = witness.database.store().judgements(release, answer.set.id)?;
    let (mut scores, mut of_meaning) = (Vec::new(), Vec::new());
    for judgement in judgements {
        let judgement = judgement?;
        if judgement.is_of_frame() {
            scores.push(judgement.score);
        } else if judgement.question == MEANING {
            of_meaning.push(judgement.score);
        }
    }
    let seed = witness.database.store().set_location(release, made.seed)?;
    Ok(Some(Judged {
        release: answer.release.name.clone(),
        set: answer.set.id.to_string(),
        seed: made.seed.to_string(),
        // A seed that was removed since stands for its sentence.
        sentence: seed.map_or_else(|| made.seed.to_string(), |seed| seed.sentence.to_string()),
        evidence: witness.evidence(answer, made)?,
        judgements: scores,
        meaning_judgements: of_meaning,
    }))
}

/// The generated sets for which an expression holds.
pub(super) fn generated_sets(expression: &Expression) -> Expression {
    let generated = format!("origin={}", Origin::Generated.as_str());
    let generated = generated.parse().expect("a constant query, which every run reads");
    Expression::conjunction([expression.clone(), generated])
}
