//! Opening a store: again, while another process writes it, of a newer format, and where there is
//! none.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use fnstore::database::{Database, DatabaseError};
use fnstore::store::{FORMAT, Store, StoreError};
use rocksdb::{DB, Options};

use crate::mini;

fn store_error(outcome: Result<Database, DatabaseError>) -> StoreError {
    match outcome {
        Err(DatabaseError::Store(error)) => error,
        Err(error) => panic!("not the store's: {error}"),
        Ok(_) => panic!("the store was opened"),
    }
}

#[test]
fn a_store_that_is_opened_again_holds_the_same() {
    let (dir, database, _) = mini::imported();
    let (content, found) = (mini::content(&database), mini::answers(&database, "trigger=look*"));
    assert_eq!(found.len(), 3);
    drop(database);
    for _ in 0..2 {
        let writer = Database::open_existing_writer(dir.path()).unwrap();
        assert_eq!(mini::content(&writer), content);
        drop(writer);
        let reader = Database::open(dir.path()).unwrap();
        assert_eq!(mini::content(&reader), content);
        assert_eq!(mini::answers(&reader, "trigger=look*"), found);
    }
}

#[test]
fn where_no_store_is_only_a_new_writer_makes_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("none");
    for outcome in [Database::open(&path), Database::open_existing_writer(&path)] {
        let error = store_error(outcome);
        assert!(matches!(error, StoreError::Absent { .. }), "{error}");
        assert!(error.to_string().ends_with("; make one, or name another (S-absent)"), "{error}");
        assert!(!path.exists(), "looking made nothing");
    }
    drop(Database::open_writer(&path).unwrap());
    assert!(Store::exists(&path));
}

const LOCKED_STORE: &str = "FNSTORE_TEST_LOCKED_STORE";

#[test]
#[ignore = "the process that `a_writer_in_another_process_is_named` starts"]
fn hold_the_store_until_input_ends() {
    let Some(store) = std::env::var_os(LOCKED_STORE) else { return };
    let _database = Database::open_writer(store.as_ref()).unwrap();
    let mut out = std::io::stdout();
    out.write_all(b"\nholding\n").unwrap();
    out.flush().unwrap();
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// A process that holds the store, and the lines that it prints.
fn holder(store: &Path) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("store_opening::hold_the_store_until_input_ends")
        .env(LOCKED_STORE, store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().map_while(Result::ok).any(|line| line == "holding"));
    (other, lines)
}

/// The lock is the system's: what a killed holder leaves of its name keeps nobody out.
#[test]
fn a_killed_writer_keeps_nobody_out() {
    let (dir, database, _) = mini::imported();
    drop(database);
    let (mut other, _lines) = holder(dir.path());
    other.kill().unwrap();
    other.wait().unwrap();
    let lock = std::fs::read_to_string(dir.path().join("writer.lock")).unwrap();
    assert!(lock.contains(&format!("\"pid\":{}", other.id())), "its name stays: {lock}");
    let writer = Database::open_writer(dir.path()).unwrap();
    assert_eq!(mini::answers(&writer, "").len(), 42);
    let lock = std::fs::read_to_string(dir.path().join("writer.lock")).unwrap();
    assert!(lock.contains(&format!("\"pid\":{}", std::process::id())), "{lock}");
}

#[test]
fn a_writer_in_another_process_is_named() {
    let (dir, database, _) = mini::imported();
    let content = mini::content(&database);
    drop(database);
    let (mut other, lines) = holder(dir.path());

    let error = store_error(Database::open_writer(dir.path()));
    let StoreError::Locked { holder, .. } = &error else { panic!("{error}") };
    assert_eq!(holder.pid, other.id());
    assert!(error.to_string().contains(&format!("process {}", other.id())), "{error}");
    // Readers need no lock.
    assert_eq!(mini::content(&Database::open(dir.path()).unwrap()), content);

    drop(other.stdin.take());
    // To its end, or the test runner over there fails to print.
    lines.for_each(drop);
    assert!(other.wait().unwrap().success());
    Database::open_writer(dir.path()).unwrap();
}

/// Overwrites a row of `meta`, as another version of fnstore would have written it.
pub(crate) fn put_meta(dir: &Path, key: &str, value: &[u8]) {
    let options = Options::default();
    let db = dir.join("db");
    let families = DB::list_cf(&options, &db).unwrap();
    let db = DB::open_cf(&options, &db, families).unwrap();
    db.put_cf(db.cf_handle("meta").unwrap(), key, value).unwrap();
}

fn meta(dir: &Path, key: &str) -> Vec<u8> {
    let options = Options::default();
    let db = dir.join("db");
    let families = DB::list_cf(&options, &db).unwrap();
    let db = DB::open_cf_for_read_only(&options, &db, families, false).unwrap();
    db.get_cf(db.cf_handle("meta").unwrap(), key).unwrap().unwrap()
}

/// Names and sizes of the files that hold a store.
pub(crate) fn files(dir: &Path) -> Vec<(std::ffi::OsString, u64)> {
    let entries = std::fs::read_dir(dir.join("db")).unwrap().map(Result::unwrap);
    let mut files: Vec<_> =
        entries.map(|file| (file.file_name(), file.metadata().unwrap().len())).collect();
    files.sort();
    files
}

#[test]
fn a_store_of_a_newer_format_is_refused_and_left_alone() {
    let (dir, database, _) = mini::imported();
    drop(database);
    put_meta(dir.path(), "format", &[0, 3, 0, 1]);
    put_meta(dir.path(), "written_by", b"9.1.0");
    let before = files(dir.path());
    for outcome in [Database::open(dir.path()), Database::open_writer(dir.path())] {
        let error = store_error(outcome);
        assert!(matches!(error, StoreError::Format { .. }), "{error}");
        let message = error.to_string();
        for part in ["format 3.1", "format 2.0", "use fnstore 9.1.0 or newer"] {
            assert!(message.contains(part), "{message}");
        }
    }
    assert_eq!(files(dir.path()), before, "no file of it was touched");
    assert_eq!(meta(dir.path(), "format"), [0, 3, 0, 1]);
    assert_eq!(meta(dir.path(), "written_by"), b"9.1.0");
}

#[test]
fn a_newer_minor_format_is_read_and_stays_one() {
    let (dir, database, _) = mini::imported();
    let content = mini::content(&database);
    drop(database);
    let newer = [FORMAT.0.to_be_bytes(), (FORMAT.1 + 3).to_be_bytes()].concat();
    put_meta(dir.path(), "format", &newer);
    assert_eq!(mini::content(&Database::open(dir.path()).unwrap()), content);
    drop(Database::open_writer(dir.path()).unwrap());
    assert_eq!(meta(dir.path(), "format"), newer, "an older writer does not claim the format");
}

#[test]
fn a_store_whose_making_was_cut_short_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    drop(DB::open_cf(&options, dir.path().join("db"), ["meta", "frame"]).unwrap());
    let error = store_error(Database::open(dir.path()));
    assert!(matches!(error, StoreError::Absent { .. }), "{error}");
    let database = Database::open_writer(dir.path()).unwrap();
    mini::import(&database, &mini::framenet()).unwrap();
    assert_eq!(mini::answers(&database, "").len(), 42);
}
