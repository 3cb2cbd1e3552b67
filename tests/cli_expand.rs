//! `fnstore expand`: summary, going on, stopping.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, mini_framenet, new_store};

fn expand(store: &Path, query: &str, more: &[&str]) -> Ran {
    let arguments = ["expand", query, "--model", "paraphrase", "--beam", "4", "--rounds", "2"];
    fnstore_in(store, &[&arguments, more].concat())
}

#[test]
fn an_expansion_says_what_it_wrote_and_a_second_one_that_nothing_is_left() {
    let store = new_store();
    let ran = expand(store.path(), "lu=inspect.v", &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "human annotation sets for lu=inspect.v: 4");
    let written = fnstore_in(store.path(), &["query", "origin=generated", "--count"]);
    assert_eq!(written.code, Some(0));
    let written = format!("  sentences written    {:>9}  in ", written.stdout.trim());
    assert!(lines[1].starts_with("  recipe                       1  guided by the lexicon;"));
    assert!(lines[3].starts_with(&written), "{}", lines[3]);
    let how = "  `origin=generated recipe=1` finds what the recipe wrote";
    assert_eq!(lines.last(), Some(&how));

    let again = expand(store.path(), "lu=inspect.v", &[]);
    assert_eq!(again.code, Some(0));
    assert!(again.stdout.contains("nothing new to do: all are through 2 rounds"), "{again:?}");

    let some = expand(store.path(), "lu=audit.v or lu=inspect.v", &["--limit", "1"]);
    let left = "  left for later               1  sets; the same command takes them";
    assert!(some.stdout.lines().any(|line| line.starts_with(left)), "{}", some.stdout);
}

#[test]
fn two_releases_are_told_before_both_are_expanded() {
    let store = new_store();
    let release = mini_framenet();
    let again = ["import", release.to_str().unwrap(), "--release", "again"];
    assert_eq!(fnstore_in(store.path(), &again).code, Some(0));
    let spans =
        "the expansion may span 2 releases, `mini-framenet`, `again`; `release=NAME` asks one";
    let both = expand(store.path(), "lu=audit.v", &["--limit", "1"]);
    assert!(both.code == Some(0) && both.stderr.contains(spans), "{both:?}");
    let one = expand(store.path(), "lu=audit.v release=again", &["--limit", "1"]);
    assert!(one.code == Some(0) && !one.stderr.contains("may span"), "{one:?}");
    let shard = ["--shard", "1/2", "--out", "part.zst"];
    let refused = expand(store.path(), "lu=audit.v", &shard);
    let message = "the query finds sets of several releases (`mini-framenet`, `again`), and one is \
                   expected";
    assert!(refused.code == Some(2) && refused.stderr.contains(message), "{refused:?}");
    let edition = fnstore_in(store.path(), &["edition", "create", "e1", "lu=audit.v"]);
    assert!(edition.code == Some(2) && edition.stderr.contains(message), "{edition:?}");
}

