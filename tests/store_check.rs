//! A check finds what is wrong, names it by its code, and finds nothing where nothing is.

use std::fs;
use std::path::Path;

use fnstore::database::Database;
use fnstore::index;
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSetId, Decided, Decision, Evidence, FeId, Frame, FrameId, IdSpace, LuId, ReleaseId,
    Span, Verdict,
};
use fnstore::store::{Action, Batch, SetLocation, Subject};
use fnstore::upkeep::{CheckCode, CheckOptions, CheckReport};
use rocksdb::{DB, IteratorMode, Options};
use tempfile::TempDir;

use crate::{generated, mini};

/// A store with human and generated sets, a recipe and a journal; closed.
fn store() -> TempDir {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    drop(database);
    dir
}

fn check(dir: &Path, deep: bool) -> CheckReport {
    Database::check_at(dir, CheckOptions { deep }, &mut |_| {}).unwrap()
}

/// The codes found with their counts.
fn codes(report: &CheckReport) -> Vec<(CheckCode, u64)> {
    report.findings.iter().map(|(code, count, _)| (code, count)).collect()
}

/// Changes rows below fnstore, as damage or another program would.
fn with_rows(dir: &Path, edit: impl FnOnce(&DB)) {
    let (options, path) = (Options::default(), dir.join("db"));
    let families = DB::list_cf(&options, &path).unwrap();
    edit(&DB::open_cf(&options, &path, families).unwrap());
}

fn first_key(db: &DB, family: &str) -> Vec<u8> {
    let rows = db.iterator_cf(db.cf_handle(family).unwrap(), IteratorMode::Start);
    rows.map(|row| row.unwrap().0.to_vec()).next().unwrap()
}

fn delete_first(dir: &Path, family: &str) {
    with_rows(dir, |db| {
        db.delete_cf(db.cf_handle(family).unwrap(), first_key(db, family)).unwrap();
    });
}

#[test]
fn a_whole_store_has_no_findings() {
    let dir = store();
    for deep in [false, true] {
        let report = check(dir.path(), deep);
        assert_eq!(codes(&report), []);
        assert_eq!((report.rows["annotation"], report.index_entries), (44, Some(44)));
        assert_eq!((report.unlisted_rows, report.index_behind), (0, 0));
    }
}

#[test]
fn a_missing_row_is_found_by_what_refers_to_it() {
    for (family, deep, expected) in [
        ("sentence", false, CheckCode::SentenceMissing),
        ("frame", false, CheckCode::FrameMissing),
        ("lexunit", false, CheckCode::LexUnitMissing),
        ("document", false, CheckCode::DocumentMissing),
        ("recipe", false, CheckCode::RecipeMissing),
        ("annotation", false, CheckCode::Count),
        ("annotation", true, CheckCode::SetMissing),
        ("set_location", true, CheckCode::Location),
        ("by_sentence", true, CheckCode::BySentence),
        ("name", true, CheckCode::Name),
    ] {
        let dir = store();
        delete_first(dir.path(), family);
        let report = check(dir.path(), deep);
        assert!(report.findings.count(expected) > 0, "{family}: {:?}", codes(&report));
    }
}

#[test]
fn rows_that_do_not_decode_are_found_and_the_rest_is_read() {
    let dir = store();
    with_rows(dir.path(), |db| {
        let put = |family: &str, key: &[u8], value: &[u8]| {
            db.put_cf(db.cf_handle(family).unwrap(), key, value).unwrap();
        };
        put("lexunit", &first_key(db, "lexunit"), b"\x01no LU");
        put("frame", b"\x00\x01\x00", b"");
        put("change", &[0xff; 12], b"\x01");
    });
    let report = check(dir.path(), false);
    assert_eq!(report.findings.count(CheckCode::Record), 2, "{:?}", codes(&report));
    assert_eq!(report.findings.count(CheckCode::Key), 1);
    assert_eq!(report.rows["annotation"], 44);
    let (_, _, examples) = report.findings.iter().find(|found| found.0 == CheckCode::Key).unwrap();
    assert_eq!(
        (examples[0].family, examples[0].detail.as_str()),
        ("frame", "key 000100: no key of this family")
    );
}

