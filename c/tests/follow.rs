//! The follower of the guide, in C and in Rust: its copy is the store, wherever it is killed, and
//! after a restore.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails it")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{compile, library_dir, mini_framenet, root, run};
use fnstore::database::Database;
use fnstore::edit::Script;
use fnstore::transfer::ImportOptions;
use serde_json::{Value, json};

fn import(store: &Path, release: &str) {
    let writer = Database::open_writer(store).unwrap();
    let options = ImportOptions { release: Some(release.to_owned()), ..ImportOptions::default() };
    writer.import(&mini_framenet(), &options, &mut |_| {}).unwrap();
    writer.close().unwrap();
}

fn edit(store: &Path, edits: &[Value]) {
    let writer = Database::open_editor(store).unwrap();
    let mut transaction = writer.transaction("first").unwrap();
    let script: Vec<String> = edits.iter().map(ToString::to_string).collect();
    let mut done = Script::new(&mut transaction, None, 1);
    done.edit(script.join("\n").as_bytes(), &mut |_| {}).unwrap();
    transaction.commit().unwrap();
    writer.close().unwrap();
}

/// What others do to the store at a turn.
fn commit(turn: u64, store: &Path, backup: &Path) {
    if turn.is_multiple_of(6) {
        edit(
            store,
            &[
                json!({"op": "add-lu", "as": "l", "frame": 102, "name": format!("word{turn}.v")}),
                json!({"op": "add-sentence", "as": "s", "text": "They perused it ."}),
                json!({"op": "add-set", "as": "a", "sentence": "@s", "frame": 102, "lu": "@l",
                "targets": [[5, 12]]}),
                json!({"op": "judge", "set": "@a", "reviewer": "kim", "score": turn}),
            ],
        );
    }
    match turn {
        10 => edit(store, &[json!({"op": "edit-frame", "frame": 102, "name": "Proving"})]),
        13 => import(store, "second"),
        17 => {
            let writer = Database::open_existing_writer(store).unwrap();
            writer.remove_release("second").unwrap();
        }
        20 => drop(Database::open(store).unwrap().backup(backup).unwrap()),
        25 => {
            let writer = Database::open_editor(store).unwrap();
            let last = writer.revision().unwrap();
            writer.undo(&[last], "a trial").unwrap();
        }
        35 => drop(fnstore::upkeep::restore(backup, store).unwrap()),
        _ => {}
    }
}

/// The records of a copy, each as JSON, in order of key.
fn copied(copy: &Path) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(copy).unwrap();
    let mut records = BTreeMap::new();
    for line in text.lines() {
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
    assert!(text.ends_with('\n') && text.lines().last().unwrap().starts_with("=\t"));
    records
}

/// What an export of the store holds of the kinds that a copy holds.
fn exported(store: &Path) -> Vec<String> {
    let mut out = Vec::new();
    let database = Database::open(store).unwrap();
    database.export_jsonl(&"release=first".parse().unwrap(), false, &mut out).unwrap();
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
    let lines = String::from_utf8(out).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let told = lines.filter(|line| kinds.contains(&line["kind"].as_str().unwrap()));
    sorted(told)
}

fn sorted(records: impl Iterator<Item = Value>) -> Vec<String> {
    let mut all: Vec<String> = records.map(|record| record.to_string()).collect();
    all.sort();
    all
}

/// Runs a follower through commits and kills; its copy is the store at the end.
fn follows(follower: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name);
    let (store, copy) = (place("store"), place("copy"));
    import(&store, "first");
    for turn in 0..50 {
        commit(turn, &store, &place("backup"));
        let mut running = Command::new(follower)
            .args([&store, &copy])
            .arg("1000")
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(5 + turn * 37 % 90));
        running.kill().unwrap();
        running.wait().unwrap();
    }
    run(Command::new(follower).args([&store, &copy]));
    let check = || {
        let records = copied(&copy);
        assert!(records.len() > 50, "{}", records.len());
        assert_eq!(sorted(records.into_values()), exported(&store));
    };
    check();
    // A restore beneath one that waits, with what is committed after it.
    let mut running = Command::new(follower).args([&store, &copy]).arg("60000").spawn().unwrap();
    add_and_await(&store, "waiting.v", &copy);
    fnstore::upkeep::restore(&place("backup"), &store).unwrap();
    add_and_await(&store, "restored.v", &copy);
    running.kill().unwrap();
    running.wait().unwrap();
    check();
}

/// Adds an LU, and waits until a copy has its commit whole.
fn add_and_await(store: &Path, lu: &str, copy: &Path) {
    edit(store, &[json!({"op": "add-lu", "frame": 102, "name": lu})]);
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(copy).unwrap_or_default();
        let is_whole = text.lines().last().is_some_and(|line| line.starts_with("=\t"));
        if text.ends_with('\n') && is_whole && text.contains(lu) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "`{lu}` does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_copy_by_the_follower_in_c_is_the_store() {
    let dir = tempfile::tempdir().unwrap();
    follows(&compile(&root().join("examples/follow.c"), dir.path()));
}

/// `cargo build --example follow` builds it.
#[test]
fn a_copy_by_the_follower_in_rust_is_the_store() {
    let name = format!("follow{}", std::env::consts::EXE_SUFFIX);
    let follower: PathBuf = library_dir().join("examples").join(name);
    assert!(follower.is_file(), "there is no {}", follower.display());
    follows(&follower);
}
