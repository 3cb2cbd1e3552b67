//! The directory of a release that is exported: its folders.

use std::io;
use std::path::{Path, PathBuf};

use crate::database::{DatabaseError, ExportError, Result};
use crate::durable::{Claimed, NewDirectory};

/// Folders of a release.
const FOLDERS: [&str; 3] = ["frame", "lu", "fulltext"];

/// The directory of a release being written, under a passing name beside its own.
pub(super) struct Directory {
    target: PathBuf,
    files: NewDirectory,
}

impl Directory {
    /// Makes the folders beside `target`, which must be an empty directory or not be there.
    pub(super) fn create(target: &Path) -> Result<Self> {
        let failed =
            |source| DatabaseError::Export(ExportError::Write { path: target.to_owned(), source });
        let files = match NewDirectory::create(target, ".fnstore-export-") {
            Err(source) if is_in_the_way(&source) => {
                return Err(DatabaseError::Export(ExportError::Target {
                    path: target.to_owned(),
                    source,
                }));
            }
            Err(source) if Claimed::is_cause_of(&source) => {
                return Err(DatabaseError::Export(ExportError::Claimed {
                    path: target.to_owned(),
                    source,
                }));
            }
            outcome => outcome.map_err(failed)?,
        };
        for folder in FOLDERS {
            std::fs::create_dir(files.path().join(folder)).map_err(failed)?;
        }
        Ok(Self { target: target.to_owned(), files })
    }

    /// Writes a file; gives its length in bytes.
    pub(super) fn write(&self, name: &str, content: &str) -> Result<u64> {
        let failed = |source| {
            DatabaseError::Export(ExportError::Write { path: self.target.join(name), source })
        };
        std::fs::write(self.files.path().join(name), content).map_err(failed)?;
        Ok(content.len() as u64)
    }

    /// Gives the directory its name, once it is on the disk.
    pub(super) fn publish(self) -> Result<()> {
        let Self { target, files } = self;
        // A release that had no such folder is written without it.
        for folder in FOLDERS {
            let _ = std::fs::remove_dir(files.path().join(folder));
        }
        files
            .publish()
            .map_err(|source| DatabaseError::Export(ExportError::Write { path: target, source }))
    }
}

/// Whether another place would do.
fn is_in_the_way(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::ResourceBusy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_not_overwritten_and_what_failed_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out");
        std::fs::write(&target, "x").unwrap();
        let refused = Directory::create(&target).err().unwrap();
        assert!(matches!(refused, DatabaseError::Export(ExportError::Target { .. })), "{refused}");
        std::fs::remove_file(&target).unwrap();
        let directory = Directory::create(&target).unwrap();
        directory.write("frame/a.xml", "<a/>").unwrap();
        drop(directory);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let directory = Directory::create(&target).unwrap();
        directory.write("frame/a.xml", "<a/>").unwrap();
        directory.publish().unwrap();
        assert_eq!(std::fs::read_to_string(target.join("frame/a.xml")).unwrap(), "<a/>");
        let refused = Directory::create(&target).err().unwrap();
        assert!(matches!(refused, DatabaseError::Export(ExportError::Target { .. })), "{refused}");
    }
}
