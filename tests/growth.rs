//! `fnstore stats growth` counts triggers in the first round that has them, and draws what it
//! counts.

use fnstore::database::Database;
use serde_json::{Value, json};

use crate::cli_program::{fnstore, fnstore_in, mini_framenet, new_store};
use crate::generated;

/// The columns of a row that the tests compare.
fn numbers(row: &Value) -> [u64; 6] {
    ["round", "sentences", "new_triggers", "new_proposed", "new_pairs", "total_triggers"]
        .map(|column| row[column].as_u64().unwrap())
}

fn expanded_store() -> tempfile::TempDir {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    store
}

#[test]
fn a_trigger_counts_as_new_in_the_first_round_that_has_it() {
    let store = expanded_store();
    let rows = fnstore_in(store.path(), &["stats", "growth", "frame=Checking"]).records();
    assert_eq!(rows.len(), 3, "{rows:?}");
    let people = numbers(&rows[0]);
    assert_eq!(people[0], 0);
    assert_eq!(people[2], people[5], "everything is new in the first row");
    let [first, second] = [numbers(&rows[1]), numbers(&rows[2])];
    assert_eq!(first[..4], [1, 1, 1, 0], "`verified` belongs to an LU of the lexicon");
    assert_eq!(second[..4], [2, 1, 1, 1], "`vetted` belongs to a proposed LU");
    assert_eq!([first[5], second[5]], [people[5] + 1, people[5] + 2]);
    assert_eq!(rows[2]["total_sentences"], json!(people[1] + 2));
    // `verified` is a form of `verify.v`, an LU of the frame without annotation; `vetted` of a
    // proposed one.
    let lemmas = |row: &Value| {
        ["lemma_pairs", "new_lemma_pairs", "generated_pairs", "generated_lemma_pairs"]
            .map(|column| row[column].as_u64().unwrap())
    };
    assert_eq!(lemmas(&rows[1]), [1, 1, 1, 1]);
    assert_eq!(lemmas(&rows[2]), [1, 1, 2, 2]);
    let human = rows[0]["total_lemma_pairs"].as_u64().unwrap();
    // Forms of a verb are one pair.
    assert!(human < rows[0]["total_pairs"].as_u64().unwrap());
    assert_eq!(rows[2]["total_lemma_pairs"], json!(human + 2));
    let arguments = ["stats", "growth", "frame=Checking", "--format", "table"];
    let table = fnstore_in(store.path(), &arguments).stdout;
    assert!(table.contains("generated: 2 sets, 2 (Frame, Trigger) pairs"), "{table}");
    assert!(table.contains("pairs of 1.00 sets each"), "{table}");
}

#[test]
fn the_index_says_what_the_sets_say() {
    let store = expanded_store();
    let growth = |query: &str| fnstore_in(store.path(), &["stats", "growth", query]).records();
    // The index has no whole texts: the second reads sentences.
    assert_eq!(growth(""), growth("not text=nothing"));
    assert_eq!(growth("not frame=Roaming"), growth("not frame=Roaming not text=nothing"));
}

#[test]
fn triggers_are_compared_without_regard_to_case() {
    let count = |query: &str| {
        let values = fnstore(&["query", query, "--count-by", "trigger"]).stdout;
        let mut folded: Vec<String> = values
            .lines()
            .skip(1)
            .map(|line| line.split('\t').next().unwrap().to_lowercase())
            .collect();
        folded.retain(|trigger| trigger != "(none)" && !trigger.is_empty());
        folded.sort_unstable();
        folded.dedup();
        folded.len()
    };
    let rows = fnstore(&["stats", "growth"]).records();
    assert_eq!((rows.len(), &rows[0]["round"]), (1, &json!(0)));
    assert_eq!(rows[0]["triggers"], json!(count("")));
}

#[test]
fn the_picture_names_the_new_triggers_of_each_round() {
    let store = expanded_store();
    let file = store.path().join("growth.svg");
    let path = file.to_str().unwrap();
    let ran = fnstore_in(store.path(), &["stats", "growth", "frame=Checking", "--svg", path]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let picture = std::fs::read_to_string(file).unwrap();
    assert!(picture.contains(">verified 1</text>"), "{picture}");
    assert!(picture.contains("class=\"proposed\">vetted 1</text>"), "{picture}");
    assert!(picture.contains("\">Growth of triggers"), "{picture}");
    assert!(picture.contains("prefers-color-scheme:dark"), "{picture}");
}

#[test]
fn a_picture_of_several_releases_asks_for_one() {
    let store = new_store();
    let release = mini_framenet();
    let again = ["import", release.to_str().unwrap(), "--release", "again"];
    assert_eq!(fnstore_in(store.path(), &again).code, Some(0));
    let file = store.path().join("growth.svg");
    let path = file.to_str().unwrap();
    let both = fnstore_in(store.path(), &["stats", "growth", "--svg", path]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    assert!(both.stderr.contains("name one with `--release NAME`"), "{}", both.stderr);
    assert!(!file.exists());
    let one = ["stats", "growth", "--release", "again", "--svg", path];
    assert_eq!(fnstore_in(store.path(), &one).code, Some(0));
    assert!(file.exists());
}

#[test]
fn wrong_input_is_named() {
    for (arguments, code, message) in [
        (vec!["stats", "growth", "frame=Cheking"], 2, "did you mean `Checking`?"),
        (vec!["stats", "growth", "frme=Checking"], 2, "did you mean `frame`?"),
        (vec!["stats", "growth", "--svg", "/nowhere/at/all.svg"], 2, "cannot write the figure"),
        (vec!["stats", "growth", "origin=generated"], 1, "nothing found"),
        (vec!["stats", "--limit", "2", "growth"], 2, "cannot be used with"),
    ] {
        let ran = fnstore(&arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{arguments:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
}
