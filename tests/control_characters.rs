//! Texts from elsewhere may hold characters that XML does not have: they are kept, JSON lines have them, and
//! XML is written with U+FFFD in their place, which is counted.

use fnstore::database::Database;
use fnstore::model::is_xml;
use fnstore::transfer::{FramenetLoss, ImportOptions};

use crate::framenet_round_trip::export;
use crate::mini;

const SPANS: &str = "{\"text\": \"a\\u0001b \\u001b[1m cd\", \"spans\": [{\"start\": 9, \"end\": 11, \"type\": \"T\"}]}\n";

/// A store of one text with two control characters.
fn imported(dir: &std::path::Path) -> Database {
    let file = dir.join("spans.jsonl");
    std::fs::write(&file, SPANS).unwrap();
    let database = Database::open_writer(&dir.join("first")).unwrap();
    let options = ImportOptions { release: Some("chat".to_owned()), ..ImportOptions::default() };
    database.import_spans(&file, &options, &mut |_| {}).unwrap();
    database
}

/// Text and trigger of every set.
fn texts(database: &Database) -> Vec<(String, String)> {
    let answers = database.query(&"".parse().unwrap()).unwrap();
    answers
        .map(|answer| {
            let answer = answer.unwrap();
            (answer.sentence.text.clone(), answer.trigger())
        })
        .collect()
}

#[test]
fn an_export_as_xml_replaces_and_counts_them_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let database = imported(dir.path());
    let out = dir.path().join("chat");
    let report = export(&database, "", &out).unwrap().unwrap();
    assert_eq!(report.lost.get(&FramenetLoss::Characters), Some(&2));
    let mut paths = vec![out.clone()];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let content = std::fs::read_to_string(&path).unwrap();
        assert!(content.chars().all(is_xml), "{}", path.display());
    }
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    mini::import(&second, &out).unwrap();
    let expected = ("a\u{fffd}b \u{fffd}[1m cd".to_owned(), "cd".to_owned());
    assert_eq!(texts(&second), [expected]);
}

#[test]
fn json_lines_have_them_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let database = imported(dir.path());
    let mut lines = Vec::new();
    database.export_jsonl(&"".parse().unwrap(), false, &mut lines).unwrap().unwrap();
    let file = dir.path().join("chat.jsonl");
    std::fs::write(&file, lines).unwrap();
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    second.import_jsonl(&file, None, &mut |_| {}).unwrap();
    assert_eq!(texts(&second), texts(&database));
    assert_eq!(texts(&second)[0].0, "a\u{1}b \u{1b}[1m cd");
}
