//! Waiting for a commit of another handle: it is noticed soon, a time without one ends, and what is
//! wrong with a revision is told at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fnstore::database::{Database, DatabaseError};
use fnstore::internals::WithStore as _;
use fnstore::model::{FrameId, LexUnit, LuId};
use fnstore::store::StoreError;

use crate::mini;

#[test]
fn a_commit_ends_the_wait_and_a_quiet_store_its_time() {
    let (dir, writer, report) = mini::imported();
    let reader = Database::open(dir.path()).unwrap();
    let last = reader.store().revision().unwrap();
    assert!(reader.wait_for_changes(0, Duration::ZERO).unwrap(), "the import");
    let begun = Instant::now();
    assert!(!reader.wait_for_changes(last, Duration::ZERO).unwrap());
    assert!(!reader.wait_for_changes(last, Duration::from_millis(60)).unwrap());
    assert!(begun.elapsed() >= Duration::from_millis(60));
    let waiter = std::thread::spawn(move || {
        let is_any = reader.wait_for_changes(last, Duration::from_secs(60)).unwrap();
        (is_any, reader.changes(last).unwrap().count(), Instant::now())
    });
    std::thread::sleep(Duration::from_millis(30));
    let mut edits = writer.transaction(report.release.id).unwrap();
    edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), "peruse.v")).unwrap();
    edits.commit().unwrap();
    let committed = Instant::now();
    let (is_any, changes, heard) = waiter.join().unwrap();
    assert!(is_any && changes > 0);
    let late = heard.saturating_duration_since(committed);
    assert!(late < Duration::from_secs(2), "{late:?}");
    assert!(writer.wait_for_changes(last, Duration::from_secs(60)).unwrap(), "the writer's own");
}

#[test]
fn a_revision_that_is_not_there_yet_is_refused() {
    let (dir, _writer, _) = mini::imported();
    let reader = Database::open(dir.path()).unwrap();
    let error = reader.wait_for_changes(9999, Duration::from_secs(60)).unwrap_err();
    assert!(matches!(error, DatabaseError::Store(StoreError::BeyondEnd { .. })), "{error}");
}

/// Files of a store that this process has open although they are removed, as views of before are.
#[cfg(target_os = "linux")]
fn open_and_removed(store: &std::path::Path) -> usize {
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let files = open.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    let is_ours = |file: &std::path::PathBuf| file.starts_with(store);
    files.filter(is_ours).filter(|file| file.to_string_lossy().ends_with("(deleted)")).count()
}

#[test]
#[cfg(target_os = "linux")]
fn a_shared_reader_stays_open_and_closes_what_no_answers_are_read_from() {
    let (dir, writer, report) = mini::imported();
    let store = dir.path().canonicalize().unwrap();
    let reader = Arc::new(Database::open(&store).unwrap());
    let mut answers = reader.query(&"".parse().unwrap()).unwrap();
    let before = answers.next().unwrap().unwrap();
    let mut most = 0;
    for number in 0..12 {
        let mut edits = writer.transaction(report.release.id).unwrap();
        let name = format!("peruse{number}.v");
        edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), &name)).unwrap();
        edits.commit().unwrap();
        // Every family gets another table, and the one of before goes.
        writer.store().compact().unwrap();
        reader.refresh().unwrap();
        most = most.max(open_and_removed(&store));
    }
    let shown = reader.lexicon("mini-framenet").unwrap();
    assert_eq!(shown.lus_by_name("peruse11.v").unwrap().len(), 1);
    let held = open_and_removed(&store);
    assert!(0 < held && held <= most, "the tables of the answers under way: {held} of {most}");
    assert!(answers.all(|answer| answer.is_ok_and(|answer| answer.set.id != before.set.id)));
    drop(answers);
    assert_eq!(open_and_removed(&store), 0);
}
