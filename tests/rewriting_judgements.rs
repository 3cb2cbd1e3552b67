//! `fnstore judge sample` and `fnstore judge tally`: rewritings drawn blind, and what raters say of
//! them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli_program::Ran;
use crate::cli_schema::faults_in;
use crate::mining::run;

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Rewritings of twelve sentences by two systems, one as a table and one as `fnstore paraphrase`
/// writes them.
fn systems(folder: &Path) -> [PathBuf; 2] {
    let good: String = (0..12)
        .map(|at| format!("Sentence {at} ended.\tSentence {at} came to an end.\n"))
        .collect();
    let bad: String = (0..12)
        .map(|at| {
            format!(
                "{{\"line\": 1, \"text\": \"Sentence {at} ended.\", \"paraphrases\": [{{\"text\": \"Ended was {at}.\"}}]}}\n"
            )
        })
        .collect();
    let files = [folder.join("good.tsv"), folder.join("bad.jsonl")];
    std::fs::write(&files[0], format!("source\ttarget\n{good}")).unwrap();
    std::fs::write(&files[1], bad).unwrap();
    files
}

/// A copy of a sheet, filled in by what `judge` says of the source and the target of each line.
fn fill(sheet: &Ran, file: &Path, judge: impl Fn(&str, &str) -> (u8, bool)) {
    let filled = sheet.records().into_iter().map(|mut item| {
        let text = |name: &str| item[name].as_str().unwrap().to_owned();
        let (similarity, flag) = judge(&text("source"), &text("target"));
        (item["similarity"], item["ungrammatical"]) = (similarity.into(), flag.into());
        format!("{item}\n")
    });
    std::fs::write(file, filled.collect::<String>()).unwrap();
}

#[test]
fn systems_are_hidden_sources_check_attention_and_inattentive_raters_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let [good, bad] = systems(folder.path());
    let drawn = ["judge", "sample", path(&good), path(&bad), "--count", "10", "--seed", "3"];
    let sheet = run(&drawn, "");
    assert_eq!(sheet.code, Some(0), "{}", sheet.stderr);
    let items = sheet.records();
    for item in &items {
        assert_eq!(faults_in("rewriting-judgement.schema.json", item), [""; 0]);
        assert!(!item.to_string().contains("good"), "{item}");
    }
    let checks = items.iter().filter(|item| item["source"] == item["target"]).count();
    assert_eq!((items.len(), checks), (22, 2));
    assert_eq!(sheet.stdout, run(&drawn, "").stdout);

    let [first, second] = ["kim.jsonl", "lee.jsonl"].map(|name| folder.path().join(name));
    fill(&sheet, &first, |source, target| {
        let similarity = if source == target { 100 } else { 60 };
        (if target.contains("came") { 80 } else { similarity }, target.starts_with("Ended"))
    });
    // This one calls sentences unlike themselves.
    fill(&sheet, &second, |_, _| (10, false));
    let of = ["--system", path(&good), "--system", path(&bad), "--format", "jsonl"];
    let ran = run(&[&["judge", "tally", path(&first), path(&second)], &of[..]].concat(), "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("passed 2 of 2 attention checks"), "{}", ran.stderr);
    assert!(ran.stderr.contains("passed 0 of 2 attention checks"), "{}", ran.stderr);
    assert!(ran.stderr.contains(": left out"), "{}", ran.stderr);
    let rows = ran.records();
    for row in &rows {
        assert_eq!(faults_in("rewriter-figures.schema.json", row), [""; 0]);
    }
    let figures: Vec<(&Value, f64, f64)> = rows
        .iter()
        .map(|row| {
            (&row["system"], row["similarity"].as_f64().unwrap(), row["fluency"].as_f64().unwrap())
        })
        .collect();
    assert_eq!(figures, [(&"bad".into(), 60.0, 0.0), (&"good".into(), 80.0, 1.0)]);
}

#[test]
fn a_copy_counts_for_its_system_and_checks_the_rater() {
    let folder = tempfile::tempdir().unwrap();
    let system = folder.path().join("lazy.tsv");
    let rewritings: String = (0..12)
        .map(|at| format!("Line {at}.\t{} {at}.\n", if at < 3 { "Line" } else { "Row" }))
        .collect();
    // The file has each of them twice.
    std::fs::write(&system, format!("source\ttarget\n{rewritings}{rewritings}")).unwrap();
    let sheet = run(&["judge", "sample", path(&system), "--checks", "0"], "");
    assert_eq!(sheet.records().len(), 12, "{}", sheet.stdout);
    let rater = folder.path().join("kim.jsonl");
    fill(&sheet, &rater, |source, target| (if source == target { 100 } else { 60 }, false));
    let arguments =
        ["judge", "tally", path(&rater), "--system", path(&system), "--format", "table"];
    let ran = run(&arguments, "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("passed 3 of 3 attention checks and judged 9"), "{}", ran.stderr);
    let lazy = ran.stdout.lines().find(|line| line.starts_with("lazy")).unwrap();
    let cells: Vec<&str> = lazy.split_whitespace().collect();
    assert_eq!(cells, ["lazy", "12", "70.0", "18.1", "0.0", "0.0", "100.0", "25.0"]);
}

#[test]
fn a_verdict_out_of_bounds_or_of_a_text_that_was_not_drawn_costs_its_line_alone() {
    let folder = tempfile::tempdir().unwrap();
    let [good, _] = systems(folder.path());
    let sheet = run(&["judge", "sample", path(&good)], "");
    let rater = folder.path().join("kim.jsonl");
    fill(&sheet, &rater, |_, _| (95, false));
    let filled = std::fs::read_to_string(&rater).unwrap();
    let strange = "\n{\"source\": \"a\", \"target\": \"b\", \"similarity\": 3}\n\
                   {\"source\": \"a\", \"target\": \"a\", \"similarity\": 101}\n\
                   {\"source\": \"a\", \"target\": \"a\", \"similarity\": 9, \"nonsensical\": \"so\"}\n";
    std::fs::write(&rater, filled.trim_end().to_owned() + strange).unwrap();
    let ran =
        run(&["judge", "tally", path(&rater), "--system", path(&good), "--format", "tsv"], "");
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    for told in [
        "E-unknown: no system wrote this `target`",
        "E-type: `similarity` is `101`: expected 0 to 100",
        "E-type: `nonsensical` is `so`: expected true or false",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert!(ran.stdout.contains("good\t12\t95.0\t0.0\t0.0\t0.0\t1.0\t0.0"), "{}", ran.stdout);
}

#[test]
fn judging_a_set_still_needs_its_id() {
    let ran = run(&["judge"], "");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("<ID>"), "{}", ran.stderr);
}
