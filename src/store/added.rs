//! What was added to a release: sets that are not FrameNet's, and generated sentences.
//!
//! Their numbers come from the counts that commits keep (`counts.rs`). A store without them is read
//! through. Everything else stands in [`Release::counts`](crate::model::Release::counts).

use crate::model::{AnnotationSet, AnnotationSetId, IdSpace, Origin, ReleaseId};

use super::family::Family;
use super::key::{Key, Prefix, SetKey};
use super::record::decode_location;
use super::{SetCount, Store, StoreError};

/// What a release holds that is not FrameNet's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct AddedCounts {
    /// Sets of span-labelled data.
    pub imported_sets: u64,
    /// Sets that people added.
    pub user_sets: u64,
    /// Generated sets.
    pub generated_sets: u64,
    /// Sets that models predicted.
    pub predicted_sets: u64,
    /// Sets of their sources that were carried into generated sentences.
    pub carried_sets: u64,
    /// Generated sentences.
    pub generated_sentences: u64,
}

impl AddedCounts {
    /// All sets that were added.
    #[must_use]
    pub fn sets(&self) -> u64 {
        self.imported_sets
            + self.user_sets
            + self.generated_sets
            + self.predicted_sets
            + self.carried_sets
    }

    /// Counts a set that was looked up. One that cannot be read counts as imported: it is there,
    /// and whoever lists or removes its release need not read it.
    fn add_read(
        &mut self,
        set: Result<Option<AnnotationSet>, StoreError>,
    ) -> Result<(), StoreError> {
        match set {
            Ok(Some(set)) => self.add(set.provenance.origin(), 1),
            Ok(None) => {}
            Err(StoreError::Damaged { .. }) => self.add(Origin::Imported, 1),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Counts sets by their origin, unless they are the release's own.
    fn add(&mut self, origin: Origin, sets: u64) {
        match origin {
            // These stand in the release's own counts.
            Origin::Exemplar | Origin::FullText => {}
            Origin::Imported => self.imported_sets += sets,
            Origin::User => self.user_sets += sets,
            Origin::Generated => self.generated_sets += sets,
            Origin::Predicted => self.predicted_sets += sets,
            Origin::Carried => self.carried_sets += sets,
        }
    }
}

/// Sets that are read one by one; more are read in one scan of the release, which passes the others
/// by.
const ONE_BY_ONE: usize = 10_000;

impl Store {
    /// How much was added to a release, by the counts that commits keep.
    ///
    /// In a store without them, of a generated set a key is read, a second for a million; of others
    /// the record, whose ids do not tell their origins apart.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn added_counts(&self, release: ReleaseId) -> Result<AddedCounts, StoreError> {
        match self.kept_added(release)? {
            Some(counts) => Ok(counts),
            None => self.read_added(release),
        }
    }

    fn kept_added(&self, release: ReleaseId) -> Result<Option<AddedCounts>, StoreError> {
        let Some(sentences) = self.kept_generated_sentences(release)? else { return Ok(None) };
        let Some(kept) = self.kept_sets(release)? else { return Ok(None) };
        let mut counts = AddedCounts { generated_sentences: sentences, ..Default::default() };
        for SetCount { space, origin, sets, .. } in kept {
            match space {
                IdSpace::Exemplar | IdSpace::FullText => {}
                IdSpace::Imported => counts.add(origin, sets),
                IdSpace::Generated if origin == Origin::Carried => counts.add(origin, sets),
                IdSpace::Generated => counts.generated_sets += sets,
            }
        }
        Ok(Some(counts))
    }

    fn read_added(&self, release: ReleaseId) -> Result<AddedCounts, StoreError> {
        let mut counts = AddedCounts::default();
        let ids = self.set_ids_from(release, IdSpace::Imported)?;
        let few = ids.take(ONE_BY_ONE + 1).collect::<Result<Vec<_>, _>>()?;
        if few.len() <= ONE_BY_ONE {
            for (id, _) in few {
                counts.add_read(self.annotation_set(release, id))?;
            }
        } else {
            let of_release = Prefix::of(release).bytes();
            for set in self.annotation_sets_of(of_release, |space| space == IdSpace::Imported)? {
                counts.add_read(set)?;
            }
        }
        for set in self.set_ids_from(release, IdSpace::Generated)? {
            let (set, stands_in_its_own) = set?;
            // A carried set stands in the sentence of another one.
            match stands_in_its_own {
                true => counts.generated_sets += 1,
                false => match self.annotation_set(release, set) {
                    Ok(Some(set)) => counts.add(set.provenance.origin(), 1),
                    Ok(None) => {}
                    Err(StoreError::Damaged { .. }) => counts.generated_sets += 1,
                    Err(error) => return Err(error),
                },
            }
        }
        for row in self.engine.scan(Family::Sentence, of_space(release, IdSpace::Generated))? {
            row?;
            counts.generated_sentences += 1;
        }
        Ok(counts)
    }

    /// The sets of a space, and whether each stands in the sentence of its own number.
    fn set_ids_from(
        &self,
        release: ReleaseId,
        space: IdSpace,
    ) -> Result<impl Iterator<Item = Result<(AnnotationSetId, bool), StoreError>> + '_, StoreError>
    {
        let family = Family::SetLocation;
        Ok(self.engine.scan(family, of_space(release, space))?.map(move |row| {
            let (key, value) = row?;
            let Some(SetKey { set, .. }) = SetKey::decode(&key) else {
                return Err(StoreError::damaged(family.name(), &key, "no key"));
            };
            let place = decode_location(set, &value);
            // Where it stands cannot be read: it counts as what its id says.
            Ok((set, place.map_or(true, |place| place.sentence.bits() == set.bits())))
        }))
    }
}

/// The beginning of keys of one release and one space, which is the first byte of an id.
pub(super) fn of_space(release: ReleaseId, space: IdSpace) -> Vec<u8> {
    let mut prefix = Prefix::of(release).bytes();
    prefix.push(space as u8);
    prefix
}
