//! Columns: every CSV and TSV has a header, and a column is called as the member of the JSON
//! record.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cli_program::{Ran, fnstore, fnstore_in, new_store};
use crate::cli_schema::generate;

/// Commands that print rows, blocks or a report.
const COMMANDS: [&[&str]; 28] = [
    &["query"],
    &["query", "--fields", "id,frame,lu,fe,elements,split"],
    &["query", "--count-by", "frame"],
    &["query", "frame=Checking", "--explain"],
    &["frames"],
    &["lus"],
    &["fes"],
    &["relations"],
    &["relations", "--fes"],
    &["relations", "--kinds"],
    &["relations", "--tree", "*", "--kind", "*"],
    &["semtypes"],
    &["semtypes", "--tree"],
    &["semtypes", "--propagate"],
    &["valence", "*"],
    &["stats"],
    &["stats", "growth"],
    &["stats", "diversity", "--no-pos"],
    &["stats", "agreement"],
    &["releases"],
    &["recipes"],
    &["changes"],
    &["check"],
    &["check", "--leaks"],
    &["edition", "list"],
    &["foreign"],
    &["proposals"],
    &["proposals", "decisions"],
];

/// Columns whose rows are parts of the record: JSON has them inside, or not at all where none are.
const OF_PARTS: [(&str, &[&str]); 6] = [
    ("valence", &["table", "count", "sets"]),
    ("relations --tree", &["depth", "under"]),
    (
        "proposals",
        &[
            "evokes",
            "evokes_share",
            "verified",
            "refused",
            "found_score",
            "found_evokes",
            "found_as",
            "found_sentences",
        ],
    ),
    ("semtypes --tree", &["depth", "under", "relation"]),
    ("check", &["code", "count", "family", "detail"]),
    ("query frame=Checking --explain", &["term", "access", "estimated", "asked", "passed"]),
];

fn run(arguments: &[&str], format: &str) -> Ran {
    let store = new_store();
    generate(store.path());
    fnstore_in(store.path(), &[arguments, &["--format", format]].concat())
}

/// Every member of a value and of what is inside of it.
fn members(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                names.insert(name.clone());
                members(value, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| members(item, names)),
        _ => {}
    }
}

#[test]
fn every_csv_and_tsv_has_a_header_whose_names_are_those_of_json() {
    for command in COMMANDS {
        let csv = run(command, "csv");
        assert!(csv.code.is_some_and(|code| code < 2), "{command:?}: {}", csv.stderr);
        let mut reader = csv::ReaderBuilder::new().from_reader(csv.stdout.as_bytes());
        let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        assert!(!header.is_empty(), "{command:?} has no header: {}", csv.stdout);
        // A row of another width would be an error.
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        let tsv = run(command, "tsv").stdout;
        assert_eq!(tsv.lines().next().unwrap(), header.join("\t"), "{command:?}");

        let jsonl = run(command, "jsonl");
        let records = jsonl.records();
        let mut names = BTreeSet::new();
        records.iter().for_each(|record| members(record, &mut names));
        let joined = command.join(" ");
        let of_parts = OF_PARTS.iter().filter(|(of, _)| joined.starts_with(of));
        let of_parts: Vec<&str> = of_parts.flat_map(|(_, names)| *names).copied().collect();
        for name in header.iter().filter(|name| !of_parts.contains(&name.as_str())) {
            assert!(records.is_empty() || names.contains(name), "{command:?}: `{name}`: {names:?}");
        }
        // Where a record is a row, the two say the same.
        if rows.len() != records.len() {
            continue;
        }
        for (row, record) in rows.iter().zip(&records) {
            let own = header.iter().zip(row).filter(|(name, _)| !of_parts.contains(&name.as_str()));
            for (name, field) in own {
                match &record[name] {
                    // Each run has a store of its own.
                    Value::String(text) if !["generation", "store"].contains(&name.as_str()) => {
                        assert_eq!(field, text, "{command:?}: `{name}`");
                    }
                    Value::Number(number) if !["seconds", "at"].contains(&name.as_str()) => {
                        assert_eq!(field, number.to_string(), "{command:?}: `{name}`");
                    }
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn a_table_has_no_name_of_its_own() {
    for command in [&["frames"][..], &["lus"], &["releases"], &["edition", "list"], &["stats"]] {
        let store = new_store();
        fnstore_in(store.path(), &["edition", "create", "one", "frame=Checking"]);
        let [csv, table] = ["csv", "table"].map(|format| {
            let ran = fnstore_in(store.path(), &[command, &["--format", format]].concat());
            ran.stdout.lines().next().unwrap().to_owned()
        });
        let columns: Vec<&str> = csv.split(',').collect();
        for name in table.split_whitespace() {
            assert!(columns.contains(&name), "{command:?}: `{name}` is not in {csv}");
        }
    }
}

#[test]
fn rows_of_nothing_have_their_header() {
    for command in [
        &["query", "trigger=nowhere"][..],
        &["query", "trigger=nowhere", "--fields", "id,lu"],
        &["query", "trigger=nowhere", "--count-by", "frame"],
        &["frames", "zz*"],
        &["valence", "zz*"],
        &["foreign", "zz*"],
    ] {
        let ran = fnstore(&[command, &["--format", "csv"]].concat());
        assert_eq!(ran.code, Some(1), "{command:?}: {}", ran.stderr);
        assert_eq!(ran.stdout.lines().count(), 1, "{command:?}: {}", ran.stdout);
    }
}

#[test]
fn a_report_is_rows_under_a_header_or_one_row() {
    let store = new_store();
    let of = |arguments: &[&str]| {
        let ran = fnstore_in(store.path(), &[arguments, &["--format", "csv"]].concat());
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
        ran.stdout
    };
    let reindexed = of(&["reindex"]);
    assert!(reindexed.starts_with("store,revision,entries,seconds\n"), "{reindexed}");
    assert!(reindexed.lines().nth(1).unwrap().contains(",42,"), "{reindexed}");
    let copy = tempfile::tempdir().unwrap();
    let copied = of(&["backup", copy.path().join("copy").to_str().unwrap()]);
    assert!(copied.starts_with("file,blake3\n") && copied.lines().count() > 2, "{copied}");
}

#[test]
fn what_only_json_can_hold_refuses_rows() {
    let dir = tempfile::tempdir().unwrap();
    let pairs = dir.path().join("pairs.jsonl");
    let line = r#"{"id": "m1", "source": "a fire", "target": "a blaze"}"#;
    std::fs::write(&pairs, line).unwrap();
    for format in ["csv", "tsv"] {
        let ran = fnstore(&["mine", "sample", pairs.to_str().unwrap(), "--format", format]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("expected `json` or `jsonl`"), "{}", ran.stderr);
    }
}

#[test]
fn pairs_of_a_table_are_read_without_its_header() {
    let dir = tempfile::tempdir().unwrap();
    let pairs = dir.path().join("pairs.tsv");
    let lines = |table: &str| {
        std::fs::write(&pairs, table).unwrap();
        let ran = fnstore(&["align", "words", pairs.to_str().unwrap(), "--format", "csv"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout
    };
    let rows = "a fire\ta blaze\nthe fire\tthe blaze\nsource\ttarget\n";
    let plain = lines(rows);
    assert!(plain.starts_with("id,links,error\n"), "{plain}");
    assert_eq!(plain.lines().count(), 1 + 3);
    let headed = lines(&format!("source\ttarget\tid\n{rows}"));
    assert_eq!(headed, plain);
}
