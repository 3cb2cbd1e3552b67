//! What parsers learn from has no sets of LUs that people rejected, and says how many it left out.

use crate::cli_program::{Ran, fnstore_in};
use crate::proposals::store;

/// A store in which `wander.v` of `Checking` was rejected.
fn rejecting() -> tempfile::TempDir {
    let store = store();
    let decided = ["proposals", "reject", "Checking", "wander.v", "--reviewer", "kim"];
    assert_eq!(fnstore_in(store.path(), &decided).code, Some(0));
    store
}

fn export(store: &std::path::Path, query: &str, format: &[&str]) -> Ran {
    let ran = fnstore_in(store, &[&["export", query], format].concat());
    // It says by its code whether it wrote anything.
    assert!(ran.code == Some(0) || ran.stderr.contains("nothing written"), "{ran:?}");
    ran
}

const WANDER: &str = "frame=Checking lu=wander.v";
const TRAINING: [&str; 3] = ["--training", "--to", "jsonl"];

#[test]
fn training_files_leave_out_sets_of_rejected_lus() {
    let store = rejecting();
    let sets = fnstore_in(store.path(), &["query", WANDER, "--count"]).stdout;
    assert_ne!(sets, "0\n", "they stay in the store");
    for format in [&TRAINING[..], &["--to", "training-conll"], &["--to", "bios"]] {
        let ran = export(store.path(), WANDER, format);
        assert_eq!(ran.stdout.trim(), "", "{format:?}");
        assert!(ran.stderr.contains("lu-rejected"), "{format:?}: {ran:?}");
        let all = export(store.path(), "frame=Checking origin=generated", format);
        assert!(all.stdout.contains("vet"), "{format:?}: what nobody rejected is there");
        assert!(!all.stdout.contains("wander"), "{format:?}: {}", all.stdout);
    }
}

#[test]
fn semafor_and_conll_leave_them_out_too() {
    let store = rejecting();
    let dir = tempfile::tempdir().unwrap();
    let files = dir.path().join("semafor");
    let ran = export(store.path(), WANDER, &["--to", "semafor", files.to_str().unwrap()]);
    assert!(ran.stderr.contains("lu-rejected"), "{ran:?}");
    let ran = export(store.path(), WANDER, &["--to", "conll"]);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("lu-rejected"), "{ran:?}");
}

#[test]
fn an_edition_with_them_is_not_published() {
    let store = store();
    let made = ["edition", "create", "first", "frame=Checking origin=generated"];
    assert_eq!(fnstore_in(store.path(), &made).code, Some(0));
    let decided = ["proposals", "reject", "Checking", "wander.v", "--reviewer", "kim"];
    assert_eq!(fnstore_in(store.path(), &decided).code, Some(0));
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("published");
    let publish = ["edition", "publish", "first", place.to_str().unwrap(), "--licence", "mit"];
    let ran = fnstore_in(store.path(), &publish);
    assert!(ran.code != Some(0) && ran.stderr.contains("people rejected"), "{ran:?}");
    assert!(!place.exists());
}

#[test]
fn a_rejection_that_is_taken_back_brings_them_back() {
    let store = rejecting();
    let undone = ["proposals", "undo", "Checking", "wander.v", "--reviewer", "kim"];
    assert_eq!(fnstore_in(store.path(), &undone).code, Some(0));
    let ran = export(store.path(), WANDER, &TRAINING);
    assert!(ran.stdout.contains("wander.v") && !ran.stderr.contains("lu-rejected"), "{ran:?}");
}

#[test]
fn what_is_written_without_loss_and_as_tables_has_them() {
    let store = rejecting();
    for format in ["jsonl", "csv"] {
        let ran = export(store.path(), WANDER, &["--to", format]);
        assert!(ran.stdout.contains("wander.v"), "{format}: {ran:?}");
    }
}
