//! `--errors json`: the last line of stderr is the error, and exit codes tell the kinds apart.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli_edit::edit;
use crate::cli_program::{fnstore_in, new_store};
use crate::cli_schema::faults_in;

/// Runs what fails; gives its error.
fn error(store: &Path, arguments: &[&str]) -> Value {
    let ran = fnstore_in(store, &[arguments, &["--errors", "json"]].concat());
    let last = ran.stderr.lines().last().unwrap_or_default();
    let error: Value = serde_json::from_str(last).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(faults_in("error.schema.json", &error), Vec::<String>::new());
    assert_eq!(ran.code, error["exit"].as_i64().map(|code| code as i32));
    error
}

fn told(error: &Value) -> [&Value; 3] {
    [&error["kind"], &error["code"], &error["exit"]]
}

#[test]
fn kinds_of_errors_have_exit_codes_of_their_own() {
    let (store, nowhere) = (new_store(), tempfile::tempdir().unwrap());
    let absent = error(&nowhere.path().join("none"), &["releases"]);
    assert_eq!(told(&absent), [&json!("no-store"), &json!("S-absent"), &json!(66)]);
    assert!(absent["hint"].as_str().unwrap().contains("fnstore import"));
    let usage = error(store.path(), &["query", "--lmit", "3"]);
    assert_eq!(told(&usage), [&json!("usage"), &Value::Null, &json!(2)]);
    assert!(usage["message"].as_str().unwrap().contains("--lmit"));
    let query = error(store.path(), &["query", "frame=Cheking"]);
    assert_eq!((&query["kind"], &query["exit"]), (&json!("failed"), &json!(2)));
    let file = nowhere.path().join("wrong.jsonl");
    std::fs::write(&file, "{}\n").unwrap();
    let input = error(store.path(), &["import", file.to_str().unwrap()]);
    assert_eq!((&input["kind"], &input["exit"]), (&json!("bad-input"), &json!(65)));
    let empty = nowhere.path().to_str().unwrap();
    let asked =
        ["expand", "lu=check.v", "--limit", "1", "--model", "paraphrase", "--models", empty];
    let model = error(store.path(), &asked);
    assert_eq!((&model["kind"], &model["exit"]), (&json!("no-model"), &json!(69)), "{model}");
}

#[test]
fn words_are_told_unless_json_is_asked_for() {
    let store = new_store();
    let ran = fnstore_in(store.path(), &["show", "frame", "Cheking"]);
    assert!(ran.stderr.starts_with("error: ") && ran.code == Some(2), "{ran:?}");
    let wrong = fnstore_in(store.path(), &["releases", "--errors", "xml"]);
    assert!(wrong.stderr.contains("text") && wrong.code == Some(2), "{wrong:?}");
    assert_eq!(edit(store.path(), &[]).code, Some(1));
}
