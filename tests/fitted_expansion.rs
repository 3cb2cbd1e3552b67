//! Expansion under a recipe that asks the frame model how likely frames are, with the shipped
//! models. Of the frames here the model knows Inspecting, a new name for one of the small
//! lexicon's.

use std::ops::ControlFlow;
use std::path::Path;

use fnstore::database::Database;
use fnstore::engine::Device;
use fnstore::expand::{
    self, EndReason, ExpandError, Models, Recipe, RecipeError, RecipeSettings, RunOptions,
};
use fnstore::identify::FrameIdentifier;
use fnstore::model::{FrameFit, Provenance};

use crate::mini;

fn recipe(settings: &str) -> Recipe {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fitted.toml");
    std::fs::write(&file, settings).unwrap();
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let models = Models::search(&[models]).unwrap();
    let mut recipe = Recipe { beam_size: 3, candidates: 2, ..Recipe::new(models) };
    RecipeSettings::open(file.to_str().unwrap())
        .unwrap()
        .apply(&mut recipe, &mut RunOptions::default());
    recipe
}

/// The small lexicon, expanded; the rounds and fits of what was written, and why chains ended.
fn expanded(recipe: &Recipe) -> (tempfile::TempDir, Vec<(u16, Option<FrameFit>)>, u64) {
    let store = tempfile::tempdir().unwrap();
    let database = Database::open_writer(store.path()).unwrap();
    let release = tempfile::tempdir().unwrap();
    mini::renamed_frame(release.path(), ["Checking", "Inspecting"]);
    mini::import(&database, release.path()).unwrap();
    let (seeds, two) = ("lu=inspect.v".parse().unwrap(), RunOptions::rounds(2));
    let report = expand::run(&database, &seeds, recipe, &two).unwrap();
    let answers = database.query(&"origin=generated".parse().unwrap()).unwrap();
    let fits = answers.map(|answer| match answer.unwrap().set.provenance {
        Provenance::Generated(made) => (made.round, made.fit),
        other => panic!("{other:?}"),
    });
    let fits = fits.collect();
    (store, fits, report.ended.get(&EndReason::UnlikelyFrame).copied().unwrap_or_default())
}

#[test]
fn sets_are_written_with_their_fit_and_a_chain_ends_where_it_is_too_low() {
    let (store, fits, ended) = expanded(&recipe("frame-fit = true"));
    assert!(fits.iter().any(|(round, _)| *round == 2) && ended == 0, "{fits:?}");
    let is_share = |fit: FrameFit| (0.0..1.0).contains(&fit.probability);
    assert!(fits.iter().all(|(_, fit)| fit.is_some_and(is_share)), "{fits:?}");

    // `fnstore fit` has nothing to add.
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let (frames, encoder) = (models.join("frames"), models.join("aligner-encoder"));
    let identifier = FrameIdentifier::open(&frames, &encoder, &Device::cpu()).unwrap();
    let database = Database::open_existing_writer(store.path()).unwrap();
    let mut on = |_| ControlFlow::Continue(());
    let query = "origin=generated".parse().unwrap();
    let refitted = expand::refit(&database, &query, &identifier, &mut on).unwrap();
    assert_eq!((refitted.sets, refitted.written), (fits.len() as u64, 0));

    let (_, stopped, ended) = expanded(&recipe("frame-fit = true\nleast-frame-fit = 1"));
    assert!(stopped.iter().all(|(round, _)| *round == 1), "{stopped:?}");
    assert_eq!((ended, stopped.is_empty()), (stopped.len() as u64, false));
}

#[test]
fn a_threshold_without_a_fit_and_one_beyond_probabilities_are_refused() {
    for settings in ["least-frame-fit = 0.1", "frame-fit = true\nleast-frame-fit = 1.5"] {
        let error = recipe(settings).check().unwrap_err();
        let is_told = matches!(error, ExpandError::Recipe(RecipeError::LeastFrameFit { .. }));
        assert!(is_told, "{settings}: {error}");
    }
    let mut without = recipe("frame-fit = true");
    without.models.frames = None;
    let error = without.check().unwrap_err().to_string();
    assert!(error.contains("install the model `frames`"), "{error}");
    assert!(!recipe("").frame_fit);
}
