//! How far annotation covers a release: LUs without exemplars, sets of each origin and status.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Lexicon;
use crate::database::Result;
use crate::model::{FrameId, IdSpace, LexUnit, LuId, Origin, PROPOSED};
use crate::store::{SetCount, SetRange};

/// What annotation a release has for its LUs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Of all LUs that were counted.
    pub total: CoverageCounts,
    /// By part of speech, as in `V`.
    pub by_pos: BTreeMap<&'static str, CoverageCounts>,
    /// By status of the LU.
    pub by_status: BTreeMap<String, CoverageCounts>,
    /// Their annotation sets by status of their own.
    pub set_statuses: BTreeMap<String, SetCounts>,
}

/// Numbers of some LUs and of their annotation sets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CoverageCounts {
    /// The LUs, without those that an expansion proposed.
    pub lus: u64,
    /// The proposed ones. They count in no other number of LUs.
    pub proposed: u64,
    /// Those of them without an exemplar.
    pub without_exemplars: u64,
    /// Those of them without any set of a human: exemplar, full text, imported or by a user.
    pub without_human_sets: u64,
    /// Those of them that only generated sets stand for.
    pub generated_only: u64,
    /// The annotation sets of all of them.
    pub sets: SetCounts,
}

impl CoverageCounts {
    fn add(&mut self, is_proposed: bool, sets: &SetCounts) {
        if is_proposed {
            self.proposed += 1;
        } else {
            let human = Origin::ALL.iter().any(|of| !of.is_of_written_text() && sets.of(*of) > 0);
            self.lus += 1;
            self.without_exemplars += u64::from(sets.exemplar == 0);
            self.without_human_sets += u64::from(!human);
            self.generated_only += u64::from(!human && sets.generated > 0);
        }
        for origin in Origin::ALL {
            *self.sets.slot(origin) += sets.of(origin);
        }
    }
}

/// Annotation sets by origin, as they are counted: whatever a release says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[allow(missing_docs, reason = "the names are those of the origins")]
pub struct SetCounts {
    pub exemplar: u64,
    pub fulltext: u64,
    pub imported: u64,
    pub user: u64,
    pub generated: u64,
    pub predicted: u64,
    pub carried: u64,
}

impl SetCounts {
    /// The sets of an origin.
    #[must_use]
    pub fn of(&self, origin: Origin) -> u64 {
        match origin {
            Origin::Exemplar => self.exemplar,
            Origin::FullText => self.fulltext,
            Origin::Imported => self.imported,
            Origin::User => self.user,
            Origin::Generated => self.generated,
            Origin::Predicted => self.predicted,
            Origin::Carried => self.carried,
        }
    }

    /// Counts sets of an origin.
    pub(super) fn add(&mut self, origin: Origin, sets: u64) {
        *self.slot(origin) += sets;
    }

    fn slot(&mut self, origin: Origin) -> &mut u64 {
        match origin {
            Origin::Exemplar => &mut self.exemplar,
            Origin::FullText => &mut self.fulltext,
            Origin::Imported => &mut self.imported,
            Origin::User => &mut self.user,
            Origin::Generated => &mut self.generated,
            Origin::Predicted => &mut self.predicted,
            Origin::Carried => &mut self.carried,
        }
    }
}

impl Lexicon<'_> {
    /// Counts the annotation sets of an LU by origin.
    ///
    /// By the counts that commits keep; in a store without them people's sets are read.
    ///
    /// # Errors
    /// When the store fails.
    pub fn set_counts(&self, frame: FrameId, lu: LuId) -> Result<SetCounts> {
        let mut counts = SetCounts::default();
        let scope = SetRange::LexUnit(self.release.id, frame, lu);
        if let Some(kept) = self.store().kept_sets_by_lu(scope)? {
            for SetCount { space, origin, sets, .. } in kept {
                let is_generated = space == IdSpace::Generated && origin != Origin::Carried;
                counts.add(if is_generated { Origin::Generated } else { origin }, sets);
            }
            return Ok(counts);
        }
        for origin in self.store().origins_of_lexunit(self.release.id, frame, lu)? {
            counts.add(origin?, 1);
        }
        Ok(counts)
    }

    /// How many LUs expansions proposed that nobody has accepted.
    ///
    /// # Errors
    /// When the store fails.
    pub fn proposed_lus(&self) -> Result<u64> {
        if let Some(kept) = self.store().kept_lexunits(self.release.id, PROPOSED)? {
            return Ok(kept);
        }
        self.lus()?.try_fold(0, |count, lu| Ok(count + u64::from(lu?.status == PROPOSED)))
    }

    /// Counts the LUs for which `counts` holds, and their annotation sets.
    ///
    /// By the counts that commits keep; in a store without them every annotation set is read.
    ///
    /// # Errors
    /// When the store fails.
    pub fn coverage(&self, counts: impl Fn(&LexUnit) -> bool) -> Result<Coverage> {
        let mut coverage = Coverage::default();
        let mut left_out = HashSet::new();
        for lu in self.lus()? {
            let lu = lu?;
            if !counts(&lu) {
                left_out.insert((lu.frame, lu.id));
            }
        }
        let mut sets_of: HashMap<(FrameId, LuId), SetCounts> = HashMap::new();
        let mut add = |key: (FrameId, LuId), origin, status, sets| {
            if !left_out.contains(&key) {
                sets_of.entry(key).or_default().add(origin, sets);
                coverage.set_statuses.entry(status).or_default().add(origin, sets);
            }
        };
        match self.store().kept_sets_by_lu(SetRange::Release(self.release.id))? {
            Some(kept) => {
                for SetCount { frame, lu, origin, status, sets, .. } in kept {
                    add((frame, lu), origin, status, sets);
                }
            }
            None => {
                for set in self.annotation_sets()? {
                    let set = set?;
                    add((set.frame, set.lu), set.provenance.origin(), set.status, 1);
                }
            }
        }
        let none = SetCounts::default();
        for lu in self.lus()? {
            let lu = lu?;
            if left_out.contains(&(lu.frame, lu.id)) {
                continue;
            }
            let is_proposed = lu.status == PROPOSED;
            let sets = sets_of.get(&(lu.frame, lu.id)).unwrap_or(&none);
            coverage.total.add(is_proposed, sets);
            coverage.by_pos.entry(lu.pos.as_str()).or_default().add(is_proposed, sets);
            coverage.by_status.entry(lu.status).or_default().add(is_proposed, sets);
        }
        Ok(coverage)
    }
}
