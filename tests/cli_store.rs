//! Stores that cannot be used: absent, locked, of another format.

use fnstore::database::Database;
use rocksdb::{DB, Options};

use crate::cli_program::{fnstore_in, mini_framenet, new_store};

#[test]
fn without_a_store_the_message_says_how_to_make_one() {
    let dir = tempfile::tempdir().unwrap();
    let nowhere = dir.path().join("nowhere");
    for arguments in
        [vec!["query", "frame=Checking"], vec!["show", "frame", "Checking"], vec!["releases"]]
    {
        let ran = fnstore_in(&nowhere, &arguments);
        assert_eq!(ran.code, Some(66), "{arguments:?}");
        assert!(ran.stderr.contains("hint: `fnstore import PATH` makes one"), "{}", ran.stderr);
    }
    assert!(!nowhere.exists());
}

#[test]
fn a_locked_store_says_who_writes_it() {
    let store = new_store();
    let _writer = Database::open_existing_writer(store.path()).unwrap();
    let release = mini_framenet();
    let ran = fnstore_in(store.path(), &["import", release.to_str().unwrap(), "--release", "b"]);
    assert_eq!(ran.code, Some(75), "{}", ran.stderr);
    let holder = format!("is being written by process {}", std::process::id());
    assert!(ran.stderr.contains(&holder), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: `query`, `show` and `releases` work"), "{}", ran.stderr);
}

#[test]
fn a_store_of_a_newer_format_is_refused_with_both_versions() {
    let store = new_store();
    let path = store.path().join("db");
    let options = Options::default();
    let families = DB::list_cf(&options, &path).unwrap();
    let db = DB::open_cf(&options, &path, families).unwrap();
    db.put_cf(db.cf_handle("meta").unwrap(), b"format", [0, 9, 0, 3]).unwrap();
    drop(db);
    for arguments in [vec!["query", "--count"], vec!["import", mini_framenet().to_str().unwrap()]] {
        let ran = fnstore_in(store.path(), &arguments);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("has format 9.3"), "{}", ran.stderr);
        assert!(ran.stderr.contains("this build reads format 2.0"), "{}", ran.stderr);
    }
}

#[test]
fn the_option_goes_before_the_variable() {
    let store = new_store();
    let nowhere = store.path().join("nowhere");
    let count = ["query", "--count", "--store", store.path().to_str().unwrap()];
    assert_eq!(fnstore_in(&nowhere, &count).stdout, "42\n");
}

#[test]
fn wrong_usage_is_exit_code_two() {
    let store = new_store();
    for arguments in [
        vec![],
        vec!["fetch"],
        vec!["query", "--limit", "many"],
        vec!["query", "--count", "--limit", "1"],
        vec!["import"],
    ] {
        assert_eq!(fnstore_in(store.path(), &arguments).code, Some(2), "{arguments:?}");
    }
    assert_eq!(fnstore_in(store.path(), &["--help"]).code, Some(0));
}
