//! Editions: annotation sets frozen under a name, found by queries, and verified.

use std::path::Path;

use fnstore::database::{Database, Write};
use fnstore::edit::Removal;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSet, AnnotationSetId, IdSpace, LuId, SentenceId, Span};
use fnstore::upkeep::CheckOptions;
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::{generated, mini};

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

fn edition(store: &Path, arguments: &[&str]) -> Ran {
    fnstore_in(store, &[&["edition"], arguments, &["--format", "jsonl"]].concat())
}

/// A store with the two generated sets g101 and g102.
fn expanded() -> tempfile::TempDir {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    store
}

fn changes(ran: &Ran) -> Vec<(String, String)> {
    let text = |record: &Value, name: &str| record[name].as_str().unwrap().to_owned();
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("edition-change.schema.json", record), [""; 0]);
    }
    records.iter().map(|record| (text(record, "set"), text(record, "change"))).collect()
}

#[test]
fn an_edition_counts_what_it_holds_and_its_hash_is_of_the_ids() {
    let store = expanded();
    let made = ok(edition(store.path(), &["create", "both", "origin=generated"])).records();
    assert_eq!(faults_in("edition.schema.json", &made[0]), [""; 0]);
    let counts = ["sets", "sentences", "pairs", "lemma_pairs"].map(|name| made[0][name].clone());
    assert_eq!(counts, [2, 2, 2, 2].map(|count: u64| json!(count)), "{}", made[0]);
    let ids = ["g101", "g102"].map(|id| AnnotationSetId::parse(id).unwrap().bits().to_be_bytes());
    let hash = blake3::hash(&ids.concat()).to_string();
    assert_eq!(made[0]["blake3"], hash.as_str());
    // Human sets, of which several have one sentence or one pair.
    ok(edition(store.path(), &["create", "human", "frame=Checking origin=exemplar"]));
    let shown = ok(edition(store.path(), &["show", "human"])).records();
    let count = |query: &str, field: &str| {
        ok(fnstore_in(store.path(), &["query", query, "--count-by", field])).stdout.lines().count()
            - 1
    };
    let query = "frame=Checking origin=exemplar";
    assert_eq!(shown[0]["lemma_pairs"], count(query, "lu"), "{}", shown[0]);
    assert!(shown[0]["sentences"].as_u64() < shown[0]["sets"].as_u64(), "{}", shown[0]);
    let names: Vec<Value> = ok(edition(store.path(), &["list"]))
        .records()
        .iter()
        .map(|of| of["name"].clone())
        .collect();
    assert_eq!(names, ["both", "human"]);
}

#[test]
fn queries_find_the_sets_of_an_edition_by_its_name() {
    let store = expanded();
    ok(edition(store.path(), &["create", "first", "origin=generated round=1"]));
    ok(edition(store.path(), &["create", "fifth", "id=x7002 or id=g101"]));
    let count = |query: &str| ok(fnstore_in(store.path(), &["query", query, "--count"])).stdout;
    for (query, found) in [
        ("edition=first", "1\n"),
        ("edition=FIRST round=1", "1\n"),
        ("edition=fi*", "2\n"),
        ("edition=fifth origin=exemplar", "1\n"),
        ("origin=generated edition!=first", "1\n"),
    ] {
        assert_eq!(count(query), found, "{query}");
    }
    let by = ok(fnstore_in(store.path(), &["query", "--count-by", "edition"])).stdout;
    assert_eq!(by, "value\tcount\n(none)\t42\nfifth\t2\nfirst\t1\n");
    let unknown = fnstore_in(store.path(), &["query", "edition=firts"]);
    assert_eq!(unknown.code, Some(2));
    let message = "there is no edition `firts`; did you mean `first`?";
    assert!(unknown.stderr.contains(message), "{}", unknown.stderr);
}

