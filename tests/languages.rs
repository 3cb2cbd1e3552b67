//! Models beside releases in other languages: what is not made for a language is refused, and rules
//! of English inflect English alone.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use fnstore::database::Database;
use fnstore::engine::{declare_languages, declared_languages};
use fnstore::expand::{self, Models, Recipe, RunOptions};
use fnstore::generate::{self, Generator};
use fnstore::model::{Declared, Languages, Pos};
use fnstore::query::Expression;
use fnstore::search::Answer;
use fnstore::transfer::ImportOptions;
use serde_json::json;
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore_in};
use crate::mini;

/// Runs the program on the store in `dir`, with an input.
fn fnstore_with(dir: &Path, arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env("FNSTORE_DIR", dir).args(arguments).write_stdin(input);
    Ran::of(command.output().unwrap())
}

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name)
}

fn options(language: &str) -> ImportOptions {
    ImportOptions { language: Some(language.to_owned()), ..ImportOptions::default() }
}

/// The mini lexicon, said to be in a language.
fn release_in(language: &str) -> (TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    database.import(&mini::framenet(), &options(language), &mut |_| {}).unwrap();
    (dir, database)
}

/// A release of texts with a target each: text, target, lemma, of the frame Inspecting.
fn texts_in(language: &str, texts: &[(&str, &str, Option<&str>)]) -> (TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let lines = texts.iter().map(|(text, target, lemma)| {
        let at = text.find(target).unwrap();
        let start = text[..at].chars().count();
        let end = start + target.chars().count();
        let mut span = json!({"start": start, "end": end, "type": "Inspecting", "pos": "v"});
        if let Some(lemma) = lemma {
            span["lemma"] = json!(lemma);
        }
        json!({"text": text, "id": text, "spans": [span]}).to_string()
    });
    let file = dir.path().join("texts.jsonl");
    std::fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    database.import_spans(&file, &options(language), &mut |_| {}).unwrap();
    (dir, database)
}

fn answers(database: &Database, query: &str) -> Vec<Answer> {
    let expression: Expression = query.parse().unwrap();
    database.query(&expression).unwrap().map(Result::unwrap).collect()
}

fn small_recipe() -> Recipe {
    let models = Models::search(&[shipped("")]).unwrap();
    Recipe { beam_size: 1, candidates: 1, ..Recipe::new(models) }
}

/// One round of one seed.
fn one() -> RunOptions {
    RunOptions { seed_limit: Some(1), ..RunOptions::rounds(1) }
}

