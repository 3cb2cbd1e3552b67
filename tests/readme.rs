//! The pages lead where they say: every subcommand, every link, within the length that a README may
//! have.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines that a README may have.
const README_LINES: usize = 170;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

/// The subcommands that `fnstore --help` lists, `help` itself left out.
fn subcommands() -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_fnstore")).arg("--help").output().unwrap();
    assert!(output.status.success());
    let help = String::from_utf8(output.stdout).unwrap();
    let lines = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    // A description too long for its line goes on deeper than the names stand.
    let names = lines.take_while(|line| !line.trim().is_empty()).filter_map(|line| {
        let entry = line.strip_prefix("  ")?;
        (!entry.starts_with(' ')).then(|| entry.split_whitespace().next().map(str::to_owned))?
    });
    names.filter(|name| name != "help").collect()
}

/// Pages of a folder, by path from the root.
fn pages_in(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

/// Files of this repository that a page names in backquotes or as a link.
fn named_files(page: &str) -> Vec<String> {
    const FOLDERS: [&str; 8] =
        ["docs/", "schema/", "models/", "training/", "tests/", "src/", "examples/", "benches/"];
    let quoted = page.split('`').skip(1).step_by(2).map(str::to_owned);
    let linked = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let linked = linked.filter(|target| !target.contains("://")).map(str::to_owned);
    let named = quoted.filter(|name| {
        let is_path = FOLDERS.iter().any(|folder| name.starts_with(folder));
        let is_one =
            !name.contains(|letter: char| letter.is_whitespace() || "*<>{}$".contains(letter));
        is_path && is_one
    });
    named.chain(linked).collect()
}

#[test]
fn the_page_of_commands_names_every_subcommand() {
    let page = read("docs/reference/commands.md");
    let subcommands = subcommands();
    assert!(subcommands.iter().any(|name| name == "query"), "found only {subcommands:?}");
    for name in subcommands {
        assert!(
            page.contains(&format!("fnstore {name}")),
            "docs/reference/commands.md lacks `fnstore {name}`"
        );
    }
}

#[test]
fn the_readme_is_short_and_shows_how_to_begin() {
    let readme = read("README.md");
    let lines = readme.lines().count();
    assert!(lines <= README_LINES, "README.md has {lines} lines, at most {README_LINES}");
    for needed in ["make demo", "make test", "fnstore import", "fnstore query", "fnstore expand"] {
        assert!(readme.contains(needed), "README.md lacks `{needed}`");
    }
}

#[test]
fn files_that_a_page_names_are_there() {
    let mut pages = pages_in("");
    for folder in ["docs", "schema", "training"] {
        pages.extend(pages_in(folder));
    }
    assert!(pages.len() > 15, "found only {pages:?}");
    for page in pages {
        let folder = page.parent().unwrap();
        for name in named_files(&fs::read_to_string(&page).unwrap()) {
            let is_there = root().join(&name).exists() || folder.join(&name).exists();
            assert!(is_there, "{} names {name}, which is not there", page.display());
        }
    }
}
