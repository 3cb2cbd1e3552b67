//! `fnstore train tagger`, `fnstore eval tagger`, `fnstore tag`, and the parts of speech in
//! `fnstore eval aligner`.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore};
use crate::cli_schema::faults_in;
use crate::span_alignment::{self, POSITIONS, trained};
use crate::tagging::{data, with_encoder};

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A step takes more words than the small data set has twice over, so it needs many passes.
const LONG: [&str; 4] = ["--epochs", "300", "--patience", "300"];

/// Trains on the small data set; the tagger stands beside its encoder.
fn train_with(folder: &Path, more: &[&str]) -> Ran {
    let (train, dev) = (data("train.jsonl"), data("dev.jsonl"));
    let (encoder, out) = (folder.join("encoder"), folder.join("tagger"));
    let files = ["--data", path(&train), "--dev", path(&dev)];
    let places = ["--encoder", path(&encoder), "--out", path(&out), "--device", "cpu"];
    let settings = ["--layer", "1", "--hidden", "16", "--learning-rate", "0.02"];
    fnstore(&[&["train", "tagger"], &files[..], &places, &settings, more].concat())
}

fn tagger() -> TempDir {
    let folder = with_encoder();
    let ran = train_with(folder.path(), &LONG);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    folder
}

/// Runs `fnstore tag` on an input.
fn tag(folder: &Path, input: &str, more: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.args(["tag", "--models", path(folder), "--device", "cpu"]).args(more);
    Ran::of(command.write_stdin(input).output().unwrap())
}

