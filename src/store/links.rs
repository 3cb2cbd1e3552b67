//! Links to other lexicons: a row for each LU and FE that has some.

use super::batch::Batch;
use super::family::Family;
use super::key::{Key, LinkKey, Prefix};
use super::record::Stored;
use super::{Result, Store, StoreError};
use crate::model::{FrameId, LinkSubject, Links, ReleaseId};

/// Links that lead to one of these lexicons.
fn leading(mut links: Links, names: &[String]) -> Links {
    links.links.retain(|link| names.contains(&link.resource));
    links
}

fn key(release: ReleaseId, frame: FrameId, of: LinkSubject) -> LinkKey {
    let (kind, number) = of.numbers();
    LinkKey { release, frame, kind, number }
}

impl Store {
    /// The links of an LU or FE to lexicons that the store has.
    ///
    /// # Errors
    /// When the engine fails or a record is damaged; so for every function here.
    pub fn links(
        &self,
        release: ReleaseId,
        frame: FrameId,
        of: LinkSubject,
    ) -> Result<Option<Links>> {
        let Some(links) = self.stored_links(release, frame, of)? else { return Ok(None) };
        Ok(Some(leading(links, &self.resource_names()?)))
    }

    /// The links of an LU or FE, also to lexicons that were removed: decisions on them outlive
    /// these, for when they come back.
    pub fn stored_links(
        &self,
        release: ReleaseId,
        frame: FrameId,
        of: LinkSubject,
    ) -> Result<Option<Links>> {
        match self.engine.has(Family::Link) {
            true => self.record(Family::Link, key(release, frame, of)),
            false => Ok(None),
        }
    }

    /// The links of a frame's LUs, then of its FEs, to lexicons that the store has.
    pub fn links_of(
        &self,
        release: ReleaseId,
        frame: FrameId,
    ) -> Result<impl Iterator<Item = Result<Links>> + '_> {
        let names = self.resource_names()?;
        let rows = self.stored_links_of(release, frame)?;
        Ok(rows.map(move |row| row.map(|row| leading(row, &names))))
    }

    /// The links of a frame's LUs, then of its FEs, also to lexicons that were removed.
    pub fn stored_links_of(
        &self,
        release: ReleaseId,
        frame: FrameId,
    ) -> Result<impl Iterator<Item = Result<Links>> + '_> {
        self.links_under(Prefix::of(release).then(frame).bytes())
    }

    /// All links of a release to lexicons that the store has, by frame.
    pub fn all_links(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<Links>> + '_> {
        let names = self.resource_names()?;
        let rows = self.all_stored_links(release)?;
        Ok(rows.map(move |row| row.map(|row| leading(row, &names))))
    }

    /// All links of a release, also to lexicons that were removed, by frame.
    pub fn all_stored_links(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<Links>> + '_> {
        self.links_under(Prefix::of(release).bytes())
    }

    fn links_under(&self, prefix: Vec<u8>) -> Result<impl Iterator<Item = Result<Links>> + '_> {
        // A reader may see a store that an earlier program wrote, which lacks the family.
        let rows = match self.engine.has(Family::Link) {
            true => Some(self.records(Family::Link, prefix)?),
            false => None,
        };
        Ok(rows.into_iter().flatten())
    }
}

impl Store {
    /// What a row of links holds.
    ///
    /// # Errors
    /// When they are too many for a row.
    pub(crate) fn value_of_links(links: &Links) -> Result<Vec<u8>> {
        links.to_value().map_err(|why| StoreError::unwritable("links", "links", why))
    }
}

impl Batch<'_> {
    /// Writes the links of an LU or FE.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_links(&mut self, links: &Links) -> Result<()> {
        let key = key(self.release, links.frame, links.of);
        self.put(Family::Link, &key, "links", links.to_value())
    }

    /// Deletes the links of an LU or FE, if it has some.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn forget_links(&mut self, frame: FrameId, of: LinkSubject) -> Result<()> {
        if self.store.stored_links(self.release, frame, of)?.is_none() {
            return Ok(());
        }
        self.delete_row(Family::Link, &key(self.release, frame, of).encode())
    }
}
