//! A head that sees how surely words are linked: it keeps the linker, reads back as it was trained,
//! and its directory is a linker's too.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore};
use crate::span_alignment::{Trained, data, trained};

const GOLD: [(&str, &str); 3] = [
    ("they checked the lock", "the lock they checked"),
    ("the plan they executed", "they executed the plan"),
    ("she abandoned the lock", "the lock she abandoned"),
];

struct Place {
    directory: TempDir,
    models: Trained,
}

impl Place {
    fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap(), models: trained() };
        let pair = |(source, target)| {
            let sure = [[0, 2], [1, 3], [2, 0], [3, 1]];
            json!({"source": source, "target": target, "sure": sure}).to_string() + "\n"
        };
        let lines: String = GOLD.map(pair).concat();
        std::fs::write(place.path("gold.jsonl"), lines).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn run(&self, arguments: &[&str], more: &[&str]) -> Ran {
        let encoder = self.models.encoder.path().to_str().unwrap();
        let common = ["--encoder", encoder, "--device", "cpu", "--format", "jsonl"];
        fnstore(&[arguments, more, &common].concat())
    }

    fn train_linker(&self, name: &str, more: &[&str]) -> Ran {
        let (gold, out) = (self.text("gold.jsonl"), self.text(name));
        let files = ["train", "words", "--data", &gold, "--dev", &gold, "--out", &out];
        let sizes = ["--hidden", "8", "--epochs", "60", "--learning-rate", "0.02"];
        self.run(&files, &[&sizes[..], more].concat())
    }

    fn train_head(&self, name: &str, more: &[&str]) -> Ran {
        let (file, out) = (data("train.jsonl"), self.text(name));
        let file = file.to_str().unwrap();
        let files = ["train", "aligner", "--data", file, "--dev", file, "--out", &out];
        self.run(
            &files,
            &[&["--epochs", "30", "--hidden", "8", "--learning-rate", "0.02"], more].concat(),
        )
    }

    fn links(&self, linker: &str) -> Ran {
        let (gold, linker) = (self.text("gold.jsonl"), self.text(linker));
        self.run(&["align", "words", &gold, "--model", "linker", "--linker", &linker], &[])
    }
}

/// What the head answers for the small data set, with an item that is too long after each.
fn answers(place: &Place) -> Vec<Value> {
    let mut lines = String::new();
    for line in std::fs::read_to_string(data("train.jsonl")).unwrap().lines() {
        let item: Value = serde_json::from_str(line).unwrap();
        let (source, target) = (&item["source"], &item["target"]);
        let asked = json!({"source": source, "span": item["source_span"], "target": target});
        let long = json!({"source": vec!["a"; 700], "span": [0, 1], "target": ["a"]});
        lines += &format!("{asked}\n{long}\n");
    }
    std::fs::write(place.path("asked.jsonl"), lines).unwrap();
    let (asked, head) = (place.text("asked.jsonl"), place.text("head"));
    let ran = place.run(&["align", "spans", &asked, "--head", &head], &[]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    ran.records()
}

/// Makes a tensor of a file of weights zero.
fn silence(weights: &Path, tensor: &str) {
    let mut bytes = std::fs::read(weights).unwrap();
    // The header of a safetensors file is a JSON object behind its length, with spaces up to a
    // multiple of 8.
    let end = bytes.windows(3).position(|ends| ends == b"]}}").unwrap() + 3;
    let start = end.next_multiple_of(8);
    let header: Value = serde_json::from_slice(&bytes[8..end]).unwrap();
    let place: [usize; 2] = serde_json::from_value(header[tensor]["data_offsets"].clone()).unwrap();
    bytes[start + place[0]..start + place[1]].fill(0);
    std::fs::write(weights, bytes).unwrap();
}

#[test]
fn what_the_linker_says_changes_what_the_head_answers() {
    let place = Place::new();
    assert_eq!(place.train_linker("linker", &[]).code, Some(0));
    let linker = place.text("linker");
    assert_eq!(place.train_head("head", &["--linker", &linker]).code, Some(0));
    let with = answers(&place);
    assert_eq!(with.len(), 48);
    let is_answered = |record: &Value| record["score"].is_number();
    assert!(
        with.iter().step_by(2).all(is_answered)
            && !with.iter().any(|record| { is_answered(record) && !record["error"].is_null() })
    );
    silence(&place.path("head/model.safetensors"), "linker.output.weight");
    assert_ne!(with, answers(&place));
}

#[test]
fn a_head_whose_linker_is_damaged_is_refused() {
    let place = Place::new();
    assert_eq!(place.train_linker("linker", &[]).code, Some(0));
    let linker = place.text("linker");
    assert_eq!(place.train_head("head", &["--linker", &linker]).code, Some(0));
    let path = place.path("head").join("config.json");
    let whole = config(&place.path("head"));
    for (field, value, says) in [
        ("/linker/hidden", json!(0), "a linker without hidden units"),
        ("/linker/hidden", json!(9), "linker.hidden.weight"),
        ("/linker/features", json!("other"), "a linker of `other`"),
        ("/features/6", json!("link_last"), "link_last"),
    ] {
        let mut broken = whole.clone();
        *broken.pointer_mut(field).unwrap() = value;
        std::fs::write(&path, broken.to_string()).unwrap();
        let file = data("train.jsonl");
        let (file, head) = (file.to_str().unwrap(), place.text("head"));
        let ran = place.run(&["eval", "aligner", "--data", file, "--head", &head], &[]);
        assert!(matches!(ran.code, Some(2 | 65)), "{field}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{field}: {}", ran.stderr);
    }
}

fn config(head: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(head.join("config.json")).unwrap()).unwrap()
}

