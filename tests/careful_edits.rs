//! What an edit does not name stays as it is, and what a line says of a span must be so: a span of
//! bytes, a kind of null instantiation that is none, or a set without a target is refused.

use fnstore::database::Database;
use serde_json::{Value, json};

use crate::cli_edit::edit;
use crate::cli_program::{fnstore_in, new_store};
use crate::generated;

fn hit(store: &std::path::Path, id: &str) -> Value {
    let query = format!("id={id}");
    fnstore_in(store, &["query", &query, "--format", "jsonl"]).records().remove(0)
}

/// Name, span, GF and PT of the elements of a set.
fn elements(store: &std::path::Path, id: &str) -> Vec<Value> {
    let hit = hit(store, id);
    let of = |of: &Value| json!([of["name"], of["span"], of["gf"], of["pt"]]);
    hit["elements"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn spans_that_stay_keep_what_gf_and_pt_say_of_them() {
    let store = new_store();
    let line = |elements: Value| json!({"op": "edit-set", "set": "x7002", "elements": elements});
    // One span is corrected; the others are given as they were.
    let ran = edit(
        store.path(),
        &[line(json!([
            {"name": "Checker", "span": [0, 3]},
            {"name": "Matter", "span": [16, 21]},
            {"name": "Time", "span": [46, 62]},
        ]))],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let expected = [
        json!(["Checker", [0, 3], "Ext", "NP"]),
        json!(["Matter", [16, 21], null, null]),
        json!(["Time", [46, 62], "Dep", "PP"]),
    ];
    assert_eq!(elements(store.path(), "x7002"), expected);
    // What a line gives takes their place, and an empty text gives none.
    let ran = edit(
        store.path(),
        &[line(json!([
            {"name": "Checker", "span": [0, 3], "gf": "Obj"},
            {"name": "Time", "span": [46, 62], "gf": "", "pt": ""},
        ]))],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let expected = [json!(["Checker", [0, 3], "Obj", null]), json!(["Time", [46, 62], null, null])];
    assert_eq!(elements(store.path(), "x7002"), expected);
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn labels_that_stay_keep_who_made_them() {
    let store = new_store();
    let annotators = || -> Vec<String> {
        let database = Database::open(store.path()).unwrap();
        let answers = database.query(&"id=x7002".parse().unwrap()).unwrap();
        let set = answers.map(Result::unwrap).next().unwrap().set;
        let labels = set.layers.iter().filter(|layer| layer.name.as_str() == "FE");
        labels.flat_map(|layer| &layer.labels).map(|of| of.annotator.clone()).collect()
    };
    let line = |elements: Value, annotator: &str| json!({"op": "edit-set", "set": "x7002", "elements": elements, "annotator": annotator});
    let all = json!([{"name": "Checker", "ni": "DNI"}, {"name": "Matter", "ni": "DNI"}]);
    assert_eq!(edit(store.path(), &[line(all, "ann")]).code, Some(0));
    assert_eq!(annotators(), ["ann", "ann"]);
    let again = json!([{"name": "Matter", "ni": "DNI"}, {"name": "Checker", "ni": "DNI"},
        {"name": "Time", "span": [46, 62]}]);
    let ran = edit(store.path(), &[json!({"op": "edit-set", "set": "x7002", "elements": again})]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(annotators(), ["ann", "ann", ""]);
}

#[test]
fn a_line_that_says_what_spans_cover_is_held_to_it() {
    let store = new_store();
    let text = "Zo\u{eb} \u{1f600} checked it .";
    let add = |targets: Value, trigger: &str, element: Value| {
        let script = [
            json!({"op": "add-sentence", "as": "s", "text": text}),
            json!({"op": "add-set", "sentence": "@s", "frame": "Checking", "lu": 1001,
                "targets": targets, "trigger": trigger, "elements": [element]}),
        ];
        edit(store.path(), &script)
    };
    let matter = json!({"name": "Matter", "span": [14, 16], "text": "it"});
    // In bytes; in units of UTF-16.
    for targets in [json!([[10, 17]]), json!([[7, 14]])] {
        let ran = add(targets, "checked", matter.clone());
        assert!(ran.code == Some(65) && ran.stderr.contains("`trigger` is `checked`"), "{ran:?}");
        assert!(ran.stderr.contains("offsets are code points"), "{ran:?}");
    }
    let ran =
        add(json!([[6, 13]]), "checked", json!({"name": "Matter", "span": [13, 15], "text": "it"}));
    assert!(ran.code == Some(65) && ran.stderr.contains("`elements[0].text` is `it`"), "{ran:?}");
    let ran = add(json!([[6, 13]]), "checked", matter);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = edit(store.path(), &[json!({"op": "edit-set", "set": "x7002", "trigger": "ropes"})]);
    assert!(ran.code == Some(65) && ran.stderr.contains("`checked`"), "{ran:?}");
}

#[test]
fn what_is_no_null_instantiation_and_no_target_is_refused() {
    let store = new_store();
    let refused = |line: Value, said: &str| {
        let ran = edit(store.path(), &[line]);
        assert!(ran.code == Some(65) && ran.stderr.contains(said), "{ran:?}");
    };
    let set = |elements: Value, targets: Value| {
        json!({"op": "add-set", "sentence": "x5001", "frame": "Checking", "lu": 1001,
            "targets": targets, "elements": elements})
    };
    refused(set(json!([{"name": "Time", "ni": "XNI"}]), json!([[4, 11]])), "INI, DNI, CNI or INC");
    refused(set(json!([]), json!([])), "a span or more");
    refused(json!({"op": "edit-set", "set": "x7002", "targets": []}), "a span or more");
}

#[test]
fn an_lu_that_is_proposed_with_sentences_is_accepted_and_not_added() {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    let database_has =
        |name: &str| fnstore_in(store.path(), &["lus", name, "--format", "jsonl"]).records().len();
    drop(database);
    let proposed = fnstore_in(store.path(), &["proposals", "--format", "jsonl"]).records();
    let name = proposed[0]["lu"].as_str().unwrap().to_owned();
    let frame = proposed[0]["frame"].as_str().unwrap().to_owned();
    assert_eq!(database_has(&name), 1);
    let line = json!({"op": "add-lu", "frame": frame, "name": name});
    let ran = edit(store.path(), std::slice::from_ref(&line));
    assert!(ran.code == Some(65) && ran.stderr.contains("is proposed with sentences"), "{ran:?}");
    assert_eq!(fnstore_in(store.path(), &["proposals", "--format", "jsonl"]).records(), proposed);
    let ran = fnstore_in(store.path(), &["proposals", "accept", &frame, &name]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(database_has(&name), 1);
}

#[test]
fn a_set_added_to_an_exemplar_has_the_exemplars_part() {
    let store = new_store();
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("fold.tsv");
    std::fs::write(&list, "exemplars\t*\ttrain\n").unwrap();
    let script = [json!({"op": "add-set", "sentence": "x5001", "frame": "Checking",
        "lu": "inspect.v", "targets": [[26, 35]], "trigger": "inspected"})];
    let ran = edit(store.path(), &script);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let query = ["query", "origin=user split=train", "--count", "--split-list"];
    let ran = fnstore_in(store.path(), &[&query[..], &[list.to_str().unwrap()]].concat());
    assert_eq!(ran.stdout.trim(), "1", "{ran:?}");
}

#[test]
fn who_judges_is_the_author_unless_somebody_is_named() {
    let store = new_store();
    let judge = |set: &str| {
        std::process::Command::new(env!("CARGO_BIN_EXE_fnstore"))
            .env("FNSTORE_DIR", store.path())
            .env("FNSTORE_AUTHOR", "ann")
            .env("USER", "lee")
            .args(["judge", set, "80"])
            .status()
            .unwrap()
    };
    assert!(judge("x7002").success());
    let judged = fnstore_in(store.path(), &["judge", "x7002", "--format", "jsonl"]).records();
    assert_eq!((judged.len(), &judged[0]["reviewer"]), (1, &json!("ann")));
}
