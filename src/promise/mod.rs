//! Editions that promise a precision: which of their candidates they may hold, by judgements of a
//! random sample, and what is to be judged next.
//!
//! A query finds the candidates, and a score ranks them. The promise is that at least a share of
//! those above a cut is right, with a confidence. It holds whenever one stops judging, however
//! often one looked, and for the cut that was chosen by the same judgements. Nothing but random
//! draws counts: each cut takes the judgements of the first sets of its own random order, up to the
//! first one that nobody has judged. Sets that are judged wrong stay out of the edition; they count
//! against it all the same. Candidates and their scores must not depend on the judgements: a query
//! that asks for judgements is refused, and a filter that learned from them must not rank.
//!
//! ```text
//! where to cut           plan.rs     ranking, cuts, the order of asking, what is asked next
//! whether it is kept     bets.rs     a test that may be looked at after each judgement
//! whether it was kept    check.rs    by the judgements of now, or by a new sample
//! ```

mod bets;
mod check;
mod plan;

pub use check::{PromiseCheck, PromiseVerdict, check_promise_by};

use std::collections::BTreeMap;

use serde::Serialize;

use crate::database::{Database, DatabaseError, EditError, ExportError, Result};
use crate::model::{
    AnnotationSetId, Candidate, Edition, Fraction, Judgement, PROPOSED, Positive, Promise,
    PromiseGroup, PromiseGroups, ReleaseId,
};
use crate::query::{Expression, Field, FieldKind, Ids, Selection, Value};
use crate::search::Match;
#[doc(hidden)]
pub use plan::{Answer, Assessment, Plan};

/// Draws every sample. Judgements of one edition speak for another one with the same candidates,
/// and nobody draws again until the promise is kept.
const SEED: u64 = 1;

/// What an edition is to promise.
#[derive(Debug, Clone, PartialEq)]
pub struct PromiseRequest {
    /// Least share of right sets, above 0 and below 1.
    pub precision: f64,
    /// How sure, above 0 and below 1.
    pub confidence: f64,
    /// What ranks the candidates: a field with values in `[0, 1]`, higher being better. `None`
    /// takes the precision filter's score where a set has one, else the verifier's answer.
    pub rank: Option<Field>,
    /// What it is kept in apart from the rest.
    pub by: Option<PromiseGroups>,
}

/// An edition of candidates, not written yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PromisedEdition {
    /// Its release.
    pub release: ReleaseId,
    /// The edition, cut where judgements that are there already keep the promise.
    pub edition: Edition,
    /// Sets that the query finds and that are no candidates: they have no score, or belong to no
    /// group.
    pub unranked: u64,
}

/// How a promise stands in a group, by the judgements that are there now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PromiseStanding {
    /// What the group's sets have in common, as a query; empty where there is one group.
    pub group: String,
    /// Sets that the edition may hold.
    pub candidates: Positive,
    /// Candidates whose judgements count.
    pub judged: u64,
    /// Of these, right ones.
    pub right: u64,
    /// Candidates up to the cut that the edition was made with, those judged wrong included.
    pub kept: u64,
    /// Candidates up to the cut that judgements allow now, those judged wrong included.
    pub sets: u64,
    /// The least score up to the cut; none where there is no cut.
    pub score: Option<Fraction<f32>>,
    /// Lower bound of the share of right sets up to the cut, at the promise's confidence.
    pub lower: Option<Fraction<f32>>,
    /// Judgements that are still worth making, about.
    pub left: u64,
}

/// What is asked next, for editions that promise something.
#[derive(Debug)]
pub struct PromiseQuestions {
    release: ReleaseId,
    plans: Vec<Plan>,
}

