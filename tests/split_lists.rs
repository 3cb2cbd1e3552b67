//! `--split-list` and `check --leaks`: parts of the data by a list, and what stands in two of them.

use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::generated;

/// A store with the generated sets g101 and g102, whose seed is x7012 of `check.v`.
fn expanded() -> tempfile::TempDir {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    store
}

fn list(dir: &Path, lines: &str) -> PathBuf {
    let path = dir.join("fold.tsv");
    std::fs::write(&path, lines).unwrap();
    path
}

fn with_list(store: &Path, lines: &str, arguments: &[&str]) -> Ran {
    let list = list(store, lines);
    fnstore_in(store, &[arguments, &["--split-list", list.to_str().unwrap()]].concat())
}

fn count(store: &Path, lines: &str, query: &str) -> String {
    let ran = with_list(store, lines, &["query", query, "--count"]);
    assert!(ran.code == Some(0) || ran.code == Some(1), "{ran:?}");
    ran.stdout.trim().to_owned()
}

#[test]
fn a_list_gives_exemplars_and_what_grew_from_them_a_part() {
    let store = expanded();
    let without = fnstore_in(store.path(), &["query", "origin=generated split=test", "--count"]);
    assert_eq!(without.stdout, "0\n", "exemplars have no part without a list");
    let all = fnstore_in(store.path(), &["query", "origin=exemplar", "--count"]).stdout;
    let in_checking = fnstore_in(store.path(), &["query", "lu=check.v frame=Checking", "--count"]);
    let of = |lines: &str, query: &str| count(store.path(), lines, query);
    // What is named more closely comes first: sentence, LU, document, exemplars.
    assert_eq!(of("exemplars\t*\ttrain\n", "origin=exemplar split=train"), all.trim());
    assert_eq!(of("exemplars\t*\tdev\n", "origin=generated split=dev"), "2");
    let lu = "exemplars\t*\ttrain\nlu\tChecking/check.v\ttest\n";
    assert_eq!(of(lu, "lu=check.v frame=Checking split=test"), in_checking.stdout.trim());
    assert_eq!(of(lu, "origin=generated split=test"), "2", "a generated set has its seed's part");
    assert_eq!(of("lu\tRoaming/check.v\ttest\n", "split=test"), "0");
    let database = Database::open(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    let seed = database.store().annotation_set(release, generated::seed()).unwrap().unwrap();
    let sentence = seed.sentence;
    let of_sentence = format!("{lu}sentence\t{sentence}\tdev\n");
    assert_eq!(of(&of_sentence, "origin=generated split=dev"), "2");
    assert_eq!(of(&of_sentence, "id=x7012 split=test"), "0");
}

#[test]
fn a_document_is_named_by_name_or_file_and_the_built_in_list_holds_elsewhere() {
    let store = expanded();
    let whole = fnstore_in(store.path(), &["query", "doc=HarbourLog", "--count"]).stdout;
    for name in ["HarbourLog", "MINI__HarbourLog"] {
        let lines = format!("document\t{name}\ttest\n");
        assert_eq!(count(store.path(), &lines, "split=test"), whole.trim(), "{name}");
        let rest = count(store.path(), &lines, "split=train");
        let bike = fnstore_in(store.path(), &["query", "doc=BikeRide", "--count"]).stdout;
        assert_eq!(rest, bike.trim(), "the built-in list has it in train");
    }
}

#[test]
fn the_closest_line_comes_first() {
    let store = expanded();
    let of = |lines: &str| {
        let hits = with_list(store.path(), lines, &["query", "id=x7012", "--fields", "split"]);
        hits.records()[0]["split"].as_str().unwrap().to_owned()
    };
    let sentence =
        fnstore_in(store.path(), &["query", "id=x7012"]).records()[0]["sentence"].clone();
    let sentence = format!("sentence\t{}\tdev\n", sentence.as_str().unwrap());
    let (exemplars, lu) = ("exemplars\t*\ttrain\n", "lu\tcheck.v\ttest\n");
    assert_eq!(of(exemplars), "train");
    assert_eq!(of(&format!("{exemplars}{lu}")), "test");
    assert_eq!(of(&format!("{lu}lu\tChecking/check.v\ttrain\n")), "train");
    assert_eq!(of(&format!("{lu}lu\tRoaming/check.v\ttrain\n")), "test");
    assert_eq!(of(&format!("{sentence}{lu}lu\tChecking/check.v\ttrain\n")), "dev");
}

#[test]
fn one_document_by_two_names_in_two_parts_is_refused() {
    let store = new_store();
    let names = ["HarbourLog", "MINI__HarbourLog"];
    let lines = |parts: [&str; 2]| {
        format!("document\t{}\t{}\ndocument\t{}\t{}\n", names[0], parts[0], names[1], parts[1])
    };
    let whole = fnstore_in(store.path(), &["query", "doc=HarbourLog", "--count"]).stdout;
    assert_eq!(count(store.path(), &lines(["test", "test"]), "split=test"), whole.trim());
    let ran = with_list(store.path(), &lines(["test", "dev"]), &["query", "split=test"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(65), ""), "{ran:?}");
    let message = "E-conflict: split list `fold`: `HarbourLog` is in test and `MINI__HarbourLog` \
                   in dev, and both name one document of `mini-framenet`";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
}

#[test]
fn a_generated_sentence_is_refused_in_a_list() {
    let store = expanded();
    let lines = "exemplars\t*\ttrain\nsentence\tg1\ttest\n";
    let ran = with_list(store.path(), lines, &["query", "split=test"]);
    assert_eq!(ran.code, Some(65), "{ran:?}");
    let message = "fold.tsv:2: `name` is `g1`, expected a sentence that was not generated";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
}

#[test]
fn unknown_names_are_an_error_where_that_is_asked_for() {
    let store = new_store();
    let strict = |lines: &str| {
        with_list(store.path(), lines, &["query", "split=test", "--count", "--strict-split-list"])
    };
    let known = strict("document\tHarbourLog\ttest\nlu\tcheck.v\ttest\n");
    assert_eq!(known.code, Some(0), "{known:?}");
    let ran = strict("document\tHarborLog\ttest\nlu\tchek.v\ttest\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(65), ""), "{ran:?}");
    let message = "E-missing: split list `fold`: no release has the document `HarborLog`, the lu \
                   `chek.v`";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    let many: String = (0..8).map(|at| format!("lu\tlu{at}.v\ttest\n")).collect();
    assert!(strict(&many).stderr.contains("3 more names"));
    let alone = fnstore_in(store.path(), &["query", "--strict-split-list"]);
    assert_eq!(alone.code, Some(2), "{alone:?}");
}

#[test]
fn names_that_the_store_does_not_have_are_told() {
    let store = new_store();
    let lines = "lu\tChecking/Check.v\ttest\nlu\tcheck.v\ttest\ndocument\tMINI__BikeRde\tdev\n\
                 sentence\tx99\tdev\nexemplars\t*\ttrain\n";
    let told = with_list(store.path(), lines, &["query", "split=test", "--count"]).stderr;
    for told_of in [
        "no release has the document `MINI__BikeRde` of the split list `fold`; did you mean `MINI__BikeRide`?",
        "the lu `Checking/Check.v` of the split list `fold`; did you mean `Checking/check.v`?",
        "the sentence `x99` of the split list `fold`",
    ] {
        assert!(told.contains(told_of), "{told}");
    }
    assert_eq!(told.lines().count(), 3, "{told}");
    let many: String = (0..8).map(|at| format!("lu\tlu{at}.v\ttest\n")).collect();
    let told = with_list(store.path(), &many, &["query", "split=test", "--count"]).stderr;
    assert!(told.lines().count() == 6 && told.contains("nor 3 more"), "{told}");
}

#[test]
fn a_wrong_list_is_refused_with_its_line() {
    let store = new_store();
    let ran = with_list(store.path(), "lu\tcheck.v\tvalid\n", &["query", "split=test"]);
    assert_eq!(ran.code, Some(65), "{ran:?}");
    let message = "fold.tsv:1: `part` is `valid`, expected `train`, `dev`, `test` or `none`";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    let absent = fnstore_in(store.path(), &["query", "--split-list", "nowhere.tsv"]);
    assert_eq!(absent.code, Some(2));
    assert!(absent.stderr.contains("cannot read `nowhere.tsv`"), "{}", absent.stderr);
    let alone = with_list(store.path(), "exemplars\t*\ttrain\n", &["check"]);
    assert_eq!(alone.code, Some(2));
    assert!(alone.stderr.contains("expected it with `--leaks`"), "{}", alone.stderr);
}

fn leaks(store: &Path, lines: &str) -> (Option<i32>, Vec<Value>) {
    let ran = with_list(store, lines, &["check", "--leaks", "--format", "jsonl"]);
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("leak.schema.json", record), [""; 0]);
    }
    (ran.code, records)
}

