//! `fnstore align` and `fnstore eval words`: files in, links and spans out, and what is wrong with
//! a line.

use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore};
use crate::cli_schema::faults_in;
use crate::span_alignment::trained;

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

const PAIRS: &str = "\
the judge confirmed it\tthe judge verified it\tcourt\n\
she confirmed the date\tshe verified the date\tcourt\n\
they confirmed\tthey verified\tcourt\n";

#[test]
fn words_are_aligned_in_the_form_of_pharaoh_or_as_json() {
    let files = Files::new();
    let pairs = files.write("pairs.tsv", PAIRS);
    let ran = fnstore(&["align", "words", "--train", &pairs, "--format", "table"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "0-0 1-1 2-2 3-3\n0-0 1-1 2-2 3-3\n0-0 1-1\n")
    );
    let ran = fnstore(&["align", "words", "--train", &pairs, "--format", "jsonl"]);
    let records = ran.records();
    assert_eq!(records[2]["links"], json!([[0, 0], [1, 1]]));
    for record in &records {
        assert_eq!(faults_in("align-words.schema.json", record), [""; 0]);
    }
}

#[test]
fn pairs_to_align_learn_from_further_pairs() {
    let files = Files::new();
    let pairs = files.write("pairs.tsv", PAIRS);
    let new = files.write("new.jsonl", r#"{"id": 1, "source": "x", "target": "y"}"#);
    let ran = fnstore(&["align", "words", &new, "--train", &pairs]);
    assert_eq!(ran.code, Some(65), "an id is a text: {}", ran.stderr);
    let line = r#"{"id": "a", "source": "he confirmed", "target": ["verified", "he"]}"#;
    let new = files.write("new.jsonl", line);
    // (The diagonal of fast-align holds crossing links back.)
    for model in ["model1", "hmm"] {
        let arguments =
            ["align", "words", &new, "--train", &pairs, "--model", model, "--format", "table"];
        assert_eq!(fnstore(&arguments).stdout, "0-1 1-0\n", "{model}");
    }
}

#[test]
fn the_error_rate_counts_equal_and_different_words_apart() {
    let files = Files::new();
    let gold = files.write(
        "gold.jsonl",
        r#"{"source": "they confirmed", "target": "they verified", "sure": [[0, 0], [1, 1]]}"#,
    );
    let pairs = files.write("pairs.tsv", PAIRS);
    let none = files.write("none.jsonl", r#"{"source": "a", "target": "b", "sure": [[0, 0]]}"#);
    let data = ["eval", "words", "--data", &gold, "--data", &none, "--train", &pairs];
    let ran = fnstore(&[&data[..], &["--format", "jsonl"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    let names: Vec<&str> = records.iter().map(|row| row["data"].as_str().unwrap()).collect();
    assert_eq!(names, ["gold", "gold", "gold", "none", "none", "none"]);
    for record in &records {
        assert_eq!(faults_in("link-error-rate.schema.json", record), [""; 0]);
    }
    for record in &records[..3] {
        assert_eq!(record["error_rate"], json!(0.0));
    }
    let counts: Vec<(&str, u64)> = records[..3]
        .iter()
        .map(|record| (record["words"].as_str().unwrap(), record["sure"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts, [("all", 2), ("identical", 1), ("different", 1)]);
}

#[test]
fn aligners_of_several_training_sets_and_annotators_stand_side_by_side() {
    let files = Files::new();
    let training = [files.write("l12.tsv", PAIRS), files.write("f2.tsv", "a fire\ta blaze\n")];
    let first = r#"{"source": "they confirmed it", "target": "they verified it", "sure": [[0, 0], [1, 1], [2, 2]]}"#;
    let second = first.replace("[1, 1], [2, 2]]", "[2, 2]], \"possible\": [[1, 1]]");
    let (first, second) = (files.write("edit.jsonl", first), files.write("second.jsonl", &second));
    let data = ["eval", "words", "--data", &first, "--second", &second];
    let sets = ["--trained-on", &training[0], "--trained-on", &training[1]];
    let ran = fnstore(&[&data[..], &sets, &["--format", "jsonl"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("link-error-rate.schema.json", record), [""; 0]);
    }
    let by: Vec<[&Value; 2]> =
        records.iter().map(|record| [&record["by"], &record["trained_on"]]).collect();
    let of = |by: &str, set: Option<&str>| [json!(by), set.map_or(Value::Null, |set| json!(set))];
    let expected = [of("aligner", Some("l12")), of("aligner", Some("f2")), of("annotator", None)];
    for (at, [by, set]) in by.into_iter().enumerate() {
        assert_eq!([by, set], expected[at / 3].each_ref(), "{at}");
    }
    // Both say that two links are sure; the third is possible.
    assert_eq!((&records[0]["sure"], &records[0]["error_rate"]), (&json!(2), &json!(0.0)));
    // One direction has no error; in the other two of three sure links are found: 1 - (2 + 2) / (2
    // + 3).
    let human = records[6]["error_rate"].as_f64().unwrap();
    assert!((human - 0.1).abs() < 1e-9, "{human}");

    let ran = fnstore(&[&data[..], &sets, &["--format", "table"]].concat());
    let head = ran.stdout.lines().next().unwrap();
    assert!(head.contains("l12 on edit") && head.contains("annotators on edit"), "{head}");
    assert_eq!(ran.stdout.lines().count(), 10, "{}", ran.stdout);
    assert!(ran.stdout.contains("different words, error rate"), "{}", ran.stdout);
}

#[test]
fn annotators_of_other_pairs_are_refused() {
    let files = Files::new();
    let first = files.write("first.tsv", "a fire\ta blaze\nb\tc\n");
    let second = files.write("second.tsv", "a fire\ta blaze\nb\td\n");
    let ran = fnstore(&["eval", "words", "--data", &first, "--second", &second]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("pair 2 of"), "{}", ran.stderr);
    let again = ["eval", "words", "--data", &first, "--data", &first, "--second", &first];
    let ran = fnstore(&again);
    assert!(
        ran.stderr.contains("`--second` is given 1 times and `--data` 2 times"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_states_of_an_encoder_align_words_without_training() {
    let files = Files::new();
    let line = r#"{"source": "they checked the lock", "target": "the lock they checked"}"#;
    let pairs = files.write("pairs.jsonl", line);
    let models = trained();
    let encoder = models.encoder.path().to_str().unwrap();
    let arguments = ["--model", "embeddings", "--encoder", encoder, "--format", "table"];
    let ran = fnstore(&[&["align", "words", &pairs], &arguments[..]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "0-2 1-3 2-0 3-1\n"), "{}", ran.stderr);
}

#[test]
fn a_linker_is_trained_on_gold_links_and_links_pairs_that_have_none() {
    let files = Files::new();
    let models = trained();
    let encoder = models.encoder.path().to_str().unwrap();
    let gold: Vec<String> = [
        ("they checked the lock", "the lock they checked", [[0, 2], [1, 3], [2, 0], [3, 1]]),
        ("the plan they executed", "they executed the plan", [[0, 2], [1, 3], [2, 0], [3, 1]]),
        ("she abandoned the lock", "the lock she abandoned", [[0, 2], [1, 3], [2, 0], [3, 1]]),
    ]
    .iter()
    .map(|(source, target, sure)| json!({"source": source, "target": target, "sure": sure}))
    .map(|pair| pair.to_string())
    .collect();
    let data = files.write("gold.jsonl", &gold.join("\n"));
    let out = files.write("linker", "");
    std::fs::remove_file(&out).unwrap();
    let files_of = ["--data", &data, "--dev", &data, "--out", &out, "--encoder", encoder];
    let sizes = ["--hidden", "8", "--epochs", "300", "--patience", "300"];
    let steps = ["--learning-rate", "0.02", "--device", "cpu", "--format", "jsonl"];
    let ran = fnstore(&[&["train", "words"], &files_of[..], &sizes, &steps].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.records()[0]["dev"]["sure"], json!(12));
    for (wrong, says) in [
        (["--epochs", "0"], "'0' for '--epochs <N>'"),
        (["--learning-rate", "nan"], "above 0 and at most 1"),
        (["--learning-rate", "inf"], "above 0 and at most 1"),
        (["--learning-rate", "0"], "above 0 and at most 1"),
    ] {
        let ran = fnstore(&[&["train", "words"], &files_of[..], &wrong].concat());
        assert_eq!(ran.code, Some(2), "{wrong:?}");
        assert!(ran.stderr.contains(says), "{wrong:?}: {}", ran.stderr);
    }
    let model = ["--model", "linker", "--linker", &out, "--encoder", encoder, "--device", "cpu"];
    let ran =
        fnstore(&[&["eval", "words", "--data", &data, "--format", "jsonl"], &model[..]].concat());
    assert_eq!(ran.records()[0]["error_rate"], json!(0.0), "{}", ran.stderr);
    let new = files.write("new.tsv", "she abandoned the lock\tthe lock she abandoned\n");
    let ran = fnstore(&[&["align", "words", &new, "--format", "table"], &model[..]].concat());
    assert_eq!(ran.stdout, "0-2 1-3 2-0 3-1\n", "{}", ran.stderr);

    assert_eq!(fnstore(&["align", "words", &new, "--model", "linker"]).code, Some(2));
    let none = files.write("none.jsonl", r#"{"source": "a", "target": "b"}"#);
    let files_of = ["--data", &none, "--dev", &data, "--out", &out, "--encoder", encoder];
    let ran = fnstore(&[&["train", "words"], &files_of[..], &["--device", "cpu"]].concat());
    assert_eq!(ran.code, Some(65));
    assert!(ran.stderr.contains("no `sure` link"), "{}", ran.stderr);
    let config = std::path::Path::new(&out).join("config.json");
    let json = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, json.replace("18 cues", "17 cues")).unwrap();
    let ran = fnstore(&[&["align", "words", &new], &model[..]].concat());
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
}

#[test]
fn links_are_measured_by_the_spans_they_cover() {
    let files = Files::new();
    let item = |source_span: [u32; 2], target_span: [u32; 2], changed: bool| {
        json!({"id": "1", "source": ["she", "confirmed", "the", "date"], "source_span": source_span,
               "target": ["she", "verified", "the", "date"], "target_span": target_span,
               "changed": changed})
        .to_string()
    };
    let spans =
        [item([2, 4], [2, 4], false), item([1, 2], [1, 2], true), item([0, 2], [0, 1], true)];
    let spans = files.write("spans.jsonl", &spans.join("\n"));
    let pairs = files.write("pairs.tsv", PAIRS);
    let ran =
        fnstore(&["eval", "words", "--spans", &spans, "--train", &pairs, "--format", "jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let right = |items: &str, unit: &str| {
        let records = ran.records();
        let row = records.iter().find(|row| row["items"] == items && row["unit"] == unit).unwrap();
        (row["right"].as_u64().unwrap(), row["predicted"].as_u64().unwrap())
    };
    assert_eq!(right("all", "span"), (2, 3));
    assert_eq!(right("changed", "word"), (2, 3));
    assert_eq!(fnstore(&["eval", "words", "--spans", &spans, "--data", &pairs]).code, Some(2));
    assert_eq!(fnstore(&["eval", "words"]).code, Some(2));
}

#[test]
fn a_line_that_is_no_pair_has_an_empty_line_and_the_others_are_aligned() {
    let files = Files::new();
    let good = r#"{"source": "a", "target": "a"}"#;
    let outside = r#"{"source": "a", "target": "b", "sure": [[0, 4]]}"#;
    for (name, text, lines, code, says) in [
        ("a.jsonl", format!("{good}\n{{\"source\": \"a\"}}\n"), "0-0\n\n", "E-key", "line 2"),
        ("b.jsonl", outside.to_owned(), "\n", "E-span", "[0, 4]"),
        ("c.tsv", "a\ta\nno tab\na\ta".to_owned(), "0-0\n\n0-0\n", "E-columns", "line 2"),
        ("d.tsv", "\na\ta\n".to_owned(), "\n0-0\n", "E-empty", "line 1"),
    ] {
        let pairs = files.write(name, &text);
        let ran = fnstore(&["align", "words", &pairs]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(65), lines), "{}", ran.stderr);
        assert!(ran.stderr.contains(says) && ran.stderr.contains(code), "{}", ran.stderr);
        let ran = fnstore(&["align", "words", &pairs, "--format", "jsonl"]);
        for record in &ran.records() {
            assert_eq!(faults_in("align-words.schema.json", record), [""; 0]);
        }
        assert!(ran.stdout.contains(&format!("\"code\":\"{code}\"")), "{}", ran.stdout);
        // Where pairs are learned from, a line that is none ends the command.
        if code != "E-empty" {
            let ran =
                fnstore(&["align", "words", &files.write("good.tsv", "a\ta"), "--train", &pairs]);
            assert_eq!(ran.code, Some(65), "{}", ran.stderr);
            assert!(ran.stderr.contains(says), "{}", ran.stderr);
        }
    }
    assert_eq!(fnstore(&["align", "words", "/nowhere.tsv"]).code, Some(2));
    assert_eq!(fnstore(&["align", "words"]).code, Some(2));
    assert_eq!(fnstore(&["align", "words", "--train", "x", "--null", "2"]).code, Some(2));
    let empty = files.write("empty.tsv", "");
    assert_eq!(fnstore(&["align", "words", &empty]).code, Some(1));
}

#[test]
fn a_json_line_that_is_no_pair_keeps_its_id_whatever_that_is() {
    let files = Files::new();
    let lines = "{\"id\": \"m1\", \"source\": \"a\"}\n\
                 {\"id\": 7, \"source\": \"a\", \"target\": \"a\"}\n\
                 {\"id\": \"m3\", \"source\": \"a\", \"target\": \"a\"}\n\
                 {\"source\": \"a\"}\n";
    let pairs = files.write("pairs.jsonl", lines);
    let ran = fnstore(&["align", "words", &pairs, "--format", "jsonl"]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    let records = ran.records();
    let ids: Vec<Option<&Value>> = records.iter().map(|record| record.get("id")).collect();
    assert_eq!(ids, [Some(&json!("m1")), Some(&json!(7)), Some(&json!("m3")), None]);
    assert_eq!(records[2]["links"], json!([[0, 0]]));
    for record in &records {
        assert_eq!(faults_in("align-words.schema.json", record), [""; 0]);
    }
    let ran = fnstore(&["align", "words", &pairs, "--format", "csv"]);
    assert_eq!(
        ran.stdout, "id,links,error\nm1,,E-key\n7,,E-type\nm3,0-0,\n,,E-key\n",
        "{}",
        ran.stderr
    );
}

#[test]
fn an_option_that_the_model_does_not_read_is_refused_with_both_names() {
    let files = Files::new();
    let pairs = files.write("pairs.tsv", PAIRS);
    for (model, option, value) in [
        ("embeddings", "--train", pairs.as_str()),
        ("embeddings", "--symmetrize", "union"),
        ("embeddings", "--iterations", "5"),
        ("embeddings", "--linker", "linker"),
        ("model1", "--null", "0.2"),
        ("model1", "--device", "an adapter"),
        ("fast-align", "--encoder", "mini"),
        ("hmm", "--layer", "3"),
        ("hmm", "--models", "models"),
    ] {
        for command in [&["align", "words", &pairs][..], &["eval", "words", "--data", &pairs]] {
            let ran = fnstore(&[command, &["--model", model, option, value]].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{model} {option}");
            let says = format!("`--model` `{model}` does not read `{option}`");
            assert!(ran.stderr.contains(&says), "{says}\n{}", ran.stderr);
        }
    }
    let linker = ["--model", "linker", "--linker", "x", "--layer", "3"];
    let ran = fnstore(&[&["align", "words", &pairs], &linker[..]].concat());
    assert!(ran.stderr.contains("`linker` does not read `--layer`"), "{}", ran.stderr);
    let union = ["--symmetrize", "union", "--threshold", "0.3"];
    let ran = fnstore(&[&["align", "words", &pairs], &union[..]].concat());
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("`union` does not read `--threshold`"), "{}", ran.stderr);
    let null = ["--model", "hmm", "--null", "0.2"];
    assert_eq!(fnstore(&[&["align", "words", &pairs], &null[..]].concat()).code, Some(0));
}

/// Aligns the lines with a head that was trained here.
fn spans(lines: &str, more: &[&str]) -> Ran {
    let models = trained();
    let path = |dir: &TempDir| -> PathBuf { dir.path().to_owned() };
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.args(["align", "spans"]).args(more);
    if !more.contains(&"--threshold") {
        command.args(["--threshold", "0"]);
    }
    command.arg("--head").arg(path(&models.head)).arg("--encoder").arg(path(&models.encoder));
    Ran::of(command.write_stdin(lines).output().unwrap())
}

#[test]
fn an_empty_side_has_an_empty_line_whatever_the_model() {
    let files = Files::new();
    // Each of them ends as it does in `found/`: with nothing after the tab.
    let pairs = files.write("empty.tsv", "a dog\ta dog\nx y\t\n\t\n\tz\nb\tb\n");
    let none = files.write("none.tsv", "x y\t\r\n\t\r\n\tz\r\n");
    let alone = files.write("alone.tsv", "a dog\ta dog\nb\tb\n");
    let words = |file: &str, more: &[&str]| {
        let ran = fnstore(&[&["align", "words", file, "--format", "table"], more].concat());
        assert_eq!(ran.code, Some(0), "{more:?}: {}", ran.stderr);
        ran.stdout
    };
    for model in ["model1", "fast-align", "hmm"] {
        for how in ["forward", "union", "grow-diag-final-and", "agreement"] {
            let settings = ["--model", model, "--symmetrize", how];
            let links = words(&alone, &settings);
            let (dog, b) = links.split_once('\n').unwrap();
            assert_eq!(words(&pairs, &settings), format!("{dog}\n\n\n\n{b}"), "{settings:?}");
            assert_eq!(words(&none, &settings), "\n\n\n", "{settings:?}");
        }
    }
    let models = trained();
    let encoder = models.encoder.path().to_str().unwrap();
    let embeddings = ["--model", "embeddings", "--encoder", encoder];
    assert_eq!(words(&none, &embeddings), "\n\n\n");
    assert_eq!(words(&pairs, &embeddings).lines().count(), 5);
}

const LINE: &str = r#"{"id": 7, "source": "they checked the lock twice", "span": [5, 12], "target": "the lock was inspected twice by them"}"#;

#[test]
fn spans_of_texts_and_of_words_come_back_in_their_own_unit() {
    let words = r#"{"source": ["they", "checked", "the", "lock", "twice"], "span": [1, 2], "target": ["the", "lock", "was", "inspected", "twice", "by", "them"]}"#;
    let pieces = r#"{"source": "she carried the plan out alone", "span": [[4, 11], [21, 24]], "target": "alone she executed the plan"}"#;
    for line in [LINE, words, pieces] {
        let request = serde_json::from_str(line).unwrap();
        assert_eq!(faults_in("align-request.schema.json", &request), [""; 0], "{line}");
    }
    let ran = spans(&format!("{LINE}\n{words}\n{pieces}\n"), &["--runners-up", "2"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("align-spans.schema.json", record), [""; 0]);
    }
    assert_eq!((&records[0]["id"], &records[0]["spans"]), (&json!(7), &json!([[13, 22]])));
    assert_eq!(records[0]["texts"], json!(["inspected"]));
    assert_eq!(records[1]["spans"], json!([[3, 4]]));
    assert_eq!(records[0]["score"], records[1]["score"]);
    assert_eq!(records[0]["runners_up"][0].as_array().map(Vec::len), Some(2));
    assert_eq!(records[2]["spans"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_line_that_is_no_json_is_told_the_fields() {
    let ran = spans("They checked it.\tThey inspected it.\n", &[]);
    let message = ran.records()[0]["error"]["message"].as_str().unwrap().to_owned();
    let fields = "; expected an object with `source`, `span` and `target`";
    assert!(ran.code == Some(65) && message.ends_with(fields), "{ran:?}");
}

#[test]
fn every_span_has_its_own_text_also_where_words_are_odd() {
    let odd = [
        json!({"source": ["a", "\u{200b}", "dog", "ran"], "span": [2, 3],
               "target": ["the", "dog", "\u{200b}", "fled"]}),
        json!({"source": ["New York", "is", "big."], "span": [0, 1],
               "target": ["big,", "it's", "New York", "(is)"]}),
        json!({"source": "a \u{1f415} dog ran", "span": [2, 3], "target": "the \u{1f415} fled"}),
        json!({"source": ["a", "dog"], "span": [1, 2], "target": []}),
        json!({"source": "a dog", "span": [2, 5], "target": "\u{3000}"}),
    ];
    let lines = odd.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let ran = spans(&lines, &["--runners-up", "9"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    for (asked, record) in odd.iter().zip(&records) {
        assert_eq!(faults_in("align-spans.schema.json", record), [""; 0]);
        let answers = record["spans"].as_array().into_iter().flatten();
        let texts = record["texts"].as_array().into_iter().flatten();
        let others = record["runners_up"][0].as_array().unwrap();
        let mut seen = Vec::new();
        for (span, text) in
            answers.zip(texts).chain(others.iter().map(|other| (&other["span"], &other["text"])))
        {
            let [start, end] = [0, 1].map(|edge| span[edge].as_u64().unwrap() as usize);
            let of_span = match &asked["target"] {
                Value::Array(words) => {
                    let words = words[start..end].iter().map(|word| word.as_str().unwrap());
                    words.collect::<Vec<_>>().join(" ")
                }
                text => text.as_str().unwrap().chars().skip(start).take(end - start).collect(),
            };
            assert_eq!(text, &json!(of_span), "{record}");
            assert!(!seen.contains(&span), "{span} stands twice: {record}");
            seen.push(span);
        }
    }
    // Four words have ten spans; the span of a source of one word has at most six words.
    assert_eq!(records[1]["runners_up"][0].as_array().map(Vec::len), Some(9));
    assert_eq!((&records[3]["spans"], &records[4]["spans"]), (&Value::Null, &Value::Null));
    let empty = r#"{"source": ["a", "", "dog"], "span": [2, 3], "target": ["the", "dog"]}"#;
    let ran = spans(empty, &[]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    let error = &ran.records()[0]["error"];
    assert_eq!(error["code"], "E-empty");
    assert!(
        error["message"].as_str().unwrap().contains("`source` has an empty word, its number 2")
    );
}

#[test]
fn a_score_below_the_threshold_is_no_span_but_the_first_runner_up() {
    let ran = spans(LINE, &["--threshold", "1.1"]);
    assert_eq!(ran.code, Some(2), "a threshold is at most 1");
    let ran = spans(LINE, &["--threshold", "1"]);
    let record = &ran.records()[0];
    assert_eq!((&record["spans"], &record["texts"]), (&Value::Null, &Value::Null));
    assert_eq!(record["runners_up"][0][0]["text"], json!("inspected"));
    assert_eq!(faults_in("align-spans.schema.json", record), [""; 0]);
}

#[test]
fn a_line_that_cannot_be_aligned_has_a_coded_error_and_the_others_go_on() {
    let long = "lock ".repeat(600);
    let lines = [
        LINE.to_owned(),
        r#"{"source": "a b", "span": [2, 9], "target": "x"}"#.to_owned(),
        r#"{"source": "a b", "span": [1, 1], "target": "x"}"#.to_owned(),
        r#"{"source": "a b", "span": [1, 2], "target": "x"}"#.to_owned(),
        json!({"source": "lock", "span": [0, 4], "target": long}).to_string(),
        r#"{"source": "a", "span": "a", "target": "x"}"#.to_owned(),
        "not JSON".to_owned(),
        String::new(),
        LINE.to_owned(),
    ];
    let ran = spans(&lines.join("\n"), &[]);
    assert_eq!(ran.code, Some(65));
    assert!(ran.stderr.contains("`7` of 9 lines could not be aligned"), "{}", ran.stderr);
    let records = ran.records();
    let codes: Vec<&str> =
        records.iter().map(|record| record["error"]["code"].as_str().unwrap_or("")).collect();
    let want = ["", "E-span", "E-span", "E-span", "E-too-long", "E-type", "E-json", "E-empty", ""];
    assert_eq!(codes, want);
    assert_eq!(records[0]["spans"], records[8]["spans"]);
    for (at, record) in records.iter().enumerate() {
        assert_eq!(record["line"], json!(at + 1));
        assert_eq!(faults_in("align-spans.schema.json", record), [""; 0]);
    }
}
