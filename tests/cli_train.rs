//! `fnstore train aligner` and `fnstore eval aligner`: a head is trained, killed, gone on with, and
//! measured.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore};
use crate::cli_schema::faults_in;
use crate::span_alignment::{Trained, data, trained};

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Trains on the small data set, with some options.
fn train_with(encoder: &Path, out: &Path, options: &[&str]) -> Ran {
    let file = data("train.jsonl");
    let arguments =
        ["train", "aligner", "--data", path(&file), "--dev", path(&file), "--device", "cpu"];
    let places = ["--encoder", path(encoder), "--out", path(out)];
    fnstore(&[&arguments[..], &places, options].concat())
}

/// Trains three epochs on the small data set, with further options.
fn train(encoder: &Path, out: &Path, more: &[&str]) -> Ran {
    train_with(encoder, out, &[&["--epochs", "3", "--hidden", "8"], more].concat())
}

fn weights(head: &Path) -> Vec<u8> {
    std::fs::read(head.join("model.safetensors")).unwrap()
}

#[test]
fn a_run_that_goes_on_writes_the_head_that_it_would_have_written() {
    let (Trained { encoder, .. }, dir) = (trained(), tempfile::tempdir().unwrap());
    let (whole, resumed) = (dir.path().join("whole"), dir.path().join("resumed"));
    let checkpoint = dir.path().join("checkpoint");
    // As JSON the rate is read back with another last bit.
    let again = ["--checkpoint", path(&checkpoint), "--learning-rate", "0.015"];
    let ran = train(encoder.path(), &whole, &again);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stderr.contains("resuming"), "{}", ran.stderr);
    // The run is over, so that what is left to do is the last step: to choose and to write.
    let ran = train(encoder.path(), &resumed, &again);
    assert!(ran.stderr.contains("resuming after epoch 3"), "{}", ran.stderr);
    assert_eq!(weights(&whole), weights(&resumed));
    let other = train(encoder.path(), &resumed, &[&again[..], &["--seed", "2"]].concat());
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("made with seed `1`, this run has `2`"), "{}", other.stderr);
    std::fs::write(&checkpoint, "{}").unwrap();
    let damaged = train(encoder.path(), &resumed, &again);
    assert_eq!(damaged.code, Some(2), "{}", damaged.stderr);
    assert!(damaged.stderr.contains("cannot read checkpoint"), "{}", damaged.stderr);
}

#[test]
fn features_labels_and_layer_stand_in_the_configuration_and_are_read_back() {
    let (Trained { encoder, .. }, dir) = (trained(), tempfile::tempdir().unwrap());
    let out = dir.path().join("head");
    let switches =
        ["--features", "df,cue", "--labels", "hard", "--layer", "0", "--format", "jsonl"];
    let ran = train(encoder.path(), &out, &switches);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let config = &ran.records()[0];
    assert_eq!(config["features"][0], json!("difference"));
    assert_eq!(config["features"].as_array().map(Vec::len), Some(5));
    assert_eq!((&config["layer"], &config["training"]["labels"]), (&json!(0), &json!("hard")));
    let ran = eval(&encoder, &out, &["--threshold", "0", "--format", "jsonl"]);
    let dev = &config["dev"]["all"]["exact"];
    let all = &ran.records()[0]["scores"][0];
    assert_eq!((&all["right"], &all["gold"]), (&dev["right"], &dev["gold"]));
    for (wrong, says) in [
        (["--features", "dx"], "possible values: df, mx, cue"),
        (["--labels", "soft-ish"], "possible values: soft, hard"),
        (["--layer", "-1"], "unexpected argument '-1'"),
        (["--hidden", "0"], "'0' for '--hidden <N>'"),
        (["--epochs", "0"], "'0' for '--epochs <N>'"),
        (["--learning-rate", "nan"], "above 0 and at most 1"),
        (["--learning-rate", "inf"], "above 0 and at most 1"),
        (["--learning-rate", "0"], "above 0 and at most 1"),
    ] {
        let ran = train_with(encoder.path(), &out, &wrong);
        assert_eq!(ran.code, Some(2), "{wrong:?}");
        assert!(ran.stderr.contains(says), "{wrong:?}: {}", ran.stderr);
    }
    let ran = train(encoder.path(), &out, &["--layer", "9"]);
    assert!(ran.stderr.contains("layer `9`: the network has layers 1 to 1"), "{}", ran.stderr);
}

