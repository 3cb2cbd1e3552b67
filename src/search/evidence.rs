//! What generated sets say of the LUs that they propose, by the sums that commits keep.

use std::collections::HashSet;

use super::catalog::Catalog;
use super::counting::{OF_PLACE, stand_in};
use super::evaluate::Evaluator;
use super::matched::Match;
use super::plan::Planner;
use crate::database::{Database, Result};
use crate::model::{Discovery, FrameId, IdSpace, LuId, Origin, ReleaseId};
use crate::query::{Expression, Field};
use crate::store::{LuEvidence, SetCount};

/// What the generated sets of an LU say together, with its place.
pub(crate) type EvidenceAt = ((ReleaseId, FrameId, LuId), LuEvidence);

impl Database {
    /// What is kept of the generated sets of LUs that were proposed once, for all LUs of whose
    /// generated sets a query holds; also of LUs that a search found and no set attests. `None`
    /// where it may hold of some of an LU's sets alone, or where nothing is kept that can be
    /// trusted.
    pub(crate) fn evidence_found(
        &self,
        expression: &Expression,
    ) -> Result<Option<Vec<EvidenceAt>>> {
        let is_of_place = |field: Field| field == Field::Origin || OF_PLACE.contains(&field);
        if !expression.terms().all(|term| is_of_place(term.field)) {
            return Ok(None);
        }
        // Before any name is read: the index may be newer than this handle's view.
        self.refresh()?;
        let catalog = self.catalog_for(expression)?;
        self.check_names(&catalog, expression)?;
        let mut found = Vec::new();
        for run in Planner::new(self, &catalog, expression).runs(expression)? {
            let Some(kept) = self.store.kept_evidence(run)? else { return Ok(None) };
            let release = run.release();
            found.extend(kept.into_iter().map(|((frame, lu), sums)| ((release, frame, lu), sums)));
        }
        let there: HashSet<_> = found.iter().map(|(place, _)| *place).collect();
        let all = self.all_discovered()?.into_iter();
        found.extend(all.filter(|(place, _)| !there.contains(place)));
        Ok(Some(holding(catalog, expression, found)?))
    }

    /// The proposed LUs that a search found and for which a query holds; none where it may ask for
    /// more than an LU's place.
    pub(crate) fn discovered(&self, expression: &Expression) -> Result<Vec<EvidenceAt>> {
        let is_of_place = |field: Field| field == Field::Origin || OF_PLACE.contains(&field);
        if !expression.terms().all(|term| is_of_place(term.field)) {
            return Ok(Vec::new());
        }
        holding(self.catalog_for(expression)?, expression, self.all_discovered()?)
    }

    fn all_discovered(&self) -> Result<Vec<EvidenceAt>> {
        let mut found = Vec::new();
        for release in self.releases()? {
            for row in self.store.discoveries(release.id)? {
                let Discovery { frame, lu, name, .. } = row?;
                if !name.is_empty() {
                    found.push(((release.id, frame, lu), LuEvidence::default()));
                }
            }
        }
        Ok(found)
    }
}

/// Those LUs for whose sets a query holds that asks for their place alone.
fn holding(
    catalog: Catalog<'_>,
    expression: &Expression,
    found: Vec<EvidenceAt>,
) -> Result<Vec<EvidenceAt>> {
    if *expression == Expression::Everything {
        return Ok(found);
    }
    let evaluator = Evaluator::new(catalog, expression, false)?;
    let mut matching = Vec::new();
    for ((release, frame, lu), sums) in found {
        let (space, origin) = (IdSpace::Generated, Origin::Generated);
        let (round, status) = (0, String::new());
        let count = SetCount { frame, lu, space, origin, round, status, sets: 1 };
        let stand_in = Match::new(&evaluator.facts, release, stand_in(&count));
        if evaluator.holds(&stand_in)? {
            matching.push(((release, frame, lu), sums));
        }
    }
    Ok(matching)
}
