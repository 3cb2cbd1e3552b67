//! How a query is answered: a narrowing of the key space, by keys or by the index, whichever leaves
//! fewer sets to look at.
//!
//! A narrowing may hold more than the answers, never less; [`super::evaluate`] asks the whole query
//! of every set in it, so the answers are the same whatever is chosen here. Each term offers what
//! it can (a [`Route`]); a conjunction intersects what its parts offer, a disjunction unites it,
//! and what stands under `not` offers nothing.
//!
//! Keys cost nothing but the scan, so they come first. The index is opened only if keys would leave
//! more than [`CHEAP`] sets. Its hits are taken only if reading each of them costs less than the
//! scan.

mod exact;
mod explain;
mod known;
mod names;
mod narrowed;
mod pieces;
mod terms;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) use exact::Entries;
pub use explain::{Access, Explanation, TermReport};
pub(super) use names::lemma;
pub(super) use narrowed::{Narrowed, SetRows};
pub(super) use pieces::{Piece, pieces_of_runs, pieces_of_sets};

use super::catalog::Catalog;
use crate::database::{Database, Result};
use crate::index::{Filter, Hit, IndexReader};
use crate::model::ReleaseId;
use crate::query::{Expression, Field, FieldRoute, Test};

/// Sets that are scanned without a thought: opening the index costs as much.
const CHEAP: usize = 500;

/// Sets that are scanned sooner than the names of all LUs are read.
const FEW: usize = 4_000;

/// Sets of a scan that are counted one by one; what is more is too much in any case.
const COUNTED: usize = 20_000;

/// How many sets of a scan cost as much as one that is read by its key.
const POINT_READ: usize = 3;

/// How many hits of the index cost as much, as long as they are not read, as a set of a scan.
const HITS: usize = 10;

/// What can answer an expression. Each part alone is a narrowing of it.
#[derive(Debug, Default)]
struct Route {
    keys: Option<Narrowed>,
    filter: Option<Filter>,
}

impl Route {
    fn keys(narrowed: Narrowed) -> Self {
        Self { keys: Some(narrowed), filter: None }
    }

    fn index(filter: Filter) -> Self {
        Self { keys: None, filter: Some(filter) }
    }

    /// The route to no set at all.
    fn nothing() -> Self {
        Self::keys(Narrowed::Sets(BTreeSet::new()))
    }

    fn is_open(&self) -> bool {
        self.keys.is_none() && self.filter.is_none()
    }
}

/// The index at its last commit, with what the store has written since.
struct Searchable {
    reader: Arc<IndexReader>,
    newer: BTreeSet<Hit>,
}

/// Plans one query.
pub(super) struct Planner<'a> {
    database: &'a Database,
    catalog: &'a Catalog<'a>,
    /// The releases that the query can have answers in.
    releases: BTreeSet<ReleaseId>,
    index: OnceCell<Option<Searchable>>,
}

