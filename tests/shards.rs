//! `fnstore expand --shard` and `fnstore merge`: any number of parts, in any order, give what one
//! run gives.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;

pub(crate) const EXPAND: [&str; 8] =
    ["expand", "frame=Checking", "--model", "paraphrase", "--beam", "4", "--rounds", "2"];

pub(crate) fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

pub(crate) fn export(store: &Path) -> String {
    ok(fnstore_in(store, &["export", "--to", "jsonl"])).stdout
}

pub(crate) fn shard(store: &Path, which: &str, file: &Path) -> Ran {
    let more = ["--shard", which, "--out", file.to_str().unwrap()];
    fnstore_in(store, &[&EXPAND[..], &more].concat())
}

fn shards(store: &Path, dir: &Path, of: u32) -> Vec<PathBuf> {
    let files = (1..=of).map(|number| {
        let file = dir.join(format!("{number}-of-{of}.zst"));
        let ran = ok(shard(store, &format!("{number}/{of}"), &file));
        let manifest = fs::read_to_string(dir.join(format!("{number}-of-{of}.zst.manifest.json")));
        let manifest: Value = serde_json::from_str(&manifest.unwrap()).unwrap();
        assert_eq!(faults_in("shard-manifest.schema.json", &manifest), [""; 0], "{ran:?}");
        file
    });
    files.collect()
}

pub(crate) fn merge(store: &Path, files: &[&Path]) -> Ran {
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    fnstore_in(store, &[&["merge"], &files[..]].concat())
}

/// A copy of the store of the small lexicon, as it was imported once.
pub(crate) fn copy_of(store: &Path, to: &Path) -> PathBuf {
    ok(fnstore_in(store, &["backup", to.join("backup").to_str().unwrap()]));
    let copy = to.join("copy");
    let from = to.join("backup");
    ok(fnstore_in(&copy, &["restore", from.to_str().unwrap()]));
    copy
}

#[test]
fn a_folder_that_is_merged_is_told_from_its_files() {
    let (base, dir) = (new_store(), tempfile::tempdir().unwrap());
    let ran = merge(base.path(), &[dir.path()]);
    let said = format!("`{0}` is a folder; expected the files of its shards", dir.path().display());
    assert!(ran.code == Some(2) && ran.stderr.contains(&said), "{ran:?}");
}

#[test]
fn manifests_that_are_named_beside_their_shards_are_no_shards() {
    let base = new_store();
    let parts = tempfile::tempdir().unwrap();
    let files = shards(base.path(), parts.path(), 2);
    let mut named: Vec<PathBuf> = files.clone();
    named.extend(files.iter().map(|file| format!("{}.manifest.json", file.display()).into()));
    let named: Vec<&Path> = named.iter().map(PathBuf::as_path).collect();
    assert_eq!(ok(merge(base.path(), &named)).records().len(), 2);
}

#[test]
fn any_number_of_shards_in_any_order_gives_the_bytes_of_one_run() {
    let base = new_store();
    let dir = tempfile::tempdir().unwrap();
    let whole = copy_of(base.path(), dir.path());
    ok(fnstore_in(&whole, &EXPAND));
    let expected = export(&whole);
    for (of, order) in [(1, vec![0]), (3, vec![2, 0, 1, 2]), (4, vec![1, 3, 2, 0])] {
        let parts = tempfile::tempdir().unwrap();
        let files = shards(base.path(), parts.path(), of);
        let store = copy_of(base.path(), parts.path());
        let ordered: Vec<&Path> = order.iter().map(|at| files[*at].as_path()).collect();
        for record in ok(merge(&store, &ordered)).records() {
            assert_eq!(faults_in("merge.schema.json", &record), [""; 0]);
        }
        assert_eq!(export(&store), expected, "{of} shards");
        let again = ok(merge(&store, &ordered)).records();
        assert!(again.iter().all(|record| record["written"] == 0), "{again:?}");
        assert_eq!(export(&store), expected);
        assert_eq!(ok(fnstore_in(&store, &["check", "--deep"])).code, Some(0));
        let rest = ok(fnstore_in(&store, &EXPAND));
        assert!(rest.stdout.contains("nothing new to do"), "{}", rest.stdout);
    }
}

