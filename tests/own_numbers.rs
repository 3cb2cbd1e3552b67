//! What people added has numbers of the store's own, and keeps them through every export.

use std::fs;
use std::path::Path;

use fnstore::database::Database;
use fnstore::framenet::WarningCode;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSet, Frame, FrameId, LexUnit, LuId, OWN_RANGE, Provenance};
use fnstore::transfer::{FramenetLoss, ImportOptions};
use fnstore::upkeep::CheckOptions;
use serde_json::{Value, json};

use crate::cli_program::{fnstore_in, mini_framenet, new_store};
use crate::framenet_round_trip::export;
use crate::mini;
use crate::others_releases::{everywhere, replace};

/// A store in which a frame and two LUs were added to mini-framenet.
fn added() -> (tempfile::TempDir, Database) {
    let (dir, database, report) = mini::imported();
    let mut edits = database.transaction(report.release.id).unwrap();
    let frame = Frame { has_file: true, ..Frame::named(FrameId(0), "Zooming") };
    let frame = edits.add_frame(frame).unwrap();
    assert_eq!(frame, FrameId(OWN_RANGE + 1));
    edits.add_lexunit(LexUnit::named(frame, LuId(0), "zoom.v")).unwrap();
    edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), "added.v")).unwrap();
    edits.commit().unwrap();
    (dir, database)
}

/// Frame, number and name of every LU.
fn lexunits(database: &Database) -> Vec<(u32, u32, String)> {
    let release = database.releases().unwrap()[0].id;
    let names = database.store().lexunit_names(release).unwrap();
    names.map(|row| row.map(|(frame, lu, name)| (frame.0, lu.0, name)).unwrap()).collect()
}

fn added_by_people(database: &Database) -> String {
    let mut lines = Vec::new();
    database.export_jsonl(&"origin=user".parse().unwrap(), false, &mut lines).unwrap().unwrap();
    String::from_utf8(lines).unwrap()
}

#[test]
fn an_import_of_an_export_as_xml_gives_the_same_numbers() {
    let (_dir, database) = added();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("mini-framenet");
    export(&database, "", &out).unwrap().unwrap();
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    let report = mini::import(&second, &out).unwrap();
    assert_eq!(report.warnings.count(WarningCode::IdWritten), 0);
    assert_eq!(lexunits(&second), lexunits(&database));
    for name in ["Zooming", "zoom.v", "added.v"] {
        assert!(added_by_people(&second).contains(name), "{name}");
    }
    let again = dir.path().join("again");
    export(&second, "", &again).unwrap().unwrap();
    for file in ["frame/Zooming.xml", "frame/Checking.xml", "frameIndex.xml", "luIndex.xml"] {
        let [first, second] = [&out, &again].map(|dir| fs::read_to_string(dir.join(file)).unwrap());
        assert_eq!(first, second, "{file}");
    }
    let mut edits = second.transaction(report.release.id).unwrap();
    let later = edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), "later.v")).unwrap();
    assert_eq!(later, LuId(OWN_RANGE + 4), "behind those that came");
}

#[test]
fn a_file_of_others_with_such_numbers_gets_fresh_ones() {
    let (_dir, database) = added();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("mini-framenet");
    export(&database, "", &out).unwrap().unwrap();
    let file = out.join("frame/Zooming.xml");
    let content = fs::read_to_string(&file).unwrap();
    assert!(content.contains("<?fnstore own-numbers?>\n<frame "));
    fs::write(&file, content.replace("<?fnstore own-numbers?>\n", "")).unwrap();
    assert!(!fs::read_to_string(out.join("frame/Roaming.xml")).unwrap().contains("<?fnstore"));
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    let report = mini::import(&second, &out).unwrap();
    assert_eq!(report.warnings.count(WarningCode::IdWritten), 2);
}

