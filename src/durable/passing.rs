//! Files and directories under passing names, beside the places that they will take.
//!
//! Whoever writes one has it locked. A passing name whose lock is free was left by a process that
//! is gone, and whoever writes beside it next removes it. Where a file system has no locks, nothing
//! is removed. A name that follows from its place is a claim: two processes cannot hold it.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use super::{LockedFile, folder_of, passing_name};
use crate::model::coded;

/// How the passing name of a file begins.
pub(super) const FILE: &str = ".writing-";

/// Digits of a name that follows from its place, and letters of one that is drawn.
const CLAIM: usize = 16;
const DRAWN: usize = 6;

/// How often a name is tried that others remove meanwhile.
const TRIES: usize = 16;

/// What this process has under passing names now.
static WRITING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn writing() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    WRITING.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Another process, or another thread, writes what has the same place.
#[derive(Debug, thiserror::Error)]
#[error("another process writes it; wait until it ends, or name another place (X-locked)")]
pub struct Claimed;

coded!(Claimed { _ => Locked.coded("X-locked"), });

impl Claimed {
    /// Whether that is why something cannot be written.
    #[must_use]
    pub fn is_cause_of(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<Self>())
    }
}

fn claimed() -> io::Error {
    io::Error::new(io::ErrorKind::WouldBlock, Claimed)
}

/// Removes whatever this process has under a passing name, for an end without unwinding. Whoever
/// else begins or finishes something from now on waits for that end.
pub fn abandon() {
    let writing = writing();
    writing.iter().for_each(|path| remove(path));
    std::mem::forget(writing);
}

/// Something under a passing name; it goes away unless it takes its place.
#[derive(Debug)]
pub(super) struct Passing {
    path: PathBuf,
    /// `None` where the file system has no locks.
    _lock: Option<LockedFile>,
}

impl Passing {
    /// An empty file in a folder.
    pub(super) fn file(folder: &Path) -> io::Result<(Self, File)> {
        sweep(folder, FILE);
        drawn(|| {
            let (file, path) = passing_name(FILE, 0o666).tempfile_in(folder)?.into_parts();
            Ok((path.keep()?, file))
        })
    }

    /// An empty directory in a folder.
    pub(super) fn directory(folder: &Path, prefix: &str) -> io::Result<Self> {
        sweep(folder, prefix);
        let directory = || -> io::Result<PathBuf> {
            Ok(passing_name(prefix, 0o777).tempdir_in(folder)?.keep())
        };
        if !has_handles() {
            let path = std::path::absolute(directory()?)?;
            writing().insert(path.clone());
            return Ok(Self { path, _lock: None });
        }
        let opened = || {
            let path = directory()?;
            let handle = File::open(&path)?;
            Ok((path, handle))
        };
        Ok(drawn(opened)?.0)
    }

    /// An empty file beside its place, which nobody else can have meanwhile.
    pub(super) fn claimed_file(place: &Path) -> io::Result<(Self, File)> {
        sweep(folder_of(place), FILE);
        let create =
            |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
        match claim(place, FILE, create)? {
            Some(passing) => Ok(passing),
            None => Self::file(folder_of(place)),
        }
    }

