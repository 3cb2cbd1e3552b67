//! `fnstore train frames`, `fnstore eval frames` and `fnstore annotate`, on the small lexicon over
//! a tiny encoder made here. FEs by `fnstore train fes`.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::span_alignment::{POSITIONS, write_encoder, write_encoder_of};
use crate::tagging::{data, with_encoder};

/// One document to learn from, the other to choose the epoch.
const SPLITS: &str = "document\tMINI__HarbourLog\ttrain\ndocument\tMINI__BikeRide\tdev\n";

pub(crate) struct Trained {
    pub(crate) store: TempDir,
    /// Has `encoder`, `frames` and `splits.tsv`.
    pub(crate) folder: TempDir,
}

impl Trained {
    pub(crate) fn place(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        fnstore_in(self.store.path(), arguments)
    }

    fn train(&self, out: &str, more: &[&str]) -> Ran {
        let (encoder, out) = (self.place("encoder"), self.place(out));
        let splits = self.place("splits.tsv");
        let places = ["--encoder", &encoder, "--out", &out, "--split-list", &splits];
        let settings = ["--layer", "1", "--hidden", "16", "--learning-rate", "0.02"];
        let long = ["--epochs", "40", "--patience", "40", "--device", "cpu", "--format", "json"];
        self.run(&[&["train", "frames"], &places[..], &settings, &long, more].concat())
    }

    pub(crate) fn annotate(&self, input: &str, more: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
        let no_fes = (!more.contains(&"--labeller")).then_some("--no-fes");
        command
            .arg("annotate")
            .args(no_fes)
            .args(["--models", self.folder.path().to_str().unwrap()]);
        command.args(["--device", "cpu", "--store"]).arg(self.store.path()).args(more);
        Ran::of(command.write_stdin(input).output().unwrap())
    }
}

