//! A shard is computed by one process at a time: each has the lines locked that it appends to.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use super::{ExpandError, Result};
use crate::durable::LockedFile;

/// How often a locked shard is tried again, and after what time.
const LOOKS: usize = 5;
const LOOK: Duration = Duration::from_millis(50);

/// Keeps other processes from a shard's lines. Where the file system has no locks, nobody is kept.
pub(super) fn lock(lines: &File, part: &Path) -> Result<Option<LockedFile>> {
    let failed = |source| ExpandError::file(part, source);
    let locked = || ExpandError::ShardLocked { part: part.to_owned() };
    let mut outcome = LockedFile::lock(lines.try_clone().map_err(failed)?);
    // Whoever looks whether somebody computes it has it locked for a moment.
    for _ in 0..LOOKS {
        let Err((again, TryLockError::WouldBlock)) = outcome else { break };
        std::thread::sleep(LOOK);
        outcome = LockedFile::lock(again);
    }
    match outcome {
        // Who had it locked may have ended and removed it meanwhile.
        Ok(_) if !part.exists() => Err(locked()),
        Ok(lock) => Ok(Some(lock)),
        Err((_, TryLockError::WouldBlock)) => Err(locked()),
        Err((_, TryLockError::Error(error))) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err((_, TryLockError::Error(source))) => Err(failed(source)),
    }
}

/// Refuses a file that a process computes with other seeds, rounds or query. Whoever comes second
/// sees the other's lines: each has its own locked before it looks.
pub(super) fn require_alone(file: &Path, part: &Path) -> Result<()> {
    let (Some(dir), Some(name)) = (part.parent(), file.file_name()) else { return Ok(()) };
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let begins = name.to_string_lossy();
    for entry in fs::read_dir(dir).map_err(|source| ExpandError::file(dir, source))? {
        let other = entry.map_err(|source| ExpandError::file(dir, source))?;
        let name = other.file_name();
        let name = name.to_string_lossy();
        let rest = name.strip_prefix(&*begins).and_then(|rest| rest.strip_suffix(".part"));
        let is_print = |rest: &str| rest.len() == 9 && rest.starts_with('.');
        if !rest.is_some_and(is_print) || part.file_name() == Some(&other.file_name()) {
            continue;
        }
        if stays_locked(&other.path()) {
            return Err(ExpandError::ShardLocked { part: other.path() });
        }
    }
    Ok(())
}

/// Whether a process computes lines: whoever looks at them has them locked for a moment alone.
fn stays_locked(lines: &Path) -> bool {
    let Ok(lines) = File::options().write(true).open(lines) else { return false };
    let is_locked = || matches!(lines.try_lock(), Err(TryLockError::WouldBlock));
    for _ in 0..LOOKS {
        if !is_locked() {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    is_locked()
}

/// Whether a process has the lines of a shard for itself.
pub(super) fn is_locked(lines: &Path) -> bool {
    let Ok(lines) = File::open(lines) else { return false };
    matches!(lines.try_lock_shared(), Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_looks_for_a_moment_computes_no_shard() {
        let dir = tempfile::tempdir().unwrap();
        let (file, mine) = (dir.path().join("1.zst"), dir.path().join("1.zst.aaaaaaaa.part"));
        let other = dir.path().join("1.zst.bbbbbbbb.part");
        let lines = File::create(&other).unwrap();
        lines.try_lock().unwrap();
        assert!(matches!(require_alone(&file, &mine), Err(ExpandError::ShardLocked { .. })));
        drop(lines);
        let lines = File::open(&other).unwrap();
        lines.try_lock_shared().unwrap();
        let looks = std::thread::spawn(move || {
            std::thread::sleep(LOOK);
            drop(lines);
        });
        require_alone(&file, &mine).unwrap();
        looks.join().unwrap();
    }
}
