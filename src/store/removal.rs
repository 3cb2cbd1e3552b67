//! The removal of a release.

use rocksdb::WriteBatch;

use super::family::Family;
use super::key::Prefix;
use super::{Action, Change, Result, Store, Subject};
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
        let [start, end] = bounds(release);
        let mut rows = WriteBatch::default();
        for family in Family::ALL.into_iter().filter(|family| family.by_release()) {
            if self.engine.scan_from(family, start.clone())?.next().is_some() {
                self.engine.delete_from(&mut rows, family, &start, &end)?;
            }
        }
        let removed = Change::record(release, Action::Removed, &Subject::Release);
        let (keyed, touched, history) = Default::default();
        self.commit_with((rows, keyed, touched, history), &[removed], |book| {
            book.releases.retain(|listed| listed.id != release);
        })
    }
}
