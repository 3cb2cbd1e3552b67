//! A verifier asks two questions by the prompts beside its adapter: on the tiny Llama, and the
//! shipped one against answers that were stored.
//!
//! The last two need the language model and the stored answers. They run where
//! `FNSTORE_LANGUAGE_MODEL` and `FNSTORE_STORED_ANSWERS` name them, on the first
//! `FNSTORE_STORED_MOST` of them.

use std::path::{Path, PathBuf};

use fnstore::engine::{Device, Numbers};
use fnstore::model::Span;
use fnstore::models::{ModelKind, default_rewriter, describe};
use fnstore::paraphrase::{Likelihood, Paraphraser};
use fnstore::score::{FieldTexts, Question, ScoreRefusal, Scorer};
use fnstore::text::natural_spacing;
use fnstore::verify::{EvokesItem, FrameQuestion, ListedUnit, MeaningItem, Verifier};
use serde::Deserialize;

use crate::cli_program::fnstore;
use crate::language_parity::directory;

/// Short enough for a model of 64 tokens.
const EVOKES: &str = "[\"{frame}:{definition};\", \"{words};\", \"{sentence}?{word}\"]";
const SAME: &str = "[\"{sentence}=\", \"{rewriting}?\"]";

fn prompts() -> String {
    let answers = "answers = [\"y\", \"n\"]\nseparator = \",\"\n";
    format!(
        "format = 1\n[evokes]\nlines = {EVOKES}\n{answers}[same_meaning]\nlines = {SAME}\n{answers}"
    )
}

/// A directory of models with the tiny Llama and its adapter as a verifier.
pub(crate) fn models() -> tempfile::TempDir {
    let models = tempfile::tempdir().unwrap();
    for (name, from, files) in [
        ("verifier", "lora", &["adapter_config.json", "adapter_model.safetensors"][..]),
        ("base", "llama", &["model.gguf"]),
    ] {
        std::fs::create_dir(models.path().join(name)).unwrap();
        for file in files {
            std::fs::copy(directory(from).join(file), models.path().join(name).join(file)).unwrap();
        }
    }
    std::fs::write(models.path().join("verifier/prompt.toml"), prompts()).unwrap();
    models
}

fn cpu() -> Device {
    Device::Cpu { threads: 2 }
}

pub(crate) fn open(models: &Path) -> Verifier {
    let (adapter, base) = (models.join("verifier"), models.join("base/model.gguf"));
    Verifier::open(&adapter, &base, &cpu(), Numbers::F32).unwrap()
}

fn frame() -> FrameQuestion {
    let unit = |name: &str, annotated| ListedUnit { name: name.to_owned(), annotated };
    FrameQuestion {
        name: "Cut_up".to_owned(),
        definition: "<fen>It</fen> [Part goes].\n\n<ex>[[no]]</ex>".to_owned(),
        lexunits: vec![unit("rip.v", 1), unit("tear (up).v", 5), unit("tear.n", 0)],
    }
}

fn item(text: &str, at: (u32, u32), lexunit: Option<&str>) -> EvokesItem {
    let targets = vec![Span::new(at.0, at.1)];
    EvokesItem { text: text.to_owned(), targets, lexunit: lexunit.map(str::to_owned) }
}

#[test]
fn a_verifier_asks_what_its_prompts_say() {
    let models = models();
    let items = [
        item("It tore , up .", (3, 7), Some("tear.v")),
        item("It ripped .", (3, 9), Some("rip.v")),
        item("It was .", (3, 3), None),
    ];
    let found = open(models.path()).evokes(&frame(), &items).unwrap();
    let text = "format = 1\nlines = [\"{all}\"]\nanswers = [\"y\", \"n\"]\n";
    let whole = Question::parse("whole.toml".as_ref(), text).unwrap();
    let adapter = fnstore::engine::LanguageAdapter::read(&directory("lora")).unwrap();
    let base = directory("llama").join("model.gguf");
    let mut scorer = Scorer::open_with(&base, Some(adapter), &cpu(), Numbers::F32).unwrap();
    let mut wanted = |prompt: &str| {
        let texts = FieldTexts::from([("all".to_owned(), vec![prompt.to_owned()])]);
        scorer.ask(&whole, &[texts]).unwrap().remove(0).unwrap()
    };
    assert_eq!(found[0], Ok(wanted("Cut up:It goes.;rip;It *tore*, up.?tore")));
    assert_eq!(found[1], Ok(wanted("Cut up:It goes.;tear;It *ripped*.?ripped")));
    assert_eq!(found[2], Err(ScoreRefusal::Empty));
    let pair = |sentence: &str, rewriting: &str| MeaningItem {
        sentence: sentence.to_owned(),
        rewriting: rewriting.to_owned(),
    };
    let pairs = [pair(" It tore . ", "It ripped."), pair("It tore", " ")];
    let found = open(models.path()).same_meaning(&pairs).unwrap();
    assert_eq!(found[0], Ok(wanted("It tore .=It ripped.?")));
    assert_eq!(found[1], Err(ScoreRefusal::Empty));
}

