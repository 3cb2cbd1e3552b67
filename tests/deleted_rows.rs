//! A row that is gone is found, whichever family it was of: also those that nothing leads to.

use std::path::Path;

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::model::{
    Decided, Decision, Evidence, FrameId, Judgement, LinkSubject, Links, LuId, Verdict,
};
use fnstore::transfer::ImportOptions;
use fnstore::upkeep::CheckOptions;
use rocksdb::{DB, IteratorMode, Options};

use crate::cli_program::fnstore_in;
use crate::{generated, mini};

/// A store with rows of every family; closed.
fn store() -> tempfile::TempDir {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    let wordnet = mini::framenet().with_file_name("mini-wordnet");
    for other in ["mini-wordnet", "mini-verbnet", "mini-semlink"] {
        let other = wordnet.with_file_name(other);
        database.import_resource(&other, &ImportOptions::default()).unwrap();
    }
    generated::write(&database, release);
    generated::verify(&database, release, vec![generated::verification()]);
    let mut edits = database.transaction(release).unwrap();
    let judgement = Judgement {
        reviewer: "kim".to_owned(),
        question: String::new(),
        score: 100,
        time: 1,
        note: String::new(),
        shown: None,
    };
    edits.set_judgement(generated::seed(), judgement).unwrap();
    edits.commit().unwrap();
    let store = database.store();
    let mut batch = store.batch(release);
    let decision = Decision {
        verdict: Verdict::Reject,
        reviewer: "kim".to_owned(),
        time: 1,
        note: String::new(),
        lu: LuId(1001),
        evidence: Evidence::default(),
        moved: None,
        undone: None,
    };
    let (frame, name) = (FrameId(102), "vet.v".to_owned());
    batch.put_decisions(&Decided { frame, name, history: vec![decision] }).unwrap();
    batch.put_discovery(&generated::discovery()).unwrap();
    let (frame, of) = (FrameId(102), LinkSubject::LexUnit(LuId(1001)));
    let links = Links { frame, of, links: Vec::new(), made_of: [0; 16], time: 1 };
    batch.put_links(&links).unwrap();
    store.own_annotation_set(release).unwrap();
    store.commit(batch).unwrap();
    drop(database);
    let made = fnstore_in(dir.path(), &["edition", "create", "both", "origin=generated"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    dir
}

/// Works on rows below fnstore, as damage or another program would.
fn with_rows<T>(dir: &Path, work: impl FnOnce(&DB) -> T) -> T {
    let (options, path) = (Options::default(), dir.join("db"));
    let families = DB::list_cf(&options, &path).unwrap();
    work(&DB::open_cf(&options, &path, families).unwrap())
}

/// Keys of a family, of which one is deleted: the first and the last; of names, one of each kind;
/// of the store's own book, what gives out numbers.
fn victims(db: &DB, family: &str) -> Vec<Vec<u8>> {
    let rows = db.iterator_cf(db.cf_handle(family).unwrap(), IteratorMode::Start);
    let keys: Vec<Vec<u8>> = rows.map(|row| row.unwrap().0.to_vec()).collect();
    let mut victims: Vec<Vec<u8>> = match family {
        "meta" => vec![b"own_ids".to_vec(), b"book".to_vec()],
        "name" => keys.chunk_by(|a, b| a[..3] == b[..3]).map(|kind| kind[0].clone()).collect(),
        _ => keys.first().into_iter().chain(keys.last()).cloned().collect(),
    };
    victims.dedup();
    assert!(victims.iter().all(|key| keys.contains(key)), "{family}");
    victims
}

fn codes(dir: &Path) -> Vec<&'static str> {
    match Database::check_at(dir, CheckOptions { deep: true }, &mut |_| {}) {
        Ok(report) => report.findings.iter().map(|(code, ..)| code.as_str()).collect(),
        Err(error) => panic!("a check of a damaged store failed: {error}"),
    }
}

#[test]
fn a_row_that_is_gone_is_found_whatever_its_family() {
    let store = store();
    assert_eq!(codes(store.path()), [""; 0]);
    let families = DB::list_cf(&Options::default(), store.path().join("db")).unwrap();
    let families: Vec<_> = families.into_iter().filter(|family| family != "default").collect();
    assert_eq!(families.len(), 32, "{families:?}");
    for family in families {
        let victims = with_rows(store.path(), |db| victims(db, &family));
        assert!(!victims.is_empty(), "no row of {family}");
        for key in victims {
            let copy = tempfile::tempdir().unwrap();
            mini::copy(store.path(), copy.path());
            with_rows(copy.path(), |db| {
                db.delete_cf(db.cf_handle(&family).unwrap(), &key).unwrap()
            });
            assert_ne!(codes(copy.path()), [""; 0], "{family}: {key:?} is gone and not missed");
        }
    }
}

#[test]
fn what_is_written_and_taken_back_is_counted_once() {
    let store = store();
    let database = Database::open_existing_writer(store.path()).unwrap();
    let release = database.releases().unwrap()[0].id;
    for _ in 0..2 {
        let mut edits = database.transaction(release).unwrap();
        let frame = edits.frame(FrameId(102)).unwrap().unwrap();
        let judgements = edits.judgements(generated::seed()).unwrap();
        edits.remove_judgement(generated::seed(), "kim", "").unwrap();
        edits.commit().unwrap();
        let mut edits = database.transaction(release).unwrap();
        for judgement in judgements {
            edits.set_judgement(generated::seed(), judgement.clone()).unwrap();
            edits.set_judgement(generated::seed(), judgement).unwrap();
        }
        let renamed = format!("{}_again", frame.name);
        edits.set_frame(fnstore::model::Frame { name: renamed, ..frame.clone() }).unwrap();
        edits.set_frame(frame).unwrap();
        edits.commit().unwrap();
    }
    drop(database);
    assert_eq!(codes(store.path()), [""; 0]);
    // Another release comes and goes.
    let database = Database::open_existing_writer(store.path()).unwrap();
    let options = ImportOptions { release: Some("second".to_owned()), ..Default::default() };
    let second = database.import(&mini::framenet(), &options, &mut |_| {}).unwrap().release.id;
    assert_eq!(codes(store.path()), [""; 0]);
    database.store().remove_release(second).unwrap();
    assert_eq!(codes(store.path()), [""; 0]);
}