/// A process that computes the only shard.
fn begin_shard(store: &Path, file: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env("FNSTORE_DIR", store).args(EXPAND).args(["--shard", "1/1", "--out"]).arg(file);
    command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_shard_that_another_process_computes_is_left_to_it() {
    let base = new_store();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("busy.zst");
    let mut child = begin_shard(base.path(), &file);
    let part = loop {
        let mut names = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
        if let Some(part) = names.find(|path| path.extension().is_some_and(|end| end == "part")) {
            break part;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended before its lines were there");
        std::thread::sleep(Duration::from_millis(5));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let held = fs::File::options().write(true).open(&part).unwrap();
    held.try_lock().unwrap();
    let before = fs::metadata(&part).unwrap().len();
    let ran = shard(base.path(), "1/1", &file);
    assert_eq!(ran.code, Some(75), "{ran:?}");
    assert!(ran.stderr.contains("another process computes this shard"), "{ran:?}");
    assert!(ran.stderr.contains("(X-locked)"), "{ran:?}");
    assert_eq!((fs::metadata(&part).unwrap().len(), file.exists()), (before, false));
    held.unlock().unwrap();
    ok(shard(base.path(), "1/1", &file));
    assert!(file.exists() && !part.exists());
}

#[test]
fn a_shard_that_was_cut_goes_on_and_one_that_is_there_is_not_computed_again() {
    let base = new_store();
    let dir = tempfile::tempdir().unwrap();
    let (cut, whole) = (dir.path().join("cut.zst"), dir.path().join("whole.zst"));
    ok(shard(base.path(), "1/1", &whole));
    for milliseconds in [400, 900, 1500] {
        let mut child = begin_shard(base.path(), &cut);
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    ok(shard(base.path(), "1/1", &cut));
    let stores = [&cut, &whole].map(|file| {
        let to = tempfile::tempdir().unwrap();
        let store = copy_of(base.path(), to.path());
        ok(merge(&store, &[file]));
        (export(&store), to).0
    });
    assert_eq!(stores[0], stores[1]);
    let again = ok(shard(base.path(), "1/1", &cut));
    assert!(again.stderr.contains("is there already, whole"), "{}", again.stderr);
    let left: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.iter().all(|path| path.extension().is_none_or(|end| end != "part")), "{left:?}");
}

#[test]
fn a_task_of_a_slurm_array_knows_its_shard() {
    let base = new_store();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("task.zst");
    let run = |task: &str, of: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
        command.env("FNSTORE_DIR", base.path()).env("SLURM_ARRAY_TASK_ID", task);
        // The tasks that are computed anew, by which nothing is counted.
        command.env("SLURM_ARRAY_TASK_MIN", task).env("SLURM_ARRAY_TASK_COUNT", "1");
        command.args(EXPAND).arg("--out").arg(&file).args(["--shard", of]);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run("3", "/9").0, Some(0));
    let manifest = fs::read_to_string(dir.path().join("task.zst.manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["shard"], serde_json::json!({ "number": 3, "of": 9 }));
    for (task, of) in [("19", "/9"), ("0", "/9"), ("1", "/0"), ("1", "/x")] {
        let (code, said) = run(task, of);
        assert!(code == Some(2) && said.contains("expected a task from 1 to"), "{said}");
    }
    let more = ["--out", "x.zst", "--shard", "/9"];
    let outside = ok_not(fnstore_in(base.path(), &[&EXPAND[..], &more].concat()));
    assert!(outside.stderr.contains("this is no task of a Slurm array"), "{}", outside.stderr);
}

fn ok_not(ran: Ran) -> Ran {
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    ran
}

#[test]
fn wrong_files_are_named_and_nothing_is_taken() {
    let base = new_store();
    let dir = tempfile::tempdir().unwrap();
    let files = shards(base.path(), dir.path(), 2);
    let before = export(base.path());
    let refused = |files: &[&Path], said: &str| {
        let ran = merge(base.path(), files);
        assert!(ran.code != Some(0) && ran.stderr.contains(said), "{said}: {ran:?}");
        assert_eq!(export(base.path()), before);
    };
    refused(&[&files[0], &dir.path().join("nowhere.zst")], "nowhere.zst.manifest.json");
    let bytes = fs::read(&files[1]).unwrap();
    fs::write(&files[1], &bytes[..bytes.len() / 2]).unwrap();
    refused(&[&files[0], &files[1]], "its manifest says");
    // All that is wrong is named.
    let both = merge(base.path(), &[&dir.path().join("nowhere.zst"), &files[1]]);
    for said in ["nowhere.zst.manifest.json", "2-of-2.zst` has"] {
        assert!(both.code != Some(0) && both.stderr.contains(said), "{both:?}");
    }
    let place = dir.path().join("2-of-2.zst.manifest.json");
    let manifest = fs::read_to_string(&place).unwrap();
    fs::write(&place, "{}").unwrap();
    refused(&[&files[1]], "is no manifest of a shard");
    fs::write(&place, manifest.replace("\"of\": 2", "\"of\": 4294967295")).unwrap();
    refused(&[&files[1]], "expected at most 1000000 shards");
    fs::write(&place, manifest).unwrap();
    // A file of another query stands in its place.
    for content in [&bytes[..9], &bytes] {
        fs::write(&files[1], content).unwrap();
        let other = shard(base.path(), "1/2", &files[1]);
        assert!(other.code != Some(0), "{other:?}");
        assert!(other.stderr.contains("expected mini-framenet"), "{other:?}");
        assert_eq!(fs::read(&files[1]).unwrap(), content);
    }
    // Its own part is computed again where the file is damaged.
    fs::write(&files[1], &bytes[..9]).unwrap();
    ok(shard(base.path(), "2/2", &files[1]));
    assert_eq!(fs::read(&files[1]).unwrap().len(), bytes.len());
    for which in ["0/2", "3/2", "1", "a/b"] {
        let ran = shard(base.path(), which, &dir.path().join("c.zst"));
        assert!(ran.code == Some(2) && ran.stderr.contains("as in `3/16`"), "{ran:?}");
    }
    // Into a store without the release.
    let empty = dir.path().join("empty");
    ok(fnstore_in(
        &empty,
        &["import", crate::cli_program::mini_framenet().to_str().unwrap(), "--release", "other"],
    ));
    let ran = merge(&empty, &[&files[0]]);
    assert!(ran.code != Some(0) && ran.stderr.contains("mini-framenet"), "{ran:?}");
}