#[test]
fn an_expansion_as_json_follows_its_schema() {
    let store = new_store();
    let ran = expand(store.path(), "lu=audit.v", &["--format", "json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(crate::cli_schema::faults_in("expand.schema.json", &report), [""; 0]);
    assert_eq!(report["seeds"], 2);
    assert_eq!(report["leaks"], 0);
}

#[test]
fn where_nothing_matches_nothing_is_expanded() {
    let store = new_store();
    let ran = expand(store.path(), "trigger=nowhere", &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("no human annotation set matches"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn an_interrupted_expansion_keeps_what_is_done_and_says_how_to_go_on() {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    let store = new_store();
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
            .args(["expand", "frame=Checking", "--model", "paraphrase", "--rounds", "9", "--store"])
            .arg(store.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The program handles the signal from before it takes the lock.
        let pid = child.id().to_string();
        let holds_the_lock = || {
            let holder = std::fs::read_to_string(store.path().join("writer.lock")).unwrap();
            holder.contains(&format!("\"pid\":{pid}"))
        };
        while !holds_the_lock() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains("the same command resumes there"), "{stderr}");
    }
    // The store is whole, and free.
    let ran = expand(store.path(), "lu=audit.v", &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn a_missing_model_is_named_with_every_place() {
    let store = new_store();
    let arguments = ["expand", "frame=Checking", "--models", "/no/models"];
    let ran = fnstore_in(store.path(), &arguments);
    assert_eq!(ran.code, Some(69));
    let message = "there is no model `paraphrase` in `/no/models`";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
}

#[test]
fn numbers_out_of_range_and_wrong_names_are_errors() {
    let store = new_store();
    for (query, more, message) in [
        ("frame=Cheking", vec![], "did you mean `Checking`?"),
        ("farme=Checking", vec![], "did you mean `frame`?"),
        ("frame=Checking", vec!["--candidates", "5"], "number of candidates is 5"),
        ("frame=Checking", vec!["--limit", "0"], "limit is 0, expected 1 or more"),
    ] {
        let ran = expand(store.path(), query, &more);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{query} {more:?}");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    let count = fnstore_in(store.path(), &["query", "--count"]);
    assert_eq!(count.stdout, "42\n");
}

#[test]
fn the_aligner_is_measured_on_data_with_known_answers() {
    let dir = tempfile::tempdir().unwrap();
    let data: PathBuf = dir.path().join("data.jsonl");
    let line = r#"{"id":"a","source":["She","checked","it","."],"source_span":[1,2],"target":["She","examined","it","."],"target_span":[1,2],"changed":true}"#;
    std::fs::write(&data, format!("{line}\n")).unwrap();
    let arguments = ["eval", "aligner", "--data", data.to_str().unwrap(), "--threshold", "0"];
    let ran = fnstore_in(dir.path(), &[&arguments[..], &["--format", "jsonl"]].concat());
    let bad = fnstore_in(dir.path(), &["eval", "aligner", "--data", "/no/data.jsonl"]);
    assert_eq!(bad.code, Some(2));
    assert!(bad.stderr.contains("cannot read alignment data `/no/data.jsonl`"), "{}", bad.stderr);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let row = &ran.records()[0]["scores"][0];
    assert_eq!((&row["items"], &row["unit"]), (&"all".into(), &"span".into()));
    assert_eq!(row["gold"], 1);
}

/// What was generated, whole, in a fixed order.
fn generated(store: &Path) -> Vec<String> {
    let ran = fnstore_in(store, &["query", "origin=generated", "--format", "jsonl"]);
    let mut lines: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn a_killed_expansion_goes_on_without_loss_or_repetition() {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    let (whole, killed) = (new_store(), new_store());
    let command: Vec<&str> =
        "expand frame=Checking --model paraphrase --rounds 2 --beam 12 --candidates 8"
            .split(' ')
            .collect();
    let ran = fnstore_in(whole.path(), &command);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    // Killed as soon as something is committed, which takes a few seconds of work.
    let mut child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
        .args(&command)
        .arg("--store")
        .arg(killed.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while generated(killed.path()).is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    child.wait().unwrap();
    assert!(!generated(killed.path()).is_empty(), "what was committed is there");

    let on = fnstore_in(killed.path(), &command);
    assert_eq!(on.code, Some(0), "{}", on.stderr);
    assert_eq!(generated(killed.path()), generated(whole.path()));
    let again = fnstore_in(killed.path(), &command);
    assert!(again.stdout.contains("nothing new to do"), "{again:?}");
}

#[test]
fn training_on_nothing_or_on_a_broken_line_is_refused_as_bad_data() {
    let store = new_store();
    let (empty, broken) = (store.path().join("empty"), store.path().join("broken"));
    std::fs::write(&empty, "").unwrap();
    std::fs::write(&broken, "{\"id\": 1\n").unwrap();
    let out = store.path().join("head");
    for (data, found) in [(&empty, "found the end of the data"), (&broken, "line 1")] {
        let data = data.to_str().unwrap();
        let arguments =
            ["train", "aligner", "--data", data, "--dev", data, "--out", out.to_str().unwrap()];
        let ran = fnstore_in(store.path(), &arguments);
        assert_eq!(ran.code, Some(65), "{ran:?}");
        assert!(ran.stderr.contains(found), "{}", ran.stderr);
    }
    assert!(!out.exists());
}
