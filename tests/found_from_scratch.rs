//! `fnstore eval scratch`: it hides LUs, expands what is left, goes on where it stopped, and counts
//! what it finds.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore, fnstore_in, new_store};
use crate::cli_schema::faults_in;

fn scratch(store: &Path, work: &Path, more: &[&str]) -> Ran {
    let work = work.to_str().unwrap();
    let fixed = ["eval", "scratch", "--work", work, "--frames", "2", "--lus", "2", "--sets", "1"];
    fnstore_in(store, &[&fixed[..], more].concat())
}

const FEW: [&str; 8] =
    ["--model", "paraphrase", "--recipe", "culkin-scratch", "--rounds", "2", "--beam", "4"];

fn document(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults_in("eval-scratch.schema.json", &document), [""; 0]);
    document
}

fn sum(records: &Value, field: &str) -> u64 {
    records.as_array().unwrap().iter().map(|of| of[field].as_u64().unwrap()).sum()
}

#[test]
fn what_is_hidden_is_found_without_being_seen() {
    let (store, work) = (new_store(), tempfile::tempdir().unwrap());
    let picture = work.path().join("scratch.svg");
    let json = ["--format", "json", "--svg", picture.to_str().unwrap(), "--ties", "1"];
    let all = document(&scratch(store.path(), work.path(), &[&FEW[..], &json].concat()));
    assert_eq!(
        all["given"],
        json!({"frames": 2, "annotated": 10, "lus": 4, "sets": 4, "left_out": 0, "hidden": 5})
    );
    // The store of the experiment has what is given, and what grew from it.
    let inside = work.path().join("by-id/store");
    let lus = fnstore_in(&inside, &["lus", "--format", "jsonl"]).records();
    let own: Vec<&Value> =
        lus.iter().filter(|lu| lu["status"] != "Proposed").map(|lu| &lu["name"]).collect();
    assert_eq!(own, ["check.v", "inspect.v", "mend.v", "repair.v"]);
    let count = |query: &str| fnstore_in(&inside, &["query", query, "--count"]).stdout;
    assert_eq!(count("origin!=generated").trim(), "4");
    // Every seed gives an output a round, in both orders.
    let rounds = all["rounds"].as_array().unwrap();
    let of = |round: &Value, field: &str| round[field].as_u64().unwrap();
    let shape: Vec<_> = rounds
        .iter()
        .map(|round| (round["order"].as_str().unwrap(), of(round, "round"), of(round, "outputs")))
        .collect();
    assert_eq!(shape, [("by id", 1, 4), ("by id", 2, 8), ("random 1", 1, 4), ("random 1", 2, 8)]);
    for round in rounds {
        assert!(of(round, "found") + of(round, "wrong") <= of(round, "outputs"), "{round}");
    }
    assert!(rounds[..2].iter().all(|round| of(round, "found") + of(round, "missed") == 5));
    // Micro is the sum over frames.
    for field in ["found", "wrong", "missed"] {
        assert_eq!(sum(&all["runs"][0]["frames"], field), of(&rounds[1], field), "{field}");
    }
    assert_eq!(all["ties"][0]["orders"], 1);
    assert!(std::fs::read_to_string(&picture).unwrap().contains("hidden LUs found, of 5"));

    // Once more nothing is left to do, and nothing changes; without the source there is still the
    // score.
    let again = scratch(store.path(), work.path(), &FEW);
    assert!(again.stderr.contains("0 sentences, 4 sets done before"), "{}", again.stderr);
    assert!(again.stdout.contains("paper_recall") && again.stdout.contains("Repairing"));
    let only = ["--only", "score", "--format", "json"];
    assert_eq!(document(&scratch(Path::new("/nowhere"), work.path(), &only)), all);

    // A store of other sets is not mixed with this one.
    let other = ["eval", "scratch", "--work", work.path().to_str().unwrap(), "--only", "prepare"];
    let other = fnstore_in(store.path(), &other);
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(other.stderr.contains("was made of other sets"), "{}", other.stderr);
}

#[test]
fn steps_that_stand_on_nothing_are_refused() {
    let (store, work) = (new_store(), tempfile::tempdir().unwrap());
    for (more, said) in [
        (&["--only", "expand"][..], "nothing is prepared"),
        (&["--only", "score"], "nothing is prepared"),
        (&["--only", "prepare", "--learned", "/nowhere/x.jsonl"], "/nowhere/x.jsonl"),
    ] {
        let ran = scratch(store.path(), work.path(), more);
        assert!(ran.code != Some(0) && ran.stdout.is_empty(), "{ran:?}");
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let none = ["eval", "scratch", "--work", "/nowhere", "--lus", "0"];
    assert!(fnstore(&none).stderr.contains("`lus` is 0; expected 1 or more"));
    let prepared = scratch(store.path(), work.path(), &["--only", "prepare"]);
    assert_eq!(prepared.code, Some(0), "{}", prepared.stderr);
    assert!(prepared.stderr.contains("4 LUs given with 4 sets, 5 LUs hidden"));
    let unknown = scratch(store.path(), work.path(), &["--recipe", "no-such"]);
    assert!(unknown.stderr.contains("R-name"), "{}", unknown.stderr);
    let empty = scratch(store.path(), work.path(), &["--only", "score"]);
    assert_eq!(empty.code, Some(1), "{}", empty.stderr);
}
