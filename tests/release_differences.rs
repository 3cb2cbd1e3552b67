//! `fnstore releases diff`: what one release has and another lacks, and what differs in both.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli_program::{fnstore_in, mini_framenet};
use crate::cli_schema::faults_in;

/// A store with the small lexicon twice; the second was edited.
fn edited() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path();
    let release = mini_framenet();
    for name in ["one", "two"] {
        succeeds(store, &["import", release.to_str().unwrap(), "--release", name]);
    }
    let script = [
        json!({"op": "add-frame", "name": "Zooming", "elements": [{"name": "Zoomer"}]}),
        json!({"op": "add-lu", "frame": "Zooming", "name": "zoom.v"}),
        json!({"op": "edit-lu", "frame": "Checking", "lu": "verify.v", "status": "Problem"}),
        json!({"op": "edit-element", "frame": "Checking", "element": "Matter",
            "definition": "What is checked", "core_type": "Peripheral"}),
        json!({"op": "add-relation", "kind": "Using", "parent": "Checking", "child": "Zooming"}),
        json!({"op": "edit-set", "set": "x7002", "elements": []}),
        json!({"op": "add-set", "sentence": "x5001", "frame": "Zooming", "lu": "zoom.v",
            "targets": [[0, 2]]}),
        json!({"op": "remove-set", "set": "x7020"}),
    ];
    let lines: Vec<String> = script.iter().map(Value::to_string).collect();
    let file = store.join("edits.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    succeeds(store, &["edit", file.to_str().unwrap(), "--release", "two"]);
    dir
}

fn succeeds(store: &Path, arguments: &[&str]) {
    let ran = fnstore_in(store, arguments);
    assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
}

fn rows(store: &Path, before: &str, after: &str) -> Vec<Value> {
    let arguments = ["releases", "diff", before, after, "--format", "jsonl"];
    let rows = fnstore_in(store, &arguments).records();
    for row in &rows {
        assert_eq!(faults_in("difference.schema.json", row), Vec::<String>::new(), "{row}");
    }
    rows
}

fn short(row: &Value) -> String {
    let of = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let parts = ["kind", "change", "frame", "name", "property"].map(of);
    format!("{} {}", parts.join("|"), row["count"])
}

#[test]
fn each_edit_is_a_difference_of_its_kind_in_both_directions() {
    let dir = edited();
    let forwards: Vec<String> = rows(dir.path(), "one", "two").iter().map(short).collect();
    assert_eq!(
        forwards,
        [
            "frame|added|Zooming|Zooming| 1",
            "fe|changed|Checking|Matter|core type 1",
            "fe|changed|Checking|Matter|definition 1",
            "fe|added|Zooming|Zoomer| 1",
            "lu|changed|Checking|verify.v|status 1",
            "lu|added|Zooming|zoom.v| 1",
            "relation|added|Zooming|Using Checking| 1",
            "annotation|changed|Checking|check.v| 1",
            "annotation|removed|Checking|inspect.v| 1",
            "annotation|added|Zooming|zoom.v| 1",
        ]
    );
    let backwards = rows(dir.path(), "two", "one");
    assert_eq!(short(&backwards[0]), "frame|removed|Zooming|Zooming| 1");
    let status = backwards.iter().find(|row| row["property"] == "status").unwrap();
    assert_eq!(status["before"], "Problem");
    assert_eq!(backwards.len(), forwards.len());
}

#[test]
fn a_release_does_not_differ_from_itself_and_an_unknown_one_is_named() {
    let dir = edited();
    let same = fnstore_in(dir.path(), &["releases", "diff", "one", "one"]);
    assert_eq!((same.code, same.stdout.as_str()), (Some(1), ""));
    assert!(same.stderr.contains("have the same lexicon and annotation"), "{same:?}");
    let unknown = fnstore_in(dir.path(), &["releases", "diff", "one", "tow"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("there is no release `tow`"), "{unknown:?}");
    let table = fnstore_in(dir.path(), &["releases", "diff", "one", "two", "--format", "table"]);
    assert!(table.stderr.contains("LUs: 1 added, 0 removed, 1 changed"), "{table:?}");
    assert!(table.stderr.contains("FEs: 1 added, 0 removed, 1 changed"), "{table:?}");
}
