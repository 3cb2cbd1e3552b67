//! Links to other lexicons, and what was decided of them, go along in exports as JSON lines.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, mini_framenet, new_store};
use crate::cli_schema::faults_in;

fn done(store: &Path, arguments: &[&str]) -> Ran {
    let ran = fnstore_in(store, arguments);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

fn import_others(store: &Path) {
    for other in ["mini-wordnet", "mini-verbnet", "mini-propbank", "mini-semlink"] {
        done(store, &["import", mini_framenet().with_file_name(other).to_str().unwrap()]);
    }
}

fn decide(store: &Path, verdict: &str, name: &str, target: &str) {
    let decided = ["links", verdict, "Checking", name, target, "--reviewer", "kim"];
    done(store, &decided);
}

/// A store with links, one of which was rejected and one added.
fn linked() -> tempfile::TempDir {
    let store = new_store();
    import_others(store.path());
    done(store.path(), &["link"]);
    decide(store.path(), "reject", "inspect.v", "00000677-v");
    decide(store.path(), "accept", "audit.v", "00000677-v");
    store
}

fn links(store: &Path) -> Vec<Value> {
    fnstore_in(store, &["links", "--with-rejected", "--format", "jsonl"]).records()
}

/// The records of links that an export has, each by the schema.
fn exported(store: &Path, query: &str) -> Vec<Value> {
    let ran = done(store, &["export", query, "--to", "jsonl"]);
    let records = ran.records().into_iter().filter(|record| record["kind"] == "links");
    records
        .inspect(|record| {
            assert_eq!(faults_in("jsonl-links.schema.json", record), [""; 0], "{record}");
        })
        .collect()
}

#[test]
fn a_whole_release_comes_back_with_its_links_and_decisions() {
    let store = linked();
    let dir = tempfile::tempdir().unwrap();
    let (file, copy) = (dir.path().join("all.jsonl"), dir.path().join("copy"));
    let all = done(store.path(), &["export", "release=mini-framenet", "--to", "jsonl"]).stdout;
    fs::write(&file, all).unwrap();
    done(&copy, &["import", file.to_str().unwrap()]);
    assert_eq!(links(&copy), [Value::Null; 0], "the other lexicons are not there yet");
    import_others(&copy);
    assert_eq!(links(&copy), links(store.path()));
    let fes = links(&copy).iter().filter(|row| row["kind"] == "fe").count();
    assert!(fes > 0 && links(&copy).iter().any(|row| row["decision"] == "reject"));
    let count = ["query", "synset=00000677-v lu=audit.v", "--count"];
    let of_store = done(store.path(), &count).stdout;
    assert!(of_store != "0\n" && done(&copy, &count).stdout == of_store, "{of_store}");
    assert_eq!(
        exported(&copy, "release=mini-framenet"),
        exported(store.path(), "release=mini-framenet")
    );
    done(&copy, &["check", "--deep"]);
}

#[test]
fn a_part_has_the_links_of_its_lus() {
    let store = linked();
    let part = exported(store.path(), "lu=audit.v");
    let lus: Vec<&Value> = part.iter().filter_map(|record| record["of"].get("lu")).collect();
    assert_eq!(lus, [&json!({ "id": 1004, "name": "audit.v" })]);
}

#[test]
fn decisions_of_additions_go_on_and_those_that_part_are_refused() {
    let store = linked();
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("script.jsonl");
    let lines = [
        json!({ "op": "add-lu", "as": "l", "frame": "Checking", "name": "peruse.v" }),
        json!({
            "op": "add-set", "sentence": "x5001", "frame": "Checking", "lu": "@l",
            "targets": [[4, 10]],
        }),
    ];
    fs::write(&script, lines.map(|line| line.to_string()).join("\n")).unwrap();
    done(store.path(), &["edit", script.to_str().unwrap()]);
    decide(store.path(), "accept", "peruse.v", "00000677-v");
    let file = dir.path().join("added.jsonl");
    let text = done(store.path(), &["export", "origin=user", "--to", "jsonl"]).stdout;
    fs::write(&file, &text).unwrap();
    let import = ["import", file.to_str().unwrap()];
    // Taken back since, it stays taken back.
    decide(store.path(), "undo", "peruse.v", "00000677-v");
    let before = links(store.path());
    done(store.path(), &import);
    assert_eq!(links(store.path()), before);
    // What somebody else decided meanwhile is no later state of it.
    fs::write(&file, text.replace("\"reviewer\":\"kim\"", "\"reviewer\":\"lee\"")).unwrap();
    let refused = fnstore_in(store.path(), &import);
    assert!(refused.code == Some(65) && refused.stderr.contains("E-conflict"), "{refused:?}");
    assert_eq!(links(store.path()), before);
    // A file that knows more brings it.
    fs::write(&file, &text).unwrap();
    let other = new_store();
    import_others(other.path());
    done(other.path(), &import);
    let knows = |row: &Value| row["name"] == "peruse.v" && row["decision"] == "accept";
    assert!(links(other.path()).iter().any(knows));
}

#[test]
fn an_import_of_additions_is_taken_back_with_links_that_were_computed_since() {
    let (store, other) = (linked(), new_store());
    import_others(other.path());
    let dir = tempfile::tempdir().unwrap();
    let (script, file) = (dir.path().join("edits.jsonl"), dir.path().join("added.jsonl"));
    let lines = [
        json!({ "op": "add-lu", "as": "l", "frame": "Checking", "name": "peruse.v" }),
        json!({
            "op": "add-set", "sentence": "x5001", "frame": "Checking", "lu": "@l",
            "targets": [[4, 10]],
        }),
    ];
    fs::write(&script, lines.map(|line| line.to_string()).join("\n")).unwrap();
    done(store.path(), &["edit", script.to_str().unwrap()]);
    decide(store.path(), "accept", "peruse.v", "00000677-v");
    let text = done(store.path(), &["export", "origin=user", "--to", "jsonl"]).stdout;
    fs::write(&file, text).unwrap();
    done(other.path(), &["import", file.to_str().unwrap()]);
    let history = done(other.path(), &["history", "--format", "jsonl"]).records();
    let last = history.iter().filter_map(|of| of["revision"].as_u64()).max().unwrap();
    done(other.path(), &["link"]);
    assert!(links(other.path()).iter().any(|row| row["name"] == "peruse.v"));
    done(other.path(), &["undo", &last.to_string()]);
    assert!(links(other.path()).iter().all(|row| row["name"] != "peruse.v"));
    assert_eq!(fnstore_in(other.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn an_added_lu_and_a_decision_on_it_are_taken_back_together_with_its_links() {
    let store = new_store();
    import_others(store.path());
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("edits.jsonl");
    let line = json!({ "op": "add-lu", "frame": "Checking", "name": "peruse.v" });
    fs::write(&script, line.to_string()).unwrap();
    let last = || {
        let history = done(store.path(), &["history", "--format", "jsonl"]).records();
        let last = history.iter().filter_map(|of| of["revision"].as_u64()).max().unwrap();
        last.to_string()
    };
    done(store.path(), &["edit", script.to_str().unwrap()]);
    let added = last();
    decide(store.path(), "accept", "peruse.v", "00000677-v");
    let decided = last();
    done(store.path(), &["link", "Checking"]);
    assert!(links(store.path()).iter().any(|row| row["name"] == "peruse.v"));
    done(store.path(), &["undo", &added, &decided]);
    let left = exported(store.path(), "release=mini-framenet");
    assert!(left.len() > 3 && left.iter().all(|row| row["of"]["lu"]["name"] != "peruse.v"));
    done(store.path(), &["check", "--deep"]);
}

#[test]
fn a_decision_that_alone_gave_links_leaves_none_behind() {
    let store = new_store();
    import_others(store.path());
    decide(store.path(), "accept", "verify.v", "00000677-v");
    let history = done(store.path(), &["history", "--format", "jsonl"]).records();
    let last = history.iter().filter_map(|of| of["revision"].as_u64()).max().unwrap();
    done(store.path(), &["link", "--least", "1", "--again"]);
    done(store.path(), &["undo", &last.to_string()]);
    let left = exported(store.path(), "release=mini-framenet");
    assert!(left.iter().all(|row| row["of"]["lu"]["name"] != "verify.v"), "{left:?}");
    done(store.path(), &["check", "--deep"]);
}

#[test]
fn wrong_links_are_named_and_nothing_is_written() {
    let store = linked();
    let dir = tempfile::tempdir().unwrap();
    let all = done(store.path(), &["export", "release=mini-framenet", "--to", "jsonl"]).stdout;
    let is_of_links =
        |line: &&str| line.contains("\"kind\":\"links\"") && line.contains("\"score\"");
    let line = all.lines().find(is_of_links).unwrap();
    for (from, to, said) in [
        ("\"score\":", "\"score\":1", "a number from 0 to 1"),
        ("\"source\":\"", "\"source\":\"un", "one of semlink, name"),
        ("\"resource\":\"", "\"resource\":\"\\u0007", "a name without control characters"),
    ] {
        let wrong = all.replace(line, &line.replacen(from, to, 1));
        assert_ne!(wrong, all, "{from}");
        refused(dir.path(), &wrong, said);
    }
    let of_fe =
        all.lines().find(|line| line.contains("\"of\":{\"fe\"") && is_of_links(line)).unwrap();
    let name = of_fe.split("\"of\":{\"fe\"").nth(1).unwrap().split('"').nth(5).unwrap();
    let renamed = of_fe.replacen(&format!("\"name\":\"{name}\"}}}}"), "\"name\":\"Nobody\"}}", 1);
    assert_ne!(renamed, of_fe, "{of_fe}");
    refused(dir.path(), &all.replace(of_fe, &renamed), "the name of");
    refused(dir.path(), &all.replace(line, &format!("{line}\n{line}")), "no earlier record");
}

/// Asserts that a file is refused, and that nothing of it is there.
fn refused(dir: &Path, lines: &str, said: &str) {
    let (file, copy) = (dir.join("wrong.jsonl"), dir.join("copy"));
    fs::write(&file, lines).unwrap();
    let refused = fnstore_in(&copy, &["import", file.to_str().unwrap()]);
    assert!(refused.code != Some(0) && refused.stderr.contains(said), "{said}: {refused:?}");
    assert_eq!(fnstore_in(&copy, &["releases"]).records(), [Value::Null; 0]);
}
