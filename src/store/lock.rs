//! The writer's lock: one writer per store, and anyone can read who it is.
//!
//! The lock is the operating system's, on an open file, so it ends with its process however that
//! ends. The file's content only says who holds it. The file stays when the store goes: else one
//! process could lock the removed file and another a new one.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::StoreError;
use crate::durable::{self, LockedFile};

const LOCK_FILE: &str = "writer.lock";

/// What the file begins with.
const BEGINNING: &[u8] = b"{\"pid\":";

/// How long a process that was refused waits for the holder to write down its name.
const PAUSES: [Duration; 3] =
    [Duration::ZERO, Duration::from_millis(10), Duration::from_millis(50)];

/// Who writes a store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Holder {
    /// Process number; 0 when not known.
    pub pid: u32,
    /// The machine's name; empty when not known.
    pub host: String,
    /// The command line.
    pub command: String,
    /// When the lock was taken, seconds since 1970 (UTC).
    pub since: u64,
}

/// Whether a folder has the lock of a store's writer, held or not. It is empty for the moment
/// between its making and its writing.
pub(super) fn is_of_a_writer(dir: &Path) -> bool {
    let path = dir.join(LOCK_FILE);
    let mut start = Vec::new();
    let read = |file: File| file.take(BEGINNING.len() as u64).read_to_end(&mut start);
    path.symlink_metadata().is_ok_and(|found| found.is_file())
        && File::open(&path).and_then(read).is_ok()
        && BEGINNING.starts_with(&start)
}

impl Holder {
    fn this_process() -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
            .ok()
            .or_else(|| std::env::var("HOSTNAME").ok())
            .or_else(|| std::env::var("COMPUTERNAME").ok());
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
        let arguments: Vec<String> =
            std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
        Self {
            pid: std::process::id(),
            host: host.unwrap_or_default().trim().to_owned(),
            command: arguments.join(" "),
            since,
        }
    }

    /// Who holds a lock that is held; unknown when nobody living is named. A holder writes its name
    /// just after it has taken the lock, so what stands there may be of one that was killed.
    fn read(file: &mut File) -> Self {
        for pause in PAUSES {
            std::thread::sleep(pause);
            let mut text = String::new();
            // Who holds it is a courtesy: when it cannot be read the lock still stands.
            let _ = file.rewind().and_then(|()| file.read_to_string(&mut text));
            let holder: Option<Self> = serde_json::from_str(&text).ok();
            if let Some(holder) = holder.filter(Self::may_live) {
                return holder;
            }
        }
        Self::default()
    }

    /// Whether the process may be there still; one of another machine may.
    fn may_live(&self) -> bool {
        let processes = Path::new("/proc");
        self.host != Self::this_process().host
            || !processes.join("self").exists()
            || processes.join(self.pid.to_string()).exists()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pid == 0 {
            return f.write_str("another process");
        }
        if *self == (Self { since: self.since, ..Self::this_process() }) {
            return f.write_str(
                "this process, by another handle or an editor that stays open between saves",
            );
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
        write!(
            f,
            "process {} on {} (`{}`), for {} s",
            self.pid,
            self.host,
            self.command,
            now.saturating_sub(self.since)
        )
    }
}

/// Holds the lock until it is dropped.
#[derive(Debug)]
pub(super) struct WriterLock {
    _file: LockedFile,
}

impl WriterLock {
    /// Takes the lock of the store in `dir`.
    pub(super) fn take(dir: &Path) -> Result<Self, StoreError> {
        Self::open(dir, true)
    }

    /// Takes the lock of a store that a writer has opened before.
    pub(super) fn take_existing(dir: &Path) -> Result<Self, StoreError> {
        Self::open(dir, false)
    }

