//! Counts of sets, LUs and sentences follow every commit, and are mended where they are wrong.

use std::path::Path;

use fnstore::database::{Database, Write};
use fnstore::edit::Removal;
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, FrameId, IdSpace, LuId, OWN_RANGE, Provenance, ReleaseId,
};
use fnstore::store::AddedCounts;
use fnstore::transfer::ImportOptions;
use fnstore::upkeep::{CheckCode, CheckOptions};
use proptest::prelude::*;
use rocksdb::{DB, IteratorMode, Options};
use tempfile::TempDir;

use crate::cli_program::fnstore_in;
use crate::{generated, mini};

/// A store with human and generated sets; closed.
fn store() -> TempDir {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    drop(database);
    dir
}

/// What a check says of counts.
fn miscounted(dir: &Path) -> Vec<String> {
    let report = Database::check_at(dir, CheckOptions::default(), &mut |_| {}).unwrap();
    let found = report.findings.iter().filter(|(code, ..)| *code == CheckCode::Counts);
    found.flat_map(|(_, _, examples)| examples.iter().map(|of| of.detail.clone())).collect()
}

/// The rows of `count`.
fn counts(dir: &Path) -> Vec<(Vec<u8>, u64)> {
    with_rows(dir, |db| {
        let rows = db.iterator_cf(db.cf_handle("count").unwrap(), IteratorMode::Start);
        let rows = rows.map(Result::unwrap);
        rows.map(|(key, value)| (key.into(), u64::from_be_bytes((*value).try_into().unwrap())))
            .collect()
    })
}

/// Changes rows below fnstore, as damage or another program would.
fn with_rows<T>(dir: &Path, edit: impl FnOnce(&mut DB) -> T) -> T {
    let (options, path) = (Options::default(), dir.join("db"));
    let families = DB::list_cf(&options, &path).unwrap();
    edit(&mut DB::open_cf(&options, &path, families).unwrap())
}

/// Makes the store one of before there were counts.
fn drop_counts(dir: &Path) {
    with_rows(dir, |db| db.drop_cf("count").unwrap());
}

/// Adds to the counts of a kind.
fn falsify(dir: &Path, kind: u8, by: u64) {
    let keys: Vec<_> = counts(dir).into_iter().filter(|(key, _)| key[2] == kind).collect();
    let (key, count) = keys.into_iter().next_back().unwrap();
    with_rows(dir, |db| {
        db.put_cf(db.cf_handle("count").unwrap(), key, (count + by).to_be_bytes()).unwrap();
    });
}

/// A commit that touches no set.
fn commit_something(database: &Database) {
    database.store().recipe([9; 16], "{}").unwrap();
}

/// A commit that touches a set.
fn edit_a_set(database: &Database, release: ReleaseId) {
    let (sentence, mut set) = generated::sets(database, release).remove(0);
    set.status.push('2');
    let write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
    database.write(release, &write).unwrap();
}

#[test]
fn a_store_without_counts_reads_the_same_and_gets_them_by_its_next_commit() {
    let dir = store();
    let printed = |command: &[&str]| fnstore_in(dir.path(), command).stdout;
    let commands: [&[&str]; 6] = [
        &["releases"],
        &["stats", "--format", "csv"],
        &["lus", "--format", "csv"],
        &["query", "origin=generated", "--count"],
        &["query", "frame=Checking", "--count-by", "lu"],
        &["query", "--count-by", "origin"],
    ];
    let before = commands.map(printed);
    assert!(before.iter().all(|text| !text.is_empty()));
    let made = counts(dir.path());
    drop_counts(dir.path());
    assert_eq!(commands.map(printed), before);
    assert_eq!(miscounted(dir.path()), Vec::<String>::new());
    let database = Database::open_existing_writer(dir.path()).unwrap();
    commit_something(&database);
    drop(database);
    assert_eq!(counts(dir.path()), made);
    assert_eq!(commands.map(printed), before);
}

#[test]
fn a_wrong_count_is_found_and_mended_by_a_repair() {
    for kind in 0..5 {
        let dir = store();
        let made = counts(dir.path());
        falsify(dir.path(), kind, 3);
        let found = miscounted(dir.path());
        assert_eq!(found.len(), 1, "{kind}: {found:?}");
        assert!(found[0].starts_with("release 1, "), "{found:?}");
        let repair = fnstore_in(dir.path(), &["check", "--repair", "--format", "json"]);
        let repair: serde_json::Value = serde_json::from_str(&repair.stdout).unwrap();
        assert_eq!(repair["recounted"], serde_json::json!(["mini-framenet"]), "{repair}");
        assert_eq!(repair["findings"], serde_json::json!([]));
        assert_eq!(counts(dir.path()), made);
        let again = fnstore_in(dir.path(), &["check", "--repair", "--format", "json"]);
        let again: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
        assert_eq!(again["recounted"], serde_json::json!([]), "{again}");
    }
}

#[test]
fn counts_that_do_not_add_up_are_not_read_and_the_next_write_mends_them() {
    for kind in [0, 1] {
        let dir = store();
        let before = fnstore_in(dir.path(), &["releases"]).stdout;
        falsify(dir.path(), kind, 3);
        assert_eq!(fnstore_in(dir.path(), &["releases"]).stdout, before);
        let database = Database::open_existing_writer(dir.path()).unwrap();
        edit_a_set(&database, ReleaseId(1));
        drop(database);
        assert_eq!(miscounted(dir.path()), Vec::<String>::new());
    }
}

