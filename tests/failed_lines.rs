//! Commands that answer lines, on lines that have no answer: each record bears its line's mark.

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::cli_program::Ran;

/// A line that cannot be read, one whose sentence cannot be worked on, one without a mark, and text
/// that is no JSON.
const LINES: &str = "{\"id\": \"a\", \"text\": \"They checked it.\", \"txt\": 5}\n\
                     {\"id\": [7], \"text\": \"\"}\n{\"txt\": 5}\n{\"id\": 9,\n";

fn failed(command: &[&str]) -> Vec<(Option<Value>, bool)> {
    let mut program = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    let ran = Ran::of(program.args(command).write_stdin(LINES).output().unwrap());
    assert_eq!(ran.code, Some(65), "{ran:?}");
    let records = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let failed = records.map(|record| (record.get("id").cloned(), record["error"].is_object()));
    failed.collect()
}

#[test]
fn a_line_that_fails_keeps_its_mark() {
    let marks = [Some(json!("a")), Some(json!([7])), None, None];
    let expected: Vec<_> = marks.into_iter().map(|mark| (mark, true)).collect();
    for command in [
        &["tag"][..],
        &["align", "spans"],
        &["paraphrase", "--model", "paraphrase", "--device", "cpu"],
    ] {
        assert_eq!(failed(command), expected, "{command:?}");
    }
}
