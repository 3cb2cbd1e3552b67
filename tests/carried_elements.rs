//! FEs of a seed in what was made of it: found, flagged, required, stored, exported, counted.

use std::collections::BTreeMap;
use std::path::Path;

use fnstore::database::Database;
use fnstore::expand::{self, Guidance, KeepElements, Models, Recipe, RunOptions};
use fnstore::lexicon::observed_valences;
use fnstore::model::{Extent, FeStatus, Generation, LayerName, Provenance};
use fnstore::search::Answer;
use fnstore::text::natural_spacing;
use fnstore::transfer::ImportOptions;

use crate::cli_program::{fnstore_in, new_store};

const SEEDS: &str = "frame=Checking origin=exemplar";

/// One round of six seeds.
fn six() -> RunOptions {
    RunOptions { seed_limit: Some(6), ..RunOptions::rounds(1) }
}

fn recipe(keep_fe: KeepElements) -> Recipe {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let models = Models { guide: None, ..Models::search(&[models]).unwrap() };
    let guidance = Guidance::None;
    Recipe { beam_size: 4, candidates: 2, guidance, keep_fe, ..Recipe::new(models) }
}

/// A store with the mini lexicon, expanded.
fn expanded(keep_fe: KeepElements) -> (tempfile::TempDir, Database, expand::Report) {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    let lexicon = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet");
    database.import(&lexicon, &ImportOptions::default(), &mut |_| {}).unwrap();
    let report = expand::run(&database, &SEEDS.parse().unwrap(), &recipe(keep_fe), &six()).unwrap();
    (dir, database, report)
}

fn answers(database: &Database, query: &str) -> Vec<Answer> {
    database.query(&query.parse().unwrap()).unwrap().map(Result::unwrap).collect()
}

/// The generated sets, each with its seed.
fn pairs(database: &Database) -> Vec<(Answer, Answer)> {
    let seeds: BTreeMap<String, Answer> =
        answers(database, SEEDS).into_iter().map(|seed| (seed.set.id.to_string(), seed)).collect();
    let made = answers(database, "origin=generated").into_iter();
    made.map(|answer| (seeds[&generation(&answer).seed.to_string()].clone(), answer)).collect()
}

fn generation(answer: &Answer) -> &Generation {
    match &answer.set.provenance {
        Provenance::Generated(made) => made,
        other => panic!("{other:?}"),
    }
}

/// Name and words of each FE that has words; null instantiations by their kind.
fn elements(answer: &Answer) -> Vec<(String, String)> {
    let labels = answer.set.fe_layers().flat_map(|layer| &layer.labels);
    let named = labels.filter_map(|label| match &label.extent {
        Extent::Overt(span) => {
            Some((label.name.clone(), span.of(&answer.sentence.text)?.to_owned()))
        }
        Extent::Null(kind) => Some((label.name.clone(), kind.as_str().to_owned())),
        Extent::None => None,
    });
    named.collect()
}

