//! Editions that promise a precision: what judgements let them hold, what is asked, and what is
//! left when sets and judgements change.

use std::path::Path;

use fnstore::database::{Database, Write};
use fnstore::edit::Removal;
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, IdSpace, Provenance, ReleaseId, Sentence, SentenceId,
    Verification,
};
use fnstore::review::{Decision, Question, Session, Source};
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::generated;

/// Candidates of the store; those of an odd number are of the second round.
const SETS: u64 = 200;

/// Sets up to this number are right: the verifier ranks them first.
const RIGHT: u64 = 120;

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

fn id(number: u64) -> AnnotationSetId {
    AnnotationSetId::new(IdSpace::Generated, number)
}

/// A store with generated sets, the higher their number, the less the verifier thinks of them.
fn store() -> tempfile::TempDir {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    let (sentence, set) = generated::sets(&database, release).remove(0);
    let (mut sentences, mut sets, mut verifications) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..=SETS {
        let (sentence, set) = copy(&sentence, &set, number);
        let evokes = 1.0 - number as f32 / (2 * SETS) as f32;
        let verification = generated::verification();
        verifications.push(Verification { set: set.id, evokes: Some(evokes), ..verification });
        sentences.push(sentence);
        sets.push(set);
    }
    let write = Write { sentences, sets, verifications, ..Write::default() };
    database.write(release, &write).unwrap();
    store
}

fn copy(sentence: &Sentence, set: &AnnotationSet, number: u64) -> (Sentence, AnnotationSet) {
    let sentence = Sentence {
        id: SentenceId::new(IdSpace::Generated, 1_000 + number),
        text: format!("He verified the figures of {number} ."),
        ..sentence.clone()
    };
    let mut set = AnnotationSet { id: id(1_000 + number), sentence: sentence.id, ..set.clone() };
    if let Provenance::Generated(made) = &mut set.provenance {
        made.round = 1 + (number % 2) as u16;
    }
    (sentence, set)
}

fn edition(store: &Path, arguments: &[&str]) -> Ran {
    fnstore_in(store, &[&["edition"], arguments, &["--format", "jsonl"]].concat())
}

fn record(ran: Ran) -> Value {
    let record = ok(ran).records().remove(0);
    assert_eq!(faults_in("edition.schema.json", &record), [""; 0]);
    record
}

fn create(store: &Path, more: &[&str]) -> Value {
    let asked = ["create", "right", "evokes>=0", "--precision", "0.9"];
    record(edition(store, &[&asked, more].concat()))
}

/// An edition that holds nothing yet is neither kept nor broken.
fn create_unjudged(store: &Path) {
    let asked = ["create", "later", "evokes>=0.6", "--precision", "0.99", "--confidence", "0.999"];
    record(edition(store, &asked));
    let checked = ok(edition(store, &["verify", "later", "--judgements"])).records();
    assert_eq!(checked[0]["verdict"], "open", "{checked:?}");
}

/// Judges what a review asks for, as a person who knows what is right; gives what was asked.
fn judge(store: &Path, most: usize) -> Vec<u64> {
    let source = Source::Promise { release: None, edition: "right".to_owned() };
    let all = "evokes>=0".parse().unwrap();
    let session = Session::open(store, &all, "kim", Question::Evokes, source).unwrap();
    let (mut asked, mut last) = (Vec::new(), None);
    while let Some(item) = session.next(last, "test").unwrap().filter(|_| asked.len() < most) {
        let number = session.view(item).unwrap().item.set.number() - 1_000;
        let score = if number <= RIGHT { 100 } else { 0 };
        session.decide(&[Decision { item, score, millis: 1, note: String::new() }], 1).unwrap();
        asked.push(number);
        last = Some(item);
    }
    asked
}

fn held(store: &Path) -> Vec<u64> {
    let ran = fnstore_in(store, &["query", "edition=right", "--format", "jsonl"]);
    let id = |it: &Value| it["id"].as_str().unwrap()[1..].parse::<u64>().unwrap() - 1_000;
    ran.records().iter().map(id).collect()
}

#[test]
fn a_review_asks_for_what_a_promise_needs_and_a_cut_keeps_it() {
    let store = store();
    let made = create(store.path(), &[]);
    let promise = &made["promise"];
    assert_eq!((&made["sets"], &promise["rank"]), (&json!(0), &json!("evokes")));
    let group = &promise["groups"][0];
    assert_eq!((&group["candidates"], &group["judged"]), (&json!(SETS), &json!(0)));
    assert!(group["left"].as_u64().unwrap() > 0, "{made}");
    assert_eq!(held(store.path()), [0; 0]);
    let asked = judge(store.path(), 1_000);
    assert!((40..SETS as usize).contains(&asked.len()), "{}", asked.len());
    // More is asked where the answer decides than where nothing can be kept.
    let low = asked.iter().filter(|number| **number > 180).count();
    assert!(low * 20 < asked.len(), "{asked:?}");
    let cut = record(edition(store.path(), &["cut", "right"]));
    let held = held(store.path());
    assert_eq!(cut["sets"], json!(held.len()));
    assert!(held.len() >= 100, "{}", held.len());
    let right = held.iter().filter(|number| **number <= RIGHT).count();
    assert!(right as f64 >= 0.9 * held.len() as f64, "{right} of {}", held.len());
    let wrong_and_judged = |number: &u64| *number > RIGHT && asked.contains(number);
    assert!(!held.iter().any(wrong_and_judged), "what was judged wrong stays out");
    assert_eq!(judge(store.path(), 10), [0; 0], "nothing more is worth being asked");
    let shown = ok(fnstore_in(store.path(), &["edition", "show", "right"]));
    assert!(shown.stdout.contains("90 % right, with a confidence of 95 %"), "{}", shown.stdout);
}

