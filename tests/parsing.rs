//! `fnstore eval parser` counts what `annotate` finds as a script over its output would.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::cli_program::Ran;
use crate::cli_schema::faults_in;
use crate::frame_identification::{Trained, trained};

/// A target with its FEs: first and last character, frame, and FEs by span.
type Target = (u64, u64, String, BTreeSet<(u64, u64, String)>);

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

fn place(of: &Value, keys: [&str; 2]) -> (u64, u64) {
    let [start, end] = keys.map(|key| of[key].as_u64().unwrap());
    (start, end)
}

/// What `annotate` says of a target.
fn found(of: &Value) -> Target {
    let (start, end) = place(of, ["start", "end"]);
    let elements = of["fes"].as_array().unwrap().iter().map(|one| {
        let (start, end) = place(one, ["start", "end"]);
        (start, end, one["name"].as_str().unwrap().to_owned())
    });
    (start, end, of["frame"].as_str().unwrap().to_owned(), elements.collect())
}

/// What `query` says of a set; none of one without a target.
fn annotated(set: &Value) -> Option<Target> {
    let pair = |of: &Value| (of[0].as_u64().unwrap(), of[1].as_u64().unwrap());
    let pieces: Vec<_> = set["targets"].as_array().unwrap().iter().map(pair).collect();
    let end = pieces.iter().map(|piece| piece.1).max()?;
    let elements = set["elements"].as_array().unwrap().iter();
    let elements = elements.filter(|one| one["span"].is_array()).map(|one| {
        let (start, end) = pair(&one["span"]);
        (start, end, one["name"].as_str().unwrap().to_owned())
    });
    Some((pieces[0].0, end, set["frame"].as_str().unwrap().to_owned(), elements.collect()))
}

#[test]
fn figures_are_those_of_what_annotate_finds() {
    let models = models();
    for part in ["train", "dev"] {
        let ran = parser(&models, &["--part", part, "--format", "json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(faults_in("eval-parser.schema.json", &document), [""; 0]);

        let splits = models.place("splits.tsv");
        let query = format!("origin=fulltext split={part}");
        let gold = ["query", &query, "--split-list", &splits, "--format", "jsonl"];
        let mut texts: BTreeMap<String, Vec<Target>> = BTreeMap::new();
        for set in models.run(&gold).records() {
            if let Some(target) = annotated(&set) {
                texts.entry(set["text"].as_str().unwrap().to_owned()).or_default().push(target);
            }
        }
        let weights = core_types(&models);
        let weigh = |frame: &str, names: &BTreeSet<(u64, u64, String)>| -> f64 {
            let core_type = |name: &String| weights.get(&(frame.to_owned(), name.clone()));
            let is_half = |name| {
                matches!(core_type(name).map(String::as_str), Some("Peripheral" | "Extra-Thematic"))
            };
            names.iter().map(|(.., name)| if is_half(name) { 0.5 } else { 1.0 }).sum()
        };
        let input = texts.keys().map(|text| format!("{}\n", json!({ "text": text })));
        let records = models
            .annotate(&input.collect::<String>(), &["--no-tagger", "--labeller", "fes"])
            .records();
        let (mut begin, mut structure) = ([0.0; 3], [0.0; 3]);
        for (record, gold) in records.iter().zip(texts.values()) {
            let targets: Vec<Target> =
                record["targets"].as_array().unwrap().iter().map(found).collect();
            let starts = |of: &[Target]| of.iter().map(|one| one.0).collect::<BTreeSet<_>>();
            let (is, should) = (starts(&targets), starts(gold));
            begin[0] += is.intersection(&should).count() as f64;
            begin[1] += is.len() as f64;
            begin[2] += should.len() as f64;
            for (.., frame, elements) in gold {
                structure[2] += 1.0 + weigh(frame, elements);
            }
            for (start, end, frame, elements) in &targets {
                structure[1] += 1.0 + weigh(frame, elements);
                let same = |of: &&Target| (of.0, of.1, &of.2) == (*start, *end, frame);
                if let Some((.., should)) = gold.iter().find(same) {
                    let right = elements.intersection(should).cloned().collect();
                    structure[0] += 1.0 + weigh(frame, &right);
                }
            }
        }
        let of = |row: usize| {
            ["right", "predicted", "gold"]
                .map(|count| document["scores"][row][count].as_f64().unwrap())
        };
        assert_eq!(document["sentences"], json!(texts.len()));
        assert_eq!((of(0), of(4)), (begin, structure), "{part}: {document}");
        assert!(begin[0] > 0.0 && (part == "dev" || structure[0] > begin[0]), "{structure:?}");
    }
}

/// How central each FE is to its frame.
fn core_types(models: &Trained) -> BTreeMap<(String, String), String> {
    let fes = models.run(&["fes", "--format", "jsonl"]).records();
    let text = |of: &Value, key: &str| of[key].as_str().unwrap_or_default().to_owned();
    fes.iter().map(|fe| ((text(fe, "frame"), text(fe, "name")), text(fe, "core_type"))).collect()
}

#[test]
fn its_rows_at_gold_targets_and_frames_are_those_of_the_stages() {
    let models = models();
    let ran = parser(&models, &["--part", "train", "--format", "json"]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
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
