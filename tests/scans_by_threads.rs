//! Commands that look at all sets print the same bytes for any number of threads, and end with
//! their reader.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::fnstore_in;

/// Texts, of two sets each; more sets than one thread reads before others help.
const TEXTS: usize = 3_000;

/// Frames, whose runs of keys make several pieces.
const TYPES: usize = 200;

/// A store of many small frames.
fn store() -> &'static TempDir {
    static STORE: OnceLock<TempDir> = OnceLock::new();
    STORE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("spans.jsonl");
        let mut lines = std::fs::File::create(&file).unwrap();
        for number in 0..TEXTS {
            let text = format!("They tested the =bridge, \"{number}\".");
            let kind = |number: usize| format!("t{:03}", number % TYPES);
            let tested = json!({ "start": 5, "end": 11, "type": kind(number), "pos": "v" });
            let bridge = json!({ "start": 16, "end": 23, "type": kind(7 * number), "pos": "n" });
            writeln!(lines, "{}", json!({ "text": text, "spans": [tested, bridge] })).unwrap();
        }
        let ran = fnstore_in(&dir.path().join("store"), &["import", file.to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        dir
    })
}

#[test]
fn any_number_of_threads_prints_the_same_bytes() {
    let store = store().path().join("store");
    let formats = ["jsonl", "json", "csv", "tsv", "table"];
    let mut commands: Vec<Vec<&str>> =
        formats.iter().map(|format| vec!["query", "frame=t*", "--format", format]).collect();
    for format in formats {
        commands.push(vec!["query", "frame=t*", "--fields", "id,trigger,text", "--format", format]);
    }
    commands.extend([
        vec!["query", "--count-by", "frame"],
        vec!["query", "text~\"[13]0\"", "--count"],
        vec!["export", "--to", "jsonl"],
        vec!["export", "frame=t*", "--to", "csv"],
        vec!["stats", "growth", "--format", "json"],
        vec!["check", "--format", "json"],
    ]);
    for command in commands {
        let of = |threads: &str| {
            let ran = fnstore_in(&store, &[&command[..], &["--threads", threads]].concat());
            assert_eq!(ran.code, Some(0), "{command:?}: {}", ran.stderr);
            (ran.stdout, ran.stderr)
        };
        let expected = of("1");
        assert!(!expected.0.is_empty(), "{command:?}");
        for threads in ["2", "3", "7"] {
            assert!(of(threads) == expected, "{command:?} by {threads} threads");
        }
    }
}

#[test]
fn every_set_stands_in_each_format_once() {
    let store = store().path().join("store");
    let run = |arguments: &[&str]| fnstore_in(&store, arguments).stdout;
    let lines = run(&["query", "frame=t*", "--threads", "3"]);
    assert_eq!(lines.lines().count(), 2 * TEXTS);
    let array = run(&["query", "frame=t*", "--threads", "3", "--format", "json"]);
    let array: Vec<Value> = serde_json::from_str(&array).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(array, lines);
    let rows = run(&["query", "frame=t*", "--threads", "3", "--format", "csv"]);
    assert_eq!(rows.lines().count(), 1 + 2 * TEXTS);
    assert!(rows.starts_with("release,id,frame,"), "{}", &rows[..80]);
}

/// A page is read as far as its limit, also where others would read on.
#[test]
fn a_limit_cuts_what_all_threads_print() {
    let store = store().path().join("store");
    let all = fnstore_in(&store, &["query", "frame=t*"]).stdout;
    let some = fnstore_in(&store, &["query", "frame=t*", "--limit", "2000"]).stdout;
    assert_eq!(some.lines().collect::<Vec<_>>(), all.lines().take(2000).collect::<Vec<_>>());
}

#[test]
fn threads_end_with_the_reader_of_the_output() {
    let store = store().path().join("store");
    let mut child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
        .args(["query", "frame=t*", "--threads", "3", "--store", store.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(line.starts_with('{'), "{line}");
    drop(lines);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
