//! What is counted, listed and found is the same, also of what a release only names.

use std::fs;
use std::path::Path;

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{fnstore_in, new_store};
use crate::mini;
use crate::others_releases::replace;

/// A store with the small release without its frames' files.
fn without_frames() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("mini-framenet");
    mini::copy(&mini::framenet(), &release);
    fs::remove_dir_all(release.join("frame")).unwrap();
    let ran =
        fnstore_in(dir.path().join("store").as_path(), &["import", release.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    // The summary counts what is listed, and says what has a file.
    let frames = ran.stdout.lines().find(|line| line.trim().starts_with("frames ")).unwrap();
    let words: Vec<&str> = frames.split_whitespace().collect();
    assert_eq!(words, ["frames", "6", "0", "with", "a", "file"], "{}", ran.stdout);
    dir
}

fn records(store: &Path, arguments: &[&str]) -> Vec<Value> {
    fnstore_in(store, arguments).records()
}

fn count(store: &Path, query: &str) -> u64 {
    fnstore_in(store, &["query", query, "--count"]).stdout.trim().parse().unwrap()
}

/// That the counts of every release are those of the listings and of queries.
fn agree(store: &Path) {
    for release in records(store, &["releases"]) {
        let name = release["name"].as_str().unwrap();
        let listed =
            |arguments: &[&str]| records(store, &[arguments, &["--release", name]].concat()).len();
        assert_eq!(release["frames"], json!(listed(&["frames"])), "{name}");
        let lus = listed(&["lus", "--include-status", "Problem"]);
        let proposed = records(store, &["lus", "--release", name]);
        let proposed = proposed.iter().filter(|lu| lu["status"] == "Proposed").count();
        assert_eq!(release["lexunits"], json!(lus - proposed), "{name}");
        assert_eq!(release["proposed"], json!(proposed), "{name}");
        assert_eq!(release["sets"], json!(count(store, &format!("release={name}"))), "{name}");
        for (origin, counted) in [
            ("imported", "imported_sets"),
            ("user", "user_sets"),
            ("generated", "generated_sets"),
            ("predicted", "predicted_sets"),
            ("carried", "carried_sets"),
        ] {
            let found = count(store, &format!("release={name} origin={origin}"));
            assert_eq!(release["added"][counted], json!(found), "{name} {origin}");
        }
        // `fes` of a frame are as many as `frames` says.
        for frame in records(store, &["frames", "--release", name]) {
            let fes = listed(&["fes", "--frame", frame["name"].as_str().unwrap()]);
            assert_eq!(frame["fes"], json!(fes), "{frame}");
        }
    }
}

#[test]
fn a_release_of_frames_that_are_only_named_counts_and_lists_them() {
    let dir = without_frames();
    let store = dir.path().join("store");
    let release = &records(&store, &["releases"])[0];
    assert_eq!(release["frames"], json!(6));
    agree(&store);
    // Every FE that a query finds is listed, without a number; and none beside.
    let by_fe = records(&store, &["query", "--count-by", "fe", "--format", "jsonl"]);
    for row in by_fe.iter().filter(|row| !row["value"].is_null()) {
        let name = row["value"].as_str().unwrap();
        let listed = records(&store, &["fes", name]);
        assert!(!listed.is_empty(), "{name}");
        for fe in &listed {
            assert_eq!((&fe["id"], &fe["core_type"]), (&Value::Null, &Value::Null), "{fe}");
            let query = format!("frame={} fe={name}", fe["frame"].as_str().unwrap());
            assert!(count(&store, &query) > 0, "{query}");
        }
    }
    let unknown = fnstore_in(&store, &["fes", "Checkr"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("did you mean `Checker`?"), "{}", unknown.stderr);
    let shown = fnstore_in(&store, &["show", "frame", "Checking"]).stdout;
    assert!(shown.contains("FEs that annotation labels and the frame does not define"), "{shown}");
    assert!(shown.contains("  Checker  in "), "{shown}");
}

#[test]
fn the_small_release_agrees_with_its_sets_of_every_origin() {
    let store = new_store();
    crate::cli_schema::generate(store.path());
    let spans = store.path().join("spans.jsonl");
    let line = r#"{"text": "A b", "spans": [{"start": 0, "end": 1, "type": "Letter"}]}"#;
    fs::write(&spans, line).unwrap();
    let import = ["import", spans.to_str().unwrap(), "--spans", "--release", "letters"];
    assert_eq!(fnstore_in(store.path(), &import).code, Some(0));
    let script = store.path().join("edit.jsonl");
    let lines = [
        json!({"op": "add-sentence", "text": "He checked it .", "as": "s"}),
        json!({"op": "add-set", "sentence": "@s", "frame": "Checking", "lu": 1001, "targets": [[3, 10]],
            "elements": [{"name": "Checker", "span": [0, 2]}]}),
    ];
    fs::write(&script, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let edit = ["edit", script.to_str().unwrap(), "--release", "mini-framenet"];
    let ran = fnstore_in(store.path(), &edit);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    agree(store.path());
}

#[test]
fn imported_sets_are_told_by_what_they_say_of_themselves() {
    // What an export of imported sets brings back in XML is an exemplar, under the id that it had.
    let (dir, database, report) = mini::imported();
    let set = database.query(&"id=x7002".parse().unwrap()).unwrap().next().unwrap().unwrap().set;
    let own = fnstore::model::AnnotationSetId::new(fnstore::model::IdSpace::Imported, 1 << 40);
    let write = fnstore::database::Write {
        sets: vec![fnstore::model::AnnotationSet { id: own, ..set }],
        ..fnstore::database::Write::default()
    };
    let before = database.store().added_counts(report.release.id).unwrap();
    database.write(report.release.id, &write).unwrap();
    assert_eq!(database.store().added_counts(report.release.id).unwrap(), before);
    drop(database);
    agree(dir.path());
}

#[test]
fn what_framenet_1_7_states_of_an_lu_is_a_claim_beside_what_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("mini-framenet-1.7");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet-1.7");
    mini::copy(&source, &release);
    let sorting = fs::read_to_string(release.join("frame/Sorting.xml")).unwrap();
    assert!(sorting.contains("<sentenceCount"), "{sorting}");
    let at = sorting.find("<sentenceCount").unwrap();
    let end = at + sorting[at..].find("/>").unwrap() + 2;
    let stated = "<sentenceCount annotated=\"58\" total=\"60\"/>";
    replace(&release, "frame/Sorting.xml", &sorting[at..end], stated);
    let store = dir.path().join("store");
    let database = Database::open_writer(&store).unwrap();
    mini::import(&database, &release).unwrap();
    drop(database);
    let claimed: Vec<Value> = records(&store, &["lus"]);
    let lu = claimed.iter().find(|lu| lu["claimed_annotated"] == 58).unwrap();
    let name = lu["name"].as_str().unwrap();
    for origin in ["exemplar", "fulltext"] {
        assert_eq!(lu[origin], json!(count(&store, &format!("lu={name} origin={origin}"))));
    }
    let shown = fnstore_in(&store, &["show", "lu", name]).stdout;
    let counted =
        format!("    {} exemplar; the release states 58 annotated of 60 sentences", lu["exemplar"]);
    assert!(shown.contains(&counted), "{shown}");
    let frame = &records(&store, &["show", "frame", "Sorting", "--format", "jsonl"])[0];
    let in_frame = frame["lexunits"].as_array().unwrap();
    let in_frame = in_frame.iter().find(|of| of["name"] == name).unwrap();
    assert_eq!(in_frame["exemplar"], lu["exemplar"]);
    assert_eq!(
        (&in_frame["claimed_annotated"], &in_frame["claimed_extracted"]),
        (&json!(58), &json!(60))
    );
}
