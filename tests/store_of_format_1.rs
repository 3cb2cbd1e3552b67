//! A store of format 1, which no release has written, is refused with advice. What it holds comes
//! over as JSON lines.
//!
//! `tests/data/format-1/store` is mini-framenet with two generated sets, a proposed LU, a recipe
//! and a journal row, in format 1.0; `answers.tsv` beside it is what it answered. The program of
//! format 1.7 wrote `release.jsonl` of a copy of it, STORE, by these commands; the path of the
//! source was shortened in it. `edits` adds `recheck.v` to `Checking`, with a sentence and a set;
//! `fold.tsv` is the line `lu check.v test`, parted by tabs.
//!
//! ```text
//! export FNSTORE_DIR=STORE
//! fnstore filter origin=generated
//! fnstore edit edits.jsonl
//! fnstore judge g101 90 --reviewer kim --note na\u{ef}ve
//! fnstore judge g102 20 --reviewer lee
//! fnstore judge g101 60 --question meaning --reviewer lee
//! fnstore proposals accept Checking vet.v --reviewer kim --note first
//! fnstore proposals undo Checking vet.v --reviewer lee
//! fnstore proposals reject Checking vet.v --reviewer lee --note 'too rare'
//! fnstore edition create first 'p>=0'
//! fnstore edition create fold split=test --split-list fold.tsv
//! fnstore export release=mini-framenet --to jsonl release.jsonl
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use fnstore::database::{Database, DatabaseError};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSetId, FrameId, IdSpace, Judgement, LuId, OWN_RANGE, PROPOSED, RecipeId, Verdict,
};
use fnstore::query::Expression;
use fnstore::store::StoreError;
use fnstore::upkeep::CheckOptions;

use crate::cli_program::{fnstore_in, new_store};
use crate::store_opening::files;
use crate::{generated, mini};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-1")
}

/// One line for each frame-evoking set: what of it does not depend on how this build prints
/// records.
fn answers(database: &Database, query: &str) -> String {
    let query = Expression::parse(query).unwrap();
    let line = |answer: fnstore::search::Answer| {
        let labels: Vec<String> =
            answer.elements().map(|fe| format!("{} {:?}", fe.label.name, fe.gf)).collect();
        let fields = [
            answer.set.id.to_string(),
            answer.frame.to_string(),
            answer.lexunit.to_string(),
            answer.set.status.clone(),
            answer.set.provenance.origin().as_str().to_owned(),
            answer.trigger(),
            answer.sentence.text.clone(),
            labels.join(", "),
        ];
        fields.join("\t") + "\n"
    };
    database.query(&query).unwrap().map(|answer| line(answer.unwrap())).collect()
}

