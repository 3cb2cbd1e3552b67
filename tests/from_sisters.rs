//! `fnstore expand --from-sisters`: LUs without sentences get those of their sisters, rewritten.

use std::path::Path;

use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, new_store};

fn expand(store: &Path, query: &str, more: &[&str]) -> Ran {
    let arguments = ["expand", query, "--from-sisters", "--model", "paraphrase", "--beam", "8"];
    fnstore_in(store, &[&arguments[..], more].concat())
}

fn generated(store: &Path) -> Vec<Value> {
    fnstore_in(store, &["query", "origin=generated", "--format", "jsonl"]).records()
}

#[test]
fn every_sentence_has_the_lu_as_its_trigger_and_grew_from_a_sister_of_its_part_of_speech() {
    let store = new_store();
    let before = fnstore_in(store.path(), &["query", "lu=verify.v", "--count"]).stdout;
    assert_eq!(before, "0\n");
    let ran = expand(store.path(), "lu=verify.v", &["--rounds", "2"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("LUs without sentences: 1"), "{}", ran.stderr);
    let sets = generated(store.path());
    assert!(sets.len() > 3, "{ran:?}");
    for set in &sets {
        assert_eq!(set["lu"], "verify.v", "{set}");
        assert_eq!(set["generation"]["round"], 1, "a seed says it once: {set}");
        let trigger = set["trigger"].as_str().unwrap().to_lowercase();
        assert!(["verify", "verified", "verifies", "verifying"].contains(&&*trigger), "{set}");
    }
    let of_people = "frame=Checking pos=V origin!=generated origin!=carried";
    let seeds = fnstore_in(store.path(), &["query", of_people, "--count"]);
    let status = expand(store.path(), "lu=verify.v", &["--status", "--format", "jsonl"]);
    let status = &status.records()[0];
    assert_eq!(status["seeds"].to_string(), seeds.stdout.trim(), "{status}");
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));
    let again = expand(store.path(), "lu=verify.v", &["--rounds", "2"]);
    assert!(again.stdout.contains("nothing new to do"), "{again:?}");
    assert_eq!(generated(store.path()), sets);
}

#[test]
fn a_limit_takes_so_many_sisters() {
    let store = new_store();
    let ran = expand(store.path(), "lu=verify.v", &["--limit", "1", "--rounds", "1"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(generated(store.path()).len() <= 1);
}

#[test]
fn wrong_input_is_named_and_nothing_is_written() {
    let store = new_store();
    for (query, more, said) in [
        ("lu=check.v", &[][..], "all 2 LUs that are found have sentences, as `check.v`"),
        ("lu=examine.v", &[], "`examine.v` has sentences of its own"),
        ("lu=chek.v", &[], "did you mean `check.v`?"),
        ("trigger=checked", &[], "`trigger=checked` asks for annotation"),
        ("lu=verify.v", &["--guide", "none"], "the recipe is guided"),
    ] {
        let ran = expand(store.path(), query, more);
        assert_eq!(ran.code, Some(2), "{query}: {ran:?}");
        assert!(ran.stderr.contains(said), "{query}: {}", ran.stderr);
    }
    assert_eq!(generated(store.path()), [Value::Null; 0]);
    let recipes = fnstore_in(store.path(), &["recipes", "--format", "jsonl"]);
    assert_eq!(recipes.records(), [Value::Null; 0]);
}