#[test]
fn a_head_keeps_its_linker_and_reads_back_as_it_was_trained() {
    let place = Place::new();
    let linker = place.text("linker");
    assert_eq!(place.train_linker("linker", &[]).code, Some(0));
    let ran = place.train_head("head", &["--linker", &linker]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let config = config(&place.path("head"));
    assert_eq!(config["linker"]["hidden"], json!(8));
    assert_eq!(config["linker"]["features"], json!("difference, product, 18 cues"));
    // What it was trained from may go.
    let of_linker = place.links("linker");
    assert_eq!(of_linker.code, Some(0), "{}", of_linker.stderr);
    for record in of_linker.records() {
        assert_eq!(record["links"], json!([[0, 2], [1, 3], [2, 0], [3, 1]]));
    }
    std::fs::remove_dir_all(&linker).unwrap();
    let file = data("train.jsonl");
    let head = place.text("head");
    let asked = ["eval", "aligner", "--data", file.to_str().unwrap(), "--head", &head];
    let ran = place.run(&asked, &["--threshold", "0"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    for (row, unit) in ["exact", "soft"].iter().enumerate() {
        let (found, trained) = (&records[0]["scores"][row], &config["dev"]["all"][unit]);
        assert!(trained["right"].as_u64() > Some(0), "{trained}");
        for count in ["right", "predicted", "gold"] {
            assert_eq!(found[count], trained[count], "{unit}, {count}");
        }
    }
    // Its directory links words as the linker did.
    assert_eq!(place.links("head").stdout, of_linker.stdout);
}

#[test]
fn a_head_that_sees_links_is_another_head_than_one_that_does_not() {
    let place = Place::new();
    assert_eq!(place.train_linker("linker", &[]).code, Some(0));
    let checkpoint = place.text("checkpoint");
    let kept = ["--checkpoint", &checkpoint];
    assert_eq!(place.train_head("head", &kept).code, Some(0));
    let linker = place.text("linker");
    let ran = place.train_head("linked", &[&kept[..], &["--linker", &linker]].concat());
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("made with linker `null`"), "{}", ran.stderr);
}

#[test]
fn what_is_no_linker_of_these_states_is_refused() {
    let place = Place::new();
    assert_eq!(place.train_linker("early", &["--layer", "1"]).code, Some(0));
    assert_eq!(place.train_head("head", &[]).code, Some(0));
    let (early, head) = (place.text("early"), place.text("head"));
    let ran = place.train_head("linked", &["--linker", &early]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(ran.stderr.contains("found `layer` 1"), "{}", ran.stderr);
    let ran = place.train_head("linked", &["--linker", &head]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    let ran = place.links("head");
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(ran.stderr.contains("a head without `linker`"), "{}", ran.stderr);
    // A linker whose inputs this build would make otherwise.
    let path = place.path("early").join("config.json");
    let json = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, json.replace("18 cues", "17 cues")).unwrap();
    let ran = place.train_head("linked", &["--linker", &early, "--layer", "1"]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(!place.path("linked").exists());
}