/// Annotation by people: on a sentence of their own, in a document of their own and in none, on an
/// exemplar and on a sentence of full text; for LUs of the release and for one of their own.
fn script() -> Vec<Value> {
    let set = |sentence: &str, lu: &str, frame: &str, end: u32| {
        json!({"op": "add-set", "sentence": sentence, "frame": frame, "lu": lu, "targets": [[0, end]],
            "elements": [{"name": "Checker", "span": [0, 1], "gf": "Ext", "pt": "NP"}]})
    };
    let plain = |sentence: &str, lu: &str| {
        json!({"op": "add-set", "sentence": sentence, "frame": "Zooming", "lu": lu,
            "targets": [[0, 2], [3, 4]]})
    };
    vec![
        json!({"op": "add-frame", "name": "Zooming"}),
        json!({"op": "add-lu", "frame": "Zooming", "name": "zoom.v"}),
        json!({"op": "add-lu", "frame": "Checking", "name": "without sets.v"}),
        json!({"op": "add-document", "as": "d", "corpus": "NOTES", "name": "Monday"}),
        json!({"op": "add-sentence", "as": "s", "text": "She checked it .", "document": "@d"}),
        json!({"op": "add-sentence", "as": "t", "text": "It zoomed in & \u{e9} \u{1f6b2} ."}),
        json!({"op": "add-sentence", "as": "u", "text": "No set stands here .", "document": "@d"}),
        set("@s", "verify.v", "Checking", 3),
        plain("@s", "zoom.v"),
        plain("@t", "zoom.v"),
        set("x5001", "verify.v", "Checking", 1),
        plain("x5001", "zoom.v"),
        set("f6001", "verify.v", "Checking", 2),
        plain("f6002", "zoom.v"),
    ]
}

