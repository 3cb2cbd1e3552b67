//! Alignment data by people: tasks out of a store, answers back, and training data of them.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore};
use crate::cli_schema::faults_in;

fn file(dir: &TempDir, name: &str, lines: &[Value]) -> String {
    let path = dir.path().join(name);
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

fn records(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn tasks_hold_some_sentences_of_each_lu_and_paraphrases_without_their_triggers() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("tasks.jsonl").to_str().unwrap().to_owned();
    let ran = fnstore(&["align", "tasks", "frame=Checking", "--per-lu", "2", "--out", &out]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{}", ran.stderr);
    let tasks = records(&out);
    assert!(ran.stderr.contains(&format!("{} tasks", tasks.len())), "{}", ran.stderr);
    for task in &tasks {
        assert_eq!(faults_in("alignment-task.schema.json", task), [""; 0]);
        let text = |field: &str| task[field].as_str().unwrap().to_owned();
        let at = |edge: usize| task["span"][edge].as_u64().unwrap() as usize;
        let marked: String = text("sentence").chars().skip(at(0)).take(at(1) - at(0)).collect();
        assert_eq!(marked, text("trigger"));
        let paraphrase = text("paraphrase").to_lowercase();
        let words: Vec<&str> = paraphrase.split(|c: char| !c.is_alphanumeric()).collect();
        assert!(!words.contains(&text("trigger").to_lowercase().as_str()), "{task}");
    }
    let of_lu = |lu: &str| tasks.iter().filter(|task| task["lu"] == lu).count();
    // One of the two LUs called check.v has one sentence; a draw may have nothing to say, which is
    // told.
    let counts = ["check.v", "inspect.v", "examine.v", "audit.v", "look over.v"].map(of_lu);
    assert!(counts.iter().zip([3, 2, 2, 2, 0]).all(|(made, most)| *made <= most), "{counts:?}");
    let told = |why: &str| -> usize {
        let line = ran.stderr.lines().find(|line| line.contains(why));
        line.map_or(0, |line| line.split_whitespace().next().unwrap().parse().unwrap())
    };
    let silent = told("left out: nothing left to say") + told("left out: no end within");
    assert_eq!(tasks.len() + silent, 11, "{counts:?} {}", ran.stderr);
    assert!(tasks.len() >= 6, "{counts:?}");
    assert!(ran.stderr.contains("3  left out: target in several pieces"), "{}", ran.stderr);
    // The same seed draws the same, and a smaller request is the beginning of a larger one.
    let fewer = fnstore(&["align", "tasks", "frame=Checking", "--per-lu", "2", "--limit", "2"]);
    let fewer = fewer.records();
    assert!(fewer.len() <= 2);
    assert_eq!(fewer, tasks[..fewer.len()]);
    // Each LU has its turn before any has a second; two LUs of the frame are called check.v.
    let names: Vec<&str> = tasks.iter().map(|task| task["lu"].as_str().unwrap()).collect();
    let is_second = |at: usize| names[at] != "check.v" && names[..at].contains(&names[at]);
    let second = (0..names.len()).find(|at| is_second(*at)).unwrap();
    assert!(names[second..].iter().all(|name| names[..second].contains(name)), "{names:?}");
    let again = fnstore(&["align", "tasks", "frame=Checking", "--out", &out]);
    assert_eq!(again.code, Some(2), "a file that is there is kept");
    assert_eq!(fnstore(&["align", "tasks", "frame=Checking lu=nosuch.v"]).code, Some(2));
    assert_eq!(fnstore(&["align", "tasks", "origin=generated"]).code, Some(1));
}

#[test]
fn an_export_makes_the_same_tasks() {
    let arguments = ["lu=check.v", "--to", "alignment-task", "-"];
    let exported = fnstore(&[&["export"], &arguments[..]].concat());
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    let made = fnstore(&["align", "tasks", "lu=check.v"]);
    assert!(!made.stdout.is_empty());
    assert_eq!(exported.stdout, made.stdout);
    assert!(exported.stderr.contains(" task"), "{}", exported.stderr);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tasks.jsonl");
    let path = path.to_str().unwrap();
    let ran =
        fnstore(&["export", "lu=check.v", "--to", "alignment-task", path, "--format", "jsonl"]);
    assert_eq!(faults_in("export.schema.json", &ran.records()[0]), [""; 0]);
    assert_eq!(std::fs::read_to_string(Path::new(path)).unwrap(), made.stdout);
}

fn tasks() -> [Value; 3] {
    ["1", "2", "3"].map(|id| {
        json!({"id": id, "sentence": "They checked it.", "span": [5, 12], "paraphrase": "They looked it over."})
    })
}

fn answers(dir: &TempDir, lines: &[Value], more: &[&str]) -> Ran {
    let (tasks, answers) = (file(dir, "tasks.jsonl", &tasks()), file(dir, "answers.jsonl", lines));
    fnstore(&[&["align", "answers", &answers, "--tasks", &tasks], more].concat())
}

#[test]
fn answers_become_training_data_and_their_agreement_is_printed() {
    let dir = tempfile::tempdir().unwrap();
    let answer = |id: &str, annotator: &str, span: Value| json!({"id": id, "annotator": annotator, "span": span});
    let lines = [
        answer("1", "ann", json!([5, 19])),
        answer("1", "bob", json!([5, 19])),
        answer("1", "cy", json!([5, 11])),
        answer("2", "ann", Value::Null),
        answer("2", "bob", Value::Null),
        answer("3", "ann", json!([5, 11])),
        answer("3", "bob", Value::Null),
    ];
    for line in &lines {
        assert_eq!(faults_in("alignment-answer.schema.json", line), [""; 0], "{line}");
    }
    let to = dir.path().join("train.jsonl").to_str().unwrap().to_owned();
    let ran = answers(&dir, &lines, &["--to", &to, "--format", "jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let agreement = &ran.records()[0];
    assert_eq!(faults_in("align-answers.schema.json", agreement), [""; 0]);
    assert_eq!((&agreement["undecided"], &agreement["exact"]), (&json!(1), &json!(0.0)));
    let items = records(&to);
    let found: Vec<&Value> = items.iter().map(|item| &item["target_span"]).collect();
    assert_eq!(found, [&json!([1, 4]), &Value::Null]);
    assert_eq!(items[0]["source_span"], json!([1, 2]));
    // What is written is what training and evaluation read.
    let ran = fnstore(&["eval", "aligner", "--data", &to, "--encoder", "/nowhere"]);
    assert!(ran.stderr.contains("/nowhere") && !ran.stderr.contains("line"), "{}", ran.stderr);
    let table = answers(&dir, &lines, &["--format", "table"]).stdout;
    for says in
        ["Fleiss' kappa", "the paper: 88 %", "the paper: 9 %", "Cohen's kappa                    -"]
    {
        assert!(table.contains(says), "{table}");
    }
}

#[test]
fn an_answer_that_cannot_be_used_has_a_code_and_the_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let lines = [
        json!({"id": "1", "annotator": "ann", "span": [5, 19]}),
        json!({"id": "1", "annotator": "ann", "span": null}),
        json!({"id": "9", "annotator": "ann", "span": null}),
        json!({"id": "2", "annotator": "ann", "span": [19, 99]}),
        json!({"id": "2", "annotator": "ann", "span": [4, 5]}),
        json!({"id": "2", "annotator": "ann"}),
        json!({"id": "2", "annotator": "ann", "span": "looked"}),
        json!({"id": "3", "annotator": "ann", "span": null}),
    ];
    let ran = answers(&dir, &lines, &["--format", "jsonl"]);
    assert_eq!(ran.code, Some(65));
    assert_eq!(ran.records()[0]["tasks"], json!(2));
    for (line, code, says) in [
        (2, "E-annotator", "has answered task `1` before"),
        (3, "E-id", "`id` is `9`"),
        (4, "E-span", "[19, 99)"),
        (5, "E-span", "that holds a word"),
        (6, "E-key", "`span`"),
        (7, "E-type", "invalid type"),
    ] {
        let told = ran.stderr.lines().find(|told| told.contains(&format!("line {line}:")));
        let told = told.unwrap_or_else(|| panic!("line {line}: {}", ran.stderr));
        assert!(told.contains(code) && told.contains(says), "{told}");
    }
    assert!(ran.stderr.contains("`6` of 11 lines could not be used"), "{}", ran.stderr);
    let none = answers(&dir, &[], &[]);
    assert_eq!(none.code, Some(1), "{}", none.stderr);
}

#[test]
fn training_data_that_is_there_is_replaced_by_force_and_never_by_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("train.jsonl").to_str().unwrap().to_owned();
    let read = || std::fs::read_to_string(&to);
    let answer = json!({"id": "1", "annotator": "ann", "span": [5, 19]});
    let to_file = ["--to", to.as_str(), "--force"];
    let ran = answers(&dir, &[], &to_file);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("no task is decided"), "{}", ran.stderr);
    assert_eq!(read().unwrap_err().kind(), std::io::ErrorKind::NotFound, "there was no file");

    std::fs::write(&to, "good data").unwrap();
    assert_eq!(answers(&dir, &[], &to_file).code, Some(1));
    assert_eq!(read().unwrap(), "good data");
    assert_eq!(answers(&dir, std::slice::from_ref(&answer), &to_file[..2]).code, Some(2));
    assert_eq!(read().unwrap(), "good data");
    assert_eq!(answers(&dir, &[answer], &to_file).code, Some(0));
    assert_eq!(records(&to)[0]["target_span"], json!([1, 4]));
}
