//! Whether a place is a store's, may become one, or holds something else.
//!
//! A store is made where nothing is, or in an empty folder. Whatever else is somebody's own, and
//! nothing is written there. A folder that a writer has locked once is a store's: a first import
//! that failed leaves its lock.

use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

use rocksdb::{DB, IteratorMode, Options};

use super::family::Family;
use super::lock::is_of_a_writer;
use super::present::{exists, present_families};
use super::tuning::{READERS_BLOCKS, descriptors};
use super::{Result, StoreError, acknowledged};

/// What a new file system has in its first folder.
const OF_THE_SYSTEM: &str = "lost+found";

/// How long a place is looked at again that seems to be somebody else's: who makes a store, or
/// takes away one whose first import failed, shows parts of it for a moment.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(10), Duration::from_millis(40), Duration::from_millis(100)];

/// Fails for a place that is somebody else's.
pub(super) fn require_free_or_ours(dir: &Path) -> Result<()> {
    let mut pauses = PAUSES.into_iter();
    while let Some(reason) = occupant(dir) {
        let Some(pause) = pauses.next() else {
            return Err(StoreError::NotAStore { path: dir.to_owned(), reason });
        };
        thread::sleep(pause);
    }
    Ok(())
}

/// What is at a place instead of a store.
fn occupant(dir: &Path) -> Option<String> {
    if let Some(file) = dir.ancestors().find(|above| above.symlink_metadata().is_ok())
        && file.exists()
        && !file.is_dir()
    {
        return Some(match file == dir {
            true => "it is a file; expected a folder".to_owned(),
            false => format!("`{}` is a file; expected a folder", file.display()),
        });
    }
    if is_of_a_writer(dir) || acknowledged::last(dir).is_some() {
        return None;
    }
    if exists(dir) { foreign_engine(&dir.join("db")) } else { other_files(dir) }
}

/// The first of the files in a folder that no store has made.
fn other_files(dir: &Path) -> Option<String> {
    let entries = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.file_name());
    let first = entries.filter(|name| name != OF_THE_SYSTEM).min()?;
    let first = Path::new(&first).display().to_string();
    Some(format!("it holds `{first}` and no store; expected a new or an empty folder"))
}

/// Whether another program's files lie where a store has RocksDB's.
fn foreign_engine(db_dir: &Path) -> Option<String> {
    let named = |start: &str| {
        let mut entries = fs::read_dir(db_dir).into_iter().flatten().flatten();
        entries.any(|entry| entry.file_name().as_encoded_bytes().starts_with(start.as_bytes()))
    };
    if !named("MANIFEST-") {
        // Without any table it is no store that was damaged.
        let is_foreign = !fs::read_dir(db_dir).into_iter().flatten().flatten().any(|entry| {
            entry.path().extension().is_some_and(|ending| ending == "sst" || ending == "log")
        });
        return is_foreign.then(|| "its `db/CURRENT` is not RocksDB's".to_owned());
    }
    // What cannot be listed is told as damage by whoever opens it.
    let families = present_families(db_dir).ok()?;
    if families.iter().any(|name| name == Family::Meta.name()) || is_blank(db_dir, families) {
        return None;
    }
    Some("its `db` is another program's RocksDB".to_owned())
}

/// Whether a RocksDB holds no row, as one whose making was cut short.
fn is_blank(db_dir: &Path, families: Vec<String>) -> bool {
    let names = families.clone();
    let options = Options::default();
    let opened = DB::open_cf_descriptors_read_only(
        &options,
        db_dir,
        descriptors(names, READERS_BLOCKS),
        false,
    );
    let Ok(db) = opened else { return false };
    let mut handles = families.iter().filter_map(|name| db.cf_handle(name));
    handles.all(|handle| db.iterator_cf(handle, IteratorMode::Start).next().is_none())
}

