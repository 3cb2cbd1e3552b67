//! `fnstore substitutes` and its library call: what a language model puts in a word's place, on a
//! tiny random Llama (see training/parity/language.py).

use assert_cmd::Command;
use fnstore::engine::{
    Device, Gguf, LanguageAdapter, LanguageModel, Numbers, Tokenizer, always, violations,
};
use fnstore::model::Span;
use fnstore::paraphrase::{Constraints, ParaphraseError, Paraphraser, Refusal, Request, Settings};
use serde_json::{Value, json};

use crate::cli_program::Ran;
use crate::cli_schema::faults_in;
use crate::language_parity::directory;

const CPU: Device = Device::Cpu { threads: 2 };
// The tiny model seldom begins a word after a space, so the target goes on a word.
const TEXT: &str = "They re-checked the old locks.";
const TARGET: Span = Span { start: 8, end: 15 };

fn open() -> Paraphraser {
    let base = directory("llama").join("model.gguf");
    Paraphraser::open_with(&directory("lora"), Some(&base), &CPU, Numbers::F32).unwrap()
}

fn substitutes(input: &str, more: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.args(["substitutes", "--device", "cpu"]).args(more);
    Ran::of(command.write_stdin(input).output().unwrap())
}

#[test]
fn a_phrase_is_worth_what_the_model_says_of_it_and_of_what_follows() {
    let avoid = ["checked".to_owned()];
    let found = open().substitutes(TEXT, TARGET, &avoid, &Settings::default()).unwrap();
    assert!(found.len() > 5, "{found:?}");
    assert!(found.is_sorted_by(|a, b| a.log_prob >= b.log_prob), "{found:?}");
    let file = directory("llama").join("model.gguf");
    let adapter = LanguageAdapter::read(&directory("lora")).unwrap();
    let mut model =
        LanguageModel::open_with(&file, Some(adapter.into()), &CPU, Numbers::F32).unwrap();
    let tokenizer = Tokenizer::from_pieces(&Gguf::open(&file).unwrap().pieces().unwrap()).unwrap();
    // The prompt of the adapter, filled in.
    let prompt = tokenizer.encode(&format!("{TEXT}\n-checked\n=")).unwrap();
    let before = [prompt, tokenizer.encode_inside("They re-").unwrap()].concat();
    let end = tokenizer.id("<|im_end|>").unwrap();
    for substitute in &found {
        let phrase = tokenizer.encode(&substitute.text).unwrap();
        let mut after = tokenizer.encode(&format!("{} the old locks.", substitute.text)).unwrap();
        after.push(end);
        after.truncate(phrase.len() + 10);
        let ids = [before.clone(), after.clone()].concat();
        let log_probs = model.log_probs(&[&ids]).unwrap().remove(0);
        let sum: f32 = log_probs[log_probs.len() - after.len()..].iter().sum();
        assert!((sum - substitute.log_prob).abs() < 1e-3, "{substitute:?}: {sum}");
    }
}

#[test]
fn where_nothing_follows_the_sentence_must_end_behind_the_phrase() {
    let text = "They re-checked";
    let mut paraphraser = open();
    let found = paraphraser.substitutes(text, TARGET, &[], &Settings::default()).unwrap();
    let file = directory("llama").join("model.gguf");
    let tokenizer = Tokenizer::from_pieces(&Gguf::open(&file).unwrap().pieces().unwrap()).unwrap();
    let adapter = LanguageAdapter::read(&directory("lora")).unwrap();
    let mut model =
        LanguageModel::open_with(&file, Some(adapter.into()), &CPU, Numbers::F32).unwrap();
    let prompt = tokenizer.encode(&format!("{text}\n=")).unwrap();
    let before = [prompt, tokenizer.encode_inside("They re-").unwrap()].concat();
    let end = tokenizer.id("<|im_end|>").unwrap();
    for substitute in found.iter().take(5) {
        let after = [tokenizer.encode(&substitute.text).unwrap(), vec![end]].concat();
        let ids = [before.clone(), after.clone()].concat();
        let log_probs = model.log_probs(&[&ids]).unwrap().remove(0);
        let sum: f32 = log_probs[log_probs.len() - after.len()..].iter().sum();
        assert!((sum - substitute.log_prob).abs() < 1e-3, "{substitute:?}: {sum}");
    }
}

