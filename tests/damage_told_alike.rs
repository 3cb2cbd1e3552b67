//! The same damage gives the same message to a reader and to a writer, with its code and with what
//! helps; neither changes the damaged store.

use std::fs;
use std::path::{Path, PathBuf};

use fnstore::database::{Database, DatabaseError};
use fnstore::model::Coded as _;
use fnstore::store::StoreError;
use tempfile::TempDir;

use crate::damaged_files::{files, store};
use crate::{generated, mini};

/// What a reader is told, which a writer is told as well, before and after.
fn told(dir: &Path) -> StoreError {
    let mut told = Vec::new();
    for writer in [false, true, false, true] {
        let opened = if writer { Database::open_existing_writer(dir) } else { Database::open(dir) };
        match opened {
            Err(DatabaseError::Store(error)) => told.push(error),
            Err(error) => panic!("not the store's: {error}"),
            Ok(_) => panic!("writer {writer}: it was opened"),
        }
    }
    let messages: Vec<String> = told.iter().map(ToString::to_string).collect();
    assert!(messages.iter().all(|message| *message == messages[0]), "{messages:#?}");
    told.remove(0)
}

fn tables(dir: &Path) -> Vec<PathBuf> {
    files(&dir.join("db"), |name| name.ends_with(".sst"))
}

#[test]
fn a_table_that_is_cut_short_or_gone() {
    let dir = store();
    let table = tables(dir.path()).remove(0);
    let whole = fs::read(&table).unwrap();
    fs::write(&table, &whole[..whole.len() / 2]).unwrap();
    for _ in 0..2 {
        let error = told(dir.path());
        assert!(matches!(error, StoreError::FileLost { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("restore a backup") && message.contains("(C-open)"), "{message}");
        let _ = fs::remove_file(&table);
    }
    fs::write(&table, whole).unwrap();
    drop(Database::open_existing_writer(dir.path()).unwrap());
}

#[test]
fn a_manifest_that_is_gone_or_nonsense() {
    let dir = store();
    let manifest = files(&dir.path().join("db"), |name| name.starts_with("MANIFEST")).remove(0);
    let whole = fs::read(&manifest).unwrap();
    fs::write(&manifest, vec![7; whole.len()]).unwrap();
    let error = told(dir.path());
    assert_eq!(error.code(), Some("C-open"), "{error}");
    assert!(error.to_string().contains("restore a backup"), "{error}");
    fs::remove_file(&manifest).unwrap();
    let error = told(dir.path());
    assert!(matches!(error, StoreError::FileLost { .. }), "{error}");
    assert!(error.to_string().contains("MANIFEST"), "{error}");
}

/// The list of what the store is made of: without it RocksDB would make an empty store over the
/// other files, and remove them.
#[test]
fn a_store_without_its_first_file_is_damaged_and_not_absent() {
    let dir = store();
    let expected = tables(dir.path());
    fs::remove_file(dir.path().join("db/CURRENT")).unwrap();
    let error = told(dir.path());
    assert!(matches!(error, StoreError::FileLost { .. }), "{error}");
    assert!(error.to_string().contains("db/CURRENT` is missing"), "{error}");
    let new = Database::open_writer(dir.path()).map(drop).unwrap_err();
    assert!(new.to_string().contains("db/CURRENT` is missing"), "{new}");
    assert_eq!(tables(dir.path()), expected, "no table was removed");
}

/// A store whose last commits stand in the log alone.
fn with_a_log() -> (TempDir, PathBuf) {
    let (dir, database, report) = mini::imported();
    drop(database);
    let database = Database::open_existing_writer(dir.path()).unwrap();
    generated::write(&database, report.release.id);
    drop(database);
    let log = files(&dir.path().join("db"), |name| name.ends_with(".log")).pop().unwrap();
    (dir, log)
}

#[test]
fn a_log_that_has_lost_commits() {
    let (dir, log) = with_a_log();
    let whole = fs::read(&log).unwrap();
    fs::write(&log, &whole[..whole.len() / 2]).unwrap();
    let error = told(dir.path());
    assert!(matches!(error, StoreError::CommitsLost { .. }), "{error}");
    assert!(error.to_string().ends_with("(C-commits-lost)"), "{error}");
    assert_eq!(fs::read(&log).unwrap().len(), whole.len() / 2, "the log was not touched");
}

/// A machine that loses power leaves a last record of the right length and the wrong content. It
/// was never acknowledged; a reader need not wait for a writer to say so.
#[test]
fn a_record_that_was_never_acknowledged_holds_no_reader_up() {
    let (dir, log) = with_a_log();
    let expected = mini::content(&Database::open(dir.path()).unwrap());
    let whole = fs::read(&log).unwrap();
    // A header (checksum, length 16, kind `full`) and content of another checksum.
    let torn = [&[9, 9, 9, 9, 16, 0, 1][..], &[0; 16]].concat();
    fs::write(&log, [&whole[..], &torn].concat()).unwrap();
    for writer in [false, true, false] {
        let opened = if writer {
            Database::open_existing_writer(dir.path())
        } else {
            Database::open(dir.path())
        };
        assert_eq!(mini::content(&opened.unwrap()), expected, "writer {writer}");
    }
}

/// What a writer passed over once: it could then note a lower revision than was acknowledged.
#[test]
fn a_writer_opens_nothing_that_it_cannot_look_at() {
    let dir = store();
    let acknowledged = fs::read(dir.path().join("db/ACKNOWLEDGED")).unwrap();
    let table = tables(dir.path()).remove(0);
    fs::rename(&table, table.with_extension("away")).unwrap();
    let error = Database::open_existing_writer(dir.path()).map(drop).unwrap_err();
    assert!(matches!(error, DatabaseError::Store(StoreError::FileLost { .. })), "{error}");
    assert_eq!(fs::read(dir.path().join("db/ACKNOWLEDGED")).unwrap(), acknowledged);
    // Not even by the one who takes what is left of a log.
    let error = Database::reindex(dir.path()).unwrap_err();
    assert!(matches!(error, DatabaseError::Store(StoreError::FileLost { .. })), "{error}");
    fs::rename(table.with_extension("away"), &table).unwrap();
    drop(Database::open_existing_writer(dir.path()).unwrap());
}
