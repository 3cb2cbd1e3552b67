//! What the files of a release hold beside FrameNet; see [`Foreign`].

use crate::model::{Foreign, ForeignFile, ReleaseId};

use super::batch::Batch;
use super::family::Family;
use super::key::{Key, LayoutKey};
use super::record;
use super::{Result, Store, StoreError};

impl Batch<'_> {
    /// Writes what a file holds beside FrameNet; nothing where it holds nothing.
    ///
    /// # Errors
    /// When the engine fails, or it is too large for a record.
    pub fn put_foreign(&mut self, file: ForeignFile, foreign: &Foreign) -> Result<()> {
        if foreign.is_empty() {
            return Ok(());
        }
        let key = LayoutKey::of_foreign(self.release, file);
        let record = record::encode(foreign);
        self.put(Family::Layout, &key, format_args!("foreign {file:?}"), record)
    }
}

impl Store {
    /// What a file of a release holds beside FrameNet.
    ///
    /// # Errors
    /// When the engine fails or a record is damaged.
    pub fn foreign(&self, release: ReleaseId, file: ForeignFile) -> Result<Foreign> {
        let key = LayoutKey::of_foreign(release, file).encode();
        let Some(value) = self.engine.get(Family::Layout, &key)? else {
            return Ok(Foreign::default());
        };
        record::decode(&value)
            .map_err(|reason| StoreError::damaged(Family::Layout.name(), &key, reason))
    }

    /// Every file of a release that holds something beside FrameNet, with that.
    ///
    /// # Errors
    /// When the engine fails or a record is damaged.
    pub fn all_foreign(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<(ForeignFile, Foreign)>> + '_> {
        let scans = LayoutKey::foreign_prefixes(release).map(|prefix| {
            self.engine.scan(Family::Layout, prefix).map(|rows| {
                rows.map(|row| {
                    let (key, value) = row?;
                    let damaged = |reason| StoreError::damaged(Family::Layout.name(), &key, reason);
                    let file = LayoutKey::decode(&key).and_then(|key| key.foreign_file());
                    let file = file.ok_or_else(|| damaged("no file".to_owned()))?;
                    Ok((file, record::decode(&value).map_err(damaged)?))
                })
            })
        });
        let scans: Result<Vec<_>> = scans.into_iter().collect();
        Ok(scans?.into_iter().flatten())
    }
}
