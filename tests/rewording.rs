//! Expansion that bans content words beside the trigger, with the shipped models.

use std::collections::BTreeMap;

use fnstore::database::Database;
use fnstore::expand::{self, Models, Recipe};
use fnstore::model::{AnnotationSetId, Provenance};
use fnstore::text::{fold, words};

use crate::mini;

fn recipe(reword: f32, rounds: u16) -> Recipe {
    let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let models = Models::search(&[models]).unwrap();
    Recipe { beam_size: 4, candidates: 4, reword, rounds, ..Recipe::new(models) }
}

fn expand(database: &Database, recipe: &Recipe) {
    expand::run(database, &"lu=inspect.v".parse().unwrap(), recipe).unwrap();
}

/// The outputs with their seeds' sentences, by id.
fn outputs(database: &Database) -> BTreeMap<AnnotationSetId, (String, String, u16)> {
    let answers = database.query(&"origin=generated".parse().unwrap()).unwrap();
    let outputs = answers.map(|answer| {
        let answer = answer.unwrap();
        let Provenance::Generated(made) = &answer.set.provenance else { panic!("{answer:?}") };
        let (release, store) = (answer.release.id, database.store());
        let seed = store.annotation_set(release, made.seed).unwrap().unwrap();
        let source = store.sentence(release, seed.sentence).unwrap().unwrap().text;
        (answer.set.id, (source, answer.sentence.text.clone(), made.round))
    });
    outputs.collect()
}

/// The share of the sources' words that outputs have, too.
fn kept(outputs: &BTreeMap<AnnotationSetId, (String, String, u16)>) -> f64 {
    let folded = |text: &str| -> Vec<String> {
        words(text).iter().filter_map(|word| word.of(text)).map(fold).collect()
    };
    let (mut of, mut kept) = (0, 0);
    for (source, output, _) in outputs.values() {
        let output = folded(output);
        let source = folded(source);
        of += source.len();
        kept += source.iter().filter(|word| output.contains(word)).count();
    }
    kept as f64 / of as f64
}

#[test]
fn outputs_keep_fewer_words_where_others_than_the_trigger_are_banned() {
    let [plain, reworded] = [0.0, 0.5].map(|reword| {
        let (_store, database, _) = mini::imported();
        expand(&database, &recipe(reword, 1));
        outputs(&database)
    });
    assert!(!plain.is_empty() && !reworded.is_empty());
    let (plain, reworded) = (kept(&plain), kept(&reworded));
    assert!(reworded < plain - 0.1, "{reworded} of the words instead of {plain}");
}

#[test]
fn a_run_that_goes_on_with_more_rounds_bans_what_an_undisturbed_one_bans() {
    let [at_once, resumed] = [&[2][..], &[1, 2]].map(|rounds| {
        let (_store, database, _) = mini::imported();
        for rounds in rounds {
            expand(&database, &recipe(0.4, *rounds));
        }
        outputs(&database)
    });
    assert!(at_once.values().any(|(.., round)| *round == 2), "{at_once:?}");
    assert_eq!(at_once, resumed);
}
