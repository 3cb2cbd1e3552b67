//! Exports of editions: under the split list that they keep, and with a count of what is gone.

use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::edit::Removal;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSet, AnnotationSetId, KeptSplitList, Span};
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::generated;

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// A store with the two generated sets g101 and g102, and a list beside it.
fn expanded() -> (tempfile::TempDir, tempfile::TempDir, PathBuf) {
    let (store, beside) = (new_store(), tempfile::tempdir().unwrap());
    let database = Database::open_writer(store.path()).unwrap();
    generated::write(&database, database.release("mini-framenet").unwrap().id);
    let list = beside.path().join("fold.tsv");
    std::fs::write(&list, "# a fold\nexemplars\t*\tdev\n").unwrap();
    (store, beside, list)
}

fn create(store: &Path, name: &str, query: &str, list: Option<&Path>) {
    let list = list.map_or(vec![], |list| vec!["--split-list", list.to_str().unwrap()]);
    ok(fnstore_in(store, &[&["edition", "create", name, query], &list[..]].concat()));
}

/// The parts of training records, and what stderr says.
fn parts(store: &Path, query: &str, more: &[&str]) -> (Vec<Value>, String) {
    let export = ["export", query, "--training", "--to", "jsonl"];
    let ran = ok(fnstore_in(store, &[&export[..], more].concat()));
    let parts = ran.records().iter().map(|record| record["split"].clone()).collect();
    (parts, ran.stderr)
}

#[test]
fn an_export_of_an_edition_gives_the_parts_of_its_list() {
    let (store, beside, list) = expanded();
    let store = store.path();
    create(store, "fold", "origin=generated split=dev", Some(&list));
    create(store, "plain", "origin=generated", None);
    std::fs::remove_file(&list).unwrap();
    let (found, said) = parts(store, "edition=fold", &[]);
    assert_eq!(found, ["dev", "dev"]);
    assert!(said.contains("the edition's split list `fold`"), "{said}");
    assert_eq!(parts(store, "edition=fold round=1", &[]).0, ["dev"]);
    assert_eq!(parts(store, "edition=plain", &[]).0, [Value::Null, Value::Null]);
    assert_eq!(parts(store, "origin=generated edition!=xx*", &[]).0, [Value::Null, Value::Null]);
    let query = ["query", "edition=fold", "--fields", "id,split"];
    assert_eq!(ok(fnstore_in(store, &query)).records()[0], json!({"id": "g101", "split": "dev"}));
    let csv = ok(fnstore_in(store, &["export", "edition=fold split=dev", "--to", "csv"])).stdout;
    assert!(csv.contains(",dev,"), "{csv}");

    // A list that is named holds, and the difference is told.
    let other = beside.path().join("other.tsv");
    std::fs::write(&other, "exemplars\t*\ttest\n").unwrap();
    let named = ["--split-list", other.to_str().unwrap()];
    let (found, said) = parts(store, "edition=fold", &named);
    assert_eq!(found, ["test", "test"]);
    let warning = "warning: edition `fold` was made under another split list: `fold`";
    assert!(said.contains(warning), "{said}");
    assert!(parts(store, "edition=plain", &named).1.contains("another split list: none"));

    // Editions of different lists have no list in common.
    let both = "edition=fold or edition=plain";
    let ran = fnstore_in(store, &["export", both, "--to", "csv"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(65), ""), "{ran:?}");
    assert!(ran.stderr.contains("E-list-unnamed: the editions `fold` (fold), `plain` (none)"));
    assert!(ran.stderr.contains("hint: `--split-list FILE` names the list"), "{}", ran.stderr);
    assert_eq!(parts(store, both, &named).0, ["test", "test"]);
    // An edition that is made of another one is made under its list.
    create(store, "second", "edition=fold split=dev", None);
    assert_eq!(parts(store, "edition=second or edition=fold", &[]).0, ["dev", "dev"]);
}

#[test]
fn a_list_goes_along_with_its_edition() {
    let (store, beside, list) = expanded();
    create(store.path(), "fold", "origin=generated split=dev", Some(&list));
    let file = beside.path().join("part.jsonl");
    let path = file.to_str().unwrap();
    ok(fnstore_in(store.path(), &["export", "edition=fold", "--to", "jsonl", path]));
    let copy = beside.path().join("copy");
    ok(fnstore_in(&copy, &["import", path]));
    assert_eq!(parts(&copy, "edition=fold", &[]).0, ["dev", "dev"]);
    let backup = beside.path().join("backup");
    ok(fnstore_in(store.path(), &["backup", backup.to_str().unwrap()]));
    let restored = beside.path().join("restored");
    ok(fnstore_in(&restored, &["restore", backup.to_str().unwrap()]));
    assert_eq!(parts(&restored, "edition=fold", &[]).0, ["dev", "dev"]);
    // Lines of another list are refused.
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("exemplars\\t*\\tdev", "exemplars\\t*\\ttest")).unwrap();
    let wrong = fnstore_in(&beside.path().join("wrong"), &["import", path]);
    assert_eq!(wrong.code, Some(65), "{wrong:?}");
    assert!(wrong.stderr.contains("E-value: "), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("`split_list.lines` is `fold`"), "{}", wrong.stderr);
}

