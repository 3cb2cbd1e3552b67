//! Which sentences that an expansion wrote have every annotation set of their sources.

use std::collections::{BTreeSet, HashMap};

use crate::database::Result;
use crate::model::{AnnotationSet, AnnotationSetId, Origin, Provenance, ReleaseId, SentenceId};
use crate::query::{Expression, Field, Test};
use crate::store::Store;

/// Whether sets that were carried into the sentences of what an expression finds are written, too:
/// they belong to generated sets. An expression that speaks of them says itself which it wants.
pub(super) fn takes_along(expression: &Expression) -> bool {
    let is_carried =
        |test: &Test| matches!(test, Test::Choice(origin) if *origin == Origin::Carried.as_str());
    !expression.terms().any(|term| term.field == Field::Origin && is_carried(&term.test))
}

/// Whether somebody looked for all frames of the sentence of some sets.
pub(super) fn is_throughout(sets: &[AnnotationSet]) -> bool {
    sets.iter().any(|set| {
        matches!(set.provenance, Provenance::FullText { .. } | Provenance::Imported { .. })
    })
}

/// The sentences that others were made of.
pub(super) struct Sources<'a> {
    store: &'a Store,
    /// Of a sentence that is annotated throughout its sets; none of another one.
    known: HashMap<(ReleaseId, SentenceId), Option<BTreeSet<AnnotationSetId>>>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(store: &'a Store) -> Self {
        Self { store, known: HashMap::new() }
    }

    /// Whether all sets of a source that is annotated throughout stand in the sentence of some
    /// sets: one as the seed of what was generated, every other one carried along. A set that
    /// people add to the source later, or take from the new sentence, is one that is missing.
    pub(super) fn are_carried(
        &mut self,
        release: ReleaseId,
        sets: &[AnnotationSet],
    ) -> Result<bool> {
        let made = sets.iter().find_map(|set| match &set.provenance {
            Provenance::Generated(made) => Some((set.id, made.source)),
            _ => None,
        });
        let Some((generated, source)) = made else { return Ok(false) };
        let Some(place) = self.store.set_location(release, source)? else { return Ok(false) };
        let carried: BTreeSet<AnnotationSetId> = sets
            .iter()
            .filter_map(|set| match &set.provenance {
                Provenance::Carried(of) if of.generated == generated => Some(of.source),
                _ => None,
            })
            .chain([source])
            .collect();
        let of_source = self.sets_of(release, place.sentence)?;
        Ok(of_source.is_some_and(|sets| sets.is_subset(&carried)))
    }

    fn sets_of(
        &mut self,
        release: ReleaseId,
        sentence: SentenceId,
    ) -> Result<Option<&BTreeSet<AnnotationSetId>>> {
        let key = (release, sentence);
        if !self.known.contains_key(&key) {
            let mut sets = Vec::new();
            for id in self.store.sets_of_sentence(release, sentence)? {
                sets.extend(self.store.annotation_set(release, id?)?);
            }
            let known = is_throughout(&sets).then(|| sets.iter().map(|set| set.id).collect());
            self.known.insert(key, known);
        }
        Ok(self.known[&key].as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carried_sets_go_along_unless_the_query_speaks_of_them() {
        for (query, goes_along) in [
            ("", true),
            ("origin=generated evokes>=0.9", true),
            ("origin=generated or origin=user", true),
            ("origin=generated or origin=carried aligner>=0.9", false),
            ("frame=Checking origin!=carried", false),
        ] {
            assert_eq!(takes_along(&query.parse().unwrap()), goes_along, "{query}");
        }
    }
}
