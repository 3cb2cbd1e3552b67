//! What the library gives is written as JSON in the form that the commands print.

use std::error::Error as _;
use std::path::Path;

use fnstore::internals::WithStore as _;
use fnstore::{Database, Expression, Script};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli_edit::edit;
use crate::cli_program::{fnstore_in, new_store};
use crate::cli_schema::faults_in;

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

/// Edits that add an LU, and a sentence that a person wrote.
fn edits() -> [Value; 2] {
    let lu = json!({"op": "add-lu", "as": "l", "frame": "Checking", "name": "peruse.v"});
    [lu, json!({"op": "add-sentence", "as": "s", "text": "They \u{e9}perused it ."})]
}

/// Edited, so that there is a history.
fn edited() -> tempfile::TempDir {
    let store = new_store();
    assert_eq!(edit(store.path(), &edits()).code, Some(0));
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
    // An LU alone does not know what its frame is called.
    let mut own = written(rows.lexunits(release).unwrap());
    let nameless = |line: String| {
        let mut record: Value = serde_json::from_str(&line).unwrap();
        assert!(record["frame"].as_object_mut().unwrap().remove("name").unwrap().is_string());
        record.to_string()
    };
    let mut lus: Vec<String> = of("lexunit").into_iter().map(nameless).collect();
    own.sort();
    lus.sort();
    assert!(own.len() > 5 && own == lus, "{own:?}");
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
fn changes_are_the_lines_of_their_command_with_records_and_without() {
    let store = edited();
    let removal = json!({"op": "remove-lu", "frame": "Checking", "lu": 1003, "cascade": true});
    assert_eq!(edit(store.path(), &[removal]).code, Some(0));
    let database = Database::open(store.path()).unwrap();
    for (with_records, arguments) in
        [(false, &["changes"][..]), (true, &["changes", "--with-records"])]
    {
        let changes = database.changes(0).unwrap();
        let records = written(database.change_records(changes, with_records).unwrap());
        for record in &records {
            let record = serde_json::from_str(record).unwrap();
            assert_eq!(faults_in("change.schema.json", &record), Vec::<String>::new());
        }
        let has_record = |line: &String| line.contains(r#""record":{"kind":"lexunit""#);
        assert_eq!(records.iter().any(has_record), with_records);
        assert!(records.len() > 3);
        assert_eq!(records, printed(store.path(), arguments));
    }
}

#[test]
fn what_an_edit_did_is_the_line_of_its_command() {
    let (own, other) = (new_store(), new_store());
    let database = Database::open_existing_writer(own.path()).unwrap();
    let mut transaction = database.transaction("mini-framenet").unwrap();
    let script = edits().map(|edit| edit.to_string()).join("\n");
    let mut done = Vec::new();
    Script::new(&mut transaction, None, 7)
        .edit(script.as_bytes(), &mut |of| done.push(serde_json::to_string(&of).unwrap()))
        .unwrap();
    let ran = edit(other.path(), &edits());
    assert_eq!((ran.code, done.len()), (Some(0), 2));
    assert_eq!(done, ran.stdout.lines().collect::<Vec<_>>());
}

/// An error is what the program tells of it, but for the hint, which is for people. Gives the hint.
fn is_told_alike(error: &fnstore::Error, place: &Path, arguments: &[&str]) -> Value {
    let ran = fnstore_in(place, &[&["--errors", "json"], arguments].concat());
    let mut told: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(ran.code, Some(error.kind().exit_code().into()));
    let hint = told["hint"].take();
    assert_eq!(serde_json::to_value(error).unwrap(), told);
    hint
}

#[test]
fn an_error_is_what_the_program_tells_of_it_without_the_hint() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("nowhere");
    let error = fnstore::Error::from(Database::open(&place).err().unwrap());
    let hint = is_told_alike(&error, &place, &["frames"]);
    assert!(hint.is_string(), "{hint}");
}

#[test]
fn an_error_tells_its_causes() {
    let store = new_store();
    // A folder stands where the file of the lock should be.
    let lock = store.path().join("writer.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let error = fnstore::Error::from(Database::open_existing_writer(store.path()).err().unwrap());
    let cause = error.source().expect("the system's").to_string();
    let message = serde_json::to_value(&error).unwrap()["message"].as_str().unwrap().to_owned();
    assert!(!error.to_string().contains(&cause), "{error}");
    assert!(message.starts_with(&error.to_string()) && message.ends_with(&cause), "{message}");
    is_told_alike(&error, store.path(), &["undo", "1"]);
}
