//! Numbers of the store's own, for records that people add: counted, and never given again.

use std::sync::MutexGuard;

use crate::model::{
    AnnotationSetId, IdSpace, MOST_COUNTED, OWN_RANGE, ReleaseId, SentenceId, is_counted,
};

use super::family::Family;
use super::record::{self, OwnIdsRecord};
use super::{OWN_IDS_KEY, Result, Store, StoreError};

impl Store {
    pub(super) fn own_ids(&self) -> MutexGuard<'_, Option<OwnIdsRecord>> {
        self.own_ids.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Counts numbers of the store's own on; the next commit writes the count down.
    fn give_own<T>(&self, next: impl FnOnce(&mut OwnIdsRecord) -> Option<T>) -> Result<T> {
        let damaged = |reason: String| StoreError::damaged("meta", OWN_IDS_KEY, reason);
        let mut given = self.own_ids();
        let mut count = match *given {
            Some(count) => count,
            None => self.stored_own_ids()?,
        };
        let number = next(&mut count).ok_or_else(|| damaged("no number is left".to_owned()))?;
        *given = Some(count);
        Ok(number)
    }

    /// Whether a number is one that this store has counted out, or has seen come in with what
    /// people added to another: its record was added by a person.
    ///
    /// # Errors
    /// When the engine fails or the count is damaged.
    pub fn has_counted(&self, number: u32) -> Result<bool> {
        if !is_counted(number) {
            return Ok(false);
        }
        Ok(number <= OWN_RANGE + self.counted()?)
    }

    /// How many numbers the store has counted out.
    ///
    /// # Errors
    /// When the engine fails or the count is damaged.
    pub fn counted(&self) -> Result<u32> {
        match *self.own_ids() {
            Some(given) => Ok(given.numbers),
            None => Ok(self.stored_own_ids()?.numbers),
        }
    }

    fn stored_own_ids(&self) -> Result<OwnIdsRecord> {
        let damaged = |reason: String| StoreError::damaged("meta", OWN_IDS_KEY, reason);
        match self.engine.get(Family::Meta, OWN_IDS_KEY)? {
            Some(value) => record::decode(&value).map_err(damaged),
            None => Ok(OwnIdsRecord::default()),
        }
    }

    /// A number of the store's own range for a record that a user makes. No number is given twice
    /// by one process, and none that was committed ever again.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn own_number(&self) -> Result<u32> {
        self.give_own(|given| {
            given.numbers = given.numbers.checked_add(1).filter(|count| *count <= MOST_COUNTED)?;
            Some(OWN_RANGE + given.numbers)
        })
    }

    /// Takes note of a number of the store's own range that came in with a record that a user of
    /// another store made: [`own_number`](Self::own_number) gives none up to it.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn skip_own_number(&self, number: u32) -> Result<()> {
        self.give_own(|given| {
            given.numbers = given.numbers.max(number.saturating_sub(OWN_RANGE));
            Some(())
        })
    }

    /// An id for a sentence that a user makes, not in use in the release; otherwise as
    /// [`own_number`](Self::own_number).
    ///
    /// # Errors
    /// When the engine fails.
    pub fn own_sentence(&self, release: ReleaseId) -> Result<SentenceId> {
        loop {
            let id = SentenceId::new(IdSpace::Imported, self.own_tagged()?);
            if self.sentence(release, id)?.is_none() {
                return Ok(id);
            }
        }
    }

    /// An id for an annotation set that a user makes; as for sentences.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn own_annotation_set(&self, release: ReleaseId) -> Result<AnnotationSetId> {
        loop {
            let id = AnnotationSetId::new(IdSpace::Imported, self.own_tagged()?);
            if self.set_location(release, id)?.is_none() {
                return Ok(id);
            }
        }
    }

    fn own_tagged(&self) -> Result<u64> {
        self.give_own(|given| {
            given.tagged = given.tagged.checked_add(1)?;
            Some(given.tagged)
        })
    }
}
