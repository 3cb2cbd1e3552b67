//! One store in the place of another, whole or not at all.
//!
//! The new store is made in `incoming/` inside the store's directory, under the writer's lock. Then
//! the two exchange their names in one step: whoever opens the store meanwhile finds the one or the
//! other.
//!
//! Where the system cannot exchange names the old one moves into `outgoing/` and the new one into
//! its place, and a reader waits. A process that is killed between these renames leaves an
//! `outgoing/db` and no `db`: [`recover`] moves the old one back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::lock::WriterLock;
use super::present::exists;
use super::{Result, StoreError, site};
use crate::durable::{create_directory, exchange, remove_directory, rename, sync_tree};

const INCOMING: &str = "incoming";
const OUTGOING: &str = "outgoing";
const INDEX: &str = "index";
const DB: &str = "db";

/// The parts of a store's directory that are replaced. The index goes first and comes last: a store
/// without one answers all the same.
const PARTS: [&str; 2] = [INDEX, DB];

/// A store that is about to be replaced: nobody else writes it until this is dropped.
#[derive(Debug)]
pub struct Replacement {
    dir: PathBuf,
    _lock: WriterLock,
}

impl Replacement {
    /// Takes the lock of the store in `dir`, which need not exist, and makes a place for the new
    /// one.
    ///
    /// # Errors
    /// When another process writes it, something else lies there, or the directory cannot be
    /// written.
    pub fn begin(dir: &Path) -> Result<Self> {
        let dir = &site::fixed(dir)?;
        site::require_free_or_ours(dir)?;
        create_directory(dir).map_err(io_error(dir))?;
        let replacement = Self { dir: dir.to_owned(), _lock: WriterLock::take(dir)? };
        recover(dir)?;
        let incoming = replacement.incoming();
        fs::create_dir(&incoming).map_err(io_error(&incoming))?;
        Ok(replacement)
    }

    /// Where the new store is made.
    #[must_use]
    pub fn incoming(&self) -> PathBuf {
        self.dir.join(INCOMING)
    }

    /// Puts the new store in the place of the old one, which is removed. Readers that have the old
    /// one open must open it again.
    ///
    /// # Errors
    /// When a rename fails: then the old store is still there, or comes back at the next opening.
    pub fn commit(self) -> Result<()> {
        let (incoming, outgoing) = (self.incoming(), self.dir.join(OUTGOING));
        // The new store is on the disk before the first rename, and so is the old one's place.
        sync_tree(&incoming).map_err(io_error(&incoming))?;
        create_directory(&outgoing).map_err(io_error(&outgoing))?;
        rename_part(&self.dir, &outgoing, INDEX)?;
        let (old, new) = (self.dir.join(DB), incoming.join(DB));
        if !(exists(&self.dir) && exchange(&old, &new).map_err(io_error(&old))?) {
            rename_part(&self.dir, &outgoing, DB)?;
            rename_part(&incoming, &self.dir, DB)?;
        }
        rename_part(&incoming, &self.dir, INDEX)?;
        remove(&outgoing)?;
        remove(&incoming)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // What was not put in place is of no use; a failure to remove it does no harm.
        let _ = fs::remove_dir_all(self.incoming());
    }
}

/// Removes the store in `dir` and leaves the lock's file. Under the writer's lock only. A process
/// that is killed meanwhile leaves the whole store, or none: what is on its way out nobody takes
/// for a store.
pub(super) fn discard(dir: &Path, _lock: &WriterLock) -> Result<()> {
    let incoming = dir.join(INCOMING);
    create_directory(&incoming).map_err(io_error(&incoming))?;
    for part in PARTS {
        rename_part(dir, &incoming, part)?;
    }
    remove(&incoming)
}

/// Whether a replacement is between its renames, or was killed there.
pub(super) fn is_underway(dir: &Path) -> bool {
    !exists(dir) && exists(&dir.join(OUTGOING))
}

/// Moves a store back that a killed replacement had moved away, and removes what one left. Under
/// the writer's lock only.
pub(super) fn recover(dir: &Path) -> Result<()> {
    if !is_underway(dir) {
        return [INCOMING, OUTGOING].iter().try_for_each(|left_over| remove(&dir.join(left_over)));
    }
    for part in PARTS.iter().rev() {
        let old = dir.join(OUTGOING).join(part);
        if old.exists() {
            remove(&dir.join(part))?;
            rename_part(&dir.join(OUTGOING), dir, part)?;
        }
    }
    recover(dir)
}

fn rename_part(from: &Path, to: &Path, part: &str) -> Result<()> {
    rename(&from.join(part), &to.join(part)).map(drop).map_err(io_error(&from.join(part)))
}

fn remove(path: &Path) -> Result<()> {
    remove_directory(path).map_err(io_error(path))
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    |source| StoreError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn a_replacement_that_was_killed_between_its_renames_is_undone() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_writer(dir.path(), true).unwrap();
        store.recipe([1; 16], "{}").unwrap();
        drop(store);
        fs::create_dir(dir.path().join(OUTGOING)).unwrap();
        fs::rename(dir.path().join("db"), dir.path().join(OUTGOING).join("db")).unwrap();
        assert!(is_underway(dir.path()));
        // Whoever opens it first undoes it: here a reader, which finds nobody writing.
        assert_eq!(Store::open_reader(dir.path()).unwrap().recipes().unwrap().len(), 1);
        assert!(!is_underway(dir.path()));
        let store = Store::open_writer(dir.path(), true).unwrap();
        assert_eq!(store.recipes().unwrap().len(), 1, "the store of before, no new one");
        drop(store);
        Store::open_reader(dir.path()).unwrap();
    }

    #[test]
    fn a_replacement_that_is_dropped_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        Store::open_writer(dir.path(), true).unwrap().recipe([1; 16], "{}").unwrap();
        let replacement = Replacement::begin(dir.path()).unwrap();
        let locked = Store::open_writer(dir.path(), true).map(drop).unwrap_err();
        assert!(matches!(locked, StoreError::Locked { .. }), "{locked}");
        drop(Store::open_writer(&replacement.incoming(), true).unwrap());
        drop(replacement);
        assert!(!dir.path().join(INCOMING).exists());
        let store = Store::open_writer(dir.path(), false).unwrap();
        assert_eq!(store.recipes().unwrap().len(), 1);
    }
}
