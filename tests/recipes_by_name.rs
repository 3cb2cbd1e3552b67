//! Recipes by name: what `recipes show` prints, and that `expand --recipe` does what it says.

use std::path::Path;

use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, new_store};

fn expand(store: &Path, recipe: &str, more: &[&str]) -> Ran {
    let arguments = ["expand", "lu=inspect.v", "--model", "paraphrase", "--recipe", recipe];
    fnstore_in(store, &[&arguments[..], more].concat())
}

fn settings(store: &Path) -> Vec<Value> {
    let mut records = fnstore_in(store, &["recipes", "--format", "jsonl"]).records();
    records.iter_mut().map(|record| record["settings"].take()).collect()
}

fn generated(store: &Path) -> Vec<Value> {
    fnstore_in(store, &["query", "origin=generated", "--format", "jsonl"]).records()
}

#[test]
fn a_recipe_that_is_printed_into_a_file_is_the_same_recipe() {
    let store = new_store();
    let names = fnstore_in(store.path(), &["recipes", "show"]);
    assert_eq!(names.code, Some(0), "{names:?}");
    for name in ["culkin-large", "culkin-scratch", "discover", "lexicon", "scratch"] {
        assert!(names.stdout.lines().any(|line| line.starts_with(name)), "{}", names.stdout);
    }
    let file = store.path().with_extension("toml");
    let printed = fnstore_in(store.path(), &["recipes", "show", "culkin-large"]).stdout;
    std::fs::write(&file, &printed).unwrap();
    let few = ["--rounds", "1", "--limit", "1"];
    assert_eq!(expand(store.path(), "culkin-large", &few).code, Some(0));
    let again = expand(store.path(), file.to_str().unwrap(), &["--rounds", "1"]);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let settings = settings(store.path());
    assert_eq!(settings.len(), 1, "{settings:?}");
    assert_eq!((&settings[0]["beam_size"], &settings[0]["candidates"]), (&20.into(), &3.into()));
}

#[test]
fn the_papers_recipe_gives_every_seed_an_output_a_round_and_stands_beside_another() {
    let store = new_store();
    let plain = expand(store.path(), "culkin-large", &["--rounds", "2"]);
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    let seeds = fnstore_in(store.path(), &["query", "lu=inspect.v origin!=generated", "--count"]);
    let seeds: usize = seeds.stdout.trim().parse().unwrap();
    let outputs = generated(store.path());
    assert_eq!(outputs.len(), 2 * seeds, "{outputs:?}");
    for of_seed in outputs.iter().map(|output| &output["generation"]["seed"]) {
        let own = outputs.iter().filter(|output| output["generation"]["seed"] == *of_seed);
        assert_eq!(own.count(), 2, "{of_seed}");
    }
    let other = expand(store.path(), "lexicon", &["--rounds", "1", "--beam", "4"]);
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    let told = "other recipes wrote of the same seeds";
    assert!(!plain.stderr.contains(told), "{}", plain.stderr);
    let finds = format!("{} annotation sets by `recipe=1`", 2 * seeds);
    assert!(other.stderr.contains(told) && other.stderr.contains(&finds), "{}", other.stderr);
    let settings = settings(store.path());
    assert_eq!(settings.len(), 2);
    let said: Vec<&str> = settings.iter().map(|one| one["choice"].as_str().unwrap()).collect();
    assert!(said.contains(&"aligner") && said.contains(&"fewest-failed-checks"), "{said:?}");
    assert!(settings.iter().any(|one| one["tell_bans"] == false && one["mark"].is_null()));
}

#[test]
fn discovery_never_writes_a_sentence_for_an_lu_that_the_frame_has() {
    let store = new_store();
    let known =
        fnstore_in(store.path(), &["lus", "--frame", "Checking", "--format", "jsonl"]).records();
    let known: Vec<&str> = known.iter().map(|lu| lu["name"].as_str().unwrap()).collect();
    assert!(known.contains(&"check.v") && known.contains(&"inspect.v"), "{known:?}");
    let ran = expand(store.path(), "discover", &["--rounds", "2", "--beam", "8"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let outputs = generated(store.path());
    assert!(!outputs.is_empty(), "{}", ran.stdout);
    for output in outputs {
        let lu = output["lu"].as_str().unwrap();
        assert!(!known.contains(&lu), "{output}");
    }
}

#[test]
fn a_recipe_that_cannot_be_had_is_refused_and_nothing_is_written() {
    let store = new_store();
    let unknown = expand(store.path(), "culkin", &[]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    for part in ["`culkin`", "culkin-large, culkin-scratch, discover, lexicon", "R-name"] {
        assert!(unknown.stderr.contains(part), "{}", unknown.stderr);
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "rounds = 2\nbeam-size = 7\n").unwrap();
    let wrong = expand(store.path(), file.path().to_str().unwrap(), &[]);
    assert_eq!(wrong.code, Some(65), "{wrong:?}");
    for part in ["line 2", "unknown field `beam-size`", "`beam`", "R-toml"] {
        assert!(wrong.stderr.contains(part), "{}", wrong.stderr);
    }
    std::fs::write(file.path(), "beam = 5\ncandidates = 9\n").unwrap();
    let wrong = expand(store.path(), file.path().to_str().unwrap(), &[]);
    assert!(wrong.stderr.contains("number of candidates is 9"), "{}", wrong.stderr);
    let recipes = fnstore_in(store.path(), &["recipes"]);
    assert_eq!(recipes.code, Some(1), "nothing was expanded");
}

#[test]
fn what_only_a_language_model_says_is_asked_of_no_other_rewriter() {
    let store = new_store();
    for arguments in [&["--recipe", "scratch"][..], &["--guide", "context"]] {
        let asked = ["expand", "lu=inspect.v", "--model", "paraphrase"];
        let ran = fnstore_in(store.path(), &[&asked[..], arguments].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("A-prompt"), "{}", ran.stderr);
    }
    assert!(settings(store.path()).is_empty() && generated(store.path()).is_empty());
}