#[test]
fn a_frame_without_definition_and_lus_is_asked_by_its_name() {
    let models = models();
    let frame = FrameQuestion { name: "Cut".to_owned(), ..FrameQuestion::default() };
    let found = open(models.path()).evokes(&frame, &[item("It * tore", (5, 9), None)]).unwrap();
    assert!(found[0].as_ref().unwrap().yes() > 0.0);
    // Too long a sentence is refused, and costs nobody the others.
    let long = item(&format!("It tore {}", "xyz".repeat(40)), (3, 7), None);
    let found = open(models.path()).evokes(&frame, &[long, item("It", (0, 2), None)]).unwrap();
    assert!(matches!(found[0], Err(ScoreRefusal::LongPrompt { limit: 64, .. })), "{:?}", found[0]);
    assert!(found[1].is_ok());
}

#[test]
fn over_an_open_model_it_answers_as_by_itself() {
    let models = models();
    let items = [item("It tore .", (3, 7), None)];
    let mut alone = open(models.path());
    let base = models.path().join("base/model.gguf");
    let scorer = Scorer::open(&base, &cpu(), Numbers::F32).unwrap();
    let mut beside = Verifier::over(&models.path().join("verifier"), scorer.model()).unwrap();
    let answers = alone.evokes(&frame(), &items).unwrap();
    assert_eq!(beside.evokes(&frame(), &items).unwrap(), answers);
    assert!(scorer.model().shared_matrices(beside.model()) > 0);
    assert_eq!(beside.fingerprint(), alone.fingerprint());
}

#[test]
fn over_a_rewriters_model_it_answers_as_by_itself() {
    let models = models();
    let (adapter, base) = (directory("lora"), models.path().join("base/model.gguf"));
    let rewriter = Paraphraser::open_with(&adapter, Some(&base), &cpu(), Numbers::F32).unwrap();
    let model = rewriter.language_model().expect("an adapter has one");
    let mut beside = Verifier::over(&models.path().join("verifier"), model).unwrap();
    let items = [item("It tore .", (3, 7), None)];
    let wanted = open(models.path()).evokes(&frame(), &items).unwrap();
    assert_eq!(beside.evokes(&frame(), &items).unwrap(), wanted);
    assert!(model.shared_matrices(beside.model()) > 0);
}

