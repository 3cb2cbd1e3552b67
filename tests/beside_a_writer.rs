//! Readers beside a writer, and an index that lags behind its store.

use fnstore::database::{Database, DatabaseError, Write};
use fnstore::model::{AnnotationSet, AnnotationSetId, IdSpace, Sentence, SentenceId};
use fnstore::store::StoreError;

use crate::mini::{answers, copy, database};

/// A set like one that is there, on a new sentence with a new trigger.
fn another(database: &Database, number: u64, trigger: &str) -> Write {
    let like = answers(database, "id=x7020").remove(0);
    let id = SentenceId::new(IdSpace::Imported, number);
    let text = format!("They {trigger} it .");
    let end = 5 + u32::try_from(trigger.len()).unwrap();
    let set = AnnotationSet {
        id: AnnotationSetId::new(IdSpace::Imported, number),
        xml_id: None,
        sentence: id,
        targets: vec![fnstore::model::Span::new(5, end)],
        layers: Vec::new(),
        provenance: fnstore::model::Provenance::User,
        ..like.set
    };
    let sentence = Sentence { id, xml_id: None, text, occurrences: Vec::new() };
    Write { sentences: vec![sentence], sets: vec![set], ..Write::default() }
}

#[test]
fn a_reader_sees_one_view_until_it_is_refreshed() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, report) = database(dir.path());
    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(answers(&reader, "trigger=perused").len(), 0);
    writer.write(report.release.id, &another(&writer, 1, "perused")).unwrap();
    assert_eq!(answers(&reader, "frame=Checking origin=user").len(), 0, "the view is as it was");
    reader.refresh().unwrap();
    assert_eq!(answers(&reader, "frame=Checking origin=user").len(), 1);
    assert_eq!(answers(&reader, "trigger=perused").len(), 1);
    assert_eq!(answers(&Database::open(dir.path()).unwrap(), "trigger=perused").len(), 1);
}

#[test]
fn a_reader_cannot_write_and_a_second_writer_is_told_who_the_first_is() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, report) = database(dir.path());
    let reader = Database::open(dir.path()).unwrap();
    let write = another(&writer, 1, "perused");
    let error = reader.write(report.release.id, &write).unwrap_err();
    assert!(matches!(error, DatabaseError::ReadOnly { .. }), "{error}");
    let Err(error) = Database::open_writer(dir.path()) else { panic!("two writers") };
    let DatabaseError::Store(StoreError::Locked { holder, .. }) = &error else { panic!("{error}") };
    assert_eq!(holder.pid, std::process::id());
}

#[test]
fn an_index_that_lags_behind_shows_no_wrong_answer_and_the_next_writer_mends_it() {
    let dir = tempfile::tempdir().unwrap();
    let old_index = tempfile::tempdir().unwrap();
    let release = {
        let (writer, report) = database(dir.path());
        copy(&dir.path().join("index"), old_index.path());
        writer.write(report.release.id, &another(&writer, 1, "perused")).unwrap();
        report.release.id
    };
    // As if the process had died between the store's commit and the index's.
    std::fs::remove_dir_all(dir.path().join("index")).unwrap();
    copy(old_index.path(), &dir.path().join("index"));
    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(answers(&reader, "trigger=perused").len(), 1);
    assert_eq!(answers(&reader, "trigger=checked or trigger=perused").len(), {
        answers(&reader, "trigger~\"^(checked|perused)$\"").len()
    });
    assert!(!reader.has_trigger("perused").unwrap(), "the index itself does not know it");
    drop(reader);
    let writer = Database::open_writer(dir.path()).unwrap();
    assert!(writer.has_trigger("perused").unwrap(), "the writer has replayed what was missing");
    assert_eq!(
        writer
            .store()
            .sets_of_sentence(release, SentenceId::new(IdSpace::Imported, 1))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn an_index_that_is_gone_is_built_again_and_queries_do_without_it_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let before = {
        let (writer, _) = database(dir.path());
        answers(&writer, "trigger=check*").len()
    };
    assert!(before > 0);
    std::fs::remove_dir_all(dir.path().join("index")).unwrap();
    assert_eq!(answers(&Database::open(dir.path()).unwrap(), "trigger=check*").len(), before);
    let writer = Database::open_writer(dir.path()).unwrap();
    assert!(writer.has_trigger("checked").unwrap());
    assert_eq!(answers(&writer, "trigger=check*").len(), before);
}

#[test]
fn a_store_that_is_not_there_is_said_not_to_be() {
    let dir = tempfile::tempdir().unwrap();
    let nowhere = dir.path().join("nowhere");
    for opened in [Database::open(&nowhere), Database::open_existing_writer(&nowhere)] {
        let Err(error) = opened else { panic!("there is no store") };
        assert!(matches!(error, DatabaseError::Store(StoreError::Absent { .. })), "{error}");
    }
    assert!(!nowhere.exists(), "looking for a store makes none");
}
