//! `fnstore proposals`: what generated sets propose, and what reviewers decide of it.

use std::path::Path;

use fnstore::database::{Database, Write};
use fnstore::edit::Fate;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, CarriedElement, Extent, FeId, FeStatus, FilterScores, FrameId,
    IdSpace, Label, Layer, LayerName, LexUnit, LuId, OWN_RANGE, PROPOSED, Provenance, ReleaseId,
    Reviewed, SentenceId, Span, Verdict,
};
use fnstore::proposals::{Proposals, Ranker};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::generated;

const CHECKING: FrameId = FrameId(102);

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// Generated sets of proposed LUs: (LU, name, trigger, seed, round, filter's p).
const PROPOSED_SETS: [(u32, &str, &str, u64, u16, f32); 5] = [
    (0, "vet.v", "vetted", 7012, 2, 0.9),
    (0, "vet.v", "vets", 7006, 1, 0.5),
    (0, "vet.v", "vetted", 7012, 1, 0.7),
    (1, "wander.v", "wandered", 7012, 3, 0.1),
    (2, "patrol.v", "patrolled", 7006, 1, 0.4),
];

/// Writes them into a release.
fn propose(database: &Database, release: ReleaseId) {
    generated::write(database, release);
    propose_more(database, release, 500, &PROPOSED_SETS);
}

/// Writes generated sets, the first under a number.
pub(crate) fn propose_more(
    database: &Database,
    release: ReleaseId,
    first: u64,
    sets: &[(u32, &str, &str, u64, u16, f32)],
) {
    let model = generated::sets(database, release).remove(1);
    let lu = |number: u32, name: &str| LexUnit {
        status: PROPOSED.to_owned(),
        ..LexUnit::named(CHECKING, LuId(OWN_RANGE | 1 << 28 | number), name)
    };
    let mut write = Write::default();
    for (at, &(number, name, trigger, seed, round, p)) in (0..).zip(sets) {
        let (mut sentence, mut set) = model.clone();
        sentence.id = SentenceId::new(IdSpace::Generated, first + at);
        sentence.text = format!("He {trigger} all of it , take {at} .");
        set.id = AnnotationSetId::new(IdSpace::Generated, first + at);
        (set.sentence, set.lu) = (sentence.id, lu(number, name).id);
        let target = Span::new(3, 3 + trigger.len() as u32);
        set.targets = vec![target];
        let label = Label::new("Target", Extent::Overt(target));
        // `He` is the Checker, whom other frames do not have.
        let (extent, fe) = (Extent::Overt(Span::new(0, 2)), Some(FeId(2001)));
        let checker = Label { name: "Checker".to_owned(), extent, fe, ..label.clone() };
        set.layers = vec![
            Layer { name: LayerName::Target, rank: 1, labels: vec![label] },
            Layer { name: LayerName::Fe, rank: 1, labels: vec![checker] },
        ];
        set.fe_status = FeStatus::Carried;
        if let Provenance::Generated(made) = &mut set.provenance {
            made.elements = vec![CarriedElement { name: "Checker".to_owned(), score: Some(0.5) }];
            made.seed = AnnotationSetId::new(IdSpace::Exemplar, seed);
            (made.source, made.round, made.chain) = (made.seed, round, Vec::new());
            made.filter = Some(FilterScores { precision: p, recall: p, filter: [7; 16] });
        }
        if !write.lexunits.iter().any(|there: &LexUnit| there.name == name) {
            write.lexunits.push(lu(number, name));
        }
        write.sentences.push(sentence);
        write.sets.push(set);
    }
    database.write(release, &write).unwrap();
}

/// A store with proposals; the set that `generated` proposes `vet.v` by goes under the same name.
pub(crate) fn store() -> TempDir {
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    propose(&database, release);
    let mut edits = database.transaction(release).unwrap();
    edits.remove_generated(&[AnnotationSetId::parse("g102").unwrap()]).unwrap();
    edits.commit().unwrap();
    store
}

