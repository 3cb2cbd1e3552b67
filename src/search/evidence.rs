//! What generated sets say of the LUs that they propose, by the sums that commits keep.

use super::counting::{OF_PLACE, stand_in};
use super::evaluate::Evaluator;
use super::matched::Match;
use super::plan::Planner;
use crate::database::{Database, Result};
use crate::model::{FrameId, IdSpace, LuId, Origin, ReleaseId};
use crate::query::{Expression, Field};
use crate::store::{LuEvidence, SetCount};

/// What the generated sets of an LU say together, with its place.
pub(crate) type EvidenceAt = ((ReleaseId, FrameId, LuId), LuEvidence);

impl Database {
    /// What is kept of the generated sets of LUs that were proposed once, for all LUs of whose
    /// generated sets a query holds. `None` where it may hold of some of an LU's sets alone, or
    /// where nothing is kept that can be trusted.
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
        if *expression == Expression::Everything {
            return Ok(Some(found));
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
        Ok(Some(matching))
    }
}
