//! `fnstore mine`: pairs from clusters of articles, and what is said of lines that are wrong.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::cli_program::Ran;
use crate::cli_schema::faults_in;

pub(crate) const ARTICLES: &str = "\
cluster\tarticle\tdate\ttext
fire\ta\t2004-08-23\tA fire destroyed the old mill on Monday. Nobody was hurt.
fire\tb\t2004-08-24\tThe old mill was destroyed by a fire. Nobody was injured.
fire\tc\t2004-08-24\tThe old mill was destroyed by a fire. Nobody was injured.
vote\td\t\tNobody was hurt.
";

pub(crate) fn run(arguments: &[&str], input: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env_remove("FNSTORE_MODELS").env("FNSTORE_DIR", "/nonexistent/store").args(arguments);
    Ran::of(command.write_stdin(input).output().unwrap())
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn pairs_say_where_they_are_from() {
    let ran = run(&["mine"], ARTICLES);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("mined-pair.schema.json", record), [""; 0]);
    }
    let hurt = records.iter().find(|record| record["source"] == "Nobody was hurt.").unwrap();
    assert_eq!((&hurt["target"], &hurt["edits"]), (&json!("Nobody was injured."), &json!(2)));
    assert_eq!(hurt["target_at"], json!({"article": "b", "date": "2004-08-24", "sentence": 1}));
    assert!(ran.stderr.contains("2 clusters of 4 articles (1 repeat another)"), "{}", ran.stderr);
    assert!(ran.stderr.contains("deletions and insertions"), "{}", ran.stderr);
    let unit = run(&["mine", "--edits", "unit"], ARTICLES);
    assert!(unit.records().iter().any(|record| record["edits"] == 1), "{}", unit.stdout);
}

#[test]
fn pairs_that_are_alike_enough_are_chosen_when_all_are_found() {
    let all = run(&["mine", "--least", "0"], ARTICLES).records();
    let mined = run(&["mine"], ARTICLES).records();
    assert_eq!(all.len(), mined.len());
    for (with, without) in all.iter().zip(&mined) {
        assert_eq!(faults_in("mined-pair.schema.json", with), [""; 0]);
        let mut with = with.clone();
        assert!(with.as_object_mut().unwrap().remove("likeness").unwrap().is_number());
        assert_eq!(&with, without, "its id, too");
    }
    let mut likenesses: Vec<f64> =
        all.iter().map(|record| record["likeness"].as_f64().unwrap()).collect();
    likenesses.sort_by(f64::total_cmp);
    let most = *likenesses.last().unwrap();
    assert!(likenesses[0] < most && most < 1.0, "{likenesses:?}");
    let least = most.to_string();
    let best = run(&["mine", "--least", &least], ARTICLES);
    assert_eq!(best.records().len(), likenesses.iter().filter(|of| **of == most).count());
    assert!(best.stderr.contains(" of likeness "), "{}", best.stderr);
    assert_eq!(run(&["mine", "--least", "1"], ARTICLES).code, Some(1), "none");
    let wrong = run(&["mine", "--least", "1.5"], ARTICLES);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("--least"), "{}", wrong.stderr);
}

#[test]
fn first_sentences_pair_by_the_words_they_share() {
    let ran = run(&["mine", "--method", "f2", "--format", "tsv"], ARTICLES);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let rows: Vec<Vec<&str>> = ran.stdout.lines().map(|row| row.split('\t').collect()).collect();
    let [header, row] = rows.as_slice() else { panic!("{}", ran.stdout) };
    assert_eq!(header[..5], ["source", "target", "id", "cluster", "method"]);
    assert_eq!(header[5..], ["edits", "shared", "source_at", "target_at", "likeness"]);
    let texts =
        ["A fire destroyed the old mill on Monday.", "The old mill was destroyed by a fire."];
    assert_eq!(row[..2], texts);
    assert_eq!((&row[3..6], &row[7..]), (&["fire", "f2", ""][..], &["a.0", "b.0", ""][..]));
    let csv = run(&["mine", "--method", "f2", "--format", "csv"], ARTICLES).stdout;
    assert!(csv.starts_with("source,target,id,cluster,method,"), "{csv}");
}

