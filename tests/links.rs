//! Every page, file and heading that a page, a message, a test or a comment names is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files under a path of the repository whose names have one of the endings.
fn files(path: &str, endings: &[&str]) -> Vec<PathBuf> {
    let path = root().join(path);
    if path.is_file() {
        return vec![path];
    }
    let mut found = Vec::new();
    let mut folders = vec![path];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let ends = |end: &&str| name.ends_with(end);
            if path.is_dir() && !name.starts_with('.') && !["data", "target"].contains(&name) {
                folders.push(path);
            } else if endings.iter().any(ends) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The pages of the repository.
fn pages() -> Vec<PathBuf> {
    let tops = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let folders =
        ["docs", "schema", "training", "models", "python", "c", "tests", "benches", "tools"];
    let pages: Vec<PathBuf> =
        tops.iter().chain(&folders).flat_map(|path| files(path, &[".md"])).collect();
    assert!(pages.len() > 40, "found only {pages:?}");
    pages
}

/// A page without its fenced blocks.
fn prose(page: &str) -> String {
    let mut is_fenced = false;
    let lines = page.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        !is_fenced && !is_fence
    });
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// What stands between backquotes, and the rest of the text.
fn quoted(prose: &str) -> (Vec<&str>, String) {
    let mut parts = [Vec::new(), Vec::new()];
    for (i, part) in prose.split('`').enumerate() {
        parts[i % 2].push(part);
    }
    let [rest, quoted] = parts;
    (quoted, rest.join("`"))
}

/// The targets of a page's links into the repository: a path, and the heading behind `#`.
fn links(prose: &str) -> Vec<(String, Option<String>)> {
    let (_, text) = quoted(prose);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let relative =
        targets.filter(|target| !target.contains("://") && !target.starts_with("mailto"));
    let parted = relative.map(|target| match target.split_once('#') {
        Some((path, heading)) => (path.to_owned(), Some(heading.to_owned())),
        None => (target.to_owned(), None),
    });
    parted.collect()
}

/// The names by which links reach the headings of a page, as GitHub makes them.
fn anchors(page: &str) -> BTreeSet<String> {
    let prose = prose(page);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let anchors = headings.map(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let letters = heading.chars().filter(|&c| c.is_alphanumeric() || " -_".contains(c));
        letters.map(|c| if c == ' ' { '-' } else { c }).collect()
    });
    anchors.collect()
}

/// Files of this repository that a page names in backquotes.
fn named_files(prose: &str) -> Vec<String> {
    const FOLDERS: [&str; 8] =
        ["docs/", "schema/", "models/", "training/", "tests/", "src/", "examples/", "benches/"];
    let (quoted, _) = quoted(prose);
    let paths = quoted.into_iter().filter(|name| {
        let is_path = FOLDERS.iter().any(|folder| name.starts_with(folder));
        let is_one =
            !name.contains(|letter: char| letter.is_whitespace() || "*<>{}$".contains(letter));
        is_path && is_one
    });
    paths.map(str::to_owned).collect()
}

/// Pages of `docs/` and `schema/` that a source names, as in a comment or a message.
fn named_pages(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for folder in ["docs/", "schema/"] {
        for (at, _) in source.match_indices(folder) {
            let before = source[..at].chars().next_back();
            let is_inside = before.is_some_and(|c| c.is_alphanumeric() || "/-_.".contains(c));
            let path = &source[at..];
            let is_of_path = |c: char| c.is_ascii_alphanumeric() || "/-_.".contains(c);
            let end = path.find(|c| !is_of_path(c)).unwrap_or(path.len());
            let path = path[..end].trim_end_matches('.');
            if !is_inside && path.ends_with(".md") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn links_names_and_headings_are_found_in_a_page() {
    let page = "# A `b`, c-d!\n[x](y.md#z) [w](https://a.b) `a](b)` `docs/a.md` `src/*`\n\
                ```text\n# no\n[n](no.md)\n```\n[v](#a-b-c-d)\n";
    let text = prose(page);
    let target = |path: &str, heading: &str| (path.to_owned(), Some(heading.to_owned()));
    assert_eq!(links(&text), [target("y.md", "z"), target("", "a-b-c-d")]);
    assert_eq!(anchors(page), BTreeSet::from(["a-b-c-d".to_owned()]));
    assert_eq!(named_files(&text), ["docs/a.md"]);
    let source = "see docs/a/b.md. `schema/c.md` x/docs/d.md docs/e.svg \"../docs/f.md\"";
    assert_eq!(named_pages(source), ["docs/a/b.md", "schema/c.md"]);
}

#[test]
fn links_lead_to_files_and_headings_that_are_there() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        let folder = page.parent().unwrap();
        for (path, heading) in links(&prose(&fs::read_to_string(&page).unwrap())) {
            count += 1;
            let target = if path.is_empty() { page.clone() } else { folder.join(&path) };
            let is_there = match &heading {
                None => target.exists(),
                Some(heading) => fs::read_to_string(&target)
                    .is_ok_and(|target| anchors(&target).contains(heading)),
            };
            if !is_there {
                let heading = heading.map(|heading| format!("#{heading}")).unwrap_or_default();
                wrong.push(format!("{} leads to {path}{heading}", page.display()));
            }
        }
    }
    assert!(count > 50, "found only {count} links");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_that_a_page_names_are_there() {
    let mut wrong = Vec::new();
    for page in pages() {
        let folder = page.parent().unwrap();
        // A result is never edited: it names the sources of its day.
        let is_result = folder.ends_with("docs/results");
        for name in named_files(&prose(&fs::read_to_string(&page).unwrap())) {
            if is_result && name.starts_with("src/") {
                continue;
            }
            if !root().join(&name).exists() && !folder.join(&name).exists() {
                wrong.push(format!("{} names {name}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pages_that_a_source_names_are_there() {
    let endings = [".rs", ".py", ".sh", ".toml", ".js", ".html", ".pyi", ".ipynb", ".svg"];
    let places =
        ["src", "tests", "python", "tools", "training", "benches", "examples", "c", "Makefile"];
    let own = root().join("tests/links.rs");
    let mut wrong = Vec::new();
    let mut count = 0;
    for source in places.iter().flat_map(|place| files(place, &endings)) {
        // The examples above name what is not there.
        if source == own {
            continue;
        }
        let Ok(text) = fs::read_to_string(&source) else { continue };
        for name in named_pages(&text) {
            count += 1;
            if !root().join(name).exists() {
                wrong.push(format!("{} names {name}", source.display()));
            }
        }
    }
    assert!(count > 20, "found only {count} names");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
