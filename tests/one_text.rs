//! Thousands of spans of one text.

use std::path::Path;
use std::process::{Command, Stdio};

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::transfer::ImportOptions;
use rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};

use crate::cli_program::{fnstore_in, new_store};
use crate::mini;

const SENTENCE: &str = "They checked the old bridge and left again . ";

/// A file with one text of so many spans; `words` more are in the text, each another one.
fn spans(dir: &Path, spans: usize, words: usize) -> std::path::PathBuf {
    let places = (0..spans).map(|number| {
        let start = number / 2 * SENTENCE.len() + if number % 2 == 0 { 5 } else { 32 };
        let (length, of) = if number % 2 == 0 { (7, "check") } else { (4, "leave") };
        serde_json::json!({ "start": start, "end": start + length, "type": of })
    });
    let mut text = SENTENCE.repeat(spans.div_ceil(2));
    text.extend((0..words).map(|number| format!("word{number} ")));
    let line = serde_json::json!({ "text": text, "spans": places.collect::<Vec<_>>() });
    let file = dir.join("spans.jsonl");
    std::fs::write(&file, format!("{line}\n")).unwrap();
    file
}

#[test]
fn many_spans_of_one_text_come_in_and_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let file = spans(dir.path(), 20_000, 0);
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    // What this thread reads by keys: the import, and what it hands to the index.
    let mut counts = PerfContext::default();
    set_perf_stats(PerfStatsLevel::EnableCount);
    counts.reset();
    let report = database.import_spans(&file, &ImportOptions::default(), &mut |_| {}).unwrap();
    let read = counts.metric(PerfMetric::GetReadBytes);
    set_perf_stats(PerfStatsLevel::Disable);
    // 20,000 texts, where one is read for each span.
    let text = 10_000 * SENTENCE.len() as u64;
    assert!((1..200 * text).contains(&read), "{read} bytes, of a text of {text}");
    assert_eq!(report.types["check"] + report.types["leave"], 20_000);
    assert!(database.take_index_lag().is_none());
    let count = |query: &str| database.count(&query.parse().unwrap()).unwrap();
    assert_eq!((count("trigger=checked"), count("frame=leave")), (10_000, 10_000));
    assert_eq!(count("text=*zebra*"), 0);
    drop(database);
    let checked = fnstore_in(&dir.path().join("store"), &["check", "--deep"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[test]
fn a_text_of_more_words_than_the_index_holds_is_found_by_each() {
    let dir = tempfile::tempdir().unwrap();
    let file = spans(dir.path(), 200, 3_000);
    let store = dir.path().join("store");
    let database = Database::open_writer(&store).unwrap();
    database.import_spans(&file, &ImportOptions::default(), &mut |_| {}).unwrap();
    // Sets of other texts, among which the index chooses.
    mini::import(&database, &mini::framenet()).unwrap();
    for (query, expected) in [
        ("text=*word2999*", 200),
        ("text=*word3000*", 0),
        ("text=\"*word7 word8*\"", 200),
        ("text=\"*word8 word7*\"", 0),
        ("text=*bridge* frame=check", 100),
        ("text~word29+8", 200),
    ] {
        let found = database.count(&query.parse().unwrap()).unwrap();
        assert_eq!(found, expected, "{query}");
    }
    drop(database);
    let checked = fnstore_in(&store, &["check", "--deep"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

/// Revision of the store and of its index.
fn revisions(store: &Path) -> (u64, String) {
    let database = Database::open(store).unwrap();
    let meta = std::fs::read(store.join("index/meta.json")).unwrap();
    let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
    (database.store().revision().unwrap(), meta["payload"].as_str().unwrap().to_owned())
}

/// Bytes of all files below a directory. Those that go meanwhile have none.
#[cfg(unix)]
fn bytes_below(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let bytes = |path: &Path| {
        if path.is_dir() {
            bytes_below(path)
        } else {
            std::fs::metadata(path).map_or(0, |metadata| metadata.len())
        }
    };
    entries.map(|entry| bytes(&entry.path())).sum()
}

#[cfg(unix)]
#[test]
fn an_import_of_spans_that_is_killed_leaves_store_and_index_as_they_were() {
    let store = new_store();
    let dir = tempfile::tempdir().unwrap();
    let file = spans(dir.path(), 20_000, 2_000);
    let before = revisions(store.path());
    let mut killed = 0;
    // How far each comes: until so much is written. The first is killed at once.
    let size = bytes_below(store.path());
    for written in [0, 1 << 10, 1 << 16, 1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 23] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
            .args(["import", "--spans", file.to_str().unwrap()])
            .env("FNSTORE_DIR", store.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let is_short = || bytes_below(store.path()) < size + written;
        while is_short() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let releases = fnstore_in(store.path(), &["releases", "--format", "jsonl"]).records();
        if releases.len() > 1 {
            break;
        }
        killed += 1;
        assert_eq!(revisions(store.path()), before, "killed after {written} bytes");
        assert_eq!(fnstore_in(store.path(), &["query", "--count"]).stdout, "42\n");
    }
    assert!(killed > 0);
    let again = fnstore_in(store.path(), &["import", "--spans", file.to_str().unwrap()]);
    assert!(again.code == Some(0) || again.stderr.contains("already holds a release"), "{again:?}");
    let checked = fnstore_in(store.path(), &["check", "--deep"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}
