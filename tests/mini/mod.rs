//! The mini lexicon in a store of its own.

use std::path::{Path, PathBuf};

use fnstore::database::{Answer, Database, DatabaseError, ImportOptions, ImportReport};
use fnstore::model::ReleaseId;

/// Where the mini lexicon lies.
pub(crate) fn lexicon() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet")
}

/// Imports a release into a database.
pub(crate) fn import(database: &Database, path: &Path) -> Result<ImportReport, DatabaseError> {
    database.import(path, &ImportOptions::default(), &mut |_| {})
}

/// A new database in `dir` with the mini lexicon, open for writing.
pub(crate) fn database(dir: &Path) -> (Database, ImportReport) {
    let database = Database::open_writer(dir).unwrap();
    let report = import(&database, &lexicon()).unwrap();
    (database, report)
}

/// The answers of a query.
pub(crate) fn answers(database: &Database, query: &str) -> Vec<Answer> {
    let expression = query.parse().unwrap_or_else(|error| panic!("{query}: {error}"));
    let answers = database.query(&expression).unwrap_or_else(|error| panic!("{query}: {error}"));
    answers.map(Result::unwrap).collect()
}

/// Every record of a release but the release itself, as text that can be compared.
pub(crate) fn records(database: &Database, release: ReleaseId) -> Vec<String> {
    let store = database.store();
    let mut all = Vec::new();
    let mut add = |text: String| all.push(text);
    store.frames(release).unwrap().for_each(|row| add(format!("{:?}", row.unwrap())));
    store.lexunits(release).unwrap().for_each(|row| add(format!("{:?}", row.unwrap())));
    store.relations(release).unwrap().for_each(|row| add(format!("{:?}", row.unwrap())));
    store.sem_types(release).unwrap().for_each(|row| add(format!("{:?}", row.unwrap())));
    store.documents(release).unwrap().for_each(|row| add(format!("{:?}", row.unwrap())));
    store.sentences(release).unwrap().for_each(|row| add(format!("{:?}", row.unwrap())));
    store.annotation_sets(release).unwrap().for_each(|row| add(format!("{:?}", row.unwrap())));
    store.all_sentence_layers(release).unwrap().for_each(|row| add(format!("{:?}", row.unwrap())));
    all
}

/// Copies a directory.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