fn eval(encoder: &TempDir, head: &Path, more: &[&str]) -> Ran {
    let file = data("train.jsonl");
    let arguments = ["eval", "aligner", "--data", path(&file), "--device", "cpu"];
    let models = ["--encoder", path(encoder.path()), "--head", path(head)];
    fnstore(&[&arguments[..], &models, more].concat())
}

#[test]
fn an_evaluation_takes_spans_apart_and_draws_them() {
    let (models, dir) = (trained(), tempfile::tempdir().unwrap());
    let head = models.head.path();
    let figures: PathBuf = dir.path().join("figures");
    let seen = data("dev.jsonl");
    let more = ["--plot", path(&figures), "--train", path(&seen), "--threshold", "0"];
    let ran = eval(&models.encoder, head, &[&more[..], &["--format", "jsonl"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document = &ran.records()[0];
    assert_eq!(faults_in("eval-aligner.schema.json", document), [""; 0]);
    let items = |of: &Value| -> u64 {
        of.as_array().unwrap().iter().map(|bin| bin["items"].as_u64().unwrap()).sum()
    };
    let count = |items: &str, unit: &str, of: &str| {
        let scores = document["scores"].as_array().unwrap();
        let row = scores.iter().find(|row| row["items"] == items && row["unit"] == unit);
        row.unwrap()[of].as_u64().unwrap()
    };
    let total = count("all", "span", "gold");
    assert_eq!(items(&document["distances"]), total);
    let kinds = [
        ("source", total + count("unaligned", "item", "gold")),
        ("gold", total),
        ("found", count("all", "span", "predicted")),
    ];
    for (at, (spans, wanted)) in kinds.into_iter().enumerate() {
        let lengths = &document["lengths"][at];
        assert_eq!(lengths["spans"], spans);
        assert_eq!(items(&lengths["bins"]), wanted, "{spans}");
    }
    assert_eq!(count("seen", "span", "gold") + count("unseen", "span", "gold"), total);
    for figure in ["length.svg", "distance.svg"] {
        let svg = std::fs::read_to_string(figures.join(figure)).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("<rect x=") && svg.contains("in words"), "{figure}");
    }
    let table = eval(&models.encoder, head, &[&more[..], &["--format", "table"]].concat()).stdout;
    for says in ["unseen spans are ", "the paper: 1.53, 34.2 %", "the paper: 97.49 %"] {
        assert!(table.contains(says), "{table}");
    }
}

#[test]
fn what_unseen_spans_lose_is_not_told_where_there_are_none() {
    let models = trained();
    let seen = data("train.jsonl");
    let ran =
        eval(&models.encoder, models.head.path(), &["--train", path(&seen), "--format", "table"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("unseen spans are - points"), "{}", ran.stdout);
}

#[test]
fn a_threshold_is_from_0_to_1() {
    let models = trained();
    for wrong in ["nan", "1.5", "half"] {
        let ran = eval(&models.encoder, models.head.path(), &["--threshold", wrong]);
        assert_eq!(ran.code, Some(2), "{wrong}");
        assert!(ran.stderr.contains("expected a number from 0 to 1"), "{}", ran.stderr);
    }
}

#[test]
fn a_figure_that_cannot_be_written_is_known_before_the_long_part() {
    let models = trained();
    let file = data("README.md");
    let ran = eval(&models.encoder, models.head.path(), &["--plot", path(&file)]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot make the directory"), "{}", ran.stderr);
}

#[test]
fn the_report_is_printed_also_when_a_figure_cannot_be_written() {
    let (models, dir) = (trained(), tempfile::tempdir().unwrap());
    // A directory stands where the figure is to be.
    std::fs::create_dir(dir.path().join("length.svg")).unwrap();
    let plot = ["--plot", path(dir.path()), "--format", "jsonl"];
    let ran = eval(&models.encoder, models.head.path(), &plot);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot write the figure"), "{}", ran.stderr);
    assert_eq!(faults_in("eval-aligner.schema.json", &ran.records()[0]), [""; 0]);
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 1, "no part of a figure is left");
}

/// Files of a directory and what they hold.
fn tree(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_place_that_cannot_be_written_is_known_before_training() {
    let (models, dir) = (trained(), tempfile::tempdir().unwrap());
    let other = dir.path().join("letters");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("letter"), "dear").unwrap();
    let pairs = dir.path().join("pairs.jsonl");
    std::fs::write(&pairs, r#"{"source": "lock", "target": "lock", "sure": [[0, 0]]}"#).unwrap();
    let encoder = models.encoder.path();
    let before = tree(encoder);
    for out in [&pairs, &pairs.join("below"), &other, encoder] {
        let of_words = ["train", "words", "--data", path(&pairs), "--dev", path(&pairs)];
        let places = ["--encoder", path(encoder), "--out", path(out), "--device", "cpu"];
        for ran in [train(encoder, out, &[]), fnstore(&[&of_words[..], &places].concat())] {
            assert_eq!(ran.code, Some(2), "{}", ran.stderr);
            assert!(ran.stderr.contains("cannot write a model to"), "{}", ran.stderr);
            assert!(!ran.stderr.contains("epoch"), "{}", ran.stderr);
        }
    }
    assert_eq!((tree(encoder), tree(&other).len()), (before, 1));
    let nowhere = ["--checkpoint", "/nowhere/checkpoint"];
    let ran = train(encoder, &dir.path().join("head"), &nowhere);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(!ran.stderr.contains("epoch 1"), "{}", ran.stderr);
}

#[test]
fn an_earlier_head_is_replaced_and_what_lies_beside_it_stays() {
    let (models, dir) = (trained(), tempfile::tempdir().unwrap());
    let out = dir.path().join("head");
    train(models.encoder.path(), &out, &[]);
    std::fs::write(out.join("CARD.md"), "mine").unwrap();
    let first = weights(&out);
    let ran = train(models.encoder.path(), &out, &["--seed", "2"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_ne!(weights(&out), first);
    let names: Vec<String> = tree(&out).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["CARD.md", "config.json", "model.safetensors"]);
    // What a run that fails would have replaced is there still.
    let before = tree(&out);
    let ran = train(models.encoder.path(), &out, &["--layer", "9"]);
    assert_eq!((ran.code, tree(&out)), (Some(2), before));
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 1, "nothing is left beside it");
}

/// Copies the files of a directory to a new one.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for (name, bytes) in tree(from) {
        std::fs::write(to.join(name), bytes).unwrap();
    }
}

#[test]
fn the_encoder_that_a_head_names_is_taken_from_the_models_and_from_nowhere_else() {
    let (models, dir) = (trained(), tempfile::tempdir().unwrap());
    let (place, head) = (dir.path().join("models"), dir.path().join("models/head"));
    copy(models.head.path(), &head);
    let name = models.encoder.path().file_name().unwrap();
    let run = |arguments: &[&str]| {
        // A directory of the name in which the program is run is none of the models.
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_fnstore"));
        let output = command.current_dir(models.encoder.path().parent().unwrap()).args(arguments);
        let output = output.args(["--models", path(&place)]).output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    };
    let file = data("train.jsonl");
    let eval = ["eval", "aligner", "--data", path(&file), "--head", "head", "--device", "cpu"];
    let verify = ["model", "verify", "head"];
    let (code, says) = run(&verify);
    assert!(code == Some(1) && says.contains("M-encoder"), "{says}");
    let (code, says) = run(&eval);
    assert!(code == Some(2) && says.contains("cannot find the encoder"), "{says}");
    copy(models.encoder.path(), &place.join(name));
    for arguments in [&verify[..], &eval] {
        let (code, says) = run(arguments);
        assert_eq!(code, Some(0), "{says}");
    }
    let config = std::fs::read_to_string(head.join("config.json")).unwrap();
    let name = name.to_str().unwrap();
    std::fs::write(head.join("config.json"), config.replace(name, &format!("../{name}"))).unwrap();
    let (code, says) = run(&verify);
    assert!(code == Some(1) && says.contains("the name of a directory"), "{says}");
}
