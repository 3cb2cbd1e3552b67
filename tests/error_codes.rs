//! Kinds and codes of errors: the command line knows every type that has them, every hint belongs
//! to a code, and the pages list the codes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn files_under(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files_under(&path, found),
            false => found.push(path),
        }
    }
}

/// The source text of the library, without its unit tests.
fn library() -> Vec<String> {
    let mut files = Vec::new();
    files_under(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let is_library = |path: &&PathBuf| !path.iter().any(|part| part == "cli");
    let texts = files.iter().filter(is_library).map(|path| fs::read_to_string(path).unwrap());
    texts.map(|text| text.split("\n#[cfg(test)]\nmod ").next().unwrap().to_owned()).collect()
}

/// What stands between two texts, everywhere.
fn between<'a>(text: &'a str, before: &'a str, after: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(move |rest| Some(rest.split_once(after)?.0))
}

/// The words between marks that have the form of a code, as `S-locked`.
fn codes<'a>(text: &'a str, mark: char) -> BTreeSet<&'a str> {
    let is_code = |word: &&'a str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|first| first.is_ascii_uppercase())
            && letters.next() == Some('-')
            && letters.next().is_some_and(|third| third.is_ascii_lowercase())
            && letters.all(|letter| letter.is_ascii_lowercase() || "-0123456789".contains(letter))
    };
    text.split(mark).filter(is_code).collect()
}

#[test]
fn the_command_line_knows_every_type_that_has_a_kind() {
    let (cli, error) = (read("src/cli/error.rs"), read("src/error.rs"));
    let own = between(&cli, "[read::<", "];").flat_map(|list| list.split(", "));
    let own = own.map(|read| read.trim_start_matches("read::<").trim_end_matches('>'));
    let (_, list) = error.split_once("\nerrors! {").unwrap();
    let (list, _) = list.split_once("\n}").unwrap();
    let lines = list.lines().filter_map(|line| line.strip_suffix(','));
    let of_library = lines.map(|line| line.rsplit("::").next().unwrap());
    let listed: BTreeSet<&str> = own.chain(of_library).collect();
    let library = library();
    let mut coded: BTreeSet<&str> = between(&cli, "impl Coded for ", " {").collect();
    for text in &library {
        coded.extend(between(text, "\ncoded!(", " {"));
        coded.extend(between(text, "impl Coded for std::io::", " {"));
    }
    assert!(coded.len() > 30, "{coded:?}");
    assert_eq!(listed, coded);
}

#[test]
fn every_hint_belongs_to_a_code_of_the_library() {
    let cli = read("src/cli/error.rs");
    let (_, table) = cli.split_once("const HINTS").unwrap();
    let (table, _) = table.split_once("\n];").unwrap();
    let hinted = codes(table, '"');
    assert!(hinted.len() > 40, "{hinted:?}");
    let library = library().concat();
    let known = codes(&library, '"');
    assert_eq!(hinted.difference(&known).collect::<Vec<_>>(), [&""; 0]);
}

#[test]
fn a_code_has_one_kind() {
    let library = library();
    let mut kinds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for text in &library {
        for (before, after) in text.match_indices(".coded(\"").map(|(at, _)| text.split_at(at)) {
            let kind = before.rsplit(|letter: char| !letter.is_alphanumeric()).next().unwrap();
            kinds.entry(after.split('"').nth(1).unwrap()).or_default().insert(kind);
        }
    }
    assert!(kinds.len() > 60, "{kinds:?}");
    kinds.retain(|_, of| of.len() > 1);
    assert!(kinds.is_empty(), "{kinds:?}");
}

#[test]
fn the_pages_list_the_codes_that_there_are() {
    let page = read("docs/reference/errors.md");
    let others = ["schema/check.md", "schema/exchange.md", "docs/reference/models.md"]
        .map(|name| (name, read(name)));
    for (name, _) in &others {
        assert!(
            page.contains(&format!(
                "({})",
                name.replace("docs/reference/", "").replace("schema", "../../schema")
            )),
            "{name}"
        );
    }
    let pages: String = others.into_iter().map(|(_, page)| page).chain([page.clone()]).collect();
    let listed = codes(&pages, '`');
    let library = library();
    for text in &library {
        for block in between(text, "\ncoded!(", "});") {
            let missing: Vec<_> = codes(block, '"').difference(&listed).copied().collect();
            assert_eq!(missing, [""; 0], "no page lists them");
        }
    }
    let all = library.concat();
    let known = codes(&all, '"');
    assert_eq!(codes(&page, '`').difference(&known).collect::<Vec<_>>(), [&""; 0]);
}