pub(crate) fn proposals(store: &Path, arguments: &[&str]) -> Vec<Value> {
    let ran = fnstore_in(store, &[&["proposals"], arguments, &["--format", "jsonl"]].concat());
    assert!(ran.code == Some(0) || ran.code == Some(1), "{ran:?}");
    let records = ran.records();
    for record in &records {
        assert_eq!(faults_in("proposal.schema.json", record), [""; 0], "{record}");
    }
    records
}

pub(crate) fn names(records: &[Value]) -> Vec<&str> {
    records.iter().map(|record| record["lu"].as_str().unwrap()).collect()
}

fn decide(store: &Path, arguments: &[&str]) -> Ran {
    fnstore_in(store, &[&["proposals"], arguments, &["--reviewer", "kim"]].concat())
}

fn is_whole(store: &Path) {
    let checked = fnstore_in(store, &["check", "--deep"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[test]
fn a_proposal_gathers_what_its_sets_say_and_the_likeliest_comes_first() {
    let store = store();
    let listed = proposals(store.path(), &[]);
    assert_eq!(names(&listed)[0], "vet.v");
    assert_eq!(listed.len(), 3, "{listed:?}");
    let vet = &listed[0];
    assert_eq!((&vet["frame"], &vet["sets"]), (&json!("Checking"), &json!(3)));
    assert_eq!((&vet["seeds"], &vet["rounds"]), (&json!(["x7006", "x7012"]), &json!([1, 2])));
    assert!((vet["p"].as_f64().unwrap() - 0.7).abs() < 1e-6, "{vet}");
    let best: Vec<&Value> =
        vet["sentences"].as_array().unwrap().iter().map(|of| &of["set"]).collect();
    assert_eq!(best, ["g500", "g502", "g501"], "by the precision filter");
    assert_eq!(vet["sentences"][0]["trigger"], "vetted");
    assert!(!vet["nearest"].as_array().unwrap().is_empty(), "{vet}");
    let scores: Vec<f64> = listed.iter().map(|of| of["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    let wander = listed.iter().find(|of| of["lu"] == "wander.v").unwrap();
    assert_eq!(wander["other_frames"], json!(["Roaming"]), "the lexicon has it there");
    assert_eq!(vet["other_frames"], json!([]));
    // A query narrows what they are told by.
    let first = proposals(store.path(), &["round=1"]);
    let vet = first.iter().find(|of| of["lu"] == "vet.v").unwrap();
    assert_eq!((&vet["sets"], &vet["rounds"]), (&json!(2), &json!([1])));
    assert_eq!(proposals(store.path(), &["--limit", "1"]).len(), 1);
    let table = ok(fnstore_in(store.path(), &["proposals", "--format", "table"])).stdout;
    assert!(table.contains("Checking  vet.v") && table.contains("2 seeds  3 sets"), "{table}");
    let csv = ok(fnstore_in(store.path(), &["proposals", "--format", "csv"])).stdout;
    assert_eq!(csv.lines().count(), 4, "{csv}");
}

#[test]
fn what_the_lexicon_of_the_frame_has_is_no_proposal() {
    let store = store();
    let script = store.path().join("script.jsonl");
    std::fs::write(
        &script,
        r#"{"op": "add-lu", "frame": "Checking", "name": "vet.v", "another": true}"#,
    )
    .unwrap();
    ok(fnstore_in(store.path(), &["edit", script.to_str().unwrap()]));
    assert!(!names(&proposals(store.path(), &[])).contains(&"vet.v"));
}

#[test]
fn a_proposal_is_found_in_any_letter_case() {
    let store = store();
    let database = Database::open_existing_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    let proposals = Proposals::new(&database, None, Ranker::default());
    let by = || Reviewed { reviewer: "kim".to_owned(), time: 1, note: String::new() };
    let named = (CHECKING, "VET.V");
    assert_eq!(proposals.of(release, CHECKING, "Vet.v").unwrap().name, "vet.v");
    proposals.decide(release, named, Fate::Reject, by()).unwrap();
    assert!(proposals.decide(release, named, Fate::Reject, by()).is_err());
    assert_eq!(proposals.undo(release, named, by()).unwrap().0, Verdict::Reject);
}

#[test]
fn an_accepted_proposal_is_an_lu_with_its_sentences_and_undoing_proposes_it_again() {
    let store = store();
    let before = proposals(store.path(), &[]);
    let accept = ["accept", "Checking", "vet.v", "--note", "clear"];
    ok(decide(store.path(), &accept));
    assert!(!names(&proposals(store.path(), &[])).contains(&"vet.v"));
    let found = ok(fnstore_in(store.path(), &["query", "lu=vet.v lu_status=Accepted", "--count"]));
    assert_eq!(found.stdout, "3\n");
    is_whole(store.path());
    // FrameNet's XML says what it is.
    let out = tempfile::tempdir().unwrap();
    let dir = out.path().join("xml");
    let xml = dir.to_str().unwrap();
    ok(fnstore_in(store.path(), &["export", "release=mini-framenet", "--to", "framenet-xml", xml]));
    let frame = std::fs::read_to_string(dir.join("frame/Checking.xml")).unwrap();
    let line = frame.lines().find(|line| line.contains("vet.v")).unwrap_or_default();
    assert!(line.contains("status=\"Accepted\""), "{line}");
    let twice = decide(store.path(), &accept);
    assert_eq!(twice.code, Some(2), "{twice:?}");
    assert!(twice.stderr.contains("`kim` decided `accept`: take that back"), "{}", twice.stderr);
    ok(decide(store.path(), &["undo", "Checking", "vet.v"]));
    assert_eq!(proposals(store.path(), &[]), before);
    let decisions = ok(fnstore_in(store.path(), &["proposals", "decisions"])).records();
    assert_eq!(faults_in("proposal-decision.schema.json", &decisions[0]), [""; 0]);
    assert_eq!(
        (&decisions[0]["verdict"], &decisions[0]["note"], &decisions[0]["undone_by"]),
        (&json!("accept"), &json!("clear"), &json!("kim"))
    );
}

#[test]
fn a_rejected_proposal_is_not_listed_again_also_when_more_sets_come() {
    let store = store();
    ok(decide(store.path(), &["reject", "Checking", "wander.v"]));
    assert!(!names(&proposals(store.path(), &[])).contains(&"wander.v"));
    let shown = proposals(store.path(), &["--with-decided"]);
    let wander = shown.iter().find(|of| of["lu"] == "wander.v").unwrap();
    assert_eq!(wander["decided"], "reject");
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    propose(&database, release);
    drop(database);
    assert!(!names(&proposals(store.path(), &[])).contains(&"wander.v"));
    ok(decide(store.path(), &["undo", "Checking", "wander.v"]));
    assert!(names(&proposals(store.path(), &[])).contains(&"wander.v"));
}

#[test]
fn moved_and_merged_sentences_go_to_another_lu_and_come_back() {
    let store = store();
    let described =
        r#"{"op":"edit-lu","frame":"Checking","lu":"vet.v","definition":"my own words"}"#;
    let script = store.path().with_extension("edits");
    std::fs::write(&script, described).unwrap();
    ok(fnstore_in(store.path(), &["edit", script.to_str().unwrap()]));
    std::fs::remove_file(script).unwrap();
    let before = proposals(store.path(), &[]);
    let all = || ok(fnstore_in(store.path(), &["export", "--to", "jsonl"])).stdout;
    let sets = |text: &str| -> Vec<String> {
        let kinds = ["{\"kind\":\"set\"", "{\"kind\":\"lexunit\""];
        let lines = text.lines().filter(|line| kinds.iter().any(|kind| line.starts_with(kind)));
        lines.map(str::to_owned).collect()
    };
    let untouched = sets(&all());
    for (decision, query) in [
        // The other frame has `wander.v`.
        (["move", "Checking", "wander.v", "--to", "Roaming"], "frame=Roaming lu=wander.v"),
        // This one does not have `patrol.v`, which is made.
        (["move", "Checking", "patrol.v", "--to", "Roaming"], "frame=Roaming lu=patrol.v"),
        (["merge", "Checking", "vet.v", "--into", "inspect.v"], "frame=Checking lu=inspect.v"),
    ] {
        let name = decision[2];
        ok(decide(store.path(), &decision));
        assert!(!names(&proposals(store.path(), &[])).contains(&name), "{name}");
        let generated = format!("{query} origin=generated");
        let count = ok(fnstore_in(store.path(), &["query", &generated, "--count"])).stdout;
        assert_eq!(count, if name == "vet.v" { "3\n" } else { "1\n" }, "{name}");
        is_whole(store.path());
    }
    let again = decide(store.path(), &["accept", "Checking", "vet.v"]);
    assert!(again.stderr.contains("expected a proposed LU with sentences"), "{again:?}");
    let status = fnstore_in(store.path(), &["query", "lu=patrol.v lu_status=Accepted", "--count"]);
    assert_eq!(status.stdout, "1\n");
    for name in ["wander.v", "patrol.v", "vet.v"] {
        ok(decide(store.path(), &["undo", "Checking", name]));
        is_whole(store.path());
    }
    assert_eq!(proposals(store.path(), &[]), before);
    assert_eq!(sets(&all()), untouched);
    let gone = fnstore_in(store.path(), &["query", "lu=patrol.v frame=Roaming", "--count"]);
    assert_eq!(gone.stdout, "0\n", "the LU that the move had made goes with it");
}

#[test]
fn names_are_found_in_any_letter_case_and_one_of_two_lus_by_its_number() {
    let store = store();
    let script = store.path().join("script.jsonl");
    let twin = r#"{"op": "add-lu", "frame": "Checking", "name": "inspect.v", "another": true}"#;
    std::fs::write(&script, twin).unwrap();
    ok(fnstore_in(store.path(), &["edit", script.to_str().unwrap()]));
    let merge = |into: &str| decide(store.path(), &["merge", "checking", "VET.v", "--into", into]);
    let two = merge("Inspect.v");
    assert_eq!(two.code, Some(2), "{two:?}");
    let numbers: Vec<&str> = two.stderr.rsplit(": ").next().unwrap().trim().split(", ").collect();
    assert!(two.stderr.contains("the frame has 2 LUs `inspect.v`; expected a number"), "{two:?}");
    ok(merge(numbers[0]));
    let merged =
        ok(fnstore_in(store.path(), &["query", "lu=inspect.v origin=generated", "--count"]));
    assert_eq!(merged.stdout, "3\n");
    is_whole(store.path());
}

#[test]
fn an_acceptance_is_taken_back_after_what_was_merged_into_it() {
    let store = store();
    ok(decide(store.path(), &["accept", "Checking", "vet.v"]));
    ok(decide(store.path(), &["merge", "Checking", "wander.v", "--into", "vet.v"]));
    let early = decide(store.path(), &["undo", "Checking", "vet.v"]);
    assert_eq!(early.code, Some(2), "{early:?}");
    assert!(early.stderr.contains("that gave it those of `wander.v` first"), "{}", early.stderr);
    ok(decide(store.path(), &["undo", "Checking", "wander.v"]));
    ok(decide(store.path(), &["undo", "Checking", "vet.v"]));
    is_whole(store.path());
}

#[test]
fn decisions_come_back_into_their_own_store_also_when_they_went_on() {
    let store = store();
    ok(decide(store.path(), &["reject", "Checking", "wander.v"]));
    let out = tempfile::tempdir().unwrap();
    let added = out.path().join("added.jsonl");
    let file = added.to_str().unwrap();
    ok(fnstore_in(store.path(), &["export", "origin=generated", "--to", "jsonl", file]));
    ok(fnstore_in(store.path(), &["import", file]));
    ok(decide(store.path(), &["undo", "Checking", "wander.v"]));
    let before = ok(fnstore_in(store.path(), &["proposals", "decisions"])).stdout;
    ok(fnstore_in(store.path(), &["import", file]));
    assert_eq!(ok(fnstore_in(store.path(), &["proposals", "decisions"])).stdout, before);
    let other = std::fs::read_to_string(&added)
        .unwrap()
        .replace("\"reviewer\":\"kim\"", "\"reviewer\":\"lee\"");
    std::fs::write(&added, other).unwrap();
    let conflict = fnstore_in(store.path(), &["import", file]);
    assert!(conflict.code == Some(65) && conflict.stderr.contains("E-conflict"), "{conflict:?}");
}

#[test]
fn xml_has_what_was_accepted_and_nothing_that_was_rejected() {
    let store = store();
    ok(decide(store.path(), &["accept", "Checking", "vet.v"]));
    ok(decide(store.path(), &["reject", "Checking", "wander.v"]));
    ok(fnstore_in(store.path(), &["edition", "create", "first", "lu=vet.v"]));
    let dir = tempfile::tempdir().unwrap();
    let (xml, copy) = (dir.path().join("xml"), dir.path().join("copy"));
    let xml = xml.to_str().unwrap();
    let export = ["export", "release=mini-framenet", "--to", "framenet-xml", xml];
    let told = ok(fnstore_in(store.path(), &export)).stderr;
    for loss in ["2  decisions", "1  editions", "1  rejected"] {
        assert!(told.contains(loss), "{loss}: {told}");
    }
    ok(fnstore_in(&copy, &["import", xml]));
    let count = |query: &str| ok(fnstore_in(&copy, &["query", query, "--count"])).stdout;
    assert_eq!(count("lu=vet.v lu_status=Accepted"), "3\n");
    assert_eq!(count("lu=patrol.v lu_status=Proposed"), "1\n");
    let rejected = fnstore_in(&copy, &["query", "frame=Checking lu=wander.v", "--count"]);
    assert_eq!(rejected.stdout, "0\n", "{rejected:?}");
    is_whole(&copy);
    // In a part, too; taken back, it is there again.
    let part = dir.path().join("part");
    let part = ["export", "frame=Checking", "--to", "framenet-xml", part.to_str().unwrap()];
    let told = ok(fnstore_in(store.path(), &part)).stderr;
    assert!(told.contains("1  rejected"), "{told}");
    ok(decide(store.path(), &["undo", "Checking", "wander.v"]));
    let again = dir.path().join("again");
    let again = ["export", "--to", "framenet-xml", again.to_str().unwrap()];
    assert!(!ok(fnstore_in(store.path(), &again)).stderr.contains("rejected"));
}

#[test]
fn an_accepted_lu_is_among_what_people_added_and_its_sentences_stay_generated() {
    let store = store();
    ok(decide(store.path(), &["accept", "Checking", "vet.v"]));
    ok(decide(store.path(), &["reject", "Checking", "wander.v"]));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.jsonl");
    let path = file.to_str().unwrap();
    ok(fnstore_in(store.path(), &["export", "origin=user", "--to", "jsonl", path]));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("\"wander.v\",\"status\""), "proposals are not among it");
    let other = new_store();
    for _ in 0..2 {
        ok(fnstore_in(other.path(), &["import", path]));
        let count = |query: &str| ok(fnstore_in(other.path(), &["query", query, "--count"])).stdout;
        assert_eq!(count("lu=vet.v lu_status=Accepted origin=generated"), "3\n");
        assert_eq!(count("origin=generated"), "3\n");
        is_whole(other.path());
    }
    // Its decision came along, and so did that on the rejected one, which is not proposed there
    // either.
    let decisions = ok(fnstore_in(other.path(), &["proposals", "decisions"])).records();
    assert_eq!(decisions.len(), 2, "{decisions:?}");
    let all = dir.path().join("all.jsonl");
    let all = all.to_str().unwrap();
    ok(fnstore_in(store.path(), &["export", "--to", "jsonl", all]));
    let whole = dir.path().join("whole");
    ok(fnstore_in(&whole, &["import", all]));
    assert!(!names(&proposals(&whole, &[])).contains(&"wander.v"));
    assert_eq!(names(&proposals(&whole, &[])), names(&proposals(store.path(), &[])));
}

#[test]
fn decisions_are_kept_by_backups_and_exports_and_listed_among_the_changes() {
    let store = store();
    ok(decide(store.path(), &["accept", "Checking", "vet.v", "--note", "na\u{ef}ve"]));
    ok(decide(store.path(), &["reject", "Checking", "wander.v"]));
    ok(decide(store.path(), &["undo", "Checking", "wander.v"]));
    ok(decide(store.path(), &["move", "Checking", "wander.v", "--to", "Roaming"]));
    ok(fnstore_in(store.path(), &["edition", "create", "first", "origin=generated"]));
    let decisions = |store: &Path| ok(fnstore_in(store, &["proposals", "decisions"])).stdout;
    let feed = ok(fnstore_in(store.path(), &["changes", "--format", "jsonl"])).records();
    let kinds: Vec<&Value> = feed.iter().filter(|of| of["kind"] == "decision").collect();
    assert_eq!(kinds.len(), 4);
    for change in kinds {
        assert_eq!(faults_in("change.schema.json", change), [""; 0]);
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("all.jsonl");
    ok(fnstore_in(store.path(), &["export", "--to", "jsonl", file.to_str().unwrap()]));
    let text = std::fs::read_to_string(&file).unwrap();
    for line in text.lines().filter(|line| line.contains("\"kind\":\"decisions\"")) {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(faults_in("jsonl-decisions.schema.json", &record), [""; 0]);
    }
    let edition = text.lines().find(|line| line.contains("\"kind\":\"edition\"")).unwrap();
    let edition: Value = serde_json::from_str(edition).unwrap();
    assert_eq!(faults_in("jsonl-edition.schema.json", &edition), [""; 0]);
    let copy = dir.path().join("copy");
    ok(fnstore_in(&copy, &["import", file.to_str().unwrap()]));
    assert_eq!(decisions(&copy), decisions(store.path()));
    assert_eq!(ok(fnstore_in(&copy, &["export", "--to", "jsonl"])).stdout, text);
    let shown = |store: &Path| ok(fnstore_in(store, &["edition", "show", "first"])).stdout;
    assert_eq!(shown(&copy), shown(store.path()));
    is_whole(&copy);
    // Additions bring decisions to a release that has none, and change nothing a second time.
    let additions = dir.path().join("additions.jsonl");
    let path = additions.to_str().unwrap();
    ok(fnstore_in(store.path(), &["export", "origin=generated", "--to", "jsonl", path]));
    let base = new_store();
    ok(fnstore_in(base.path(), &["import", path]));
    assert_eq!(decisions(base.path()), decisions(store.path()));
    ok(fnstore_in(base.path(), &["import", path]));
    is_whole(base.path());
}

#[test]
fn a_file_with_a_wrong_decision_or_half_an_edition_is_refused_whole() {
    let store = store();
    ok(decide(store.path(), &["reject", "Checking", "wander.v"]));
    ok(fnstore_in(store.path(), &["edition", "create", "first", "origin=generated"]));
    let text = ok(fnstore_in(store.path(), &["export", "--to", "jsonl"])).stdout;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("wrong.jsonl");
    for (old, new, message) in [
        ("\"verdict\":\"reject\"", "\"verdict\":\"perhaps\"", "`history[0].verdict` is `perhaps`"),
        ("\"reviewer\":\"kim\"", "\"reviewer\":\"\"", "expected a name without control characters"),
        ("\"lu\":\"wander.v\",\"history\"", "\"lu\":\"\",\"history\"", "`lu` is"),
        (
            "\"total\":6,\"sets\"",
            "\"total\":7,\"sets\"",
            "expected an edition with all of its sets",
        ),
        ("\"sets\":[\"g", "\"sets\":[\"q", "expected a letter (x, f, i or g) and a number"),
    ] {
        assert!(text.contains(old), "{old}");
        std::fs::write(&file, text.replacen(old, new, 1)).unwrap();
        let copy = dir.path().join("copy");
        let ran = fnstore_in(&copy, &["import", file.to_str().unwrap()]);
        assert_eq!(ran.code, Some(65), "{new}: {ran:?}");
        assert!(ran.stderr.contains(message), "{new}: {}", ran.stderr);
    }
}

#[test]
fn wrong_input_is_named_and_changes_nothing() {
    let store = store();
    let before = ok(fnstore_in(store.path(), &["export", "--to", "jsonl"])).stdout;
    for (arguments, message) in [
        (&["accept", "Cheking", "vet.v"][..], "there is no frame `Cheking`"),
        (&["accept", "Checking", "inspect.v"], "there is no proposed LU `inspect.v`"),
        (&["accept", "Checking", "vets.v"], "did you mean `vet.v`?"),
        (&["merge", "Checking", "vet.v", "--into", "inspct.v"], "did you mean `inspect.v`?"),
        (&["move", "Checking", "vet.v", "--to", "Checking"], "expected another frame than"),
        (&["move", "Checking", "vet.v", "--to", "Roming"], "there is no frame `Roming`"),
        (&["merge", "Checking", "vet.v", "--into", "vetting.v"], "there is no LU `vetting.v`"),
        (&["merge", "Checking", "vet.v", "--into", "wander.v"], "is itself a proposal"),
        (&["merge", "Checking", "vet.v", "--into", "inspection.n"], "of the part of speech of"),
        (&["undo", "Checking", "vet.v"], "expected one that somebody has decided on"),
    ] {
        let ran = decide(store.path(), arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
    let nameless = ["proposals", "accept", "Checking", "vet.v", "--reviewer", " "];
    let nameless = fnstore_in(store.path(), &nameless);
    assert!(nameless.code == Some(2) && nameless.stderr.contains("`reviewer`"), "{nameless:?}");
    let query = fnstore_in(store.path(), &["proposals", "frame=Cheking"]);
    assert!(query.code == Some(2) && query.stderr.contains("did you mean"), "{query:?}");
    let nothing = fnstore_in(store.path(), &["proposals", "round=9"]);
    assert_eq!((nothing.code, nothing.stderr.contains("nothing is proposed")), (Some(1), true));
    assert_eq!(ok(fnstore_in(store.path(), &["export", "--to", "jsonl"])).stdout, before);
}

#[test]
fn hidden_lus_give_recall_and_precision() {
    let store = store();
    let list = store.path().join("hidden.tsv");
    let path = list.to_str().unwrap();
    std::fs::write(&list, "# hidden\nChecking\tvet.v\nChecking\tscrutinise.v\nRoaming\trove.v\n")
        .unwrap();
    let ran = ok(fnstore_in(store.path(), &["proposals", "eval", "--hidden", path]));
    let rows = ran.records();
    for row in &rows {
        assert_eq!(faults_in("proposals-eval.schema.json", row), [""; 0]);
    }
    let figures = |row: &Value| {
        ["frame", "hidden", "proposals", "found", "recall", "recall_at_10"]
            .map(|name| row[name].clone())
    };
    assert_eq!(
        figures(&rows[0]),
        [json!("Checking"), json!(2), json!(3), json!(1), json!(0.5), json!(0.5)]
    );
    assert_eq!(figures(&rows[1])[..4], [json!("Roaming"), json!(1), json!(0), json!(0)]);
    assert_eq!(figures(&rows[2])[..4], [Value::Null, json!(3), json!(3), json!(1)]);
    // What was accepted was found.
    ok(decide(store.path(), &["accept", "Checking", "vet.v"]));
    let accepted = ok(fnstore_in(store.path(), &["proposals", "eval", "--hidden", path])).records();
    assert_eq!(figures(&accepted[0]), figures(&rows[0]));
    ok(fnstore_in(store.path(), &["delete", "origin=generated lu=wander.v", "--yes"]));
    std::fs::write(&list, "Roaming\trove.v\n").unwrap();
    let none = fnstore_in(store.path(), &["proposals", "eval", "--hidden", path]);
    assert_eq!(none.code, Some(1), "{none:?}");
    assert_eq!(none.records()[0]["precision"], Value::Null, "no proposal, no precision");
    for (lines, code, message) in [
        ("Checking\tinspect.v\n", 2, "which `Checking` has in `mini-framenet`"),
        ("Cheking\tvet.v\n", 2, "did you mean `Checking`?"),
        ("Checking vet.v\n", 65, "hidden.tsv:1: `number of columns` is `1`"),
    ] {
        std::fs::write(&list, lines).unwrap();
        let ran = fnstore_in(store.path(), &["proposals", "eval", "--hidden", path]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
}

#[test]
fn a_ranker_is_fitted_on_decisions_and_ranks() {
    let store = store();
    let out = store.path().join("ranker.json");
    let path = out.to_str().unwrap();
    let few = fnstore_in(store.path(), &["train", "proposals", "--out", path]);
    assert_eq!((few.code, out.exists()), (Some(65), false), "{few:?}");
    assert!(few.stderr.contains("0 accepted and 0 rejected proposals"), "{}", few.stderr);
    // What one seed supports is right here, what two support is wrong.
    let database = Database::open_writer(store.path()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    for at in 0..12 {
        let name = format!("word{}.v", char::from(b'a' + at as u8));
        let lu = LexUnit {
            status: PROPOSED.to_owned(),
            ..LexUnit::named(CHECKING, LuId(OWN_RANGE | 1 << 29 | at), &name)
        };
        let mut write = Write { lexunits: vec![lu.clone()], ..Write::default() };
        for copy in 0..=at % 2 {
            let (mut sentence, set) = generated::sets(&database, release).remove(0);
            let number = u64::from(1000 + 10 * at + copy);
            sentence.id = SentenceId::new(IdSpace::Generated, number);
            let id = AnnotationSetId::new(IdSpace::Generated, number);
            let mut set = AnnotationSet { id, sentence: sentence.id, lu: lu.id, ..set };
            if let Provenance::Generated(made) = &mut set.provenance {
                made.seed = AnnotationSetId::new(IdSpace::Exemplar, [7012, 7006][copy as usize]);
                made.source = made.seed;
            }
            write.sentences.push(sentence);
            write.sets.push(set);
        }
        database.write(release, &write).unwrap();
        let proposals = Proposals::new(&database, None, Ranker::default());
        let reviewed = Reviewed { reviewer: "kim".to_owned(), time: 7, note: String::new() };
        let fate = if at % 2 == 0 { Fate::Accept } else { Fate::Reject };
        proposals.decide(release, (CHECKING, &name), fate, reviewed).unwrap();
    }
    drop(database);
    let score = |arguments: &[&str]| {
        let listed = proposals(store.path(), arguments);
        let of = |name: &str| {
            let found = listed.iter().find(|of| of["lu"] == name).unwrap();
            found["score"].as_f64().unwrap()
        };
        (of("vet.v"), of("wander.v"))
    };
    let (two_seeds, one_seed) = score(&[]);
    assert!(two_seeds > one_seed);
    let ran =
        ok(fnstore_in(store.path(), &["train", "proposals", "--out", path, "--format", "json"]));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(faults_in("proposal-ranker.schema.json", &report), [""; 0]);
    assert_eq!((&report["accepted"], &report["rejected"]), (&json!(6), &json!(6)));
    assert!(report["weights"]["seeds"].as_f64().unwrap() < -1.0, "{report}");
    assert_eq!(report["held_out_order"], 1.0);
    let (two_seeds, one_seed) = score(&["--ranker", path]);
    assert!(two_seeds < one_seed, "{two_seeds} {one_seed}");
    let again = fnstore_in(store.path(), &["train", "proposals", "--out", path]);
    assert!(again.code == Some(2) && again.stderr.contains("`--force` replaces it"), "{again:?}");
    std::fs::write(&out, "{}").unwrap();
    let wrong = fnstore_in(store.path(), &["proposals", "--ranker", path]);
    assert!(wrong.code == Some(65) && wrong.stderr.contains("ranker.json"), "{wrong:?}");
}
