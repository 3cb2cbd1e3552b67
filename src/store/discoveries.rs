//! What searches for new LUs found: a row for each word of a frame, and one for the search itself.

use super::batch::Batch;
use super::family::Family;
use super::key::{DiscoveryKey, Key, Prefix};
use super::record::Stored;
use super::{Result, Store};
use crate::model::{Discovery, FrameId, LuId, ReleaseId};

impl Store {
    /// What was found of a word in a frame.
    ///
    /// # Errors
    /// When the engine fails or a record is damaged; so for every function here.
    pub fn discovery(
        &self,
        release: ReleaseId,
        frame: FrameId,
        name: &str,
    ) -> Result<Option<Discovery>> {
        if !self.engine.has(Family::Discovery) {
            return Ok(None);
        }
        self.record(Family::Discovery, DiscoveryKey { release, frame, name: name.to_owned() })
    }

    /// What was found of words in a frame, and the search itself, by name.
    pub fn discoveries_of(
        &self,
        release: ReleaseId,
        frame: FrameId,
    ) -> Result<impl Iterator<Item = Result<Discovery>> + '_> {
        self.found_under(Prefix::of(release).then(frame).bytes())
    }

    /// All that was found in a release, by frame and name.
    pub fn discoveries(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<Discovery>> + '_> {
        self.found_under(Prefix::of(release).bytes())
    }

    fn found_under(&self, prefix: Vec<u8>) -> Result<impl Iterator<Item = Result<Discovery>> + '_> {
        // A reader may see a store that an earlier program wrote, which lacks the family.
        let rows = match self.engine.has(Family::Discovery) {
            true => Some(self.records(Family::Discovery, prefix)?),
            false => None,
        };
        Ok(rows.into_iter().flatten())
    }
}

impl Batch<'_> {
    /// Writes what was found of a word.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_discovery(&mut self, found: &Discovery) -> Result<()> {
        let (release, name) = (self.release, found.name.clone());
        let key = DiscoveryKey { release, frame: found.frame, name };
        self.put(Family::Discovery, &key, &found.name, found.to_value())
    }

    /// Deletes what was found of a word.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn delete_discovery(&mut self, frame: FrameId, name: &str) -> Result<()> {
        let key = DiscoveryKey { release: self.release, frame, name: name.to_owned() };
        self.delete_row(Family::Discovery, &key.encode())
    }

    /// Whether something stood of a word before this commit.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn has_discovery(&self, frame: FrameId, name: &str) -> Result<bool> {
        Ok(self.store.discovery(self.release, frame, name)?.is_some())
    }

    /// Takes out what was found of a word, if it is an LU's.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn take_discovery(
        &mut self,
        (frame, lu): (FrameId, LuId),
        name: &str,
    ) -> Result<Option<Discovery>> {
        let found = self.store.discovery(self.release, frame, name)?;
        let found = found.filter(|found| found.lu == lu);
        if found.is_some() {
            self.delete_discovery(frame, name)?;
        }
        Ok(found)
    }

    /// Deletes what was found of a frame.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn forget_discoveries(&mut self, frame: FrameId) -> Result<()> {
        for found in self.store.discoveries_of(self.release, frame)? {
            self.delete_discovery(frame, &found?.name)?;
        }
        Ok(())
    }
}
