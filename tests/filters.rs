//! Filters of generated sets, from judgements to scores: `train filter`, `eval filter`, `filter`,
//! and what an expansion writes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fnstore::database::{Database, Write};
use fnstore::expand;
use fnstore::filter::Filter;
use fnstore::model::{AnnotationSet, AnnotationSetId, IdSpace, Sentence, SentenceId};
use fnstore::query::Expression;
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::{faults_in, generate};
use crate::mini;

/// Judged outputs of 60 seeds: those of which the aligner is sure are accepted, but for one in
/// nine; nobody has judged the last of each seed.
fn data(folder: &Path) -> PathBuf {
    let lines = (0..180).map(|at| {
        let (sure, wrong) = (at % 2 == 0, at % 9 == 0);
        let aligner = if sure { 0.9 } else { 0.3 } + f64::from(at % 5) / 100.0;
        let judgements = match (at % 3, sure != wrong) {
            (2, _) => json!([]),
            (_, true) => json!([90, 70]),
            (_, false) => json!([10]),
        };
        json!({
            "release": "r", "set": format!("g{at}"), "seed": format!("x{}", at / 3),
            "sentence": format!("x{}", 500 + at / 3), "round": at % 3 + 1, "paraphrase": 0.5,
            "aligner": aligner, "proposed": at % 7 == 0, "frames": 1, "judgements": judgements,
        })
    });
    let path = folder.join("judged.jsonl");
    std::fs::write(&path, lines.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    path
}

fn train(data: &Path, out: &Path, more: &[&str]) -> Ran {
    let [data, out] = [data, out].map(|path| path.to_str().unwrap());
    let fixed = ["train", "filter", "--data", data, "--out", out, "--steps", "200"];
    fnstore_in(Path::new("/nowhere"), &[&fixed, more].concat())
}

/// A filter that was trained on them.
pub(crate) fn trained(folder: &Path) -> PathBuf {
    let place = folder.join("mine");
    assert_eq!(train(&data(folder), &place, &[]).code, Some(0));
    place
}

fn row<'a>(document: &'a Value, rule: &str) -> &'a Value {
    let mut rows = document["rows"].as_array().unwrap().iter();
    rows.find(|row| row["rule"].as_str().unwrap().starts_with(rule)).unwrap()
}

