//! Lines that come in are the same lines whatever wrote them: with a byte-order mark or CRLF, in
//! UTF-16 as PowerShell writes it, and under a blank first line.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore, fnstore_in, new_store};
use crate::language_parity::directory;
use crate::mining::{ARTICLES, run};
use crate::span_alignment::trained;

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

fn low_first(unit: u16) -> [u8; 2] {
    unit.swap_bytes().to_be_bytes()
}

/// A text in the encodings that are read, each with its name.
fn written(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let windows = text.replace('\n', "\r\n");
    let marked = format!("\u{feff}{windows}");
    vec![
        ("a mark", format!("\u{feff}{text}").into_bytes()),
        ("CRLF", windows.clone().into_bytes()),
        ("UTF-16, low byte first", utf16(&marked, low_first)),
        ("UTF-16, high byte first", utf16(&marked, u16::to_be_bytes)),
        ("UTF-16 without a mark", utf16(&windows, low_first)),
    ]
}

/// Runs a command on a file in every encoding: each must say what it says of plain UTF-8.
#[track_caller]
fn assert_same(name: &str, text: &str, command: impl Fn(&str) -> Ran) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    let file = path.to_str().unwrap();
    std::fs::write(file, text).unwrap();
    let plain = command(file);
    assert!(matches!(plain.code, Some(0)), "{plain:?}");
    for (how, bytes) in written(text) {
        std::fs::write(file, bytes).unwrap();
        let ran = command(file);
        assert_eq!((ran.code, &ran.stdout), (Some(0), &plain.stdout), "{how}: {}", ran.stderr);
    }
}

fn score(file: &str) -> Ran {
    let model = directory("llama").join("model.gguf");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.args(["score", file, "--device", "cpu", "--format", "jsonl", "--model"]).arg(model);
    Ran::of(command.output().unwrap())
}

#[test]
fn json_lines_and_texts_are_scored_alike_in_every_encoding() {
    let lines =
        "{\"id\": 1, \"text\": \"They checked it.\"}\n{\"id\": \"b\", \"text\": \"She left.\"}\n";
    assert_same("lines", lines, score);
    assert_same("text.txt", "They checked it.\nShe left.\n", score);
}

#[test]
fn a_blank_first_line_is_an_error_of_its_own_and_the_others_keep_their_ids() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lines");
    for blank in ["\n", "\r\n", " \t\n", "\u{feff}\n"] {
        std::fs::write(&file, format!("{blank}{{\"id\": [7], \"text\": \"She left.\"}}\n"))
            .unwrap();
        let ran = score(file.to_str().unwrap());
        assert_eq!(ran.code, Some(65), "{}", ran.stderr);
        let records = ran.records();
        assert_eq!(records[0]["error"]["code"], "E-empty");
        assert_eq!((&records[1]["id"], &records[1]["line"]), (&json!([7]), &json!(2)));
    }
}

#[test]
fn what_is_neither_utf_8_nor_plainly_utf_16_has_a_code_that_says_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lines");
    let hebrew = utf16("\u{5d1}\u{5d3}\u{5e7}\n\u{5d1}\u{5d3}\n", low_first);
    let half = [&utf16("\u{feff}They left\n", low_first)[..], b"\0"].concat();
    for (bytes, says) in [
        (hebrew, "NUL character"),
        (half, "half a character of UTF-16"),
        (b"They \xe9\n".to_vec(), "a byte that is not UTF-8, its number 6"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let ran = score(file.to_str().unwrap());
        assert_eq!(ran.code, Some(65), "{}", ran.stderr);
        let records = ran.records();
        let error = &records.last().unwrap()["error"];
        assert_eq!(error["code"], "E-encoding");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(says) && message.ends_with("save the file as UTF-8"), "{message}");
    }
}

#[test]
fn bans_reach_the_rewriter_in_every_encoding() {
    let line = "{\"id\": 1, \"text\": \"They checked it.\", \"avoid\": [\"checked\"]}\n";
    let free = "{\"id\": 1, \"text\": \"They checked it.\"}\n";
    let rewrite = |bytes: Vec<u8>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
        command.env_remove("FNSTORE_MODELS").env("FNSTORE_DIR", "/nonexistent/store");
        command.args(["paraphrase", "--model", "paraphrase", "--beam", "2", "--n-best", "1"]);
        Ran::of(command.write_stdin(bytes).output().unwrap())
    };
    let text_of = |ran: &Ran| ran.records()[0]["paraphrases"][0]["text"].clone();
    // Without the ban the word is there.
    assert_eq!(text_of(&rewrite(free.into())), json!("They checked it."));
    for (how, bytes) in written(line).into_iter().take(3) {
        let ran = rewrite(bytes);
        assert_eq!(ran.code, Some(0), "{how}: {}", ran.stderr);
        let record = &ran.records()[0];
        assert_eq!(
            (&record["id"], &record["text"]),
            (&json!(1), &json!("They checked it.")),
            "{how}"
        );
        let output = text_of(&ran).as_str().unwrap().to_owned();
        assert!(!output.contains("checked"), "{how}: {output}");
    }
}

