//! One set of defaults for whatever rewrites: helps, library and recipes agree.

use std::path::Path;

use fnstore::engine::{BeamSettings, Numbers};
use serde_json::Value;

use crate::cli_program::{fnstore, fnstore_in, new_store};

/// What a command's help says of an option.
fn said(command: &str, option: &str) -> String {
    let arguments: Vec<&str> = command.split(' ').chain(["--help"]).collect();
    let help = fnstore(&arguments).stdout;
    let of_option = help.split("\n      --").find(|text| text.starts_with(&option[2..]));
    of_option.unwrap_or_else(|| panic!("`{command}` has no {option}")).to_owned()
}

#[test]
fn helps_have_the_defaults_of_the_library() {
    let BeamSettings { beam_size, n_best, .. } = BeamSettings::default();
    assert_eq!((beam_size, n_best, Numbers::default()), (8, 8, Numbers::Blocks));
    let of_beam = ["expand", "paraphrase", "augment nli", "augment qa", "augment mt"];
    for command in of_beam {
        assert!(said(command, "--beam").contains("[default: 8]"), "{command}");
    }
    assert!(said("expand", "--candidates").contains("[default: 8, at most"));
    assert!(said("paraphrase", "--n-best").contains("[default: 8]"));
    let more = ["generate", "substitutes", "score", "align tasks", "eval scratch"];
    for command in of_beam.into_iter().chain(more).chain(["eval generation"]) {
        let numbers = said(command, "--numbers");
        assert!(numbers.contains("[default: blocks]"), "{command}: {numbers}");
    }
}

fn expand(store: &Path, more: &[&str]) -> Value {
    let arguments =
        ["expand", "lu=audit.v", "--model", "paraphrase", "--rounds", "1", "--format", "json"];
    let ran = fnstore_in(store, &[&arguments[..], more].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn an_expansion_of_other_numbers_is_another_recipe_and_is_continued_by_name() {
    let store = new_store();
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    std::fs::write(file.path(), "beam = 2\ncandidates = 2\nnumbers = \"f32\"\n").unwrap();
    let older = ["--beam", "2", "--candidates", "2", "--numbers", "f32"];
    let first = expand(store.path(), &older);
    assert_eq!((&first["recipe"], &first["done_before"]), (&1.into(), &0.into()));
    let default = expand(store.path(), &older[..4]);
    assert_eq!((&default["recipe"], &default["done_before"]), (&2.into(), &0.into()));
    let again = expand(store.path(), &["--recipe", &file.path().to_string_lossy()]);
    assert_eq!((&again["recipe"], &again["done_before"]), (&1.into(), &first["seeds"]));
    // What is typed comes before the file.
    let typed = ["--recipe", &file.path().to_string_lossy(), "--numbers", "blocks"];
    assert_eq!(expand(store.path(), &typed)["recipe"], 2);
}
