//! Expansion whose outputs judges choose: what is written has their answers, and whoever asks them
//! again has nothing to add. The rewriter and the verifier are the tiny Llama: what they say means
//! nothing.

use std::ops::ControlFlow;
use std::path::Path;

use fnstore::database::Database;
use fnstore::engine::{Device, Numbers};
use fnstore::expand::{
    self, Choice, EndReason, ExpandError, Guidance, Judges, Models, Recipe, RecipeError,
    RewriterSource, RunOptions, Search, VerifierModels,
};
use fnstore::internals::WithStore as _;
use fnstore::model::{Coded, Provenance, Verification};
use fnstore::paraphrase::Paraphraser;
use fnstore::verify::Verifier;

use crate::language_parity::directory;
use crate::{mini, verifier_answers};

pub(crate) const SEEDS: &str = "frame=Checking origin=exemplar";

/// A verifier whose prompts take whole sentences, with the shipped weights of the choice.
pub(crate) fn verifier() -> tempfile::TempDir {
    let models = verifier_answers::models();
    let answers = "answers = [\"y\", \"n\"]\n";
    let prompts = format!(
        "format = 1\n[evokes]\nlines = [\"{{sentence}}?{{word}}\"]\n{answers}\
         [same_meaning]\nlines = [\"{{rewriting}}={{sentence}}\"]\n{answers}"
    );
    let place = models.path().join("verifier");
    std::fs::write(place.join("prompt.toml"), prompts).unwrap();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/verifier/choice.toml");
    std::fs::copy(shipped, place.join("choice.toml")).unwrap();
    models
}

pub(crate) fn recipe(models: &Path, choice: Choice) -> Recipe {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let base = models.join("base/model.gguf");
    let rewriter = RewriterSource::Model { directory: directory("lora"), base: Some(base.clone()) };
    let verifier = Some(VerifierModels { adapter: models.join("verifier"), base });
    let models = Models { rewriter, verifier, ..Models::search(&[shipped]).unwrap() };
    let recipe = Recipe { beam_size: 4, candidates: 4, choice, ..Recipe::new(models) };
    // What the tiny verifier says of frames means nothing.
    let recipe = Recipe { least_evokes: 0.0, ..recipe };
    // Bans that it is told of would take the room.
    Recipe { known_words: false, tell_bans: false, guidance: Guidance::None, ..recipe }
}

pub(crate) fn imported() -> (tempfile::TempDir, Database) {
    let (dir, database, _) = mini::imported();
    (dir, database)
}

/// What an expansion wrote, and what judges say of it.
pub(crate) fn written(database: &Database) -> Vec<(String, Option<Verification>)> {
    let answers = database.query(&"origin=generated".parse().unwrap()).unwrap();
    let all = answers.map(|answer| {
        let answer = answer.unwrap();
        assert!(matches!(answer.set.provenance, Provenance::Generated(_)));
        (answer.sentence.text, answer.verification)
    });
    all.collect()
}

/// Asks about all that was generated, as `fnstore verify` does: sets looked at, and written.
pub(crate) fn asked_again(database: &Database, models: &Path) -> (u64, u64) {
    let (adapter, base) = (models.join("verifier"), models.join("base/model.gguf"));
    let numbers = Numbers::default();
    let rewriter =
        Paraphraser::open_with(&directory("lora"), Some(&base), &Device::cpu(), numbers).unwrap();
    let verifier = Verifier::open(&adapter, &base, &Device::cpu(), numbers).unwrap();
    let mut judges = Judges { verifier, rewriter: Some(rewriter) };
    let mut on = |_| ControlFlow::Continue(());
    let all = "origin=generated".parse().unwrap();
    let verified = expand::verify(database, &all, &mut judges, &mut on).unwrap();
    (verified.sets, verified.written)
}

#[test]
fn chosen_outputs_have_the_answers_that_a_verifier_gives_them() {
    let models = verifier();
    let recipe = recipe(models.path(), Choice::Judged);
    let (_dir, database) = imported();
    let seeds = SEEDS.parse().unwrap();
    expand::run(&database, &seeds, &recipe, &RunOptions::rounds(2)).unwrap();
    let sets = written(&database);
    assert!(sets.len() > 2, "{sets:?}");
    assert!(sets.iter().any(|(_, said)| said.is_some_and(|said| said.same_meaning.is_some())));
    for (text, said) in &sets {
        let said = said.unwrap_or_else(|| panic!("nobody was asked about {text}"));
        said.check_ranges().unwrap();
    }
    assert_eq!(asked_again(&database, models.path()), (sets.len() as u64, 0));
}

