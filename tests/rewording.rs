//! Expansion that bans content words beside the trigger, with the shipped models.

use std::path::Path;

use fnstore::database::Database;
use fnstore::endpoint::EndpointSettings;
use fnstore::expand::{self, Models, Recipe, RecipeSettings, RewriterSource, RunOptions};
use fnstore::internals::WithStore as _;
use fnstore::model::Provenance;
use fnstore::text::{fold, words};

use crate::cli_program::fnstore_in;
use crate::mini;

fn recipe(reword: f32) -> Recipe {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let models = Models::search(&[models]).unwrap();
    Recipe { beam_size: 4, candidates: 4, reword, ..Recipe::new(models) }
}

fn expand(database: &Database, recipe: &Recipe) {
    let seeds = "lu=inspect.v".parse().unwrap();
    expand::run(database, &seeds, recipe, &RunOptions::rounds(1)).unwrap();
}

/// The outputs beside their seeds' sentences.
fn outputs(database: &Database) -> Vec<[String; 2]> {
    let answers = database.query(&"origin=generated".parse().unwrap()).unwrap();
    let outputs = answers.map(|answer| {
        let answer = answer.unwrap();
        let Provenance::Generated(made) = &answer.set.provenance else { panic!("{answer:?}") };
        let (release, store) = (answer.release.id, database.store());
        let seed = store.annotation_set(release, made.seed).unwrap().unwrap();
        let source = store.sentence(release, seed.sentence).unwrap().unwrap().text;
        [source, answer.sentence.text.clone()]
    });
    outputs.collect()
}

/// The share of the sources' words that outputs have, too.
fn kept(outputs: &[[String; 2]]) -> f64 {
    let folded = |text: &str| -> Vec<String> {
        words(text).iter().filter_map(|word| word.of(text)).map(fold).collect()
    };
    let (mut of, mut kept) = (0, 0);
    for [source, output] in outputs {
        let (source, output) = (folded(source), folded(output));
        of += source.len();
        kept += source.iter().filter(|word| output.contains(word)).count();
    }
    kept as f64 / of as f64
}

#[test]
fn outputs_keep_fewer_words_where_others_than_the_trigger_are_banned() {
    let [plain, reworded] = [0.0, 0.5].map(|reword| {
        let (_store, database, _) = mini::imported();
        expand(&database, &recipe(reword));
        outputs(&database)
    });
    assert!(!plain.is_empty() && !reworded.is_empty());
    let (plain, reworded) = (kept(&plain), kept(&reworded));
    assert!(reworded < plain - 0.1, "{reworded} of the words instead of {plain}");
}

#[test]
fn a_file_and_the_command_line_set_the_share() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("reword.toml");
    std::fs::write(&file, "reword = 0.25\n").unwrap();
    let settings = RecipeSettings::open(file.to_str().unwrap()).unwrap();
    let mut from_file = recipe(0.0);
    RecipeSettings { reword: Some(0.5), ..RecipeSettings::default() }
        .or(settings)
        .apply(&mut from_file, &mut RunOptions::default());
    assert!((from_file.reword - 0.5).abs() < 1e-6);
    settings.apply(&mut from_file, &mut RunOptions::default());
    assert!((from_file.reword - 0.25).abs() < 1e-6);

    let (store, database, _) = mini::imported();
    drop(database);
    let asked = ["expand", "lu=inspect.v", "--model", "paraphrase", "--reword"];
    for (more, said) in [
        (&["7"][..], "reword is 7, expected 0 to 1"),
        (&["NaN"], "reword is NaN"),
        (&["0.2", "--guide", "none"], "not guided"),
        (&["0.2", "--endpoint", "http://127.0.0.1:9/v1"], "cannot be used with"),
    ] {
        let ran = fnstore_in(store.path(), &[&asked[..], more].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(said), "{more:?}: {}", ran.stderr);
    }
}

#[test]
fn a_server_is_not_asked_to_reword() {
    let mut of_server = recipe(0.2);
    let settings = EndpointSettings::new("http://127.0.0.1:9/v1", "small");
    of_server.models.rewriter = RewriterSource::Server(settings);
    of_server.candidates = 1;
    assert!(of_server.check().unwrap_err().to_string().contains("a server cannot be held to"));
}
