//! Editions as data sets: what lies in the directory, what its card says, and what is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fnstore::database::Database;
use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::generated;

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// A store with an edition of two generated sets and those of a frame.
fn store() -> tempfile::TempDir {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    drop(database);
    let list = store.path().join("fold.tsv");
    fs::write(&list, "lu\tinspect.v\ttest\nlu\texamine.v\tdev\n").unwrap();
    let create = ["edition", "create", "first", "frame=Checking", "--split-list"];
    ok(fnstore_in(store.path(), &[&create[..], &[list.to_str().unwrap()]].concat()));
    store
}

fn publish(store: &Path, to: &Path, more: &[&str]) -> Ran {
    let to = to.to_str().unwrap();
    let asked = ["edition", "publish", "first", to, "--format", "json"];
    fnstore_in(store, &[&asked, more].concat())
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_data_set_has_three_parts_checksums_and_a_card() {
    let store = store();
    let words = store.path().join("words.txt");
    fs::write(&words, "# mine\nBrakes\n").unwrap();
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("data-set");
    let more = ["--licence", "cc0-1.0", "--sensitive", words.to_str().unwrap()];
    let ran = ok(publish(store.path(), &to, &more));
    let record: Value = serde_json::from_str(&ran.stdout).unwrap();
    let record = record.get(0).unwrap_or(&record);
    assert_eq!(faults_in("published.schema.json", record), [""; 0]);
    // Rows are those of the records, and no sentence is in two parts.
    let mut seen = BTreeSet::new();
    let mut sets = 0;
    for part in record["parts"].as_array().unwrap() {
        let name = part["split"].as_str().unwrap();
        let rows = lines(&to.join(format!("jsonl/{name}.jsonl")));
        assert_eq!(part["sentences"], rows.len(), "{name}");
        assert!(!rows.is_empty(), "{name}");
        for row in &rows {
            assert!(seen.insert(row["sentence"].to_string()), "{name}: {row}");
            sets += row["sets"].as_array().unwrap().len();
        }
        let parquet = fs::read(to.join(format!("data/{name}.parquet"))).unwrap();
        assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    }
    let total: u64 =
        record["parts"].as_array().unwrap().iter().map(|it| it["sets"].as_u64().unwrap()).sum();
    assert_eq!(total, sets as u64);
    // Every file stands in the sums, with its hash.
    let sums = fs::read_to_string(to.join("BLAKE3SUMS")).unwrap();
    let sums: BTreeMap<&str, &str> =
        sums.lines().map(|line| line.split_once("  ").unwrap()).map(|(a, b)| (b, a)).collect();
    for (path, hash) in &sums {
        let content = fs::read(to.join(path)).unwrap();
        assert_eq!(blake3::hash(&content).to_string(), *hash, "{path}");
    }
    assert_eq!(sums.len(), record["files"].as_array().unwrap().len());
    assert!(sums.contains_key("framenet-xml/frame/Checking.xml"), "{sums:?}");
    let flagged = fs::read_to_string(to.join("flagged.tsv")).unwrap();
    assert!(flagged.lines().skip(1).all(|line| line.ends_with("\tbrakes")));
    assert_eq!(record["flagged"], flagged.lines().count() - 1);
    assert!(flagged.lines().count() > 1);
    let card = fs::read_to_string(to.join("README.md")).unwrap();
    assert!(card.starts_with("---\nlicense: cc0-1.0\nlanguage:\n- en\n"), "{card}");
    for said in [
        "  - split: dev\n    path: data/dev.parquet\n",
        "the split list `fold`",
        "Nothing is promised of them.",
        "### Recipe 1: 2 sets",
        "| train |",
        "have a word of the publisher's list",
    ] {
        assert!(card.contains(said), "{said}: {card}");
    }
    // What is published comes back.
    let other = tempfile::tempdir().unwrap();
    let whole = to.join("edition.jsonl");
    ok(fnstore_in(other.path(), &["import", whole.to_str().unwrap()]));
    let count =
        |store: &Path| ok(fnstore_in(store, &["query", "frame=Checking", "--count"])).stdout;
    assert_eq!(count(other.path()), count(store.path()));
}

#[test]
fn a_card_says_how_right_sets_are() {
    let store = store();
    for (set, score) in [("g101", "90"), ("g102", "10")] {
        ok(fnstore_in(store.path(), &["judge", set, score, "--reviewer", "kim"]));
    }
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("judged");
    ok(publish(store.path(), &to, &["--licence", "cc0-1.0"]));
    let card = fs::read_to_string(to.join("README.md")).unwrap();
    assert!(card.contains("1 of 2 judged sets are right: 50.0 % (9.5 to 90.5"), "{card}");
    assert!(card.contains("No list of sensitive words was looked through."), "{card}");
}

#[test]
fn a_part_without_sentences_has_no_file() {
    let store = store();
    ok(fnstore_in(store.path(), &["edition", "create", "plain", "frame=Checking"]));
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("plain");
    let asked = ["edition", "publish", "plain", to.to_str().unwrap(), "--licence", "cc0-1.0"];
    ok(fnstore_in(store.path(), &asked));
    let card = fs::read_to_string(to.join("README.md")).unwrap();
    assert!(card.contains("split: train") && !card.contains("split: dev"), "{card}");
    assert!(card.contains("| dev | 0 | 0 |"), "{card}");
    assert!(!to.join("data/dev.parquet").exists() && !to.join("jsonl/dev.jsonl").exists());
}

#[test]
fn what_cannot_be_published_is_refused_and_leaves_nothing() {
    let store = store();
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("data-set");
    let licence = ["--licence", "cc0-1.0"];
    let refused = |ran: Ran, said: &str| {
        assert_ne!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
        assert!(!to.exists(), "{said}");
    };
    refused(publish(store.path(), &to, &[]), "licence");
    refused(publish(store.path(), &to, &["--licence", "MIT\nx: 1"]), "an id in small letters");
    let missing = ["--licence", "cc0-1.0", "--sensitive", "nowhere.txt"];
    refused(publish(store.path(), &to, &missing), "nowhere.txt");
    let full = place.path().join("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("mine.txt"), "mine").unwrap();
    let ran = publish(store.path(), &full, &licence);
    assert!(ran.code != Some(0) && ran.stderr.contains("X-place"), "{ran:?}");
    assert_eq!(fs::read_to_string(full.join("mine.txt")).unwrap(), "mine");
    ok(fnstore_in(store.path(), &["delete", "id=g102", "--yes"]));
    refused(publish(store.path(), &to, &licence), "some are gone or changed");
    let ran = fnstore_in(store.path(), &["edition", "publish", "frist", to.to_str().unwrap()]);
    refused(ran, "`first`");
}