#[test]
fn one_text_in_two_parts_is_a_leak() {
    let store = expanded();
    // Sentence 5001 illustrates `check.v` and `inspect.v`.
    let lines = "exemplars\t*\ttrain\nlu\tinspect.v\ttest\n";
    let (code, found) = leaks(store.path(), lines);
    assert_eq!(code, Some(1), "{found:?}");
    let shared: Vec<&Value> = found.iter().filter(|leak| leak["code"] == "L-text").collect();
    assert_eq!(shared.len(), 1, "{found:?}");
    assert_eq!((&shared[0]["part"], &shared[0]["other_part"]), (&"train".into(), &"test".into()));
    let (code, found) = leaks(store.path(), "exemplars\t*\ttrain\n");
    assert_eq!((code, found.len()), (Some(0), 0), "{found:?}");
}

#[test]
fn a_generated_set_whose_seeds_sentence_is_in_another_part_is_a_leak() {
    let store = new_store();
    crate::cli_schema::generate(store.path());
    // Its seed x7002 stands in sentence 5001, which illustrates `inspect.v`, too.
    let seed = fnstore_in(store.path(), &["query", "id=x7002", "--fields", "lu,text"]).stdout;
    let lines = "exemplars\t*\ttrain\nlu\tinspect.v\ttest\n";
    let (code, found) = leaks(store.path(), lines);
    assert_eq!(code, Some(1));
    let grown: Vec<&Value> = found.iter().filter(|leak| leak["code"] == "L-seed").collect();
    assert_eq!(grown.len(), 1, "{seed}: {found:?}");
    assert_eq!((&grown[0]["set"], &grown[0]["part"]), (&"g1".into(), &"train".into()));
    assert_eq!(grown[0]["other_part"], "test");
}
