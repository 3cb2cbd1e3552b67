//! Snapshots: one state, however many questions, whatever is written meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};

use fnstore::database::{Database, DatabaseError};
use fnstore::edit::Removal;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, ReleaseId};

use crate::{edits, mini};

/// Adds a pair of sets, one of a word, one of another; or removes the pair that was added first.
fn write_pair(database: &Database, release: ReleaseId, step: usize) {
    let mut transaction = database.transaction(release).unwrap();
    let mut pairs = mini::answers(database, "trigger=paired").into_iter();
    if step % 3 == 2
        && let Some(first) = pairs.next()
    {
        let first = first.rsplit_once(' ').unwrap().1;
        let first = AnnotationSetId::parse(first).unwrap();
        let sentence = transaction.annotation_set(first).unwrap().unwrap().sentence;
        transaction.remove_sentence(sentence, Removal::Cascade).unwrap();
    } else {
        let text = "They paired and coupled it .";
        let sentence = transaction.add_sentence(edits::new_sentence(text)).unwrap();
        for target in [(5, 11), (16, 23)] {
            transaction.add_annotation_set(edits::new_set(sentence, target, &[])).unwrap();
        }
    }
    transaction.commit().unwrap();
}

/// The questions of one state agree with each other: pairs are whole by index, by key and by scan.
fn assert_consistent(snapshot: &Database) -> usize {
    let count = |query: &str| mini::answers(snapshot, query).len();
    let paired = count("trigger=paired");
    assert_eq!(count("trigger=coupled"), paired);
    assert_eq!(count("origin=user"), 2 * paired);
    assert_eq!(count("lu=check.v trigger=coupled"), paired);
    assert_eq!(count("not not trigger=paired"), paired);
    paired
}

#[test]
fn a_snapshot_of_a_writer_or_a_reader_stays_as_it_is() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    write_pair(&database, release, 0);
    let reader = Database::open(dir.path()).unwrap();
    let snapshots = [database.snapshot().unwrap(), reader.snapshot().unwrap()];
    let content = mini::content(&database);
    let revision = database.store().revision().unwrap();
    for step in 0..6 {
        write_pair(&database, release, step);
    }
    let again = snapshots[0].snapshot().unwrap();
    assert_eq!(again.store().revision().unwrap(), revision + 6, "a snapshot is of its moment");
    for snapshot in snapshots {
        snapshot.refresh().unwrap();
        assert_eq!(assert_consistent(&snapshot), 1);
        assert_eq!(mini::content(&snapshot), content);
        assert_eq!(snapshot.store().revision().unwrap(), revision);
        let refused = snapshot.transaction(release).err().unwrap();
        assert!(matches!(refused, DatabaseError::ReadOnly { .. }), "{refused}");
    }
    assert_eq!(assert_consistent(&again), 3);
}

#[test]
fn beside_a_busy_writer_every_snapshot_is_one_state() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    let done = AtomicBool::new(false);
    let mut seen = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for step in 0..60 {
                write_pair(&database, release, step);
            }
            done.store(true, Ordering::Relaxed);
        });
        let reader = Database::open(dir.path()).unwrap();
        while !done.load(Ordering::Relaxed) || seen.is_empty() {
            let snapshot = reader.snapshot().unwrap();
            let revision = snapshot.store().revision().unwrap();
            assert_consistent(&snapshot);
            assert_eq!(snapshot.store().revision().unwrap(), revision);
            seen.push(revision);
        }
    });
    assert!(seen.is_sorted(), "{seen:?}");
    assert_eq!(assert_consistent(&database.snapshot().unwrap()), 20);
}
