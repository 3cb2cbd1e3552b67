//! A record that could not be read again is written by nobody; one that is there all the same keeps
//! nobody from the others, and can be named and removed.

use std::path::Path;

use fnstore::database::{Database, DatabaseError, EditError, Write};
use fnstore::edit::Removal;
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSetId, Coded as _, Decided, Extent, FrameFit, FrameId, Generation, IdSpace, LexUnit,
    LuId, Provenance, ReleaseId, Sentence, SentenceId, SentenceLayers, Span,
};
use fnstore::store::{Action, StoreError, Subject};
use fnstore::upkeep::{CheckCode, CheckOptions, restore};
use rocksdb::{DB, Options};
use tempfile::TempDir;

use crate::cli_program::{fnstore_in, new_store};
use crate::{edits, generated, mini};

/// What `Database::write` and a loader say of a write; nothing of it is there afterwards.
fn refused(
    database: &Database,
    release: ReleaseId,
    change: impl Fn(&mut Write),
) -> Vec<DatabaseError> {
    let before = (database.store().revision().unwrap(), mini::content(database));
    let (sentence, set) = generated::sets(database, release).remove(0);
    let mut write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
    change(&mut write);
    let loaded = {
        let mut loader = database.loader(release).unwrap();
        loader.write(&write).unwrap_err()
    };
    let told = vec![database.write(release, &write).unwrap_err(), loaded];
    assert_eq!((database.store().revision().unwrap(), mini::content(database)), before);
    told
}

fn told(database: &Database, release: ReleaseId, change: impl Fn(&mut Write)) -> Vec<String> {
    refused(database, release, change).iter().map(ToString::to_string).collect()
}

#[test]
fn what_no_reader_could_show_is_refused_with_field_and_value() {
    let (dir, database, report) = mini::imported();
    database.store().recipe([7; 16], "{}").unwrap();
    let release = report.release.id;
    let backwards = Span { start: 5, end: 2 };
    let expected = "a span on character boundaries of the 25 bytes of g1, that of set g101";
    for (span, value) in [
        (backwards, "5..2"),
        (Span { start: 3, end: 1000 }, "3..1000"),
        (Span { start: 26, end: 26 }, "26..26"),
    ] {
        for error in refused(&database, release, |write| write.sets[0].targets = vec![span]) {
            let DatabaseError::Edit(error) = error else { panic!("{error}") };
            let expected = EditError::Value {
                field: "targets[0]".to_owned(),
                value: value.to_owned(),
                expected: expected.to_owned(),
            };
            assert_eq!(error, expected);
        }
    }
    let of_lu = "E-absent: there is no LU `77 of frame 102` in the release";
    assert_eq!(told(&database, release, |write| write.sets[0].lu = LuId(77)), [of_lu; 2]);
    let of_sentence = "E-absent: there is no sentence `i99` in the release";
    let sentence = SentenceId::new(IdSpace::Imported, 99);
    let told_of = told(&database, release, |write| write.sets[0].sentence = sentence);
    assert_eq!(told_of, [of_sentence; 2]);
    let of_frame = "E-absent: there is no frame `9999` in the release";
    let lexunit = LexUnit::named(FrameId(9999), LuId(1), "vet.v");
    let told_of = told(&database, release, |write| write.lexunits = vec![lexunit.clone()]);
    assert_eq!(told_of, [of_frame; 2]);
    // The text of a sentence never changes: spans count on it.
    let there = database.store().sentences(release).unwrap().next().unwrap().unwrap();
    let other = Sentence { text: "Another .".to_owned(), ..there.clone() };
    let told_of = told(&database, release, |write| write.sentences.push(other.clone()));
    let of_text = format!(
        "E-value: `text` is `Another .`; expected `{}`, the text of {}",
        there.text, there.id
    );
    assert_eq!(told_of, [of_text.as_str(); 2]);
    drop(database);
    drop(Database::open_existing_writer(dir.path()).unwrap());
}

