//! Readers beside a live writer: one view until refreshed, never half a write, never the lock.

use fnstore::database::{Database, DatabaseError, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::RecipeId;
use fnstore::store::StoreError;

use crate::{generated, mini};

#[test]
fn a_reader_sees_a_write_once_it_is_refreshed() {
    let (dir, writer, report) = mini::imported();
    let reader = Database::open(dir.path()).unwrap();
    let before = mini::content(&reader);
    let revision = reader.store().revision().unwrap();
    assert_eq!(mini::answers(&reader, "frame=Checking").len(), 27);

    let written = generated::write(&writer, report.release.id);
    assert_eq!(reader.store().revision().unwrap(), revision, "one view until refreshed");
    assert_eq!(mini::content(&reader), before);
    assert_eq!(mini::answers(&reader, "frame=Checking").len(), 29, "a query looks for what is new");

    reader.refresh().unwrap();
    assert_eq!(reader.store().revision().unwrap(), written);
    assert_eq!(mini::content(&reader), mini::content(&writer));
    assert_eq!(mini::answers(&reader, "frame=Checking").len(), 29);
    assert_eq!(mini::answers(&reader, "trigger=vetted").len(), 1);
    assert_eq!(mini::answers(&reader, &format!("since={revision}")).len(), 2);
}

#[test]
fn a_reader_opened_after_a_write_sees_it_at_once() {
    let (dir, writer, report) = mini::imported();
    generated::write(&writer, report.release.id);
    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(mini::content(&reader), mini::content(&writer));
    assert_eq!(mini::answers(&reader, "trigger=verified or trigger=vetted").len(), 2);
    let release = report.release.id;
    let journal = reader.store().journal(release, generated::seed(), 0, RecipeId(1)).unwrap();
    let journal = journal.unwrap();
    assert_eq!((journal.round, journal.end.as_deref()), (2, Some("no candidate")));
    let recipes = reader.store().recipes().unwrap();
    assert_eq!(recipes, [(RecipeId(1), [7; 16], "{\"beam\":4}".to_owned())]);
}

#[test]
fn an_import_shows_to_a_reader_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Database::open_writer(dir.path()).unwrap();
    let reader = Database::open(dir.path()).unwrap();
    let mut seen = Vec::new();
    let nothing = fnstore::transfer::ImportOptions::default();
    writer
        .import(&mini::framenet(), &nothing, &mut |_| {
            reader.refresh().unwrap();
            seen.push(mini::answers(&reader, "").len());
        })
        .unwrap();
    assert!(seen.len() > 2 && seen.iter().all(|answers| *answers == 0), "{seen:?}");
    reader.refresh().unwrap();
    assert_eq!(mini::answers(&reader, "").len(), 42);
    assert_eq!(mini::content(&reader), mini::content(&writer));
}

#[test]
fn a_reader_does_not_write() {
    let (dir, writer, report) = mini::imported();
    let reader = Database::open(dir.path()).unwrap();
    let set = generated::sets(&writer, report.release.id).remove(0).1;
    let mut batch = reader.store().batch(report.release.id);
    batch.put_annotation_set(&set).unwrap();
    let refused = reader.store().commit(batch).unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly), "{refused}");
    let refused = reader.write(report.release.id, &Write::default()).unwrap_err();
    assert!(matches!(refused, DatabaseError::ReadOnly { .. }), "{refused}");
    assert!(!reader.store().is_writer() && writer.store().is_writer());
}

/// Writing a row of the same id again replaces it, also when it moves under another LU.
#[test]
fn a_set_that_moves_to_another_lu_leaves_nothing_behind() {
    let (dir, writer, report) = mini::imported();
    let release = report.release.id;
    generated::write(&writer, release);
    let mut set = generated::sets(&writer, release).remove(1).1;
    set.lu = fnstore::model::LuId(1002);
    let write = fnstore::database::Write { sets: vec![set.clone()], ..Default::default() };
    writer.write(release, &write).unwrap();
    for database in [&writer, &Database::open(dir.path()).unwrap()] {
        let found = mini::answers(database, "origin=generated round=2");
        assert_eq!(found, [format!("mini-framenet {}", set.id)]);
        assert_eq!(mini::answers(database, "lu=vet.v").len(), 0);
        assert_eq!(mini::answers(database, "lu=inspect.v trigger=vetted").len(), 1);
    }
}

/// RocksDB's secondary keeps the rows of the log that it has read: where newer ones went to a
/// table, it showed the older ones beside other rows of the table.
#[test]
fn a_reader_that_moves_on_past_new_tables_sees_one_revision() {
    let (dir, writer, report) = mini::imported();
    let release = report.release.id;
    let recipe = writer.store().recipe([7; 16], "{}").unwrap();
    let reader = Database::open(dir.path()).unwrap();
    for write in 1..4 {
        // In the log, where the reader finds it; then in tables, the log being gone.
        for number in [write * 2, write * 2 + 1] {
            let base = writer.releases().unwrap().remove(0);
            let rows = crate::crash::synthetic(&writer, &base, recipe, number);
            let revision = writer.write(release, &rows).unwrap();
            if number % 2 == 1 {
                writer.store().compact().unwrap();
            }
            reader.refresh().unwrap();
            assert_eq!(reader.store().revision().unwrap(), revision);
            assert_eq!(mini::content(&reader), mini::content(&writer), "revision {revision}");
        }
    }
}
