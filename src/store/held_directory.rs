//! Which directory is meant, whatever takes its name.
//!
//! A restore gives another store the name of the one that a reader opens file by file. So a reader
//! looks whether the name still leads where it led when it began.

#[cfg(unix)]
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// A directory that is held open, so that no other gets its number as long as this lives.
#[derive(Debug)]
pub(crate) struct HeldDirectory {
    #[cfg(unix)]
    directory: File,
}

#[cfg(unix)]
impl HeldDirectory {
    /// The directory that has this name now.
    pub(super) fn of(directory: &Path) -> io::Result<Self> {
        Ok(Self { directory: File::open(directory)? })
    }

    /// Whether the name leads to it now. This opens no file: a process may have none left.
    pub(super) fn is_still(&self, directory: &Path) -> bool {
        self.is_that_of(std::fs::metadata(directory))
    }

    /// Whether both are the same directory.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.is_that_of(other.directory.metadata())
    }

    fn is_that_of(&self, other: io::Result<Metadata>) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        match (self.directory.metadata(), other) {
            (Ok(own), Ok(other)) => (own.dev(), own.ino()) == (other.dev(), other.ino()),
            _ => false,
        }
    }
}

/// Where an open file keeps its directory from being renamed, nothing can take its place.
#[cfg(not(unix))]
impl HeldDirectory {
    pub(super) fn of(_directory: &Path) -> io::Result<Self> {
        Ok(Self {})
    }

    pub(super) fn is_still(&self, _directory: &Path) -> bool {
        true
    }

    pub(super) fn is(&self, _other: &Self) -> bool {
        true
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_told_from_the_one_that_takes_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let (db, away) = (folder.path().join("db"), folder.path().join("away"));
        std::fs::create_dir(&db).unwrap();
        let place = HeldDirectory::of(&db).unwrap();
        assert!(place.is_still(&db));
        std::fs::rename(&db, &away).unwrap();
        assert!(!place.is_still(&db));
        // The number of one that is gone may be given again, but not while it is held open.
        std::fs::remove_dir(&away).unwrap();
        std::fs::create_dir(&db).unwrap();
        assert!(!place.is_still(&db));
        assert!(HeldDirectory::of(&db).unwrap().is_still(&db));
    }
}
