//! Questions with two answers: the library call, `fnstore score --question`, and what is wrong with
//! files and lines.

use std::sync::Arc;

use assert_cmd::Command;
use fnstore::engine::{Device, GpuOptions, LanguageAdapter, LanguageModel, Numbers};
use fnstore::score::{FieldTexts, Question, ScoreRefusal, Scorer};
use serde_json::{Value, json};

use crate::cli_program::Ran;
use crate::cli_schema::faults_in;
use crate::gpu_kernels::device;
use crate::language_parity::directory;

/// A question with a line that is left out where it has no words.
const FILE: &str = r#"
format = 1
lines = [
  "{frame}: ",
  "<{words}> ",
  "{sentence} is it?",
]
answers = ["y", "n"]
separator = "/"
tokens = 60
"#;

fn question(text: &str) -> Question {
    Question::parse("question.toml".as_ref(), text).unwrap()
}

fn scorer(device: &Device, numbers: Numbers) -> Scorer {
    Scorer::open(&directory("llama").join("model.gguf"), device, numbers).unwrap()
}

fn cpu() -> Device {
    Device::Cpu { threads: 2 }
}

fn fields(frame: &str, words: &[&str], sentence: &str) -> FieldTexts {
    let of = |name: &str, texts: &[&str]| {
        (name.to_owned(), texts.iter().map(|text| (*text).to_owned()).collect())
    };
    [of("frame", &[frame]), of("words", words), of("sentence", &[sentence])].into()
}

fn many() -> Vec<FieldTexts> {
    let frames = ["tear", "check"];
    (0..24)
        .map(|number| {
            let words: &[&str] = if number % 3 == 0 { &[] } else { &["rip", "cut"] };
            fields(frames[number % 2], words, &format!("they tore it {}", number % 5))
        })
        .collect()
}

/// What the network says after the whole prompt, token by token.
fn wanted(prompt: &str, numbers: Numbers) -> f64 {
    let file = directory("llama").join("model.gguf");
    let gguf = fnstore::engine::Gguf::open(&file).unwrap();
    let tokenizer = fnstore::engine::Tokenizer::from_pieces(&gguf.pieces().unwrap()).unwrap();
    let start = tokenizer.id("<|endoftext|>").unwrap();
    let mut model = LanguageModel::open(&file, &cpu(), numbers).unwrap();
    let mut after = |answer: &str| {
        let own = tokenizer.encode(prompt).unwrap();
        let ids = [vec![start], own, tokenizer.encode(answer).unwrap()].concat();
        f64::from(*model.log_probs(&[&ids]).unwrap()[0].last().unwrap())
    };
    after("y") - after("n")
}

#[test]
fn an_answer_is_what_the_network_says_after_the_whole_prompt() {
    for numbers in [Numbers::F32, Numbers::Int8, Numbers::Blocks] {
        let asked = [fields("tear", &["rip", "cut"], "it tore"), fields("tear", &[], "it\nbroke ")];
        let found = scorer(&cpu(), numbers).ask(&question(FILE), &asked).unwrap();
        let prompts = ["tear: <rip/cut> it tore is it?", "tear: it broke is it?"];
        for (answer, prompt) in found.into_iter().zip(prompts) {
            let answer = answer.unwrap();
            assert_eq!(answer.log_odds(), wanted(prompt, numbers), "{prompt}");
            assert!((answer.yes() - 1.0 / (1.0 + (-answer.log_odds()).exp())).abs() < 1e-12);
        }
    }
}

#[test]
fn an_answer_is_the_same_bits_in_any_company() {
    let (question, many) = (question(FILE), many());
    let mut scorer = scorer(&cpu(), Numbers::Blocks);
    let together = scorer.ask(&question, &many).unwrap();
    for (texts, together) in many.iter().zip(&together).rev() {
        assert_eq!(&scorer.ask(&question, std::slice::from_ref(texts)).unwrap()[0], together);
    }
}

#[test]
fn on_a_gpu_the_answers_are_those_of_the_cpu() {
    let Some(gpu) = device(&GpuOptions::default()) else { return };
    let (question, many) = (question(FILE), many());
    let of_cpu = scorer(&cpu(), Numbers::F32).ask(&question, &many).unwrap();
    for numbers in [Numbers::F32, Numbers::Blocks] {
        let of_gpu = scorer(&gpu, numbers).ask(&question, &many).unwrap();
        for (one, other) in of_cpu.iter().zip(&of_gpu) {
            let (one, other) = (one.as_ref().unwrap().yes(), other.as_ref().unwrap().yes());
            assert!((one - other).abs() < 0.02, "{numbers:?}: {one} {other}");
        }
    }
}

#[test]
fn a_line_that_cannot_be_asked_about_costs_nobody_the_others() {
    let mut unknown = fields("a", &[], "b");
    unknown.insert("speaker".to_owned(), Vec::new());
    let mut missing = fields("a", &[], "b");
    missing.remove("words");
    let long = fields("a", &[], &"they ".repeat(30));
    let asked = [fields("a", &[], "b"), unknown, missing, long, fields("a", &[], "b")];
    let found = scorer(&cpu(), Numbers::F32).ask(&question(FILE), &asked).unwrap();
    assert!(found[0].is_ok());
    assert_eq!(found[0], found[4]);
    let named = |refusal: &ScoreRefusal| refusal.to_string();
    let said = named(found[1].as_ref().unwrap_err());
    assert!(said.contains("no field `speaker`; its fields are `frame`, `words`"), "{said}");
    let said = named(found[2].as_ref().unwrap_err());
    assert!(said.contains("the field `words` is missing"), "{said}");
    assert!(matches!(found[3], Err(ScoreRefusal::LongPrompt { limit: 60, .. })), "{:?}", found[3]);
}

