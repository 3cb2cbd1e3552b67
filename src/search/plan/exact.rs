//! What keys and the index say of a query without a set being read: for counting.

use std::collections::{BTreeMap, BTreeSet};

use super::narrowed::Narrowed;
use super::{CHEAP, Planner};
use crate::database::Result;
use crate::index::{Filter, Hit, Omitted};
use crate::model::{FrameId, LuId, ReleaseId};
use crate::query::{Case, Expression, Field, Test};
use crate::store::SetRange;

/// Runs of keys that are looked up one by one; more are read in one pass over the release.
const RUNS: usize = 1_000;

/// What entries of the index say of a query.
pub(in crate::search) struct Entries {
    /// Numbers of sets by where they are kept.
    pub(in crate::search) places: BTreeMap<(ReleaseId, FrameId, LuId), u64>,
    /// Sets whose triggers are too long for the index: they are not among those.
    pub(in crate::search) omitted: Vec<Hit>,
}

/// More hits of a filter are not looked at.
fn at_most(filter: &Filter) -> usize {
    if matches!(filter, Filter::Omitted(_)) { CHEAP } else { usize::MAX }
}

impl Planner<'_> {
    /// Runs of keys outside of which a query has no answers.
    pub(in crate::search) fn runs(&self, expression: &Expression) -> Result<Vec<SetRange>> {
        if let Some(keys) = self.keys(expression)? {
            // Single sets lie in no run; where nothing is left there is none, of whatever kind.
            let are_sets = matches!(&keys, Narrowed::Sets(sets) if !sets.is_empty());
            let runs = keys.scopes();
            if !are_sets && runs.len() <= RUNS {
                return Ok(runs);
            }
        }
        Ok(Narrowed::Releases(self.releases.clone()).scopes())
    }

    /// What keys alone leave of the key space; `None` for all of it.
    fn keys(&self, expression: &Expression) -> Result<Option<Narrowed>> {
        let mut keys: Option<Narrowed> = None;
        match expression {
            Expression::Everything | Expression::Not(_) => {}
            Expression::Term(term) => keys = self.of_term(term)?.keys,
            Expression::And(parts) => {
                for part in parts {
                    keys = match (keys, self.keys(part)?) {
                        (Some(keys), Some(more)) => Some(keys.and(more)),
                        (one, other) => one.or(other),
                    };
                }
            }
            Expression::Or(parts) => {
                for part in parts {
                    let Some(more) = self.keys(part)? else { return Ok(None) };
                    keys = Some(match keys {
                        Some(keys) => keys.or(more),
                        None => more,
                    });
                }
            }
        }
        Ok(keys)
    }

    /// How many entries of the index a conjunction finds, by place. `places` holds those of its
    /// parts that ask of places alone; every other part must be one that the index holds exactly.
    ///
    /// `None` where it is not, where the index is not as new as the store, where keys leave so few
    /// sets that reading them costs less, or where as many sets have a trigger that the index
    /// leaves out.
    pub(in crate::search) fn entries(
        &self,
        others: &[&Expression],
        places: &Expression,
    ) -> Result<Option<Entries>> {
        let store = &self.database.store;
        let mut filters = Vec::with_capacity(others.len());
        for part in others {
            let Some(filter) = self.exactly(part)? else { return Ok(None) };
            filters.push(filter);
        }
        if let Some(keys) = self.keys(places)?
            && keys.count(store, CHEAP)? < CHEAP
        {
            return Ok(None);
        }
        let Some((reader, revision)) = self.database.index_reader()? else { return Ok(None) };
        if revision != store.revision()? {
            return Ok(None);
        }
        let search = |filter: &Filter| self.database.usable(reader.search(filter)).flatten();
        let hits = |filter: &Filter| {
            let found = search(filter).filter(|found| found.len() < at_most(filter));
            let hits = found.and_then(|found| self.database.usable(found.hits()))?;
            let is_asked = |hit: &Hit| self.releases.contains(&hit.release);
            Some(hits.into_iter().filter(is_asked).collect::<Vec<Hit>>())
        };
        // The entry of a set whose trigger is too long says nothing of it.
        let Some(omitted) = hits(&Filter::Omitted(Omitted::Trigger)) else { return Ok(None) };
        let Some(found) = hits(&Filter::All(filters)) else { return Ok(None) };
        let left_out: BTreeSet<&Hit> = omitted.iter().collect();
        let mut places = BTreeMap::new();
        for hit in found.iter().filter(|hit| !left_out.contains(hit)) {
            *places.entry((hit.release, hit.frame, hit.lu)).or_default() += 1;
        }
        Ok(Some(Entries { places, omitted }))
    }

    /// The filter that lets through what an expression holds of and nothing else, if there is one.
    fn exactly(&self, expression: &Expression) -> Result<Option<Filter>> {
        let all = |parts: &[Expression]| -> Result<Option<Vec<Filter>>> {
            parts.iter().map(|part| self.exactly(part)).collect()
        };
        Ok(match expression {
            Expression::Everything | Expression::Not(_) => None,
            Expression::And(parts) => all(parts)?.map(Filter::All),
            Expression::Or(parts) => all(parts)?.map(Filter::Any),
            Expression::Term(term) => match (&term.test, term.field) {
                (Test::Pattern(pattern), Field::Trigger) if pattern.case() == Case::Fold => {
                    pattern.as_exact().map(|text| Filter::Trigger(text.to_owned()))
                }
                (
                    _,
                    Field::Origin
                    | Field::Round
                    | Field::Recipe
                    | Field::Paraphrase
                    | Field::Aligner,
                ) => self.of_term(term)?.filter,
                _ => None,
            },
        })
    }
}
