//! One pair that is longer than the encoder reads stops no command that works through a file: its
//! line is named, and everything else is done.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore};
use crate::cli_schema::faults_in;
use crate::span_alignment::{Trained, data, trained};

/// Models, and a place for files.
struct Place {
    models: Trained,
    files: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { models: trained(), files: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        path(&self.files.path().join(name))
    }

    fn write(&self, name: &str, lines: &[String]) -> String {
        std::fs::write(self.path(name), lines.join("\n")).unwrap();
        self.path(name)
    }

    /// Runs a command on the CPU with the encoder.
    fn run(&self, arguments: &[&str]) -> Ran {
        let encoder = path(self.models.encoder.path());
        fnstore(&[arguments, &["--encoder", &encoder, "--device", "cpu"]].concat())
    }
}

fn path(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// The items of the small data set.
fn items() -> Vec<String> {
    let text = std::fs::read_to_string(data("train.jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// An item whose sentences are within the reach of no encoder of these tests.
fn long_item(target_span: Value) -> String {
    let words = vec!["lock"; 90];
    json!({"id": "long", "source": ["the", "lock"], "source_span": [1, 2], "target": words,
           "target_span": target_span, "changed": false})
    .to_string()
}

/// A pair with all its links, between equal words.
fn pair(words: usize) -> String {
    let text = vec!["lock"; words].join(" ");
    let links: Vec<[usize; 2]> = (0..words).map(|at| [at, at]).collect();
    json!({"source": text, "target": text, "sure": links}).to_string()
}

fn assert_named(ran: &Ran, file: &str, line: usize) {
    let says = format!("E-too-long: `{file}` line {line}: ");
    assert!(ran.stderr.contains(&says), "{says}\n{}", ran.stderr);
    assert_eq!(ran.stderr.matches("E-too-long").count(), 1, "{}", ran.stderr);
}

/// The first record with some values.
fn row<'a>(records: &'a [Value], wanted: &[(&str, &str)]) -> &'a Value {
    let is = |record: &&Value| wanted.iter().all(|(key, value)| record[key] == *value);
    records.iter().find(is).unwrap()
}

#[test]
fn an_evaluation_of_spans_counts_it_as_not_found() {
    let place = Place::new();
    let head = path(place.models.head.path());
    let eval = |file: &str, format: &str| {
        let options = ["--head", &head, "--threshold", "0", "--format", format];
        place.run(&[&["eval", "aligner", "--data", file], &options[..]].concat())
    };
    let fitting = place.write("fitting.jsonl", &items());
    let mut lines = items();
    lines.insert(1, String::new());
    lines.insert(2, long_item(json!([0, 1])));
    let all = place.write("all.jsonl", &lines);
    let (without, with) = (eval(&fitting, "jsonl"), eval(&all, "jsonl"));
    assert_eq!((without.code, with.code), (Some(0), Some(0)), "{}", with.stderr);
    assert_named(&with, &all, 3);
    let (without, with) = (&without.records()[0], &with.records()[0]);
    assert_eq!(faults_in("eval-aligner.schema.json", with), [""; 0]);
    assert_eq!((&without["unanswered"], &with["unanswered"]), (&json!(0), &json!(1)));
    let count = |document: &Value, of: &str| document["scores"][0][of].as_u64().unwrap();
    assert_eq!(count(with, "gold"), count(without, "gold") + 1);
    assert_eq!(count(with, "predicted"), count(without, "predicted"));
    assert_eq!(count(with, "right"), count(without, "right"));
    let table = eval(&all, "table").stdout;
    assert!(table.contains("1 item is too long for the encoder"), "{table}");
}

#[test]
fn what_is_not_read_is_not_taken_for_an_item_that_nothing_answers_to() {
    let place = Place::new();
    let head = path(place.models.head.path());
    let file = place.write("none.jsonl", &[long_item(Value::Null)]);
    let ran =
        place.run(&["eval", "aligner", "--data", &file, "--head", &head, "--format", "jsonl"]);
    let document = &ran.records()[0];
    let unaligned = row(document["scores"].as_array().unwrap(), &[("items", "unaligned")]).clone();
    assert_eq!((&unaligned["right"], &unaligned["gold"]), (&json!(0), &json!(1)));
    assert_eq!(document["unanswered"], json!(1));
}

#[test]
fn an_evaluation_of_links_counts_its_links_as_not_found() {
    let place = Place::new();
    let file = place.write("gold.jsonl", &[pair(4), pair(70), pair(5)]);
    let embeddings = ["--model", "embeddings", "--format", "jsonl"];
    let ran = place.run(&[&["eval", "words", "--data", &file], &embeddings[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_named(&ran, &file, 2);
    assert!(
        ran.stderr.contains("`source` is too long for the encoder: 72 pieces"),
        "{}",
        ran.stderr
    );
    let records = ran.records();
    let all = row(&records, &[("words", "all")]);
    assert_eq!(faults_in("link-error-rate.schema.json", all), [""; 0]);
    assert_eq!((&all["sure"], &all["unanswered"]), (&json!(79), &json!(1)));
    assert!(all["found"].as_u64().unwrap() <= 9);

    let mut lines = items();
    lines.push(long_item(json!([0, 1])));
    let file = place.write("spans.jsonl", &lines);
    let ran = place.run(&[&["eval", "words", "--spans", &file], &embeddings[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_named(&ran, &file, 25);
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("span-cover.schema.json", record), [""; 0]);
        assert_eq!(record["unanswered"], json!(1));
    }
    let identical = row(&records, &[("items", "identical"), ("unit", "span")]);
    assert!(identical["predicted"].as_u64() < identical["gold"].as_u64(), "{identical}");
}

#[test]
fn links_of_the_others_are_printed_and_the_program_says_that_some_are_missing() {
    let place = Place::new();
    let file = place.write("pairs.jsonl", &[pair(70), pair(1)]);
    let align = |format: &str| {
        place.run(&["align", "words", &file, "--model", "embeddings", "--format", format])
    };
    let ran = align("table");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(65), "\n0-0\n"), "{}", ran.stderr);
    assert_named(&ran, &file, 1);
    assert!(ran.stderr.contains("`1` of 2 lines could not be aligned"), "{}", ran.stderr);
    let records = align("jsonl").records();
    assert_eq!((&records[0]["links"], &records[1]["links"]), (&Value::Null, &json!([[0, 0]])));
    assert_eq!(records[0]["error"]["code"], json!("E-too-long"));
    for record in &records {
        assert_eq!(faults_in("align-words.schema.json", record), [""; 0]);
    }
}

#[test]
fn training_goes_on_without_it() {
    let place = Place::new();
    let (fitting, mut lines) = (items(), items());
    lines.insert(5, long_item(json!([0, 1])));
    let train = |lines: &[String], out: &str| {
        let (file, out) = (place.write("train.jsonl", lines), place.path(out));
        let ran = place.run(&[
            "train",
            "aligner",
            "--data",
            &file,
            "--dev",
            path(&data("dev.jsonl")).as_str(),
            "--out",
            &out,
            "--epochs",
            "2",
            "--hidden",
            "8",
            "--format",
            "jsonl",
        ]);
        let weights = std::fs::read(Path::new(&out).join("model.safetensors"));
        (ran, weights)
    };
    let (_, without) = train(&fitting, "without");
    let (ran, with) = train(&lines, "with");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_named(&ran, &place.path("train.jsonl"), 6);
    assert_eq!(ran.records()[0]["training"]["items"], json!(24));
    assert_eq!(with.unwrap(), without.unwrap());
    // Nothing is left to learn from.
    let (ran, _) = train(&[long_item(json!([0, 1]))], "none");
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(ran.stderr.contains("no `target_span` within k words"), "{}", ran.stderr);
}

#[test]
fn a_linker_is_trained_without_it() {
    let place = Place::new();
    let file = place.write("gold.jsonl", &[pair(3), pair(40), pair(4)]);
    let out = place.path("linker");
    let files = ["--data", &file, "--dev", &file, "--out", &out];
    let ran = place.run(
        &[
            &["train", "words"],
            &files[..],
            &["--epochs", "1", "--hidden", "4", "--format", "jsonl"],
        ]
        .concat(),
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.records()[0]["training"]["pairs"], json!(2));
    assert_eq!(ran.records()[0]["dev"]["sure"], json!(7));
    let line = format!("E-too-long: `{file}` line 2: `source` and `target` are too long");
    assert_eq!(ran.stderr.matches(&line).count(), 2, "as data and as dev: {}", ran.stderr);
    let ran = place.run(&[
        "eval", "words", "--data", &file, "--model", "linker", "--linker", &out, "--format",
        "jsonl",
    ]);
    assert_named(&ran, &file, 2);
    assert_eq!(ran.records()[0]["sure"], json!(47));
}
