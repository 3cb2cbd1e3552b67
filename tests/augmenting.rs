//! `fnstore augment`: sets of other tasks, rewritten by the rewriter that comes with the program.

use serde_json::Value;

use crate::cli_program::Ran;
use crate::cli_schema::faults_in;
use crate::mining::run;

fn augment(arguments: &[&str], input: &str) -> Ran {
    let more = ["--model", "paraphrase", "--beam", "4", "--device", "cpu"];
    run(&[&["augment"], arguments, &more].concat(), input)
}

fn variants(ran: &Ran) -> Vec<&str> {
    Vec::from_iter(ran.stdout.lines().map(|line| {
        let from = line.split("\"variant\":\"").nth(1).unwrap();
        &from[..from.find('"').unwrap()]
    }))
}

const PAIRS: &str = "\
split\tid\tlabel\tpremise\thypothesis
train\t1\tentailment\tThe police arrested two men in the city.\tTwo men were arrested.
dev\t2\tno\tThe company sold its oldest factory.\tThe company bought a factory.
";

#[test]
fn entailment_pairs_keep_their_labels_and_lose_their_most_telling_word() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("rewrites.jsonl");
    let kept = kept.to_str().unwrap();
    let ran = augment(&["nli", "--rewrites", kept], PAIRS);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("augmented.schema.json", record), [""; 0]);
        let label = if record["id"] == "1" { "entailment" } else { "no" };
        assert_eq!(record["label"], label);
    }
    let expected = ["original", "hypothesis", "premise", "both"];
    assert_eq!(variants(&ran), [&expected[..], &["again"], &expected[..]].concat());
    let premise = |at: usize| records[at]["premise"].as_str().unwrap();
    assert_ne!(premise(0), premise(2));
    assert!(ran.stderr.contains("words banned 4, lifted 0"), "{}", ran.stderr);
    let lines = std::fs::read_to_string(kept).unwrap().lines().count();
    let again = augment(&["nli", "--rewrites", kept], PAIRS);
    assert_eq!((again.stdout, lines), (ran.stdout, 4));
    assert_eq!(std::fs::read_to_string(kept).unwrap().lines().count(), 4);
}

#[test]
fn a_label_that_the_task_does_not_know_costs_its_line_alone() {
    let wrong = PAIRS.replace("\tno\t", "\tmaybe\t");
    let ran = augment(&["nli"], &wrong);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(ran.stderr.contains("line 3: E-label: `maybe` is no label"), "{}", ran.stderr);
    assert!(ran.records().iter().all(|record| record["id"] == "1"), "{}", ran.stdout);
}

#[test]
fn a_line_without_a_column_or_with_a_text_too_long_to_rewrite_costs_itself_alone() {
    let long = "x ".repeat(1 << 20);
    let wrong =
        PAIRS.to_owned() + "dev\t3\tno\tIt fell.\n" + &format!("dev\t4\tno\t{long}\tIt fell.\n");
    let ran = augment(&["nli"], &wrong);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(ran.stderr.contains("line 4: E-columns: the line has `4` columns"), "{}", ran.stderr);
    assert!(ran.stderr.contains("line 5: E-too-long"), "{}", ran.stderr);
    let whole = augment(&["nli"], PAIRS);
    assert_eq!((whole.code, whole.stdout), (Some(0), ran.stdout));
}

#[test]
fn rewritings_of_another_beam_are_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("rewrites.jsonl");
    let kept = kept.to_str().unwrap();
    let first = augment(&["nli", "--rewrites", kept], PAIRS);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let arguments = ["--rewrites", kept, "--model", "paraphrase", "--beam", "2", "--device", "cpu"];
    let arguments = [&["augment", "nli"], &arguments[..]].concat();
    let other = run(&arguments, PAIRS);
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    assert!(other.stderr.contains("0 rewritings are known"), "{}", other.stderr);
    assert!(other.stderr.contains("4 more are of another rewriter"), "{}", other.stderr);
    assert_eq!(std::fs::read_to_string(kept).unwrap().lines().count(), 8);
}

#[test]
fn an_answer_stays_in_its_candidate() {
    let table = "\
question\tcandidate\tanswer\tlabel
Where does Kim Lee live?\tThe singer Kim Lee has lived in a house near Boston.\tBoston\t1
";
    let ran = augment(&["qa"], table);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(variants(&ran), ["original", "candidate"]);
    let text = ran.records()[1]["candidate"].as_str().unwrap().to_owned();
    assert!(text.contains("Boston") && text.contains("Kim Lee"), "{text}");
    assert!(ran.stderr.contains("phrases required 2, met 2"), "{}", ran.stderr);
}

#[test]
fn references_are_copied_and_rewritten_as_often_as_is_asked() {
    let table = "foreign\tenglish\nev\tThe old house was sold to a young family last year.\n";
    let ran = augment(&["mt", "--copies", "3:2", "--most", "2", "--jaccard", "1"], table);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let count = |variant| variants(&ran).iter().filter(|one| **one == variant).count();
    assert_eq!(count("original"), 3);
    assert!(matches!(count("english"), 2 | 4), "{}", ran.stdout);
    assert!(ran.records().iter().all(|record: &Value| record["foreign"] == "ev"));
}

#[test]
fn predictions_come_together_by_weights_or_by_the_surest() {
    let table = "\
split\tid\tvariant\tlabel\tyes\tno
dev\t1\toriginal\tno\t0.6\t0.4
dev\t1\tboth\tno\t0.1\t0.9
test\t1\toriginal\tyes\t0.4\t0.6
test\t1\tboth\tyes\t0.9\t0.1
test\t2\toriginal\tyes\t0.6\t0.4
test\t2\tboth\tyes\t0.2\t0.8
";
    let classes = ["augment", "aggregate", "--classes", "yes,no"];
    for by in ["weights", "max"] {
        let ran = run(&[&classes[..], &["--by", by]].concat(), table);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let last = ran.records().into_iter().next_back().unwrap();
        assert_eq!(last["id"], "2");
        assert!(ran.stderr.contains("wrong to right 1"), "{}", ran.stderr);
    }
    let ran = run(&classes, &table.replace("dev", "test"));
    assert!(ran.stderr.contains("no item is in the split `dev`"), "{}", ran.stderr);
    let ran = run(
        &[&classes[..], &["--by", "max"]].concat(),
        &table.replace("0.6\t0.4\ntest", "0.6\n test"),
    );
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(ran.stderr.contains("E-columns"), "{}", ran.stderr);
}
