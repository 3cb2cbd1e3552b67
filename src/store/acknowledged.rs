//! The last revision that a writer acknowledged, beside RocksDB.
//!
//! RocksDB's log ends where a record does not read. A record that a crash cut short was never
//! acknowledged, and dropping it is right. Damage looks the same, and silently drops what was
//! acknowledged, too. So each commit, once it is synced, writes its revision into a file of a line.
//! A store that is behind it has lost commits, and does not open until someone says so.
//!
//! The file is not synced: after a crash of the machine it may name an earlier revision than the
//! last, never a later one. One that is not there, or does not read, says nothing.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use crate::durable;

/// Inside RocksDB's directory, so that it goes wherever that is moved.
const FILE: &str = "ACKNOWLEDGED";

/// The file, held by a store's writer.
#[derive(Debug)]
pub(super) struct Acknowledged {
    file: File,
}

impl Acknowledged {
    /// Opens the file in a store's directory, and writes the revision that the store is at.
    pub(super) fn begin(dir: &Path, revision: u64) -> io::Result<Self> {
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        let file = durable::open_unfollowed(&options, &path(dir))?;
        let acknowledged = Self { file };
        acknowledged.note(revision)?;
        Ok(acknowledged)
    }

    /// Takes down that a revision is safe.
    pub(super) fn note(&self, revision: u64) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        file.write_all(line(revision).as_bytes())
    }
}

/// The last revision that was acknowledged in a store's directory, as far as is known.
pub(super) fn last(dir: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(path(dir)).ok()?;
    let revision = text.split_once(' ')?.0.parse().ok()?;
    (text == line(revision)).then_some(revision)
}

fn path(dir: &Path) -> PathBuf {
    dir.join("db").join(FILE)
}

/// Of one length for every revision, so that a line takes exactly the place of the one before.
fn line(revision: u64) -> String {
    let digits = format!("{revision:020}");
    let hash = blake3::hash(digits.as_bytes()).to_hex();
    format!("{digits} {}\n", &hash[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_revision_that_was_noted_is_read() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(last(dir.path()), None);
        std::fs::create_dir(dir.path().join("db")).unwrap();
        let acknowledged = Acknowledged::begin(dir.path(), 12).unwrap();
        assert_eq!(last(dir.path()), Some(12));
        for revision in [13, u64::MAX, 0] {
            acknowledged.note(revision).unwrap();
            assert_eq!(last(dir.path()), Some(revision));
        }
    }

    #[test]
    fn a_damaged_line_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("db")).unwrap();
        drop(Acknowledged::begin(dir.path(), 12).unwrap());
        let whole = std::fs::read(path(dir.path())).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(path(dir.path()), &damaged).unwrap();
            assert_eq!(last(dir.path()), None, "{:?}", String::from_utf8_lossy(&damaged));
            std::fs::write(path(dir.path()), &whole[..at]).unwrap();
            assert_eq!(last(dir.path()), None);
        }
    }
}
