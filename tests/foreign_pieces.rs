//! What JSON lines bring of XML that is not FrameNet's must be able to stand in a file: else the
//! file could not be read again.

use fnstore::database::{Database, DatabaseError};
use fnstore::exchange::{ExchangeError, FaultCode};

use crate::framenet_round_trip::export;
use crate::mini;
use crate::others_releases::{Deviating, replace};

const LU: &str = "lu/lu1202.xml";

/// The lines of a release that holds an unknown element and an unknown attribute.
fn lines() -> Vec<String> {
    let kept = Deviating::new(|release| {
        replace(release, LU, "</header>", "</header><odd>x</odd>");
        replace(release, LU, "<subCorpus ", "<subCorpus odd=\"1\" ");
    });
    let mut lines = Vec::new();
    kept.database.export_jsonl(&"".parse().unwrap(), false, &mut lines).unwrap().unwrap();
    String::from_utf8(lines).unwrap().lines().map(str::to_owned).collect()
}

/// Imports the lines with something else in place of a text; gives the number of the changed line,
/// too.
fn import(lines: &[String], from: &str, to: &str) -> (usize, Result<(), DatabaseError>) {
    let dir = tempfile::tempdir().unwrap();
    let place = lines.iter().position(|line| line.contains(from)).unwrap();
    let mut lines = lines.to_vec();
    lines[place] = lines[place].replace(from, to);
    let file = dir.path().join("release.jsonl");
    std::fs::write(&file, lines.join("\n") + "\n").unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let imported = database.import_jsonl(&file, None, &mut |_| {}).map(drop);
    if imported.is_ok() {
        let out = dir.path().join("out");
        export(&database, "", &out).unwrap().unwrap();
        let second = Database::open_writer(&dir.path().join("second")).unwrap();
        mini::import(&second, &out).unwrap();
    } else {
        assert!(database.releases().unwrap().is_empty());
    }
    (place + 1, imported)
}

#[test]
fn a_piece_that_would_break_its_file_is_refused_with_its_line() {
    let lines = lines();
    for hostile in
        ["<odd>", "</header><odd>x</odd>", "&nope;", "a & b", "<!DOCTYPE a>", "<1/>", "]]>"]
    {
        let (line, imported) = import(&lines, "<odd>x</odd>", hostile);
        let error = imported.unwrap_err();
        let DatabaseError::Exchange(ExchangeError::Field { line: found, code, field, .. }) = &error
        else {
            panic!("{hostile}: {error:?}")
        };
        assert_eq!((*found, *code, field.as_str()), (line, FaultCode::Value, "places.content.xml"));
    }
    let (_, imported) = import(&lines, "<odd>x</odd>", "<a:b c='1'><!-- d --></a:b> &amp; e");
    imported.unwrap();
}

#[test]
fn an_attribute_whose_name_is_none_is_refused() {
    let lines = lines();
    for hostile in ["1a", "a b", "", "a>"] {
        let named = format!("\"name\":\"{hostile}\",\"value\"");
        let (line, imported) = import(&lines, "\"name\":\"odd\",\"value\"", &named);
        let error = imported.unwrap_err();
        let DatabaseError::Exchange(ExchangeError::Field { line: found, field, .. }) = &error
        else {
            panic!("{hostile}: {error:?}")
        };
        assert_eq!((*found, field.as_str()), (line, "places.attributes.name"));
    }
}