#[test]
fn an_edition_that_has_the_name_of_its_list_alone_asks_for_the_list() {
    let (store, _beside, list) = expanded();
    create(store.path(), "fold", "origin=generated split=dev", Some(&list));
    let database = Database::open_writer(store.path()).unwrap();
    let (release, mut edition) = database.edition(None, "fold").unwrap();
    edition.name = "named".to_owned();
    let kept = edition.split_list.take().unwrap();
    edition.split_list = Some(KeptSplitList { lines: None, ..kept });
    let mut edits = database.transaction(release).unwrap();
    edits.add_edition(edition).unwrap();
    edits.commit().unwrap();
    drop(database);
    let ran = fnstore_in(store.path(), &["export", "edition=named", "--to", "csv"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(65), ""), "{ran:?}");
    let message = "E-list-unnamed: edition `named` was made under the split list `fold`";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    let named = ["--split-list", list.to_str().unwrap()];
    assert_eq!(parts(store.path(), "edition=named", &named).0, ["dev", "dev"]);
    // Another edition under the same list has the lines.
    assert_eq!(parts(store.path(), "edition=*", &[]).0, ["dev", "dev"]);
}

#[test]
fn sets_that_are_gone_or_changed_are_counted_and_the_exit_code_says_so() {
    let (store, _beside, _list) = expanded();
    create(store.path(), "all", "origin=generated or id=x7042", None);
    let report = |code: i32| {
        let arguments = ["export", "edition=all", "--to", "csv", "--format", "json"];
        let ran = fnstore_in(store.path(), &arguments);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        let report: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!(crate::cli_schema::faults_in("export.schema.json", &report), [""; 0]);
        (report["records"]["set"].clone(), report["editions"].clone())
    };
    let edition = |removed: u64, changed: u64| {
        json!([{"release": "mini-framenet", "name": "all", "sets": 3, "removed": removed,
            "changed": changed}])
    };
    assert_eq!(report(0), (json!(3), edition(0, 0)));
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    let id = |id| AnnotationSetId::parse(id).unwrap();
    let first = database.store().annotation_set(release, id("g101")).unwrap().unwrap();
    let mut edits = database.transaction(release).unwrap();
    edits.set_annotation_set(AnnotationSet { targets: vec![Span::new(0, 2)], ..first }).unwrap();
    edits.remove_annotation_set(id("g102"), Removal::Alone).unwrap();
    edits.commit().unwrap();
    drop(database);
    assert_eq!(report(1), (json!(2), edition(1, 1)));
    let ran = fnstore_in(store.path(), &["export", "edition=all", "--to", "jsonl"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let said = "edition `all` is not what it was: of its 3 sets 1 gone and 1 changed; \
                `fnstore edition verify all` names them";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(!ran.records().is_empty(), "what is left is written");
    // Other queries know nothing of it.
    ok(fnstore_in(store.path(), &["export", "edition!=all", "--to", "csv"]));
}

#[test]
fn an_expansion_of_an_edition_reads_parts_by_its_list() {
    let (store, beside) = (new_store(), tempfile::tempdir().unwrap());
    let (store, list) = (store.path(), beside.path().join("fold.tsv"));
    std::fs::write(&list, "exemplars\t*\tdev\n").unwrap();
    create(store, "fold", "lu=audit.v origin=exemplar split=dev", Some(&list));
    let expand = |query: &str, more: &[&str]| {
        let small = ["--model", "paraphrase", "--beam", "4", "--rounds", "1"];
        fnstore_in(store, &[&["expand", query], &small[..], more].concat())
    };
    let none = expand("edition=fold split=train", &[]);
    assert_eq!(none.code, Some(1), "{none:?}");
    assert!(none.stderr.contains("no human annotation set matches"), "{}", none.stderr);
    let status = ok(expand("edition=fold split=dev", &["--status", "--format", "jsonl"]));
    assert_eq!(status.records()[0]["seeds"], 2, "{status:?}");
    // What the edition's list holds out is what the expansion is blind to.
    let blind = ["--blind-to", "split=test", "--format", "json"];
    let ran = ok(expand("edition=fold split=dev", &blind));
    assert_eq!(ran.document("expand.schema.json")["seeds"], 2);
    assert!(ran.stderr.contains("parts are those of the edition's split list `fold`"), "{ran:?}");
    let found = ["query", "edition=fold split=dev", "--count"];
    assert_eq!(fnstore_in(store, &found).stdout, "2\n");
    // Other commands that take sets read the same parts.
    let ran = fnstore_in(store, &["stats", "growth", "edition=fold split=dev"]);
    assert!(ran.stderr.contains("parts are those of the edition's split list `fold`"), "{ran:?}");
    let no = ["delete", "edition=fold split=train", "--dry-run"];
    assert_eq!(fnstore_in(store, &no).code, Some(1));
}
