//! Removing what expansions wrote.

use std::collections::{BTreeSet, HashSet};

use super::{EditError, Result, Transaction};
use crate::database::{Database, ExportError};
use crate::model::{
    AnnotationSet, AnnotationSetId, FrameId, LexUnit, LuId, PROPOSED, RecipeId, ReleaseId, Verdict,
};
use crate::query::{Expression, Selection};

/// How much was removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Removed {
    /// Annotation sets, those that grew from others among them.
    pub sets: u64,
    /// LUs that an expansion had proposed and that had no other set.
    pub lexunits: u64,
    /// Names of LUs that people accepted, moved or merged, and of whose sentences some are among
    /// the sets.
    pub decided: BTreeSet<String>,
}

impl Database {
    /// The sets that an expression finds, all of them written by expansions and of one release, for
    /// [`Transaction::remove_generated`]. `None` where nothing matches.
    ///
    /// # Errors
    /// [`EditError`] when some are written by people; when they are of several releases; as
    /// [`query`](Self::query).
    pub fn generated_found(
        &self,
        expression: &Expression,
    ) -> Result<Option<(ReleaseId, Vec<AnnotationSetId>)>> {
        let (mut releases, mut sets, mut human) = (BTreeSet::new(), Vec::new(), 0);
        for found in self.matches(expression, &Selection::default())? {
            let found = found?;
            if found.set().provenance.origin().is_of_written_text() {
                releases.insert(found.release());
                sets.push(found.set().id);
            } else {
                human += 1;
            }
        }
        if human > 0 {
            return Err(EditError::Human { sets: human }.into());
        }
        if releases.len() > 1 {
            let known = self.releases()?.into_iter().filter(|of| releases.contains(&of.id));
            let names = known.map(|release| release.name).collect();
            return Err(ExportError::SeveralReleases { names }.into());
        }
        Ok(releases.pop_first().map(|release| (release, sets)))
    }
}

impl Transaction<'_> {
    /// Removes sets that expansions wrote or carried along, those that grew from them, and proposed
    /// LUs that are then without a set. With a generated set go those that were carried into its
    /// sentence. Journals stay: an expansion does not write again what was removed.
    ///
    /// # Errors
    /// [`EditError`] when a set is not there, or no expansion wrote it.
    pub fn remove_generated(&mut self, sets: &[AnnotationSetId]) -> Result<Removed> {
        let mut found = Vec::with_capacity(sets.len());
        for &id in sets {
            let Some(set) = self.annotation_set(id)? else {
                return Err(EditError::absent("annotation set", id).into());
            };
            if !set.provenance.origin().is_of_written_text() {
                let expected = "a set that an expansion wrote";
                return Err(EditError::value("annotation set", id, expected).into());
            }
            found.push(set);
        }
        self.forget_generated(found)
    }

    /// Removes what a recipe wrote of some seeds, and forgets how far they are under it: an
    /// expansion begins them anew.
    ///
    /// # Errors
    /// When the database fails.
    pub fn forget_expansion(
        &mut self,
        recipe: RecipeId,
        seeds: &[AnnotationSetId],
    ) -> Result<Removed> {
        let (mut sets, mut journals) = (Vec::new(), Vec::new());
        for &seed in seeds {
            for row in self.database.store.journals_of(self.release, seed)? {
                let (target, of, entry) = row?;
                if of == recipe {
                    for id in entry.chain {
                        sets.extend(self.annotation_set(id)?);
                    }
                    journals.push((seed, target, recipe));
                }
            }
        }
        let removed = self.forget_generated(sets)?;
        for journal in journals {
            self.staged.journal.insert(journal, None);
        }
        Ok(removed)
    }

    fn forget_generated(&mut self, sets: Vec<AnnotationSet>) -> Result<Removed> {
        let (before, mut lexunits) = (self.sets_that_go(&sets)?, BTreeSet::new());
        lexunits.extend(before.iter().map(|set| (set.frame, set.lu)));
        self.forget_sets(sets)?;
        let decided = self.decided_of(&before)?;
        let mut removed = Removed { sets: before.len() as u64, lexunits: 0, decided };
        for (frame, lu) in lexunits {
            removed.lexunits += u64::from(self.forget_if_only_proposed(frame, lu)?);
        }
        Ok(removed)
    }

    /// The LUs to which a standing decision gave some of these sets.
    fn decided_of(&self, sets: &[AnnotationSet]) -> Result<BTreeSet<String>> {
        let ids: HashSet<AnnotationSetId> = sets.iter().map(|set| set.id).collect();
        let lexunits: HashSet<_> = sets.iter().map(|set| (set.frame, set.lu)).collect();
        let mut names = BTreeSet::new();
        for decided in self.database.store.all_decisions(self.release)? {
            let decided = decided?;
            let is_of_these = decided.standing().is_some_and(|standing| match &standing.moved {
                Some(moved) => moved.sets.iter().any(|set| ids.contains(set)),
                None => {
                    standing.verdict == Verdict::Accept
                        && lexunits.contains(&(decided.frame, standing.lu))
                }
            });
            if is_of_these {
                names.insert(decided.name);
            }
        }
        Ok(names)
    }

    /// Whether a search found an LU, under the name that it has in the store.
    pub(super) fn is_found(&self, lu: &LexUnit) -> Result<bool> {
        let store = &self.database.store;
        let stored = store.lexunit(self.release, lu.frame, lu.id)?;
        let name = stored.map_or_else(|| lu.name.clone(), |stored| stored.name);
        let found = store.discovery(self.release, lu.frame, &name)?;
        Ok(found.is_some_and(|found| found.lu == lu.id))
    }

    fn forget_if_only_proposed(&mut self, frame: FrameId, lu: LuId) -> Result<bool> {
        let Some(there) = self.lexunit(frame, lu)? else { return Ok(false) };
        let goes = there.status == PROPOSED
            && !self.is_found(&there)?
            && self.sets_of_lexunit(frame, lu)?.is_empty();
        if goes {
            self.delete::<LexUnit>((frame, lu))?;
        }
        Ok(goes)
    }
}
