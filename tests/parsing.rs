//! `fnstore eval parser` has the figures of its stages, and refuses what it cannot measure.

use serde_json::Value;

use crate::cli_program::Ran;
use crate::cli_schema::faults_in;
use crate::frame_identification::{Trained, trained};

/// Frame model and labeller of the small lexicon's harbour log.
fn models() -> Trained {
    let (trained, _) = trained();
    let [encoder, out, splits] = ["encoder", "fes", "splits.tsv"].map(|name| trained.place(name));
    let places = ["--encoder", &encoder, "--out", &out, "--split-list", &splits];
    let settings = ["--device", "cpu", "--epochs", "40", "--hidden", "24", "--exemplars", "4"];
    let ran = trained.run(&[&["train", "fes"], &places[..], &settings].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    trained
}

fn parser(models: &Trained, more: &[&str]) -> Ran {
    let (place, splits) = (models.folder.path().to_str().unwrap(), models.place("splits.tsv"));
    let fixed = ["eval", "parser", "--models", place, "--split-list", &splits, "--device", "cpu"];
    models.run(&[&fixed[..], &["--no-tagger"], more].concat())
}

#[test]
fn its_rows_at_gold_targets_and_frames_are_those_of_the_stages() {
    let models = models();
    let ran = parser(&models, &["--part", "train", "--format", "json"]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults_in("eval-parser.schema.json", &document), [""; 0]);
    let (place, splits) = (models.folder.path().to_str().unwrap(), models.place("splits.tsv"));
    let fixed = ["--models", place, "--split-list", &splits, "--device", "cpu"];
    let stage = |name| {
        let ran = models
            .run(&[&["eval", name], &fixed[..], &["--part", "train", "--format", "json"]].concat());
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        document["scores"].clone()
    };
    let frames = stage("frames");
    for (row, of) in [(1, 0), (3, 5)] {
        assert_eq!(document["scores"][row]["f1"], frames[of]["f1"], "{document}");
    }
    let fes = stage("fes");
    let sum = |count: &str| -> f64 {
        let of = |row: usize| fes[row][count].as_f64().unwrap();
        // Core, core-unexpressed and unknown ones; then half of the others.
        of(1) + of(2) + of(5) + (of(3) + of(4)) / 2.0
    };
    let row = &document["scores"][2];
    let counts = ["right", "predicted", "gold"].map(|count| row[count].as_f64().unwrap());
    assert_eq!(counts, [sum("right"), sum("found"), sum("gold")], "{fes}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let models = models();
    let none = parser(&models, &[]);
    assert_eq!(none.code, Some(1), "no document is of the part `test`: {}", none.stderr);
    let table = parser(&models, &["--part", "dev", "--format", "table"]);
    assert!(table.stdout.contains("FEs at gold frames"), "{}", table.stdout);
    assert!(table.stdout.contains(" a second; 0 more too long"), "{}", table.stdout);
    for (arguments, code, says) in [
        (vec!["--part", "tset"], 2, "possible values: train, dev, test"),
        (vec!["--release", "bfn"], 2, "bfn"),
        (vec!["--labeller", "nowhere"], 69, "nowhere"),
    ] {
        let ran = parser(&models, &arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{arguments:?}: {}", ran.stderr);
    }
}
