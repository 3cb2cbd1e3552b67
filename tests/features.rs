//! The features of a build: the page lists those there are, with the crates of each, and none makes
//! RocksDB compile anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// The features of Cargo.toml with what each turns on.
fn declared() -> BTreeMap<String, BTreeSet<String>> {
    let manifest = read("Cargo.toml");
    let (_, rest) = manifest.split_once("\n[features]\n").unwrap();
    let (table, _) = rest.split_once("\n[").unwrap();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let features = lines.filter_map(|line| line.split_once(" = ["));
    features
        .map(|(name, list)| {
            let parts = list.trim_end_matches(']').split(", ");
            (name.to_owned(), parts.map(|part| part.trim_matches('"').to_owned()).collect())
        })
        .collect()
}

/// The rows of the page's table of builds: what is turned on, and the number of crates.
fn listed() -> Vec<(String, usize)> {
    let page = read("docs/reference/features.md");
    let rows = page.lines().filter(|line| line.starts_with("| `--no-default-features"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let build = cells[1].trim_matches('`').to_owned();
        (build, cells[2].parse().unwrap_or_else(|_| panic!("no number of crates: {row}")))
    })
    .collect()
}

/// The lines of `cargo tree` for a build on Linux, each after its depth.
fn tree(build: &str) -> Vec<(usize, String)> {
    let arguments = "tree --locked --offline --target x86_64-unknown-linux-gnu --edges no-dev \
                     --no-dedupe --prefix depth";
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments.split_whitespace())
        .args(["--format", ";{p};{f}"])
        .args(build.split_whitespace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once(';'));
    lines.map(|(depth, what)| (depth.parse().unwrap(), what.to_owned())).collect()
}

/// What RocksDB is built from, with the features of each.
fn rocksdb(tree: &[(usize, String)]) -> BTreeSet<&str> {
    let own = tree.iter().position(|(_, what)| what.starts_with("librocksdb-sys ")).unwrap();
    let below = tree[own + 1..].iter().take_while(|(depth, _)| *depth > tree[own].0);
    tree[own..=own].iter().chain(below).map(|(_, what)| what.as_str()).collect()
}

#[test]
fn the_page_lists_the_features_that_there_are() {
    let features = declared();
    assert!(features.len() > 5, "{features:?}");
    let page = read("docs/reference/features.md");
    let (table, _) = page.split_once("\n## ").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let named: BTreeSet<&str> = rows.map(|(name, _)| name).collect();
    let without_default = features.keys().filter(|name| *name != "default");
    assert_eq!(named, without_default.map(String::as_str).collect());
    // Whoever takes what comes by itself has everything.
    assert_eq!(features["default"], named.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_page_counts_the_crates_of_each_build() {
    let builds = listed();
    assert!(builds.len() > 5, "{builds:?}");
    let counted = builds.iter().map(|(build, _)| {
        let crates: BTreeSet<String> = tree(build)
            .into_iter()
            .map(|(_, what)| what.split([';', ' ']).take(2).collect::<Vec<_>>().join(" "))
            .collect();
        (build.clone(), crates.len())
    });
    assert_eq!(builds, counted.collect::<Vec<_>>());
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn no_feature_makes_rocksdb_compile_anew() {
    let whole = tree("");
    let whole = rocksdb(&whole);
    assert!(whole.len() > 10, "{whole:?}");
    for (build, _) in listed() {
        let other = tree(&build);
        assert_eq!(rocksdb(&other), whole, "{build}");
    }
}