#[test]
fn verifying_tells_what_is_gone_what_is_changed_and_what_the_query_would_add() {
    let store = expanded();
    ok(edition(store.path(), &["create", "both", "origin=generated"]));
    let intact = edition(store.path(), &["verify", "both"]);
    assert_eq!((intact.code, changes(&intact).len()), (Some(0), 0), "{intact:?}");
    assert!(intact.stderr.contains("unchanged: 2 sets"), "{}", intact.stderr);
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    let set = |id| AnnotationSetId::parse(id).unwrap();
    let first = database.store().annotation_set(release, set("g101")).unwrap().unwrap();
    let mut edits = database.transaction(release).unwrap();
    edits.set_annotation_set(AnnotationSet { targets: vec![Span::new(0, 2)], ..first }).unwrap();
    edits.remove_annotation_set(set("g102"), Removal::Alone).unwrap();
    edits.commit().unwrap();
    let (mut sentence, mut set) = generated::sets(&database, release).remove(1);
    sentence.id = SentenceId::new(IdSpace::Generated, 3);
    (set.id, set.sentence) = (AnnotationSetId::parse("g103").unwrap(), sentence.id);
    let lexunits = vec![generated::proposed(&database, release)];
    let write = Write { sentences: vec![sentence], sets: vec![set], lexunits, ..Write::default() };
    database.write(release, &write).unwrap();
    drop(database);
    let ran = edition(store.path(), &["verify", "both"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let expected = [("g102", "removed"), ("g101", "changed"), ("g103", "added")];
    let expected = expected.map(|(set, change)| (set.to_owned(), change.to_owned()));
    assert_eq!(changes(&ran), expected);
    assert!(ran.stderr.contains("1 removed, 1 changed; its query finds 1 more"), "{}", ran.stderr);
    // What is gone stays in the edition, and a check finds nothing wrong with that.
    let count = ok(fnstore_in(store.path(), &["query", "edition=both", "--count"])).stdout;
    assert_eq!(count, "1\n");
    ok(fnstore_in(store.path(), &["check", "--deep"]));
}

#[test]
fn the_name_of_an_lu_is_part_of_what_is_frozen() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    generated::write(&database, release);
    let query = "origin=generated".parse().unwrap();
    let (_, edition) = database.edition_of("both", &query, 7).unwrap().unwrap();
    let lu = database.store().lexunit(release, fnstore::model::FrameId(102), LuId(1008));
    let lu = lu.unwrap().unwrap();
    let mut edits = database.transaction(release).unwrap();
    edits.add_edition(edition.clone()).unwrap();
    edits.set_lexunit(fnstore::model::LexUnit { name: "verifie.v".to_owned(), ..lu }).unwrap();
    edits.commit().unwrap();
    let changes = database.edition_changes(release, &edition).unwrap();
    assert_eq!(changes.changed, [AnnotationSetId::parse("g101").unwrap()]);
    assert!(changes.removed.is_empty() && changes.added.is_empty(), "{changes:?}");
    let findings = database.check(CheckOptions { deep: true }, &mut |_| {}).unwrap().findings;
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn an_edition_is_verified_also_when_its_query_names_what_is_gone() {
    let store = new_store();
    ok(edition(store.path(), &["create", "checks", "lu=inspection.n"]));
    let script = store.path().with_extension("edits");
    std::fs::write(&script, "{\"op\":\"edit-lu\",\"frame\":\"Checking\",\"lu\":\"inspection.n\",\"name\":\"survey.n\"}\n").unwrap();
    let ran = fnstore_in(store.path(), &["edit", script.to_str().unwrap()]);
    std::fs::remove_file(script).unwrap();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = edition(store.path(), &["verify", "checks"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(!changes(&ran).is_empty(), "{ran:?}");
    assert!(changes(&ran).iter().all(|(_, change)| change == "changed"), "{ran:?}");
    assert!(ran.stderr.contains("its query was not asked"), "{ran:?}");
}

#[test]
fn an_edition_keeps_the_split_list_that_it_was_made_under() {
    let store = expanded();
    let list = store.path().join("fold.tsv");
    std::fs::write(&list, "exemplars\t*\ttrain\n").unwrap();
    let under = ["--split-list", list.to_str().unwrap()];
    let made =
        ok(edition(store.path(), &[&["create", "part", "split=train"][..], &under].concat()));
    assert!(made.stdout.contains("\"split_list\":\"fold\""), "{}", made.stdout);
    for same in [&[][..], &under] {
        let verified = ok(edition(store.path(), &[&["verify", "part"][..], same].concat()));
        assert!(verified.stderr.contains("its query finds 0 more"), "{}", verified.stderr);
    }
    std::fs::write(&list, "exemplars\t*\ttest\n").unwrap();
    let ran = ok(edition(store.path(), &[&["verify", "part"][..], &under].concat()));
    assert!(ran.stderr.contains("it was read under another split list: `fold`"), "{ran:?}");
    let ran = ok(edition(store.path(), &["verify", "part"]));
    assert!(ran.stderr.contains("its query finds 0 more"), "the edition has the lines: {ran:?}");
}

#[test]
fn an_edition_goes_along_with_its_sets_and_its_hash_is_checked() {
    let store = expanded();
    ok(edition(store.path(), &["create", "all", "lu=inspect.v"]));
    let listed = ok(edition(store.path(), &["list"])).records();
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("part.jsonl");
    let path = file.to_str().unwrap();
    ok(fnstore_in(store.path(), &["export", "edition=all", "--to", "jsonl", path]));
    let copy = store.path().join("copy");
    ok(fnstore_in(&copy, &["import", path]));
    assert_eq!(ok(edition(&copy, &["list"])).records()[0]["blake3"], listed[0]["blake3"]);
    ok(edition(&copy, &["verify", "all"]));
    let text = std::fs::read_to_string(&file).unwrap();
    let hash = listed[0]["blake3"].as_str().unwrap();
    let digit = if hash.starts_with('0') { '1' } else { '0' };
    let other = text.replace(hash, &format!("{digit}{}", &hash[1..]));
    std::fs::write(&file, other).unwrap();
    let wrong = fnstore_in(&store.path().join("wrong"), &["import", path]);
    assert_eq!(wrong.code, Some(65), "{wrong:?}");
    assert!(wrong.stderr.contains("the hash of its sets"), "{}", wrong.stderr);
}

#[test]
fn an_edition_comes_back_from_a_backup_and_is_listed_among_the_changes() {
    let store = expanded();
    ok(edition(store.path(), &["create", "both", "origin=generated"]));
    let made = ok(edition(store.path(), &["show", "both"])).stdout;
    let feed = ok(fnstore_in(store.path(), &["changes", "--format", "jsonl"])).records();
    let last = feed.last().unwrap();
    assert_eq!(faults_in("change.schema.json", last), [""; 0]);
    assert_eq!((&last["kind"], &last["id"]), (&json!("edition"), &json!("both")));
    let dir = tempfile::tempdir().unwrap();
    let (backup, restored) = (dir.path().join("backup"), dir.path().join("restored"));
    ok(fnstore_in(store.path(), &["backup", backup.to_str().unwrap()]));
    ok(fnstore_in(&restored, &["restore", backup.to_str().unwrap()]));
    assert_eq!(ok(edition(&restored, &["show", "both"])).stdout, made);
}

#[test]
fn wrong_input_is_named_and_changes_nothing() {
    let store = expanded();
    ok(edition(store.path(), &["create", "both", "origin=generated"]));
    for (arguments, code, message) in [
        (
            &["create", "both", "round=1"][..],
            2,
            "E-value: `name` is `both`; expected a name that no",
        ),
        (&["create", "a\tb", "round=1"], 2, "expected a name without control characters"),
        (&["create", "none", "round=9"], 1, "no annotation set matches"),
        (&["create", "x", "rond=1"], 2, "did you mean `round`?"),
        (&["show", "bath"], 2, "there is no edition `bath`; did you mean `both`?"),
        (&["verify", "bath"], 2, "there is no edition `bath`"),
        (&["delete", "bath"], 2, "there is no edition `bath`"),
        (&["list", "--release", "mini"], 2, "there is no release `mini`"),
    ] {
        let ran = edition(store.path(), arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
    ok(edition(store.path(), &["delete", "both"]));
    let list = edition(store.path(), &["list"]);
    assert_eq!(list.code, Some(1));
    assert!(list.stderr.contains("there are no editions"), "{}", list.stderr);
    let generated = ok(fnstore_in(store.path(), &["query", "origin=generated", "--count"]));
    assert_eq!(generated.stdout, "2\n", "the sets of a deleted edition stay");
}
