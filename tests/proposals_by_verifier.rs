//! Proposals are ranked by what a verifier says of their sentences, where it was asked.

use std::path::Path;

use fnstore::database::Database;
use fnstore::model::{AnnotationSetId, Verification};
use serde_json::{Value, json};

use crate::cli_program::fnstore_in;
use crate::generated::verify;
use crate::proposals::{names, proposals, store};
use crate::review_server::Review;

fn answer(set: &str, evokes: Option<f32>) -> Verification {
    let set = AnnotationSetId::parse(set).unwrap();
    let (verifier, asked) = ([5; 16], [6; 16]);
    Verification { set, evokes, same_meaning: None, reverse: None, verifier, asked }
}

fn answers(store: &Path, said: &[(&str, Option<f32>)]) {
    let database = Database::open_existing_writer(store).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    let said = said.iter().map(|(set, evokes)| answer(set, *evokes)).collect();
    verify(&database, release, said);
}

fn of<'a>(listed: &'a [Value], lu: &str) -> &'a Value {
    listed.iter().find(|of| of["lu"] == lu).unwrap()
}

#[test]
fn a_proposal_has_the_mean_of_the_answers_about_its_sets_and_their_share_above_a_half() {
    let store = store();
    let store = store.path();
    let before = proposals(store, &[]);
    let before_table = fnstore_in(store, &["proposals", "--format", "table"]).stdout;
    for name in ["evokes", "evokes_share", "verified"] {
        assert!(before.iter().all(|of| of.get(name).is_none()), "{name}: {before:?}");
    }
    // Three of the sets are of `vet.v`; the third could not be asked about.
    let said = [("g500", Some(0.25)), ("g501", Some(1.0)), ("g502", None), ("g504", Some(0.25))];
    answers(store, &said);
    let listed = proposals(store, &[]);
    let vet = of(&listed, "vet.v");
    assert_eq!((&vet["evokes"], &vet["evokes_share"]), (&json!(0.625), &json!(0.5)));
    assert_eq!(vet["verified"], json!(2));
    // One of which none was asked stays as it was.
    assert_eq!(of(&listed, "wander.v"), of(&before, "wander.v"));
    // A query narrows the sets.
    let likely = proposals(store, &["evokes>=0.5"]);
    assert_eq!((names(&likely), &likely[0]["evokes"]), (vec!["vet.v"], &json!(1.0)));

    let table = fnstore_in(store, &["proposals", "--format", "table"]).stdout;
    assert!(table.contains("evokes 0.62 (1 of 2 above .5)"), "{table}");
    assert!(!before_table.contains("evokes"), "{before_table}");
    let csv = fnstore_in(store, &["proposals", "--format", "csv"]).stdout;
    let mut reader = csv::ReaderBuilder::new().from_reader(csv.as_bytes());
    let at = reader.headers().unwrap().iter().position(|of| of == "evokes").unwrap();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let vet = rows.iter().find(|row| row.iter().any(|field| field == "vet.v")).unwrap();
    assert_eq!([&vet[at], &vet[at + 1], &vet[at + 2]], ["0.625", "0.5", "2"]);
    let review = Review::start(store, &[]);
    let page = review.get("proposals").1;
    assert!(page.contains("evokes 0.62 (1 of 2 above .5)"), "{page}");
}

#[test]
fn answers_raise_and_lower_the_score_and_a_decision_keeps_them() {
    let store = store();
    let store = store.path();
    let score = |lu: &str| of(&proposals(store, &[]), lu)["score"].as_f64().unwrap();
    let (vet, wander, patrol) = (score("vet.v"), score("wander.v"), score("patrol.v"));
    assert!(vet > patrol, "{vet} {patrol}");
    let low = ["g500", "g501", "g502"].map(|set| (set, Some(0.01)));
    answers(store, &[&low[..], &[("g504", Some(0.99))]].concat());
    assert!(score("vet.v") < vet && score("patrol.v") > patrol);
    assert_eq!(score("wander.v"), wander);

    let decided = ["proposals", "accept", "Checking", "patrol.v", "--reviewer", "kim"];
    assert_eq!(fnstore_in(store, &decided).code, Some(0));
    let file = tempfile::tempdir().unwrap();
    let file = file.path().join("out.jsonl");
    let written = file.to_str().unwrap();
    let exported = fnstore_in(store, &["export", "origin=generated", "--to", "jsonl", written]);
    assert_eq!(exported.code, Some(0), "{exported:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    let evidence = text.lines().find(|line| line.contains("\"evidence\"")).unwrap();
    assert!(evidence.contains("\"evokes\":0.99,\"evokes_share\":1.0,\"verified\":1"), "{evidence}");
}
