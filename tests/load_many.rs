//! A load writes like many writes, and the index follows at its end; cut short, it loses nothing
//! that it acknowledged.

use std::path::Path;

use fnstore::database::{Database, DatabaseError, Write};
use fnstore::index;
use fnstore::internals::WithStore as _;
use fnstore::model::{IdSpace, ReleaseId, Sentence, SentenceId};
use fnstore::store::StoreError;

use crate::{generated, mini};

const QUERIES: [&str; 4] =
    ["origin=generated", "trigger=verified", "lu=vet.v", "text=\"He vetted the figures .\""];

/// One write for each of the two generated sets.
fn writes(database: &Database, release: ReleaseId) -> Vec<Write> {
    let lexunits = vec![generated::proposed(database, release)];
    let sets = generated::sets(database, release).into_iter();
    let each = |(sentence, set)| Write {
        sentences: vec![sentence],
        sets: vec![set],
        lexunits: lexunits.clone(),
        ..Write::default()
    };
    sets.map(each).collect()
}

fn answers(database: &Database) -> Vec<Vec<String>> {
    QUERIES.iter().map(|query| mini::answers(database, query)).collect()
}

/// The revision that the index's last commit stands for.
fn indexed(dir: &Path) -> u64 {
    index::stamp(&dir.join("index")).unwrap().unwrap().revision
}

#[test]
fn a_load_gives_the_answers_of_single_writes() {
    let (_written_dir, written, report) = mini::imported();
    for write in writes(&written, report.release.id) {
        written.write(report.release.id, &write).unwrap();
    }
    let (dir, loaded, report) = mini::imported();
    let rows = writes(&loaded, report.release.id);
    let mut loader = loaded.loader(report.release.id).unwrap();
    for write in &rows {
        loader.write(write).unwrap();
    }
    let done = loader.finish().unwrap();
    let revision = written.store().revision().unwrap();
    assert_eq!((done.sets, done.sentences, done.lexunits, done.revision), (2, 2, 2, revision));
    assert_eq!(answers(&loaded), answers(&written));
    assert_eq!(answers(&loaded).iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1, 1]);
    assert_eq!(indexed(dir.path()), revision);
}

#[test]
fn what_was_acknowledged_is_found_before_the_index_has_it() {
    let (dir, database, report) = mini::imported();
    let rows = writes(&database, report.release.id);
    let before = indexed(dir.path());
    let mut loader = database.loader(report.release.id).unwrap();
    let revision = loader.write(&rows[0]).unwrap();
    assert_eq!(indexed(dir.path()), before);
    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(mini::answers(&reader, "trigger=verified").len(), 1);
    assert_eq!(mini::answers(&reader, "trigger=vetted").len(), 0);

    // Given up: the next writer finds in the list of changes what the index lacks.
    drop(loader);
    assert_eq!(indexed(dir.path()), before);
    drop(database);
    let writer = Database::open_writer(dir.path()).unwrap();
    assert_eq!(indexed(dir.path()), revision);
    assert_eq!(mini::answers(&writer, "trigger=verified").len(), 1);
}

#[test]
fn a_set_that_is_loaded_again_is_found_once_and_as_it_is() {
    let (_dir, database, report) = mini::imported();
    let mut rows = writes(&database, report.release.id);
    let mut loader = database.loader(report.release.id).unwrap();
    loader.write(&rows[0]).unwrap();
    // The target of the second version is `He`.
    rows[0].sets[0].targets[0] = fnstore::model::Span::new(0, 2);
    loader.write(&rows[0]).unwrap();
    loader.finish().unwrap();
    assert_eq!(mini::answers(&database, "trigger=he origin=generated").len(), 1);
    assert_eq!(mini::answers(&database, "trigger=verified origin=generated").len(), 0);
    assert!(!database.has_trigger("verified figures").unwrap());
    assert!(database.has_trigger("he").unwrap());
}

#[test]
fn a_reader_loads_nothing() {
    let (dir, database, report) = mini::imported();
    drop(database);
    let reader = Database::open(dir.path()).unwrap();
    let Err(error) = reader.loader(report.release.id) else { panic!("a reader may load") };
    assert!(matches!(error, DatabaseError::ReadOnly { .. }), "{error}");
    let refused = reader.store().compact().unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly), "{refused}");
}

#[test]
fn the_sizes_of_families_tell_what_the_rows_take() {
    let (_dir, database, report) = mini::imported();
    database.store().compact().unwrap();
    let sizes = database.store().family_sizes().unwrap();
    let of = |name: &str| sizes.iter().find(|size| size.family == name).unwrap();
    let frames = database.store().frames(report.release.id).unwrap().count();
    assert_eq!(of("frame").rows, frames as u64);
    assert_eq!(of("judgement").bytes, 0);
    assert!(sizes.is_sorted_by(|a, b| a.bytes >= b.bytes));
    let all: u64 = sizes.iter().map(|size| size.bytes).sum();
    assert!(all <= database.store().disk_bytes(), "{all}");
}

/// Bytes of the log, which a reader reads as it opens.
fn log_bytes(dir: &Path) -> u64 {
    let files = std::fs::read_dir(dir.join("db")).unwrap().map(Result::unwrap);
    let logs = files.filter(|file| file.path().extension().is_some_and(|kind| kind == "log"));
    logs.map(|file| file.metadata().unwrap().len()).sum()
}

#[test]
fn a_writer_leaves_no_long_log_to_readers() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    let sentence = |number| Sentence {
        id: SentenceId::new(IdSpace::Imported, number),
        xml_id: None,
        text: "never said before ".repeat(1_000),
        occurrences: Vec::new(),
    };
    let write = Write { sentences: (0..200).map(sentence).collect(), ..Write::default() };
    database.write(release, &write).unwrap();
    assert!(log_bytes(dir.path()) > 3_000_000);
    drop(database);
    assert!(log_bytes(dir.path()) < 100_000);
    let reader = Database::open(dir.path()).unwrap();
    let last = SentenceId::new(IdSpace::Imported, 199);
    assert_eq!(reader.store().sentence(release, last).unwrap(), Some(sentence(199)));
}
