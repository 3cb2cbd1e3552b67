//! Plain span-labelled data: types become frames, spans become sets, queries find them.

use std::path::PathBuf;

use fnstore::database::{Database, DatabaseError};
use fnstore::exchange::{ExchangeError, FaultCode};
use fnstore::query::Expression;
use fnstore::transfer::{ImportOptions, SpanImport};
use tempfile::TempDir;

use crate::mini;

const DATA: &str = r#"{"id": "a1", "split": "train", "text": "\ud83d\ude00 Ana Silva verified the caf\u00e9 .", "spans": [{"start": 2, "end": 11, "type": "person"}, {"start": 12, "end": 20, "type": "check", "pos": "v"}, {"start": 25, "end": 29, "type": "place"}]}
{"split": "test", "document": "log", "text": "e\u0301cole\r\nverified", "spans": [{"start": 0, "end": 6, "type": "place", "lemma": "\u00e9cole", "pos": "n"}, {"start": 0, "end": 16, "type": "person"}]}

{"text": "nothing here", "spans": []}
"#;

fn file(dir: &TempDir, text: &str) -> PathBuf {
    let path = dir.path().join("spans.jsonl");
    std::fs::write(&path, text).unwrap();
    path
}

fn import(database: &Database, text: &str) -> Result<SpanImport, DatabaseError> {
    let dir = tempfile::tempdir().unwrap();
    let options = ImportOptions { release: Some("ner".to_owned()), ..ImportOptions::default() };
    database.import_spans(&file(&dir, text), &options, &mut |_| {})
}

/// Frame, LU and trigger of every answer.
fn found(database: &Database, query: &str) -> Vec<String> {
    let answers = database.query(&Expression::parse(query).unwrap()).unwrap();
    let mut found: Vec<String> = answers
        .map(|answer| {
            let answer = answer.unwrap();
            let trigger = answer.trigger().replace("\r\n", "|");
            format!("{} {} {trigger}", answer.frame, answer.lexunit)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn spans_become_sets_of_frames_that_are_their_types() {
    let (_dir, database, _) = mini::imported();
    let report = import(&database, DATA).unwrap();
    assert_eq!((report.texts, report.without_spans, report.lexunits), (3, 1, 5));
    assert_eq!(report.types["person"], 2);
    let all = [
        "check verify.v verified",
        "person ana silva.x Ana Silva",
        "person \u{e9}cole verified.x e\u{301}cole|verified",
        "place caf\u{e9}.x caf\u{e9}",
        "place \u{e9}cole.n e\u{301}cole",
    ];
    assert_eq!(found(&database, "release=ner"), all);
    assert_eq!(found(&database, "release=ner trigger=verified"), all[..1]);
    assert_eq!(found(&database, "origin=imported frame=place"), all[3..]);
    assert_eq!(found(&database, "release=ner split=train").len(), 3);
    assert_eq!(found(&database, "release=ner split=test").len(), 2);
    assert_eq!(found(&database, "release=ner doc=a1").len(), 3);
    assert_eq!(found(&database, "release=ner doc=log corpus=test").len(), 2);
}

#[test]
fn the_same_data_gets_the_same_ids_and_travels_as_an_export() {
    let contents = [DATA, DATA].map(|data| {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open_writer(dir.path()).unwrap();
        import(&database, data).unwrap();
        mini::answers(&database, "")
    });
    assert_eq!(contents[0], contents[1]);

    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    import(&database, DATA).unwrap();
    let export = dir.path().join("export.jsonl");
    let mut out = Vec::new();
    database.export_jsonl(&Expression::Everything, false, &mut out).unwrap();
    std::fs::write(&export, out).unwrap();
    let other = tempfile::tempdir().unwrap();
    let back = Database::open_writer(other.path()).unwrap();
    back.import_jsonl(&export, None, &mut |_| {}).unwrap();
    assert_eq!(mini::content(&back), mini::content(&database));
}

#[test]
fn equal_lines_and_equal_spans_are_all_kept() {
    let (_dir, database, _) = mini::imported();
    let line = r#"{"text": "ab", "spans": [{"start": 0, "end": 1, "type": "T"}, {"start": 0, "end": 1, "type": "T"}]}"#;
    import(&database, &format!("{line}\n{line}\n")).unwrap();
    assert_eq!(found(&database, "release=ner"), ["T a.x a"; 4]);
}

#[test]
fn one_wrong_line_leaves_the_store_as_it_was() {
    let (_dir, database, _) = mini::imported();
    let before = mini::content(&database);
    let wrong = r#"{"text": "abc", "spans": [{"start": 2, "end": 9, "type": "T"}]}"#;
    let error = import(&database, &format!("{DATA}{wrong}\n")).unwrap_err();
    let DatabaseError::Exchange(ExchangeError::Field { code, line, field, found, .. }) = &error
    else {
        panic!("{error}")
    };
    assert_eq!((*code, *line), (FaultCode::SpanRange, 5));
    assert_eq!((field.as_str(), found.as_str()), ("spans[0].end", "9"));
    let repeated = DATA.replace("\"document\": \"log\"", "\"id\": \"a1\"");
    assert!(import(&database, &repeated).unwrap_err().to_string().contains("E-repeated: "));
    assert!(import(&database, "").unwrap_err().to_string().contains("holds no text"));
    assert_eq!(mini::content(&database), before);
    import(&database, DATA).unwrap();
    let error = import(&database, DATA).unwrap_err().to_string();
    assert!(error.contains("already holds a release `ner`"), "{error}");
}
