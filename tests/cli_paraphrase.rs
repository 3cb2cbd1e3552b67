//! `fnstore paraphrase`: what it reads, what it writes, and what it says of lines that are wrong.

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::cli_program::Ran;

/// Runs the command on an input.
fn paraphrase(input: impl Into<Vec<u8>>, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    Ran::of(
        command
            .env_remove("FNSTORE_MODELS")
            .env("FNSTORE_DIR", "/nonexistent/store")
            .arg("paraphrase")
            .args(arguments)
            .args(if arguments.contains(&"--model") { &[][..] } else { &["--model", "paraphrase"] })
            .args(if arguments.contains(&"--beam") { &[][..] } else { &["--beam", "4"] })
            .args(["--n-best", "2"])
            .write_stdin(input)
            .output()
            .unwrap(),
    )
}

/// Runs it on one line that is wrong, between two that are right; returns the wrong one's error.
fn refused(line: &[u8], arguments: &[&str]) -> (String, String) {
    let right: &[u8] = match arguments {
        ["--input", "jsonl"] => b"{\"text\": \"They left.\"}",
        _ => b"They left.",
    };
    let ran = paraphrase([right, b"\n", line, b"\n", right, b"\n"].concat(), arguments);
    assert_eq!(ran.code, Some(65), "{ran:?}");
    assert!(ran.stderr.contains("error: `1` of 3 lines could not be rewritten"), "{}", ran.stderr);
    let records = ran.records();
    assert_eq!(records.len(), 3);
    for record in &records {
        assert_eq!(crate::cli_schema::faults_in("paraphrase.schema.json", record), [""; 0]);
    }
    for at in [0, 2] {
        assert!(!records[at]["paraphrases"].as_array().unwrap().is_empty(), "{ran:?}");
    }
    let error = &records[1]["error"];
    let text = |key: &str| error[key].as_str().unwrap().to_owned();
    (text("code"), text("message"))
}

#[track_caller]
fn assert_refused(line: &str, code: &str, message: &str) {
    let (found, said) = refused(line.as_bytes(), &["--input", "jsonl"]);
    assert_eq!(found, code, "{said}");
    assert!(said.contains(message), "{said}");
}

#[test]
fn an_empty_line_is_an_error_and_the_others_go_on() {
    for line in ["", "   ", "\t"] {
        let (code, message) = refused(line.as_bytes(), &["--input", "text"]);
        assert_eq!((code.as_str(), message.as_str()), ("E-empty", "the line is empty"));
    }
}

#[test]
fn a_line_of_5000_words_is_an_error_and_the_others_go_on() {
    let (code, message) = refused("word ".repeat(5000).as_bytes(), &["--input", "text"]);
    assert_eq!(code, "E-too-long");
    assert!(message.contains("pieces: expected at most 80"), "{message}");
}

#[test]
fn letters_that_no_output_kept_are_an_error_and_the_others_go_on() {
    for (letter, line) in [
        ("\u{eb}", json!({ "text": "Zo\u{eb} must verify the claim.", "avoid": ["verify"] })),
        ("\u{a3}", json!({ "text": "They must verify a cost of \u{a3}30.", "avoid": ["verify"] })),
    ] {
        assert_refused(&line.to_string(), "E-letter", &format!("kept `{letter}`"));
    }
}

#[test]
fn bytes_that_are_no_utf8_are_an_error_and_the_others_go_on() {
    let (code, message) = refused(b"They \xff left.", &["--input", "text"]);
    assert_eq!(code, "E-encoding");
    assert!(message.contains("not UTF-8, its number 6"), "{message}");
}

#[test]
fn json_that_is_none_and_values_of_the_wrong_type_are_errors() {
    assert_refused("{\"text\": \"a\"", "E-json", "column");
    assert_refused("They left.", "E-json", "expected value at column 1");
    assert_refused("[\"a\"]", "E-type", "column");
    assert_refused("{\"text\": 5}", "E-type", "expected a string");
    assert_refused("{\"text\": \"a\", \"avoid\": \"b\"}", "E-type", "expected a sequence");
    assert_refused("{\"text\": \"a\", \"require\": [[5]]}", "E-type", "list of phrases");
}

