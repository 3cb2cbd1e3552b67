//! `fnstore query`: every format, counts, limits, and what is said when nothing fits.

use std::process::{Command, Stdio};

use fnstore::query::Field;
use serde_json::Value;

use crate::cli_program::{fnstore, fnstore_in, new_store};

#[test]
fn a_table_shows_sentences_with_target_and_elements_marked() {
    let ran = fnstore(&["query", "id=x7042", "--format", "table"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "Checking  look over.v  x7042  exemplar  MANUAL");
    assert_eq!(lines[1], "    My sister looked the contract over before signing it .");
    assert_eq!(lines[2], "    --------- ****** ------------ **** -----------------");
    assert!(lines[3].starts_with("    Checker  "), "{}", lines[3]);
}

#[test]
fn null_instantiations_and_missing_annotation_are_said() {
    let null = fnstore(&["query", "id=x7040", "--format", "table"]);
    assert!(null.stdout.contains("Checker:INI"), "{}", null.stdout);
    assert!(null.stdout.contains("Matter:DNI"), "{}", null.stdout);
    let unannotated = fnstore(&["query", "status=UNANN", "--format", "table"]);
    assert!(unannotated.stdout.contains("(FEs not annotated)"), "{}", unannotated.stdout);
}

#[test]
fn into_a_pipe_go_json_lines_whose_spans_count_code_points() {
    let ran = fnstore(&["query", "origin=exemplar"]);
    let records = ran.records();
    assert_eq!(records.len(), 34);
    assert!(records.iter().any(|record| !record["text"].as_str().unwrap().is_ascii()));
    for record in records {
        let letters: Vec<char> = record["text"].as_str().unwrap().chars().collect();
        let of = |span: &Value| -> String {
            let at = |end: usize| span[end].as_u64().unwrap() as usize;
            letters[at(0)..at(1)].iter().collect()
        };
        assert_eq!(record["offset_unit"], "codepoint");
        let pieces: Vec<String> = record["targets"].as_array().unwrap().iter().map(of).collect();
        assert_eq!(record["trigger"], pieces.join(" "));
        for element in record["elements"].as_array().unwrap() {
            match &element["span"] {
                Value::Null => assert_eq!(element["text"], Value::Null),
                span => assert_eq!(element["text"], of(span)),
            }
        }
    }
}

#[test]
fn one_json_document_holds_all_hits() {
    let ran = fnstore(&["query", "frame=Checking", "--format", "json"]);
    let all: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let count = fnstore(&["query", "frame=Checking", "--count"]).stdout;
    assert_eq!(format!("{}\n", all.len()), count);
    let none = fnstore(&["query", "trigger=nowhere", "--format", "json"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), "[]\n"));
}

#[test]
fn delimited_rows_have_as_many_fields_as_their_header() {
    let ran = fnstore(&["query", "frame=Checking", "--format", "tsv"]);
    let mut rows = ran.stdout.lines().map(|row| row.split('\t').collect::<Vec<_>>());
    let header = rows.next().unwrap();
    assert_eq!(header[..4], ["release", "id", "frame", "lu"]);
    let rows: Vec<Vec<&str>> = rows.collect();
    assert!(rows.len() > 10);
    for row in &rows {
        assert_eq!(row.len(), header.len(), "{row:?}");
        assert_eq!(row[2], "Checking");
    }
    let csv = fnstore(&["query", "id=x7028", "--format", "csv"]).stdout;
    let text = fnstore(&["query", "id=x7028"]).records()[0]["text"].as_str().unwrap().to_owned();
    let quoted = format!(",\"{}\",", text.replace('"', "\"\""));
    let plain = format!(",{text},");
    assert!(csv.contains(if text.contains([',', '"']) { &quoted } else { &plain }), "{csv}");
}

#[test]
fn a_limit_is_said_only_when_there_is_more() {
    let some = fnstore(&["query", "frame=Checking", "--limit", "3"]);
    assert_eq!((some.code, some.stdout.lines().count()), (Some(0), 3));
    assert!(some.stderr.contains("showing 3; there are more"), "{}", some.stderr);
    let count: usize = fnstore(&["query", "lu=audit.v", "--count"]).stdout.trim().parse().unwrap();
    let all = fnstore(&["query", "lu=audit.v", "--limit", &count.to_string()]);
    assert_eq!((all.stdout.lines().count(), all.stderr.as_str()), (count, ""));
}

#[test]
fn counts_add_up() {
    let total: u64 = fnstore(&["query", "--count"]).stdout.trim().parse().unwrap();
    assert_eq!(total, 42);
    for field in ["frame", "lu", "pos", "lemma", "trigger", "origin", "status", "release", "split"]
    {
        let ran = fnstore(&["query", "--count-by", field]);
        assert!(ran.stdout.starts_with("value\tcount\n"), "{}", ran.stdout);
        let rows: Vec<(&str, u64)> = ran
            .stdout
            .lines()
            .skip(1)
            .map(|row| row.split_once('\t').unwrap())
            .map(|(value, count)| (value, count.parse().unwrap()))
            .collect();
        assert_eq!(rows.iter().map(|(_, count)| count).sum::<u64>(), total, "{field}");
        assert!(rows.is_sorted_by(|a, b| a.1 > b.1 || (a.1 == b.1 && a.0 < b.0)), "{rows:?}");
    }
    let origins = fnstore(&["query", "--count-by", "origin"]).stdout;
    assert_eq!(origins, "value\tcount\nexemplar\t34\nfulltext\t8\n");
    let documents = fnstore(&["query", "origin=fulltext", "--count-by", "document"]);
    assert_eq!(documents.stdout.lines().count(), 1 + 2);
    // A name of one format is that of all.
    let [csv, jsonl] = ["csv", "jsonl"].map(|format| {
        fnstore(&["query", "--count-by", "origin", "--limit", "1", "--format", format])
    });
    assert_eq!(csv.stdout, "value,count\nexemplar,34\n");
    let record = &jsonl.records()[0];
    assert_eq!((&record["value"], &record["count"]), (&"exemplar".into(), &34.into()));
}

