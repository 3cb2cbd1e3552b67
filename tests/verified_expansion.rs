//! Expansion that asks a verifier about what it keeps, and chooses without it. The verifier is the
//! tiny Llama: what it says means nothing.

use std::path::Path;

use assert_cmd::Command;
use fnstore::expand::{self, Choice, ExpandError, RecipeError, RunOptions};
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSet, Coded};

use crate::cli_program::{Ran, new_store};
use crate::judged_expansion::{SEEDS, asked_again, imported, recipe, verifier, written};
use crate::shards::{copy_of, export, merge, ok};

fn rounds(rounds: u16, verify: bool) -> RunOptions {
    RunOptions { verify, ..RunOptions::rounds(rounds) }
}

#[test]
fn what_is_kept_has_answers_and_is_otherwise_what_it_is_without_them() {
    let models = verifier();
    let recipe = recipe(models.path(), Choice::FewestFailedChecks);
    let grown = |verify| {
        let (dir, database) = imported();
        let seeds = SEEDS.parse().unwrap();
        let report = expand::run(&database, &seeds, &recipe, &rounds(2, verify)).unwrap();
        let (_, print, _) = database.store().recipes().unwrap()[report.recipe.0 as usize - 1];
        let all = database.query(&"origin=generated".parse().unwrap()).unwrap();
        let sets: Vec<AnnotationSet> = all.map(|answer| answer.unwrap().set).collect();
        (dir, database, print, sets)
    };
    let ((_one, asked, print, sets), (_two, plain, other, others)) = (grown(true), grown(false));
    assert!(sets.len() > 2, "{sets:?}");
    assert_eq!((print, &sets), (other, &others));
    let said = written(&asked);
    assert!(said.iter().all(|(_, said)| said.is_some()), "{said:?}");
    assert!(said.iter().any(|(_, said)| said.is_some_and(|said| said.same_meaning.is_some())));
    assert!(written(&plain).iter().all(|(_, said)| said.is_none()));
    assert_eq!(asked_again(&asked, models.path()), (sets.len() as u64, 0));
}

#[test]
fn where_nobody_can_be_asked_nothing_is_written() {
    let models = verifier();
    let mut recipe = recipe(models.path(), Choice::FewestFailedChecks);
    let (_dir, database) = imported();
    std::fs::write(models.path().join("verifier/languages.json"), "[\"de\"]").unwrap();
    let seeds = SEEDS.parse().unwrap();
    let error = expand::run(&database, &seeds, &recipe, &rounds(1, true)).unwrap_err();
    assert_eq!(error.code(), Some("M-language"), "{error}");
    recipe.models.verifier = None;
    let error = expand::run(&database, &seeds, &recipe, &rounds(1, true)).unwrap_err();
    assert!(matches!(error, ExpandError::Recipe(RecipeError::NobodyToAsk)), "{error}");
    assert_eq!(error.code(), Some("M-verifier"));
    assert_eq!(written(&database), []);
}

/// Expands a little with a rewriter that has no language model.
fn grow(store: &Path, models: &Path, more: &[&str]) -> Ran {
    let expand = ["expand", "lu=audit.v", "--model", "paraphrase", "--beam", "4", "--rounds", "1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env("FNSTORE_DIR", store).env("FNSTORE_MODELS", models);
    Ran::of(command.args(expand).args(["--device", "cpu"]).args(more).output().unwrap())
}

/// What an export has beside answers and its end, which counts them.
fn without_answers(lines: &str) -> Vec<&str> {
    let is_other = |line: &&str| {
        !["verification", "end"].iter().any(|kind| line.contains(&format!("\"kind\":\"{kind}\"")))
    };
    lines.lines().filter(is_other).collect()
}

#[test]
fn a_shard_carries_answers_about_what_is_kept() {
    let models = verifier();
    let (base, dirs) = (new_store(), [(); 3].map(|()| tempfile::tempdir().unwrap()));
    let [plain, asked, merged] = dirs.each_ref().map(|dir| copy_of(base.path(), dir.path()));
    let verifier = ["--verifier", "verifier"];
    ok(grow(&plain, models.path(), &[]));
    ok(grow(&asked, models.path(), &verifier));
    let file = models.path().join("shard.zst");
    let shard = ["--shard", "1/1", "--out", file.to_str().unwrap()];
    ok(grow(&merged, models.path(), &[&shard[..], &verifier].concat()));
    ok(merge(&merged, &[&file]));
    let exports = [plain, asked, merged].map(|store| export(&store));
    let count = |lines: &str| lines.matches("\"kind\":\"verification\"").count();
    assert!(count(&exports[1]) > 0 && count(&exports[0]) == 0, "{}", exports[1]);
    assert_eq!(without_answers(&exports[1]), without_answers(&exports[0]));
    assert_eq!(exports[2], exports[1]);
    let refused = grow(base.path(), models.path(), &["--verifier", "nowhere"]);
    assert!(
        refused.code == Some(69) && refused.stderr.contains("no model `nowhere`"),
        "{refused:?}"
    );
}
