//! Edits through a reader's handle: the editor is opened once for several, others write when its
//! time is over, and a process that ends in between loses nothing.
//!
//! RocksDB begins another manifest each time it is opened for writing, so its name tells whether it
//! was.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fnstore::Database;
use fnstore::database::DatabaseError;
use fnstore::edit::Removal;
use fnstore::model::{Coded as _, ErrorKind, FrameId, LexUnit, LuId};
use fnstore::upkeep::CheckOptions;

use crate::mini;

/// Longer than any test runs.
const LONG: Duration = Duration::from_secs(3600);

/// A frame of the mini release.
const CHECKING: FrameId = FrameId(102);

fn add(reader: &Database, name: &str) -> Result<u64, DatabaseError> {
    reader.edit(|editor| {
        let mut edits = editor.transaction("mini-framenet")?;
        edits.add_lexunit(LexUnit::new(CHECKING, name))?;
        edits.commit()
    })
}

fn manifest(store: &Path) -> String {
    std::fs::read_to_string(store.join("db/CURRENT")).unwrap()
}

fn has(reader: &Database, name: &str) -> bool {
    reader.lexicon("mini-framenet").unwrap().lus_by_name(name).unwrap().len() == 1
}

fn imported() -> (tempfile::TempDir, Database) {
    let (dir, writer, _) = mini::imported();
    writer.close().unwrap();
    let reader = Database::open(dir.path()).unwrap();
    (dir, reader)
}

#[test]
fn two_saves_in_a_row_open_the_writer_once_and_the_reader_sees_both() {
    let (dir, reader) = imported();
    reader.keep_writer(LONG);
    add(&reader, "peruse.v").unwrap();
    let opened = manifest(dir.path());
    assert!(has(&reader, "peruse.v"));
    add(&reader, "con.v").unwrap();
    assert_eq!(manifest(dir.path()), opened);
    assert!(has(&reader, "con.v"));
    let other = Database::open(dir.path()).unwrap();
    assert!(has(&other, "con.v") && other.revision().unwrap() == reader.revision().unwrap());
}

#[test]
fn an_editor_that_is_not_kept_closes_with_its_edit() {
    let (dir, reader) = imported();
    add(&reader, "peruse.v").unwrap();
    let opened = manifest(dir.path());
    drop(Database::open_editor(dir.path()).unwrap());
    assert_ne!(manifest(dir.path()), opened, "an opening shows");
    // Kept, until it is told otherwise, or its handle goes.
    reader.keep_writer(LONG);
    add(&reader, "con.v").unwrap();
    let refused = Database::open_editor(dir.path()).err().unwrap();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Locked, Some("S-locked")));
    reader.keep_writer(Duration::ZERO);
    drop(Database::open_editor(dir.path()).unwrap());
    reader.keep_writer(LONG);
    add(&reader, "vet.v").unwrap();
    drop(reader);
    drop(Database::open_editor(dir.path()).unwrap());
}

#[test]
fn another_writes_when_the_time_is_over_and_the_next_edit_builds_on_it() {
    let (dir, reader) = imported();
    reader.keep_writer(Duration::from_millis(20));
    add(&reader, "peruse.v").unwrap();
    let other = loop {
        match Database::open_editor(dir.path()) {
            Ok(other) => break other,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Locked, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let refused = add(&reader, "con.v").unwrap_err();
    assert_eq!(refused.code(), Some("S-locked"));
    let added = add(&other, "vet.v").unwrap();
    drop(other);
    let refused = add(&reader, "vet.v").unwrap_err();
    assert!(refused.to_string().contains("vet.v"), "{refused}");
    assert_eq!(add(&reader, "con.v").unwrap(), added + 1);
    assert!(has(&reader, "con.v") && has(&reader, "vet.v"));
}

#[test]
fn an_edit_that_fails_leaves_the_store_and_closes_the_editor() {
    let (dir, reader) = imported();
    reader.keep_writer(LONG);
    let before = reader.revision().unwrap();
    let failed: Result<u64, DatabaseError> = reader.edit(|editor| {
        let mut edits = editor.transaction("mini-framenet")?;
        edits.remove_lexunit(CHECKING, LuId(1001), Removal::Cascade)?;
        edits.add_lexunit(LexUnit::new(CHECKING, ""))?;
        edits.commit()
    });
    assert_eq!(failed.unwrap_err().code(), Some("E-value"));
    assert_eq!(reader.revision().unwrap(), before);
    drop(Database::open_editor(dir.path()).unwrap());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        reader.edit(|_| -> Result<(), DatabaseError> { panic!("of the caller") })
    }));
    assert!(panicked.is_err());
    drop(Database::open_editor(dir.path()).unwrap());
    assert_eq!(add(&reader, "peruse.v").unwrap(), before + 1);
}

