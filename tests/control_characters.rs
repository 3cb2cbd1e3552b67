//! Texts from elsewhere and from edits may hold characters that XML does not have: they are kept,
//! JSON lines have them, and XML is written with U+FFFD in their place, which is counted. Names
//! cannot hold them.

use std::path::Path;

use fnstore::database::Database;
use fnstore::model::is_xml;
use fnstore::transfer::{FramenetLoss, ImportOptions};
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::framenet_round_trip::export;
use crate::mini;

const SPANS: &str = "{\"text\": \"a\\u0001b \\u001b[1m cd\", \"spans\": [{\"start\": 9, \"end\": 11, \"type\": \"T\"}]}\n";

/// A store of one text with two control characters.
fn imported(dir: &std::path::Path) -> Database {
    let file = dir.join("spans.jsonl");
    std::fs::write(&file, SPANS).unwrap();
    let database = Database::open_writer(&dir.join("first")).unwrap();
    let options = ImportOptions { release: Some("chat".to_owned()), ..ImportOptions::default() };
    database.import_spans(&file, &options, &mut |_| {}).unwrap();
    database
}

/// Text and trigger of every set.
fn texts(database: &Database) -> Vec<(String, String)> {
    let answers = database.query(&"".parse().unwrap()).unwrap();
    answers
        .map(|answer| {
            let answer = answer.unwrap();
            (answer.sentence.text.clone(), answer.trigger())
        })
        .collect()
}

#[test]
fn an_export_as_xml_replaces_and_counts_them_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let database = imported(dir.path());
    let out = dir.path().join("chat");
    let report = export(&database, "", &out).unwrap().unwrap();
    assert_eq!(report.lost.get(&FramenetLoss::Characters), Some(&2));
    let mut paths = vec![out.clone()];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let content = std::fs::read_to_string(&path).unwrap();
        assert!(content.chars().all(is_xml), "{}", path.display());
    }
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    mini::import(&second, &out).unwrap();
    let expected = ("a\u{fffd}b \u{fffd}[1m cd".to_owned(), "cd".to_owned());
    assert_eq!(texts(&second), [expected]);
}

#[test]
fn json_lines_have_them_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let database = imported(dir.path());
    let mut lines = Vec::new();
    database.export_jsonl(&"".parse().unwrap(), false, &mut lines).unwrap().unwrap();
    let file = dir.path().join("chat.jsonl");
    std::fs::write(&file, lines).unwrap();
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    second.import_jsonl(&file, None, &mut |_| {}).unwrap();
    assert_eq!(texts(&second), texts(&database));
    assert_eq!(texts(&second)[0].0, "a\u{1}b \u{1b}[1m cd");
}

/// Runs a script of edits on the store in `dir`.
fn edit(dir: &Path, script: &[Value]) -> Ran {
    let file = dir.join("script.jsonl");
    let lines: Vec<String> = script.iter().map(Value::to_string).collect();
    std::fs::write(&file, lines.join("\n")).unwrap();
    fnstore_in(dir, &["edit", file.to_str().unwrap()])
}

#[test]
fn texts_of_edits_keep_them_and_come_back_from_json_lines_and_with_a_replacement_from_xml() {
    let store = new_store();
    let odd = "a\u{1}b\u{7}\u{1b}[1m\u{ffff}";
    let ran = edit(
        store.path(),
        &[
            json!({"op": "edit-lu", "frame": "Checking", "lu": "verify.v", "definition": odd}),
            json!({"op": "add-sentence", "as": "s", "text": odd}),
            json!({"op": "add-set", "sentence": "@s", "frame": "Checking", "lu": "verify.v",
                "targets": [[0, 3]], "elements": [{"name": "Checker", "span": [0, 1]}]}),
        ],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let database = Database::open(store.path()).unwrap();
    let of_people = |database: &Database| -> Vec<String> {
        let answers = database.query(&"origin=user".parse().unwrap()).unwrap();
        answers.map(|answer| format!("{:?}", answer.unwrap())).collect()
    };
    assert!(of_people(&database)[0].contains("u{1b}"), "{:?}", of_people(&database));

    let dir = tempfile::tempdir().unwrap();
    let lines = dir.path().join("all.jsonl");
    let ran = fnstore_in(store.path(), &["export", "--to", "jsonl", lines.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    second.import_jsonl(&lines, None, &mut |_| {}).unwrap();
    let without_release = |sets: Vec<String>| -> Vec<String> {
        sets.iter().map(|set| set[set.find("sentence").unwrap()..].to_owned()).collect()
    };
    assert_eq!(without_release(of_people(&second)), without_release(of_people(&database)));

    let out = dir.path().join("mini-framenet");
    let report = export(&database, "", &out).unwrap().unwrap();
    // The definition stands in two files.
    assert_eq!(report.lost[&FramenetLoss::Characters], 3 * 4);
    let third = Database::open_writer(&dir.path().join("third")).unwrap();
    mini::import(&third, &out).unwrap();
    let answers = |database: &Database| mini::answers(database, "origin=user");
    assert_eq!(answers(&third), answers(&database));
    assert!(of_people(&third)[0].contains("a\u{fffd}b\u{fffd}\u{fffd}[1m\u{fffd}"));
}

#[test]
fn names_of_edits_are_refused_with_line_and_field_and_nothing_raw() {
    let store = new_store();
    let before = fnstore_in(store.path(), &["export", "--to", "jsonl"]).stdout;
    for (edited, field) in [
        (json!({"op": "add-frame", "name": "Zoo\u{1}ming"}), "name"),
        (json!({"op": "add-lu", "frame": "Checking", "name": "zo\u{1b}om.v"}), "name"),
        (json!({"op": "add-document", "corpus": "N\u{0}", "name": "Monday"}), "corpus"),
        (json!({"op": "add-document", "corpus": "NOTES", "name": "Mon\nday"}), "name"),
        (json!({"op": "add-semtype", "name": "Gad\u{85}get"}), "name"),
        (
            json!({"op": "add-element", "frame": "Checking", "element": {"name": "W\u{7}"}}),
            "elements[",
        ),
    ] {
        let fine = json!({"op": "add-sentence", "text": "never kept"});
        let ran = edit(store.path(), &[fine, edited.clone()]);
        assert_ne!(ran.code, Some(0), "{edited}");
        let at = format!("line 2: E-value: `{field}");
        assert!(ran.stderr.contains(&at), "{edited}: {}", ran.stderr);
        let raw = |letter: char| letter.is_control() && letter != '\n';
        assert!(!ran.stderr.contains(raw), "{edited}: {:?}", ran.stderr);
    }
    assert_eq!(fnstore_in(store.path(), &["export", "--to", "jsonl"]).stdout, before);
}