impl Database {
    /// An edition of the candidates that a query finds in one release. Nothing is written:
    /// [`Transaction::add_edition`](crate::edit::Transaction::add_edition) does that. `None` when
    /// there is no candidate.
    ///
    /// # Errors
    /// When the request is none, the candidates belong to several releases, and as
    /// [`query`](Self::query).
    pub fn promised_edition(
        &self,
        name: &str,
        expression: &Expression,
        request: &PromiseRequest,
        created: u64,
    ) -> Result<Option<PromisedEdition>> {
        check_request(request)?;
        check_candidates(expression)?;
        let rank = match request.rank {
            Some(rank) => rank,
            None => self.usual_rank(expression)?,
        };
        let mut groups: BTreeMap<(u64, String), Vec<Candidate>> = BTreeMap::new();
        let (mut release, mut unranked) = (None, 0);
        for found in self.matches(expression, &Selection::default())? {
            let found = found?;
            let first = *release.get_or_insert(found.release());
            if first != found.release() {
                return Err(self.several([first, found.release()])?);
            }
            let score = found.values(rank)?.into_iter().next();
            match (score, group_of(&found, request.by)?) {
                (Some(Value::Number(score)), Some(group)) => {
                    let set = found.set().id;
                    groups.entry(group).or_default().push(Candidate { set, score });
                }
                _ => unranked += 1,
            }
        }
        let Some(release) = release else { return Ok(None) };
        if groups.is_empty() {
            let expected = format!("a score that sets have; {unranked} found, and none has it");
            return Err(EditError::value("rank", rank, expected).into());
        }
        let groups = groups.into_iter().map(|((_, name), mut candidates)| {
            candidates.sort_unstable_by_key(|candidate| candidate.set);
            PromiseGroup { name, candidates, cut: None }
        });
        let PromiseRequest { precision, confidence, by, .. } = *request;
        let (rank, seed) = (rank.name().to_owned(), SEED);
        let promise = Promise { precision, confidence, rank, by, seed, groups: groups.collect() };
        let edition = Edition {
            name: name.to_owned(),
            expression: expression.to_string(),
            created,
            revision: self.store().revision()?,
            sentences: 0,
            pairs: 0,
            lemma_pairs: 0,
            split_list: self.split_list_for(expression)?.map(|list| list.record()),
            sets: Vec::new(),
            promise: Some(promise),
        };
        let edition = self.cut_edition(release, edition)?;
        Ok(Some(PromisedEdition { release, edition, unranked }))
    }

    /// An edition that promises something, cut by the judgements that are there now; one that
    /// promises nothing as it is. Nothing is written:
    /// [`Transaction::set_edition`](crate::edit::Transaction::set_edition) does that.
    ///
    /// # Errors
    /// When the store fails.
    pub fn cut_edition(&self, release: ReleaseId, edition: Edition) -> Result<Edition> {
        let Some(mut promise) = edition.promise.clone() else { return Ok(edition) };
        let mut kept = Vec::new();
        let plans = plans(&promise);
        for (group, plan) in promise.groups.iter_mut().zip(plans) {
            let answer = |set| self.is_right(release, set);
            group.cut = plan.cut(&plan.assess(&answer)?, &answer)?;
            for candidate in group.cut.iter().flat_map(|cut| plan.up_to(cut)) {
                if self.is_right(release, candidate.set)? != Some(false) {
                    kept.push(candidate.set);
                }
            }
        }
        let ids = self.one_of(vec![(release, kept.iter().copied().collect::<Ids<_>>())])?;
        let frozen = match kept.is_empty() {
            true => None,
            false => self.edition_of(&edition.name, &ids, edition.created)?,
        };
        let (sets, counts) = match frozen {
            Some((_, of)) => (of.sets, (of.sentences, of.pairs, of.lemma_pairs)),
            None => (Vec::new(), (0, 0, 0)),
        };
        let ((sentences, pairs, lemma_pairs), promise) = (counts, Some(promise));
        let revision = self.store().revision()?;
        Ok(Edition { revision, sentences, pairs, lemma_pairs, sets, promise, ..edition })
    }

    /// How the promise of an edition stands by the judgements that are there now, group by group;
    /// nothing where it promises nothing.
    ///
    /// # Errors
    /// When the store fails.
    pub fn promise_standing(
        &self,
        release: ReleaseId,
        edition: &Edition,
    ) -> Result<Vec<PromiseStanding>> {
        let Some(promise) = &edition.promise else { return Ok(Vec::new()) };
        let mut standings = Vec::new();
        for (group, plan) in promise.groups.iter().zip(plans(promise)) {
            let answer = |set| self.is_right(release, set);
            let all = plan.assess(&answer)?;
            let cut = plan.cut(&all, &answer)?;
            standings.push(PromiseStanding {
                group: group.name.clone(),
                candidates: group.candidates.len() as Positive,
                judged: all.judged,
                right: all.right,
                kept: group.cut.map_or(0, |cut| cut.sets),
                sets: cut.map_or(0, |cut| cut.sets),
                score: cut.map(|cut| cut.score),
                lower: cut.map(|cut| cut.lower),
                left: all.left,
            });
        }
        Ok(standings)
    }

