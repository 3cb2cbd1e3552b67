//! A round may change several targets of a sentence at once; the sets of those beside the seed's
//! stand in the new sentence under the LU that took their place.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::shards::{copy_of, export, ok};

const EXPAND: [&str; 9] = [
    "expand",
    "doc=HarbourLog",
    "--model",
    "paraphrase",
    "--beam",
    "4",
    "--targets",
    "all",
    "--rounds",
];

fn expand(store: &Path, rounds: &str, more: &[&str]) -> Ran {
    fnstore_in(store, &[&EXPAND[..], &[rounds], more].concat())
}

/// A store with two rounds of a full text in which several targets change, and what was reported.
fn expanded() -> &'static (tempfile::TempDir, Value) {
    static STORE: OnceLock<(tempfile::TempDir, Value)> = OnceLock::new();
    STORE.get_or_init(|| {
        let store = new_store();
        let ran = ok(expand(store.path(), "2", &["--format", "json"]));
        let report = ran.document("expand.schema.json");
        (store, report)
    })
}

fn hits(store: &Path, query: &str) -> Vec<Value> {
    fnstore_in(store, &["query", query, "--format", "jsonl"]).records()
}

fn by_id(hits: Vec<Value>) -> BTreeMap<String, Value> {
    hits.into_iter().map(|hit| (hit["id"].as_str().unwrap().to_owned(), hit)).collect()
}

#[test]
fn sets_are_carried_under_the_lu_that_took_their_place() {
    let (store, report) = expanded();
    let (people, carried) =
        (by_id(hits(store.path(), "doc=HarbourLog")), hits(store.path(), "origin=carried"));
    let mut changed = 0;
    for hit in &carried {
        assert_eq!(faults_in("hit.schema.json", hit), [""; 0], "{hit}");
        let source = &people[hit["carrying"]["source"].as_str().unwrap()];
        assert_eq!(hit["frame"], source["frame"]);
        if hit["lu"] == source["lu"] {
            continue;
        }
        changed += 1;
        let words = |hit: &Value| hit["trigger"].as_str().unwrap().to_lowercase();
        assert_ne!(words(hit), words(source), "{hit}");
        let name = hit["lu"].as_str().unwrap();
        let frame = hit["frame"].as_str().unwrap();
        let own =
            fnstore_in(store.path(), &["lus", "--frame", frame, "--format", "jsonl"]).records();
        let is_own = |lu: &Value| lu["name"] == name && lu["status"] != "Proposed";
        assert!(own.iter().any(is_own), "{name} is no LU of {frame}: {own:?}");
    }
    assert!(changed > 0, "{report}");
    assert_eq!(report["carried"]["changed"], changed);
    let recipes = fnstore_in(store.path(), &["recipes", "--format", "jsonl"]).stdout;
    assert!(recipes.contains("targets"), "{recipes}");
    let checked = fnstore_in(store.path(), &["check", "--deep"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[test]
fn rounds_that_come_later_change_what_one_run_changes() {
    let (base, dir) = (new_store(), tempfile::tempdir().unwrap());
    let parts = copy_of(base.path(), dir.path());
    ok(expand(base.path(), "2", &[]));
    ok(expand(&parts, "1", &[]));
    ok(expand(&parts, "2", &[]));
    assert_eq!(export(&parts), export(base.path()));
}

#[test]
fn no_trigger_takes_the_same_place_twice() {
    let (store, _) = expanded();
    let people = by_id(hits(store.path(), "doc=HarbourLog"));
    let made = by_id(hits(store.path(), "origin=generated"));
    let mut seen = BTreeMap::new();
    for hit in hits(store.path(), "origin=carried") {
        let source = hit["carrying"]["source"].as_str().unwrap().to_owned();
        if hit["lu"] == people[&source]["lu"] {
            continue;
        }
        let beside = &made[hit["carrying"]["generated"].as_str().unwrap()];
        let seed = beside["generation"]["seed"].to_string();
        let count = seen.entry((seed, source, hit["lu"].to_string())).or_insert(0);
        *count += 1;
        assert_eq!(*count, 1, "{hit}");
    }
    assert!(!seen.is_empty());
}

#[test]
fn several_targets_without_their_sets_are_refused() {
    let store = new_store();
    let ran = expand(store.path(), "1", &["--carry", "target"]);
    assert_ne!(ran.code, Some(0));
    assert!(ran.stderr.contains("changes several targets"), "{}", ran.stderr);
    let ran = fnstore_in(store.path(), &["expand", "lu=check.v", "--targets", "two"]);
    assert!(ran.stderr.contains("[possible values: one, all]"), "{}", ran.stderr);
}
