//! Damage in RocksDB's log, where commits stand that no table holds yet. What was acknowledged is
//! there or its loss is reported, to readers, to writers and by a check, until someone says that
//! what is left will do. What a crash cut short is dropped without a word: it was never
//! acknowledged.
//!
//! `FNSTORE_FULL_DAMAGE=1` flips ten times as many bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use fnstore::database::{Database, DatabaseError, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, IdSpace, SentenceId};
use fnstore::store::StoreError;
use tempfile::TempDir;

use crate::damaged_files::{Flip, each, everything, files, findings};
use crate::{generated, mini};

/// Commits that only the log holds.
const COMMITS: u64 = 12;

/// A store whose last commits stand in the log alone; closed.
fn store() -> TempDir {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    // An import writes past the log, so that closing it writes everything to tables.
    drop(database);
    let database = Database::open_existing_writer(dir.path()).unwrap();
    database.store().recipe([7; 16], "{}").unwrap();
    let (sentence, set) = generated::sets(&database, release).remove(0);
    let mut loader = database.loader(release).unwrap();
    for number in 1..=COMMITS {
        let id = SentenceId::new(IdSpace::Generated, number);
        let text = format!("He verified the {number} figures .");
        let sentence = fnstore::model::Sentence { id, text, ..sentence.clone() };
        let set_id = AnnotationSetId::new(IdSpace::Generated, number);
        let set = fnstore::model::AnnotationSet { id: set_id, sentence: id, ..set.clone() };
        let write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
        loader.write(&write).unwrap();
    }
    // Not finished: that would write tables, and the index would tell of a loss as well.
    drop(loader);
    drop(database);
    dir
}

fn log(store: &Path) -> PathBuf {
    let logs = files(&store.join("db"), |name| name.ends_with(".log"));
    let log = logs.last().unwrap().clone();
    let length = fs::metadata(&log).unwrap().len();
    assert!(length > 100 * COMMITS, "{length} bytes of {logs:?}: the commits are not in it");
    log
}

/// As readers and the next writer see a store; an error is one that says what was lost, or
/// RocksDB's own of a checksum.
fn assert_nothing_is_hidden(store: &Path, expected: &[String], at: &str) -> bool {
    let seen = everything(store);
    if let Ok(seen) = &seen {
        assert!(seen == expected, "{at}: a reader sees less, and is not told");
    }
    let copy = tempfile::tempdir().unwrap();
    mini::copy(store, copy.path());
    for turn in 0..2 {
        // What refuses to open must not have changed anything: it refuses again.
        match Database::open_existing_writer(copy.path()) {
            Ok(database) => {
                assert!(turn == 0 || seen.is_ok(), "{at}: refused at first");
                drop(database);
                let now = everything(copy.path()).unwrap_or_else(|error| panic!("{at}: {error}"));
                assert!(now == expected, "{at}: the writer has lost something, and said nothing");
                return false;
            }
            Err(DatabaseError::Store(StoreError::CommitsLost { found, acknowledged, .. })) => {
                assert!(found < acknowledged, "{at}");
                assert_ne!(findings(store), [""; 0], "{at}");
            }
            Err(DatabaseError::Store(StoreError::Engine { .. })) => {}
            Err(error) => panic!("{at}: {error}"),
        }
    }
    true
}

#[test]
fn a_flipped_byte_in_the_log_is_reported_or_makes_no_difference() {
    let dir = store();
    let expected = everything(dir.path()).unwrap();
    assert_eq!(findings(dir.path()), [""; 0]);
    let log = log(dir.path());
    let length = usize::try_from(fs::metadata(&log).unwrap().len()).unwrap();
    let file = log.strip_prefix(dir.path()).unwrap();
    let number = if std::env::var_os("FNSTORE_FULL_DAMAGE").is_some() { 400 } else { 40 };
    let bits = [0x01, 0x20, 0x80].into_iter().cycle();
    let places = (0..length).step_by(length / number).zip(bits);
    let flip = |(place, bits)| Flip { file: file.to_owned(), place, length, bits };
    let flips: Vec<Flip> = places.map(flip).collect();
    let reported = AtomicUsize::new(0);
    each(dir.path(), &flips, |store, at| {
        let is_reported = assert_nothing_is_hidden(store, &expected, &at.to_string());
        reported.fetch_add(usize::from(is_reported), Ordering::Relaxed);
    });
    let (flips, reported) = (flips.len(), reported.into_inner());
    println!("{flips} bytes of the log flipped, {reported} of them reported");
    assert!(reported * 2 > flips, "{reported} of {flips}: no commit was hit");
}

#[test]
fn a_log_that_is_cut_short_or_gone_is_reported() {
    let dir = store();
    let expected = everything(dir.path()).unwrap();
    let log = log(dir.path());
    let whole = fs::read(&log).unwrap();
    for part in [0, 3, 7] {
        fs::write(&log, &whole[..whole.len() * part / 8]).unwrap();
        let at = format!("{part} eighths of the log");
        assert!(assert_nothing_is_hidden(dir.path(), &expected, &at), "{at}");
        assert_eq!(findings(dir.path()), ["C-commits-lost"], "{at}");
    }
    fs::remove_file(&log).unwrap();
    assert!(assert_nothing_is_hidden(dir.path(), &expected, "no log"));
}

#[test]
fn what_is_left_is_opened_once_someone_says_so() {
    let dir = store();
    let all = everything(dir.path()).unwrap().len();
    let log = log(dir.path());
    let whole = fs::read(&log).unwrap();
    fs::write(&log, &whole[..whole.len() / 2]).unwrap();
    let error = everything(dir.path()).unwrap_err();
    assert!(error.contains("was acknowledged: the log that held the commits"), "{error}");
    assert!(
        error.contains("restore a backup") && error.contains("build the index anew"),
        "{error}"
    );
    Database::reindex(dir.path()).unwrap();
    assert_eq!(findings(dir.path()), [""; 0]);
    let left = everything(dir.path()).unwrap().len();
    assert!(left < all, "{left} of {all}");
    drop(Database::open_existing_writer(dir.path()).unwrap());
}

/// A commit that was killed before it was synced leaves half a record.
#[test]
fn a_record_that_was_never_acknowledged_is_dropped() {
    let dir = store();
    let expected = everything(dir.path()).unwrap();
    let log = log(dir.path());
    let whole = fs::read(&log).unwrap();
    // The beginning of a long record: checksum, length 0x7f00, kind `full`, and some of its bytes.
    let mut torn = vec![1, 2, 3, 4, 0x00, 0x7f, 1];
    torn.extend([7; 100]);
    fs::write(&log, [whole, torn].concat()).unwrap();
    assert!(!assert_nothing_is_hidden(dir.path(), &expected, "half a record"));
}