#[test]
fn it_is_listed_and_verified_as_what_it_is_and_never_rewrites() {
    let models = models();
    let verifier = models.path().join("verifier");
    assert_eq!(describe(&verifier).unwrap().kind, ModelKind::Verifier);
    let run = |words: &[&str]| {
        let own = ["--models", models.path().to_str().unwrap(), "--format", "json"];
        fnstore(&[words, &own[..]].concat())
    };
    let checked = run(&["model", "verify", "verifier"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    let listed = run(&["model", "list"]);
    assert!(listed.stdout.contains("\"verifier\""), "{}", listed.stdout);
    let used = run(&["model", "use", "verifier"]);
    assert!(
        used.stderr.contains("`verifier` is a verifier, expected a rewriter"),
        "{}",
        used.stderr
    );
    let (name, _) = default_rewriter(&[models.path().to_owned()]).unwrap();
    assert_ne!(name, "verifier");
    std::fs::write(verifier.join("prompt.toml"), prompts().replace("{word}", "{trigger}")).unwrap();
    let checked = run(&["model", "verify", "verifier"]);
    assert!(checked.stdout.contains("M-prompt"), "{}{}", checked.stdout, checked.stderr);
}

#[test]
fn the_shipped_verifier_is_one() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/verifier");
    assert_eq!(describe(&shipped).unwrap().kind, ModelKind::Verifier);
}

#[derive(Deserialize)]
struct Stored {
    item: usize,
    output: String,
    same_meaning: f64,
    reverse_log_prob: f64,
    reverse_tokens: u32,
}

#[derive(Deserialize)]
struct Source {
    source: String,
}

fn lines<T: serde::de::DeserializeOwned>(path: &Path) -> Vec<T> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The language model, the sentences, and the stored answers about their outputs, where variables
/// name them.
fn stored() -> Option<(PathBuf, Vec<Source>, Vec<Stored>)> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let (base, stored) = (variable("FNSTORE_LANGUAGE_MODEL")?, variable("FNSTORE_STORED_ANSWERS")?);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = lines(&root.join("training/judge/candidates.jsonl"));
    let mut stored: Vec<Stored> = lines(&stored);
    if let Ok(most) = std::env::var("FNSTORE_STORED_MOST") {
        stored.truncate(most.parse().unwrap());
    }
    Some((base, sources, stored))
}

#[test]
fn answers_to_the_second_question_are_nearly_those_stored() {
    let Some((base, sources, stored)) = stored() else {
        skipped!("FNSTORE_LANGUAGE_MODEL and FNSTORE_STORED_ANSWERS name nothing");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pair = |of: &Stored| MeaningItem {
        sentence: sources[of.item].source.clone(),
        rewriting: of.output.clone(),
    };
    let pairs: Vec<MeaningItem> = stored.iter().map(pair).collect();
    // What is stored was asked before the adapter's numbers were rounded to 4 bits.
    for (numbers, most) in [(Numbers::F32, 0.06), (Numbers::Blocks, 0.06)] {
        let place = root.join("models/verifier");
        let mut verifier = Verifier::open(&place, &base, &Device::cpu(), numbers).unwrap();
        let found = verifier.same_meaning(&pairs).unwrap();
        let differences = found.iter().zip(&stored).map(|(answer, stored)| {
            let wanted = 1.0 / (1.0 + (-stored.same_meaning).exp());
            (answer.as_ref().unwrap().yes() - wanted).abs()
        });
        let differences: Vec<f64> = differences.collect();
        let near = differences.iter().filter(|difference| **difference <= most).count();
        let share = near as f64 / differences.len() as f64;
        let largest = differences.iter().fold(0.0, |most: f64, other| most.max(*other));
        eprintln!("{numbers:?}: {share:.3} within {most}, the largest difference {largest:.4}");
        assert!(share >= 0.95, "{numbers:?}: {share}");
    }
}

#[test]
fn sources_are_as_likely_as_was_stored() {
    let Some((base, sources, stored)) = stored() else {
        skipped!("FNSTORE_LANGUAGE_MODEL and FNSTORE_STORED_ANSWERS name nothing");
        return;
    };
    let rewriter = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/rewriter");
    let mut rewriter =
        Paraphraser::open_with(&rewriter, Some(&base), &Device::cpu(), Numbers::F32).unwrap();
    let spaced = |of: &Stored| natural_spacing(sources[of.item].source.trim());
    let spaced: Vec<String> = stored.iter().map(spaced).collect();
    let texts = stored.iter().map(|of| of.output.as_str());
    let pairs: Vec<(&str, &str)> = texts.zip(spaced.iter().map(String::as_str)).collect();
    let found = rewriter.likelihoods(&pairs).unwrap();
    let is_near = |(found, stored): (&Option<Likelihood>, &Stored)| {
        let found = found.unwrap();
        let difference = (found.log_prob - stored.reverse_log_prob).abs();
        eprintln!("{difference:.4} of {:.2}", stored.reverse_log_prob);
        found.tokens == stored.reverse_tokens && difference <= 0.06 * f64::from(found.tokens)
    };
    let near = found.iter().zip(&stored).filter(|of| is_near(*of)).count();
    assert!(near as f64 >= 0.95 * stored.len() as f64, "{near} of {}", stored.len());
}
