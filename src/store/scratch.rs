//! A reader's own directory, which RocksDB wants for a secondary's log: the store itself may lie on
//! read-only media.
//!
//! It lies among the system's temporary files and goes with its reader. A reader that is killed
//! leaves it; the next reader of any store removes what is left so. Whether a directory's reader
//! lives is told by a lock of the operating system on a file in it, as for writers
//! ([`super::lock`]). Numbers of processes come round, and mean nothing in another container.
//!
//! Everyone on a machine may write into that place. So only directories of this user's own that
//! nobody else can write into are looked at, and in them only a plain file is opened.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use super::StoreError;

const PREFIX: &str = "fnstore-reader-";

/// The file that is locked as long as the reader lives.
const OWNER: &str = "owner";

/// How long ago a directory without that file was made at least, whose reader was killed before it
/// made the file. It takes no thousandth of a second.
const NEVER_OWNED: Duration = Duration::from_secs(600);

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
        match Self::in_place(&place) {
            Ok(scratch) => {
                if is_safe(&place) {
                    sweep(&place, &scratch);
                }
                Ok(scratch)
            }
            Err(source) => Err(StoreError::Scratch { path: place, source }),
        }
    }

    fn in_place(place: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let dir = builder.prefix(PREFIX).tempdir_in(place)?;
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

/// Whether nobody but its owner can replace what lies in a directory: it is closed to others, or
/// *sticky*, as the system's directory of temporary files is. What was looked at there is still the
/// same when it is opened.
#[cfg(unix)]
fn is_safe(place: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const STICKY: u32 = 0o1000;
    place.metadata().is_ok_and(|place| is_closed(&place) || place.mode() & STICKY != 0)
}

#[cfg(not(unix))]
fn is_safe(_place: &Path) -> bool {
    true
}

/// Whether nobody but its owner can write into a directory.
#[cfg(unix)]
fn is_closed(directory: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    directory.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_closed(_directory: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn same_owner(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    one.uid() == other.uid()
}

#[cfg(not(unix))]
fn same_owner(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

/// Removes the directories whose readers are gone. Others' are left alone, and so is whatever
/// another user may have put there: opening a pipe waits for someone at its other end.
fn sweep(place: &Path, own: &Scratch) {
    let Ok(own) = own.path().symlink_metadata() else { return };
    let is_own = |found: &Metadata| same_owner(found, &own);
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let named =
        entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    for entry in named {
        let path = entry.path();
        let Ok(found) = path.symlink_metadata() else { continue };
        if !(found.is_dir() && is_closed(&found) && is_own(&found)) {
            continue;
        }
        let owner = path.join(OWNER);
        let is_left = match owner.symlink_metadata() {
            Ok(file) => file.is_file() && is_own(&file) && is_free(&owner),
            Err(error) => error.kind() == io::ErrorKind::NotFound && is_old(&found),
        };
        if is_left {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Whether nobody holds the lock on a file.
fn is_free(owner: &Path) -> bool {
    File::options().write(true).open(owner).is_ok_and(|owner| owner.try_lock().is_ok())
}

/// Whether the reader that made a directory would have its file there by now.
fn is_old(directory: &Metadata) -> bool {
    let age = directory.modified().ok().and_then(|made| made.elapsed().ok());
    age.is_some_and(|age| age > NEVER_OWNED)
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
        sweep(place.path(), &living);
        assert!(!left.exists());
        for dir in [living.path(), &begun, &other] {
            assert!(dir.exists(), "{dir:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_a_reader_left_that_was_killed_before_it_locked_its_file_is_removed_later() {
        let place = tempfile::tempdir().unwrap();
        let living = Scratch::in_place(place.path()).unwrap();
        let begun = place.path().join("fnstore-reader-begun");
        fs::create_dir(&begun).unwrap();
        fs::write(begun.join("owner.new"), "").unwrap();
        for (age, is_there) in [(NEVER_OWNED / 2, true), (NEVER_OWNED * 2, false)] {
            let made = std::time::SystemTime::now() - age;
            File::open(&begun).unwrap().set_modified(made).unwrap();
            sweep(place.path(), &living);
            assert_eq!(begun.exists(), is_there, "{age:?}");
        }
    }

    /// What another user may put beside a reader's directories; each of them once made a reader
    /// wait or touch what is not its own.
    #[cfg(unix)]
    #[test]
    fn what_is_no_file_of_ones_own_is_not_opened() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let place = tempfile::tempdir().unwrap();
        let living = Scratch::in_place(place.path()).unwrap();
        let named = |name: &str| place.path().join(format!("{PREFIX}{name}"));
        let pipe = |path: &Path| {
            let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        };
        pipe(&named("pipe"));
        for name in ["of-a-pipe", "of-a-link", "of-a-directory", "open-to-all"] {
            fs::create_dir(named(name)).unwrap();
        }
        pipe(&named("of-a-pipe").join(OWNER));
        fs::create_dir(named("of-a-directory").join(OWNER)).unwrap();
        let elsewhere = place.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join(OWNER), "mine").unwrap();
        symlink(elsewhere.join(OWNER), named("of-a-link").join(OWNER)).unwrap();
        symlink(&elsewhere, named("link")).unwrap();
        fs::write(named("open-to-all").join(OWNER), "").unwrap();
        fs::set_permissions(named("open-to-all"), fs::Permissions::from_mode(0o777)).unwrap();
        let before = fs::read_dir(place.path()).unwrap().count();
        // In a thread of its own: one that waits at a pipe would wait for ever.
        let (done, is_done) = std::sync::mpsc::channel();
        let at = place.path().to_owned();
        std::thread::spawn(move || {
            sweep(&at, &living);
            done.send(living).unwrap();
        });
        let living = is_done.recv_timeout(std::time::Duration::from_secs(20));
        assert!(living.is_ok(), "the sweep waits");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), before);
        assert_eq!(fs::read_to_string(elsewhere.join(OWNER)).unwrap(), "mine");
    }

    #[cfg(unix)]
    #[test]
    fn where_others_can_replace_directories_none_is_looked_at() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        for (mode, safe) in [(0o700, true), (0o755, true), (0o1777, true), (0o777, false)] {
            fs::set_permissions(place.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_safe(place.path()), safe, "{mode:o}");
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
