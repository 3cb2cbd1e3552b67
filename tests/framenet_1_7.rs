//! FrameNet 1.7: what its files say beside those of 1.5 is kept, found and written again.

use std::fs;
use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::framenet::WarningCode;
use fnstore::internals::WithStore as _;
use fnstore::model::{CorpusId, DocumentId, FrameId, LuId, Title};
use fnstore::transfer::ImportOptions;
use tempfile::TempDir;

use crate::cli_program::fnstore_in;
use crate::framenet_round_trip::{assert_equal, export};
use crate::mini;

fn release_1_7() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet-1.7")
}

/// A strict import.
fn imported(release: &Path) -> (TempDir, Database) {
    let store = tempfile::tempdir().unwrap();
    let database = Database::open_writer(store.path()).unwrap();
    let options = ImportOptions { strict: true, ..ImportOptions::default() };
    let report = database.import(release, &options, &mut |_| {}).unwrap();
    assert_eq!(report.warnings.faults(), 0);
    (store, database)
}

/// The XML files of a release, by name below it, with their content.
fn files(release: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["", "frame/", "lu/", "fulltext/"] {
        for entry in fs::read_dir(release.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "xml") {
                let name = format!("{folder}{}", path.file_name().unwrap().to_str().unwrap());
                files.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// Imports strictly, exports, and compares file by file.
fn comes_back_byte_for_byte(release: &Path) -> (TempDir, Database) {
    let (store, database) = imported(release);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out/mini-framenet-1.7");
    fs::create_dir(dir.path().join("out")).unwrap();
    let done = export(&database, "", &out).unwrap().unwrap();
    assert!(done.lost.is_empty(), "{done:?}");
    let (before, after) = (files(release), files(&out));
    for ((name, before), (other, after)) in before.iter().zip(&after) {
        assert_eq!(name, other);
        assert_eq!(after, before, "{name}");
    }
    assert_eq!(before.len(), after.len());
    (store, database)
}

/// A copy of the release, to be edited.
fn copy() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("mini-framenet-1.7");
    mini::copy(&release_1_7(), &release);
    (dir, release)
}

fn replace(release: &Path, file: &str, from: &str, to: &str) {
    let path = release.join(file);
    let content = fs::read_to_string(&path).unwrap();
    assert!(content.contains(from), "{file} lacks {from}");
    fs::write(path, content.replace(from, to)).unwrap();
}

#[test]
fn every_file_comes_out_byte_for_byte_and_nothing_is_odd() {
    let (_dir, database) = comes_back_byte_for_byte(&release_1_7());
    let counts = database.releases().unwrap()[0].counts;
    assert_eq!((counts.frames, counts.lexunits, counts.documents), (2, 2, 2));
}

#[test]
fn names_descriptions_and_numbers_are_in_the_records() {
    let (_dir, database) = imported(&release_1_7());
    let (store, release) = (database.store(), database.releases().unwrap()[0].id);
    let document = store.document(release, CorpusId(301), DocumentId(471)).unwrap().unwrap();
    let title = |name: &str, description: &str| Title {
        name: name.to_owned(),
        description: Some(description.to_owned()),
    };
    assert_eq!(document.title(), title("L067", "Letter from the sorting hall"));
    assert_eq!(document.corpus_title(), title("MINI", "Letters of our own"));
    assert_eq!(document.in_headers, None);
    let frame = store.frame_layout(release, FrameId(501)).unwrap().unwrap();
    assert_eq!(frame.relations[0].frames, [(Some(FrameId(502)), "Handling".to_owned())]);
    let index = store.release_layout(release).unwrap().unwrap().lu_index.unwrap();
    let instances = index.entries.iter().map(|entry| (entry.id, entry.instances));
    let expected = [(LuId(50101), Some(2)), (LuId(50102), Some(0))];
    assert_eq!(instances.collect::<Vec<_>>(), expected);
}

#[test]
fn headers_of_lu_files_that_give_a_description_alone_stay_so() {
    let (_dir, release) = copy();
    let file = "lu/lu50101.xml";
    replace(&release, file, " description=\"Letters of our own\"", "");
    replace(&release, file, " name=\"L067\"", "");
    let (_store, database) = comes_back_byte_for_byte(&release);
    let (store, release) = (database.store(), database.releases().unwrap()[0].id);
    let document = store.document(release, CorpusId(301), DocumentId(471)).unwrap().unwrap();
    assert_eq!(document.name, "L067");
    let in_headers = document.in_headers.unwrap().document;
    assert_eq!(in_headers.name, "Letter from the sorting hall");
}

#[test]
fn an_index_that_gives_a_description_alone_stays_so() {
    let (_dir, release) = copy();
    replace(&release, "fulltextIndex.xml", " name=\"L067\"", "");
    replace(&release, "luIndex.xml", " numAnnotInstances=\"0\"", "");
    comes_back_byte_for_byte(&release);
}

#[test]
fn a_document_that_files_call_by_different_names_keeps_each_with_a_warning() {
    let (dir, release) = copy();
    replace(&release, "lu/lu50101.xml", "name=\"L067\"", "name=\"L970\"");
    replace(&release, "fulltextIndex.xml", "name=\"L068\"", "name=\"L980\"");
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let warnings = mini::import(&database, &release).unwrap().warnings;
    for (code, detail) in [
        (
            WarningCode::NameMismatch,
            "document 471 of corpus 301 is `L067` (`Letter from the sorting hall`) of `MINI` \
             (`Letters of our own`) here and `L970` (`Letter from the sorting hall`) of `MINI` \
             (`Letters of our own`) elsewhere",
        ),
        (
            WarningCode::IndexMismatch,
            "document `L068` (`Letter to the sorters`) (472) is `L980` (`Letter to the sorters`) in \
             fulltextIndex.xml",
        ),
    ] {
        let (_, count, examples) = warnings.iter().find(|(found, ..)| *found == code).unwrap();
        assert_eq!((count, examples[0].detail.as_str()), (1, detail));
    }
    let out = dir.path().join("out");
    export(&database, "", &out).unwrap().unwrap();
    assert_eq!(files(&out), files(&release));
}

#[test]
fn json_lines_carry_all_of_it() {
    let (_dir, release) = copy();
    replace(&release, "lu/lu50101.xml", " name=\"L067\"", "");
    let (store, first) = imported(&release);
    let lines = store.path().join("out.jsonl");
    let mut file = fs::File::create(&lines).unwrap();
    first.export_jsonl(&"".parse().unwrap(), false, &mut file).unwrap().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let second = Database::open_writer(dir.path()).unwrap();
    second.import_jsonl(&lines, None, &mut |_| {}).unwrap();
    assert_equal(&first, &second);
    let out = dir.path().join("xml");
    export(&second, "", &out).unwrap().unwrap();
    assert_eq!(files(&out), files(&release));
}

#[test]
fn a_part_of_it_keeps_its_form() {
    let (_dir, database) = imported(&release_1_7());
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("mini-framenet-1.7");
    export(&database, "doc=L067", &out).unwrap().unwrap();
    let index = fs::read_to_string(out.join("fulltextIndex.xml")).unwrap();
    let document =
        "<document description=\"Letter from the sorting hall\" name=\"L067\" ID=\"471\"/>";
    assert!(index.contains(document) && !index.contains("L068"), "{index}");
}

#[test]
fn a_query_finds_a_document_by_name_description_or_file_and_says_which() {
    let dir = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| fnstore_in(dir.path(), arguments);
    let ran = run(&["import", "--strict", release_1_7().to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let by_description = "doc=\"Letter from the sorting hall\"";
    for (query, told, by) in [
        ("doc=L067", "", "name"),
        ("doc=l067", "", "name"),
        (
            by_description,
            "`doc=\"Letter from the sorting hall\"` is the description of document `L067` of corpus `MINI`",
            "description",
        ),
        ("doc=MINI__L067", "", "file"),
        ("doc=\"*sorting hall\"", "", "description"),
    ] {
        let ran = run(&["query", query, "--format", "jsonl"]);
        let [hit] = ran.records().try_into().unwrap_or_else(|_| panic!("{query}: {ran:?}"));
        assert_eq!(hit["id"], "f6529701", "{query}");
        assert_eq!(hit["document"], "L067", "{query}");
        assert_eq!(hit["document_description"], "Letter from the sorting hall", "{query}");
        assert_eq!(ran.stderr.contains("is the description of"), !told.is_empty(), "{query}");
        assert!(ran.stderr.contains(told), "{query}: {}", ran.stderr);
        let plan = run(&["query", query, "--explain", "--format", "jsonl"]).records().remove(0);
        assert_eq!(plan["terms"][0]["documents"], serde_json::json!({ by: 1 }), "{query}");
    }
    let ran = run(&["query", "doc=\"Letter from\"", "--format", "jsonl"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "a part of a description is none");
    assert!(ran.stderr.contains("did you mean `Letter from the sorting hall`?"), "{}", ran.stderr);
    let table = run(&["query", by_description, "--explain", "--format", "table"]).stdout;
    assert!(table.contains("names documents: 1 by description"), "{table}");
}

#[test]
fn a_document_is_shown_by_either_text_with_both() {
    let dir = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| fnstore_in(dir.path(), arguments);
    run(&["import", release_1_7().to_str().unwrap()]);
    for (name, by) in [("L067", "name"), ("Letter from the sorting hall", "description")] {
        let shown = run(&["show", "document", name, "--format", "jsonl"]);
        let record = shown.records().remove(0);
        assert_eq!(record["name"], "L067", "{shown:?}");
        assert_eq!(record["description"], "Letter from the sorting hall");
        assert_eq!(record["corpus_description"], "Letters of our own");
        assert_eq!(record["named_by"], by);
        assert_eq!(
            crate::cli_schema::faults_in("document.schema.json", &record),
            Vec::<String>::new()
        );
    }
    let table = run(&["show", "document", "Letter from the sorting hall"]).stdout;
    assert!(table.contains("Letter from the sorting hall  (named by it)"), "{table}");
    assert_eq!(run(&["show", "document", "L06"]).code, Some(2));
}

#[test]
fn a_deep_check_finds_nothing_and_edits_keep_the_form() {
    let dir = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| fnstore_in(dir.path(), arguments);
    run(&["import", release_1_7().to_str().unwrap()]);
    assert_eq!(run(&["check", "--deep"]).code, Some(0));
    let script = dir.path().join("script.jsonl");
    let lines = [
        "{\"op\": \"edit-document\", \"document\": \"L068\", \"name\": \"L168\"}",
        "{\"op\": \"add-document\", \"corpus\": \"MINI\", \"name\": \"L069\"}",
    ];
    fs::write(&script, lines.join("\n")).unwrap();
    let ran = run(&["edit", script.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(run(&["check", "--deep"]).code, Some(0));
    let beside = tempfile::tempdir().unwrap();
    let out = beside.path().join("out");
    let ran = run(&["export", "--to", "framenet-xml", out.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let index = fs::read_to_string(out.join("fulltextIndex.xml")).unwrap();
    assert!(index.contains("description=\"Letter to the sorters\" name=\"L168\""), "{index}");
    assert!(index.contains("<document description=\"\" name=\"L069\""), "{index}");
    // A number of the store's own range is no FrameNet number: the next store keeps it as written.
    let store = tempfile::tempdir().unwrap();
    let report = mini::import(&Database::open_writer(store.path()).unwrap(), &out).unwrap();
    assert_eq!(report.warnings.faults(), report.warnings.count(WarningCode::IdWritten));
}
