//! No text moves the terminal's cursor: control characters are shown by their code points in
//! whatever is laid out for reading, in messages and in errors, and stay as they are in data.

use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in};

/// A text that would turn red, ring, and turn the direction of writing.
const TEXT: &str = "ab\u{1b}[31mred\u{7} \u{9b}2J \u{7f}\u{202e}cd\u{2066} end";

/// The same as it is shown.
const SHOWN: &str = "ab<U+001B>[31mred<U+0007> <U+009B>2J <U+007F><U+202E>cd<U+2066> end";

fn store() -> &'static Path {
    static STORE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let dir = STORE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let end = TEXT.chars().count();
        let span = json!({"start": 0, "end": end, "type": "bidi\u{202e}type", "lemma": "bidi\u{202e}lemma"});
        let line = json!({"text": TEXT, "id": "bidi\u{202e}id", "spans": [span]});
        let file = dir.path().join("spans.jsonl");
        std::fs::write(&file, line.to_string()).unwrap();
        let store = dir.path().join("store");
        let ran = fnstore_in(&store, &["import", file.to_str().unwrap(), "--format", "table"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        is_tame(&ran, "import");
        dir
    });
    Box::leak(dir.path().join("store").into_boxed_path())
}

fn obeyed(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\t')
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_tame(ran: &Ran, what: &str) {
    for (name, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        assert!(!text.contains(obeyed), "{what}: {name} holds {text:?}");
    }
}

#[test]
fn every_table_shows_them() {
    let set = fnstore_in(store(), &["query"]).records()[0]["id"].as_str().unwrap().to_owned();
    let sentence = fnstore_in(store(), &["query"]).records()[0]["sentence"].clone();
    let sentence = sentence["id"].as_str().or(sentence.as_str()).map(str::to_owned);
    let release = "release=spans";
    let set_of = format!("annotation {set}");
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["query"],
        vec!["query", "--fields", "id,frame,lu,text,trigger,document"],
        vec!["query", "--count-by", "text"],
        vec!["query", "--count-by", "lu", release],
        vec!["query", "--explain", "frame=bidi\u{202e}type"],
        vec!["show", &set_of],
        vec!["show", "frame", "bidi\u{202e}type"],
        vec!["show", "lu", "bidi\u{202e}lemma.x"],
        vec!["show", "document", "bidi\u{202e}id"],
        vec!["frames"],
        vec!["lus"],
        vec!["fes"],
        vec!["relations", "bidi\u{202e}type"],
        vec!["valence", "bidi\u{202e}lemma.x"],
        vec!["releases"],
        vec!["stats"],
        vec!["changes"],
        vec!["check"],
    ];
    let sentence = sentence.map(|id| format!("sentence {id}"));
    if let Some(sentence) = &sentence {
        commands.push(vec!["show", sentence]);
    }
    let mut shown = 0;
    for mut command in commands {
        command.extend(["--format", "table"]);
        let ran = fnstore_in(store(), &command);
        assert!(matches!(ran.code, Some(0 | 1)), "{command:?}: {}", ran.stderr);
        is_tame(&ran, &format!("{command:?}"));
        shown += usize::from(ran.stdout.contains("<U+202E>"));
    }
    assert!(shown >= 8, "{shown}");
    assert!(fnstore_in(store(), &["query", "--format", "table"]).stdout.contains(SHOWN));
}

#[test]
fn marks_stand_under_what_is_shown() {
    let drawn = fnstore_in(store(), &["query", "--format", "table"]).stdout;
    let lines: Vec<&str> = drawn.lines().collect();
    assert_eq!(lines[1].trim(), SHOWN);
    assert_eq!(lines[2].trim(), "*".repeat(SHOWN.len()));
}

#[test]
fn data_keeps_the_text_as_it_is() {
    let records = fnstore_in(store(), &["query", "--format", "jsonl"]).records();
    assert_eq!(records[0]["text"], TEXT);
    let whole = fnstore_in(store(), &["query", "--format", "json"]).stdout;
    assert_eq!(serde_json::from_str::<Value>(&whole).unwrap()[0]["text"], TEXT);
    for format in ["csv", "tsv"] {
        let ran = fnstore_in(store(), &["query", "--fields", "text", "--format", format]);
        assert_eq!(ran.stdout, format!("text\n{TEXT}\n"), "{format}");
    }
    let exported = fnstore_in(store(), &["export", "--to", "jsonl"]);
    assert!(exported.stdout.contains("\u{9b}2J"), "{}", exported.stderr);
}

#[test]
fn messages_and_errors_show_them() {
    for command in [
        vec!["query", "frame=no\u{1b}[2Jframe"],
        vec!["query", "frame=bidi\u{202e}typo"],
        vec!["query", "doc=bidi\u{202e}ie"],
        vec!["query", "origin=\u{9b}"],
        vec!["query", "text~\"(\u{1b}\""],
        vec!["query", "\u{1b}=1"],
        vec!["show", "frame", "\u{1b}"],
        vec!["import", "/nowhere/\u{1b}[2J"],
        vec!["query", "--sort", "\u{202e}"],
    ] {
        let ran = fnstore_in(store(), &command);
        assert_eq!(ran.code, Some(2), "{command:?}: {}", ran.stderr);
        let shows = ran.stderr.contains("<U+") || ran.stderr.contains("\\u{");
        assert!(shows, "{command:?}: {}", ran.stderr);
        is_tame(&ran, &format!("{command:?}"));
    }
}