    fn open(dir: &Path, create: bool) -> Result<Self, StoreError> {
        let path = dir.join(LOCK_FILE);
        let io = |source| StoreError::Io { path: path.clone(), source };
        refuse_links(dir)?;
        let is_new = create && !path.exists();
        let mut options = File::options();
        options.read(true).write(true).create(create).truncate(false);
        let file = durable::open_unfollowed(&options, &path).map_err(io)?;
        let locked = match LockedFile::lock(file) {
            Ok(locked) => locked,
            Err((mut file, TryLockError::WouldBlock)) => {
                let holder = Holder::read(&mut file);
                return Err(StoreError::Locked { path: dir.to_owned(), holder });
            }
            Err((_, TryLockError::Error(source))) => return Err(io(source)),
        };
        let text = serde_json::to_string(&Holder::this_process()).unwrap_or_default();
        let mut file: &File = &locked;
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        file.write_all(text.as_bytes()).map_err(io)?;
        if is_new {
            // What is made here next is a store's by this name, so the name is on the disk first.
            durable::sync_directory(dir).map_err(io)?;
        }
        Ok(Self { _file: locked })
    }
}

/// Refuses a store that has a link among its files: a writer would write where it leads.
fn refuse_links(dir: &Path) -> Result<(), StoreError> {
    for folder in [dir.to_owned(), dir.join("db"), dir.join("index")] {
        let found = durable::first_link(&folder);
        if let Some(path) = found.map_err(|source| StoreError::Io { path: folder, source })? {
            return Err(StoreError::Link { path });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_free_once_it_is_dropped_whoever_has_the_file_as_well() {
        let dir = tempfile::tempdir().unwrap();
        let first = WriterLock::take(dir.path()).unwrap();
        let _inherited = first._file.try_clone().unwrap();
        drop(first);
        assert!(WriterLock::take(dir.path()).is_ok());
    }

    #[test]
    fn a_second_writer_is_told_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let first = WriterLock::take(dir.path()).unwrap();
        let Err(StoreError::Locked { holder, .. }) = WriterLock::take(dir.path()) else {
            panic!("the lock was given twice");
        };
        assert_eq!(holder.pid, std::process::id());
        assert!(!holder.command.is_empty());
        assert!(holder.to_string().starts_with("this process, by another handle"), "{holder}");
        assert!(is_of_a_writer(dir.path()));
        drop(first);
        assert!(is_of_a_writer(dir.path()), "it stays");
        WriterLock::take(dir.path()).unwrap();
    }

    #[test]
    fn a_name_that_a_killed_holder_left_is_not_told() {
        let dir = tempfile::tempdir().unwrap();
        let _held = WriterLock::take(dir.path()).unwrap();
        // No process has this number: it is above what systems give out.
        let killed = Holder { pid: u32::MAX, ..Holder::this_process() };
        let text = serde_json::to_string(&killed).unwrap();
        std::fs::write(dir.path().join(LOCK_FILE), text).unwrap();
        let Err(StoreError::Locked { holder, .. }) = WriterLock::take(dir.path()) else {
            panic!("the lock was given twice");
        };
        assert_eq!(holder, Holder::default());
        let elsewhere = Holder { host: "elsewhere".to_owned(), ..killed };
        let text = serde_json::to_string(&elsewhere).unwrap();
        std::fs::write(dir.path().join(LOCK_FILE), text).unwrap();
        let Err(StoreError::Locked { holder, .. }) = WriterLock::take(dir.path()) else {
            panic!("the lock was given twice");
        };
        assert_eq!(holder, elsewhere);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_among_the_files_is_refused_and_what_it_leads_to_stays() {
        for place in ["writer.lock", "db/ACKNOWLEDGED", "index/meta.json", "db"] {
            let dir = tempfile::tempdir().unwrap();
            let (store, letter) = (dir.path().join("store"), dir.path().join("letter"));
            std::fs::write(&letter, "dear").unwrap();
            let link = store.join(place);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&letter, &link).unwrap();
            let refused = WriterLock::take(&store).unwrap_err();
            assert!(matches!(&refused, StoreError::Link { path } if *path == link), "{refused}");
            assert_eq!(std::fs::read_to_string(&letter).unwrap(), "dear");
        }
    }
}
