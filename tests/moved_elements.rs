//! FEs and frame fit of sets that move to another frame, and back.

use std::path::Path;
use std::process::Command;

use fnstore::database::{Database, Write};
use fnstore::edit::Fate;
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, CarriedElement, Extent, FeId, FeStatus, FrameFit, FrameId,
    IdSpace, Label, Layer, LayerName, NullInstantiation, Provenance, ReleaseId, Reviewed,
    SentenceId, Span, Verdict,
};
use fnstore::proposals::{Proposals, Ranker};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::generated;
use crate::mini::copy;
use crate::review_server::Review;

const CHECKING: FrameId = FrameId(102);

fn label(name: &str, fe: u32, extent: Extent) -> Label {
    let (name, fe) = (name.to_owned(), Some(FeId(fe)));
    Label { name, extent, fe, annotator: String::new(), colors: None }
}

/// A store with one set of the proposed `vet.v`: a Checker, a Document that is not said, a Time,
/// and how likely Checking is.
fn store() -> (TempDir, ReleaseId, AnnotationSetId) {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    generated::write(&database, release);
    let (mut sentence, mut set) = generated::sets(&database, release).remove(1);
    sentence.id = SentenceId::new(IdSpace::Generated, 500);
    sentence.text = "He vetted all of it today .".to_owned();
    set.id = AnnotationSetId::new(IdSpace::Generated, 500);
    set.sentence = sentence.id;
    set.layers = vec![
        Layer::of_targets(&set.targets),
        Layer {
            name: LayerName::Fe,
            rank: 1,
            labels: vec![
                label("Checker", 2001, Extent::Overt(Span::new(0, 2))),
                label("Document", 2003, Extent::Null(NullInstantiation::Definite)),
                label("Time", 2008, Extent::Overt(Span::new(20, 25))),
            ],
        },
    ];
    set.fe_status = FeStatus::Carried;
    if let Provenance::Generated(made) = &mut set.provenance {
        made.elements = vec![CarriedElement { name: "Checker".to_owned(), score: Some(0.5) }];
        made.fit = Some(FrameFit { probability: 0.75, model: [7; 16] });
        made.chain.clear();
    }
    let id = set.id;
    let write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
    database.write(release, &write).unwrap();
    let mut edits = database.transaction(release).unwrap();
    edits.remove_generated(&[AnnotationSetId::parse("g102").unwrap()]).unwrap();
    edits.commit().unwrap();
    (store, release, id)
}

fn decide(store: &Path, arguments: &[&str]) -> Ran {
    fnstore_in(store, &[&["proposals"], arguments, &["--reviewer", "kim"]].concat())
}

