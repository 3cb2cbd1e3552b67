//! `--sample`: some of the annotation sets that a query finds, in every command that takes it, and
//! `id=@FILE`, which takes a list of them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cli_program::{Ran, fnstore, fnstore_in, new_store};

/// The ids that a query prints.
fn ids(ran: &Ran) -> Vec<String> {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.records().iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

fn query(arguments: &[&str]) -> Ran {
    fnstore(&[&["query", "--format", "jsonl", "--fields", "id,frame"], arguments].concat())
}

#[test]
fn each_group_has_as_many_as_asked_or_all_it_has() {
    let ran = query(&["--sample", "2", "--per", "frame"]);
    let mut sampled: BTreeMap<String, u64> = BTreeMap::new();
    for record in ran.records() {
        *sampled.entry(record["frame"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    let all = fnstore(&["query", "--count-by", "frame", "--format", "jsonl"]);
    let count = |record: &Value| record["count"].as_u64().unwrap();
    for record in all.records() {
        let frame = record["value"].as_str().unwrap();
        assert_eq!(sampled.remove(frame), Some(count(&record).min(2)), "{frame}");
    }
    assert_eq!(sampled, BTreeMap::new());
    let total: u64 = all.records().iter().map(count).sum();
    let says = format!("of {total} annotation sets, at most 2 for each of ");
    assert!(ran.stderr.contains(&says) && ran.stderr.contains("seed 1"), "{}", ran.stderr);
}

#[test]
fn threads_and_order_change_nothing_and_a_seed_does() {
    let of = |more: &[&str]| ids(&query(&[&["--sample", "5"], more].concat()));
    let one = of(&["--threads", "1"]);
    assert_eq!((one.len(), &one), (5, &of(&["--threads", "4"])));
    let mut sorted = of(&["--sort", "-frame,id"]);
    sorted.sort_unstable();
    let mut expected = one.clone();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    assert!((2..9).any(|seed| of(&["--seed", &seed.to_string()]) != one));
    assert_eq!(fnstore(&["query", "--sample", "5", "--count"]).stdout, "5\n");
}

#[test]
fn an_export_and_an_edition_are_of_the_same_sample() {
    let store = new_store();
    let drawn = ["origin=exemplar", "--sample", "3", "--per", "frame", "--seed", "9"];
    let found = fnstore_in(store.path(), &[&["query", "--format", "jsonl"], &drawn[..]].concat());
    let mut expected = ids(&found);
    let made = fnstore_in(store.path(), &[&["edition", "create", "some"], &drawn[..]].concat());
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert_eq!(ids(&fnstore_in(store.path(), &["query", "edition=some"])), expected);
    let shown = fnstore_in(store.path(), &["edition", "show", "some", "--format", "table"]).stdout;
    assert!(shown.contains(&format!("{} ids)", expected.len())), "{shown}");
    let verified = fnstore_in(store.path(), &["edition", "verify", "some"]);
    assert_eq!(verified.code, Some(0));
    assert!(verified.stderr.contains("its query finds 0 more"), "{}", verified.stderr);
    assert!(made.stderr.contains("a sample of 3 per frame with seed 9"), "{}", made.stderr);

    let export = [&["export"], &drawn[..], &["--training", "--to", "jsonl"]].concat();
    let exported = fnstore_in(store.path(), &export);
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    let sets = exported.records().into_iter().flat_map(|record| {
        let sets = record["sets"].as_array().unwrap().clone();
        sets.into_iter().map(|set| set["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    });
    let mut exported: Vec<String> = sets.collect();
    exported.sort_unstable();
    expected.sort_unstable();
    assert_eq!(exported, expected);
}

#[test]
fn an_expansion_samples_among_human_sets() {
    let store = new_store();
    let expand = |more: &[&str]| {
        let of =
            ["expand", "lu=inspect.v", "--model", "paraphrase", "--beam", "4", "--rounds", "1"];
        fnstore_in(store.path(), &[&of, more].concat())
    };
    let ran = expand(&["--sample", "1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("human annotation sets for "), "{}", ran.stdout);
    assert!(ran.stderr.contains("sample of 1 of 4 annotation sets, seed 1"), "{}", ran.stderr);
    let again = expand(&["--sample", "1"]);
    assert!(again.stderr.contains("sample of 1 of 4 annotation sets"), "{}", again.stderr);
    assert!(again.stdout.contains("nothing new to do"), "{}", again.stdout);
}

#[test]
fn options_of_a_sample_go_with_it_and_are_checked() {
    for (arguments, message) in [
        (&["--per", "frame"][..], "--sample <N>"),
        (&["--seed", "3"], "--sample <N>"),
        (&["--sample", "0"], "invalid value '0' for '--sample <N>'"),
        (&["--sample", "2", "--per", "fram"], "unknown field `fram` at column 1; did you mean"),
        (&["--sample", "2", "--per", "since"], "`since` (column 1) has no value"),
    ] {
        let ran = fnstore(&[&["query"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    let none = fnstore(&["query", "trigger=nowhere", "--sample", "2"]);
    assert_eq!(none.code, Some(1), "{}", none.stderr);
}

#[test]
fn a_file_of_ids_is_a_query() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ids.csv");
    let sampled = ["query", "--sample", "4", "--seed", "2", "--fields", "id", "--format", "csv"];
    std::fs::write(&file, fnstore(&sampled).stdout).unwrap();
    let term = format!("id=@{}", file.display());
    let all = fnstore(&["query", &term, "--fields", "id", "--format", "csv"]);
    assert_eq!(all.stdout, std::fs::read_to_string(&file).unwrap());
    let not = fnstore(&["query", &format!("not {term}"), "--count"]);
    let everything: u64 = fnstore(&["query", "--count"]).stdout.trim().parse().unwrap();
    assert_eq!(not.stdout.trim().parse(), Ok(everything - 4));
    let plan = fnstore(&["query", &term, "--explain"]);
    assert!(plan.stdout.contains("point reads"), "{}", plan.stdout);

    let shown = fnstore(&["show", "set", &format!("@{}", file.display()), "--format", "jsonl"]);
    assert_eq!(ids(&shown).len(), 4);

    std::fs::write(&file, "x7042\nnonsense\n").unwrap();
    let wrong = fnstore(&["query", &term]);
    assert_eq!(wrong.code, Some(65), "{}", wrong.stderr);
    let place = format!("{}:2: `nonsense` is no value of `id`", file.display());
    assert!(wrong.stderr.contains(&place), "{}", wrong.stderr);
    std::fs::write(&file, "id\nx7042\n").unwrap();
    let heads = fnstore(&["query", &format!("sentence=@{}", file.display())]);
    assert_eq!(heads.code, Some(65), "{}", heads.stderr);
    let place = format!("{}:1: `id` is no value of `sentence`", file.display());
    assert!(heads.stderr.contains(&place), "{}", heads.stderr);
    let grown = fnstore(&["query", &format!("seed=@{}", file.display()), "--count"]);
    assert_eq!(grown.stdout, "0\n", "{}", grown.stderr);
}

#[test]
fn a_column_of_a_query_is_a_file_of_ids() {
    let store = new_store();
    crate::cli_schema::generate(store.path());
    let file = store.path().join("ids.csv");
    let term = |field: &str| format!("{field}=@{}", file.display());
    let sets_of = |column: &str, by: &str| -> Vec<String> {
        let columns = ["--fields", column, "--format", "csv"];
        let drawn = [&["query", "origin=generated"], &columns[..]].concat();
        std::fs::write(&file, fnstore_in(store.path(), &drawn).stdout).unwrap();
        ids(&fnstore_in(store.path(), &["query", &term(by)]))
    };
    let generated = ids(&fnstore_in(store.path(), &["query", "origin=generated"]));
    assert!(!generated.is_empty());
    assert_eq!(sets_of("id", "id"), generated);
    assert_eq!(sets_of("sentence", "sentence"), generated);
    assert_eq!(sets_of("source", "source"), generated, "the sets that were rewritten");
    assert_eq!(sets_of("source", "seed"), generated, "in the first round they are the seeds");
    let rewritten = sets_of("source", "id");
    assert!(!rewritten.is_empty() && rewritten.iter().all(|id| id.starts_with('x')));
    let sentences = fnstore_in(store.path(), &["query", &term("sentence")]);
    assert_eq!(sentences.code, Some(65), "{}", sentences.stderr);
    assert!(sentences.stderr.contains(":1: `source` is no value of"), "{}", sentences.stderr);
}

#[test]
fn every_command_reads_files_of_ids() {
    for command in [
        &["query", "id=@nowhere.txt"][..],
        &["train", "frames", "--generated", "id=@nowhere.txt", "--out", "no"],
        &["train", "fes", "--generated", "id=@nowhere.txt", "--out", "no"],
        &["experiment", "frame-id", "id=@nowhere.txt"],
        &["experiment", "fes", "--generated", "id=@nowhere.txt"],
        &["align", "tasks", "id=@nowhere.txt"],
    ] {
        let absent = fnstore(command);
        assert_eq!(absent.code, Some(2), "{command:?} {}", absent.stderr);
        let message = "cannot read the ids in `nowhere.txt`";
        assert!(absent.stderr.contains(message), "{command:?} {}", absent.stderr);
    }
}
