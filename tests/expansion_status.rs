//! `expand --status` and `--dry-run`: what is done and missing, and that nothing is written.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;

fn expand(store: &Path, query: &str, more: &[&str]) -> Ran {
    let arguments = ["expand", query, "--model", "paraphrase", "--beam", "4", "--format", "json"];
    fnstore_in(store, &[&arguments[..], more].concat())
}

fn record(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

/// The one frame's status.
fn status(store: &Path, rounds: &str) -> Value {
    let ran = expand(store, "lu=inspect.v", &["--rounds", rounds, "--status"]);
    let rows = record(&ran);
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(faults_in("expand-status.schema.json", &rows[0]), [""; 0]);
    rows[0].clone()
}

#[test]
fn a_status_counts_what_is_missing_and_what_is_done() {
    let store = new_store();
    let before = status(store.path(), "2");
    let seeds = before["seeds"].as_u64().unwrap();
    assert!(seeds > 1 && before["frame"] == "Checking", "{before}");
    assert_eq!((&before["done"], &before["begun"]), (&json!(0), &json!(0)));
    assert_eq!(before["rounds_missing"], 2 * seeds);
    record(&expand(store.path(), "lu=inspect.v", &["--rounds", "1"]));
    let after = status(store.path(), "1");
    let ended: u64 = after["ended"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(after["done"].as_u64().unwrap() + ended, seeds, "{after}");
    assert_eq!(after["rounds_missing"], 0);
    // Another round is missing for those that did not end, and nothing is known of another recipe.
    let more = status(store.path(), "2");
    assert_eq!(more["begun"], seeds - ended);
    assert_eq!(more["rounds_missing"], seeds - ended);
    let other = expand(store.path(), "lu=inspect.v", &["--status", "--candidates", "3"]);
    assert_eq!(record(&other)[0]["rounds_missing"], 3 * seeds);
}

#[test]
fn a_dry_run_measures_and_leaves_the_store_as_it_was() {
    let store = new_store();
    let revision = |store: &Path| fnstore_in(store, &["changes", "--format", "jsonl"]).stdout;
    let before = revision(store.path());
    let ran = expand(store.path(), "lu=inspect.v", &["--rounds", "3", "--dry-run"]);
    let estimate = record(&ran);
    assert_eq!(faults_in("expand-estimate.schema.json", &estimate), [""; 0]);
    let number = |name: &str| estimate[name].as_f64().unwrap();
    assert_eq!(number("rounds_missing"), 3.0 * number("seeds"));
    assert!(number("measured_rounds") >= 1.0 && number("measured_seconds") > 0.0, "{estimate}");
    // What was measured is a part of what is missing.
    assert!(number("missing_seconds") > 0.5 * number("measured_seconds"), "{estimate}");
    let part = |shard: &str| {
        let arguments = ["--rounds", "3", "--filter", "none", "--dry-run", "--shard", shard];
        record(&expand(store.path(), "lu=inspect.v", &arguments))["seeds"].as_u64().unwrap()
    };
    assert_eq!(part("1/2") + part("2/2"), estimate["seeds"].as_u64().unwrap());
    let generated = fnstore_in(store.path(), &["query", "origin=generated", "--count"]);
    assert_eq!(generated.stdout.trim(), "0");
    assert_eq!(fnstore_in(store.path(), &["recipes"]).code, Some(1), "no recipe is written");
    assert_eq!(revision(store.path()), before);
    // What it measured for is written as it would have been without.
    record(&expand(store.path(), "lu=inspect.v", &["--rounds", "1"]));
    let done = record(&expand(store.path(), "lu=inspect.v", &["--rounds", "1", "--dry-run"]));
    assert_eq!((&done["rounds_missing"], &done["measured_rounds"]), (&json!(0), &json!(0)));
}

#[test]
fn a_limited_dry_run_tells_of_the_sets_that_the_run_takes() {
    let store = new_store();
    let dry = |more: &[&str]| {
        let arguments = [&["--rounds", "3", "--filter", "none", "--dry-run"], more].concat();
        record(&expand(store.path(), "frame=Checking", &arguments))
    };
    let (all, some) = (dry(&[]), dry(&["--limit", "2"]));
    assert_eq!(all["seeds"], some["seeds"]);
    assert_eq!(some["rounds_missing"], json!(6), "{some}");
    assert_eq!(
        (&some["at_least"], some["measured_rounds"].as_u64() <= Some(6)),
        (&json!(false), true)
    );
    let number = |of: &Value, name: &str| of[name].as_f64().unwrap();
    assert!(number(&some, "fixed_seconds") < number(&some, "missing_seconds"), "{some}");
}

#[test]
fn a_status_of_nothing_finds_nothing_and_wrong_names_are_refused() {
    let store = new_store();
    let nothing = expand(store.path(), "frame=Checking origin=user", &["--status"]);
    assert_eq!(nothing.code, Some(1), "{nothing:?}");
    let wrong = expand(store.path(), "frame=Cheking", &["--dry-run"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("did you mean `Checking`?"), "{}", wrong.stderr);
    let both = expand(store.path(), "frame=Checking", &["--dry-run", "--status"]);
    assert!(both.code == Some(2) && both.stderr.contains("cannot be used with"), "{both:?}");
}
