//! The README is short and shows how to begin; ARCHITECTURE.md is short; pages are of four kinds.

use std::fs;
use std::path::Path;

/// Lines that a README may have.
const README_LINES: usize = 170;

/// The line by which the README shows a program.
const PROGRAM_LINE: usize = 25;

/// Lines that ARCHITECTURE.md may have.
const ARCHITECTURE_LINES: usize = 300;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

#[test]
fn the_readme_is_short_and_shows_how_to_begin() {
    let readme = read("README.md");
    let lines = readme.lines().count();
    assert!(lines <= README_LINES, "README.md has {lines} lines, at most {README_LINES}");
    let is_program = |line: &str| line.starts_with("```python") || line.starts_with("```rust");
    let program = readme.lines().position(is_program);
    assert!(program.is_some_and(|line| line < PROGRAM_LINE), "the first program is at {program:?}");
    // The documentation test takes its program from here.
    assert!(readme.contains("```rust,no_run"), "README.md lacks a program in Rust");
    for needed in [
        "make demo",
        "make test",
        "fnstore import",
        "fnstore query",
        "fnstore expand",
        "Start here",
    ] {
        assert!(readme.contains(needed), "README.md lacks `{needed}`");
    }
}

#[test]
fn the_page_of_the_architecture_is_short() {
    let lines = read("ARCHITECTURE.md").lines().count();
    assert!(lines <= ARCHITECTURE_LINES, "ARCHITECTURE.md has {lines} lines");
}

/// Whether a name is that of a result, as in `2026-11-23-tagging.md`.
fn is_dated(name: &str) -> bool {
    let form = "dddd-dd-dd-";
    let is_of_form = |(letter, of): (char, char)| match of {
        'd' => letter.is_ascii_digit(),
        _ => letter == of,
    };
    name.len() > form.len() && name.chars().zip(form.chars()).all(is_of_form)
}

#[test]
fn pages_are_of_four_kinds_and_results_have_a_date() {
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    };
    let loose: Vec<String> =
        names("docs").into_iter().filter(|name| name.ends_with(".md")).collect();
    assert_eq!(loose, [""; 0], "put a page into guides, concepts, reference or results");
    assert!(is_dated("2026-11-23-tagging.md") && !is_dated("tagging-of-words.md"));
    let results = names("docs/results");
    assert!(results.len() > 20);
    let undated: Vec<&String> = results.iter().filter(|name| !is_dated(name)).collect();
    assert!(undated.is_empty(), "results without a date: {undated:?}");
}