#[test]
fn each_fe_is_found_or_said_not_to_be() {
    let (_dir, database, report) = expanded(KeepElements::Align);
    let (mut found, mut lost) = (0, 0);
    for (seed, answer) in pairs(&database) {
        assert_eq!(answer.set.fe_status, FeStatus::Carried);
        let made = generation(&answer);
        let named: Vec<&String> = made.elements.iter().map(|element| &element.name).collect();
        let overt = seed.set.fe_layers().flat_map(|layer| &layer.labels);
        let overt: Vec<&String> =
            overt.filter(|label| label.extent.span().is_some()).map(|label| &label.name).collect();
        assert_eq!(named, overt, "{}", answer.set.id);
        let here = |name: &str| elements(&answer).iter().filter(|(other, _)| other == name).count();
        for element in &made.elements {
            match element.score {
                Some(score) => assert!((0.0..=1.0).contains(&score) && here(&element.name) > 0),
                None => lost += 1,
            }
        }
        found += made.elements.iter().filter(|element| element.score.is_some()).count() as u64;
        let is_lost = made.elements.iter().any(|element| element.score.is_none());
        assert_eq!(made.flags.lost_element, is_lost);
        // Null instantiations stay what they were.
        let nulls = |answer: &Answer| {
            let labels = answer.set.fe_layers().flat_map(|layer| layer.labels.clone());
            labels
                .filter(|label| matches!(label.extent, Extent::Null(_)))
                .map(|l| l.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(nulls(&answer), nulls(&seed));
    }
    let tally = report.elements;
    assert_eq!((tally.found, tally.lost), (found, lost));
    assert!(found >= 6, "the rewriter hardly changes these sentences: {tally:?}");
    assert!(tally.with_core <= tally.sentences && tally.sentences == report.sentences);
}

#[test]
fn gf_and_pt_stay_with_words_that_stayed() {
    let (_dir, database, _) = expanded(KeepElements::Align);
    let (mut stayed, mut changed) = (0, 0);
    for (seed, answer) in pairs(&database) {
        let words = |text: &str| text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
        let of_seed: Vec<(String, String)> =
            elements(&seed).into_iter().map(|(name, text)| (name, words(&text))).collect();
        for layer in
            answer.set.layers.iter().filter(|layer| layer.name == LayerName::Fe && layer.rank == 1)
        {
            for label in &layer.labels {
                let Some(span) = label.extent.span() else { continue };
                let same = of_seed.contains(&(
                    label.name.clone(),
                    words(span.of(&answer.sentence.text).unwrap()),
                ));
                let is_described = answer.set.layers.iter().any(|layer| {
                    matches!(layer.name, LayerName::Gf | LayerName::Pt)
                        && layer.labels.iter().any(|other| other.extent == label.extent)
                });
                stayed += u32::from(same && is_described);
                changed += u32::from(!same);
                assert!(same || !is_described, "{} in {}", label.name, answer.sentence.text);
            }
        }
    }
    assert!(stayed > 0, "{stayed} stayed, {changed} changed");
}

#[test]
fn exact_keeps_the_words_of_every_fe() {
    let (_dir, database, report) = expanded(KeepElements::Exact);
    assert!(report.sentences > 0);
    for (seed, answer) in pairs(&database) {
        if generation(&answer).flags.unmet {
            continue;
        }
        let target = seed.trigger().to_lowercase();
        for label in seed.set.fe_layers().flat_map(|layer| &layer.labels) {
            let Some(span) = label.extent.span() else { continue };
            let text = natural_spacing(span.of(&seed.sentence.text).unwrap());
            if !text.to_lowercase().contains(&target) {
                // Where a phrase began or begins a sentence its first letter may change.
                let output = &answer.sentence.text;
                assert!(
                    output.to_lowercase().contains(&text.to_lowercase()),
                    "`{text}` in {output}"
                );
            }
        }
    }
}

#[test]
fn ways_to_keep_fes_are_recipes_side_by_side() {
    let (_dir, database, first) = expanded(KeepElements::Align);
    let seeds = SEEDS.parse().unwrap();
    let none = expand::run(&database, &seeds, &recipe(KeepElements::None), &six()).unwrap();
    assert_ne!(none.recipe, first.recipe);
    assert_eq!(none.elements, expand::CarriedTally::default());
    let plain = answers(&database, &format!("recipe={}", none.recipe.0));
    assert!(
        plain
            .iter()
            .all(|answer| answer.set.fe_status == FeStatus::Unknown && elements(answer).is_empty())
    );
    // The sentences are the same: looking for FEs decides nothing.
    let texts = |id| {
        let answers = answers(&database, &format!("recipe={id}"));
        answers.into_iter().map(|answer| answer.sentence.text).collect::<Vec<_>>()
    };
    let (mut with, mut without) = (texts(first.recipe.0), texts(none.recipe.0));
    with.sort();
    without.sort();
    assert_eq!(with, without);
}

#[test]
fn valence_counts_generated_sentences() {
    let (_dir, database, _) = expanded(KeepElements::Align);
    let sets: Vec<_> =
        answers(&database, "origin=generated").into_iter().map(|answer| answer.set).collect();
    let valences = observed_valences(&sets);
    assert!(valences.realizations.iter().any(|one| one.elements == ["Checker"]), "{valences:?}");
}

#[test]
fn carried_fes_come_back_from_json_lines() {
    let (dir, database, report) = expanded(KeepElements::Align);
    drop(database);
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("all.jsonl");
    let path = file.to_str().unwrap();
    let ran = fnstore_in(dir.path(), &["export", "--to", "jsonl", path]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let copy = tempfile::tempdir().unwrap();
    let ran = fnstore_in(copy.path(), &["import", path]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let hits = |store: &Path| {
        fnstore_in(store, &["query", "origin=generated", "--format", "jsonl"]).stdout
    };
    assert_eq!(hits(copy.path()).lines().count() as u64, report.sentences);
    assert_eq!(hits(copy.path()), hits(dir.path()));
}

#[test]
fn the_program_says_what_was_carried_and_refuses_other_words() {
    let store = new_store();
    let run = |arguments: &[&str]| fnstore_in(store.path(), arguments);
    let wrong = run(&["expand", "frame=Checking", "--keep-fe", "some"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    let expand =
        ["expand", SEEDS, "--model", "paraphrase", "--rounds", "1", "--beam", "4", "--limit", "3"];
    let ran = run(&expand);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("FEs carried over"), "{}", ran.stdout);
    let shown = run(&["query", "origin=generated fe=Checker", "--format", "table"]);
    assert!(shown.stdout.contains("Checker"), "{}{}", shown.stdout, shown.stderr);
}