#[test]
fn a_round_keeps_another_output_where_judges_prefer_it() {
    let models = verifier();
    let texts = |choice| {
        let (_dir, database) = imported();
        let recipe = recipe(models.path(), choice);
        let seeds = SEEDS.parse().unwrap();
        let report = expand::run(&database, &seeds, &recipe, &RunOptions::rounds(1)).unwrap();
        let (_, print, _) = database.store().recipes().unwrap()[report.recipe.0 as usize - 1];
        (written(&database).into_iter().map(|(text, _)| text).collect::<Vec<_>>(), print)
    };
    let (likeliest, usual) = texts(Choice::FewestFailedChecks);
    let (chosen, judged) = texts(Choice::Judged);
    assert_eq!(chosen.len(), likeliest.len());
    assert_ne!(chosen, likeliest, "four outputs of {} seeds", chosen.len());
    // Other weights are another recipe.
    let file = models.path().join("verifier/choice.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("bias = -", "bias = ", 1)).unwrap();
    let (_, other) = texts(Choice::Judged);
    assert!(usual != judged && judged != other && usual != other);
}

#[test]
fn who_asks_about_one_output_keeps_the_likeliest_with_its_answers() {
    let models = verifier();
    let texts = |recipe: &Recipe| {
        let (_dir, database) = imported();
        let rounds = RunOptions::rounds(1);
        expand::run(&database, &SEEDS.parse().unwrap(), recipe, &rounds).unwrap();
        written(&database)
    };
    let asked_one = Recipe { asked: 1, ..recipe(models.path(), Choice::Judged) };
    let (one, likeliest) =
        (texts(&asked_one), texts(&recipe(models.path(), Choice::FewestFailedChecks)));
    // Ids go by the recipe, and sets by their ids.
    let sorted = |all: &[(String, _)]| {
        let mut texts: Vec<String> = all.iter().map(|(text, _)| text.clone()).collect();
        texts.sort();
        texts
    };
    assert_eq!(sorted(&one), sorted(&likeliest));
    assert!(one.iter().all(|(_, said)| said.is_some()));
    assert!(likeliest.iter().all(|(_, said)| said.is_none()));
}

#[test]
fn judges_choose_by_default_without_a_lexicon_where_the_rewriter_adapts_their_language_model() {
    let models = verifier();
    let of = recipe(models.path(), Choice::Aligner).models;
    let default = |models: &Models| {
        let recipe = Recipe::new(models.clone());
        (recipe.choice, recipe.least_evokes)
    };
    let usual = (Choice::FewestFailedChecks, 0.0);
    assert_eq!(default(&of), usual, "the lexicon guides");
    let of = Models { guide: None, ..of };
    assert_eq!(default(&of), (Choice::Judged, 0.7));
    let other = VerifierModels { base: "another".into(), ..of.verifier.clone().unwrap() };
    for verifier in [None, Some(other)] {
        assert_eq!(default(&Models { verifier, ..of.clone() }), usual);
    }
}

#[test]
fn what_the_verifier_doubts_is_not_written_and_ends_the_chain() {
    let models = verifier();
    let (_dir, database) = imported();
    let least = |least_evokes, choice| Recipe { least_evokes, ..recipe(models.path(), choice) };
    let rounds = RunOptions::rounds(3);
    let run = |recipe: &Recipe| {
        expand::run(&database, &SEEDS.parse().unwrap(), recipe, &rounds).map_err(Box::new)
    };
    let plain = run(&least(0.0, Choice::Judged)).unwrap();
    assert!(!plain.ended.contains_key(&EndReason::UnlikelyFrame));
    let sets = written(&database);
    // Of what is too long to be asked about nobody doubts anything.
    let evokes = |(_, said): &(String, Option<Verification>)| said.unwrap().evokes.unwrap_or(1.0);
    let asked = sets.iter().map(evokes).filter(|evokes| *evokes < 1.0);
    let best = asked.fold(0.0, f32::max);
    let report = run(&least(best, Choice::Judged)).unwrap();
    assert!(report.ended[&EndReason::UnlikelyFrame] > 0, "{report:?}");
    let all = written(&database);
    assert!(
        all.len() > sets.len() && all.len() < 2 * sets.len(),
        "{} of {}",
        all.len(),
        sets.len()
    );
    let lasting = |sets: &[(String, Option<Verification>)]| {
        sets.iter().filter(|set| evokes(set) < best).count()
    };
    assert_eq!(lasting(&all), lasting(&sets), "nothing that is doubted was written");
    for (share, choice) in [(0.5, Choice::FewestFailedChecks), (1.5, Choice::Judged)] {
        let error = run(&least(share, choice)).unwrap_err();
        let is_refused = matches!(
            *error,
            ExpandError::Recipe(RecipeError::LeastEvokes { found }) if found == share
        );
        assert!(is_refused, "{error}");
    }
}

#[test]
fn outputs_that_are_drawn_are_the_same_in_every_run_and_of_a_recipe_of_their_own() {
    let models = verifier();
    let run = |search| {
        let (_dir, database) = imported();
        let recipe = Recipe {
            search,
            candidates: 6,
            beam_size: if search == Search::Beam { 6 } else { 4 },
            ..recipe(models.path(), Choice::Judged)
        };
        let rounds = RunOptions::rounds(1);
        let report = expand::run(&database, &SEEDS.parse().unwrap(), &recipe, &rounds).unwrap();
        let (_, print, _) = database.store().recipes().unwrap()[report.recipe.0 as usize - 1];
        (written(&database).into_iter().map(|(text, _)| text).collect::<Vec<_>>(), print)
    };
    let (drawn, recipe) = run(Search::Samples);
    assert_eq!(run(Search::Samples), (drawn.clone(), recipe));
    let (searched, other) = run(Search::Beam);
    assert_ne!(drawn, searched);
    assert_ne!(recipe, other);
}

#[test]
fn without_judges_the_recipe_is_refused_before_anything_is_written() {
    let models = verifier();
    let mut recipe = recipe(models.path(), Choice::Judged);
    std::fs::remove_file(models.path().join("verifier/choice.toml")).unwrap();
    let (_dir, database) = imported();
    let run = |recipe: &Recipe| {
        let seeds = SEEDS.parse().unwrap();
        expand::run(&database, &seeds, recipe, &RunOptions::rounds(1)).unwrap_err()
    };
    let error = run(&recipe);
    assert!(error.to_string().contains("choice.toml"), "{error}");
    recipe.models.verifier = None;
    let error = run(&recipe);
    assert!(matches!(error, ExpandError::Recipe(RecipeError::VerifierMissing)), "{error}");
    assert_eq!(error.code(), Some("M-verifier"));
    assert_eq!(written(&database), []);
}
