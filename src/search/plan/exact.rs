//! What keys and the index say of a query without a set being read: for counting.

use std::collections::BTreeMap;

use super::narrowed::Narrowed;
use super::{CHEAP, Planner};
use crate::database::Result;
use crate::index::{Filter, Omitted};
use crate::model::{FrameId, LuId, ReleaseId};
use crate::query::{Case, Expression, Field, Test};
use crate::store::SetRange;

/// Runs of keys that are looked up one by one; more are read in one pass over the release.
const RUNS: usize = 1_000;

/// Numbers of sets by where they are kept.
pub(in crate::search) type Places = BTreeMap<(ReleaseId, FrameId, LuId), u64>;

impl Planner<'_> {
    /// Runs of keys outside of which a query has no answers.
    pub(in crate::search) fn runs(&self, expression: &Expression) -> Result<Vec<SetRange>> {
        if let Some(keys) = self.keys(expression)? {
            let nowhere = matches!(&keys, Narrowed::Sets(sets) if sets.is_empty());
            let runs = keys.scopes();
            if nowhere || (!runs.is_empty() && runs.len() <= RUNS) {
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
    /// `None` where it is not, where the index is not as new as the store, or where keys leave so
    /// few sets that reading them costs less.
    pub(in crate::search) fn entries(
        &self,
        others: &[&Expression],
        places: &Expression,
    ) -> Result<Option<Places>> {
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
        // The entry of a set whose trigger is too long says nothing of it.
        if !search(&Filter::Omitted(Omitted::Trigger)).is_some_and(|found| found.is_empty()) {
            return Ok(None);
        }
        let found = search(&Filter::All(filters));
        let Some(hits) = found.and_then(|found| self.database.usable(found.hits())) else {
            return Ok(None);
        };
        let mut counts = Places::new();
        for hit in hits.into_iter().filter(|hit| self.releases.contains(&hit.release)) {
            *counts.entry((hit.release, hit.frame, hit.lu)).or_default() += 1;
        }
        Ok(Some(counts))
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
