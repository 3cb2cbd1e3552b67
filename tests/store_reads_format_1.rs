//! A store that format 1.0 wrote is read by every later build of the same major format.
//!
//! `tests/data/format-1/store` is mini-framenet with two generated sets, a proposed LU, a recipe
//! and a journal row; `answers.tsv` beside it is what it answered when it was written.

use std::fs;
use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::model::{FrameId, LuId, OWN_RANGE, PROPOSED, RecipeId};
use fnstore::query::Expression;

use crate::{generated, mini};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-1")
}

/// One line for each frame-evoking set: what of it does not depend on how this build prints
/// records.
fn answers(database: &Database) -> String {
    let everything = Expression::parse("").unwrap();
    let line = |answer: fnstore::search::Answer| {
        let labels: Vec<String> =
            answer.elements().map(|fe| format!("{} {:?}", fe.label.name, fe.gf)).collect();
        let fields = [
            answer.set.id.to_string(),
            answer.frame.to_string(),
            answer.lexunit.to_string(),
            answer.set.status.clone(),
            answer.set.provenance.origin().as_str().to_owned(),
            answer.trigger(),
            answer.sentence.text.clone(),
            labels.join(", "),
        ];
        fields.join("\t") + "\n"
    };
    database.query(&everything).unwrap().map(|answer| line(answer.unwrap())).collect()
}

#[test]
fn a_store_of_format_1_is_read_in_full() {
    let dir = tempfile::tempdir().unwrap();
    mini::copy(&golden().join("store"), dir.path());
    let expected = fs::read_to_string(golden().join("answers.tsv")).unwrap();
    assert_eq!(expected.lines().count(), 44);
    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(answers(&reader), expected);
    let (store, release) = (reader.store(), reader.releases().unwrap()[0].id);
    let proposed = store.lexunit(release, FrameId(102), LuId(OWN_RANGE)).unwrap().unwrap();
    assert_eq!((proposed.name.as_str(), proposed.status.as_str()), ("vet.v", PROPOSED));
    let journal = store.journal(release, generated::seed(), 0, RecipeId(1)).unwrap().unwrap();
    assert_eq!((journal.round, journal.chain.len()), (2, 2));
    assert_eq!(store.recipes().unwrap()[0].2, "{\"beam\":4}");
    assert_eq!(store.all_sentence_layers(release).unwrap().count(), 40);
    assert_eq!(store.relations(release).unwrap().count(), 6);
    drop(reader);

    // A writer takes it up, and builds the index that is not committed with it.
    let writer = Database::open_writer(dir.path()).unwrap();
    assert_eq!(answers(&writer), expected);
    assert_eq!(mini::answers(&writer, "trigger=vetted").len(), 1);
}

/// Writes the golden store again. Only for a new major format, into a folder of its own:
/// `cargo test --release --test suite -- --ignored write_the_golden_store`.
#[test]
#[ignore = "writes tests/data/format-1"]
fn write_the_golden_store() {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    let expected = answers(&database);
    drop(database);
    // Opened once more, so that nothing is left in the log alone.
    drop(Database::open_writer(dir.path()).unwrap());
    let store = golden().join("store/db");
    fs::create_dir_all(&store).unwrap();
    for entry in fs::read_dir(dir.path().join("db")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let kept = ["CURRENT", "IDENTITY", "MANIFEST"].iter().any(|part| name.starts_with(part))
            || name.ends_with(".sst")
            || (name.ends_with(".log") && entry.metadata().unwrap().len() > 0);
        if kept {
            fs::copy(entry.path(), store.join(name)).unwrap();
        }
    }
    fs::write(golden().join("answers.tsv"), &expected).unwrap();
    assert_eq!(expected.lines().count(), 44);
}
