//! `fnstore eval nli`: a classifier with and without rewritings, from what `fnstore augment nli`
//! writes.

use serde_json::{Value, json};

use crate::cli_program::Ran;
use crate::cli_schema::faults_in;
use crate::mining::run;

/// Pairs that follow if they share their words, with a rewritten premise each.
fn augmented() -> String {
    let subjects = ["dog", "girl", "old man", "bird", "minister", "band"];
    let verbs = ["ran home", "sold the house", "left Paris", "won a prize", "sang a song"];
    let mut lines = String::new();
    for (at, subject) in subjects.iter().cycle().take(60).enumerate() {
        let (verb, other) = (verbs[at % 5], verbs[(at + 2) % 5]);
        let split = ["train", "train", "dev", "test"][at / 2 % 4];
        let (label, said) = if at % 2 == 0 { ("entailment", verb) } else { ("no", other) };
        let premise = format!("The {subject} {verb} on a cold day in March.");
        let rewritten = format!("On a cold March day the {subject} {verb}.");
        let hypothesis = format!("The {subject} {said}.");
        let mut add = |variant: &str, premise: &str| {
            let line = json!({"id": at.to_string(), "split": split, "label": label, "variant": variant,
                "premise": premise, "hypothesis": hypothesis});
            lines += &format!("{line}\n");
        };
        add("original", &premise);
        add("premise", &rewritten);
        if split == "train" {
            add("again", &premise);
        }
    }
    lines
}

fn evaluate(arguments: &[&str], input: &str) -> Ran {
    let own = ["--device", "cpu", "--epochs", "200", "--learning-rate", "0.02"];
    run(&[&["eval", "nli"], &own[..], arguments].concat(), input)
}

#[test]
fn four_arms_and_what_changes_are_printed_and_their_predictions_aggregate() {
    let folder = tempfile::tempdir().unwrap();
    let said = folder.path().join("said");
    let said = said.to_str().unwrap();
    let ran = evaluate(&["--seeds", "2", "--format", "json", "--predictions", said], &augmented());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults_in("eval-nli.schema.json", &document), [""; 0]);
    assert_eq!(document["labels"], json!(["entailment", "no"]));
    assert_eq!(document["trained_on"], json!([32, 96]));
    let arms: Vec<&Value> = document["arms"].as_array().unwrap().iter().collect();
    let names: Vec<&Value> = arms.iter().map(|arm| &arm["arm"]).collect();
    assert_eq!(names, ["baseline", "+agg", "+train", "+train+agg"]);
    for arm in arms {
        assert_eq!(arm["test_runs"].as_array().unwrap().len(), 2);
        assert!(arm["test"].as_f64().unwrap() > 0.8, "{arm}");
    }
    let changes = document["changes"].as_array().unwrap();
    let asked: Vec<&str> = changes.iter().map(|of| of["variant"].as_str().unwrap()).collect();
    assert_eq!(asked, ["premise", "aggregated"].repeat(4));

    for file in ["baseline.tsv", "train.tsv"] {
        let ran = run(
            &["augment", "aggregate", &format!("{said}/{file}"), "--classes", "entailment,no"],
            "",
        );
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(ran.records().len() as u64, document["test_items"].as_u64().unwrap());
    }
    let table = evaluate(&["--seeds", "1", "--format", "table"], &augmented());
    assert!(table.stdout.contains("+train+agg"), "{}", table.stdout);
    assert!(table.stdout.contains("wrong_to_right"), "{}", table.stdout);
}

#[test]
fn a_line_of_another_label_or_split_is_told_and_the_rest_is_used() {
    let strange = "{\"id\": \"x\", \"split\": \"dev\", \"label\": \"maybe\", \"variant\": \"original\", \
                   \"premise\": \"It rained.\", \"hypothesis\": \"It was wet.\"}\n";
    let input = strange.to_owned()
        + &strange.replace("\"dev\"", "\"later\"")
        + &strange.replace(", \"premise\": \"It rained.\"", "")
        + &augmented();
    let ran = evaluate(&["--seeds", "1", "--format", "jsonl"], &input);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    for told in [
        "line 1: E-label: `maybe` is no label of a training pair: expected entailment, no",
        "line 2: E-split: `later` is no split",
        "line 3: E-key: the line has no `premise`",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    let whole = evaluate(&["--seeds", "1", "--format", "jsonl"], &augmented());
    assert_eq!((whole.code, whole.stdout), (Some(0), ran.stdout));
}

#[test]
fn a_set_without_a_split_is_refused() {
    let input: String = augmented()
        .lines()
        .filter(|line| !line.contains("\"test\""))
        .map(|l| format!("{l}\n"))
        .collect();
    let ran = evaluate(&["--seeds", "1"], &input);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(65), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("no pair is the `original` of the split `test`"), "{}", ran.stderr);
}