    /// Whether a set is right by the mean of its judgements; one that is gone is not. `None` where
    /// nobody has judged it.
    fn is_right(&self, release: ReleaseId, set: AnnotationSetId) -> Result<Option<bool>> {
        if let Some(mean) = self.mean_judgement(release, set)? {
            return Ok(Some(f64::from(mean) >= Judgement::ACCEPTED));
        }
        let is_there = self.store().set_location(release, set)?.is_some();
        Ok((!is_there).then_some(false))
    }

    /// The score of the precision filter where a set that a query finds has one, else the answer of
    /// the verifier.
    fn usual_rank(&self, expression: &Expression) -> Result<Field> {
        let scored = Expression::conjunction([expression.clone(), "p>=0".parse()?]);
        let mut scored = self.matches(&scored, &Selection::default())?;
        Ok(match scored.next().transpose()? {
            Some(_) => Field::P,
            None => Field::Evokes,
        })
    }

    fn several(&self, both: [ReleaseId; 2]) -> Result<DatabaseError> {
        let releases = self.releases()?.into_iter();
        let names = releases.filter(|of| both.contains(&of.id)).map(|of| of.name).collect();
        Ok(ExportError::SeveralReleases { names }.into())
    }
}

impl PromiseQuestions {
    /// The questions of an edition; `None` where it promises nothing.
    #[must_use]
    pub fn new(release: ReleaseId, edition: &Edition) -> Option<Self> {
        Some(Self { release, plans: plans(edition.promise.as_ref()?) })
    }

    /// The set to be judged next among those that are open, and how many judgements are still worth
    /// making, about. The group that is nearest to its end comes first.
    ///
    /// # Errors
    /// When the store fails.
    pub fn next(
        &self,
        database: &Database,
        mut is_open: impl FnMut(AnnotationSetId) -> bool,
    ) -> Result<(Option<AnnotationSetId>, u64)> {
        let (mut nearest, mut left) = (None, 0);
        for plan in &self.plans {
            let answer = |set| database.is_right(self.release, set);
            let all = plan.assess(&answer)?;
            left += all.left;
            let next = plan.next(&all, |set| Ok(is_open(set) && answer(set)?.is_none()))?;
            if let Some(set) = next
                && nearest.is_none_or(|(of, _)| all.left < of)
            {
                nearest = Some((all.left, set));
            }
        }
        Ok((nearest.map(|(_, set)| set), left))
    }
}

fn plans(promise: &Promise) -> Vec<Plan> {
    let asked = (promise.precision, 1.0 - promise.confidence);
    promise.groups.iter().map(|group| Plan::new(group, asked, promise.seed)).collect()
}

/// Refuses candidates that judgements have chosen: those that were judged wrong would be missing
/// from the sample.
fn check_candidates(expression: &Expression) -> Result<()> {
    let by_judgement = [Field::Judgement, Field::JudgementMean, Field::Edition];
    match expression.terms().find(|term| by_judgement.contains(&term.field())) {
        None => Ok(()),
        Some(term) => {
            let expected = "candidates that no judgement has chosen";
            Err(EditError::value("expression", term.field(), expected).into())
        }
    }
}

fn check_request(request: &PromiseRequest) -> Result<()> {
    let is_share = |of: f64| of > 0.0 && of < 1.0;
    let expected = "a number above 0 and below 1";
    if !is_share(request.precision) {
        return Err(EditError::value("precision", request.precision, expected).into());
    }
    if !is_share(request.confidence) {
        return Err(EditError::value("confidence", request.confidence, expected).into());
    }
    if let Some(rank) = request.rank.filter(|rank| rank.kind() != FieldKind::Fraction) {
        let fractions = Field::ALL.iter().filter(|field| field.kind() == FieldKind::Fraction);
        let names: Vec<&str> = fractions.map(|field| field.name()).collect();
        let expected = format!("a score in [0, 1]: {}", names.join(", "));
        return Err(EditError::value("rank", rank, expected).into());
    }
    Ok(())
}

/// The group of a set, with what it is ordered by; `None` where it belongs to none.
fn group_of(found: &Match<'_>, by: Option<PromiseGroups>) -> Result<Option<(u64, String)>> {
    Ok(match by {
        None => Some((0, String::new())),
        Some(PromiseGroups::Round) => match found.values(Field::Round)?.first() {
            Some(Value::Integer(round)) => Some((*round, format!("round={round}"))),
            _ => None,
        },
        Some(PromiseGroups::Lu) => {
            let status = found.values(Field::LuStatus)?;
            let is_proposed = status.contains(&Value::Text(PROPOSED.to_owned()));
            let sign = if is_proposed { "=" } else { "!=" };
            Some((u64::from(is_proposed), format!("lu_status{sign}{PROPOSED}")))
        }
    })
}
