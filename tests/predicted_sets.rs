//! Sets that models predicted, and what a frame model says of generated ones: written, queried,
//! shown, exported, judged again.

use fnstore::database::Database;
use serde_json::{Value, json};

use crate::cli_program::fnstore_in;
use crate::cli_schema::faults_in;
use crate::frame_identification::trained;
use crate::generated;

const NEWS: &str =
    "They checked every boat .\nThe crew mended ropes .\nThey checked every boat .\n";

#[test]
fn what_is_annotated_into_a_store_is_queried_shown_and_exported() {
    let (trained, _) = trained();
    let into = tempfile::tempdir().unwrap();
    let store = into.path().to_str().unwrap();
    let ran = trained.annotate(NEWS, &["--open", "--into", store, "--as", "news"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("3 sentences are in the store"), "{}", ran.stderr);
    let printed: usize =
        ran.records().iter().map(|record| record["targets"].as_array().unwrap().len()).sum();
    assert!(printed > 0, "the small model finds something: {}", ran.stdout);

    let query = |expression: &str| {
        fnstore_in(into.path(), &["query", expression, "--format", "jsonl"]).records()
    };
    let found = query("origin=predicted release=news doc='standard input'");
    assert_eq!(found.len(), printed);
    for hit in &found {
        assert_eq!(faults_in("hit.schema.json", hit), [""; 0], "{hit}");
        assert_eq!((&hit["origin"], &hit["status"]), (&json!("predicted"), &json!("PREDICTED")));
        let fit = hit["frame_fit"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&fit), "{fit}");
    }
    assert_eq!(query("frame_fit>=0").len(), printed);
    assert!(query("frame_fit<0").is_empty());
    let id = found[0]["id"].as_str().unwrap();
    let by_id = format!("id={id}");
    let shown = fnstore_in(into.path(), &["query", &by_id, "--format", "table"]).stdout;
    assert!(shown.contains("predicted  frame fit "), "{shown}");
    let shown = fnstore_in(into.path(), &["show", "frame", found[0]["frame"].as_str().unwrap()]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let checked = fnstore_in(into.path(), &["check"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);

    // JSON lines carry all of it into another store.
    let beside = tempfile::tempdir().unwrap();
    let lines = beside.path().join("news.jsonl");
    let lines = lines.to_str().unwrap();
    let out = fnstore_in(into.path(), &["export", "--to", "jsonl", lines]);
    assert_eq!(out.code, Some(0), "{}", out.stderr);
    for line in std::fs::read_to_string(lines).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        if record["kind"] == json!("set") {
            assert_eq!(faults_in("jsonl-set.schema.json", &record), [""; 0], "{record}");
        }
    }
    let other = tempfile::tempdir().unwrap();
    let ran = fnstore_in(other.path(), &["import", lines]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let again = fnstore_in(other.path(), &["query", "origin=predicted", "--format", "jsonl"]);
    assert_eq!(again.records(), found);

    // A release of that name is there already.
    let ran = trained.annotate(NEWS, &["--into", store, "--as", "news"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("`news`"), "{}", ran.stderr);
}

#[test]
fn a_frame_model_says_how_likely_the_frames_of_generated_sets_are() {
    let (trained, _) = trained();
    let store = trained.store.path();
    let database = Database::open_existing_writer(store).unwrap();
    let release = database.releases().unwrap()[0].id;
    generated::write(&database, release);
    drop(database);
    let models = trained.folder.path().to_str().unwrap();
    let fit = || {
        let ran = trained.run(&[
            "fit",
            "origin=generated",
            "--models",
            models,
            "--device",
            "cpu",
            "--format",
            "json",
        ]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(faults_in("fit.schema.json", &document), [""; 0]);
        document
    };
    let first = json!({"sets": 2, "written": 2, "without": 0, "interrupted": false});
    assert_eq!(fit(), first);
    assert_eq!(fit()["written"], json!(0), "the same model says the same");
    let fit_again = ["fit", "origin=generated", "--models", models, "--device", "cpu"];
    let table = trained.run(&[&fit_again[..], &["--format", "table"]].concat()).stdout;
    assert!(table.contains(&format!("  {:<20} {:>9}\n", "had it before", 2)), "{table}");
    let hits = trained.run(&["query", "frame_fit>=0", "--format", "jsonl"]).records();
    assert_eq!(hits.len(), 2);
    let lowest = trained.run(&["query", "frame_fit>=0", "--sort=frame_fit", "--format", "jsonl"]);
    let fits = lowest.records().into_iter().map(|hit| hit["frame_fit"].as_f64().unwrap());
    assert!(fits.collect::<Vec<f64>>().is_sorted());
    let none =
        trained.run(&["fit", "frame=Checking round=9", "--models", models, "--device", "cpu"]);
    assert_eq!(none.code, Some(1), "{}", none.stderr);
}
