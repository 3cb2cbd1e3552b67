//! A reader's own directory, which RocksDB wants for a secondary's log: the store itself may lie on
//! read-only media.
//!
//! It lies among the system's temporary files and goes with its reader. A reader that is killed
//! leaves it; the next reader of any store removes what is left so. Whether a directory's reader
//! lives is told by a lock of the operating system on a file in it, as for writers
//! ([`super::lock`]): numbers of processes come round, and mean nothing in another container.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;

use super::StoreError;

const PREFIX: &str = "fnstore-reader-";

/// The file that is locked as long as the reader lives.
const OWNER: &str = "owner";

/// A directory of a reader, removed when this is dropped.
#[derive(Debug)]
pub(super) struct Scratch {
    dir: TempDir,
    _owner: File,
}

impl Scratch {
    /// Makes a directory, and removes those of readers that were killed.
    pub(super) fn new() -> Result<Self, StoreError> {
        let place = std::env::temp_dir();
        sweep(&place);
        Self::in_place(&place).map_err(|source| StoreError::Scratch { path: place, source })
    }

    fn in_place(place: &Path) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
        // Locked before it has the name by which others look for it.
        let unnamed = dir.path().join("owner.new");
        let owner = File::create_new(&unnamed)?;
        owner.lock()?;
        fs::rename(&unnamed, dir.path().join(OWNER))?;
        Ok(Self { dir, _owner: owner })
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Removes the directories whose readers are gone. What cannot be removed, as another user's, stays.
fn sweep(place: &Path) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let ours =
        entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    for entry in ours {
        let path = entry.path();
        let is_left = File::options()
            .write(true)
            .open(path.join(OWNER))
            .is_ok_and(|owner| owner.try_lock().is_ok());
        if is_left {
            let _ = fs::remove_dir_all(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_reader_has_left_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let living = Scratch::in_place(place.path()).unwrap();
        let Scratch { dir, _owner } = Scratch::in_place(place.path()).unwrap();
        let left = dir.keep();
        drop(_owner);
        // One that is being made has no owner yet; others' directories are none of ours.
        let begun = place.path().join("fnstore-reader-begun");
        let other = place.path().join("other");
        for dir in [&begun, &other] {
            fs::create_dir(dir).unwrap();
        }
        fs::write(other.join(OWNER), "").unwrap();
        sweep(place.path());
        assert!(!left.exists());
        for dir in [living.path(), &begun, &other] {
            assert!(dir.exists(), "{dir:?}");
        }
    }

    #[test]
    fn where_no_directory_can_be_made_the_error_says_what_to_set() {
        let place = tempfile::tempdir().unwrap().path().join("nowhere");
        let source = Scratch::in_place(&place).unwrap_err();
        let error = StoreError::Scratch { path: place.clone(), source };
        assert!(error.to_string().contains("`TMPDIR`"), "{error}");
    }
}