#[test]
fn keys_that_are_unknown_or_missing_are_errors() {
    assert_refused("{\"text\": \"a\", \"avoids\": []}", "E-key", "unknown field `avoids`");
    assert_refused("{\"avoid\": [\"a\"]}", "E-key", "missing field `text`");
}

#[test]
fn phrases_and_spans_that_name_nothing_are_errors() {
    assert_refused("{\"text\": \"a\", \"avoid\": [\" \"]}", "E-phrase", "at least one letter");
    assert_refused("{\"text\": \"a\", \"require\": [[]]}", "E-phrase", "at least one letter");
    assert_refused("{\"text\": \"abc\", \"keep\": [[1, 9]]}", "E-span", "3 code points");
    let many: Vec<String> = (0..129).map(|n| format!("word{n}")).collect();
    let line = json!({ "text": "a", "require": many }).to_string();
    assert_refused(&line, "E-phrase", "expected at most 128");
}

#[test]
fn a_table_of_four_columns_is_an_error() {
    let (code, message) = refused(b"a\tb\tc\td", &["--input", "parabank"]);
    assert_eq!(code, "E-columns");
    assert!(message.contains("`4` columns"), "{message}");
}

#[test]
fn an_output_that_repeats_its_sentence_is_marked() {
    let ran = paraphrase("THEY checked it .", &["--input", "text"]);
    let record = &ran.records()[0];
    assert_eq!(crate::cli_schema::faults_in("paraphrase.schema.json", record), [""; 0]);
    let found = record["paraphrases"].as_array().unwrap();
    for one in found {
        let is_copy = one["text"].as_str().unwrap().to_lowercase() == "they checked it.";
        assert_eq!(one["copy"] == true, is_copy, "{one}");
        assert_eq!(one["copy"].is_null(), !is_copy, "{one}");
    }
    assert!(found.iter().any(|one| one["copy"] == true), "no copy to mark: {record}");
}