/// The folder of a path, made absolute, so that it leads to the same place wherever the process
/// goes later.
pub(super) fn fixed(dir: &Path) -> Result<std::path::PathBuf> {
    if dir.as_os_str().is_empty() {
        let reason = "its path is empty; expected a folder, as `.` for the current one".to_owned();
        return Err(StoreError::NotAStore { path: dir.to_owned(), reason });
    }
    std::path::absolute(dir).map_err(|source| StoreError::Io { path: dir.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Coded as _;
    use crate::store::Store;

    /// Everything below a folder, with its bytes.
    fn files(dir: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(dir).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => found.extend(files(&path)),
                path => found.push((path.clone(), fs::read(&path).unwrap())),
            }
        }
        found.sort();
        found
    }

    fn refused(dir: &Path) -> String {
        let told = [
            Store::open_writer(dir, true).map(drop),
            Store::open_writer(dir, false).map(drop),
            Store::open_reader(dir).map(drop),
            crate::store::Replacement::begin(dir).map(drop),
        ];
        let told = told.map(|outcome| outcome.unwrap_err());
        assert!(told.iter().all(|error| error.code() == Some("S-not-a-store")), "{told:?}");
        told[0].to_string()
    }

    #[test]
    fn a_folder_that_holds_other_files_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("letter.txt"), "mine").unwrap();
        let message = refused(folder.path());
        assert!(message.contains("it holds `letter.txt` and no store"), "{message}");
        assert_eq!(files(folder.path()).len(), 1, "nothing was written");
    }

    #[test]
    fn a_file_and_a_path_below_one_are_no_store() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("letter.txt");
        fs::write(&file, "mine").unwrap();
        assert!(refused(&file).contains("it is a file; expected a folder"));
        let below = refused(&file.join("store"));
        assert!(below.contains("letter.txt` is a file; expected a folder"), "{below}");
        assert_eq!(fs::read(&file).unwrap(), b"mine");
    }

    #[test]
    fn a_current_file_of_something_else_is_no_store() {
        for content in ["", "mine", "MANIFEST-000001\n", "elsewhere\n"] {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("db")).unwrap();
            fs::write(folder.path().join("db/CURRENT"), content).unwrap();
            let before = files(folder.path());
            let message = refused(folder.path());
            assert!(message.contains("is not RocksDB's"), "{content:?}: {message}");
            assert_eq!(files(folder.path()), before, "{content:?}");
        }
    }

    #[test]
    fn another_programs_rocksdb_is_no_store() {
        let folder = tempfile::tempdir().unwrap();
        let db = DB::open_default(folder.path().join("db")).unwrap();
        db.put("mine", "too").unwrap();
        drop(db);
        let before = files(folder.path());
        let message = refused(folder.path());
        assert!(message.contains("another program's RocksDB"), "{message}");
        assert_eq!(files(folder.path()), before);
    }

    #[test]
    fn an_empty_folder_and_one_that_was_a_stores_are_free() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(OF_THE_SYSTEM)).unwrap();
        drop(Store::open_writer(folder.path(), true).unwrap());
        fs::remove_dir_all(folder.path().join("db")).unwrap();
        fs::write(folder.path().join("notes"), "mine").unwrap();
        // The lock of the writer before is there; what it acknowledged went with `db`.
        drop(Store::open_writer(folder.path(), true).unwrap());
        assert!(exists(folder.path()));
    }

    #[test]
    fn a_lock_of_another_kind_makes_no_store_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("writer.lock"), "somebody's notes").unwrap();
        assert!(refused(folder.path()).contains("it holds `writer.lock`"));
    }

    #[test]
    fn a_path_is_made_absolute_and_keeps_its_links() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(fixed(Path::new("store")).unwrap(), here.join("store"));
        assert_eq!(fixed(Path::new(".")).unwrap(), here.join("."));
        let unnamed = fixed(Path::new("")).unwrap_err();
        assert_eq!(unnamed.code(), Some("S-not-a-store"));
        assert!(unnamed.to_string().contains("its path is empty"), "{unnamed}");
        assert_eq!(fixed(Path::new("/a/../b")).unwrap(), Path::new("/a/../b"));
    }
}