pub(crate) fn annotated() -> (tempfile::TempDir, Database) {
    let store = new_store();
    let file = store.path().join("script.jsonl");
    let lines: Vec<String> = script().iter().map(Value::to_string).collect();
    fs::write(&file, lines.join("\n")).unwrap();
    let ran = fnstore_in(store.path(), &["edit", file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let database = Database::open_writer(store.path()).unwrap();
    (store, database)
}

/// Whether any oddity ends the import.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strict {
    Yes,
    /// Those of mini-framenet itself do not.
    AsMini,
    No,
}

/// An import into a store of its own, which is found whole.
fn import_of(release: &Path, strict: Strict) -> (tempfile::TempDir, Database) {
    let store = tempfile::tempdir().unwrap();
    let database = Database::open_writer(store.path()).unwrap();
    let options = ImportOptions {
        strict: strict == Strict::Yes,
        language: Some("en".to_owned()),
        ..ImportOptions::default()
    };
    let report = database.import(release, &options, &mut |_| {});
    let warnings = report.unwrap_or_else(|error| panic!("{error}")).warnings;
    if strict == Strict::AsMini {
        let (_mini, _, usual) = mini::imported();
        let faults = warnings.iter().filter(|(code, ..)| !code.is_trait());
        for (code, count, examples) in faults {
            assert_eq!(count, usual.warnings.count(code), "{examples:?}");
        }
    }
    let check = database.check(CheckOptions { deep: true }, &mut |_| {}).unwrap();
    assert!(check.findings.is_empty(), "{:#?}", check.findings);
    (store, database)
}

/// Sentences and sets of the only release, as text, without what an export as XML does not keep.
fn records(database: &Database) -> Vec<String> {
    let (store, release) = (database.store(), database.releases().unwrap()[0].id);
    let sentences = store.sentences(release).unwrap().map(|row| format!("{:?}", row.unwrap()));
    let sets = store.annotation_sets(release).unwrap().map(|row| format!("{:?}", row.unwrap()));
    sentences.chain(sets).collect()
}

/// Names and contents of all files of a release.
fn files(release: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["", "frame", "lu", "fulltext"] {
        for entry in fs::read_dir(release.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.strip_prefix(release).unwrap().display().to_string();
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn sets_and_sentences_of_people_keep_ids_places_and_origin_through_xml_without_a_warning() {
    let (_store, database) = annotated();
    let dir = tempfile::tempdir().unwrap();
    let [first, again] = ["a", "b"].map(|name| dir.path().join(name).join("mini-framenet"));
    for out in [&first, &again] {
        fs::create_dir(out.parent().unwrap()).unwrap();
    }
    export(&database, "", &first).unwrap().unwrap();
    let (_second_store, second) = import_of(&first, Strict::AsMini);
    assert_eq!(records(&second), records(&database));
    assert_eq!(lexunits(&second), lexunits(&database));
    for query in ["origin=user", "corpus=NOTES", "doc=Monday", "lu=zoom.v", "fe=Checker", ""] {
        let found = mini::answers(&database, query);
        assert!(!found.is_empty(), "{query}");
        assert_eq!(mini::answers(&second, query), found, "{query}");
    }
    assert_eq!(mini::answers(&second, "origin=user").len(), 7);
    let (ours, theirs) = [&database, &second].map(|of| of.releases().unwrap()[0].counts).into();
    assert_eq!(theirs.exemplar_sets, ours.exemplar_sets);
    assert_eq!((theirs.sentences, theirs.sentence_occurrences), {
        (ours.sentences, ours.sentence_occurrences)
    });
    export(&second, "", &again).unwrap().unwrap();
    for (one, other) in files(&first).into_iter().zip(files(&again)) {
        assert_eq!(one, other);
    }
    assert_eq!(files(&first).len(), files(&again).len());
}

#[test]
fn sets_of_people_keep_their_ids_in_a_part_of_a_release() {
    let (_store, database) = annotated();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("mini-framenet");
    export(&database, "origin=user", &out).unwrap().unwrap();
    let store = tempfile::tempdir().unwrap();
    let second = Database::open_writer(store.path()).unwrap();
    mini::import(&second, &out).unwrap();
    let ids = |database: &Database| mini::answers(database, "origin=user");
    assert_eq!(ids(&second), ids(&database));
    let texts = |database: &Database| -> Vec<String> {
        let answers = database.query(&"origin=user".parse().unwrap()).unwrap();
        answers.map(|answer| format!("{:?}", answer.unwrap().sentence.text)).collect()
    };
    assert_eq!(texts(&second), texts(&database));
}

#[test]
fn span_labelled_data_keeps_its_ids_and_documents_through_xml_without_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("ner.jsonl");
    let lines = [
        json!({"id": "a1", "split": "train", "text": "\u{1f600} Ana verified it .",
            "spans": [{"start": 2, "end": 5, "type": "person"}, {"start": 6, "end": 14, "type": "check"}]}),
        json!({"document": "log", "split": "test", "text": "verified",
            "spans": [{"start": 0, "end": 8, "type": "check", "pos": "v"}]}),
        json!({"text": "Ana", "spans": [{"start": 0, "end": 3, "type": "person"}]}),
        json!({"text": "Ana", "spans": [{"start": 0, "end": 3, "type": "person"}]}),
        json!({"text": "Nobody is named here .", "spans": []}),
    ];
    fs::write(&data, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    database.import_spans(&data, &ImportOptions::default(), &mut |_| {}).unwrap();
    let out = dir.path().join("ner");
    let done = export(&database, "", &out).unwrap().unwrap();
    assert_eq!(done.lost, [(FramenetLoss::Imported, 5), (FramenetLoss::Sentences, 1)].into());
    let (_second_store, second) = import_of(&out, Strict::Yes);
    for query in
        ["", "origin=imported", "frame=person", "lu=verify.v", "corpus=test", "split=train"]
    {
        let found = mini::answers(&database, query);
        assert!(!found.is_empty(), "{query}");
        assert_eq!(mini::answers(&second, query), found, "{query}");
    }
    let ids = |database: &Database| -> Vec<String> {
        let rows = database.store().sentences(database.releases().unwrap()[0].id).unwrap();
        let rows = rows.map(|row| row.unwrap()).filter(|row| !row.text.starts_with("Nobody"));
        rows.map(|row| format!("{} {}", row.id, row.text)).collect()
    };
    assert_eq!(ids(&second), ids(&database));
}

#[test]
fn an_id_of_a_release_that_looks_like_one_of_people_stays_the_releases() {
    // A whole integer of the range of people, which this release writes itself.
    let like = "144115188075855879";
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("mini-framenet");
    mini::copy(&mini_framenet(), &release);
    replace(&release, "lu/lu1001.xml", "ID=\"5001\"", &format!("ID=\"{like}\""));
    let store = tempfile::tempdir().unwrap();
    let database = Database::open_writer(store.path()).unwrap();
    let report = mini::import(&database, &release).unwrap();
    assert_eq!(report.warnings.count(WarningCode::IdWritten), 1);
    // What people add to the LU would have the file say that such ids are people's.
    let mut edits = database.transaction(report.release.id).unwrap();
    let mut set =
        database.query(&"id=x7002".parse().unwrap()).unwrap().next().unwrap().unwrap().set;
    set.provenance = Provenance::User;
    edits.add_annotation_set(set).unwrap();
    edits.commit().unwrap();
    let out = dir.path().join("out/mini-framenet");
    fs::create_dir(out.parent().unwrap()).unwrap();
    export(&database, "", &out).unwrap().unwrap();
    let written = fs::read_to_string(out.join("lu/lu1001.xml")).unwrap();
    assert!(written.contains(&format!("<?fnstore own-numbers sentence {like}?>\n<lexUnit ")));
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    mini::import(&second, &out).unwrap();
    for query in ["", "origin=user"] {
        assert_eq!(mini::answers(&second, query), mini::answers(&database, query), "{query}");
    }
    let shown = fnstore_in(second.dir(), &["show", "sentence", &format!("x{like}")]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
}

#[test]
fn lus_of_people_keep_their_numbers_beside_a_releases_own_from_2_31_on() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("mini-framenet");
    mini::copy(&mini_framenet(), &release);
    let like = "3000001001";
    everywhere(&release, &mut |_, content| {
        let content = content
            .replace("name=\"check.v\" ID=\"1001\"", &format!("name=\"check.v\" ID=\"{like}\""));
        content.replace("luID=\"1001\"", &format!("luID=\"{like}\""))
    });
    fs::rename(release.join("lu/lu1001.xml"), release.join(format!("lu/lu{like}.xml"))).unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let report = mini::import(&database, &release).unwrap();
    assert_ne!(report.warnings.count(WarningCode::IdWritten), 0);
    // The frame's file has both numbers, each LU's own file has one.
    let mut edits = database.transaction(report.release.id).unwrap();
    let added = edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), "added.v")).unwrap();
    let set = database.query(&"id=x7002".parse().unwrap()).unwrap().next().unwrap().unwrap().set;
    let of_added = AnnotationSet { lu: added, provenance: Provenance::User, ..set };
    edits.add_annotation_set(of_added).unwrap();
    edits.commit().unwrap();
    let [out, again] = ["out", "again"].map(|name| {
        fs::create_dir(dir.path().join(name)).unwrap();
        dir.path().join(name).join("mini-framenet")
    });
    export(&database, "", &out).unwrap().unwrap();
    let frame = fs::read_to_string(out.join("frame/Checking.xml")).unwrap();
    assert!(frame.contains(&format!("<?fnstore own-numbers lu {like}?>\n<frame ")), "{frame}");
    let (_second, second) = import_of(&out, Strict::No);
    assert_eq!(lexunits(&second), lexunits(&database));
    assert_eq!(records(&second), records(&database));
    export(&second, "", &again).unwrap().unwrap();
    assert_eq!(files(&again), files(&out));
}
