//! A release is removed with all that was added to it, and the others stay as they are.

use std::path::Path;

use fnstore::database::{Database, Write};
use fnstore::index::IndexReader;
use fnstore::internals::WithStore as _;
use fnstore::model::{FrameId, LexUnit, LuId};

use crate::cli_program::{Ran, fnstore_in, mini_framenet, new_store};
use crate::mini;

/// A store with the mini lexicon twice, the second time as `mine`, with a generated set in each.
fn two_releases() -> tempfile::TempDir {
    let store = new_store();
    let mini = mini_framenet();
    let import = ["import", mini.to_str().unwrap(), "--release", "mine"];
    assert_eq!(fnstore_in(store.path(), &import).code, Some(0));
    for release in ["release=mini-framenet", "release=mine"] {
        let generate = ["generate", release, "lu=verify.v", "--model", "none"];
        assert_eq!(fnstore_in(store.path(), &generate).code, Some(0));
    }
    store
}

fn remove(store: &Path, arguments: &[&str]) -> Ran {
    fnstore_in(store, &[&["releases", "remove"], arguments].concat())
}

fn printed(store: &Path, arguments: &[&str]) -> String {
    fnstore_in(store, arguments).stdout
}

#[test]
fn what_a_removed_release_had_is_gone_and_the_rest_is_whole() {
    let store = two_releases();
    let kept = |what: &[&str]| {
        printed(store.path(), &[&["query", "release=mini-framenet"], what].concat())
    };
    let before = [kept(&[]), kept(&["trigger=checked"])];
    let ran = remove(store.path(), &["mine", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("removed the release `mine`: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("and 1 added, 1 of them generated"), "{}", ran.stderr);
    assert_eq!([kept(&[]), kept(&["trigger=checked"])], before);
    let all = printed(store.path(), &["query", "--count"]);
    assert_eq!(all, printed(store.path(), &["query", "release=mini-framenet", "--count"]));
    assert_eq!(printed(store.path(), &["releases"]).lines().count(), 1);
    let check = fnstore_in(store.path(), &["check"]);
    assert_eq!(check.code, Some(0), "{}{}", check.stdout, check.stderr);
    let last = fnstore_in(store.path(), &["changes"]).records().pop().unwrap();
    assert_eq!([&last["action"], &last["kind"]], ["removed", "release"]);
}

#[test]
fn the_index_forgets_a_removed_release() {
    let store = two_releases();
    let index = store.path().join("index");
    let old = tempfile::tempdir().unwrap();
    mini::copy(&index, old.path());
    let entries = || IndexReader::open(&index).unwrap().unwrap().entries();
    let both = entries();
    assert_eq!(remove(store.path(), &["mine", "--yes"]).code, Some(0));
    let sets: u64 = printed(store.path(), &["query", "--count"]).trim().parse().unwrap();
    assert!(sets < both);
    assert_eq!(entries(), sets);

    // A writer that was killed between the two commits leaves the index as it was.
    std::fs::remove_dir_all(&index).unwrap();
    mini::copy(old.path(), &index);
    drop(Database::open_writer(store.path()).unwrap());
    assert_eq!(entries(), sets);
}

#[test]
fn edits_of_a_release_that_was_removed_meanwhile_are_refused() {
    let store = two_releases();
    let database = Database::open_writer(store.path()).unwrap();
    let mine = database.release("mine").unwrap().id;
    let mut edits = database.transaction(mine).unwrap();
    edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), "peruse.v")).unwrap();
    let revision = database.remove_release("mine").unwrap();
    assert!(edits.commit().unwrap_err().to_string().contains("E-absent"));
    assert!(database.write(mine, &Write::default()).is_err());
    assert!(database.loader(mine).is_err());
    assert_eq!(database.store().revision().unwrap(), revision);
}

#[test]
fn the_name_of_a_removed_release_is_free() {
    let store = two_releases();
    let sets = printed(store.path(), &["query", "release=mine origin=exemplar", "--count"]);
    assert_eq!(remove(store.path(), &["mine", "--yes"]).code, Some(0));
    let mini = mini_framenet();
    let import = ["import", mini.to_str().unwrap(), "--release", "mine"];
    assert_eq!(fnstore_in(store.path(), &import).code, Some(0));
    assert_eq!(printed(store.path(), &["query", "release=mine", "--count"]), {
        printed(store.path(), &["query", "release=mini-framenet origin!=generated", "--count"])
    });
    assert_eq!(
        printed(store.path(), &["query", "release=mine origin=exemplar", "--count"]),
        sets,
        "nothing of the old one shows"
    );
}

#[test]
fn nothing_goes_without_a_yes_or_under_a_wrong_name() {
    let store = two_releases();
    let releases = printed(store.path(), &["releases"]);
    let unasked = remove(store.path(), &["mine"]);
    assert_eq!(unasked.code, Some(2), "{}", unasked.stderr);
    assert!(unasked.stderr.contains("would remove the release `mine`: "), "{}", unasked.stderr);
    let unknown = remove(store.path(), &["minne", "--yes"]);
    assert_ne!(unknown.code, Some(0));
    assert!(unknown.stderr.contains("did you mean `mine`?"), "{}", unknown.stderr);
    assert_eq!(printed(store.path(), &["releases"]), releases);
}