#[test]
fn lines_are_answered_in_their_order_with_their_constraints() {
    let lines = [
        json!({ "id": "a", "text": "They checked the long bill before the end of the month.",
            "avoid": ["checked"], "require": [["invoice", "month"], "they"] }),
        json!({ "id": 2, "text": "They left Paris.", "keep": [[10, 15]] }),
        json!({ "text": "Nobody knew.", "prefix": "No" }),
    ];
    for line in &lines {
        assert_eq!(crate::cli_schema::faults_in("paraphrase-request.schema.json", line), [""; 0]);
    }
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let ran = paraphrase(input, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let records = ran.records();
    for record in &records {
        assert_eq!(crate::cli_schema::faults_in("paraphrase.schema.json", record), [""; 0]);
    }
    let ids: Vec<&Value> = records.iter().map(|record| &record["id"]).collect();
    assert_eq!(ids, [&json!("a"), &json!(2), &Value::Null]);
    for paraphrase in records[0]["paraphrases"].as_array().unwrap() {
        let text = paraphrase["text"].as_str().unwrap().to_lowercase();
        assert!(!text.contains("checked"), "{text}");
        assert!(text.contains("invoice") || text.contains("month"), "{text}");
        assert_eq!(paraphrase["met"], json!([["invoice", "month"], ["they"]]));
        assert_eq!(paraphrase["unmet"], json!([]));
        assert!(paraphrase["score"].as_f64().unwrap() > 0.0);
    }
    let texts = |at: usize| records[at]["paraphrases"].as_array().unwrap().clone();
    assert!(texts(1).iter().all(|p| p["text"].as_str().unwrap().contains("Paris")));
    assert!(texts(2).iter().all(|p| p["text"].as_str().unwrap().starts_with("No")));
}

#[test]
fn what_cannot_be_met_in_the_length_allowed_is_listed() {
    let arguments = [
        "--require",
        "not|never",
        "--require",
        "an utterly unlikely turn of phrase",
        "--max-length-factor",
        "0",
        "--max-length-more",
        "4",
    ];
    let ran = paraphrase("They left.\n", &arguments);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let best = &ran.records()[0]["paraphrases"][0];
    assert_eq!(best["ended"], json!(false));
    assert!(
        best["unmet"].as_array().unwrap().contains(&json!(["an utterly unlikely turn of phrase"]))
    );
}

#[test]
fn a_phrase_both_banned_and_required_is_required_with_a_warning() {
    let ran = paraphrase("They left.\n", &["--avoid", "LEFT", "--require", "left"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("line 1: `LEFT` is both banned and required"), "{}", ran.stderr);
    assert_eq!(ran.records()[0]["lifted"], json!(["LEFT"]));
}

#[test]
fn samples_repeat_with_their_seed() {
    let draw = |seed| {
        let arguments = ["--sample", "4", "--top-k", "20", "--seed", seed];
        paraphrase("They checked the long bill before the end of the month.\n", &arguments).stdout
    };
    assert_eq!(draw("5"), draw("5"));
    assert_ne!(draw("5"), draw("6"));
}

#[test]
fn telling_words_are_banned_and_names_required() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus.txt");
    std::fs::write(&corpus, "They left the house.\nThey left.\nThe proposal failed.\n").unwrap();
    let input = "They told John Smith about the proposal.\n";
    let arguments = ["--avoid-telling", "1", "--idf", corpus.to_str().unwrap(), "--require-names"];
    let ran = paraphrase(input, &arguments);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for paraphrase in ran.records()[0]["paraphrases"].as_array().unwrap() {
        let text = paraphrase["text"].as_str().unwrap();
        assert!(text.contains("John Smith"), "{text}");
        assert_eq!(fnstore::engine::violations(text, ["told"]).unwrap(), [""; 0], "{text}");
    }
    // Without a file the store is asked, and this one does not exist.
    let ran = paraphrase(input, &["--avoid-telling", "1"]);
    assert_eq!(ran.code, Some(66), "{ran:?}");
    assert!(ran.stderr.contains("--idf FILE"), "{}", ran.stderr);
}

#[test]
fn delimited_and_laid_out_forms_hold_the_same_texts() {
    let records = paraphrase("They left.\n", &[]).records();
    let best = records[0]["paraphrases"][0]["text"].as_str().unwrap();
    let rows = paraphrase("They left.\n", &["--format", "tsv"]).stdout;
    assert_eq!(rows.lines().next(), Some("line\trank\tscore\ttext\tunmet\terror"));
    assert_eq!(rows.lines().nth(1).unwrap().split('\t').nth(3), Some(best));
    assert!(paraphrase("They left.\n", &["--format", "table"]).stdout.contains(best));
    let array: Value =
        serde_json::from_str(&paraphrase("They left.\n", &["--format", "json"]).stdout).unwrap();
    assert_eq!(array.as_array().unwrap().len(), 1);
}

#[test]
fn arguments_that_no_search_can_follow_are_errors() {
    for (arguments, message) in [
        (&["--beam", "0"][..], "beam_size"),
        (&["--patience", "0"], "patience"),
        (&["--temperature", "0", "--sample", "2"], "temperature"),
        (&["--top-p", "1.5", "--sample", "2"], "top_p"),
        (&["--top-k", "5"], "--sample"),
        (&["--length-penalty", "fairseq=1"], "sockeye=ALPHA,BETA"),
        (&["--avoid", ""], "at least one letter"),
        (&["--avoid-list", "/nonexistent"], "/nonexistent"),
        (&["--model", "no-such-model"], "no model `no-such-model`"),
        (&["/nonexistent"], "/nonexistent"),
    ] {
        let ran = paraphrase("They left.\n", arguments);
        let code = if message.starts_with("no model") { 69 } else { 2 };
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn where_there_is_no_line_nothing_is_found() {
    let ran = paraphrase("", &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
}
