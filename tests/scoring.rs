//! `fnstore score` and its library call: how likely sentences are under a language model.

use assert_cmd::Command;
use fnstore::engine::{Device, LanguageModel, Numbers};
use fnstore::model::Span;
use fnstore::score::{ScoreRefusal, ScoreRequest, Scorer};
use serde_json::{Value, json};

use crate::cli_program::Ran;
use crate::cli_schema::faults_in;
use crate::language_parity::directory;

const TEXT: &str = "They checked the locks.";

fn scorer() -> Scorer {
    let file = directory("llama").join("model.gguf");
    Scorer::open(&file, &Device::Cpu { threads: 1 }, Numbers::F32).unwrap()
}

fn score(input: &str, more: &[&str]) -> Ran {
    let file = directory("llama").join("model.gguf");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.args(["score", "--device", "cpu", "--model", file.to_str().unwrap()]).args(more);
    Ran::of(command.write_stdin(input).output().unwrap())
}

#[test]
fn a_text_is_worth_the_sum_of_its_tokens_after_the_one_between_texts() {
    let mut scorer = scorer();
    let found = scorer.score(&[ScoreRequest::of(TEXT)]).unwrap()[0].clone().unwrap();
    let file = directory("llama").join("model.gguf");
    let gguf = fnstore::engine::Gguf::open(&file).unwrap();
    let tokenizer = fnstore::engine::Tokenizer::from_pieces(&gguf.pieces().unwrap()).unwrap();
    let start = tokenizer.id("<|endoftext|>").unwrap();
    let ids = [vec![start], tokenizer.encode(TEXT).unwrap()].concat();
    let mut model = LanguageModel::open(&file, &Device::cpu(), Numbers::F32).unwrap();
    let wanted: f64 = model.log_probs(&[&ids]).unwrap()[0].iter().map(|p| f64::from(*p)).sum();
    assert_eq!((found.log_prob, found.tokens), (wanted, ids.len() - 1));
}

#[test]
fn parts_of_a_text_add_up_to_the_whole() {
    let of = |start, end| ScoreRequest { text: TEXT.into(), span: Some(Span::new(start, end)) };
    let requests = [ScoreRequest::of(TEXT), of(0, 4), of(4, 12), of(12, 23), of(5, 12)];
    let scores: Vec<_> =
        scorer().score(&requests).unwrap().into_iter().map(Result::unwrap).collect();
    let sum: f64 = scores[1..4].iter().map(|score| score.log_prob).sum();
    assert!((sum - scores[0].log_prob).abs() < 1e-9);
    assert_eq!(scores[1..4].iter().map(|score| score.tokens).sum::<usize>(), scores[0].tokens);
    // What holds a character counts whole, and the space before a word is part of its first token.
    assert!(scores[4].tokens <= scores[2].tokens && scores[4].tokens > 0);
}

#[test]
fn what_cannot_be_scored_costs_nobody_the_others() {
    let long = "they ".repeat(60);
    let requests = [
        ScoreRequest::of(TEXT),
        ScoreRequest::of(""),
        ScoreRequest::of(long),
        ScoreRequest { text: TEXT.into(), span: Some(Span::new(20, 99)) },
        ScoreRequest::of(TEXT),
    ];
    let scores = scorer().score(&requests).unwrap();
    assert_eq!(scores[0], scores[4]);
    assert!(scores[0].is_ok());
    assert_eq!(scores[1], Err(ScoreRefusal::Empty));
    assert!(matches!(scores[2], Err(ScoreRefusal::TooLong { limit: 64, .. })), "{:?}", scores[2]);
    assert!(matches!(scores[3], Err(ScoreRefusal::Span { end: 99, .. })), "{:?}", scores[3]);
}

#[test]
fn lines_become_records_of_the_schema() {
    let lines = [
        json!({"id": "a", "text": TEXT}).to_string(),
        json!({"text": TEXT, "span": [5, 12]}).to_string(),
        json!({"text": TEXT, "span": [5, 99]}).to_string(),
        "{".to_owned(),
    ];
    let ran = score(&lines.join("\n"), &["--format", "jsonl"]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    let records = ran.records();
    assert_eq!(records.len(), 4);
    for record in &records {
        assert_eq!(faults_in("score.schema.json", record), [""; 0]);
    }
    assert_eq!(records[0]["id"], json!("a"));
    let number = |record: &Value, key: &str| record[key].as_f64().unwrap();
    let mean = -number(&records[0], "log_prob") / number(&records[0], "tokens");
    assert!((number(&records[0], "perplexity") - mean.exp()).abs() < 1e-6);
    assert!(number(&records[1], "log_prob") > number(&records[0], "log_prob"));
    assert_eq!(records[2]["error"]["code"], json!("E-span"));
    assert_eq!(records[3]["error"]["code"], json!("E-json"));
}

#[test]
fn a_table_has_a_line_for_each_sentence() {
    let ran = score(&format!("{TEXT}\n\n"), &["--format", "table"]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].ends_with(TEXT), "{}", ran.stdout);
    assert_eq!(lines[1], "! line 2: the line is empty (E-empty)");
}

#[test]
fn a_model_that_is_none_is_refused_before_anything_is_read() {
    let (_directory, path) = crate::gguf_files::written(b"GGML");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.args(["score", "--device", "cpu", "--model", path.to_str().unwrap()]);
    let output = command.write_stdin("x").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(65), "{stderr}");
    assert!(stderr.contains("G-magic") && output.stdout.is_empty(), "{stderr}");
}