#[test]
fn no_substitute_holds_what_is_banned_or_comes_twice() {
    let mut paraphraser = open();
    let all = paraphraser.substitutes(TEXT, TARGET, &[], &Settings::default()).unwrap();
    let first = all[0].text.split(' ').next().unwrap().to_owned();
    let banned = [first, "checked".to_owned(), "a".to_owned()];
    let left = paraphraser.substitutes(TEXT, TARGET, &banned, &Settings::default()).unwrap();
    assert!(!left.is_empty());
    // So it is with what a session bans everywhere, but that the prompt does not list it.
    let settings = Settings { avoid: banned[..1].to_vec(), ..Settings::default() };
    let others = paraphraser.substitutes(TEXT, TARGET, &[], &settings).unwrap();
    assert!(others.iter().all(|of| violations(&of.text, &banned[..1]).unwrap().is_empty()));
    let mut folded: Vec<String> = Vec::new();
    for substitute in left {
        let text = substitute.text;
        assert!(violations(&text, &banned).unwrap().is_empty(), "{text}");
        assert!((1..=3).contains(&text.split(' ').count()), "{text}");
        assert!(!folded.contains(&text.to_lowercase()), "{text}");
        folded.push(text.to_lowercase());
    }
}

#[test]
fn a_rewriting_in_flight_does_not_mind() {
    let request = |text: &str| Request {
        text: text.to_owned(),
        constraints: Constraints::avoiding(["checked"]),
    };
    let mut paraphraser = open();
    // One ends at once; the other is in the middle of its search by then.
    let texts = ["It is.", TEXT];
    let settings = Settings::default();
    let alone = paraphraser.paraphrase(&texts.map(request), &settings).unwrap();
    let free = paraphraser.substitutes(TEXT, TARGET, &[], &settings).unwrap();
    let mut session = paraphraser.session(settings).unwrap();
    let sources = texts.map(|text| {
        let constraints = request(text).constraints;
        let source = session.open_under(text, &constraints).unwrap();
        session.submit(source, &constraints).unwrap();
        source
    });
    for _ in texts {
        let finished = session.next_finished().unwrap().unwrap();
        let at = sources.iter().position(|source| *source == finished.source).unwrap();
        assert_eq!(finished.outcome, alone[at]);
        assert_eq!(session.substitutes(TEXT, TARGET, &[], &mut always()).unwrap(), free);
    }
}

#[test]
fn what_has_no_answer_is_refused() {
    let mut paraphraser = open();
    let mut refused = |text: &str, span, settings: &Settings| match paraphraser
        .substitutes(text, span, &[], settings)
        .unwrap_err()
    {
        ParaphraseError::Refused(refusal) => refusal,
        other => panic!("{other}"),
    };
    let settings = Settings::default();
    assert_eq!(refused(TEXT, Span::new(8, 90), &settings), Refusal::Target);
    assert_eq!(refused(TEXT, Span::new(4, 5), &settings), Refusal::Target);
    let short = Settings { max_source_pieces: 3, ..Settings::default() };
    assert!(matches!(refused(TEXT, TARGET, &short), Refusal::TooLong { limit: 3, .. }));
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/models/paraphrase");
    let mut other = Paraphraser::open(shipped.as_ref(), &CPU).unwrap();
    let error = other.substitutes(TEXT, TARGET, &[], &settings).unwrap_err();
    assert!(error.to_string().contains("(A-prompt)"), "{error}");
}

#[test]
fn the_command_answers_line_by_line_and_says_what_is_wrong_with_one() {
    let (lora, models) = (directory("lora"), directory(""));
    let asked = ["--model", lora.to_str().unwrap(), "--models", models.to_str().unwrap()];
    let lines = [
        json!({"id": 7, "text": TEXT, "span": [8, 15], "avoid": ["old"]}),
        json!({"text": TEXT, "span": [8, 99]}),
        json!({"text": "it was ".repeat(30), "span": [0, 2]}),
    ]
    .map(|line| format!("{line}\n"))
    .concat();
    let ran = substitutes(&lines, &[&asked[..], &["--n-best", "3"]].concat());
    assert_eq!(ran.code, Some(65), "{ran:?}");
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("substitutes.schema.json", record), [""; 0]);
    }
    assert_eq!((&records[0]["id"], &records[0]["target"]), (&json!(7), &json!("checked")));
    assert_eq!(records[0]["substitutes"].as_array().unwrap().len(), 3);
    let code = |record: &Value| record["error"]["code"].as_str().map(str::to_owned);
    assert_eq!(code(&records[1]).as_deref(), Some("E-span"));
    let code = code(&records[2]).unwrap();
    assert!(["E-too-long", "E-prompt"].contains(&code.as_str()), "{code}");
    // A line for reading marks its target.
    let marked =
        substitutes("They re-*checked* it .", &[&asked[..], &["--format", "table"]].concat());
    assert!(marked.stdout.starts_with("checked: "), "{marked:?}");
    let other = substitutes("They *checked* it.", &["--model", "paraphrase"]);
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(other.stderr.contains("A-prompt") && other.stdout.is_empty(), "{}", other.stderr);
}
