//! The index is derived: lost, behind or of a store that is gone, it is repaired by the next
//! writer, and until then no query answers wrongly.

use std::fs;

use fnstore::database::{Database, Write};
use fnstore::index;
use fnstore::internals::WithStore as _;
use fnstore::store::{Action, SetLocation, Subject};

use crate::{generated, mini};

const QUERIES: [&str; 6] = [
    "trigger=checked",
    "trigger=look*",
    "trigger=*ed origin=exemplar",
    "trigger=mended or trigger=verified",
    "text=\"They never mended the fence . \"",
    "trigger=verified",
];

fn all_answers(database: &Database) -> Vec<Vec<String>> {
    QUERIES.iter().map(|query| mini::answers(database, query)).collect()
}

#[test]
fn a_lost_index_is_rebuilt_by_the_next_writer() {
    let (dir, database, _) = mini::imported();
    let expected = all_answers(&database);
    assert_eq!(expected[0].len(), 7);
    drop(database);
    fs::remove_dir_all(dir.path().join("index")).unwrap();

    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(all_answers(&reader), expected, "readers scan meanwhile");
    assert!(!dir.path().join("index").exists(), "readers write nothing");

    let writer = Database::open_writer(dir.path()).unwrap();
    assert_eq!(all_answers(&writer), expected);
    let stamp = index::stamp(&dir.path().join("index")).unwrap().unwrap();
    assert_eq!(stamp.revision, writer.store().revision().unwrap());
    drop(writer);
    assert_eq!(all_answers(&Database::open(dir.path()).unwrap()), expected);
}

/// The situation after a writer was killed between the store's commit and the index's: the index
/// of before the write beside the store of after it.
#[test]
fn an_index_that_is_behind_answers_rightly_and_is_repaired() {
    let (dir, database, report) = mini::imported();
    drop(database);
    let old = tempfile::tempdir().unwrap();
    mini::copy(&dir.path().join("index"), &old.path().join("index"));

    let database = Database::open_writer(dir.path()).unwrap();
    generated::write(&database, report.release.id);
    let expected = all_answers(&database);
    assert_eq!(expected[5].len(), 1, "the generated set");
    let revision = database.store().revision().unwrap();
    drop(database);
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    mini::copy(&old.path().join("index"), &dir.path().join("index"));
    let stamp = index::stamp(&dir.path().join("index")).unwrap().unwrap();
    assert!(stamp.revision < revision);

    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(all_answers(&reader), expected);
    drop(reader);
    let writer = Database::open_writer(dir.path()).unwrap();
    assert_eq!(all_answers(&writer), expected);
    let stamp = index::stamp(&dir.path().join("index")).unwrap().unwrap();
    assert_eq!(stamp.revision, revision);
}

#[test]
fn an_index_without_the_last_release_answers_rightly_and_is_repaired() {
    let dir = tempfile::tempdir().unwrap();
    drop(Database::open_writer(dir.path()).unwrap());
    let old = tempfile::tempdir().unwrap();
    mini::copy(&dir.path().join("index"), &old.path().join("index"));
    let database = Database::open_writer(dir.path()).unwrap();
    mini::import(&database, &mini::framenet()).unwrap();
    let expected = all_answers(&database);
    drop(database);
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    mini::copy(&old.path().join("index"), &dir.path().join("index"));
    assert_eq!(all_answers(&Database::open(dir.path()).unwrap()), expected);
    assert_eq!(all_answers(&Database::open_writer(dir.path()).unwrap()), expected);
}

#[test]
fn sets_added_to_a_release_that_the_index_lacks_have_one_entry_each() {
    let dir = tempfile::tempdir().unwrap();
    drop(Database::open_writer(dir.path()).unwrap());
    let old = tempfile::tempdir().unwrap();
    mini::copy(&dir.path().join("index"), &old.path().join("index"));
    let database = Database::open_writer(dir.path()).unwrap();
    let release = mini::import(&database, &mini::framenet()).unwrap().release.id;
    generated::write(&database, release);
    let sets = database.store().annotation_sets(release).unwrap().count() as u64;
    drop(database);
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    mini::copy(&old.path().join("index"), &dir.path().join("index"));
    Database::open_writer(dir.path()).unwrap().close().unwrap();
    let repaired = index::IndexReader::open(&dir.path().join("index")).unwrap().unwrap();
    assert_eq!(repaired.entries(), sets);
}

