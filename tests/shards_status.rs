//! `fnstore merge --status`: how far the shards of a folder are, also while a task computes one.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::shards::ok;

fn task(store: &Path, folder: &Path, number: u32) -> Child {
    let fixed = ["expand", "frame=Checking", "--model", "paraphrase", "--beam", "2", "--rounds"];
    let more = ["9", "--guide", "none", "--filter", "none", "--device", "cpu", "--shard"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env("FNSTORE_DIR", store).args(fixed).args(more).arg(format!("{number}/3"));
    command.arg("--out").arg(folder.join(format!("{number}-of-3.zst")));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn ask(places: &[&Path], more: &[&str]) -> Ran {
    let places: Vec<&str> = places.iter().map(|place| place.to_str().unwrap()).collect();
    fnstore_in(Path::new("/nonexistent"), &[&["merge", "--status"], more, &places[..]].concat())
}

/// The one expansion of a folder.
fn status(folder: &Path, more: &[&str]) -> Value {
    let ran = ask(&[folder], &[&["--format", "json"], more].concat());
    let document = ran.document("shards-status.schema.json");
    assert_eq!(document["expansions"].as_array().unwrap().len(), 1, "{ran:?}");
    let of = &document["expansions"][0];
    assert_eq!(ran.code, Some(i32::from(of["done"] != 3)), "{ran:?}");
    of.clone()
}

fn states(of: &Value) -> Vec<&str> {
    let shards = of["shards"].as_array().unwrap();
    shards.iter().map(|shard| shard["state"].as_str().unwrap()).collect()
}

#[test]
fn each_shard_is_done_running_stopped_missing_or_damaged() {
    let (store, folder) = (new_store(), tempfile::tempdir().unwrap());
    let (store, folder) = (store.path(), folder.path());
    assert_eq!(ask(&[folder], &[]).code, Some(1), "nothing is there");
    assert!(task(store, folder, 1).wait().unwrap().success());
    let of = status(folder, &[]);
    assert_eq!(states(&of), ["done", "missing", "missing"]);
    let seeds: u64 =
        of["shards"].as_array().unwrap().iter().map(|of| of["seeds"].as_u64().unwrap()).sum();
    assert_eq!((&of["seeds"], &of["seconds_left"]), (&json!(seeds), &Value::Null));
    assert_eq!(of["seeds_done"], of["shards"][0]["seeds"]);
    let mut running = task(store, folder, 2);
    let until = Instant::now() + Duration::from_secs(300);
    let begun = loop {
        let of = status(folder, &[]);
        if states(&of)[1] != "missing" {
            break of;
        }
        assert!(Instant::now() < until, "the task does not begin");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(states(&begun), ["done", "running", "missing"]);
    running.kill().unwrap();
    running.wait().unwrap();
    let of = status(folder, &[]);
    assert_eq!(states(&of), ["done", "stopped", "missing"]);
    assert!(of["shards"][1]["noted_seconds_ago"].is_u64(), "{of}");
    let first = folder.join("1-of-3.zst");
    let mut bytes = fs::read(&first).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&first, &bytes).unwrap();
    assert_eq!(states(&status(folder, &[])), ["done", "stopped", "missing"], "of the right length");
    assert_eq!(states(&status(folder, &["--read"])), ["damaged", "stopped", "missing"]);
    fs::write(&first, &bytes[1..]).unwrap();
    let of = status(folder, &[]);
    assert_eq!((states(&of)[0], &of["seeds_done"]), ("damaged", &of["shards"][1]["seeds_done"]));
    let table = ask(&[folder], &["--format", "table"]).stdout;
    assert!(table.contains("1 stopped, 1 missing, 1 damaged"), "{table}");
    let one = ask(&[&first], &["--format", "csv"]).stdout;
    assert_eq!(one.lines().count(), 4, "{one}");
    for number in 1..=3 {
        assert!(task(store, folder, number).wait().unwrap().success());
    }
    assert_eq!(states(&status(folder, &["--read"])), ["done"; 3]);
    let left = fs::read_dir(folder).unwrap().count();
    assert_eq!(left, 6, "files and manifests alone");
}

#[test]
fn seeds_that_the_store_has_through_are_not_left() {
    let (store, folder) = (new_store(), tempfile::tempdir().unwrap());
    let (store, folder) = (store.path(), folder.path());
    let fixed = ["expand", "frame=Checking", "--model", "paraphrase", "--beam", "2", "--rounds"];
    let more = ["9", "--guide", "none", "--filter", "none", "--device", "cpu"];
    let command = [&fixed[..], &more[..]].concat();
    ok(fnstore_in(store, &[&command[..], &["--limit", "2"]].concat()));
    let before = ok(fnstore_in(store, &[&command[..], &["--status", "--format", "json"]].concat()));
    let frames: Value = serde_json::from_str(&before.stdout).unwrap();
    let before = &frames[0];
    let through: u64 = before["ended"]
        .as_object()
        .map_or(0, |ended| ended.values().map(|count| count.as_u64().unwrap()).sum::<u64>())
        + before["done"].as_u64().unwrap();
    let left = before["seeds"].as_u64().unwrap() - through;
    assert_eq!(through, 2, "{before}");
    let mut stopped = task(store, folder, 2);
    let until = Instant::now() + Duration::from_secs(300);
    while fs::read_dir(folder).unwrap().count() < 2 {
        assert!(Instant::now() < until, "the task does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    stopped.kill().unwrap();
    stopped.wait().unwrap();
    assert_eq!(status(folder, &[])["seeds"], left, "one is begun, two are missing");
    for number in [2, 1, 3] {
        assert!(task(store, folder, number).wait().unwrap().success());
        assert_eq!(status(folder, &[])["seeds"], left, "{number} is done");
    }
    assert_eq!(status(folder, &[])["seeds_done"], left);
}

#[test]
fn what_says_nothing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.zst.manifest.json"), "{}").unwrap();
    let ran = ask(&[folder.path()], &["--format", "json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("a.zst.manifest.json"), "{ran:?}");
    let document = ran.document("shards-status.schema.json");
    assert_eq!(document["unreadable"].as_array().unwrap().len(), 1);
    assert_eq!(ask(&[&folder.path().join("none/x")], &[]).code, Some(2));
}