#[test]
fn a_store_of_format_1_is_refused_with_advice_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    mini::copy(&golden().join("store"), dir.path());
    let before = files(dir.path());
    let opened = [
        Database::open(dir.path()),
        Database::open_writer(dir.path()),
        Database::open_existing_writer(dir.path()),
    ];
    for outcome in opened {
        let Err(DatabaseError::Store(error)) = outcome else { panic!("the store was opened") };
        assert!(matches!(error, StoreError::Format { .. }), "{error}");
        let message = error.to_string();
        assert!(message.ends_with(
            "has format 1.0 (last written by fnstore 0.1.0), this build reads format 2.0; export \
             each of its releases as JSON lines with the program that wrote it, and import them \
             into a new store (S-outdated)"
        ), "{message}");
    }
    let lines = golden().join("release.jsonl");
    let commands = [
        vec!["query", "--count"],
        vec!["check"],
        vec!["reindex"],
        vec!["backup", "nowhere"],
        vec!["import", lines.to_str().unwrap()],
    ];
    for arguments in commands {
        let ran = fnstore_in(dir.path(), &arguments);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        for part in ["has format 1.0", "(S-outdated)", "export release=NAME --to jsonl FILE"] {
            assert!(ran.stderr.contains(part), "{ran:?}");
        }
    }
    // A backup does not take the place of what its own program can still export.
    let (of_now, backup) = (new_store(), dir.path().with_extension("backup"));
    let made = fnstore_in(of_now.path(), &["backup", backup.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let ran = fnstore_in(dir.path(), &["restore", backup.to_str().unwrap(), "--yes"]);
    std::fs::remove_dir_all(&backup).unwrap();
    assert!(ran.code == Some(2) && ran.stderr.contains("(S-outdated)"), "{ran:?}");
    assert_eq!(files(dir.path()), before, "no file of it was touched");
    assert!(!dir.path().join("index").exists());
}

/// The judgements of a generated set: reviewer, question, score, note.
fn judgements(database: &Database, set: u64) -> Vec<(String, String, u8, String)> {
    let release = database.releases().unwrap()[0].id;
    let set = AnnotationSetId::new(IdSpace::Generated, set);
    let judgements = database.store().judgements(release, set).unwrap().map(Result::unwrap);
    let parts =
        |Judgement { reviewer, question, score, note, .. }| (reviewer, question, score, note);
    judgements.map(parts).collect()
}

#[test]
fn what_a_store_of_format_1_holds_comes_over_as_json_lines() {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    let lines = golden().join("release.jsonl");
    database.import_jsonl(&lines, None, &mut |_| {}).unwrap();
    let expected = fs::read_to_string(golden().join("answers.tsv")).unwrap();
    assert_eq!(expected.lines().count(), 44);
    assert_eq!(answers(&database, "not lu=recheck.v"), expected);
    assert_eq!(mini::answers(&database, "trigger=vetted").len(), 1);
    assert_eq!(mini::answers(&database, "lu=recheck.v origin=user").len(), 1);

    let (store, release) = (database.store(), database.releases().unwrap()[0].id);
    let proposed = store.lexunit(release, FrameId(102), LuId(OWN_RANGE)).unwrap().unwrap();
    assert_eq!((proposed.name.as_str(), proposed.status.as_str()), ("vet.v", PROPOSED));
    let journal = store.journal(release, generated::seed(), 0, RecipeId(1)).unwrap().unwrap();
    assert_eq!((journal.round, journal.chain.len()), (2, 2));
    assert_eq!(store.recipes().unwrap()[0].2, "{\"beam\":4}");
    assert_eq!(store.all_sentence_layers(release).unwrap().count(), 40);
    assert_eq!(store.relations(release).unwrap().count(), 6);
    let scored = mini::answers(&database, "p>=0 r>=0 origin=generated");
    assert_eq!(scored.len(), 2);

    let text = str::to_owned;
    let of_first = [
        (text("kim"), String::new(), 90, text("na\u{ef}ve")),
        (text("lee"), text("meaning"), 60, String::new()),
    ];
    assert_eq!(judgements(&database, 101), of_first);
    assert_eq!(judgements(&database, 102), [(text("lee"), String::new(), 20, String::new())]);
    let decided = store.decisions(release, FrameId(102), "vet.v").unwrap().unwrap();
    let history = decided.history.iter();
    let history: Vec<_> = history
        .map(|of| (of.verdict, of.reviewer.as_str(), of.note.as_str(), of.undone.is_some()))
        .collect();
    let expected =
        [(Verdict::Accept, "kim", "first", true), (Verdict::Reject, "lee", "too rare", false)];
    assert_eq!(history, expected);
    assert!(decided.history[1].evidence.p.is_some());
    let editions = store.editions(release).unwrap().map(Result::unwrap);
    let editions: Vec<_> = editions
        .map(|edition| (edition.name, edition.sets.len(), edition.split_list.is_some()))
        .collect();
    assert_eq!(editions, [(text("first"), 2, false), (text("fold"), 15, true)]);
    assert_eq!(mini::answers(&database, "edition=fold").len(), 15);

    let check = database.check(CheckOptions { deep: true }, &mut |_| {}).unwrap();
    assert!(check.findings.is_empty(), "{:?}", check.findings);
}