#[test]
fn an_index_of_a_store_that_is_gone_is_built_anew() {
    let (dir, database, report) = mini::imported();
    for _ in 0..3 {
        generated::write(&database, report.release.id);
    }
    drop(database);
    let other = tempfile::tempdir().unwrap();
    let database = Database::open_writer(other.path()).unwrap();
    mini::import(&database, &mini::framenet()).unwrap();
    let expected = all_answers(&database);
    drop(database);
    fs::remove_dir_all(other.path().join("index")).unwrap();
    mini::copy(&dir.path().join("index"), &other.path().join("index"));
    let writer = Database::open_writer(other.path()).unwrap();
    assert_eq!(all_answers(&writer), expected);
    let stamp = index::stamp(&other.path().join("index")).unwrap().unwrap();
    assert_eq!(stamp.revision, writer.store().revision().unwrap());
}

/// A recipe is a commit of the store alone; what is written after it is indexed all the same.
#[test]
fn a_commit_that_the_index_knows_nothing_of_hides_no_set() {
    let (dir, database, report) = mini::imported();
    let revision = database.store().revision().unwrap();
    // Rows that reached the store and not the index, as when the disk was full for the index.
    let set = generated::sets(&database, report.release.id).remove(0);
    let mut batch = database.store().batch(report.release.id);
    batch.put_sentence(&set.0).unwrap();
    batch.put_annotation_set(&set.1).unwrap();
    let subject = Subject::Set(set.1.id, SetLocation::of(&set.1));
    batch.record(Action::Added, &subject);
    database.store().commit(batch).unwrap();
    assert_eq!(mini::answers(&database, "trigger=verified").len(), 1, "laid over the hits");
    // The next write brings both into the index.
    database.write(report.release.id, &Write::default()).unwrap();
    let stamp = index::stamp(&dir.path().join("index")).unwrap().unwrap();
    assert_eq!(stamp.revision, revision + 2);
    assert_eq!(mini::answers(&database, "trigger=verified").len(), 1);
    drop(database);
    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(mini::answers(&reader, "trigger=verified").len(), 1);
}

#[test]
fn an_index_that_lost_a_segment_answers_rightly_and_is_repaired() {
    let (dir, database, _) = mini::imported();
    let expected = all_answers(&database);
    drop(database);
    let index = dir.path().join("index");
    let segment = fs::read_dir(&index).unwrap().map(|entry| entry.unwrap().path());
    let segment = segment.filter(|path| path.extension().is_some_and(|kind| kind == "idx"));
    fs::remove_file(segment.last().unwrap()).unwrap();

    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(all_answers(&reader), expected, "readers scan meanwhile");
    let writer = Database::open_writer(dir.path()).unwrap();
    assert_eq!(all_answers(&writer), expected);
    drop(writer);
    let repaired = index::IndexReader::open(&index).unwrap().unwrap();
    let found = repaired.search(&index::Filter::Trigger("checked".to_owned())).unwrap();
    assert_eq!(found.unwrap().len(), expected[0].len());
}

/// What is in the store is never called failed: a full disk may stop the index after the commit.
#[test]
fn an_index_that_cannot_follow_a_commit_is_told_and_made_up_for() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    assert!(database.take_index_lag().is_none());
    let expected = mini::answers(&database, "trigger=checked");
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    let revision = generated::write(&database, release);
    assert_eq!(database.store().revision().unwrap(), revision);
    let failure = database.take_index_lag().expect("the index is gone").to_string();
    assert!(failure.contains("index"), "{failure}");
    assert!(database.take_index_lag().is_none(), "told once");
    assert_eq!(mini::answers(&database, "trigger=checked"), expected);
    assert_eq!(mini::answers(&database, "trigger=vetted").len(), 1);
    let mut edits = database.transaction(release).unwrap();
    edits.add_sentence(crate::edits::new_sentence("It was checked .")).unwrap();
    edits.commit().unwrap();
    assert!(database.take_index_lag().is_none(), "the next commit builds it anew");
    drop(database);
    let writer = Database::open_writer(dir.path()).unwrap();
    assert_eq!(mini::answers(&writer, "trigger=vetted").len(), 1);
    let stamp = index::stamp(&dir.path().join("index")).unwrap().unwrap();
    assert_eq!(stamp.revision, writer.store().revision().unwrap());
}
