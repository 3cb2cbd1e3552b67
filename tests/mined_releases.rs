//! A release of mined pairs: what `fnstore mine` writes is imported, and the sides of a pair are
//! found together.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::mining::{ARTICLES, run};

/// A store that was to get the release `news` of these lines, and how its import went.
fn import(lines: &str) -> (TempDir, Ran) {
    let store = new_store();
    let file = store.path().with_extension("jsonl");
    fs::write(&file, lines).unwrap();
    let ran = fnstore_in(store.path(), &["import", file.to_str().unwrap(), "--release", "news"]);
    fs::remove_file(file).unwrap();
    (store, ran)
}

fn ids(ran: &Ran) -> Vec<String> {
    ran.records().iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_two_sides_of_a_pair_are_the_sets_of_one_lu() {
    let mined = run(&["mine"], ARTICLES);
    let pairs = mined.records();
    let (store, ran) = import(&mined.stdout);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let hurt = pairs.iter().find(|pair| pair["source"] == "Nobody was hurt.").unwrap();
    let name = hurt["id"].as_str().unwrap();
    let query = |query: &str| fnstore_in(store.path(), &["query", query, "--format", "jsonl"]);
    let sides = query(&format!("frame=l12 lu={name}.x"));
    let texts: Vec<Value> = sides.records().iter().map(|set| set["text"].clone()).collect();
    assert_eq!(texts.len(), 2, "{}", sides.stdout);
    for side in ["source", "target"] {
        assert!(texts.contains(&hurt[side]), "{}", sides.stdout);
    }
    // Provenance: cluster, article, day, and the edits between the two.
    assert_eq!(query("corpus=fire").records().len(), 2 * pairs.len());
    assert_eq!(
        ids(&query(&format!("lu={name}.x doc=b"))),
        ids(&query(&format!("lu={name}.x doc=2004-08-24")))
    );
    let lexunit = fnstore_in(store.path(), &["show", &format!("lu={name}.x"), "--format", "json"]);
    assert!(lexunit.stdout.contains("\"2 edits\""), "{}{}", lexunit.stdout, lexunit.stderr);
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn a_pair_says_how_alike_it_is() {
    let mined = run(&["mine", "--least", "0"], ARTICLES).stdout;
    let (store, ran) = import(&mined);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lus = fnstore_in(store.path(), &["lus", "--format", "jsonl"]).stdout;
    assert!(lus.contains(" edits, likeness 0."), "{lus}");
    let (_, wrong) = import(&mined.replace("\"likeness\":", "\"likeness\":7"));
    assert_ne!(wrong.code, Some(0));
    assert!(wrong.stderr.contains("a number from 0 to 1"), "{}", wrong.stderr);
}

#[test]
fn a_sentence_of_many_pairs_is_one_sentence() {
    let line = |id: &str, target: &str, number: u32| {
        let place = |number: u32| json!({"article": "a", "sentence": number});
        let pair = json!({"id": id, "cluster": "c", "source": "It rains.", "target": target, "method": "f2",
            "source_at": place(0), "target_at": place(number), "shared": 3});
        pair.to_string() + "\n"
    };
    let (store, ran) = import(&(line("m1", "Rain falls.", 1) + &line("m2", "It pours.", 2)));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let sets = fnstore_in(store.path(), &["query", "frame=f2", "--format", "jsonl"]).records();
    let mut sentences: Vec<&str> =
        sets.iter().map(|set| set["sentence"].as_str().unwrap()).collect();
    sentences.sort_unstable();
    sentences.dedup();
    assert_eq!((sets.len(), sentences.len()), (4, 3));
}

#[test]
fn a_pair_that_is_none_is_told_with_its_field_and_imports_nothing() {
    let good = json!({"id": "m1", "cluster": "c", "source": "a", "target": "b", "method": "l12", "edits": 2,
        "source_at": {"article": "a", "sentence": 0}, "target_at": {"article": "b", "sentence": 1}});
    for (field, value, told) in [
        ("cluster", json!(""), "`cluster` is `\"\"`"),
        ("id", Value::Null, "`id` is `missing`"),
        ("source", json!(""), "`source` is `\"\"`, expected a sentence"),
        ("target", json!(7), "`target` is `7`"),
        ("target_at", json!("b.1"), "`target_at` is `\"b.1\"`, expected an object"),
        ("source_at", json!({"sentence": 0}), "`source_at.article` is `missing`"),
        ("source_at", json!({"article": "a", "sentence": -1}), "`source_at.sentence` is `-1`"),
        ("source_at", json!({"article": "a", "sentence": 0, "page": 3}), "`source_at.page` is `3`"),
        ("edits", json!("few"), "`edits` is `\"few\"`, expected a whole number"),
        ("distance", json!(2), "`distance` is `2`, expected no such key"),
    ] {
        let mut wrong = good.clone();
        wrong[field] = value;
        let (store, ran) = import(&format!("{good}\n{wrong}\n"));
        assert_eq!(ran.code, Some(65), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("E-value: ") && ran.stderr.contains("jsonl:2: "),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
        let releases = fnstore_in(store.path(), &["releases", "--format", "jsonl"]);
        assert_eq!(releases.records().len(), 1, "{}", releases.stdout);
    }
}
