//! Every schema of a record says what the record's type says.
//!
//! A type whose doc comment names `schema/NAME.schema.json` is what that file describes. The
//! schema is made of its fields: their types, serde's attributes, and their doc comments. A type
//! that writes itself says in its doc comment what it writes: JSON `{..}`. Titles, what a whole
//! record is, and what a field without a doc comment is, stand in the file alone.
//!
//! `FNSTORE_WRITE_GOLDEN=1` writes the files.

mod attributes;
mod form;
mod prose;
mod schema;
mod types;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prose::Files;
use schema::Maker;
use types::Types;

/// Schemas that no type gives yet, and why.
const BY_HAND: &[(&str, &str)] = &[
    (
        "macros make the types of JSON lines and of edits",
        "edit edited jsonl-decisions jsonl-discovery jsonl-document jsonl-document-layout jsonl-edition \
         jsonl-element jsonl-end jsonl-foreign jsonl-frame jsonl-frame-layout jsonl-header \
         jsonl-journal jsonl-judgement jsonl-layers jsonl-lexunit jsonl-lexunit-layout jsonl-links \
         jsonl-recipe jsonl-relation jsonl-release jsonl-release-layout jsonl-sem-type \
         jsonl-sentence jsonl-set jsonl-verification jsonl-written-number",
    ),
    ("goes in, or in and out", "alignment-answer alignment-task filter-data shard-manifest"),
    (
        "built in part by functions, or of types that write themselves",
        "augmented count hit paraphrase sentence",
    ),
    ("counts are a map, whose names the file lists", "import release"),
    ("its rows are written with those of others", "link-error-rate"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schema")
}

fn reason(name: &str) -> Option<&'static str> {
    BY_HAND.iter().find(|(_, names)| names.split(' ').any(|by_hand| by_hand == name)).map(|it| it.0)
}

/// The schemas that types name, each as its type has it.
pub(crate) fn made() -> BTreeMap<String, Result<String, String>> {
    let types = Types::read(&folder().with_file_name("src"));
    let files = Files::read(&folder());
    let mut all = BTreeMap::new();
    for of in types.all() {
        let Some(name) = of.schema() else { continue };
        let prose = files.root(&name).unwrap_or_else(|| panic!("no schema/{name}.schema.json"));
        let text = Maker::make(&types, of, prose)
            .map(|made| serde_json::to_string_pretty(&made).unwrap() + "\n");
        assert!(all.insert(name.clone(), text).is_none(), "two types name `{name}`");
    }
    all
}

#[test]
fn every_schema_is_what_its_type_says() {
    for (name, text) in made().into_iter().filter(|(name, _)| reason(name).is_none()) {
        let place = folder().join(format!("{name}.schema.json"));
        let text = text.unwrap();
        if std::env::var_os("FNSTORE_WRITE_GOLDEN").is_some() {
            std::fs::write(&place, &text).unwrap();
        }
        let there = std::fs::read_to_string(&place).unwrap();
        let differs = text.lines().zip(there.lines()).find(|(is, was)| is != was);
        let is_whole = differs.is_none() && text.len() == there.len();
        assert!(is_whole, "{name}: {differs:?}: FNSTORE_WRITE_GOLDEN=1 writes it");
    }
}

#[test]
fn a_schema_is_written_by_hand_only_where_no_type_gives_it() {
    let made = made();
    let listed = BY_HAND.iter().flat_map(|(_, names)| names.split(' '));
    for name in listed.clone() {
        let there = std::fs::read_to_string(folder().join(format!("{name}.schema.json"))).unwrap();
        let is_given = made.get(name).is_some_and(|text| *text == Ok(there));
        assert!(!is_given, "`{name}` is what its type says: take it from the list");
        assert_eq!(listed.clone().filter(|other| *other == name).count(), 1, "{name} twice");
    }
    for name in Files::read(&folder()).names() {
        assert!(made.contains_key(name) || reason(name).is_some(), "`{name}` has no type");
    }
}