#[test]
fn a_span_outside_its_sentence_is_found() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    generated::write(&database, release);
    let (_, mut set) = generated::sets(&database, release).remove(0);
    set.targets = vec![Span::new(3, 1000)];
    // Below the checks of whoever writes sets.
    let mut batch = database.store().batch(release);
    batch.put_annotation_set(&set).unwrap();
    database.store().commit(batch).unwrap();
    drop(database);
    let report = check(dir.path(), false);
    assert_eq!(codes(&report), [(CheckCode::Span, 1)]);
    let (.., examples) = report.findings.iter().next().unwrap();
    assert_eq!(examples[0].detail, "set g101: 3..1000 of 25 bytes");
}

/// Puts a record into a store below the checks of whoever writes it, and gives what is found.
fn found_after(put: impl FnOnce(&Database, &mut Batch<'_>)) -> Vec<(CheckCode, String)> {
    let (dir, database, report) = mini::imported();
    let mut batch = database.store().batch(report.release.id);
    put(&database, &mut batch);
    database.store().commit(batch).unwrap();
    drop(database);
    let report = check(dir.path(), true);
    let found = report.findings.iter().flat_map(|(code, _, examples)| {
        examples.iter().map(move |example| (code, example.detail.clone()))
    });
    found.collect()
}

#[test]
fn what_a_relation_maps_and_a_valence_table_names_is_looked_up() {
    let release = ReleaseId(1);
    let found = found_after(|database, batch| {
        let mut relations = database.store().relations(release).unwrap().map(Result::unwrap);
        let mut relation = relations.find(|relation| !relation.elements.is_empty()).unwrap();
        relation.elements[0].child = FeId(99);
        batch.put_relation(&relation).unwrap();
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, CheckCode::ElementMissing);
    assert!(found[0].1.contains(": FE 99 of frame `"), "{found:?}");

    let found = found_after(|database, batch| {
        let mut lexunits = database.store().lexunits(release).unwrap().map(Result::unwrap);
        let mut lexunit = lexunits.find(|lu| !lu.valences.realizations.is_empty()).unwrap();
        let pattern = &mut lexunit.valences.realizations[0].patterns[0];
        // FrameNet's tables name full-text sets that no file has; exemplars are in the LU's own.
        pattern.sets.push(AnnotationSetId::new(IdSpace::FullText, 99));
        pattern.sets.push(AnnotationSetId::new(IdSpace::Exemplar, 99));
        batch.put_lexunit(&lexunit).unwrap();
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, CheckCode::SetMissing);
    assert!(found[0].1.ends_with(": valence table with x99"), "{found:?}");
}

#[test]
fn what_a_frame_and_a_sentence_name_is_looked_up() {
    let release = ReleaseId(1);
    for edit in [
        (|frame| frame.elements[0].requires.push(FeId(99))) as fn(&mut Frame),
        |frame| frame.elements[0].excludes.push(FeId(99)),
        |frame| frame.core_sets.push(vec![FeId(99)]),
    ] {
        let found = found_after(|database, batch| {
            let mut frame = database.store().frame(release, FrameId(102)).unwrap().unwrap();
            edit(&mut frame);
            batch.put_frame(&frame).unwrap();
        });
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, CheckCode::ElementMissing);
    }
    let found = found_after(|database, batch| {
        let mut sentences = database.store().sentences(release).unwrap().map(Result::unwrap);
        let mut sentence = sentences.next().unwrap();
        sentence.occurrences[0].lu = Some(LuId(99));
        batch.put_sentence(&sentence).unwrap();
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, CheckCode::LexUnitMissing);
}

#[test]
fn the_frame_of_a_decision_is_looked_up() {
    let found = found_after(|_, batch| {
        let decision = Decision {
            verdict: Verdict::Reject,
            reviewer: "kim".to_owned(),
            time: 7,
            note: String::new(),
            lu: LuId(1001),
            evidence: Evidence::default(),
            moved: None,
            undone: None,
        };
        let name = "vet.v".to_owned();
        let decided = Decided { frame: FrameId(9999), name, history: vec![decision] };
        batch.put_decisions(&decided).unwrap();
    });
    let [(code, detail)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        (*code, detail.as_str()),
        (CheckCode::FrameMissing, "decisions on `vet.v`: frame 9999")
    );
}

#[test]
fn an_index_that_is_lost_damaged_or_newer_is_found() {
    let dir = store();
    let index = dir.path().join("index");
    let meta = fs::read_to_string(index.join("meta.json")).unwrap();
    let stamp = index::stamp(&index).unwrap().unwrap();
    let ahead = meta.replace(&format!("\"{stamp}\""), &format!("\"9{stamp}\""));
    fs::write(index.join("meta.json"), ahead).unwrap();
    assert_eq!(codes(&check(dir.path(), false)), [(CheckCode::IndexAhead, 1)]);
    fs::write(index.join("meta.json"), "{}").unwrap();
    assert_eq!(codes(&check(dir.path(), false)), [(CheckCode::IndexDamaged, 1)]);
    fs::write(index.join("meta.json"), &meta).unwrap();
    let files = fs::read_dir(&index).unwrap().map(|entry| entry.unwrap().path());
    let mut terms = files.filter(|path| path.extension().is_some_and(|kind| kind == "term"));
    fs::remove_file(terms.next().unwrap()).unwrap();
    assert_eq!(codes(&check(dir.path(), false)), [(CheckCode::IndexDamaged, 1)]);
    fs::remove_dir_all(&index).unwrap();
    let report = check(dir.path(), false);
    assert_eq!(codes(&report), [(CheckCode::IndexAbsent, 1)]);
    assert_eq!(report.index_entries, None);
    let rebuilt = Database::reindex(dir.path()).unwrap();
    assert_eq!(rebuilt.entries, 44);
    assert_eq!(codes(&check(dir.path(), true)), []);
}

/// What a foreign index, or one that lost entries, does: it hides sets and cannot show wrong ones.
#[test]
fn an_index_of_another_store_of_the_same_revision_is_found_and_shows_no_wrong_hit() {
    let dir = store();
    let (other, database, report) = mini::imported();
    let release = report.release.id;
    database.store().recipe([7; 16], "{}").unwrap();
    // The same revisions, another sentence under the same ids.
    let (mut sentence, mut set) = generated::sets(&database, release).remove(0);
    sentence.text = "He vouched for it .".to_owned();
    set.targets = vec![Span::new(3, 10)];
    let (sentences, sets) = (vec![sentence], vec![set]);
    database
        .write(release, &fnstore::database::Write { sentences, sets, ..Default::default() })
        .unwrap();
    drop(database);
    let index = dir.path().join("index");
    fs::remove_dir_all(&index).unwrap();
    mini::copy(&other.path().join("index"), &index);

    let report = check(dir.path(), true);
    assert_eq!(
        codes(&report),
        [(CheckCode::IndexCount, 1), (CheckCode::IndexMissing, 1), (CheckCode::IndexWrong, 1)]
    );
    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(mini::answers(&reader, "trigger=vouched").len(), 0, "the store has the word");
    assert_eq!(mini::answers(&reader, "trigger=verified").len(), 0, "hidden: only a check tells");
    drop(reader);
    assert_eq!(Database::reindex(dir.path()).unwrap().entries, 44);
    assert_eq!(codes(&check(dir.path(), true)), []);
    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(mini::answers(&reader, "trigger=verified").len(), 1);
}

#[test]
fn an_unfinished_import_and_an_index_behind_are_no_findings() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    let set = generated::sets(&database, release).remove(0);
    let mut batch = database.store().batch(release);
    batch.put_sentence(&set.0).unwrap();
    batch.put_annotation_set(&set.1).unwrap();
    batch.record(Action::Added, &Subject::Set(set.1.id, SetLocation::of(&set.1)));
    database.store().recipe([7; 16], "{}").unwrap();
    database.store().commit(batch).unwrap();
    let ghost = database.store().begin_release().unwrap();
    let mut batch = database.store().batch(ghost);
    batch.put_annotation_set(&set.1).unwrap();
    database.store().write_unlisted(batch).unwrap();
    let seed = generated::seed();
    assert!(database.store().annotation_set(release, seed).unwrap().is_some());
    let report = database.check(CheckOptions { deep: true }, &mut |_| {}).unwrap();
    assert_eq!(codes(&report), []);
    assert_eq!((report.unlisted_rows, report.index_behind), (3, 2));
    drop(dir);
}