#[test]
fn an_answer_of_several_tokens_is_refused() {
    let text = FILE.replace("\"n\"", "\"not at all\"");
    let asked = [fields("a", &[], "b")];
    let error = scorer(&cpu(), Numbers::F32).ask(&question(&text), &asked).unwrap_err().to_string();
    assert!(error.contains("`answers` is `not at all`") && error.contains("P-token"), "{error}");
}

#[test]
fn models_of_one_base_share_it_and_answer_as_each_by_itself() {
    let (question, many) = (question(FILE), many());
    let adapter = || LanguageAdapter::read(&directory("lora")).unwrap();
    let base = directory("llama").join("model.gguf");
    for numbers in [Numbers::F32, Numbers::Int8, Numbers::Blocks] {
        let mut plain = scorer(&cpu(), numbers);
        let mut beside = plain.with_adapter(Some(adapter())).unwrap();
        let mut alone = Scorer::open_with(&base, Some(adapter()), &cpu(), numbers).unwrap();
        let answers = beside.ask(&question, &many).unwrap();
        assert_eq!(answers, alone.ask(&question, &many).unwrap(), "{numbers:?}");
        let of_plain = plain.ask(&question, &many).unwrap();
        assert_ne!(answers, of_plain);
        // Seven matrices a layer, the table of tokens, and the projection where it is packed apart.
        let layers = plain.model().config().layers;
        let shared = plain.model().shared_matrices(beside.model());
        assert!(shared > 7 * layers, "{numbers:?}: {shared}");
        assert_eq!(plain.model().shared_matrices(alone.model()), 0);
        let third = beside.with_adapter(None).unwrap();
        drop(beside);
        assert_eq!(plain.model().shared_matrices(third.model()), shared);
        drop(third);
        assert_eq!(plain.ask(&question, &many).unwrap(), of_plain);
    }
}

#[test]
fn an_adapter_of_another_base_is_refused_over_an_open_model() {
    let other = directory("qwen2").join("model.gguf");
    let plain = LanguageModel::open(&other, &cpu(), Numbers::F32).unwrap();
    let adapter = Arc::new(LanguageAdapter::read(&directory("lora")).unwrap());
    let error = plain.with_adapter(Some(adapter)).unwrap_err().to_string();
    assert!(error.contains("A-base"), "{error}");
}

/// The program with a question's file.
fn ask(file: &str, input: &str, more: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("question.toml");
    std::fs::write(&path, file).unwrap();
    let model = directory("llama").join("model.gguf");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.args(["score", "--device", "cpu", "--question", path.to_str().unwrap()]);
    let has_model = more.contains(&"--model");
    let model = if has_model { vec![] } else { vec!["--model", model.to_str().unwrap()] };
    Ran::of(command.args(model).args(more).write_stdin(input).output().unwrap())
}

#[test]
fn lines_become_records_of_the_schema() {
    let lines = [
        json!({"id": "a", "frame": "tear", "words": ["rip", "cut"], "sentence": "it tore"}),
        json!({"frame": "tear", "words": null, "sentence": "it broke"}),
        json!({"frame": "tear", "sentence": "it broke"}),
        json!({"frame": "tear", "words": 7, "sentence": "it broke"}),
        json!({"frame": "tear", "words": [], "sentence": "they ".repeat(30)}),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    let ran = ask(FILE, &lines, &["--format", "jsonl", "--numbers", "f32"]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("question.schema.json", record), [""; 0]);
    }
    assert_eq!(records[0]["id"], json!("a"));
    let number = |record: &Value, key: &str| record[key].as_f64().unwrap();
    let found = number(&records[0], "log_odds");
    let wanted = wanted("tear: <rip/cut> it tore is it?", Numbers::F32);
    assert!((found - wanted).abs() < 1e-9);
    assert!(number(&records[1], "yes") > 0.0);
    let codes = [2, 3, 4].map(|at: usize| records[at]["error"]["code"].clone());
    assert_eq!(codes, ["E-key", "E-type", "E-too-long"].map(Value::from));
}

#[test]
fn a_plain_line_is_the_only_field_and_an_adapter_is_a_model() {
    let one = "format = 1\nlines = [\"{sentence} is it?\"]\nanswers = [\"y\", \"n\"]\n";
    let plain = ask(one, "it tore\n", &["--format", "jsonl"]);
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    assert!(plain.records()[0]["log_odds"].is_f64());
    let (adapter, models) = (directory("lora"), directory(""));
    let (adapter, models) = (adapter.to_str().unwrap(), models.to_str().unwrap());
    let more = ["--format", "jsonl", "--model", adapter, "--models", models];
    let adapted = ask(one, "it tore\n", &more);
    assert_eq!(adapted.code, Some(0), "{}", adapted.stderr);
    assert_ne!(adapted.records()[0]["log_odds"], plain.records()[0]["log_odds"]);
    let several = ask(FILE, "it tore\n", &["--format", "jsonl"]);
    assert_eq!(several.records()[0]["error"]["code"], json!("E-key"));
}

#[test]
fn a_file_that_asks_nothing_is_refused_before_anything_is_read() {
    let ran = ask("format = 1\nlines = [\"a\"]\n", "x\n", &[]);
    assert!(ran.stderr.contains("(P-field)") && ran.stdout.is_empty(), "{}", ran.stderr);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
}
