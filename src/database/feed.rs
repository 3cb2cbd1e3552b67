//! Following a database: what was committed, and whether it is still the same store.

use super::{Database, Result};
use crate::model::ReleaseId;
use crate::store::{Change, Identity, StoreError, of_release};

impl Database {
    /// What was committed after a revision, in order, as of now: what a copy, a cache or a tool
    /// beside the database catches up by. Revision 0 is before everything.
    ///
    /// **The rule.** The last change of each commit is marked ([`Change::is_last`]). Take the
    /// changes of a commit together, and remember its revision, and the store's
    /// [`generation`](Identity::generation), when the marked one has come. A follower that is
    /// stopped before it goes on with the revision that it remembers, and gets the whole commit
    /// again. A revision that is remembered earlier loses the rest of its commit.
    ///
    /// A reader's handle moves on with each call, so a loop sees what is new. A restore puts a
    /// store of other content under the same revisions: a handle that was opened before fails then.
    ///
    /// # Errors
    /// [`StoreError::Replaced`] when the store is of another generation than when this handle was
    /// opened, [`StoreError::BeyondEnd`] for a revision behind the last one, or when the store
    /// fails.
    ///
    /// ```
    /// # use fnstore::database::Database;
    /// # use fnstore::edit::Removal;
    /// # use fnstore::transfer::ImportOptions;
    /// # use fnstore::model::{FrameId, LuId};
    /// # let dir = tempfile::tempdir()?;
    /// # let writer = Database::open_writer(dir.path())?;
    /// # let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
    /// # let release = writer.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {})?.release;
    /// let follower = Database::open(dir.path())?;
    /// let (mut seen, mut commit, mut copied) = (0, Vec::new(), Vec::new());
    /// for _ in 0..2 {
    ///     for change in follower.changes(seen)? {
    ///         let change = change?;
    ///         let (revision, is_last) = (change.revision, change.is_last);
    ///         commit.push(change);
    ///         if is_last {
    ///             copied.append(&mut commit);
    ///             seen = revision;
    ///         }
    ///     }
    ///     let mut edits = writer.transaction(release.id)?;
    ///     edits.remove_lexunit(FrameId(102), LuId(1001), Removal::Cascade).ok();
    ///     edits.commit()?;
    /// }
    /// assert!(copied.len() > 1, "the import, and what was removed after it");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn changes(&self, since: u64) -> Result<impl Iterator<Item = Result<Change>> + '_> {
        self.refresh()?;
        self.require_same_store()?;
        let last = self.store.revision()?;
        if since > last {
            return Err(StoreError::BeyondEnd { path: self.dir.clone(), since, last }.into());
        }
        Ok(self.store.changes_since(since)?.map(|change| Ok(change?)))
    }

    /// As [`changes`](Self::changes), of one release alone. The last one of each commit is marked
    /// among those that are given.
    ///
    /// # Errors
    /// As [`changes`](Self::changes).
    pub fn changes_of(
        &self,
        release: ReleaseId,
        since: u64,
    ) -> Result<impl Iterator<Item = Result<Change>> + '_> {
        Ok(of_release(self.changes(since)?, release))
    }

    /// Which store this is, and which generation of it: the one that a restore has put in its place
    /// once this handle has moved on to it. `None` for a store that no writer has opened since
    /// stores have identities.
    ///
    /// # Errors
    /// When the store fails.
    pub fn identity(&self) -> Result<Option<Identity>> {
        Ok(self.store.identity()?)
    }

    /// The number of the last commit, as far as this handle sees; 0 where nothing was committed.
    ///
    /// # Errors
    /// When the store fails.
    pub fn revision(&self) -> Result<u64> {
        Ok(self.store.revision()?)
    }

    /// Fails unless the store is of a generation that somebody has remembered.
    ///
    /// # Errors
    /// [`StoreError::Replaced`] when it is of another, or when the store fails.
    pub fn require_generation(&self, generation: &str) -> Result<()> {
        let found = self.store.identity()?.map(|identity| identity.generation);
        if found.as_deref() == Some(generation) {
            return Ok(());
        }
        let (path, followed) = (self.dir.clone(), generation.to_owned());
        Err(StoreError::Replaced { path, followed, found }.into())
    }

    /// Fails when another store has taken the place of the one that this handle was opened on.
    fn require_same_store(&self) -> Result<()> {
        match &self.opened {
            // A first writer has given the store its identity since, if it has one now.
            None => Ok(()),
            Some(opened) => self.require_generation(&opened.generation),
        }
    }
}
