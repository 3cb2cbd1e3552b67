//! Who committed, when and why, and how long what stood before is kept.

use super::{Database, Result};
use crate::store::{Commit, Retention};

impl Database {
    /// Says who makes the commits of this handle from now on; the store keeps it with each.
    pub fn set_author(&self, by: &str) {
        self.store.set_author(by);
    }

    /// Calls `tell` now and then with the number of rows that were read so far to make the counts
    /// and the evidence of proposals that commits keep. The first commit to a store without them,
    /// or to one that an earlier program wrote to, reads all of its rows once.
    pub fn watch_sums(&self, tell: impl FnMut(u64) + Send + 'static) {
        self.store.watch_sums(tell);
    }

    /// Who made a commit, when and why; `None` where the store has none of that number.
    ///
    /// # Errors
    /// When the store fails.
    pub fn commit_made(&self, revision: u64) -> Result<Option<Commit>> {
        Ok(self.store.commit_made(revision)?)
    }

    /// All commits, the last one first, as of now.
    ///
    /// # Errors
    /// When the store fails.
    pub fn commits(&self) -> Result<impl Iterator<Item = Result<Commit>> + '_> {
        self.refresh()?;
        let last = self.store.revision()?;
        Ok((1..=last).rev().filter_map(|revision| self.commit_made(revision).transpose()))
    }

    /// How long the store keeps what records held before a commit.
    ///
    /// # Errors
    /// When the store fails.
    pub fn retention(&self) -> Result<Retention> {
        Ok(self.store.retention()?)
    }

    /// Says how long the store keeps what records held before a commit. What falls out goes now,
    /// and with each later commit.
    ///
    /// # Errors
    /// When the handle is a reader's, or the store fails.
    pub fn set_retention(&self, retention: Retention) -> Result<()> {
        let _turn = self.turn()?;
        Ok(self.store.set_retention(retention)?)
    }
}
