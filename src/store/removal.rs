//! The removal of a release.

use super::family::Family;
use super::key::Prefix;
use super::{Action, Batch, Change, Result, Store, Subject};
use crate::model::ReleaseId;

/// Where the rows of a release begin in a family, and where those behind them do.
pub(super) fn bounds(release: ReleaseId) -> [Vec<u8>; 2] {
    let end = release.0.checked_add(1).map(|next| Prefix::of(ReleaseId(next)).bytes());
    [Prefix::of(release).bytes(), end.unwrap_or_else(|| vec![0xff; 3])]
}

impl Store {
    /// Removes a release: its rows go with the commit that lists it no more, and no later release
    /// gets its number. Gives the new revision.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn remove_release(&self, release: ReleaseId) -> Result<u64> {
        let mut batch = self.batch(release);
        batch.delete_all_rows(release)?;
        let removed = Change::record(release, Action::Removed, &Subject::Release);
        let parts = (batch.rows, batch.keyed, batch.touched, batch.history);
        self.commit_with(parts, vec![removed], |book| {
            book.releases.retain(|listed| listed.id != release);
        })
    }
}

impl Batch<'_> {
    /// Deletes all rows of a release or resource.
    pub(super) fn delete_all_rows(&mut self, release: ReleaseId) -> Result<()> {
        let [start, end] = bounds(release);
        for family in Family::ALL.into_iter().filter(|family| family.by_release()) {
            if self.store.engine.scan_from(family, start.clone())?.next().is_some() {
                self.store.engine.delete_from(&mut self.rows, family, &start, &end)?;
            }
        }
        Ok(())
    }
}
