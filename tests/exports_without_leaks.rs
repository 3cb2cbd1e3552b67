//! Training sentences that stand in dev or test: exports warn of them, `--no-leaks` leaves them
//! out, a split list takes them out of all parts, and `sentence=` finds their sets.

use std::path::Path;

use fnstore::database::{Database, Write};
use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::generated;

/// Sentence 5001 illustrates `check.v` and `inspect.v`: it stands in both parts. The generated set
/// g1 grew from its set x7002 of `check.v`.
const LINES: &str = "exemplars\t*\ttrain\nlu\tinspect.v\ttest\n";

fn expanded() -> tempfile::TempDir {
    let store = new_store();
    crate::cli_schema::generate(store.path());
    store
}

fn under(store: &Path, lines: &str, arguments: &[&str]) -> Ran {
    let list = store.join("fold.tsv");
    std::fs::write(&list, lines).unwrap();
    fnstore_in(store, &[arguments, &["--split-list", list.to_str().unwrap()]].concat())
}

/// Ids and sentences of the sets of an export.
fn exported(ran: &Ran) -> Vec<(String, String)> {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let pair = |sentence: &Value, set: &Value| {
        let text = |of: &Value, name: &str| of[name].as_str().unwrap().to_owned();
        (text(set, "id"), text(sentence, "sentence"))
    };
    let records = ran.records();
    let of_record = |record: &Value| {
        let sets = record["sets"].as_array().unwrap();
        sets.iter().map(|set| pair(record, set)).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = records.iter().flat_map(of_record).collect();
    all.sort();
    all
}

#[test]
fn an_export_with_parts_warns_and_leaves_leaks_out_when_told() {
    let store = expanded();
    let export = ["export", "split=train", "--training", "--to", "jsonl"];
    let warned = under(store.path(), LINES, &export);
    let with_leaks = exported(&warned);
    assert!(warned.stderr.contains("warning: 2 training sentences ("), "{}", warned.stderr);
    assert!(warned.stderr.contains("stand in dev or test, too, as `x5001` beside `x5001`"));
    let of_people = [&export[..2], &["origin=exemplar"], &export[2..]].concat();
    let warned = under(store.path(), LINES, &of_people);
    assert!(warned.stderr.contains("warning: 1 training sentence ("), "{}", warned.stderr);
    assert!(warned.stderr.contains(") stands in dev or test, too"), "{}", warned.stderr);
    assert!(warned.stderr.contains("`--no-leaks` leaves it out, "), "{}", warned.stderr);
    let told = under(store.path(), LINES, &[&export[..], &["--no-leaks"]].concat());
    let without = exported(&told);
    assert!(told.stderr.contains("left out: 2 training sentences ("), "{}", told.stderr);
    let gone: Vec<_> = with_leaks.iter().filter(|of| !without.contains(of)).collect();
    let of_people = fnstore_in(store.path(), &["query", "sentence=x5001 lu!=inspect.v", "--count"]);
    assert_eq!(gone.len().to_string(), (count(&of_people) + 1).to_string(), "{gone:?}");
    assert!(gone.iter().all(|(id, sentence)| sentence == "x5001" || id == "g1"), "{gone:?}");
    // Nothing is left that leaks.
    let list = "exemplars\t*\ttrain\nlu\tinspect.v\ttest\nsentence\tx5001\tnone\n";
    assert_eq!(exported(&under(store.path(), list, &export)), without);
}

fn count(ran: &Ran) -> u64 {
    ran.stdout.trim().parse().unwrap()
}

#[test]
fn exports_without_leaks_or_without_parts_say_nothing_of_them() {
    let store = expanded();
    let export = |lines: &str, more: &[&str]| {
        under(store.path(), lines, &[&["export"], more, &["--training", "--to", "jsonl"]].concat())
    };
    for (lines, query) in [
        ("exemplars\t*\ttrain\n", "split=train"),
        (LINES, "split=test"),
        (LINES, "origin=exemplar lu=inspect.v"),
    ] {
        let ran = export(lines, &[query]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!ran.stderr.contains("dev or test"), "{query}: {}", ran.stderr);
    }
    // Records of sentences name their parts, whether or not the query asks for one.
    let ran = export(LINES, &["origin=exemplar"]);
    assert!(ran.stderr.contains("in dev or test, too"), "{}", ran.stderr);
    let plain = under(store.path(), LINES, &["export", "origin=exemplar", "--to", "csv"]);
    assert!(!plain.stderr.contains("dev or test"), "{}", plain.stderr);
    // Asked for, they are left out wherever they stand.
    let all = exported(&export(LINES, &["origin=exemplar"]));
    let left = exported(&export(LINES, &["origin=exemplar", "--no-leaks"]));
    assert!(left.len() < all.len(), "{} of {}", left.len(), all.len());
    let in_test = |ids: &[(String, String)]| ids.iter().filter(|of| of.1 == "x5001").count();
    let inspected = fnstore_in(store.path(), &["query", "sentence=x5001 lu=inspect.v", "--count"]);
    assert_eq!(in_test(&left) as u64, count(&inspected));
}

/// A chain of two rounds, g101 and g102, whose first output is a sentence of `inspect.v`.
fn rewritten() -> tempfile::TempDir {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    let (mut sentence, set) = generated::sets(&database, release).remove(0);
    sentence.text = "Two officers inspected the ship in the harbour .".to_owned();
    let write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
    database.write(release, &write).unwrap();
    store
}

/// Ids of the sets of a lossless export.
fn written(ran: &Ran) -> Vec<String> {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    let sets = records.iter().filter(|record| record["kind"] == "set");
    sets.map(|set| set["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_grew_from_a_leak_in_any_round_leaks_and_no_file_brings_it_back() {
    let store = rewritten();
    let export = |query: &str, more: &[&str]| {
        under(store.path(), LINES, &[&["export", query, "--to", "jsonl"], more].concat())
    };
    let grown = |ran: &Ran| {
        let ids = written(ran).into_iter().filter(|id| id.starts_with('g'));
        ids.collect::<Vec<_>>()
    };
    for query in ["split=train", "split=train origin=generated"] {
        assert_eq!(grown(&export(query, &[])), ["g101", "g102"], "{query}");
    }
    let none: Vec<String> = Vec::new();
    assert_eq!(grown(&export("split=train", &["--no-leaks"])), none);
    // The source of a rewriting is not asked for here, and is written beside it.
    let second = export("split=train round=2 or id=x7042", &[]);
    assert_eq!(grown(&second), ["g101", "g102"]);
    let second = export("split=train round=2 or id=x7042", &["--no-leaks"]);
    assert_eq!((grown(&second), written(&second)), (none, vec!["x7042".to_owned()]));
    assert!(second.stderr.contains("left out: 1 training sentence (1 annotation set)"));
    // The lossless form of all that people added has more than sets.
    let people = export("origin=user", &["--no-leaks"]);
    assert_eq!(people.code, Some(2), "{}", people.stderr);
    let message = "`origin=user` stands for all that people added; narrow it, as in";
    assert!(people.stderr.contains(message), "{}", people.stderr);
}

#[test]
fn what_a_list_takes_out_of_all_parts_has_none() {
    let store = expanded();
    let list = "exemplars\t*\ttrain\nsentence\tx5001\tnone\n";
    let counted = |query: &str| {
        let ran = under(store.path(), list, &["query", query, "--count"]);
        ran.stdout.trim().to_owned()
    };
    assert_eq!(counted("sentence=x5001 split=train"), "0");
    assert_eq!(counted("id=g1 split=train"), "0", "a generated set has the part of its seed");
    assert_ne!(counted("sentence=x5001"), "0");
    let wrong = under(store.path(), "exemplars\t*\tnowhere\n", &["query", "--count"]);
    assert_eq!(wrong.code, Some(65));
    assert!(wrong.stderr.contains("expected `train`, `dev`, `test` or `none`"), "{}", wrong.stderr);
}

#[test]
fn a_sentence_is_a_field_of_queries() {
    let store = new_store();
    let query = |more: &[&str]| fnstore_in(store.path(), &[&["query"], more].concat());
    let shown =
        query(&["sentence=x5001", "--fields", "id,sentence", "--format", "jsonl"]).records();
    assert!(shown.len() > 1 && shown.iter().all(|of| of["sentence"] == "x5001"), "{shown:?}");
    let counts = query(&["origin=exemplar", "--count-by", "sentence", "--format", "jsonl"]);
    let counts = counts.records();
    let of = counts.iter().find(|of| of["value"] == "x5001").unwrap();
    assert_eq!(of["count"].as_u64(), Some(shown.len() as u64));
    let plan = query(&["sentence=x5001,x5011", "--explain"]).stdout;
    assert!(plan.contains("point reads"), "{plan}");
    let page = query(&["--sort", "-sentence", "--limit", "3", "--fields", "sentence"]);
    let cursor = page.stderr.split("--after ").nth(1).unwrap().trim_end_matches(['`', '\n']);
    let next =
        query(&["--sort", "-sentence", "--after", cursor, "--limit", "1", "--fields", "sentence"]);
    assert_eq!(next.code, Some(0), "{}", next.stderr);
    let wrong = query(&["sentence=5001"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("expected a sentence id such as `x1024`"), "{}", wrong.stderr);
}
