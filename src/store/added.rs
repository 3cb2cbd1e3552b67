//! What was added to a release, counted by keys: sets that are not FrameNet's, and generated
//! sentences.
//!
//! These may be millions, written in bulk; a commit does not keep their counts. Everything else
//! stands in [`Release::counts`](crate::model::Release::counts).

use crate::model::{AnnotationSetId, IdSpace, ReleaseId};

use super::family::Family;
use super::key::{Key, Prefix, SetKey};
use super::{Store, StoreError};

/// What a release holds that is not FrameNet's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct AddedCounts {
    /// Sets of span-labelled data.
    pub imported_sets: u64,
    /// Sets that people added; told by their ids.
    pub user_sets: u64,
    /// Generated sets.
    pub generated_sets: u64,
    /// Generated sentences.
    pub generated_sentences: u64,
}

impl Store {
    /// Counts what was added to a release, by reading a key for each: about a second for a million
    /// generated sets, nothing where none are.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn added_counts(&self, release: ReleaseId) -> Result<AddedCounts, StoreError> {
        let mut counts = AddedCounts::default();
        for set in self.set_ids_from(release, IdSpace::Imported)? {
            if set?.is_counted() {
                counts.user_sets += 1;
            } else {
                counts.imported_sets += 1;
            }
        }
        for set in self.set_ids_from(release, IdSpace::Generated)? {
            set?;
            counts.generated_sets += 1;
        }
        for row in self.engine.scan(Family::Sentence, of_space(release, IdSpace::Generated))? {
            row?;
            counts.generated_sentences += 1;
        }
        Ok(counts)
    }

    fn set_ids_from(
        &self,
        release: ReleaseId,
        space: IdSpace,
    ) -> Result<impl Iterator<Item = Result<AnnotationSetId, StoreError>> + '_, StoreError> {
        let family = Family::SetLocation;
        Ok(self.engine.scan(family, of_space(release, space))?.map(move |row| {
            let (key, _) = row?;
            let decoded = SetKey::decode(&key).map(|key| key.set);
            decoded.ok_or_else(|| StoreError::damaged(family.name(), &key, "no key"))
        }))
    }
}

/// The beginning of keys of one release and one space, which is the first byte of an id.
pub(super) fn of_space(release: ReleaseId, space: IdSpace) -> Vec<u8> {
    let mut prefix = Prefix::of(release).bytes();
    prefix.push(space as u8);
    prefix
}