#[test]
fn a_promise_that_judgements_no_longer_bear_out_is_told() {
    let store = store();
    create(store.path(), &[]);
    judge(store.path(), 1_000);
    record(edition(store.path(), &["cut", "right"]));
    let check = |more: &[&str]| {
        let ran = edition(store.path(), &[&["verify", "right", "--judgements"], more].concat());
        for record in ran.records() {
            assert_eq!(faults_in("edition-check.schema.json", &record), [""; 0]);
        }
        (ran.code, ran.records()[0]["verdict"].as_str().unwrap().to_owned())
    };
    assert_eq!(check(&[]), (Some(0), "kept".to_owned()));
    create_unjudged(store.path());
    // A sample by somebody else, in a file.
    let file = store.path().join("judged.jsonl");
    let judged_by = |numbers: &[u64], score: u8, reviewer: &str| {
        let line = |number: &u64| json!({ "set": id(1_000 + number).to_string(), "score": score, "reviewer": reviewer });
        let lines: Vec<String> = numbers.iter().map(|number| line(number).to_string()).collect();
        std::fs::write(&file, lines.join("\n")).unwrap();
    };
    let path = file.to_str().unwrap();
    // A sample by somebody else, in a file.
    let sample = &held(store.path())[..60];
    judged_by(sample, 90, "ann");
    assert_eq!(check(&[path]), (Some(0), "kept".to_owned()));
    judged_by(sample, 10, "ann");
    assert_eq!(check(&[path]), (Some(1), "broken".to_owned()));
    // A mean of 50 is right still.
    let first: Vec<u64> = (1..=60).collect();
    judged_by(&first, 0, "lee");
    ok(fnstore_in(store.path(), &["judge", "--from", path]));
    judged_by(&first, 100, "kim");
    ok(fnstore_in(store.path(), &["judge", "--from", path]));
    assert_eq!(check(&[]), (Some(0), "kept".to_owned()));
    judged_by(&first, 10, "kim");
    ok(fnstore_in(store.path(), &["judge", "--from", path]));
    assert_eq!(check(&[]), (Some(1), "broken".to_owned()));
}

#[test]
fn rounds_keep_the_promise_by_themselves() {
    let store = store();
    let made = create(store.path(), &["--by", "round", "--confidence", "0.9"]);
    let groups = made["promise"]["groups"].as_array().unwrap().clone();
    let names: Vec<&str> = groups.iter().map(|group| group["group"].as_str().unwrap()).collect();
    assert_eq!(names, ["round=1", "round=2"]);
    assert!(groups.iter().all(|group| group["candidates"] == json!(SETS / 2)));
    judge(store.path(), 1_000);
    let cut = record(edition(store.path(), &["cut", "right"]));
    for group in cut["promise"]["groups"].as_array().unwrap() {
        assert!(group["kept"].as_u64().unwrap() >= 40, "{cut}");
    }
    let by_lu = ["create", "by-lu", "evokes>=0", "--precision", "0.9", "--by", "lu"];
    let groups = &record(edition(store.path(), &by_lu))["promise"]["groups"];
    assert_eq!(groups[0]["group"], "lu_status!=Proposed");
}

#[test]
fn sets_that_go_count_as_wrong_and_new_ones_are_no_candidates() {
    let store = store();
    create(store.path(), &[]);
    judge(store.path(), 60);
    let before = record(edition(store.path(), &["cut", "right"]));
    {
        let database = Database::open_existing_writer(store.path()).unwrap();
        let release = database.release("mini-framenet").unwrap().id;
        let mut edits = database.transaction(release).unwrap();
        for number in 1..=100 {
            edits.remove_annotation_set(id(1_000 + number), Removal::Cascade).unwrap();
        }
        edits.commit().unwrap();
        add_one(&database, release);
    }
    let after = record(edition(store.path(), &["show", "right"]));
    let right = |record: &Value| record["promise"]["groups"][0]["right"].as_u64().unwrap();
    assert!(right(&after) < right(&before), "{after}");
    let verified = edition(store.path(), &["verify", "right"]);
    let added = verified.records().iter().filter(|it| it["change"] == "added").count();
    assert_eq!(added, 1, "{verified:?}");
    record(edition(store.path(), &["cut", "right"]));
    assert!(held(store.path()).iter().all(|number| (101..=SETS).contains(number)));
}

