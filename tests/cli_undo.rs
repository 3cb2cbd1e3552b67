//! `fnstore undo` and `history`: an export is what it was, what is in the way is named, and a
//! follower's copy is the store's own after kills and a restore.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli_edit::edit;
use crate::cli_program::{Ran, fnstore_in, mini_framenet, new_store};
use crate::cli_schema::faults_in;

fn export(store: &Path) -> String {
    let ran = fnstore_in(store, &["export", "release=mini-framenet", "--to", "jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    // The line of the release says how many numbers were given, and these are not given again.
    let records = |line: &&str| !line.starts_with("{\"kind\":\"release\"");
    ran.stdout.lines().filter(records).map(|line| format!("{line}\n")).collect()
}

fn history(store: &Path) -> Vec<Value> {
    let commits = fnstore_in(store, &["history"]).records();
    for commit in &commits {
        assert_eq!(faults_in("history.schema.json", commit), Vec::<String>::new());
    }
    commits
}

fn undo(store: &Path, arguments: &[&str]) -> Ran {
    fnstore_in(store, &[&["undo"], arguments].concat())
}

/// Edits that leave nothing of a frame.
fn removals() -> [Value; 2] {
    [
        json!({"op": "remove-frame", "frame": "Checking", "cascade": true}),
        json!({"op": "add-frame", "as": "f", "name": "Checking", "definition": "Another"}),
    ]
}

#[test]
fn a_removed_frame_comes_back_under_its_number_with_all_that_went() {
    let store = new_store();
    let before = export(store.path());
    assert_eq!(edit(store.path(), &removals()).code, Some(0));
    assert!(export(store.path()) != before);
    let ran = undo(store.path(), &["2", "--note", "the wrong frame", "--format", "json"]);
    let undone = ran.document("undone.schema.json");
    assert_eq!((&undone["undone"], &undone["revision"]), (&json!([2]), &json!(3)));
    assert!(export(store.path()) == before);
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));
    let commits = history(store.path());
    assert_eq!(
        (&commits[0]["note"], &commits[0]["undoes"]),
        (&json!("the wrong frame"), &json!([2]))
    );
    assert_eq!((&commits[1]["undo"], &commits[2]["undo"]), (&json!(true), &json!(false)));
    let again = undo(store.path(), &["2"]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert_eq!(history(store.path()).len(), 3);
}

#[test]
fn why_edits_are_made_stands_in_the_history() {
    let store = new_store();
    let script = store.path().join("script.jsonl");
    let line = json!({"op": "add-lu", "frame": "Checking", "name": "peruse.v"});
    std::fs::write(&script, line.to_string()).unwrap();
    let script = script.to_str().unwrap();
    let wrong = fnstore_in(store.path(), &["edit", script, "--note", "a\u{1b}[31m"]);
    assert_ne!(wrong.code, Some(0), "{wrong:?}");
    assert_eq!(history(store.path()).len(), 1, "nothing was written");
    let ran = fnstore_in(store.path(), &["edit", script, "--note", "seen in a corpus"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(history(store.path())[0]["note"], json!("seen in a corpus"));
}

#[test]
fn what_is_in_the_way_is_named_and_nothing_is_written() {
    let store = new_store();
    let lu = json!({"op": "add-lu", "frame": "Checking", "name": "peruse.v"});
    assert_eq!(edit(store.path(), &[lu]).code, Some(0));
    let renamed = json!({"op": "edit-lu", "frame": "Checking", "lu": "peruse.v", "name": "con.v"});
    assert_eq!(edit(store.path(), &[renamed]).code, Some(0));
    let ran = undo(store.path(), &["2"]);
    assert_eq!(ran.code, Some(2));
    let told = "commit 2 cannot be taken back: in the way are LU `2147483649` (commit 3)";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(history(store.path()).len(), 3);
    for (revision, why) in [("1", "is not kept"), ("9", "has none of that number")] {
        let ran = undo(store.path(), &[revision]);
        assert!(ran.code == Some(2) && ran.stderr.contains(why), "{}", ran.stderr);
    }
    assert_eq!(undo(store.path(), &["3", "2"]).code, Some(0));
}

#[test]
fn what_came_in_with_additions_goes_as_one_commit() {
    let (other, store) = (new_store(), new_store());
    let added = [
        json!({"op": "add-sentence", "as": "s", "text": "They perused it ."}),
        json!({"op": "add-lu", "as": "l", "frame": "Checking", "name": "peruse.v"}),
        json!({"op": "add-set", "sentence": "@s", "frame": "Checking", "lu": "@l", "targets": [[5, 12]]}),
    ];
    assert_eq!(edit(other.path(), &added).code, Some(0));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("added.jsonl");
    let additions = ["export", "origin=user", "--to", "jsonl", file.to_str().unwrap()];
    assert_eq!(fnstore_in(other.path(), &additions).code, Some(0));
    let before = export(store.path());
    let ran = fnstore_in(store.path(), &["import", file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(history(store.path())[0]["note"].as_str().unwrap().ends_with("added.jsonl"));
    assert_eq!(undo(store.path(), &["2"]).code, Some(0));
    assert!(export(store.path()) == before);
}

#[test]
fn what_is_kept_no_longer_cannot_be_taken_back() {
    let store = new_store();
    for name in ["peruse.v", "con.v", "vet.v"] {
        let lu = json!({"op": "add-lu", "frame": "Checking", "name": name});
        assert_eq!(edit(store.path(), &[lu]).code, Some(0));
    }
    assert_eq!(fnstore_in(store.path(), &["history", "keep", "--commits", "1"]).code, Some(0));
    let can: Vec<bool> =
        history(store.path()).iter().map(|it| it["undo"].as_bool().unwrap()).collect();
    assert_eq!(can, [true, false, false, false]);
    assert_eq!(fnstore_in(store.path(), &["check"]).code, Some(0));
    assert_eq!(undo(store.path(), &["3"]).code, Some(2));
    assert_eq!(undo(store.path(), &["4"]).code, Some(0));
}

/// The records that a feed tells of, each by itself, in order.
fn told(lines: impl Iterator<Item = Value>) -> Vec<String> {
    let kinds = [
        "frame",
        "lexunit",
        "relation",
        "sem_type",
        "document",
        "sentence",
        "layers",
        "set",
        "judgement",
    ];
    let is_told = |line: &Value| kinds.contains(&line["kind"].as_str().unwrap());
    let mut told: Vec<String> = lines.filter(is_told).map(|line| line.to_string()).collect();
    told.sort();
    told
}

/// Runs the follower; kills it after some time, if one is given.
fn follow(store: &Path, copy: &Path, killed_after: Option<Duration>) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/follow.py");
    let mut follower = Command::new("python3")
        .args([script.as_path(), copy, Path::new(env!("CARGO_BIN_EXE_fnstore"))])
        .env("FNSTORE_DIR", store)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    if let Some(time) = killed_after {
        std::thread::sleep(time);
        let _ = follower.kill();
    }
    let ended = follower.wait().unwrap();
    assert!(killed_after.is_some() || ended.success());
}

/// The records that a journal of a copy ends with, by key.
fn copied(copy: &Path) -> BTreeMap<String, Value> {
    let mut records = BTreeMap::new();
    for line in std::fs::read_to_string(copy).unwrap().lines() {
        match line.split('\t').collect::<Vec<_>>().as_slice() {
            ["+", key, record] => {
                records.insert((*key).to_owned(), serde_json::from_str(record).unwrap());
            }
            ["-", key] => drop(records.remove(*key)),
            ["!", release] => records.retain(|key, _| !key.starts_with(&format!("{release}/"))),
            ["=", _, _] => {}
            other => panic!("{other:?}"),
        }
    }
    records
}

#[test]
fn a_copy_of_the_records_is_the_store_after_a_hundred_kills_and_a_restore() {
    let (store, folder) = (new_store(), tempfile::tempdir().unwrap());
    let (copy, backup) = (folder.path().join("copy"), folder.path().join("backup"));
    for turn in 0..100_u64 {
        if turn % 10 == 0 {
            let lu = format!("word{turn}.v");
            let edits = [
                json!({"op": "add-lu", "as": "l", "frame": 102, "name": lu}),
                json!({"op": "add-sentence", "as": "s", "text": "They perused it ."}),
                json!({"op": "add-set", "as": "a", "sentence": "@s", "frame": 102, "lu": "@l",
                    "targets": [[5, 12]]}),
                json!({"op": "judge", "set": "@a", "reviewer": "kim", "score": turn}),
            ];
            assert_eq!(edit(store.path(), &edits).code, Some(0));
        }
        match turn {
            40 => drop(fnstore_in(store.path(), &["backup", backup.to_str().unwrap()])),
            30 => {
                let renamed = json!({"op": "edit-frame", "frame": "Checking", "name": "Proving"});
                assert_eq!(edit(store.path(), &[renamed]).code, Some(0));
            }
            33 => {
                let again = ["import", mini_framenet().to_str().unwrap(), "--release", "second"]
                    .map(str::to_owned);
                let again: Vec<&str> = again.iter().map(String::as_str).collect();
                assert_eq!(fnstore_in(store.path(), &again).code, Some(0));
            }
            37 => {
                let removed = fnstore_in(store.path(), &["releases", "remove", "second", "--yes"]);
                assert_eq!(removed.code, Some(0), "{}", removed.stderr);
            }
            45 => assert_eq!(undo(store.path(), &["3"]).code, Some(0)),
            70 => {
                let restore = ["restore", backup.to_str().unwrap(), "--yes"];
                let ran = fnstore_in(store.path(), &restore);
                assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            }
            _ => {}
        }
        follow(store.path(), &copy, Some(Duration::from_millis(10 + turn * 37 % 120)));
    }
    follow(store.path(), &copy, None);
    let records = copied(&copy);
    let exported = export(store.path());
    let exported = exported.lines().map(|line| serde_json::from_str(line).unwrap());
    let (copied, stored) = (told(records.into_values()), told(exported));
    assert!(stored.len() > 150, "{}", stored.len());
    assert_eq!(copied, stored);
}

/// A program in the place of `fnstore`, whose feed breaks off behind so many lines.
#[cfg(unix)]
#[test]
fn a_follower_whose_feed_is_killed_says_so_and_ends_no_commit() {
    use std::os::unix::fs::PermissionsExt;
    let (store, folder) = (new_store(), tempfile::tempdir().unwrap());
    let lu = json!({"op": "add-lu", "frame": 102, "name": "vet.v"});
    let set = json!({"op": "add-sentence", "text": "They vetted it ."});
    assert_eq!(edit(store.path(), &[lu, set]).code, Some(0));
    let (program, copy) = (folder.path().join("killed"), folder.path().join("copy"));
    let script = "#!/bin/sh\n[ \"$1\" = changes ] || exec \"$FNSTORE\" \"$@\"\n\
                  \"$FNSTORE\" \"$@\" | head -n 2\nkill -9 $$\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/follow.py");
    let mut follower = Command::new("python3");
    follower.args([example, copy.clone(), program]).env("FNSTORE_DIR", store.path());
    let ended = follower.env("FNSTORE", env!("CARGO_BIN_EXE_fnstore")).status().unwrap();
    assert!(!ended.success());
    // The import is whole, the commit behind it is not.
    let text = std::fs::read_to_string(&copy).unwrap();
    let ends: Vec<&str> = text.lines().filter(|line| line.starts_with('=')).collect();
    assert!(ends.len() == 1 && ends[0].starts_with("=\t1\t"), "{ends:?}");
    assert!(text.contains("vet.v"));
    follow(store.path(), &copy, None);
    assert!(std::fs::read_to_string(&copy).unwrap().contains("\n=\t2\t"));
}

#[test]
fn what_a_feed_names_is_shown_by_its_number() {
    let store = new_store();
    let added = json!({"op": "add-sentence", "text": "Nobody marked it ."});
    assert_eq!(edit(store.path(), &[added]).code, Some(0));
    let listed = fnstore_in(store.path(), &["sentences", "--without-sets"]).records();
    assert!(listed.iter().all(|it| faults_in("sentences.schema.json", it).is_empty()));
    let last = listed.last().unwrap();
    assert_eq!((&last["id"], &last["sets"]), (&json!("i1"), &json!(0)));
    let all = fnstore_in(store.path(), &["sentences"]).records();
    assert!(all.len() > listed.len() && all.iter().any(|it| it["sets"] == json!(2)));
    let both = fnstore_in(store.path(), &["show", "sentence", "i1", "x5001", "--format", "jsonl"]);
    let ids: Vec<Value> = both.records().iter().map(|it| it["id"].clone()).collect();
    assert_eq!(ids, [json!("i1"), json!("x5001")]);
    let frame = fnstore_in(store.path(), &["show", "frame", "102", "--format", "json"]);
    assert_eq!(frame.document("frame.schema.json")["name"], json!("Checking"));
    let none = fnstore_in(store.path(), &["show", "set", "x1", "i99"]);
    assert!(none.code == Some(1) && none.stderr.contains("`i99`"), "{none:?}");
}

#[test]
fn the_changes_of_a_query_tell_its_answers() {
    let store = new_store();
    let set = fnstore_in(store.path(), &["query", "lu=check.v", "--limit", "1"]).records();
    let set = set[0]["id"].as_str().unwrap().to_owned();
    let judged = |score: u8| json!({"op": "edit-set", "set": set, "status": format!("S{score}")});
    let changes = |expression: &str| {
        let asked = ["changes", expression, "--since", "1", "--with-records"];
        let records = fnstore_in(store.path(), &asked).records();
        records.iter().for_each(|record| {
            assert_eq!(faults_in("change.schema.json", record), Vec::<String>::new());
        });
        records
    };
    assert_eq!(edit(store.path(), &[judged(1)]).code, Some(0));
    let of = changes("lu=check.v");
    assert_eq!((of.len(), &of[0]["action"]), (1, &json!("edited")));
    assert_eq!(of[0]["record"]["id"], json!(set));
    assert_eq!(of[0]["sentence_record"]["kind"], json!("sentence"));
    let of = changes("lu=inspect.v");
    assert_eq!(
        (of.len(), &of[0]["action"], &of[0]["record"]),
        (1, &json!("removed"), &Value::Null)
    );
    let wrong = fnstore_in(store.path(), &["changes", "frame=Cheking"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("Checking"), "{}", wrong.stderr);
}