#[test]
fn threads_share_the_editor_and_an_edit_may_stand_in_another() {
    let (_dir, reader) = imported();
    let before = reader.revision().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let reader = &reader;
            scope.spawn(move || add(reader, &format!("word{thread}.v")).unwrap());
        }
    });
    assert_eq!(reader.revision().unwrap(), before + 4);
    reader.edit(|_| add(&reader, "peruse.v")).unwrap();
    assert!((0..4).all(|thread| has(&reader, &format!("word{thread}.v"))));
    assert!(has(&reader, "peruse.v"));
}

#[test]
fn threads_that_share_the_editor_sign_by_names_of_their_own() {
    let (_dir, reader) = imported();
    reader.set_author("the tool");
    reader.keep_writer(LONG);
    std::thread::scope(|scope| {
        for name in ["ada", "kim", "lee"] {
            let reader = &reader;
            scope.spawn(move || {
                for time in 0..3 {
                    let edited: Result<u64, DatabaseError> = reader.edit(|editor| {
                        let mut edits = editor.transaction("mini-framenet")?;
                        edits.sign(name);
                        edits.explain(name);
                        edits.add_lexunit(LexUnit::new(CHECKING, &format!("{name}{time}.v")))?;
                        edits.commit()
                    });
                    edited.unwrap();
                }
            });
        }
    });
    let commits: Vec<_> = reader.commits().unwrap().take(9).map(Result::unwrap).collect();
    assert!(commits.iter().all(|commit| commit.by == commit.note), "{commits:?}");
    add(&reader, "peruse.v").unwrap();
    assert_eq!(reader.commits().unwrap().next().unwrap().unwrap().by, "the tool");
}

#[test]
fn a_snapshot_and_a_replaced_store_take_no_edits() {
    let (dir, reader) = imported();
    assert!(matches!(
        add(&reader.snapshot().unwrap(), "peruse.v"),
        Err(DatabaseError::ReadOnly { .. })
    ));
    let backup = tempfile::tempdir().unwrap();
    let backup = backup.path().join("backup");
    reader.backup(&backup).unwrap();
    fnstore::upkeep::restore(&backup, dir.path()).unwrap();
    assert_eq!(add(&reader, "peruse.v").unwrap_err().kind(), ErrorKind::Replaced);
}

const STORE: &str = "FNSTORE_TEST_KEPT_WRITER";

#[test]
#[ignore = "the process that the test below starts"]
fn edit_and_abort() {
    let Some(store) = std::env::var_os(STORE) else { return };
    let reader = Database::open(store.as_ref()).unwrap();
    reader.keep_writer(LONG);
    for name in ["peruse.v", "con.v"] {
        add(&reader, name).unwrap();
    }
    std::process::abort();
}

#[test]
fn a_process_that_ends_between_two_saves_loses_nothing() {
    let (dir, reader) = imported();
    let before = reader.revision().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "kept_writer::edit_and_abort", "--ignored"]).env(STORE, dir.path());
    assert!(!child.output().unwrap().status.success());
    reader.refresh().unwrap();
    assert_eq!(reader.revision().unwrap(), before + 2);
    assert!(has(&reader, "peruse.v") && has(&reader, "con.v"));
    assert_eq!(add(&reader, "vet.v").unwrap(), before + 3);
    drop(reader);
    let writer = Database::open_existing_writer(dir.path()).unwrap();
    let report = writer.check(CheckOptions::default(), &mut |_| {}).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}