    /// An empty directory beside its place, which nobody else can have meanwhile.
    pub(super) fn claimed_directory(place: &Path, prefix: &str) -> io::Result<Self> {
        sweep(folder_of(place), prefix);
        let create = |path: &Path| {
            fs::create_dir(path)?;
            File::open(path)
        };
        match has_handles().then(|| claim(place, prefix, create)).transpose()?.flatten() {
            Some((passing, _)) => Ok(passing),
            None => Self::directory(folder_of(place), prefix),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Has `rename` give it its name, unless the process is about to end.
    ///
    /// # Errors
    /// As `rename`; then nothing is left of it.
    pub(super) fn take_place(self, rename: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        let mut writing = writing();
        rename(&self.path)?;
        writing.remove(&self.path);
        Ok(())
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        if writing().remove(&self.path) {
            remove(&self.path);
        }
    }
}

/// Whether the platform opens a directory as it does a file, so that it can be locked.
fn has_handles() -> bool {
    cfg!(unix)
}

/// Something whose name `create` draws.
fn drawn(create: impl Fn() -> io::Result<(PathBuf, File)>) -> io::Result<(Passing, File)> {
    for _ in 0..TRIES {
        let mut writing = writing();
        let (path, file) = create()?;
        let path = std::path::absolute(path)?;
        if let Lock::Ours(lock) = Lock::of(&file, &path)? {
            writing.insert(path.clone());
            return Ok((Passing { path, _lock: lock }, file));
        }
        // Somebody takes it for a leftover, and removes it.
    }
    Err(claimed())
}

/// Something whose name follows from its place. `None` where the file system has no locks.
fn claim(
    place: &Path,
    prefix: &str,
    create: impl Fn(&Path) -> io::Result<File>,
) -> io::Result<Option<(Passing, File)>> {
    let name = place.file_name().unwrap_or_default();
    let tag = blake3::hash(name.as_encoded_bytes()).to_hex();
    let path = folder_of(place).join(format!("{prefix}{}", &tag[..CLAIM]));
    let path = std::path::absolute(path)?;
    for _ in 0..TRIES {
        let mut writing = writing();
        match create(&path) {
            Ok(file) => match Lock::of(&file, &path)? {
                Lock::Ours(None) => {
                    remove(&path);
                    return Ok(None);
                }
                Lock::Ours(lock) => {
                    writing.insert(path.clone());
                    return Ok(Some((Passing { path, _lock: lock }, file)));
                }
                Lock::Others | Lock::Gone => {}
            },
            // What is there is never written to: others may have put it there.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match open(&path).and_then(|file| Lock::of(&file, &path)) {
                    Ok(Lock::Ours(Some(_lock))) => remove(&path),
                    Ok(Lock::Ours(None)) => return Ok(None),
                    Ok(Lock::Others) => return Err(claimed()),
                    Ok(Lock::Gone) => {}
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            // Somebody took the new directory for a leftover.
            Err(error) if error.kind() == io::ErrorKind::NotFound && folder_of(&path).is_dir() => {}
            Err(error) => return Err(error),
        }
    }
    Err(claimed())
}

/// Who has something locked.
enum Lock {
    /// This handle; without a lock where the file system has none.
    Ours(Option<LockedFile>),
    Others,
    /// Nobody, but what was opened is not at its path any more.
    Gone,
}

impl Lock {
    fn of(file: &File, path: &Path) -> io::Result<Self> {
        Ok(match LockedFile::lock(file.try_clone()?) {
            Ok(lock) if is_at(file, path) => Self::Ours(Some(lock)),
            Ok(_) => Self::Gone,
            Err((_, TryLockError::WouldBlock)) => Self::Others,
            Err((_, TryLockError::Error(_))) => Self::Ours(None),
        })
    }
}

/// Whether a path leads to the file itself, and not by a link.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (there, ours) = (path.symlink_metadata().map(id), file.metadata().map(id));
    there.is_ok_and(|there| ours.is_ok_and(|ours| there == ours))
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists() && !path.is_symlink()
}

/// Opens what can be locked: a file for writing, which locks of a network's file system ask for.
fn open(path: &Path) -> io::Result<File> {
    if path.symlink_metadata()?.is_dir() {
        return File::open(path);
    }
    File::options().read(true).write(true).open(path)
}

/// Removes what processes that are gone have left in a folder under passing names.
fn sweep(folder: &Path, prefix: &str) {
    // What cannot be read or removed is in nobody's way.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(prefix));
        let is_passing = rest.is_some_and(|rest| {
            [CLAIM, DRAWN].contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_alphanumeric())
        });
        let is_plain = entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir());
        if !is_passing || !is_plain {
            continue;
        }
        let path = entry.path();
        if let Ok(Lock::Ours(Some(_lock))) = open(&path).and_then(|file| Lock::of(&file, &path)) {
            remove(&path);
        }
    }
}

/// Removes a file, or a directory with all that is in it. Other threads may write into that still.
fn remove(path: &Path) {
    for _ in 0..TRIES {
        let removed = match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(_) => return,
        };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                std::thread::sleep(Duration::from_millis(5));
            }
            // Whoever writes here next tries again.
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn what_a_process_left_is_swept_and_what_is_being_written_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let others = [".writing-abc", ".writing-abcde-", ".writing-abcdefg", "writing-abcdef"];
        for name in others {
            fs::write(at(name), "of mine").unwrap();
        }
        fs::write(at(".writing-aB3xYz"), "left").unwrap();
        fs::create_dir_all(at(".writing-0123456789abcdef/deep")).unwrap();
        fs::create_dir(at(".other-aB3xYz")).unwrap();
        let (one, _file) = Passing::file(folder.path()).unwrap();
        let (other, _other_file) = Passing::file(folder.path()).unwrap();
        assert!(one.path().exists() && other.path().exists());
        let (path, mut left) = (one.path().to_owned(), names(folder.path()));
        drop((one, other));
        assert!(!path.exists());
        left.retain(|name| !others.contains(&name.as_str()));
        assert_eq!(left.len(), 3, "two that are written, one of another prefix: {left:?}");
        let directory = Passing::directory(folder.path(), ".other-").unwrap();
        assert!(directory.path().is_dir() && !at(".other-aB3xYz").exists());
    }

    #[test]
    fn a_place_is_claimed_once_and_free_again_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out");
        let (held, _file) = Passing::claimed_file(&place).unwrap();
        let refused = Passing::claimed_file(&place).unwrap_err();
        assert!(Claimed::is_cause_of(&refused), "{refused}");
        assert!(!Claimed::is_cause_of(&io::ErrorKind::WouldBlock.into()));
        let (_beside, _other) = Passing::claimed_file(&folder.path().join("other")).unwrap();
        let directory = Passing::claimed_directory(&place, ".new-").unwrap();
        assert!(Passing::claimed_directory(&place, ".new-").is_err());
        held.take_place(|from| fs::rename(from, &place)).unwrap();
        let (_again, _file) = Passing::claimed_file(&place).unwrap();
        drop(directory);
        Passing::claimed_directory(&place, ".new-").unwrap();
        assert!(place.is_file());
    }

    #[cfg(unix)]
    #[test]
    fn what_somebody_puts_at_a_passing_name_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (place, victim) = (folder.path().join("out"), folder.path().join("victim"));
        let (passing, _file) = Passing::claimed_file(&place).unwrap();
        let path = passing.path().to_owned();
        drop(passing);
        fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        assert!(Passing::claimed_file(&place).is_err());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert!(path.is_symlink());
    }
}
