//! A query's plan, with what was expected and what came of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

use super::{Narrowed, Plan, Planner};
use crate::database::{Database, Held, Result};
use crate::model::NamedBy;
use crate::model::named;
use crate::query::{Expression, Selection, Term};

/// Rows that an estimate counts; beyond, what RocksDB says of the whole store is good enough.
const COUNTED: usize = 100_000;

named! {
    /// How a term takes part in answering a query.
    pub enum Access {
        /// It narrows the scan to a run of keys.
        KeyScan => "key scan",
        /// It names the sets, which are read one by one.
        PointReads => "point reads",
        /// The index finds what can pass it.
        Index => "index",
        /// It is only asked of the sets that the others bring up.
        Filter => "filter",
    }
}

/// What became of one term.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TermReport {
    /// The term, as in canonical text, with a number in place of more than five ids.
    pub term: String,
    /// Whether it narrowed the search, or was only asked of what others found.
    pub access: Access,
    /// How many sets it brings up by itself; null where only asking can tell.
    pub estimated: Option<u64>,
    /// Of how many sets it was asked. A term is asked only as long as the answer is open.
    pub asked: u64,
    /// For how many of these it held.
    pub passed: u64,
    /// How many documents a `doc` term names, by which of their texts; absent for other terms.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub documents: BTreeMap<NamedBy, u64>,
}

/// How a query was answered; as JSON, `schema/plan.schema.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// Names of the releases that were searched.
    pub releases: Vec<String>,
    /// How the sets were brought up that the query was asked of.
    /// JSON `{"enum": ["key scan", "point reads", "index"]}`.
    pub access: Access,
    /// Where they lie, as in `3 frames`.
    pub place: String,
    /// How many sets were expected there.
    pub estimated: u64,
    /// How many were read; a limit ends the scan early.
    pub read: u64,
    /// Answers, after offset and limit.
    pub answers: u64,
    /// Time for planning and answering, without opening the store and writing answers.
    #[serde(rename = "milliseconds", serialize_with = "as_milliseconds")]
    pub elapsed: Duration,
    /// The terms, in the order in which they are asked.
    pub terms: Vec<TermReport>,
}

/// JSON `{"type": "number", "minimum": 0}`.
fn as_milliseconds<S: Serializer>(
    elapsed: &Duration,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_f64(elapsed.as_secs_f64() * 1e3)
}

impl Database {
    /// Answers a query, and says how: which terms narrowed the search, and what each let through.
    ///
    /// # Errors
    /// As [`Database::query`].
    pub fn explain(&self, expression: &Expression, selection: &Selection) -> Result<Explanation> {
        let start = Instant::now();
        let mut matches = Self::planned(Held::Borrowed(self), expression, selection, true)?;
        let mut answers = 0;
        for found in &mut matches {
            found?;
            answers += 1;
        }
        let elapsed = start.elapsed();
        let evaluator = matches.evaluator();
        let planner = Planner::new(self, &evaluator.facts.catalog, expression);
        let plan = planner.plan(expression)?;
        let mut terms = Vec::new();
        let tallies = evaluator.tallies();
        for ((term, negated), tally) in evaluator.terms().into_iter().zip(tallies) {
            let (access, estimated) = planner.report(&plan, term, negated)?;
            let (asked, passed) = tally;
            let mut documents = BTreeMap::new();
            for (_, by) in self.documents_of_term(expression, term)? {
                *documents.entry(by).or_default() += 1;
            }
            let term = format!("{term:#}");
            terms.push(TermReport { term, access, estimated, asked, passed, documents });
        }
        let searched = self.releases_of(expression)?;
        Ok(Explanation {
            releases: searched.iter().map(|release| release.name.clone()).collect(),
            access: plan.access(),
            place: plan.narrowed.describe(),
            estimated: planner.rows(&plan.narrowed)?,
            read: matches.rows_read(),
            answers,
            terms,
            elapsed,
        })
    }
}

impl Plan {
    fn access(&self) -> Access {
        match self.narrowed {
            Narrowed::Sets(_) if self.by_index => Access::Index,
            Narrowed::Sets(_) => Access::PointReads,
            _ => Access::KeyScan,
        }
    }
}

impl Planner<'_> {
    /// How a term takes part in a plan, and how many sets it brings up by itself.
    fn report(&self, plan: &Plan, term: &Term, negated: bool) -> Result<(Access, Option<u64>)> {
        let route = self.of_term(term)?;
        let estimated = match (&route.keys, &route.filter) {
            (Some(keys), _) => Some(self.rows(keys)?),
            (None, Some(filter)) => self.found(filter)?.map(|found| found as u64),
            (None, None) => None,
        };
        let access = match (route.keys, route.filter) {
            _ if negated => Access::Filter,
            (Some(Narrowed::Sets(_)), _) if plan.by_keys => Access::PointReads,
            (Some(_), _) if plan.by_keys => Access::KeyScan,
            (_, Some(_)) if plan.by_index => Access::Index,
            _ => Access::Filter,
        };
        // What stands under `not` is asked of sets that others bring up, however few it finds.
        Ok((access, if negated { None } else { estimated }))
    }

    fn rows(&self, narrowed: &Narrowed) -> Result<u64> {
        let store = &self.database.store;
        match narrowed {
            Narrowed::Releases(all) if all.len() == self.catalog.releases().len() => self.sets(),
            other => Ok(other.count(store, COUNTED)? as u64),
        }
    }
}