/// What was decided.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) narrowed: Narrowed,
    /// Whether keys took part in it.
    pub(super) by_keys: bool,
    /// Whether the index took part in it.
    pub(super) by_index: bool,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        database: &'a Database,
        catalog: &'a Catalog<'a>,
        expression: &Expression,
    ) -> Self {
        let releases = releases_of(catalog, expression);
        Self { database, catalog, releases, index: OnceCell::new() }
    }

    /// Decides where to look for the answers.
    pub(super) fn plan(&self, expression: &Expression) -> Result<Plan> {
        let mut plan = Plan {
            narrowed: Narrowed::Releases(self.releases.clone()),
            by_keys: false,
            by_index: false,
        };
        let route = self.route(expression, &mut plan)?;
        if let Some(narrowed) = self.decide(route, &mut plan)? {
            plan.narrowed = narrowed;
        }
        Ok(plan)
    }

    fn route(&self, expression: &Expression, plan: &mut Plan) -> Result<Route> {
        match expression {
            Expression::Everything | Expression::Not(_) => Ok(Route::default()),
            Expression::Term(term) => self.of_term(term),
            Expression::And(parts) => self.intersection(parts, plan),
            Expression::Or(parts) => self.union(parts, plan),
        }
    }

    /// What all parts offer together. What is dear to find out is left aside once the others have
    /// left little to look at.
    fn intersection(&self, parts: &[Expression], plan: &mut Plan) -> Result<Route> {
        let mut parts: Vec<&Expression> = parts.iter().collect();
        parts.sort_by_key(|part| effort(part));
        let mut keys: Option<Narrowed> = None;
        let mut filters = Vec::new();
        for part in parts {
            let enough = match effort(part) {
                FieldRoute::Keys => 0,
                FieldRoute::Names => FEW,
                FieldRoute::Index => CHEAP,
            };
            if let Some(keys) = &keys
                && enough > 0
                && keys.count(&self.database.store, enough)? < enough
            {
                break;
            }
            let route = self.route(part, plan)?;
            filters.extend(route.filter);
            keys = match (keys, route.keys) {
                (Some(keys), Some(more)) => Some(keys.and(more)),
                (one, other) => one.or(other),
            };
        }
        let filter = match filters.len() {
            0 | 1 => filters.pop(),
            _ => Some(Filter::All(filters)),
        };
        Ok(Route { keys, filter })
    }

    fn union(&self, parts: &[Expression], plan: &mut Plan) -> Result<Route> {
        let mut routes = Vec::with_capacity(parts.len());
        for part in parts {
            let route = self.route(part, plan)?;
            if route.is_open() {
                return Ok(Route::default());
            }
            routes.push(route);
        }
        if routes.iter().all(|route| route.keys.is_none()) {
            let filters = routes.into_iter().filter_map(|route| route.filter).collect();
            return Ok(Route::index(Filter::Any(filters)));
        }
        // Some parts are answered by keys, others by the index: each is decided by itself.
        let mut united: Option<Narrowed> = None;
        for route in routes {
            let Some(narrowed) = self.decide(route, plan)? else { return Ok(Route::default()) };
            united = Some(match united {
                Some(united) => united.or(narrowed),
                None => narrowed,
            });
        }
        Ok(Route { keys: united, filter: None })
    }

    /// The narrowing of a route that leaves the least work; `None` for everything.
    fn decide(&self, route: Route, plan: &mut Plan) -> Result<Option<Narrowed>> {
        let store = &self.database.store;
        let Route { keys, filter } = route;
        plan.by_keys |= keys.is_some();
        let Some(filter) = filter else { return Ok(keys) };
        let Some(keys) = keys else {
            let all = usize::try_from(self.sets()?).unwrap_or(usize::MAX);
            let found = self.search(&filter, all.max(CHEAP) / POINT_READ)?;
            plan.by_index |= found.is_some();
            return Ok(found.map(Narrowed::Sets));
        };
        let rows = keys.count(store, COUNTED)?;
        if matches!(keys, Narrowed::Sets(_)) || rows < CHEAP {
            return Ok(Some(keys));
        }
        // Hits outside the keys are dropped before any is read, so many more may be found.
        let Some(found) = self.search(&filter, rows * HITS)? else { return Ok(Some(keys)) };
        let both = keys.clone().and(Narrowed::Sets(found));
        if both.count(store, rows)? * POINT_READ < rows {
            plan.by_index = true;
            return Ok(Some(both));
        }
        Ok(Some(keys))
    }

    /// The sets that pass a filter, when the index can tell and there are no more than `at_most`.
    fn search(&self, filter: &Filter, at_most: usize) -> Result<Option<BTreeSet<Hit>>> {
        let Some(Searchable { reader, newer }) = self.searchable()? else { return Ok(None) };
        if !newer.is_empty() && looks_at_seeds(filter) {
            // What a set grew from may have changed since, which its own entry does not show.
            return Ok(None);
        }
        // An index that is damaged is one that cannot tell: the scan finds what it would have.
        let Some(found) = self.database.usable(reader.search(filter)).flatten() else {
            return Ok(None);
        };
        if found.len() > at_most {
            return Ok(None);
        }
        let Some(hits) = self.database.usable(found.hits()) else { return Ok(None) };
        let hits = hits.into_iter().filter(|hit| self.releases.contains(&hit.release));
        Ok(Some(hits.chain(newer.iter().copied()).collect()))
    }

    /// About how many sets there are: as many as the index has entries. The store only knows when
    /// its files' statistics were read, which a reader's opening leaves out.
    fn sets(&self) -> Result<u64> {
        match self.searchable()? {
            Some(Searchable { reader, newer }) => Ok(reader.len() + newer.len() as u64),
            None => Ok(self.database.store.estimated_annotation_sets()?),
        }
    }

    /// How many sets pass a filter; `None` when the index cannot tell.
    fn found(&self, filter: &Filter) -> Result<Option<usize>> {
        let Some(Searchable { reader, .. }) = self.searchable()? else { return Ok(None) };
        Ok(self.database.usable(reader.search(filter)).flatten().map(|found| found.len()))
    }

    fn searchable(&self) -> Result<Option<&Searchable>> {
        if self.index.get().is_none() {
            let opened = match self.database.index_reader()? {
                Some((reader, revision)) => {
                    self.written_since(revision)?.map(|newer| Searchable { reader, newer })
                }
                None => None,
            };
            let _ = self.index.set(opened);
        }
        Ok(self.index.get().and_then(Option::as_ref))
    }
}

/// What it takes to find out what an expression offers.
fn effort(expression: &Expression) -> FieldRoute {
    match expression {
        Expression::Everything | Expression::Not(_) => FieldRoute::Index,
        Expression::And(parts) => parts.iter().map(effort).min().unwrap_or(FieldRoute::Index),
        Expression::Or(parts) => parts.iter().map(effort).max().unwrap_or(FieldRoute::Index),
        Expression::Term(term) => match (&term.test, term.field) {
            (Test::Pattern(pattern), Field::Frame | Field::Lu) if pattern.as_exact().is_some() => {
                FieldRoute::Keys
            }
            (_, field) => field.route(),
        },
    }
}

fn looks_at_seeds(filter: &Filter) -> bool {
    match filter {
        Filter::All(parts) | Filter::Any(parts) => parts.iter().any(looks_at_seeds),
        Filter::GrownFrom(_) => true,
        _ => false,
    }
}

/// The releases that an expression can have answers in.
pub(super) fn releases_of(catalog: &Catalog<'_>, expression: &Expression) -> BTreeSet<ReleaseId> {
    let all = || catalog.releases().iter().map(|release| release.id);
    match expression {
        Expression::Term(term) => match &term.test {
            Test::Pattern(pattern) if term.field == Field::Release => {
                let named = catalog.releases().iter().filter(|of| pattern.matches(&of.name));
                named.map(|release| release.id).collect()
            }
            _ => all().collect(),
        },
        Expression::Not(inner) => match &**inner {
            Expression::Term(term) if term.field == Field::Release => {
                let named = releases_of(catalog, inner);
                all().filter(|release| !named.contains(release)).collect()
            }
            _ => all().collect(),
        },
        Expression::And(parts) => {
            let of_parts = parts.iter().map(|part| releases_of(catalog, part));
            of_parts.fold(all().collect(), |left, right| &left & &right)
        }
        Expression::Or(parts) => parts.iter().flat_map(|part| releases_of(catalog, part)).collect(),
        Expression::Everything => all().collect(),
    }
}
