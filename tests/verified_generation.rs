//! `fnstore generate` beside a verifier: what it stores has the verifier's answers. Else it is what
//! it stores without one. The verifier is the tiny Llama: what it says means nothing.

use std::ops::ControlFlow;
use std::path::Path;

use fnstore::database::Database;
use fnstore::engine::{Device, Numbers};
use fnstore::expand::VerifierModels;
use fnstore::generate::{
    GenerationProgress, GenerationRecipe, GenerationReport, Generator, run_with,
};
use fnstore::internals::WithStore as _;
use fnstore::query::Expression;
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::generating::made;
use crate::judged_expansion::{asked_again, verifier, written};
use crate::mini;

/// What copies sentences of sisters and asks the verifier of a directory of models.
fn asking(models: &Path) -> Generator {
    let base = models.join("base/model.gguf");
    let models = VerifierModels { adapter: models.join("verifier"), base };
    let at = (&Device::cpu(), Numbers::default());
    Generator::copying().verifying(&models, at, Vec::new()).unwrap()
}

/// Two sentences for each LU without any, until so many are written.
fn run(database: &Database, generator: &mut Generator, most: u64) -> GenerationReport {
    let recipe = GenerationRecipe { candidates: 2, keep: 2, ..GenerationRecipe::default() };
    let progress = &mut |at: &GenerationProgress| match at.sentences < most {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    run_with(database, &Expression::Everything, (&recipe, None), generator, progress).unwrap()
}

#[test]
fn sentences_have_answers_and_are_otherwise_what_they_are_without_a_verifier() {
    let models = verifier();
    let ((_one, asked, _), (_two, plain, _)) = (mini::imported(), mini::imported());
    let report = run(&asked, &mut asking(models.path()), u64::MAX);
    let without = run(&plain, &mut Generator::copying(), u64::MAX);
    let prints = |database: &Database| {
        let recipes = database.store().recipes().unwrap();
        recipes.into_iter().map(|(_, print, _)| print).collect::<Vec<_>>()
    };
    assert_eq!(prints(&asked), prints(&plain));
    assert_eq!(made(&asked), made(&plain));
    let mut same = report.clone();
    (same.verified, same.elapsed) = (None, without.elapsed);
    assert_eq!(same, without);

    let sets = written(&asked);
    assert!(sets.len() > 4 && sets.len() as u64 == report.sentences, "{report:?}");
    let said: Vec<_> = sets.iter().map(|(text, said)| said.expect(text)).collect();
    let answered = said.iter().filter(|said| said.evokes.is_some()).count() as u64;
    assert!(answered > 0 && report.verified == Some(answered), "{report:?}");
    assert!(said.iter().all(|said| said.same_meaning.is_none() && said.reverse.is_none()));
    said.iter().for_each(|said| said.check_ranges().unwrap());
    assert!(written(&plain).iter().all(|(_, said)| said.is_none()));
    assert_eq!(asked_again(&asked, models.path()), (sets.len() as u64, 0));
    assert_eq!(asked_again(&plain, models.path()), (sets.len() as u64, sets.len() as u64));
    assert_eq!(written(&plain), sets, "who asks later hears the same");
}

#[test]
fn a_run_that_was_stopped_has_the_same_answers_in_the_end() {
    let models = verifier();
    let ((_one, whole, _), (_two, stopped, _)) = (mini::imported(), mini::imported());
    run(&whole, &mut asking(models.path()), u64::MAX);
    let first = run(&stopped, &mut asking(models.path()), 1);
    assert!(first.interrupted && first.sentences < written(&whole).len() as u64, "{first:?}");
    assert!(written(&stopped).iter().all(|(_, said)| said.is_some()));
    run(&stopped, &mut asking(models.path()), u64::MAX);
    assert_eq!(written(&stopped), written(&whole));
}

/// Runs the program with the models of one directory alone.
fn generate(store: &Path, models: &Path, more: &[&str]) -> Ran {
    let own = ["generate", "--models", models.to_str().unwrap(), "--device", "cpu"];
    fnstore_in(store, &[&own, more, &["--format", "json"]].concat())
}

/// The report of a run that ends well, and how many of its sets have answers.
fn generated(models: &Path, more: &[&str]) -> (Value, u64, String) {
    let store = new_store();
    let ran = generate(store.path(), models, more);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let count = fnstore_in(store.path(), &["query", "evokes>=0", "--count"]).stdout;
    (ran.document("generate.schema.json"), count.trim().parse().unwrap(), ran.stderr)
}

#[test]
fn the_usual_verifier_is_asked_where_it_is_at_hand() {
    let (models, store) = (verifier(), new_store());
    let dry = generate(store.path(), models.path(), &["--dry-run"]);
    assert_eq!(dry.code, Some(0), "{dry:?}");
    let ran = generate(store.path(), models.path(), &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report = ran.document("generate.schema.json");
    assert!(report["verified"].as_u64() > Some(0), "{report}");
    let place = models.path().to_str().unwrap();
    let verify =
        ["verify", "origin=generated", "--models", place, "--device", "cpu", "--format", "json"];
    let verified = fnstore_in(store.path(), &verify).document("verify.schema.json");
    assert_eq!((&verified["sets"], &verified["written"]), (&report["sentences"], &json!(0)));
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));

    let (named, count, _) =
        generated(models.path(), &["--model", "none", "--verifier", "verifier"]);
    assert!(count > 0 && named["verified"] == json!(count), "{named}");
    for unwanted in [["--verifier", "none"], ["--model", "none"]] {
        let (report, count, said) = generated(models.path(), &unwanted);
        assert_eq!((&report["verified"], count), (&Value::Null, 0), "{unwanted:?}");
        assert!(!said.contains("nothing is said of"), "{said}");
    }
}

#[test]
fn where_nobody_can_be_asked_one_line_says_so_and_who_is_named_is_refused() {
    let models = verifier();
    let adapter = models.path().join("verifier");
    let check = |why: &str| {
        let (report, count, said) = generated(models.path(), &[]);
        assert!(report["sentences"].as_u64() > Some(0) && report["verified"].is_null(), "{report}");
        let lines: Vec<&str> =
            said.lines().filter(|line| line.contains("nothing is said of `evokes`: ")).collect();
        assert!(count == 0 && lines.len() == 1 && lines[0].contains(why), "{why}: {said}");
        let store = new_store();
        let refused = generate(store.path(), models.path(), &["--verifier", "verifier"]);
        assert!(refused.code > Some(1) && refused.stderr.contains(why), "{why}: {refused:?}");
        let sets = fnstore_in(store.path(), &["query", "origin=generated", "--count"]).stdout;
        assert_eq!(sets, "0\n", "{why}");
    };
    std::fs::write(adapter.join("languages.json"), "[\"de\"]").unwrap();
    check("`de`");
    std::fs::remove_file(adapter.join("languages.json")).unwrap();
    std::fs::remove_file(models.path().join("base/model.gguf")).unwrap();
    check("model.gguf");
    std::fs::remove_dir_all(&adapter).unwrap();
    check("no model `verifier`");
}