#[test]
fn a_number_outside_its_range_is_refused_with_field_and_value() {
    let (_dir, database, report) = mini::imported();
    database.store().recipe([7; 16], "{}").unwrap();
    let share = "a number from 0 to 1, in the provenance of set g101";
    type Change = fn(&mut Generation);
    let wrong: [(Change, String); 4] = [
        (|made| made.aligner = 9.0, format!("`aligner` is `9`; expected {share}")),
        (|made| made.aligner = f32::NAN, format!("`aligner` is `NaN`; expected {share}")),
        (
            |made| made.fit = Some(FrameFit { probability: -0.5, model: [4; 16] }),
            format!("`fit.probability` is `-0.5`; expected {share}"),
        ),
        (
            |made| made.round = 0,
            "`round` is `0`; expected a whole number from 1, in the provenance of set g101".into(),
        ),
    ];
    for (change, expected) in wrong {
        let told = told(&database, report.release.id, |write| {
            let Provenance::Generated(made) = &mut write.sets[0].provenance else { panic!() };
            change(made);
        });
        let expected = format!("E-value: {expected}");
        assert_eq!(told, [expected.as_str(); 2]);
    }
}

/// Below the checks of `Database::write`, at the one place that all writers pass.
#[test]
fn a_batch_takes_no_record_that_its_reader_refuses() {
    let (_dir, database, report) = mini::imported();
    let (store, release) = (database.store(), report.release.id);
    let invalid = |outcome: Result<(), StoreError>, part: &str| {
        let error = outcome.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "{error}");
        assert!(error.to_string().contains(part), "{error}");
        assert_eq!(error.code(), Some("E-record"));
    };
    let mut batch = store.batch(release);
    let (_, mut set) = generated::sets(&database, release).remove(0);
    set.targets = vec![Span { start: 5, end: 2 }];
    invalid(batch.put_annotation_set(&set), "record of `g101` could not be read again: a span fr");
    let mut all = store.all_sentence_layers(release).unwrap().map(Result::unwrap);
    let has_labels = |set: &SentenceLayers| set.layers.iter().any(|layer| !layer.labels.is_empty());
    let mut layers = all.find(has_labels).unwrap();
    let labels = layers.layers.iter_mut().flat_map(|layer| &mut layer.labels);
    for label in labels {
        label.extent = Extent::Overt(Span { start: 9, end: 1 });
    }
    invalid(batch.put_sentence_layers(&layers), "a span from 9 to 1");
    let decided = Decided { frame: FrameId(102), name: "vet.v".to_owned(), history: Vec::new() };
    invalid(batch.put_decisions(&decided), "no decision");
    let lu = LexUnit::named(FrameId(102), LuId(5), "ve\0t.v");
    invalid(batch.put_lexunit(&lu), "a zero character in a name");
}

/// A store whose set `i2` has a record that nobody can read, as an unchecked writer left it: its
/// sentence is `i1`, and a set was generated in its frame.
fn damaged() -> TempDir {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    generated::write(&database, release);
    let mut edits = database.transaction(release).unwrap();
    let sentence = edits.add_sentence(edits::new_sentence("He checked it .")).unwrap();
    let set = edits.add_annotation_set(edits::new_set(sentence, (3, 10), &[])).unwrap();
    assert_eq!((sentence.to_string(), set.to_string()), ("i1".to_owned(), "i2".to_owned()));
    edits.commit().unwrap();
    let location = database.store().set_location(release, set).unwrap().unwrap();
    database.close().unwrap();
    overwrite(dir.path(), "annotation", |key| {
        key[10..18] == location.sentence.bits().to_be_bytes()
            && key[18..] == set.bits().to_be_bytes()
    });
    // The index has the set already; a new one has to be made beside the record, too.
    dir
}

