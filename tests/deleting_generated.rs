//! `fnstore delete` and `expand --redo`: what expansions wrote goes, with what grew from it, or
//! nothing.

use std::path::Path;

use fnstore::database::{Database, Write};
use fnstore::model::{AnnotationSet, LexUnit, LuId, OWN_RANGE, PROPOSED};
use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, new_store};

fn expand(store: &Path, more: &[&str]) -> Ran {
    let arguments = ["expand", "lu=inspect.v", "--carry", "target", "--model", "paraphrase"];
    let arguments = [&arguments[..], &["--beam", "4"]].concat();
    let ran = fnstore_in(store, &[&arguments[..], more].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran
}

fn generated(store: &Path, query: &str) -> Vec<Value> {
    fnstore_in(store, &["query", query, "--format", "jsonl"]).records()
}

/// Gives one of the generated sets to a proposed LU.
fn propose_one(store: &Path) -> &'static str {
    let database = Database::open_writer(store).unwrap();
    let expression = "origin=generated frame=Checking".parse().unwrap();
    let found = database.query(&expression).unwrap().next().unwrap().unwrap();
    let lu = LexUnit {
        status: PROPOSED.to_owned(),
        ..LexUnit::named(found.set.frame, LuId(OWN_RANGE | 1 << 28), "vet.v")
    };
    let set = AnnotationSet { lu: lu.id, ..found.set };
    let write = Write { sets: vec![set], lexunits: vec![lu], ..Write::default() };
    database.write(found.release.id, &write).unwrap();
    "vet.v"
}

fn is_whole(store: &Path) {
    let checked = fnstore_in(store, &["check", "--deep"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[test]
fn a_set_goes_with_the_later_rounds_that_grew_from_it_and_is_not_written_again() {
    let store = new_store();
    expand(store.path(), &["--rounds", "2"]);
    let all = generated(store.path(), "origin=generated");
    let second: Vec<&Value> = all.iter().filter(|set| set["generation"]["round"] == 2).collect();
    assert!(!second.is_empty(), "{all:?}");
    let would = fnstore_in(store.path(), &["delete", "origin=generated round=1", "--dry-run"]);
    assert_eq!(would.code, Some(0), "{would:?}");
    let told = format!("{} annotation sets, {} of them grown", all.len(), second.len());
    assert!(would.stderr.contains(&told), "{}", would.stderr);
    assert_eq!(generated(store.path(), "origin=generated"), all);
    let gone = fnstore_in(store.path(), &["delete", "origin=generated round=1", "--yes"]);
    assert_eq!(gone.code, Some(0), "{gone:?}");
    assert!(gone.stderr.contains(&told), "{}", gone.stderr);
    assert!(generated(store.path(), "origin=generated").is_empty());
    let lus =
        fnstore_in(store.path(), &["lus", "--frame", "Checking", "--format", "jsonl"]).records();
    assert!(!lus.is_empty() && lus.iter().all(|lu| lu["status"] != "Proposed"), "{lus:?}");
    is_whole(store.path());
    let again = expand(store.path(), &["--rounds", "2"]);
    assert!(again.stdout.contains("nothing new to do"), "{}", again.stdout);
}

#[test]
fn one_recipe_goes_and_the_other_stays() {
    let store = new_store();
    expand(store.path(), &["--rounds", "1"]);
    let first = generated(store.path(), "recipe=1");
    expand(store.path(), &["--rounds", "1", "--candidates", "2"]);
    let gone = fnstore_in(store.path(), &["delete", "origin=generated", "recipe=2", "--yes"]);
    assert_eq!(gone.code, Some(0), "{gone:?}");
    assert_eq!(generated(store.path(), "origin=generated"), first);
    is_whole(store.path());
}

#[test]
fn what_is_done_anew_is_the_same_again() {
    let store = new_store();
    expand(store.path(), &["--rounds", "2"]);
    let before = generated(store.path(), "origin=generated");
    let anew = expand(store.path(), &["--rounds", "2", "--redo"]);
    let told = format!("removed {} annotation sets", before.len());
    assert!(anew.stderr.contains(&told), "{}", anew.stderr);
    assert!(anew.stdout.contains("sentences written"), "{}", anew.stdout);
    assert_eq!(generated(store.path(), "origin=generated"), before);
    is_whole(store.path());
}

#[test]
fn a_limit_says_how_many_seeds_begin_anew() {
    let store = new_store();
    expand(store.path(), &["--rounds", "1"]);
    let before = generated(store.path(), "origin=generated");
    let one = expand(store.path(), &["--rounds", "1", "--redo", "--limit", "1"]);
    assert!(one.stderr.contains("removed 1 annotation set,"), "{}", one.stderr);
    assert!(before.len() > 1);
    assert_eq!(generated(store.path(), "origin=generated"), before);
}

#[test]
fn sentences_on_which_people_decided_go_only_by_name() {
    let store = new_store();
    expand(store.path(), &["--rounds", "1"]);
    let lu = propose_one(store.path());
    let accept = ["proposals", "accept", "Checking", lu, "--reviewer", "kim"];
    assert_eq!(fnstore_in(store.path(), &accept).code, Some(0));
    let before = fnstore_in(store.path(), &["export", "--to", "jsonl"]).stdout;
    let redo = ["expand", "lu=inspect.v", "--model", "paraphrase", "--beam", "4", "--rounds", "1"];
    let redo = fnstore_in(store.path(), &[&redo[..], &["--carry", "target", "--redo"]].concat());
    assert_eq!(redo.code, Some(2), "{redo:?}");
    let told = format!("sentences of `{lu}` would go, on which people decided");
    assert!(redo.stderr.contains(&told), "{}", redo.stderr);
    assert_eq!(fnstore_in(store.path(), &["export", "--to", "jsonl"]).stdout, before);
    let would = fnstore_in(store.path(), &["delete", "origin=generated", "--dry-run"]);
    let told = format!("among them sentences of `{lu}`, on which people decided");
    assert!(would.stderr.contains(&told), "{}", would.stderr);
}

#[test]
fn human_sets_are_refused_and_without_a_terminal_nothing_goes_unasked() {
    let store = new_store();
    expand(store.path(), &["--rounds", "1"]);
    let all = generated(store.path(), "origin=generated");
    let human = fnstore_in(store.path(), &["delete", "frame=Checking", "--yes"]);
    assert_eq!(human.code, Some(2));
    assert!(human.stderr.contains("sets that no expansion wrote"), "{}", human.stderr);
    let unasked = fnstore_in(store.path(), &["delete", "origin=generated"]);
    assert_eq!(unasked.code, Some(2));
    assert!(unasked.stderr.contains("say `--yes`"), "{}", unasked.stderr);
    let nothing = fnstore_in(store.path(), &["delete", "origin=generated recipe=1 round=9"]);
    assert_eq!(nothing.code, Some(1), "{nothing:?}");
    assert_eq!(generated(store.path(), "origin=generated"), all);
}