#[test]
fn a_count_that_would_fall_below_zero_is_made_anew() {
    let dir = store();
    let is_of_generated = |key: &[u8]| key[2] == 2 && key[12] == 4;
    let of_lus = counts(dir.path()).into_iter().filter(|(key, _)| is_of_generated(key));
    with_rows(dir.path(), |db| {
        for (key, _) in of_lus {
            db.delete_cf(db.cf_handle("count").unwrap(), key).unwrap();
        }
    });
    let database = Database::open_existing_writer(dir.path()).unwrap();
    edit_a_set(&database, ReleaseId(1));
    drop(database);
    assert_eq!(miscounted(dir.path()), Vec::<String>::new());
}

#[test]
fn an_import_a_removal_and_what_unlisted_rows_leave_are_counted() {
    let (dir, database, report) = mini::imported();
    let first = report.release.id;
    // What an import that is given up leaves is no part of the next one's counts.
    let ghost = database.store().begin_release().unwrap();
    let mut batch = database.store().batch(ghost);
    batch.put_annotation_set(&generated::sets(&database, first).remove(0).1).unwrap();
    database.store().write_unlisted(batch).unwrap();
    let options = ImportOptions { release: Some("second".to_owned()), ..ImportOptions::default() };
    database.import(&mini::framenet(), &options, &mut |_| {}).unwrap();
    generated::write(&database, first);
    let lines = dir.path().with_extension("jsonl");
    let export = ["export", "release=mini-framenet", "--to", "jsonl", lines.to_str().unwrap()];
    drop(database);
    assert_eq!(fnstore_in(dir.path(), &export).code, Some(0));
    let import = ["import", lines.to_str().unwrap(), "--release", "third"];
    assert_eq!(fnstore_in(dir.path(), &import).code, Some(0));
    std::fs::remove_file(lines).unwrap();
    assert_eq!(miscounted(dir.path()), Vec::<String>::new());
    let releases =
        |number: u16| counts(dir.path()).iter().filter(|(key, _)| key[1] == number as u8).count();
    assert!([1, 2, 3].map(releases).iter().all(|rows| *rows > 5));
    assert_eq!(releases(1), releases(3));
    let database = Database::open_existing_writer(dir.path()).unwrap();
    database.remove_release("mini-framenet").unwrap();
    drop(database);
    assert_eq!(miscounted(dir.path()), Vec::<String>::new());
    assert_eq!(releases(1), 0);
}

/// Writes and edits of all kinds, by number.
fn change(database: &Database, release: ReleaseId, kind: u8, number: usize) {
    let sets: Vec<AnnotationSet> =
        database.store().annotation_sets(release).unwrap().map(Result::unwrap).collect();
    let Some(set) = sets.get(number % sets.len().max(1)) else { return };
    let (set, checking) = (set.clone(), (FrameId(102), LuId(1008)));
    let mut edits = database.transaction(release).unwrap();
    match kind {
        0 => drop(generated::write(database, release)),
        1 => edit_a_set(database, release),
        2 => {
            let id = AnnotationSetId::new(IdSpace::Imported, OWN_NUMBER + number as u64);
            let (xml_id, provenance) = (None, Provenance::User);
            let status = format!("S{}", number % 3);
            let set = AnnotationSet { id, xml_id, provenance, status, ..set };
            let write = Write { sets: vec![set.clone(), set], ..Write::default() };
            database.write(release, &write).unwrap();
        }
        3 => {
            let mut loader = database.loader(release).unwrap();
            let (sentence, mut set) = generated::sets(database, release).remove(1);
            (set.frame, set.lu) = checking;
            let write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
            loader.write(&write).unwrap();
            loader.finish().unwrap();
        }
        4 => {
            edits.remove_annotation_set(set.id, Removal::Cascade).unwrap();
            edits.commit().unwrap();
        }
        5 => {
            edits.remove_sentence(set.sentence, Removal::Cascade).unwrap();
            edits.commit().unwrap();
        }
        6 => {
            if edits.remove_lexunit(set.frame, set.lu, Removal::Cascade).is_ok() {
                edits.commit().unwrap();
            }
        }
        _ => {
            let lu = generated::proposed(database, release);
            let lu = fnstore::model::LexUnit { id: LuId(OWN_RANGE + 7), ..lu };
            let write = Write { lexunits: vec![lu], ..Write::default() };
            database.write(release, &write).unwrap();
        }
    }
}

const OWN_NUMBER: u64 = 1 << 40;

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(12)
    })]

    #[test]
    fn counts_follow_every_commit(changes in prop::collection::vec((0..8_u8, 0..60_usize), 1..9)) {
        let (dir, database, report) = mini::imported();
        let release = report.release.id;
        for (kind, number) in changes {
            // The LU that models the proposed one may be gone.
            let model = database.store().lexunit(release, FrameId(102), LuId(1008)).unwrap();
            let seed = database.store().annotation_set(release, generated::seed()).unwrap();
            if (model.is_none() || seed.is_none()) && [0, 1, 3, 7].contains(&kind) {
                continue;
            }
            change(&database, release, kind, number);
            let report = database.check(CheckOptions::default(), &mut |_| {}).unwrap();
            let found: Vec<_> = report.findings.iter().collect();
            prop_assert_eq!(report.findings.count(CheckCode::Counts), 0, "{}: {:?}", kind, found);
        }
        let kept: AddedCounts = database.store().added_counts(release).unwrap();
        drop(database);
        drop_counts(dir.path());
        let reader = Database::open(dir.path()).unwrap();
        prop_assert_eq!(reader.store().added_counts(release).unwrap(), kept);
    }
}