#[test]
fn a_tagger_is_trained_measured_and_used() {
    let folder = with_encoder();
    let ran = train_with(folder.path(), &[&LONG[..], &["--format", "json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("accuracy on the development data"), "{}", ran.stderr);
    let config: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&config["encoder"], &config["layer"]), (&json!("encoder"), &json!(1)));

    let (train, dev) = (data("train.jsonl"), data("dev.jsonl"));
    let files = ["eval", "tagger", "--data", path(&dev), "--train", path(&train)];
    let eval = [&files[..], &["--models", path(folder.path()), "--device", "cpu"]].concat();
    let ran = fnstore(&[&eval[..], &["--format", "jsonl"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document = &ran.records()[0];
    assert_eq!(faults_in("eval-tagger.schema.json", document), [""; 0]);
    assert_eq!((&document["sentences"], &document["left_out"]), (&json!(5), &json!(0)));
    let [all, _, baseline, ..] = document["scores"].as_array().unwrap().as_slice() else {
        panic!("{document}")
    };
    assert_eq!(
        (&all["number"], &all["right"]),
        (&config["dev"]["written"]["words"], &config["dev"]["written"]["right"])
    );
    // Every word of it stands in the training data, nearly all with one tag only.
    assert!(baseline["accuracy"].as_f64().unwrap() > 0.9, "{baseline}");
    let table = fnstore(&[&eval[..], &["--format", "table"]].concat()).stdout;
    assert!(table.contains("most frequent tag") && table.contains("most frequent confusions"));

    let input = "They checked the lock twice\nthe crew repaired the old bridge\n";
    let ran = tag(folder.path(), input, &["--format", "table"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(
        ran.stdout,
        "They/PRP checked/VBD the/DT lock/NN twice/RB\n\
         the/DT crew/NN repaired/VBD the/DT old/JJ bridge/NN\n"
    );
}

#[test]
fn lines_come_back_with_their_marks_and_can_be_trained_on() {
    let folder = tagger();
    let input =
        "{\"id\": [7], \"words\": [\"the\", \"plan\"]}\n{\"text\": \"she gave up the search\"}\n";
    let ran = tag(folder.path(), input, &["--format", "jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("tag.schema.json", record), [""; 0]);
    }
    assert_eq!((&records[0]["id"], &records[0]["tags"]), (&json!([7]), &json!(["DT", "NN"])));
    assert_eq!(records[1]["words"][4], "search");
    let file = folder.path().join("tagged.jsonl");
    std::fs::write(&file, &ran.stdout).unwrap();
    let ran = train_with(folder.path(), &["--epochs", "1"]);
    assert_eq!(ran.code, Some(0));
    let again = ["train", "tagger", "--data", path(&file), "--dev", path(&file), "--layer", "0"];
    let (encoder, out) = (folder.path().join("encoder"), folder.path().join("again"));
    let places = ["--encoder", path(&encoder), "--out", path(&out), "--device", "cpu"];
    let ran = fnstore(&[&again[..], &places, &["--format", "table"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("7 words of 2 sentences"), "{}", ran.stdout);
}

#[test]
fn a_bad_line_gets_a_coded_error_and_the_others_go_on() {
    let folder = tagger();
    let long = "plan ".repeat(POSITIONS);
    let input = format!(
        "{{\"text\": \"the plan\"}}\n{{\"text\": \"{long}\"}}\n\n[]\n{{\"text\": \"it\"}}\n"
    );
    let ran = tag(folder.path(), &input, &["--format", "jsonl"]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(ran.stderr.contains("`3` of 5 lines could not be tagged"), "{}", ran.stderr);
    let records = ran.records();
    let codes: Vec<&Value> = records.iter().map(|record| &record["error"]["code"]).collect();
    assert_eq!(
        codes,
        [&Value::Null, &json!("E-too-long"), &json!("E-empty"), &json!("E-type"), &Value::Null]
    );
    assert!(records[1]["error"]["message"].as_str().unwrap().contains("at most 64"));
    for record in &records {
        assert_eq!(faults_in("tag.schema.json", record), [""; 0]);
    }
    let table = tag(folder.path(), &input, &["--format", "table"]).stdout;
    assert!(table.contains("\n! line 2: the sentence has"), "{table}");
    assert_eq!(tag(folder.path(), "", &[]).code, Some(1), "nothing to tag");
}

#[test]
fn what_cannot_be_trained_on_is_refused_with_its_place() {
    let folder = with_encoder();
    let file = folder.path().join("bad.jsonl");
    let train = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let (encoder, out) = (folder.path().join("encoder"), folder.path().join("tagger"));
        let files = ["train", "tagger", "--data", path(&file), "--dev", path(&file)];
        let places = ["--encoder", path(&encoder), "--out", path(&out), "--layer", "1"];
        fnstore(&[&files[..], &places].concat())
    };
    let bad =
        train("{\"words\": [\"a\"], \"tags\": [\"DT\"]}\n{\"words\": [\"a\"], \"tags\": []}\n");
    assert_eq!(bad.code, Some(65), "{}", bad.stderr);
    assert!(
        bad.stderr.contains("bad.jsonl` line 2: found 1 `words` and 0 `tags`"),
        "{}",
        bad.stderr
    );
    let none = train("{\"words\": [\"a\"], \"tags\": [null]}\n");
    assert_eq!(none.code, Some(65), "{}", none.stderr);
    assert!(none.stderr.contains("no word with a tag in the training data"), "{}", none.stderr);
    assert!(!folder.path().join("tagger").exists());
    // The mini lexicon has tagged full text, and none of it is in the part `dev`.
    let (encoder, out) = (folder.path().join("encoder"), folder.path().join("tagger"));
    let places = ["--encoder", path(&encoder), "--out", path(&out)];
    let store = fnstore(&[&["train", "tagger"], &places[..]].concat());
    assert_eq!(store.code, Some(2));
    assert!(store.stderr.contains("no tagged full text of the part `dev`"), "{}", store.stderr);
}

#[test]
fn full_text_of_the_store_is_training_data() {
    let folder = with_encoder();
    let dev = data("dev.jsonl");
    let (encoder, out) = (folder.path().join("encoder"), folder.path().join("tagger"));
    let places = ["--encoder", path(&encoder), "--out", path(&out), "--device", "cpu"];
    let settings = ["--dev", path(&dev), "--layer", "1", "--epochs", "1", "--format", "jsonl"];
    let ran = fnstore(&[&["train", "tagger"], &places[..], &settings].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let config = &ran.records()[0];
    // The seven sentences of the two documents, with the Treebank's names: VVP is VBP, SENT the
    // full stop.
    assert_eq!(config["training"]["sentences"], json!(7));
    let tags = config["tags"].as_array().unwrap();
    for (tag, is_there) in
        [(".", true), ("VBP", true), ("PRP", true), ("VVP", false), ("nn", false)]
    {
        assert_eq!(tags.contains(&json!(tag)), is_there, "{tag}");
    }
}

#[test]
fn an_evaluation_of_an_aligner_compares_parts_of_speech() {
    let models = trained();
    // The tagger is of the aligner's encoder, and is found beside it by the name that it has there.
    let folder = tempfile::tempdir().unwrap();
    let (train, out) = (data("train.jsonl"), folder.path().join("tagger"));
    let files = ["train", "tagger", "--data", path(&train), "--dev", path(&train)];
    let places = ["--encoder", path(models.encoder.path()), "--out", path(&out), "--layer", "1"];
    let settings = ["--learning-rate", "0.02", "--hidden", "16", "--device", "cpu"];
    let ran = fnstore(&[&files[..], &places, &settings, &LONG].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let items = span_alignment::data("train.jsonl");
    let eval = ["eval", "aligner", "--data", path(&items), "--threshold", "0", "--device", "cpu"];
    let models_used =
        ["--head", path(models.head.path()), "--encoder", path(models.encoder.path())];
    let with_tagger = [&eval[..], &models_used, &["--tagger", path(&out)]].concat();
    let ran = fnstore(&[&with_tagger[..], &["--format", "jsonl"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document = &ran.records()[0];
    assert_eq!(faults_in("eval-aligner.schema.json", document), [""; 0]);
    let rows = document["parts_of_speech"]["rows"].as_array().unwrap();
    assert_eq!(rows[1]["pairs"], document["scores"][0]["gold"]);
    assert_eq!(rows[1]["paper_not_exact"], json!(0.3454));
    for row in rows {
        let share = |name: &str| row[name].as_f64().unwrap();
        assert!(share("not_exact") >= share("weighted"), "{row}");
    }
    // Spans whose wording did not change have the same tags, so that those which changed differ
    // more.
    assert!(rows[3]["not_exact"].as_f64() >= rows[1]["not_exact"].as_f64());
    let table = fnstore(&[&with_tagger[..], &["--format", "table"]].concat()).stdout;
    assert!(table.contains("source and gold") && table.contains("(34.54)"), "{table}");
    let without = fnstore(&[&eval[..], &models_used, &["--format", "jsonl"]].concat());
    assert_eq!(without.records()[0]["parts_of_speech"], Value::Null);
}
