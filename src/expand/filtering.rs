//! Filters over what a store holds: scores for generated sets, and judged sets as data to train
//! filters on.
//!
//! A set gets its scores when it is written ([`Models::filter`](super::Models)). [`rescore`] gives
//! them to sets that were written without a filter or under another one. Scores decide nothing
//! here: sets are kept, and queries choose (`p>=0.78`).

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use super::ExpandError;
use super::trigger_lexicon::{TriggerLexicon, unit_key};
use crate::database::{Database, DatabaseError, Write};
use crate::filter::{Filter, FilterEvidence, Judged};
use crate::model::{
    Fraction, Generation, MEANING, OWN_RANGE, Origin, PROPOSED, Provenance, ReleaseId,
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
    lexicons: HashMap<ReleaseId, TriggerLexicon<'a>>,
}

impl<'a> Witness<'a> {
    fn new(database: &'a Database) -> Self {
        Self { database, lexicons: HashMap::new() }
    }

    /// What is known of a set with a generation.
    fn evidence(
        &mut self,
        answer: &Answer,
        made: &Generation,
    ) -> Result<FilterEvidence, ExpandError> {
        let (release, set) = (answer.release.id, &answer.set);
        let lexicon = match self.lexicons.entry(release) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(TriggerLexicon::new(self.database, release)?),
        };
        // An LU of the store's own range was proposed, or someone added it.
        let proposed = set.lu.0 >= OWN_RANGE && {
            let lu = self.database.store().lexunit(release, set.frame, set.lu)?;
            lu.is_some_and(|lu| lu.status == PROPOSED)
        };
        let Generation { round, paraphrase, aligner, .. } = *made;
        let place = (set.frame, set.lu);
        let key = unit_key(self.database.store(), release, place, &answer.lexunit)?;
        let frames = lexicon.frames_with(&key);
        let verification = self.database.store().verification(release, set.id)?;
        let evidence = FilterEvidence::new(round, (paraphrase, aligner), (proposed, frames));
        Ok(evidence.with(made.fit.as_ref(), verification.as_ref()))
    }
}

/// Gives the generated sets for which an expression holds the scores of a filter, in place of
/// earlier ones. Sets without a paraphrase score get none.
///
/// Sets are written some at a time; `progress` is told how many were looked at, and a `Break` ends
/// the run after those that were written. The same call resumes there. A set that another
/// thread edits meanwhile may lose that edit. In the list of changes a set that gets scores is
/// edited.
///
/// # Errors
/// When the expression names what the database does not hold, or the database fails.
pub fn rescore(
    database: &Database,
    expression: &Expression,
    filter: &Filter,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Rescored, ExpandError> {
    let mut done = Rescored { kept: FilterTally::of(filter), written: 0, interrupted: false };
    let mut witness = Witness::new(database);
    let mut writes: BTreeMap<ReleaseId, Write> = BTreeMap::new();
    let mut waiting = 0;
    for answer in database.query(&generated_sets(expression))? {
        let mut answer = answer?;
        let release = answer.release.id;
        database.check_language(filter.declared(), &answer.release)?;
        let Provenance::Generated(made) = &answer.set.provenance else { continue };
        // A filter wants to know how likely an output is, which a server does not say.
        if made.paraphrase_score().is_none() {
            continue;
        }
        let scores = filter.scores(&witness.evidence(&answer, made)?);
        let mut made = made.clone();
        let is_new = made.filter.replace(scores) != Some(scores);
        done.kept.count(&made);
        if is_new {
            answer.set.provenance = Provenance::Generated(made);
            writes.entry(release).or_default().sets.push(answer.set);
            waiting += 1;
            done.written += 1;
        }
        if waiting == BATCH {
            commit(database, &mut writes)?;
            waiting = 0;
        }
        if done.kept.scored.is_multiple_of(BATCH as u64) && progress(done.kept.scored).is_break() {
            done.interrupted = true;
            break;
        }
    }
    commit(database, &mut writes)?;
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

/// The generated sets for which an expression holds, with what a filter looks at and what people
/// say of them. A set that nothing scored as a paraphrase has an infinite score.
///
/// # Errors
/// When the expression names what the database does not hold; the iterator, when the database
/// fails.
pub fn filter_data<'a>(
    database: &'a Database,
    expression: &Expression,
) -> Result<impl Iterator<Item = Result<Judged, ExpandError>> + 'a, ExpandError> {
    let answers = database.query(&generated_sets(expression))?;
    let mut witness = Witness::new(database);
    Ok(answers.filter_map(move |answer| judged(&mut witness, answer).transpose()))
}

fn judged(
    witness: &mut Witness<'_>,
    answer: Result<Answer, DatabaseError>,
) -> Result<Option<Judged>, ExpandError> {
    let answer = answer?;
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
        evidence: witness.evidence(&answer, made)?,
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