#[test]
fn the_word_aligner_reads_what_was_mined() {
    let folder = tempfile::tempdir().unwrap();
    let pairs = folder.path().join("pairs.jsonl");
    let mined = run(&["mine"], ARTICLES);
    std::fs::write(&pairs, &mined.stdout).unwrap();
    let ran = run(&["align", "words", path(&pairs)], "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stdout.lines().count(), mined.stdout.lines().count());
}

#[test]
fn a_wrong_line_is_told_and_the_rest_goes_on() {
    let long = "x ".repeat(1 << 20);
    for (line, code, names) in [
        ("\ta\t2004-08-23\tText.", "E-empty", "`cluster`"),
        ("fire\te\tyesterday\tText.", "E-date", "`yesterday`"),
        ("fire\te\t2004-08-23", "E-columns", "cluster, article, date, text"),
        ("vote\td\t\tText.\nfire\te\t\tText.", "E-order", "`fire`"),
        (&format!("fire\te\t\t{long}"), "E-too-long", "more than 1048576 bytes"),
    ] {
        let ran = run(&["mine"], &ARTICLES.replace("vote\td\t", &format!("{line}\nvote\td\t")));
        let wrong = if code == "E-order" { "line 6" } else { "line 5" };
        assert_eq!(ran.code, Some(65), "{code}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("{wrong}: {code}: ")), "{}", ran.stderr);
        assert!(ran.stderr.contains(names), "{names}: {}", ran.stderr);
        assert_eq!(ran.stdout, run(&["mine"], ARTICLES).stdout, "{code}");
    }
}

#[test]
fn json_lines_miss_fields_by_name() {
    let ran = run(&["mine"], "{\"cluster\": \"c\", \"article\": \"a\"}\n");
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(ran.stderr.contains("line 1: E-key: the line has no `text`"), "{}", ran.stderr);
}

#[test]
fn articles_are_grouped_for_the_miner() {
    let raw = "\
article\tdate\ttext
a\t2004-08-23\tA fire destroyed the old mill in Ohio
x\t2004-08-23\tSenators rejected the tax bill
b\t2004-08-24\tThe old mill in Ohio was destroyed by a fire
";
    let ran = run(&["mine", "cluster", "--format", "tsv"], raw);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let clusters: Vec<&str> = ran.stdout.lines().map(|line| &line[..4]).collect();
    assert_eq!(clusters, ["clus", "c1\ta", "c1\tb", "c2\tx"]);
    assert_eq!(run(&["mine", "--method", "f2"], &ran.stdout).records().len(), 1);
}

#[test]
fn an_article_without_a_day_is_not_grouped_and_the_rest_is() {
    let raw = "article\tdate\ttext\na\t2004-08-23\tA fire.\nb\t\tA fire.\nc\t2004-02-31\tA fire.\n";
    let ran = run(&["mine", "cluster"], raw);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(ran.stderr.contains("line 3: E-date: the line has no `date`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("line 4: E-date: `2004-02-31` is no date"), "{}", ran.stderr);
    assert_eq!(ran.records().len(), 1, "{}", ran.stdout);
}

#[test]
fn a_table_without_a_column_is_told_at_its_head() {
    let ran = run(&["mine"], "cluster\tarticle\nfire\ta\nfire\tb\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(65), ""), "{}", ran.stderr);
    let told = "E-columns: standard input line 1: the line has `cluster, article`";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn raters_get_a_seeded_draw_and_their_labels_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let pairs = run(&["mine"], ARTICLES).stdout;
    let drawn = run(&["mine", "sample", "--count", "2"], &pairs);
    assert_eq!(drawn.records().len(), 2);
    assert_eq!(drawn.stdout, run(&["mine", "sample", "--count", "2"], &pairs).stdout);
    let fill = |name: &str, labels: [&str; 2]| {
        let filled = drawn.records().into_iter().zip(labels).map(|(mut item, label)| {
            item["label"] = label.into();
            item["phrasal"] = 1.into();
            item.to_string() + "\n"
        });
        let file = folder.path().join(name);
        std::fs::write(&file, filled.collect::<String>()).unwrap();
        file
    };
    let first = fill("first.jsonl", ["paraphrase", "partial"]);
    let second = fill("second.jsonl", ["paraphrase", "unrelated"]);
    let ran = run(&["mine", "tally", path(&first), path(&second), "--format", "jsonl"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("agree on 50.0 % of 2 pairs"), "{}", ran.stderr);
    let rows = ran.records();
    let row = |what: &str| -> &Value { rows.iter().find(|row| row["what"] == what).unwrap() };
    assert_eq!(
        (&row("partial, share")["first"], &row("partial, share")["second"]),
        (&json!(0.5), &json!(0.0))
    );
    assert_eq!(row("phrasal, a pair")["first"], json!(1.0));
    for row in &rows {
        assert_eq!(faults_in("mine-tally.schema.json", row), [""; 0]);
    }
    let wrong = fill("wrong.jsonl", ["alike", "partial"]);
    let ran = run(&["mine", "tally", path(&wrong)], "");
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(ran.stderr.contains("line 1: E-label: `alike` is no label"), "{}", ran.stderr);
}