fn add_one(database: &Database, release: ReleaseId) {
    let (sentence, set) = generated::sets(database, release).remove(0);
    let (sentence, set) = copy(&sentence, &set, SETS + 1);
    let said = Verification { set: set.id, evokes: Some(1.0), ..generated::verification() };
    let (sentences, sets, verifications) = (vec![sentence], vec![set], vec![said]);
    let write = Write { sentences, sets, verifications, ..Write::default() };
    database.write(release, &write).unwrap();
}

#[test]
fn a_promise_goes_through_json_lines_and_comes_back_by_undo() {
    let store = store();
    create(store.path(), &["--by", "round"]);
    judge(store.path(), 80);
    record(edition(store.path(), &["cut", "right"]));
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("all.jsonl");
    ok(fnstore_in(store.path(), &["export", "--to", "jsonl", file.to_str().unwrap()]));
    let other = tempfile::tempdir().unwrap();
    ok(fnstore_in(other.path(), &["import", file.to_str().unwrap()]));
    // So does what the edition holds alone.
    let part = place.path().join("part.jsonl");
    let export = ["export", "edition=right", "--to", "jsonl", part.to_str().unwrap()];
    ok(fnstore_in(store.path(), &export));
    let third = tempfile::tempdir().unwrap();
    ok(fnstore_in(third.path(), &["import", part.to_str().unwrap()]));
    let (_, of_part) = Database::open(third.path()).unwrap().edition(None, "right").unwrap();
    assert!(!of_part.sets.is_empty() && of_part.promise.is_some());
    let of = |store: &Path| {
        let database = Database::open(store).unwrap();
        database.edition(None, "right").unwrap().1
    };
    assert_eq!(of(store.path()), of(other.path()));
    let shown = |store: &Path| record(edition(store, &["show", "right"]));
    assert_eq!(shown(store.path()), shown(other.path()));
    let last = Database::open(store.path()).unwrap().store().revision().unwrap().to_string();
    ok(fnstore_in(store.path(), &["undo", &last]));
    assert_eq!(of(store.path()).sets.len(), 0, "cut is taken back");
    let check = fnstore_in(store.path(), &["check"]);
    assert_eq!(check.code, Some(0), "{check:?}");
}

#[test]
fn what_cannot_be_promised_is_refused() {
    let store = store();
    for (more, said) in [
        (&["--precision", "1.5"][..], "above 0 and below 1"),
        (&["--precision", "0.9", "--confidence", "1"][..], "above 0 and below 1"),
        (&["--precision", "0.9", "--rank", "paraphrase"][..], "a score in [0, 1]"),
        (&["--precision", "0.9", "--rank", "frame"][..], "a score in [0, 1]"),
        (&["--precision", "0.9", "--rank", "evoke"][..], "evokes"),
        (&["--precision", "0.9", "--rank", "p"][..], "none has it"),
        (&["--confidence", "0.9"][..], "--precision"),
        (&["--by", "round"][..], "--precision"),
    ] {
        let ran = edition(store.path(), &[&["create", "right", "evokes>=0"], more].concat());
        assert_ne!(ran.code, Some(0), "{more:?}");
        assert!(ran.stderr.contains(said), "{more:?}: {}", ran.stderr);
    }
    let none = ["create", "right", "origin=exemplar", "--precision", "0.9"];
    let ran = edition(store.path(), &none);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    for chosen in ["evokes>=0 not judgement<50", "evokes>=0 judgement_mean>=50"] {
        let ran = edition(store.path(), &["create", "right", chosen, "--precision", "0.9"]);
        assert!(ran.stderr.contains("no judgement has chosen"), "{ran:?}");
    }
    ok(edition(store.path(), &["create", "plain", "evokes>=0"]));
    for arguments in [&["cut", "plain"][..], &["verify", "plain", "--judgements"][..]] {
        let ran = edition(store.path(), arguments);
        assert!(ran.code != Some(0) && ran.stderr.contains("promises nothing"), "{ran:?}");
    }
    let ran = fnstore_in(store.path(), &["review", "--for", "plain", "--terminal"]);
    assert!(ran.code != Some(0) && ran.stderr.contains("promises nothing"), "{ran:?}");
    create(store.path(), &[]);
    let file = store.path().join("judged.jsonl");
    for (line, said) in [
        ("{\"set\": \"g1001\"}", "missing field `score`"),
        ("{\"set\": \"1001\", \"score\": 3}", "an id as in `g1024`"),
        ("{\"set\": \"g1001\", \"score\": 101}", "0 to 100"),
    ] {
        std::fs::write(&file, format!("{line}\n")).unwrap();
        let ran =
            edition(store.path(), &["verify", "right", "--judgements", file.to_str().unwrap()]);
        assert!(ran.code != Some(0) && ran.stderr.contains(said), "{line}: {ran:?}");
        assert!(ran.stderr.contains("line 1"), "{line}: {ran:?}");
    }
}