/// Puts nonsense into the first row of a family whose key is meant.
fn overwrite(dir: &Path, family: &str, is_meant: impl Fn(&[u8]) -> bool) {
    let (options, path) = (Options::default(), dir.join("db"));
    let families = DB::list_cf(&options, &path).unwrap();
    let db = DB::open_cf(&options, &path, families).unwrap();
    let handle = db.cf_handle(family).unwrap();
    let rows = db.iterator_cf(handle, rocksdb::IteratorMode::Start);
    let mut keys = rows.map(|row| row.unwrap().0).filter(|key| is_meant(key));
    let key = keys.next().unwrap_or_else(|| panic!("no such row of {family}"));
    db.put_cf(handle, key, b"\x01nonsense").unwrap();
}

fn set_i2() -> AnnotationSetId {
    AnnotationSetId::new(IdSpace::Imported, 2)
}

#[test]
fn a_record_that_cannot_be_read_keeps_nobody_from_the_others() {
    let dir = damaged();
    let others = mini::answers(&mini::imported().1, "frame=Repairing").len();
    assert!(others > 0);
    let named = "damaged annotation record of set i2 (key ";
    // A writer opens, and so does one that has to make the index.
    drop(Database::open_existing_writer(dir.path()).unwrap());
    std::fs::remove_dir_all(dir.path().join("index")).unwrap();
    let writer = Database::open_existing_writer(dir.path()).unwrap();
    // Queries give the others first, and then name what is left out.
    let expression = "frame=Checking".parse().unwrap();
    let items: Vec<bool> = writer.query(&expression).unwrap().map(|it| it.is_ok()).collect();
    let found = items.len() - 1;
    assert!(items[..found].iter().all(|is_ok| *is_ok) && !items[found], "the error is the last");
    let told = writer.query(&expression).unwrap().find_map(Result::err).unwrap().to_string();
    assert!(told.starts_with(named), "{told}");
    assert_eq!(mini::answers(&writer, "frame=Repairing").len(), others, "they are not touched");
    // Kept counts have it as it was; a count that reads sets names it.
    assert_eq!(writer.count(&expression).unwrap(), items.len() as u64);
    let read = "frame=Checking text=*".parse().unwrap();
    let counted = writer.count(&read).map(drop).unwrap_err();
    assert!(counted.is_unreadable_record() && counted.to_string().starts_with(named), "{counted}");
    // Edits of others.
    let mut edits = writer.transaction(ReleaseId(1)).unwrap();
    edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), "peruse.v")).unwrap();
    edits.commit().unwrap();
    writer.close().unwrap();

    // As people meet it.
    let store = dir.path();
    let sorted = ["query", "frame=Checking", "--sort", "-trigger", "--fields", "id"];
    for arguments in [&["query", "frame=Checking", "--fields", "id"][..], &sorted] {
        let ran = fnstore_in(store, arguments);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert_eq!(ran.stdout.lines().count(), found, "{}", ran.stdout);
        assert!(ran.stderr.contains(named), "{}", ran.stderr);
        assert!(ran.stderr.contains("`fnstore check --repair` removes"), "{}", ran.stderr);
    }
    assert_eq!(fnstore_in(store, &["query", "frame=Repairing"]).code, Some(0));
    assert_eq!(fnstore_in(store, &["reindex"]).code, Some(0));
    let folder = tempfile::tempdir().unwrap();
    for format in ["jsonl", "framenet-xml", "csv"] {
        let place = folder.path().join(format);
        let place = place.to_str().unwrap();
        let ran = fnstore_in(store, &["export", "--to", format, "--out", place]);
        if ran.code == Some(0) {
            panic!("{format}: an export without the record ends without a word");
        }
        assert!(!Path::new(place).exists(), "{format}");
    }
    let backup = folder.path().join("backup");
    assert_eq!(fnstore_in(store, &["backup", backup.to_str().unwrap()]).code, Some(0));
    let restored = folder.path().join("restored");
    restore(&backup, &restored).unwrap();
    let checked = fnstore_in(&restored, &["check", "--format", "json"]);
    let found = checked.document("check.schema.json")["findings"][0].clone();
    assert_eq!((found["code"].as_str(), found["count"].as_u64()), (Some("C-record"), Some(1)));
    assert!(found["examples"][0]["detail"].as_str().unwrap().starts_with("set i2, key "));
    let removed = fnstore_in(&restored, &["releases", "remove", "mini-framenet", "--yes"]);
    assert_eq!(removed.code, Some(0), "{}", removed.stderr);
    assert_eq!(fnstore_in(&restored, &["check", "--deep"]).code, Some(0));
}