#[test]
fn pairs_are_aligned_alike_in_every_encoding() {
    let align = |file: &str| fnstore(&["align", "words", file, "--format", "jsonl"]);
    assert_same("pairs.tsv", "the cat sat\tthe cat was sitting\nend\tthe end\n", align);
    let json = "{\"source\": \"the cat\", \"target\": \"a cat\"}\n";
    assert_same("pairs.jsonl", json, align);
    // The name says nothing, the first line does.
    assert_same("pairs.txt", json, align);
    let gold = "{\"source\": \"the cat\", \"target\": \"a cat\", \"sure\": [[1, 1]]}\n";
    assert_same("gold.jsonl", gold, |file| fnstore(&["eval", "words", "--data", file]));
}

#[test]
fn spans_are_aligned_alike_in_every_encoding() {
    let models = trained();
    let (head, encoder) = (models.head.path(), models.encoder.path());
    let line = "{\"id\": 7, \"source\": \"they checked the lock\", \"span\": [5, 12], \
                \"target\": \"the lock was inspected\"}\n";
    assert_same("spans", line, |file| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
        command.args(["align", "spans", file, "--threshold", "0", "--head"]).arg(head);
        Ran::of(command.arg("--encoder").arg(encoder).output().unwrap())
    });
}

#[test]
fn articles_are_mined_alike_in_every_encoding() {
    assert_same("articles.tsv", ARTICLES, |file| run(&["mine", file], ""));
    let article = |article: &str, text: &str| {
        json!({"cluster": "c1", "article": article, "text": text}).to_string() + "\n"
    };
    let json = article("a1", "The clerk bought bread in the old market on Monday morning.")
        + &article("a2", "The clerk bought some bread in the old market on Monday morning.");
    assert_same("articles", &json, |file| run(&["mine", file], ""));
    let ran = run(&["mine"], &format!("\u{feff}{json}"));
    assert_eq!(ran.records().len(), 1, "{ran:?}");
}

#[test]
fn a_line_of_names_that_cannot_be_read_ends_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("articles.tsv");
    std::fs::write(&file, [b"cluster\tarticle\tdate\t\xfftext\n", ARTICLES.as_bytes()].concat())
        .unwrap();
    let ran = run(&["mine", file.to_str().unwrap()], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(65), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("E-encoding"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the names of the columns"), "{}", ran.stderr);
}

/// Runs a command on a new store for each file.
fn in_new_store(command: &[&str], query: &str) -> impl Fn(&str) -> Ran {
    let command: Vec<String> = command.iter().map(|&part| part.to_owned()).collect();
    let query = query.to_owned();
    move |file: &str| {
        let store = new_store();
        let mut command: Vec<&str> = command.iter().map(String::as_str).collect();
        command.insert(1, file);
        let ran = fnstore_in(store.path(), &command);
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.stderr);
        fnstore_in(
            store.path(),
            &["query", &query, "--fields", "text,trigger", "--format", "jsonl"],
        )
    }
}

#[test]
fn scripts_and_data_are_taken_in_alike_in_every_encoding() {
    let script = "{\"op\": \"add-sentence\", \"as\": \"s\", \"text\": \"She probed it .\"}\n\
         {\"op\": \"add-set\", \"sentence\": \"@s\", \"frame\": \"Checking\", \"lu\": \"inspect.v\", \
          \"targets\": [[4, 10]]}\n";
    assert_same("script", script, in_new_store(&["edit"], "trigger=probed"));
    let spans = "{\"text\": \"\u{c9}va probed it .\", \
                 \"spans\": [{\"start\": 4, \"end\": 10, \"type\": \"Probing\"}]}\n";
    let import = ["import", "--release", "r", "--language", "en"];
    assert_same("spans.txt", spans, in_new_store(&import, "trigger=probed"));
}

#[test]
fn an_export_comes_back_in_every_encoding() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("export.jsonl");
    let place = place.to_str().unwrap();
    let ran = fnstore(&["export", "frame=Checking", "--to", "jsonl", place]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let export = std::fs::read_to_string(place).unwrap();
    let import = ["import", "--release", "again"];
    assert_same("export", &export, in_new_store(&import, "frame=Checking release=again"));
}

#[test]
fn lists_are_read_alike_in_every_encoding() {
    let count = |file: &str| fnstore(&["query", "split=test", "--split-list", file, "--count"]);
    assert_same("fold.tsv", "# a fold\nexemplars\t*\ttest\n", count);
}

/// What `align answers` says of a task and an answer to it.
#[test]
fn tasks_and_answers_are_read_alike_in_every_encoding() {
    let dir = TempDir::new().unwrap();
    let tasks = dir.path().join("tasks");
    let task = fnstore(&["align", "tasks", "frame=Checking", "--per-lu", "4", "--limit", "6"]);
    std::fs::write(&tasks, format!("\u{feff}{}", task.stdout)).unwrap();
    let id = task.records()[0]["id"].clone();
    let answer = |id: &Value| json!({"id": id, "annotator": "ann", "span": [0, 3]}).to_string();
    assert_same("answers", &(answer(&id) + "\n"), |file| {
        fnstore(&["align", "answers", file, "--tasks", path(&tasks), "--format", "jsonl"])
    });
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
