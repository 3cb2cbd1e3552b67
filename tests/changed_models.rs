//! A model whose file is written while an expansion runs ends the expansion, and nothing of it is
//! stored then.

use std::ops::ControlFlow;
use std::path::Path;

use fnstore::database::Database;
use fnstore::expand::{self, CommitError, ExpandError, Models, Recipe, RunOptions, Shard};
use fnstore::query::Expression;

use crate::mini;

const SEEDS: &str = "lu=inspect.v or lu=audit.v";

/// A recipe of copied models.
fn recipe(dir: &Path) -> Recipe {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    for name in ["paraphrase", "aligner", "aligner-encoder", "tagger", "word-vectors", "filter"] {
        mini::copy(&shipped.join(name), &dir.join(name));
    }
    let models = Models::search(&[dir.to_owned()]).unwrap();
    Recipe { beam_size: 4, candidates: 3, ..Recipe::new(models) }
}

fn generated(database: &Database) -> u64 {
    database.count(&"origin=generated".parse().unwrap()).unwrap()
}

/// Writes a model's file when the run first says how far it is: the models are open then, and
/// nothing is committed.
fn touching<'a>(file: &'a Path) -> impl FnMut(&expand::ExpansionProgress) -> ControlFlow<()> + 'a {
    let mut is_written = false;
    move |_| {
        if !std::mem::replace(&mut is_written, true) {
            let mut bytes = std::fs::read(file).unwrap();
            bytes.push(b'\n');
            std::fs::write(file, bytes).unwrap();
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_model_file_that_changes_ends_the_expansion_and_stores_nothing_of_it() {
    let query: Expression = SEEDS.parse().unwrap();
    let (_whole, whole, _) = mini::imported();
    let models = tempfile::tempdir().unwrap();
    let recipe = recipe(models.path());
    let options = RunOptions::rounds(2);
    expand::run(&whole, &query, &recipe, &options).unwrap();
    for name in ["paraphrase/config.json", "aligner-encoder/config.json", "filter/config.json"] {
        let (_dir, database, _) = mini::imported();
        let file = models.path().join(name);
        let before = std::fs::read(&file).unwrap();
        let outcome =
            expand::run_with(&database, &query, (&recipe, &options), &mut touching(&file));
        let error = outcome.unwrap_err();
        assert!(
            matches!(&error, ExpandError::Commit(CommitError::ModelChanged { path }) if *path == file),
            "{error}"
        );
        assert_eq!(generated(&database), 0, "{name}");
        // As it was before, it gives what it gave.
        std::fs::write(&file, before).unwrap();
        expand::run(&database, &query, &recipe, &options).unwrap();
        assert_eq!(mini::content(&database), mini::content(&whole), "{name}");
    }
}

#[test]
fn a_model_file_that_changes_ends_a_shard() {
    let query: Expression = SEEDS.parse().unwrap();
    let models = tempfile::tempdir().unwrap();
    let recipe = recipe(models.path());
    let (_dir, database, _) = mini::imported();
    let (file, out) = (models.path().join("aligner/config.json"), models.path().join("1.zst"));
    let shard = (Shard { number: 1, of: 1 }, out.as_path());
    let asked = (&query, &recipe, &RunOptions::rounds(2));
    let error = expand::run_shard(&database, asked, shard, &mut touching(&file));
    assert!(matches!(error.unwrap_err(), ExpandError::Commit(CommitError::ModelChanged { .. })));
    assert!(!out.exists());
}