#[test]
fn a_set_counts_once_for_each_of_its_elements() {
    let ran = fnstore(&["query", "id=x7014", "--count-by", "fe", "--format", "jsonl"]);
    let records = ran.records();
    assert!(records.iter().any(|record| record["value"] == "Matter" && record["count"] == 1));
}

#[test]
fn every_field_with_values_can_be_counted_by() {
    for (field, row) in [
        ("text", "They never mended the fence . \t1"),
        ("inherits", "Happening\t"),
        ("aligner", "(none)\t42"),
        ("id", "x7042\t1"),
    ] {
        let ran = fnstore(&["query", "--count-by", field]);
        assert!(ran.stdout.contains(row), "{field}: {}", ran.stdout);
    }
    let first = fnstore(&["query", "--count-by", "lu", "--limit", "2"]).stdout;
    assert_eq!(first.lines().count(), 1 + 2);
    for (field, message) in [
        ("fram", "unknown field `fram` at column 1; did you mean `frame`?"),
        ("since", "field `since` (column 1) has no value that can be shown, counted or compared"),
    ] {
        let ran = fnstore(&["query", "--count-by", field]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
}

#[test]
fn letter_case_matters_only_when_asked() {
    assert_eq!(fnstore(&["query", "trigger=CHECKED", "--count"]).code, Some(0));
    let strict = fnstore(&["query", "trigger=CHECKED", "--count", "--case-sensitive"]);
    assert_eq!((strict.code, strict.stdout.as_str()), (Some(1), "0\n"));
    let folded = fnstore(&["query", "trigger=CHECKED", "--count"]).stdout;
    assert_eq!(strict.stderr, format!("{} without `--case-sensitive`\n", folded.trim()));
    let rows = fnstore(&["query", "trigger=CHECKED", "--case-sensitive"]);
    assert!(rows.stderr.ends_with(&format!("{} without `--case-sensitive`\n", folded.trim())));
    let nowhere = fnstore(&["query", "trigger=nowhere", "--case-sensitive"]);
    assert_eq!((nowhere.code, nowhere.stderr.as_str()), (Some(1), "nothing found\n"));
}

#[test]
fn the_help_lists_every_field_with_its_operators() {
    let help = fnstore(&["query", "--help"]).stdout;
    for field in Field::ALL {
        let line = help.lines().find(|line| line.starts_with(&format!("  {} ", field.name())));
        let operators: Vec<String> = field.operators().iter().map(ToString::to_string).collect();
        let words = line.map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>());
        assert_eq!(words, Some(operators.iter().map(String::as_str).collect()), "{field}");
    }
    let wrong = fnstore(&["query", "frme=A"]);
    assert!(wrong.stderr.contains("`fnstore query --help` lists the fields"), "{wrong:?}");
}

#[test]
fn several_arguments_are_one_query() {
    let apart = fnstore(&["query", "frame=Checking", "origin=fulltext"]);
    let whole = fnstore(&["query", "frame=Checking origin=fulltext"]);
    assert_eq!(apart.stdout, whole.stdout);
    assert!(!apart.stdout.is_empty());
}

#[test]
fn nothing_found_is_exit_code_one() {
    for arguments in [
        vec!["query", "trigger=nowhere"],
        vec!["query", "trigger=nowhere", "--count"],
        vec!["query", "trigger=nowhere", "--count-by", "frame"],
    ] {
        assert_eq!(fnstore(&arguments).code, Some(1), "{arguments:?}");
    }
    assert!(fnstore(&["query", "trigger=nowhere"]).stderr.contains("nothing found"));
}

#[test]
fn a_wrong_name_comes_with_the_nearest() {
    for (query, message) in [
        ("farme=Checking", "unknown field `farme` at column 1; did you mean `frame`?"),
        ("frame=Cheking", "there is no frame `Cheking`; did you mean `Checking`?"),
        ("lu=inspct.v", "there is no lexical unit `inspct.v`; did you mean `inspect.v`?"),
        ("origin=exemplars", "expected `exemplar`"),
    ] {
        let ran = fnstore(&["query", query]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{query}");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
}

#[test]
fn whoever_asks_for_rejected_lus_is_told_where_they_stand() {
    let ran = fnstore(&["query", "lu_status=Rejected"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("`fnstore proposals decisions`"), "{}", ran.stderr);
}

#[test]
fn a_reader_that_has_read_enough_is_no_failure() {
    let store = new_store();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
        .args(["query", "--store", store.path().to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn queries_run_beside_a_writer() {
    let store = new_store();
    let _writer = fnstore::database::Database::open_existing_writer(store.path()).unwrap();
    assert_eq!(fnstore_in(store.path(), &["query", "--count"]).stdout, "42\n");
}