fn decided(store: &Path, arguments: &[&str]) -> Value {
    let ran = decide(store, &[arguments, &["--format", "json"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let record: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults_in("proposal-decided.schema.json", &record), [""; 0], "{record}");
    record
}

fn read(store: &Path, release: ReleaseId, id: AnnotationSetId) -> AnnotationSet {
    let database = Database::open(store).unwrap();
    database.store().annotation_set(release, id).unwrap().unwrap()
}

/// Names and numbers of the FEs of a set.
fn elements(set: &AnnotationSet) -> Vec<(&str, u32)> {
    let labels = set.fe_layers().flat_map(|layer| &layer.labels);
    labels.map(|label| (label.name.as_str(), label.fe.unwrap().0)).collect()
}

#[test]
fn a_move_maps_keeps_and_drops_fes_and_says_how_many() {
    let (store, release, id) = store();
    let before = read(store.path(), release, id);
    let record = decided(store.path(), &["move", "Checking", "vet.v", "--to", "Giving_leave"]);
    let counts = ["sets", "fes_kept", "fes_mapped", "fes_dropped"].map(|name| &record[name]);
    assert_eq!(counts, [1, 1, 1, 1], "{record}");
    assert_eq!((&record["verdict"], &record["to"]), (&json!("move"), &json!("Giving_leave")));
    let moved = read(store.path(), release, id);
    assert_eq!(elements(&moved), [("Judge", 2301), ("Time", 2303)]);
    assert_eq!(moved.fe_status, FeStatus::Carried, "the FEs that are there were carried");
    let check = fnstore_in(store.path(), &["check", "--deep"]);
    assert_eq!(check.code, Some(0), "{check:?}");
    let count = |query: &str| fnstore_in(store.path(), &["query", query, "--count"]).stdout;
    assert_eq!(count("frame=Giving_leave fe=Judge origin=generated"), "1\n");
    // What was dropped, and the names of before, come back.
    let record = decided(store.path(), &["undo", "Checking", "vet.v"]);
    assert_eq!((&record["undone"], &record["sets"]), (&json!(true), &json!(1)), "{record}");
    let mut back = read(store.path(), release, id);
    let without_fit = |set: &mut AnnotationSet| match &mut set.provenance {
        Provenance::Generated(made) => made.fit = None,
        _ => unreachable!("it was generated"),
    };
    let mut before = before;
    [&mut back, &mut before].into_iter().for_each(without_fit);
    assert_eq!(back, before);
}

#[test]
fn a_move_says_what_became_of_all_and_an_unknown_frame_has_no_fit() {
    let (store, release, id) = store();
    let ran = decide(store.path(), &["move", "Checking", "vet.v", "--to", "Giving_leave"]);
    let said = "moved `vet.v` of `Checking` to `Giving_leave`, 1 annotation set; FEs: 1 kept by \
                name, 1 mapped by a relation, 1 dropped; frame fit removed from 1";
    assert!(ran.stderr.contains(said) && ran.stdout.is_empty(), "{ran:?}");
    // The frame model learnt FrameNet's frames, and this one is none of them.
    assert_eq!(read(store.path(), release, id).provenance.fit(), None);
}

#[test]
fn without_a_frame_model_the_old_frames_fit_is_forgotten() {
    let (store, release, id) = store();
    let database = Database::open_writer(store.path()).unwrap();
    let proposals = Proposals::new(&database, None, Ranker::default());
    let by = || Reviewed { reviewer: "kim".to_owned(), time: 1, note: String::new() };
    let fit = || {
        let set = database.store().annotation_set(release, id).unwrap().unwrap();
        set.provenance.fit()
    };
    let of = (CHECKING, "vet.v");
    let moved = proposals.decide(release, of, Fate::Move(FrameId(105)), by()).unwrap();
    assert_eq!((moved.sets, moved.unfitted.as_slice(), fit()), (1, &[id][..], None));
    let (verdict, back) = proposals.undo(release, of, by()).unwrap();
    assert_eq!((verdict, back.sets, back.unfitted.len()), (Verdict::Move, 1, 0));
}

#[test]
fn what_people_add_after_a_move_stays_when_it_is_undone() {
    let (store, release, id) = store();
    decided(store.path(), &["move", "Checking", "vet.v", "--to", "Giving_leave"]);
    let database = Database::open_writer(store.path()).unwrap();
    let mut edits = database.transaction(release).unwrap();
    let mut set = edits.annotation_set(id).unwrap().unwrap();
    let layer = set.layers.iter_mut().find(|layer| layer.name == LayerName::Fe).unwrap();
    // `He` is no Judge, and `all of it` is the Plan.
    layer.labels.retain(|label| label.name != "Judge");
    layer.labels.push(label("Plan", 2302, Extent::Overt(Span::new(10, 19))));
    edits.set_annotation_set(set).unwrap();
    edits.commit().unwrap();
    drop(database);
    decided(store.path(), &["undo", "Checking", "vet.v"]);
    let back = read(store.path(), release, id);
    assert_eq!(elements(&back), [("Document", 2003), ("Time", 2008), ("Matter", 2002)]);
    assert_eq!(back.frame, CHECKING);
}

#[test]
fn a_set_that_is_edited_into_another_frame_forgets_the_old_frames_fit() {
    let (store, release, id) = store();
    let script = store.path().with_extension("edits");
    let line = r#"{"op":"edit-set","set":"g500","frame":"Roaming","lu":"wander.v","elements":[]}"#;
    std::fs::write(&script, line).unwrap();
    let ran = fnstore_in(store.path(), &["edit", script.to_str().unwrap()]);
    std::fs::remove_file(script).unwrap();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(read(store.path(), release, id).provenance.fit(), None);
}

#[test]
fn a_review_opens_the_frame_model_once() {
    let (store, release, _) = store();
    let database = Database::open_writer(store.path()).unwrap();
    let mut edits = database.transaction(release).unwrap();
    // Frames that the model knows.
    for (id, name) in [(CHECKING, "Scrutiny"), (FrameId(105), "Verification")] {
        let mut frame = database.store().frame(release, id).unwrap().unwrap();
        frame.name = name.to_owned();
        edits.set_frame(frame).unwrap();
    }
    edits.commit().unwrap();
    drop(database);
    let models = tempfile::tempdir().unwrap();
    let model = models.path().join("frames");
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/frames");
    copy(&shipped, &model);
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env("FNSTORE_MODELS", models.path());
    let review = Review::start_by(command, store.path(), &[]);
    let said = |verdict: &str, to: &str| {
        let of = json!({
            "release": "mini-framenet", "frame": "Scrutiny", "lu": "vet.v", "verdict": verdict,
            "to": to,
        });
        let (status, reply) = review.post("proposal", &of);
        assert_eq!(status, 200, "{reply}");
        reply["said"].as_str().unwrap().to_owned()
    };
    let computed = "; frame fit computed anew for 1 of 1";
    let moved = said("move", "Verification");
    assert!(moved.starts_with("moved") && moved.ends_with(computed), "{moved}");
    // Whoever opens the model again fails.
    std::fs::write(model.join("config.json"), "{").unwrap();
    let undone = said("undo", "");
    assert_eq!(undone, format!("undone: move on `vet.v` of `Scrutiny`, by `kim`{computed}"));
}