#[test]
fn an_expansion_with_models_of_another_language_writes_nothing() {
    let (_dir, database) = release_in("fr");
    let query: Expression = "lu=inspect.v".parse().unwrap();
    let error = expand::run(&database, &query, &small_recipe(), &one()).unwrap_err();
    let error = error.to_string();
    for part in ["`paraphrase`", "made for `en`", "is `fr`", "M-language"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(answers(&database, "origin=generated").is_empty());
    database.allow_any_language(true);
    let report = expand::run(&database, &query, &small_recipe(), &one()).unwrap();
    assert_eq!(report.seeds, 4, "the run goes on where it is allowed");
}

#[test]
fn a_store_of_two_languages_expands_the_one_that_its_models_know() {
    let (_dir, database) = release_in("en-GB");
    let other = ImportOptions { release: Some("lv".to_owned()), ..options("lv") };
    database.import(&mini::framenet(), &other, &mut |_| {}).unwrap();
    let run = |query: &str| {
        let ran = expand::run(&database, &query.parse().unwrap(), &small_recipe(), &one());
        ran.map(|report| report.seeds).map_err(|error| error.to_string())
    };
    assert_eq!(run("lu=inspect.v release!=lv").unwrap(), 4);
    assert!(run("lu=inspect.v release=lv").unwrap_err().contains("`lv`"));
}

fn refused(ran: &Ran) {
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    for part in ["M-language", "made for `en`", "is `he`", "--any-language"] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
}

#[test]
fn every_command_that_joins_models_with_a_release_refuses() {
    let (dir, database) = release_in("he");
    drop(database);
    let out = dir.path().join("out");
    let out = out.to_str().unwrap();
    for arguments in [
        &["expand", "lu=inspect.v", "--model", "paraphrase"][..],
        &["expand", "lu=inspect.v", "--model", "paraphrase", "--dry-run"],
        &["annotate", "--no-fes"],
        &["annotate"],
        &["eval", "frames"],
        &["eval", "fes"],
        &["train", "frames", "--out", out],
        &["train", "fes", "--out", out],
        &["align", "tasks", "lu=inspect.v", "--model", "paraphrase"],
        &["experiment", "frame-id"],
        &["experiment", "fes"],
    ] {
        let ran = fnstore_with(dir.path(), arguments, b"They checked it.\n");
        refused(&ran);
    }
    assert!(!Path::new(out).exists(), "a training that is refused leaves nothing");
    let ran = fnstore_with(
        dir.path(),
        &["annotate", "--no-fes", "--any-language"],
        b"They checked it.\n",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn texts_in_a_named_language_want_a_model_for_it() {
    let store = tempfile::tempdir().unwrap();
    for arguments in [&["paraphrase", "--model", "paraphrase"][..], &["tag"], &["align", "spans"]] {
        let named = [arguments, &["--language", "he"]].concat();
        refused(&fnstore_with(store.path(), &named, b""));
        let own = [arguments, &["--language", "eng"]].concat();
        let ran = fnstore_with(store.path(), &own, b"");
        assert!(!ran.stderr.contains("M-language"), "{}", ran.stderr);
    }
    let any = ["tag", "--language", "he", "--any-language"];
    assert_eq!(fnstore_with(store.path(), &any, b"a b\n").code, Some(0));
}

#[test]
fn a_model_says_itself_what_it_is_made_for() {
    let models = tempfile::tempdir().unwrap();
    for name in ["tagger", "aligner-encoder"] {
        mini::copy(&shipped(name), &models.path().join(name));
    }
    let tagger = models.path().join("tagger");
    let place = models.path().to_str().unwrap();
    let tag = |language: &str| {
        let store = tempfile::tempdir().unwrap();
        let arguments = ["tag", "--models", place, "--language", language];
        fnstore_with(store.path(), &arguments, b"a b\n")
    };
    declare_languages(&tagger, &Languages::of(["lv", "he"]).unwrap()).unwrap();
    assert_eq!(tag("he").code, Some(0));
    let english = tag("en");
    assert_eq!(english.code, Some(2));
    assert!(english.stderr.contains("`lv, he`"), "{}", english.stderr);

    // Without a list of its own it is made for what its encoder is made for.
    std::fs::remove_file(tagger.join("languages.json")).unwrap();
    refused(&tag("he"));
    // One that says nothing is used, and a line says so.
    std::fs::remove_file(models.path().join("aligner-encoder/languages.json")).unwrap();
    let unknown = tag("he");
    assert_eq!(unknown.code, Some(0), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("`tagger` declares no language"), "{}", unknown.stderr);
    std::fs::write(tagger.join("languages.json"), "en").unwrap();
    let broken = tag("en");
    assert_eq!(broken.code, Some(2));
    assert!(broken.stderr.contains("languages.json") && broken.stderr.contains("M-language"));
}

#[test]
fn a_model_that_is_added_keeps_its_languages_and_the_list_shows_them() {
    let models = tempfile::tempdir().unwrap();
    let store = tempfile::tempdir().unwrap();
    let place = models.path().to_str().unwrap();
    let vectors = shipped("word-vectors");
    let add = |name: &str, more: &[&str]| {
        let vectors = vectors.to_str().unwrap();
        let arguments = ["model", "add", vectors, "--name", name, "--models", place];
        fnstore_in(store.path(), &[&arguments, more].concat())
    };
    assert_eq!(add("kept", &[]).code, Some(0));
    assert_eq!(add("told", &["--language", "fr,pt-BR"]).code, Some(0));
    assert_eq!(add("wrong", &["--language", "fr,"]).code, Some(2));
    let listed =
        fnstore_in(store.path(), &["model", "list", "--models", place, "--format", "jsonl"]);
    let languages: Vec<_> = listed.records().iter().map(|of| of["languages"].clone()).collect();
    assert_eq!(languages, [json!(["en"]), json!(["fr", "pt-BR"])]);
    let declared: Declared = declared_languages(&models.path().join("kept"));
    assert_eq!(declared.languages().and_then(Languages::only), Some("en"));
}

#[test]
fn a_span_without_a_lemma_is_lemmatised_in_english_alone() {
    let texts = [("Vi\u{146}a apskata m\u{101}jas .", "m\u{101}jas", None)];
    for (language, lemma) in [("en", "m\u{101}ja.v"), ("lv", "m\u{101}jas.v")] {
        let texts = texts.map(|(text, target, lemma)| (text, target, lemma));
        let (_dir, database) = texts_in(language, &texts);
        let found = answers(&database, "frame=Inspecting");
        assert_eq!(&*found[0].lexunit, lemma, "{language}");
    }
}

#[test]
fn the_forms_of_another_language_are_those_that_its_release_shows() {
    let (_dir, database) = texts_in(
        "fr",
        &[
            ("Elle v\u{e9}rifia la porte .", "v\u{e9}rifia", Some("v\u{e9}rifier")),
            ("Il a v\u{e9}rifi\u{e9} tout .", "v\u{e9}rifi\u{e9}", Some("v\u{e9}rifier")),
        ],
    );
    let french = database.lexicons().unwrap()[0].morphology().unwrap();
    let forms = ["v\u{e9}rifier", "v\u{e9}rifia", "v\u{e9}rifi\u{e9}"];
    let mut found = french.forms_of("v\u{e9}rifier", Pos::Verb);
    found[1..].sort();
    assert_eq!(found, forms);
    let banned = french.forms_of_trigger("v\u{e9}rifia", "v\u{e9}rifier", Pos::Verb);
    assert!(forms.iter().all(|form| banned.iter().any(|ban| ban == form)), "{banned:?}");
    assert!(banned.iter().all(|ban| !ban.to_lowercase().ends_with("ing")), "{banned:?}");
    let (_dir, english) = release_in("en");
    assert!(english.lexicons().unwrap()[0].morphology().unwrap().has_rules());
}

/// Gives an LU without sentences all that its sisters have: new triggers and the LU's lemma.
fn generated(language: &str) -> Vec<(String, String)> {
    let (_dir, database) = release_in(language);
    let query: Expression = "lu=verify.v".parse().unwrap();
    let recipe = generate::GenerationRecipe {
        candidates: 100,
        keep: 100,
        ..generate::GenerationRecipe::default()
    };
    let mut generator = Generator::copying();
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    generate::run_with(&database, &query, (&recipe, None), &mut generator, go_on).unwrap();
    let lemma = |answer: &Answer| answer.lexunit.rsplit_once('.').unwrap().0.to_owned();
    let found = answers(&database, "origin=generated");
    found.iter().map(|answer| (answer.trigger().to_lowercase(), lemma(answer))).collect()
}

#[test]
fn a_sister_stands_in_the_form_of_the_lemma_or_nowhere() {
    let (english, french) = (generated("en"), generated("fr"));
    assert!(english.iter().any(|(trigger, lemma)| trigger != lemma), "{english:?}");
    assert!(french.len() < english.len(), "{french:?}");
    for (trigger, lemma) in french {
        assert_eq!(trigger, lemma, "nobody knows another form");
    }
}