#[test]
fn a_repair_removes_the_record_and_leaves_the_others() {
    let dir = damaged();
    let store = dir.path();
    let unconfirmed = fnstore_in(store, &["check", "--repair"]);
    assert_eq!(unconfirmed.code, Some(2), "{unconfirmed:?}");
    assert!(unconfirmed.stderr.contains("annotation set i2; say `--yes`"), "{unconfirmed:?}");
    let repaired = fnstore_in(store, &["check", "--deep", "--repair", "--yes", "--format", "json"]);
    assert_eq!(repaired.code, Some(0), "{repaired:?}");
    let report = repaired.document("check.schema.json");
    assert_eq!(report["removed"].as_array().unwrap().len(), 1);
    assert!(report["removed"][0]["detail"].as_str().unwrap().starts_with("set i2, key "));
    assert_eq!(report["gone"], serde_json::json!({"annotation set": 1}));
    let database = Database::open(store).unwrap();
    assert_eq!(database.store().annotation_set(ReleaseId(1), set_i2()).unwrap(), None);
    assert_eq!(mini::answers(&database, "").len(), 44);
    let last = database.changes(3).unwrap().map(Result::unwrap).last().unwrap();
    assert_eq!((last.action, last.is_last), (Action::Removed, true));
    assert!(matches!(last.subject, Subject::Set(id, _) if id == set_i2()), "{last:?}");
    // A second one finds nothing, and writes nothing.
    let revision = database.store().revision().unwrap();
    let again = fnstore_in(store, &["check", "--repair", "--format", "json"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(again.document("check.schema.json")["removed"], serde_json::json!([]));
    assert_eq!(Database::open(store).unwrap().store().revision().unwrap(), revision);
}

/// What goes with a record of each family, and that nothing is left dangling.
#[test]
fn a_repair_of_each_family_leaves_a_store_that_is_whole() {
    let any = |_: &[u8]| true;
    // check.v of Checking, and the sentence that generated sets have grown from.
    let check = |key: &[u8]| key[2..] == [0, 0, 0, 102, 0, 0, 0x03, 0xe9];
    let seed = {
        let (_dir, database, report) = mini::imported();
        let at = database.store().set_location(report.release.id, generated::seed());
        at.unwrap().unwrap().sentence.bits().to_be_bytes()
    };
    let of_seed = |key: &[u8]| key[2..] == seed;
    type IsMeant<'a> = &'a dyn Fn(&[u8]) -> bool;
    let families: [(&str, &str, IsMeant<'_>); 8] = [
        ("sentence", "sentence", &of_seed),
        ("lexunit", "LU", &check),
        ("relation", "relation", &any),
        ("sentence_layers", "sentence_layers", &any),
        ("set_location", "set_location", &any),
        ("journal", "journal", &any),
        ("layout", "layout", &any),
        ("change", "change", &any),
    ];
    for (family, expected, is_meant) in families {
        let (dir, database, report) = mini::imported();
        generated::write(&database, report.release.id);
        database.close().unwrap();
        let sets = mini::answers(&Database::open(dir.path()).unwrap(), "").len();
        overwrite(dir.path(), family, is_meant);
        drop(Database::open_existing_writer(dir.path()).unwrap());
        let report = Database::repair(dir.path()).unwrap();
        assert_eq!(report.removed.len(), 1, "{family}: {report:?}");
        assert!(report.gone.contains_key(expected), "{family}: {:?}", report.gone);
        let check = Database::check_at(dir.path(), CheckOptions { deep: true }, &mut |_| {});
        let check = check.unwrap();
        assert!(check.findings.is_empty(), "{family}: {:?}", check.findings);
        let left = mini::answers(&Database::open(dir.path()).unwrap(), "").len();
        let is_cascade = ["sentence", "lexunit"].contains(&family);
        assert_eq!(left < sets, is_cascade, "{family}: {left} of {sets}");
    }
    for family in ["frame", "document", "recipe"] {
        let (dir, database, report) = mini::imported();
        generated::write(&database, report.release.id);
        database.close().unwrap();
        overwrite(dir.path(), family, |_| true);
        let report = Database::repair(dir.path()).unwrap();
        assert_eq!((report.removed.len(), report.kept.len()), (0, 1), "{family}: {report:?}");
        let check = Database::check_at(dir.path(), CheckOptions::default(), &mut |_| {}).unwrap();
        assert!(check.findings.count(CheckCode::Record) == 1, "{family}: {:?}", check.findings);
    }
}

#[test]
fn a_repair_of_a_generated_set_takes_it_out_of_its_chain() {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    database.close().unwrap();
    let first = AnnotationSetId::new(IdSpace::Generated, 101).bits().to_be_bytes();
    overwrite(dir.path(), "annotation", |key| key[18..] == first);
    let report = Database::repair(dir.path()).unwrap();
    assert_eq!(report.gone["annotation set"], 2, "and the one that came after it: {report:?}");
    let check = Database::check_at(dir.path(), CheckOptions { deep: true }, &mut |_| {}).unwrap();
    assert!(check.findings.is_empty(), "{:?}", check.findings);
}

#[test]
fn a_seed_that_cannot_be_read_keeps_nobody_from_the_sets_that_grew_from_it() {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    database.close().unwrap();
    let seed = generated::seed().bits().to_be_bytes();
    overwrite(dir.path(), "annotation", |key| key[18..] == seed);
    let database = Database::open_existing_writer(dir.path()).unwrap();
    let expression = "origin=generated".parse().unwrap();
    let answers = database.query(&expression).unwrap().filter_map(Result::ok);
    let found: Vec<_> =
        answers.map(|answer| (answer.set.id.to_string(), answer.document)).collect();
    assert_eq!(found, [("g101".to_owned(), None), ("g102".to_owned(), None)]);
}

#[test]
fn listings_count_generated_sets_without_reading_them() {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    let counts = |database: &Database| {
        let lexicon = database.lexicon("mini-framenet").unwrap();
        lexicon.set_counts(FrameId(102), LuId(1008)).unwrap()
    };
    let before = counts(&database);
    assert_eq!(before.generated, 1);
    database.close().unwrap();
    let first = AnnotationSetId::new(IdSpace::Generated, 101).bits().to_be_bytes();
    overwrite(dir.path(), "annotation", |key| key[18..] == first);
    let database = Database::open_existing_writer(dir.path()).unwrap();
    assert_eq!(counts(&database), before);
    let lexicon = database.lexicon("mini-framenet").unwrap();
    let frame = lexicon.frame(FrameId(102)).unwrap().unwrap();
    assert!(lexicon.labelled_fes_of(&frame).is_ok());
}

#[test]
fn an_edit_of_an_unreadable_record_names_it() {
    let dir = damaged();
    let writer = Database::open_existing_writer(dir.path()).unwrap();
    let mut edits = writer.transaction(ReleaseId(1)).unwrap();
    let error = edits.remove_annotation_set(set_i2(), Removal::Cascade).unwrap_err();
    assert!(error.is_unreadable_record() && error.to_string().contains("set i2"), "{error}");
    let store = new_store();
    let told = fnstore_in(store.path(), &["check", "--leaks", "--repair"]);
    assert_eq!(told.code, Some(2), "{told:?}");
}
