//! What the store's tests share: mini-framenet in a temporary store, and a store's whole content.

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::query::Expression;
use fnstore::store::{NameKind, StoreError};
use fnstore::transfer::{ImportOptions, ImportReport};
use tempfile::TempDir;

/// The directory of mini-framenet.
pub(crate) fn framenet() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet")
}

/// A writer's handle on a new store that holds mini-framenet.
pub(crate) fn imported() -> (TempDir, Database, ImportReport) {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    let report = import(&database, &framenet()).unwrap();
    (dir, database, report)
}

/// An import with the usual options.
pub(crate) fn import(
    database: &Database,
    release: &Path,
) -> Result<ImportReport, fnstore::database::DatabaseError> {
    database.import(release, &ImportOptions::default(), &mut |_| {})
}

/// The small release with other words in its files.
pub(crate) fn reworded(to: &Path, [from, by]: [&str; 2]) {
    copy(&framenet(), to);
    for folder in ["frame", "lu", "fulltext", "."] {
        for entry in fs::read_dir(to.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "xml") {
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text.replace(from, by)).unwrap();
            }
        }
    }
}

/// The small release with another name for one of its frames.
pub(crate) fn renamed_frame(to: &Path, [from, by]: [&str; 2]) {
    reworded(to, [from, by]);
    let file = |name: &str| to.join(format!("frame/{name}.xml"));
    fs::rename(file(from), file(by)).unwrap();
}

/// A copy of a directory, to be changed by a test.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Release and id of every set that answers a query, in order.
pub(crate) fn answers(database: &Database, query: &str) -> Vec<String> {
    let expression = Expression::parse(query).unwrap();
    let answers = database.query(&expression).unwrap_or_else(|error| panic!("`{query}`: {error}"));
    let id = |answer: fnstore::search::Answer| format!("{} {}", answer.release.name, answer.set.id);
    answers.map(|answer| id(answer.unwrap())).collect()
}

/// Every record of every release, as text, in order of kind and key.
pub(crate) fn content(database: &Database) -> Vec<String> {
    let store = database.store();
    let mut content = Vec::new();
    for release in database.releases().unwrap() {
        let id = release.id;
        content.push(format!("{} {:?}", release.name, release.counts));
        add(&mut content, store.frames(id).unwrap());
        add(&mut content, store.lexunits(id).unwrap());
        add(&mut content, store.relations(id).unwrap());
        add(&mut content, store.sem_types(id).unwrap());
        add(&mut content, store.documents(id).unwrap());
        add(&mut content, store.sentences(id).unwrap());
        add(&mut content, store.annotation_sets(id).unwrap());
        add(&mut content, store.all_sentence_layers(id).unwrap());
        content.push(format!("{:?}", store.release_layout(id).unwrap()));
        for kind in [NameKind::Frame, NameKind::LexUnit, NameKind::FrameElement] {
            add(&mut content, store.names(id, kind).unwrap());
        }
    }
    content
}

fn add<T: Debug>(content: &mut Vec<String>, rows: impl Iterator<Item = Result<T, StoreError>>) {
    content.extend(rows.map(|row| format!("{:?}", row.unwrap())));
}
