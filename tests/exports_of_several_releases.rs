//! Exports over a store of several releases: told where each record names its release, refused
//! where it does not. And `--with-base`, where it says nothing.

use std::path::Path;

use serde_json::Value;

use crate::cli_program::{fnstore_in, mini_framenet, new_store};
use crate::cli_schema::generate;

/// A store of two releases, with a generated set in the first.
fn two_releases() -> tempfile::TempDir {
    let store = new_store();
    generate(store.path());
    let mini = mini_framenet();
    let again = ["import", mini.to_str().unwrap(), "--release", "second"];
    assert_eq!(fnstore_in(store.path(), &again).code, Some(0));
    store
}

const SPANS: &str =
    "may span 2 releases, `mini-framenet`, `second`; `release=NAME` asks one of them";

/// What `--training` adds to a format's name.
fn arguments<'a>(format: &'a str, file: &'a str) -> Vec<&'a str> {
    match format.strip_suffix("+training") {
        Some(format) => vec!["--training", "--to", format, file],
        None => vec!["--to", format, file],
    }
}

#[test]
fn formats_whose_records_name_their_release_take_several_and_say_so() {
    let (store, folder) = (two_releases(), tempfile::tempdir().unwrap());
    let export = |expression: &str, format: &str, file: &Path| {
        let to = arguments(format, file.to_str().unwrap());
        let ran = fnstore_in(store.path(), &[&["export", expression, "--force"], &to[..]].concat());
        assert_eq!(ran.code, Some(0), "{format}: {ran:?}");
        ran.stderr
    };
    for format in ["csv", "parquet", "jsonl+training", "parquet+training"] {
        let file = folder.path().join(format);
        let said = export("frame=Checking", format, &file);
        assert!(said.contains(&format!("the export {SPANS}")), "{format}: {said}");
        let said = export("frame=Checking release=second", format, &file);
        assert!(!said.contains("releases"), "{format}: {said}");
        let said = export("frame=Checking release=*", format, &file);
        assert!(!said.contains("may span"), "who names releases knows of them: {said}");
    }
    let lines = std::fs::read_to_string(folder.path().join("jsonl+training")).unwrap();
    let names: std::collections::BTreeSet<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["release"].to_string())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn formats_whose_ids_are_those_of_one_release_refuse_several() {
    let (store, folder) = (two_releases(), tempfile::tempdir().unwrap());
    let blocks = ["conll", "bios", "conllu-plus", "training-conll", "training-bios"];
    for format in blocks.into_iter().chain(["semafor", "jsonl"]) {
        let file = folder.path().join("out");
        let to = arguments(format, file.to_str().unwrap());
        let run = |expression: &str| {
            fnstore_in(store.path(), &[&["export", expression, "--force"], &to[..]].concat())
        };
        let ran = run("frame=Checking");
        assert_eq!(ran.code, Some(2), "{format}: {ran:?}");
        let message = "several releases (`mini-framenet`, `second`), and one is expected; name it \
                       with `release=NAME` (X-releases)";
        assert!(ran.stderr.contains(message), "{format}: {}", ran.stderr);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{format}");
        // Sets of one release are of one, whatever others there are.
        for one in ["origin=generated", "frame=Checking release=second"] {
            let ran = run(one);
            assert_eq!(ran.code, Some(0), "{format}: {ran:?}");
        }
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
}

#[test]
fn the_base_goes_along_with_additions_alone() {
    let store = two_releases();
    let run = |expression: &str, to: &str| {
        fnstore_in(store.path(), &["export", expression, "--with-base", "--to", to])
    };
    let kinds = |lines: &str| {
        let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.filter(|record| record["kind"] == "frame").count()
    };
    let with = run("origin=generated", "jsonl");
    assert_eq!((with.code, kinds(&with.stdout) > 0), (Some(0), true), "{}", with.stderr);
    for expression in ["frame=Checking release=second", "release=second", ""] {
        let ran = run(expression, "jsonl");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{expression}: {ran:?}");
        let message = "`--with-base` is for an expression with `origin=generated` or `origin=user`";
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    for format in ["csv", "conll", "bios", "parquet"] {
        let ran = run("origin=generated", format);
        assert_eq!(ran.code, Some(2), "{format}: {ran:?}");
        assert!(ran.stderr.contains("`--with-base` is for `--to jsonl`"), "{}", ran.stderr);
    }
}