#[test]
fn a_filter_is_trained_measured_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let (data, filter) = (data(folder.path()), folder.path().join("mine"));
    let ran = train(&data, &filter, &["--format", "json", "--precision", "0.85"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let held_out: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults_in("eval-filter.schema.json", &held_out), [""; 0]);
    // Only judged outputs have a score of a network that did not see their seed.
    assert_eq!((&held_out["outputs"], &held_out["judged"]), (&json!(120), &json!(120)));
    assert!(row(&held_out, "P-classifier")["precision"].as_f64().unwrap() > 0.8);
    assert!(row(&held_out, "all")["precision"].as_f64().unwrap() < 0.6);

    let place = filter.to_str().unwrap();
    let evaluate = |format| {
        let data = data.to_str().unwrap();
        let arguments = ["eval", "filter", "--data", data, "--filter", place, "--format", format];
        fnstore_in(Path::new("/nowhere"), &arguments)
    };
    let document: Value = serde_json::from_str(&evaluate("json").stdout).unwrap();
    assert_eq!(faults_in("eval-filter.schema.json", &document), [""; 0]);
    assert_eq!(
        (&document["outputs"], &document["judged"], &document["seeds"]),
        (&json!(180), &json!(120), &json!(60))
    );
    // All are kept, judged or not: 60 seeds and 180 outputs.
    assert_eq!(
        (&row(&document, "all")["kept"], &row(&document, "all")["multiple"]),
        (&json!(180), &json!(4.0))
    );
    let table = evaluate("table").stdout;
    assert!(table.contains("180 outputs of 60 seeds, 120 of them judged"), "{table}");

    let verified = fnstore_in(folder.path(), &["model", "verify", place]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    std::fs::write(filter.join("model.safetensors"), "").unwrap();
    let broken = fnstore_in(folder.path(), &["model", "verify", place]);
    assert!(broken.code == Some(1) && broken.stdout.contains("M-weights"), "{broken:?}");
}

#[test]
fn generated_sets_are_exported_judged_and_scored() {
    let folder = tempfile::tempdir().unwrap();
    let filter = folder.path().join("mine");
    assert_eq!(train(&data(folder.path()), &filter, &[]).code, Some(0));
    let store = new_store();
    let run = |arguments: &[&str]| fnstore_in(store.path(), arguments);
    let score = |more: &[&str]| {
        run(&[&["filter", "origin=generated", "--filter", filter.to_str().unwrap()], more].concat())
    };
    assert_eq!(score(&[]).code, Some(1), "there is nothing to score");

    generate(store.path());
    let ran = run(&["export", "origin=generated", "--to", "filter-data"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!(faults_in("filter-data.schema.json", record), [""; 0]);
    let id = record["set"].as_str().unwrap();
    assert_eq!(record["judgements"], json!([]));
    for reviewer in ["kim", "lee"] {
        assert_eq!(run(&["judge", id, "80", "--reviewer", reviewer]).code, Some(0));
    }
    // Two reviewers who agree are two.
    assert_eq!(run(&["export", "--to", "filter-data"]).records()[0]["judgements"], json!([80, 80]));
    assert_eq!(run(&["export", "origin=exemplar", "--to", "filter-data"]).code, Some(1));

    assert_eq!(run(&["query", "p>=0", "--count"]).stdout.trim(), "0");
    let ran = score(&["--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let done: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults_in("filter.schema.json", &done), [""; 0]);
    assert_eq!((&done["sets"], &done["written"]), (&json!(1), &json!(1)));
    assert_eq!(run(&["query", "p>=0 r>=0", "--count"]).stdout.trim(), "1");
    let shown = &run(&["query", "origin=generated", "--format", "jsonl"]).records()[0];
    assert_eq!(shown["id"], id);
    assert!(shown["generation"]["p"].is_f64() && shown["generation"]["r"].is_f64());

    let again: Value = serde_json::from_str(&score(&["--format", "json"]).stdout).unwrap();
    assert_eq!(again["written"], json!(0));
    let said = score(&[]).stdout;
    assert!(said.contains("1 had these scores before") && said.contains("p>="), "{said}");
    // Another filter's scores take their place.
    let other = folder.path().join("other");
    assert_eq!(train(&data(folder.path()), &other, &["--seed", "2"]).code, Some(0));
    let ran = run(&[
        "filter",
        "origin=generated",
        "--filter",
        other.to_str().unwrap(),
        "--format",
        "json",
    ]);
    let done: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(done["written"], json!(1));
    assert_eq!(run(&["check"]).code, Some(0));
}

/// Writes copies of the generated set beside it.
fn copies(database: &Database, count: u64) {
    let one = database.query(&generated()).unwrap().next().unwrap().unwrap();
    let mut write = Write::default();
    for number in 2..=count {
        let sentence = SentenceId::new(IdSpace::Generated, number);
        let id = AnnotationSetId::new(IdSpace::Generated, number);
        write.sentences.push(Sentence { id: sentence, ..one.sentence.clone() });
        write.sets.push(AnnotationSet { id, sentence, ..one.set.clone() });
    }
    database.write(one.release.id, &write).unwrap();
}

fn generated() -> Expression {
    "origin=generated".parse().unwrap()
}

#[test]
fn scoring_that_is_stopped_keeps_what_was_scored_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let filter = Filter::open(&trained(folder.path())).unwrap();
    let store = new_store();
    generate(store.path());
    let database = Database::open_existing_writer(store.path()).unwrap();
    copies(&database, 2500);
    let score = |answer: ControlFlow<()>| {
        expand::rescore(&database, &generated(), &filter, &mut |_| answer).unwrap()
    };
    let scored = || database.count(&"p>=0".parse().unwrap()).unwrap();
    let stopped = score(ControlFlow::Break(()));
    assert!(stopped.interrupted && stopped.written > 0 && stopped.written < 2500);
    assert_eq!(scored(), stopped.written);
    let done = score(ControlFlow::Continue(()));
    assert_eq!((done.interrupted, done.kept.scored), (false, 2500));
    assert_eq!((done.written, scored()), (2500 - stopped.written, 2500));
    assert_eq!(score(ControlFlow::Continue(())).written, 0);
}

#[test]
fn sets_that_a_store_has_keep_its_scores_when_they_are_imported_with_others() {
    let folder = tempfile::tempdir().unwrap();
    let data = data(folder.path());
    let [mine, other] = ["mine", "other"].map(|name| folder.path().join(name));
    assert_eq!(train(&data, &mine, &[]).code, Some(0));
    assert_eq!(train(&data, &other, &["--seed", "2"]).code, Some(0));
    let [ours, theirs] = [new_store(), new_store()];
    let run = |store: &tempfile::TempDir, arguments: &[&str]| {
        let ran = fnstore_in(store.path(), arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    };
    for (store, filter) in [(&ours, &mine), (&theirs, &other)] {
        generate(store.path());
        run(store, &["filter", "origin=generated", "--filter", filter.to_str().unwrap()]);
    }
    let file = folder.path().join("theirs.jsonl");
    let file = file.to_str().unwrap();
    run(&theirs, &["export", "origin=generated", "--to", "jsonl", file]);
    let scores = || run(&ours, &["query", "origin=generated"]).records()[0]["generation"].clone();
    let before = scores();
    run(&ours, &["import", file]);
    assert_eq!(scores(), before);
    let name = Filter::open(&mine).unwrap().fingerprint().to_string();
    assert_eq!(before["filter"], name[..32]);
}

#[test]
fn an_expansion_writes_the_scores_of_the_filter_among_its_models() {
    let store = new_store();
    let arguments: Vec<&str> =
        "expand lu=audit.v --model paraphrase --beam 4 --rounds 2 --format json"
            .split(' ')
            .collect();
    let ran = fnstore_in(store.path(), &arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let count = |query: &str| {
        let ran = fnstore_in(store.path(), &["query", query, "--count"]);
        ran.stdout.trim().parse::<u64>().unwrap()
    };
    assert!(count("origin=generated") > 0);
    assert_eq!(count("p>=0"), count("origin=generated"));
    let kept = &report["kept"];
    assert_eq!(kept["by_precision"], count(&format!("p>={}", kept["precision_cut"])));
    assert_eq!(kept["by_recall"], count(&format!("r>={}", kept["recall_cut"])));
    // Without a filter there are none.
    let arguments: Vec<&str> =
        "expand lu=inspect.v --model paraphrase --beam 4 --rounds 1 --filter none"
            .split(' ')
            .collect();
    let ran = fnstore_in(store.path(), &[&arguments[..], &["--format", "json"]].concat());
    let unscored: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(unscored["kept"], Value::Null);
    assert!(count("p>=0") < count("origin=generated"));
    // What was written is what the filter says of the sets that are there.
    let ran = fnstore_in(store.path(), &["filter", "p>=0", "--format", "json"]);
    let again: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&again["written"], &again["kept"]), (&json!(0), kept));
}

#[test]
fn sets_that_nothing_scored_are_no_data_of_a_filter() {
    let (store, folder) = (new_store(), tempfile::tempdir().unwrap());
    generate(store.path());
    let run = |arguments: &[&str]| fnstore_in(store.path(), arguments);
    let ran = run(&["generate", "frame=Checking", "--model", "none", "--limit", "1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let path = folder.path().join("data.jsonl");
    let to = ["--to", "filter-data", path.to_str().unwrap(), "--format", "json"];
    let ran = run(&[&["export"], &to[..]].concat());
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["records"], json!({"set": 1}));
    let unscored = run(&["query", "origin=generated not paraphrase>=0", "--count"]).stdout;
    assert_eq!(report["losses"]["unscored"]["count"].to_string(), unscored.trim());
    assert_ne!(unscored.trim(), "0");
    let written = std::fs::read_to_string(&path).unwrap();
    for line in written.lines() {
        assert_eq!(
            faults_in("filter-data.schema.json", &serde_json::from_str(line).unwrap()),
            [""; 0]
        );
    }
}

#[test]
fn a_filter_looks_at_frame_fits_where_there_are_some() {
    let folder = tempfile::tempdir().unwrap();
    let (without, out) = (data(folder.path()), folder.path().join("fitted"));
    // Fits that tell accepted outputs from refused ones; every third output has none.
    let fitted = std::fs::read_to_string(&without).unwrap();
    let fitted = fitted.lines().enumerate().map(|(at, line)| {
        let mut output: Value = serde_json::from_str(line).unwrap();
        if at % 3 > 0 {
            output["frame_fit"] =
                json!(if output["judgements"] == json!([10]) { 0.2 } else { 0.9 });
        }
        assert_eq!(faults_in("filter-data.schema.json", &output), [""; 0]);
        format!("{output}\n")
    });
    let data = folder.path().join("fitted.jsonl");
    std::fs::write(&data, fitted.collect::<String>()).unwrap();
    let inputs = ["--inputs", "round,frame_fit"];
    let ran = train(&data, &out, &[&inputs[..], &["--format", "json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let precision = |data: &Path| {
        let [data, filter] = [data, &out].map(|path| path.to_str().unwrap());
        let eval = ["eval", "filter", "--data", data, "--filter", filter, "--format", "json"];
        let ran = fnstore_in(Path::new("/nowhere"), &eval);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let table: Value = serde_json::from_str(&ran.stdout).unwrap();
        row(&table, "P-classifier")["precision"].as_f64().unwrap()
    };
    // Of outputs without fits it knows less.
    assert!(precision(&data) > precision(&without));
}

#[test]
fn an_expansion_asks_the_frame_model_where_the_filter_looks_at_it() {
    // The model knows a frame of this name, and none of the small lexicon's.
    let folder = tempfile::tempdir().unwrap();
    let release = folder.path().join("release");
    mini::renamed_frame(&release, ["Checking", "Inspecting"]);
    let store = tempfile::tempdir().unwrap();
    let import = ["import", release.to_str().unwrap()];
    assert_eq!(fnstore_in(store.path(), &import).code, Some(0));
    let expand = |lu: &str, more: &[&str]| {
        let lu = format!("lu={lu}");
        let expand = ["expand", &lu, "--model", "paraphrase", "--beam", "4", "--rounds", "1"];
        let ran = fnstore_in(store.path(), &[&expand[..], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    };
    let count = |query: &str| {
        let ran = fnstore_in(store.path(), &["query", query, "--count"]);
        ran.stdout.trim().parse::<u64>().unwrap()
    };
    expand("inspect.v", &["--filter", "none"]);
    assert_eq!(count("frame_fit>=0"), 0, "nobody asks");
    expand("audit.v", &[]);
    let fitted = count("frame_fit>=0");
    assert!(fitted > 0 && fitted == count("p>=0"), "{fitted}");
    // Nothing is said of a frame that the model does not know, and the set has its other scores.
    expand("repair.v", &[]);
    assert_eq!(count("frame_fit>=0"), fitted);
    assert!(count("p>=0") > fitted);
}

#[test]
fn wrong_input_is_refused_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (data(folder.path()), folder.path().join("out"));
    let refused = |data: &Path, more: &[&str], code: i32, said: &[&str]| {
        let ran = train(data, &out, more);
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        let missing: Vec<_> = said.iter().filter(|part| !ran.stderr.contains(**part)).collect();
        assert!(missing.is_empty(), "no {missing:?} in {}", ran.stderr);
        assert!(!out.exists(), "nothing is written");
    };
    refused(Path::new("/nowhere.jsonl"), &[], 2, &["cannot read judged outputs `/nowhere.jsonl`"]);
    let text = std::fs::read_to_string(&data).unwrap();
    let write = |text: &str| {
        let path = folder.path().join("wrong.jsonl");
        std::fs::write(&path, text).unwrap();
        path
    };
    let wrong = write(&text.replacen("\"round\":3", "\"round\":-3", 1));
    refused(&wrong, &[], 65, &["wrong.jsonl` line 3", "filter-data.schema.json"]);
    let few: String = text.lines().take(6).map(|line| format!("{line}\n")).collect();
    refused(&write(&few), &[], 65, &["of 2 sentences", "ten parts", "fnstore judge"]);
    refused(&write(""), &[], 65, &["0 accepted and 0 refused"]);
    refused(
        &data,
        &["--inputs", "round,colour"],
        2,
        &["colour", "round, paraphrase, aligner, proposed, frames"],
    );
    refused(&data, &["--inputs", "round,round"], 2, &["`round,round`", "each once"]);
    refused(&data, &["--weights", "0"], 2, &["weight is 0"]);
    refused(&data, &["--precision", "2"], 2, &["a number from 0 to 1"]);
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("notes.txt"), "mine").unwrap();
    let ran = train(&data, &out, &[]);
    assert!(ran.code == Some(2) && ran.stderr.contains("there is something else"), "{ran:?}");

    let store = new_store();
    for (arguments, code, said) in [
        (vec!["filter", "origin=generated", "--filter", "nowhere"], 69, "no model `nowhere`"),
        (vec!["filter", "frame=Nonesuch"], 2, "Nonesuch"),
        (
            vec!["filter", "origin=generated", "--filter", "aligner"],
            65,
            "expected `filter` of format 1",
        ),
        (vec!["filter"], 2, "<EXPR>"),
    ] {
        let ran = fnstore_in(store.path(), &arguments);
        assert!(ran.code == Some(code) && ran.stderr.contains(said), "{arguments:?}: {ran:?}");
    }
}
