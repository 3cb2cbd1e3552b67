//! What the library gives is written as JSON in the form that the commands print.

use std::path::Path;

use fnstore::internals::WithStore as _;
use fnstore::{Database, Expression};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli_edit::edit;
use crate::cli_program::{fnstore_in, new_store};

fn written<T: Serialize, E: std::fmt::Debug>(
    records: impl Iterator<Item = Result<T, E>>,
) -> Vec<String> {
    records.map(|record| serde_json::to_string(&record.unwrap()).unwrap()).collect()
}

fn printed(store: &Path, arguments: &[&str]) -> Vec<String> {
    let ran = fnstore_in(store, arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout.lines().map(str::to_owned).collect()
}

/// An edit, so that there is a history, and a sentence that a person wrote.
fn edited() -> tempfile::TempDir {
    let store = new_store();
    let lu = json!({"op": "add-lu", "as": "l", "frame": "Checking", "name": "peruse.v"});
    let sentence = json!({"op": "add-sentence", "as": "s", "text": "They \u{e9}perused it ."});
    assert_eq!(edit(store.path(), &[lu, sentence]).code, Some(0));
    store
}

#[test]
fn records_are_the_lines_of_an_export() {
    let store = edited();
    let database = Database::open(store.path()).unwrap();
    let release = database.releases().unwrap()[0].id;
    let rows = database.store();
    let lines = printed(store.path(), &["export", "release=mini-framenet", "--to", "jsonl"]);
    let lines: Vec<(Value, String)> =
        lines.into_iter().map(|line| (serde_json::from_str(&line).unwrap(), line)).collect();
    let of = |kind: &str| {
        let of_kind = lines.iter().filter(|(record, _)| record["kind"] == kind);
        let mut of_kind: Vec<String> = of_kind.map(|(_, line)| line.clone()).collect();
        of_kind.sort();
        of_kind
    };
    for (kind, mut own) in [
        ("frame", written(rows.frames(release).unwrap())),
        ("relation", written(rows.relations(release).unwrap())),
        ("sem_type", written(rows.sem_types(release).unwrap())),
        ("document", written(rows.documents(release).unwrap())),
        ("sentence", written(rows.sentences(release).unwrap())),
    ] {
        own.sort();
        assert!(!own.is_empty(), "no {kind}");
        assert_eq!(own, of(kind));
    }
    let frame = rows.frames(release).unwrap().next().unwrap().unwrap();
    let record: Value = serde_json::to_value(&frame).unwrap();
    assert!(!frame.elements.is_empty());
    assert_eq!(serde_json::to_value(&frame.elements).unwrap(), record["elements"]);
}

#[test]
fn answers_and_commits_are_the_lines_of_their_commands() {
    let store = edited();
    let database = Database::open(store.path()).unwrap();
    let query = Expression::parse("frame=Checking").unwrap();
    let answers = written(database.query(&query).unwrap());
    assert_eq!(answers, printed(store.path(), &["query", "frame=Checking"]));
    let commits = written(database.commits().unwrap());
    assert!(commits.len() > 1);
    assert_eq!(commits, printed(store.path(), &["history"]));
}

#[test]
fn an_error_is_what_the_program_tells_of_it_without_the_hint() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("nowhere");
    let ran = fnstore_in(&place, &["--errors", "json", "frames"]);
    let mut told: Value = serde_json::from_str(ran.stderr.trim_end()).unwrap();
    let error = fnstore::Error::from(Database::open(&place).err().unwrap());
    assert_eq!(ran.code, Some(error.kind().exit_code().into()));
    assert!(told["hint"].is_string(), "{told}");
    told["hint"] = Value::Null;
    assert_eq!(serde_json::to_value(&error).unwrap(), told);
}
