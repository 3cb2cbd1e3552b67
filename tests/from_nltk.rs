//! `docs/reference/from-nltk.md` leaves out no call of NLTK's FrameNet reader, and what it says in
//! their place is so.
//!
//! The page's program is a documentation test (`src/lib.rs`); here its tables are held against that
//! program, against the list of NLTK's calls, and against the command line.

use std::fs;
use std::path::Path;

use crate::cli_program::fnstore;

/// The public calls of `nltk/corpus/reader/framenet.py` (3.10.4), and the fields of its objects.
const CALLS: [&str; 62] = [
    "frame(",
    "frame_by_id(",
    "frame_by_name(",
    "frames(",
    "frames_by_lemma(",
    "frame_ids_and_names(",
    "fes(",
    "lu(",
    "lu_basic(",
    "lus(",
    "lu_ids_and_names(",
    "frame_relation_types(",
    "frame_relations(",
    "fe_relations(",
    "semtypes(",
    "semtype(",
    "semtype_inherits(",
    "propagate_semtypes(",
    "annotations(",
    "sents(",
    "exemplars(",
    "ft_sents(",
    "doc(",
    "docs(",
    "docs_metadata(",
    "buildindexes(",
    "help(",
    "readme(",
    "warnings(",
    "frame.FE",
    "frame.FEcoreSets",
    "frame.lexUnit",
    "frame.frameRelations",
    "frame.semTypes",
    "frame.definition",
    "frame.definitionMarkup",
    "frame.URL",
    "FE.coreType",
    "FE.abbrev",
    "FE.requiresFE",
    "FE.excludesFE",
    "FE.semType",
    "lu.lexemes",
    "lu.sentenceCount",
    "lu.status",
    "lu.incorporatedFE",
    "lu.exemplars",
    "lu.subCorpus",
    "sent.annotationSet",
    "sent.Target",
    "sent.FE",
    "sent.FE2",
    "sent.FE3",
    "sent.GF",
    "sent.PT",
    "sent.POS",
    "sent.POS_tagset",
    "sent.targets",
    "sent.text",
    "aset.LU",
    "aset.frame",
    "aset.status",
];

struct Row {
    nltk: String,
    rust: Vec<String>,
    says_none: bool,
    commands: Vec<String>,
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/from-nltk.md");
    fs::read_to_string(path).unwrap()
}

/// What stands between backquotes.
fn code(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn rows(page: &str) -> Vec<Row> {
    let lines = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    let rows = lines.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        assert!((2..=3).contains(&cells.len()), "not three cells: {line}");
        let says_none = cells[1].starts_with("none: ");
        Row {
            nltk: cells[0].to_owned(),
            rust: if says_none { Vec::new() } else { code(cells[1]) },
            says_none,
            commands: cells.get(2).map(|cell| code(cell)).unwrap_or_default(),
        }
    });
    rows.filter(|row| row.nltk != "NLTK").collect()
}

/// The words of a command as a shell would part them; single quotes are all that the page uses.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in command.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    words
}

#[test]
fn every_call_of_nltk_has_a_row_and_an_answer() {
    let page = page();
    let rows = rows(&page);
    for call in CALLS {
        let is_it = |row: &&Row| {
            let name = row.nltk.trim_matches('`');
            if call.ends_with('(') { name.starts_with(call) } else { name == call }
        };
        let row = rows.iter().find(is_it).unwrap_or_else(|| panic!("no row for `{call}`"));
        assert!(row.says_none || !row.rust.is_empty(), "`{call}` has no answer");
    }
    assert!(rows.iter().any(|row| row.nltk.contains("(overt_spans, {fe_name: itype})")));
}

#[test]
fn every_rust_line_stands_in_the_program_that_is_run() {
    let page = page();
    let (_, program) = page.split_once("```rust\n").unwrap();
    let (program, _) = program.split_once("```").unwrap();
    let rows = rows(&page);
    assert!(rows.len() > 60);
    for line in rows.iter().flat_map(|row| &row.rust) {
        assert!(program.contains(line), "the program lacks `{line}`");
    }
}

#[test]
fn every_command_runs() {
    let page = page();
    let mut commands: Vec<String> = rows(&page).into_iter().flat_map(|row| row.commands).collect();
    commands.sort();
    commands.dedup();
    assert!(commands.len() > 30);
    for command in commands {
        let words = words(&command);
        let [program, arguments @ ..] = words.as_slice() else { panic!("{command}") };
        assert_eq!(program, "fnstore", "{command}");
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ran = fnstore(&arguments);
        // Nothing follows from the semantic types of the small lexicon.
        let expected = if command.contains("--propagate") { 1 } else { 0 };
        assert_eq!(ran.code, Some(expected), "{command}: {}", ran.stderr);
    }
}