/// The small lexicon, and a frame model of it.
pub(crate) fn trained() -> (Trained, Value) {
    let (store, folder) = (new_store(), with_encoder());
    std::fs::write(folder.path().join("splits.tsv"), SPLITS).unwrap();
    let trained = Trained { store, folder };
    let ran = trained.train("frames", &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    (trained, serde_json::from_str(&ran.stdout).unwrap())
}

#[test]
fn a_frame_model_is_trained_measured_and_used() {
    let (trained, config) = trained();
    assert_eq!((&config["encoder"], &config["layers"]), (&json!("encoder"), &json!([0, 1])));
    assert_eq!(config["training"]["whole"], json!(4), "sentences of the harbour log: {config}");
    assert!(config["training"]["partial"].as_u64().unwrap() > 4, "exemplars: {config}");
    let frames = config["frames"].as_array().unwrap();
    assert!(frames.contains(&json!("Checking")) && frames.contains(&json!("Roaming")));

    // What it does on the development document is what training measured there.
    let (models, splits) = (trained.folder.path().to_str().unwrap(), trained.place("splits.tsv"));
    let eval = ["eval", "frames", "--models", models, "--split-list", &splits, "--device", "cpu"];
    let ran = trained.run(&[&eval[..], &["--part", "dev", "--format", "json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults_in("eval-frames.schema.json", &document), [""; 0]);
    let count = |row: usize| {
        let of = &document["scores"][row];
        json!({"right": of["right"], "predicted": of["predicted"], "gold": of["gold"]})
    };
    assert_eq!(
        (count(0), count(5)),
        (config["dev"]["targets"].clone(), config["dev"]["spans"].clone())
    );
    // Two targets, `check` and `cycle`; the lexicon has one LU for each, which leaves no choice.
    assert_eq!(document["scores"][0]["gold"], json!(2));
    let table = trained.run(&[&eval[..], &["--part", "train", "--format", "table"]].concat());
    assert!(table.stdout.contains("frames at gold targets"), "{}", table.stdout);
    let none = trained.run(&eval);
    assert_eq!(none.code, Some(1), "no document is of the part `test`");
}

#[test]
fn targets_are_found_line_by_line_and_a_bad_line_costs_nobody_the_others() {
    let (trained, _) = trained();
    let long = "boat ".repeat(POSITIONS);
    let input = format!("They checked every boat .\n{long}\n\nThe crew mended ropes .\n");
    let ran = trained.annotate(&input, &[]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("annotate.schema.json", record), [""; 0], "{record}");
    }
    assert_eq!(records.len(), 4);
    assert_eq!(records[1]["error"]["code"], json!("E-too-long"));
    assert_eq!(records[2]["error"]["code"], json!("E-empty"));
    for record in [&records[0], &records[3]] {
        for target in record["targets"].as_array().unwrap() {
            assert!(target["lu"].is_string(), "a candidate of the lexicon: {target}");
        }
    }
    let input = r#"{"id": [7], "text": "They checked it ."}"#;
    let [alone] = &trained.annotate(input, &["--open"]).records()[..] else { panic!("one line") };
    assert_eq!((&alone["id"], &alone["line"]), (&json!([7]), &json!(1)));
    let table = trained.annotate("They checked every boat .", &["--format", "table"]);
    assert_eq!(table.stdout.lines().count(), 1, "{}", table.stdout);
}

#[test]
fn a_sentence_that_is_too_long_for_a_tagger_with_its_own_encoder_costs_nobody_the_others() {
    let (trained, _) = trained();
    std::fs::create_dir(trained.place("short")).unwrap();
    write_encoder_of(&trained.folder.path().join("short"), 8, POSITIONS / 2);
    let (short, out) = (trained.place("short"), trained.place("short-tagger"));
    let (train, dev) = (data("train.jsonl"), data("dev.jsonl"));
    let files = ["--data", train.to_str().unwrap(), "--dev", dev.to_str().unwrap()];
    let places = ["--encoder", &short, "--out", &out, "--layer", "1", "--device", "cpu"];
    let settings = ["--hidden", "8", "--epochs", "2"];
    let ran = trained.run(&[&["train", "tagger"], &files[..], &places, &settings].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);

    let long = "boat ".repeat(POSITIONS / 2);
    let input = format!("They checked every boat .\n{long}\nThe crew mended ropes .\n");
    let ran = trained.annotate(&input, &["--tagger", "short-tagger"]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    let records = ran.records();
    assert_eq!(records.len(), 3);
    assert_eq!(records[1]["error"]["code"], json!("E-too-long"));
    assert!(records[0]["targets"].is_array() && records[2]["targets"].is_array());
    let alone = trained.annotate("The crew mended ropes .", &["--tagger", "short-tagger"]);
    assert_eq!(alone.records()[0]["targets"], records[2]["targets"]);
}

#[test]
fn targets_get_the_fes_of_their_frames() {
    let (trained, _) = trained();
    let (encoder, out) = (trained.place("encoder"), trained.place("fes"));
    let splits = trained.place("splits.tsv");
    let places = ["--encoder", &encoder, "--out", &out, "--split-list", &splits];
    let settings = ["--epochs", "4", "--hidden", "8", "--exemplars", "9", "--device", "cpu"];
    let ran = trained.run(&[&["train", "fes"], &places[..], &settings].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);

    let input = "They checked every boat .\nThe crew mended ropes .\n";
    let labelled = trained.annotate(input, &["--labeller", "fes", "--open"]).records();
    let without = trained.annotate(input, &["--open"]).records();
    assert_eq!(labelled.len(), 2);
    for (record, mut plain) in labelled.iter().zip(without) {
        assert_eq!(faults_in("annotate.schema.json", record), [""; 0], "{record}");
        let text: Vec<char> = record["text"].as_str().unwrap().chars().collect();
        let targets = record["targets"].as_array().unwrap();
        for (target, plain) in targets.iter().zip(plain["targets"].as_array_mut().unwrap()) {
            for fe in target["fes"].as_array().unwrap() {
                let [start, end] = ["start", "end"].map(|at| fe[at].as_u64().unwrap() as usize);
                let words: String = text[start..end].iter().collect();
                assert_eq!(fe["text"], json!(words));
            }
            plain["fes"] = target["fes"].clone();
        }
        assert_eq!(record, &plain, "FEs change nothing else");
    }
}

#[test]
fn a_measure_with_a_tagger_that_is_not_there_is_an_error() {
    let (trained, _) = trained();
    let (models, splits) = (trained.folder.path().to_str().unwrap(), trained.place("splits.tsv"));
    let eval = ["eval", "frames", "--models", models, "--split-list", &splits, "--device", "cpu"];
    let ran = trained.run(&[&eval[..], &["--part", "dev", "--tagger", "tagger"]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(69), ""), "{ran:?}");
    assert!(ran.stderr.contains("there is no model `tagger`"), "{}", ran.stderr);
}

#[test]
fn a_model_of_another_encoder_and_a_store_without_full_text_are_refused() {
    let (trained, _) = trained();
    std::fs::create_dir(trained.folder.path().join("other")).unwrap();
    write_encoder(&trained.folder.path().join("other"), 8);
    let (models, splits) = (trained.folder.path().to_str().unwrap(), trained.place("splits.tsv"));
    let eval =
        ["eval", "frames", "--models", models, "--split-list", &splits, "--encoder", "other"];
    let ran = trained.run(&eval);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("it was trained on the states of `encoder"), "{}", ran.stderr);

    let empty = tempfile::tempdir().unwrap();
    let ran = fnstore_in(empty.path(), &["train", "frames", "--out", &trained.place("none")]);
    assert!(ran.code != Some(0) && !ran.stderr.contains("panicked"), "{}", ran.stderr);
}

#[test]
fn a_stopped_training_resumes_and_a_sentence_to_be_measured_on_is_not_learnt() {
    let (trained, whole) = trained();
    let state = trained.place("state");
    let checkpoint = ["--checkpoint", state.as_str()];
    let ran = trained.train("again", &checkpoint);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(Path::new(&state).exists());
    let resumed = trained.train("resumed", &checkpoint);
    assert!(resumed.stderr.contains("resuming after epoch 40"), "{}", resumed.stderr);
    let config: Value = serde_json::from_str(&resumed.stdout).unwrap();
    assert_eq!((&config["dev"], &config["training"]), (&whole["dev"], &whole["training"]));
    let other = trained.train("other", &[&checkpoint[..], &["--smoothing", "0.5"]].concat());
    assert!(other.stderr.contains("smoothing `0.2`"), "{}", other.stderr);

    // All is of the part `dev`: nothing is left to learn from.
    std::fs::write(trained.place("splits.tsv"), SPLITS.replace("train", "dev")).unwrap();
    let ran = trained.train("none", &["--exemplars", "0"]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("no sentence with a target in the training data"),
        "{}",
        ran.stderr
    );
    assert!(!Path::new(&trained.place("none")).exists());
}
