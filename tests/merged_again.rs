//! A shard that was merged is not read again, unless something was removed since.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli_program::{fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::shards::{export, merge, ok};

/// A shard of few seeds.
fn shard(store: &Path, which: &str, file: &Path) {
    let fixed = ["expand", "lu=inspect.v", "--model", "paraphrase", "--beam", "2", "--rounds", "1"];
    let more = ["--guide", "none", "--filter", "none", "--shard", which, "--out"];
    ok(fnstore_in(store, &[&fixed[..], &more, &[file.to_str().unwrap()]].concat()));
}

/// Whether each file was skipped, and how many sets were written.
fn merged(store: &Path, files: &[PathBuf]) -> Vec<(bool, u64)> {
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let records = ok(merge(store, &files)).records();
    let of = |record: &Value| {
        assert_eq!(faults_in("merge.schema.json", record), [""; 0]);
        (record["skipped"].as_bool().unwrap(), record["written"].as_u64().unwrap())
    };
    records.iter().map(of).collect()
}

#[test]
fn a_merged_shard_is_skipped_until_something_is_removed() {
    let (store, dir) = (new_store(), tempfile::tempdir().unwrap());
    let store = store.path();
    let files = ["1/2", "2/2"].map(|which| {
        let file = dir.path().join(format!("{}.zst", &which[..1]));
        shard(store, which, &file);
        file
    });
    let [(false, first), (false, second)] = merged(store, &files)[..] else { panic!() };
    assert!(first > 0 && second > 0);
    let whole = export(store);
    assert_eq!(merged(store, &files), [(true, 0), (true, 0)]);
    let again = ok(fnstore_in(store, &["merge", "--again", files[0].to_str().unwrap()])).records();
    assert_eq!((&again[0]["skipped"], &again[0]["written"]), (&false.into(), &0.into()));
    assert_eq!(export(store), whole);
    // A backup is of a state, and has the list of that state.
    let backup = dir.path().join("backup");
    ok(fnstore_in(store, &["backup", backup.to_str().unwrap()]));
    ok(fnstore_in(store, &["delete", "origin=generated round=1", "--yes"]));
    assert_eq!(merged(store, &files), [(false, first), (false, second)]);
    assert_eq!(merged(store, &files), [(true, 0), (true, 0)]);
    let restored = dir.path().join("restored");
    ok(fnstore_in(&restored, &["restore", backup.to_str().unwrap()]));
    assert_eq!(merged(&restored, &files), [(true, 0), (true, 0)]);
    assert_eq!(export(&restored), whole);
    assert_eq!(ok(fnstore_in(store, &["check", "--deep"])).code, Some(0));
    // What is added by others removes nothing.
    let others = ["expand", "lu=audit.v", "--model", "paraphrase", "--beam", "2", "--rounds", "1"];
    ok(fnstore_in(store, &[&others[..], &["--guide", "none", "--filter", "none"]].concat()));
    assert_eq!(merged(store, &files), [(true, 0), (true, 0)]);
    // With the release its list is gone.
    let name = "mini-framenet";
    ok(fnstore_in(store, &["releases", "remove", name, "--yes"]));
    let mini = crate::cli_program::mini_framenet();
    ok(fnstore_in(store, &["import", mini.to_str().unwrap()]));
    assert_eq!(merged(store, &files), [(false, first), (false, second)]);
}
