//! `expand --blind-to`: held-out annotation says nothing to the guide.

use std::path::Path;

use crate::cli_program::{Ran, fnstore_in, new_store};

fn expand(store: &Path, more: &[&str]) -> Ran {
    let arguments = ["expand", "id=x7002", "--model", "paraphrase", "--beam", "4", "--rounds", "1"];
    fnstore_in(store, &[&arguments[..], more].concat())
}

#[test]
fn what_an_expansion_is_blind_to_makes_another_recipe_and_needs_no_other_rewriter() {
    let store = new_store();
    let sighted = expand(store.path(), &["--format", "json"]);
    assert_eq!(sighted.code, Some(0), "{sighted:?}");
    let blind = expand(store.path(), &["--blind-to", "lu=check.v", "--format", "json"]);
    assert_eq!(blind.code, Some(0), "{blind:?}");
    let recipes = fnstore_in(store.path(), &["recipes", "--format", "jsonl"]);
    assert_eq!(recipes.records().len(), 2);
    let told = recipes.stdout.lines().any(|line| line.contains("blind_to"));
    assert!(told && recipes.stdout.contains("lu=check.v"), "{}", recipes.stdout);
    // The split list that the query is read under is part of the recipe.
    let list = store.path().join("fold.tsv");
    std::fs::write(&list, "lu\tcheck.v\ttest\n").unwrap();
    let listed = ["--blind-to", "split=test", "--split-list", list.to_str().unwrap()];
    let status = expand(store.path(), &[&listed[..], &["--status", "--format", "jsonl"]].concat());
    assert_eq!(status.records()[0]["rounds_missing"], 1, "{status:?}");
    assert_eq!(expand(store.path(), &listed).code, Some(0));
    let status = expand(store.path(), &[&listed[..], &["--status", "--format", "jsonl"]].concat());
    assert_eq!(status.records()[0]["rounds_missing"], 0, "{status:?}");
}

#[test]
fn wrong_names_are_refused_before_anything_is_written() {
    let store = new_store();
    let wrong = expand(store.path(), &["--blind-to", "doc=HarborLog"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("did you mean `HarbourLog`?"), "{}", wrong.stderr);
    // Not even a recipe that nothing belongs to.
    let recipes = fnstore_in(store.path(), &["recipes", "--format", "jsonl"]);
    assert_eq!(recipes.records(), [serde_json::Value::Null; 0]);
    let syntax = expand(store.path(), &["--blind-to", "splt=test"]);
    assert!(
        syntax.code == Some(2) && syntax.stderr.contains("did you mean `split`?"),
        "{syntax:?}"
    );
    let count = fnstore_in(store.path(), &["query", "origin=generated", "--count"]).stdout;
    assert_eq!(count, "0\n");
}
