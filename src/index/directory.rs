//! Tantivy directories: one for readers, which never writes, and one for the writer, whose commits
//! are on the disk before the files go that they replace.
//!
//! Tantivy's reader takes a lock file while it opens segments, so that a writer does not collect
//! them meanwhile; that fails on read-only media. Here the lock is nothing: a reader that loses the
//! race sees a missing file, and `IndexReader::open` opens again, a few times.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

use super::mapped::{MappedFiles, Pulse};

#[derive(Debug, Clone)]
pub(super) struct ReadDirectory(MmapDirectory, MappedFiles);

impl ReadDirectory {
    pub(super) fn open(path: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self(MmapDirectory::open(path)?, MappedFiles::default()))
    }
}

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "opened for reading")
}

impl Directory for ReadDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.1.open(&self.0, path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(refused()), filepath: path.to_owned() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(refused(), path.to_owned()))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(refused())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(watch_callback)
    }
}

/// How often a lock is asked for that is held, and how long is waited in between.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// Tantivy's list of the segments of a commit.
const COMMIT: &str = "meta.json";

/// End of the names of files that say which entries of a segment are deleted; the number of the
/// operation stands before it.
const DELETIONS: &str = ".del";

/// The writer's directory. Tantivy renames a commit's list into its place, and removes the segments
/// that it no longer names; a loss of power could undo the first and not the second.
///
/// Tantivy counts operations on from its last commit. So a commit that was cut off (by a crash, by
/// a full disk) may have left a file of deletions of the very name that the next commit wants. No
/// commit names it: it is replaced.
#[derive(Debug, Clone)]
pub(super) struct WriteDirectory(MmapDirectory, MappedFiles);

impl WriteDirectory {
    pub(super) fn open(path: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self(MmapDirectory::open(path)?, MappedFiles::default()))
    }

    /// Whether a file of deletions is later than the last commit, so that this does not name it.
    fn is_left_over(&self, path: &Path) -> bool {
        let deleted_at = || {
            let stem = path.to_str()?.strip_suffix(DELETIONS)?;
            stem.rsplit_once('.')?.1.parse::<u64>().ok()
        };
        let committed_at = || {
            let list = self.0.atomic_read(Path::new(COMMIT)).ok()?;
            serde_json::from_slice::<serde_json::Value>(&list).ok()?.get("opstamp")?.as_u64()
        };
        deleted_at().zip(committed_at()).is_some_and(|(deleted, committed)| deleted > committed)
    }
}

/// A file of a segment, while it is written.
struct FileInWriting {
    file: WritePtr,
    _pulse: Arc<Pulse>,
}

impl Write for FileInWriting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl TerminatingWrite for FileInWriting {
    fn terminate_ref(&mut self, token: AntiCallToken) -> io::Result<()> {
        self.file.terminate_ref(token)
    }
}

impl Directory for WriteDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.1.open(&self.0, path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.0.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = match self.0.open_write(path) {
            Err(OpenWriteError::FileAlreadyExists(_)) if self.is_left_over(path) => {
                let gone = self.0.delete(path);
                gone.map_err(|error| {
                    OpenWriteError::wrap_io_error(io::Error::other(error), path.to_owned())
                })?;
                self.0.open_write(path)
            }
            outcome => outcome,
        }?;
        // The file has a buffer of its own.
        let file = Box::new(FileInWriting { file, _pulse: self.1.pulse() });
        Ok(BufWriter::with_capacity(0, file))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.0.atomic_write(path, data)?;
        if path == Path::new(COMMIT) { self.0.sync_directory() } else { Ok(()) }
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.0.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // A process that this one starts has all its open files, locks with them, until it becomes
        // another program. So the lock of a handle that was just dropped may not be free yet.
        for _ in 0..TRIES {
            match self.0.acquire_lock(lock) {
                Err(LockError::LockBusy) => std::thread::sleep(PAUSE),
                outcome => return outcome,
            }
        }
        self.0.acquire_lock(lock)
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(watch_callback)
    }
}

#[cfg(test)]
mod tests {
    use tantivy::directory::INDEX_WRITER_LOCK;

    use super::*;

    #[test]
    fn a_lock_that_is_about_to_be_free_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let held = WriteDirectory::open(dir.path()).unwrap();
        let other = WriteDirectory::open(dir.path()).unwrap();
        let lock = held.acquire_lock(&INDEX_WRITER_LOCK).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(3 * PAUSE);
                drop(lock);
            });
            assert!(other.acquire_lock(&INDEX_WRITER_LOCK).is_ok());
        });
    }
}
