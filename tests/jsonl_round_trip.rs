//! JSON lines: what is exported comes back equal, and what is wrong in a file is refused whole.

use std::path::{Path, PathBuf};

use fnstore::database::{Database, DatabaseError, JsonlImport};
use fnstore::exchange::jsonl::Scope;
use serde_json::Value;
use tempfile::TempDir;

use crate::cli_schema::faults_in;
use crate::{generated, mini};

/// The lines of an export.
fn exported(database: &Database, query: &str) -> Vec<String> {
    let mut out = Vec::new();
    let export = database.export_jsonl(&query.parse().unwrap(), false, &mut out).unwrap();
    assert!(export.is_some(), "`{query}` finds something");
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

/// A file of these lines.
fn file(dir: &Path, lines: &[String]) -> PathBuf {
    let path = dir.join("export.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

/// An import of these lines.
fn import(database: &Database, lines: &[String]) -> Result<JsonlImport, DatabaseError> {
    let dir = tempfile::tempdir().unwrap();
    database.import_jsonl(&file(dir.path(), lines), None, &mut |_| {})
}

fn empty() -> (TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    (dir, database)
}

/// Everything in a database, with recipes and journal.
fn content(database: &Database) -> Vec<String> {
    let mut content = mini::content(database);
    let store = database.store();
    content.extend(store.recipes().unwrap().iter().map(|recipe| format!("{recipe:?}")));
    for release in database.releases().unwrap() {
        let rows = store.journal_rows(release.id).unwrap();
        content.extend(rows.map(|row| format!("{:?}", row.unwrap())));
    }
    content
}

fn with_generated() -> (TempDir, Database) {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    (dir, database)
}

#[test]
fn a_whole_release_comes_back_equal_in_every_record() {
    let (_dir, database) = with_generated();
    let lines = exported(&database, "");
    let (_other, back) = empty();
    let report = import(&back, &lines).unwrap();
    assert_eq!((report.scope, report.unchanged), (Scope::Whole, 0));
    assert_eq!(content(&back), content(&database));
    assert_eq!(back.releases().unwrap(), database.releases().unwrap());
    for query in ["", "trigger=vetted", "frame=Checking origin=generated", "split=train"] {
        assert_eq!(mini::answers(&back, query), mini::answers(&database, query), "{query}");
    }
    assert_eq!(exported(&back, ""), lines, "and goes out again as it came");
}

#[test]
fn every_record_follows_its_schema() {
    let (_dir, database) = with_generated();
    let mut kinds = std::collections::BTreeSet::new();
    for query in ["", "origin=generated", "frame=Checking"] {
        for line in exported(&database, query) {
            let record: Value = serde_json::from_str(&line).unwrap();
            let kind = record["kind"].as_str().unwrap().to_owned();
            let schema = format!("jsonl-{}.schema.json", kind.replace('_', "-"));
            assert_eq!(faults_in(&schema, &record), [""; 0], "{line}");
            kinds.insert(kind);
        }
    }
    let all = fnstore::exchange::jsonl::Kind::ALL.map(|kind| kind.as_str().to_owned());
    assert_eq!(kinds, all.into(), "each kind was there");
}
