//! Names that somebody types find what is called so in composed or in decomposed letters: in edit
//! scripts, queries, commands and the library. What is stored keeps its spelling.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::edit::{Fate, Removal};
use fnstore::internals::WithStore as _;
use fnstore::lexicon::RecordKey;
use fnstore::model::{AnnotationSet, FrameElement, LayerName, LexUnit, Reviewed};
use fnstore::proposals::{Proposals, Ranker};
use fnstore::query::Expression;
use fnstore::transfer::ImportOptions;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::{fnstore_in, new_store};
use crate::{generated, mini};

/// A name with an accent, composed and decomposed.
type Spelled = fn(&str) -> String;

fn composed(name: &str) -> String {
    name.replace('e', "\u{e9}")
}

fn decomposed(name: &str) -> String {
    name.replace('e', "e\u{301}")
}

const WAYS: [[Spelled; 2]; 2] = [[composed, decomposed], [decomposed, composed]];

fn script(dir: &Path, name: &str, lines: &[Value]) -> PathBuf {
    let path = dir.join(name);
    let mut file = std::fs::File::create(&path).unwrap();
    lines.iter().for_each(|line| writeln!(file, "{line}").unwrap());
    path
}

/// Edits that name a record of each kind.
fn made(s: Spelled) -> Vec<Value> {
    vec![
        json!({"op": "add-semtype", "name": s("Gear"), "abbreviation": s("ge")}),
        json!({"op": "add-frame", "name": s("Rereading"), "elements": [
            {"name": s("Reader")}, {"name": s("Text"), "core_type": "Peripheral"},
        ]}),
        json!({"op": "add-lu", "frame": s("Rereading"), "name": s("reread.v"),
            "incorporated_fe": s("Text")}),
        json!({"op": "add-relation", "kind": s("Tense"), "parent": s("Rereading"),
            "child": "Checking", "elements": [[s("Reader"), "Checker"]]}),
        json!({"op": "add-document", "corpus": s("Press"), "name": s("Letter")}),
        json!({"op": "add-sentence", "as": "s", "document": s("Letter"), "text": "She reread it ."}),
        json!({"op": "add-set", "sentence": "@s", "frame": s("Rereading"), "lu": s("reread.v"),
            "targets": [[4, 10]], "elements": [{"name": s("Reader"), "span": [0, 3]}]}),
    ]
}

/// Edits of these, in every field that takes a name.
fn edited(s: Spelled, set: &str) -> Vec<Value> {
    let (frame, lu, reader, text) = (s("Rereading"), s("reread.v"), s("Reader"), s("Text"));
    vec![
        json!({"op": "edit-semtype", "semtype": s("Gear"), "parents": ["Tool"]}),
        json!({"op": "edit-frame", "frame": frame, "core_sets": [[reader, text]],
            "sem_types": [s("Gear")]}),
        json!({"op": "add-element", "frame": frame,
            "element": {"name": "Place", "requires": [text], "sem_types": [s("Gear")]}}),
        json!({"op": "edit-element", "frame": frame, "element": text, "excludes": [reader]}),
        json!({"op": "edit-lu", "frame": frame, "lu": lu, "incorporated_fe": reader}),
        json!({"op": "add-relation", "as": "r", "kind": s("Tense"), "parent": "Checking",
            "child": frame, "elements": [["Checker", reader]]}),
        json!({"op": "edit-relation", "relation": "@r", "kind": s("Tense"), "elements": [["Checker", text]]}),
        json!({"op": "edit-document", "document": s("Letter"), "name": s("Letters")}),
        json!({"op": "add-document", "corpus": s("Press"), "name": "Other"}),
        json!({"op": "add-sentence", "document": s("Letters"), "text": "He reread them ."}),
        json!({"op": "edit-set", "set": set, "frame": frame, "lu": lu,
            "elements": [{"name": reader, "span": [0, 3]}, {"name": text, "span": [11, 13]}]}),
    ]
}

fn edit(store: &Path, lines: &[Value]) -> Vec<Value> {
    let path = script(store.parent().unwrap(), "edits.jsonl", lines);
    let ran = fnstore_in(store, &["edit", path.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.records()
}

/// A store with what [`made`] adds, and the set's id.
fn store_of(s: Spelled) -> (TempDir, PathBuf, String) {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    mini::copy(new_store().path(), &store);
    let set = edit(&store, &made(s)).pop().unwrap();
    (dir, store, set["id"].as_str().unwrap().to_owned())
}

#[test]
fn every_field_of_an_edit_takes_a_name_in_either_spelling() {
    for [stored, typed] in WAYS {
        let (_dir, store, set) = store_of(stored);
        edit(&store, &edited(typed, &set));
        let database = Database::open(&store).unwrap();
        let lexicon = database.lexicons().unwrap().remove(0);
        let frame = lexicon.frame_by_name(&stored("Rereading")).unwrap().unwrap();
        let names: Vec<&str> = frame.elements.iter().map(|fe| fe.name.as_str()).collect();
        assert_eq!(names, [&stored("Reader"), &stored("Text"), "Place"]);
        let [reader, text] = [frame.elements[0].id, frame.elements[1].id];
        assert_eq!(
            (&frame.core_sets, &frame.elements[1].excludes),
            (&vec![vec![reader, text]], &vec![reader])
        );
        assert_eq!(frame.elements[2].requires, [text]);
        let lu = lexicon.lus_of(frame.id).unwrap().next().unwrap().unwrap();
        assert_eq!(lu.incorporated_fe, Some(stored("Reader")), "the frame's own spelling");
        let relations = lexicon.relations_of(frame.id).unwrap().map(Result::unwrap);
        assert!(relations.into_iter().all(|relation| relation.kind == stored("Tense")));
        let expression = Expression::parse(&format!("id={set}")).unwrap();
        let found = database.query(&expression).unwrap().next().unwrap().unwrap();
        assert_eq!(labels(&found.set), [stored("Reader"), stored("Text")]);
        let documents = lexicon.documents().unwrap().map(Result::unwrap);
        let of_corpus: Vec<_> =
            documents.filter(|of| of.corpus_name == stored("Press")).map(|of| of.corpus).collect();
        assert!(of_corpus.len() == 2 && of_corpus[0] == of_corpus[1], "{of_corpus:?}");

        let (frame, reader) = (typed("Rereading"), typed("Reader"));
        let removals = [
            json!({"op": "remove-element", "frame": frame, "element": reader, "cascade": true}),
            json!({"op": "remove-semtype", "semtype": typed("Gear"), "cascade": true}),
            json!({"op": "remove-document", "document": typed("Letters"), "cascade": true}),
            json!({"op": "remove-lu", "frame": frame, "lu": typed("reread.v"), "cascade": true}),
            json!({"op": "remove-frame", "frame": frame, "cascade": true}),
        ];
        drop(lexicon);
        drop(database);
        edit(&store, &removals);
        let database = Database::open(&store).unwrap();
        let lexicon = database.lexicons().unwrap().remove(0);
        assert!(lexicon.frame_by_name(&stored("Rereading")).unwrap().is_none());
    }
}

fn labels(set: &AnnotationSet) -> Vec<String> {
    let layers = set.layers.iter().filter(|layer| layer.name == LayerName::Fe);
    layers.flat_map(|layer| &layer.labels).map(|label| label.name.clone()).collect()
}

#[test]
fn an_fe_that_an_lu_incorporates_in_another_spelling_is_in_use_and_renamed() {
    let (_dir, store, _) = store_of(composed);
    let database = Database::open_existing_writer(&store).unwrap();
    let release = database.releases().unwrap()[0].id;
    let lexicon = database.lexicons().unwrap().remove(0);
    let frame = lexicon.frame_by_name(&composed("Rereading")).unwrap().unwrap();
    let text = frame.fe_by_name(&decomposed("Text")).unwrap().clone();
    let mut lu = lexicon.lus_of(frame.id).unwrap().next().unwrap().unwrap();
    // A program may write the FE as it likes.
    lu.incorporated_fe = Some(decomposed("Text"));
    let mut edits = database.transaction(release).unwrap();
    edits.set_lexunit(lu.clone()).unwrap();
    let refused = edits.remove_element(frame.id, text.id, Removal::Alone).unwrap_err();
    assert!(refused.to_string().contains("1 LUs"), "{refused}");
    edits.set_element(frame.id, FrameElement { name: "Page".to_owned(), ..text }).unwrap();
    edits.commit().unwrap();
    let lu = lexicon.lu_of_frame(frame.id, lu.id).unwrap().unwrap();
    assert_eq!(lu.incorporated_fe.as_deref(), Some("Page"));
}

#[test]
fn queries_and_commands_take_names_in_either_spelling() {
    for [stored, typed] in WAYS {
        let (_dir, store, set) = store_of(stored);
        let ran = |arguments: &[&str]| {
            let ran = fnstore_in(&store, arguments);
            assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
            ran.stdout
        };
        ran(&["edition", "create", &stored("Selected"), &format!("id={set}")]);
        let refused =
            fnstore_in(&store, &["edition", "create", &typed("Selected"), "status=MANUAL"]);
        assert_ne!(refused.code, Some(0), "its name is taken");
        let (frame, lu, reader) = (typed("Rereading"), typed("reread.v"), typed("Reader"));
        for query in [
            format!("frame={frame}"),
            format!("inherits={frame}"),
            format!("lu={lu}"),
            format!("lemma={}", typed("reread")),
            format!("fe={reader}"),
            format!("fe={reader}{{overt=true}}"),
            format!("corpus={}", typed("Press")),
            format!("doc={}", typed("Letter")),
            format!("edition={}", typed("Selected")),
        ] {
            let found = ran(&["query", &query, "--format", "jsonl"]);
            assert!(found.contains(&set), "{query}: {found}");
        }
        for arguments in [
            vec!["show", "frame", &frame],
            vec!["show", "lu", &lu],
            vec!["show", "document", &typed("Letter")],
            vec!["frames", &frame],
            vec!["frames", "--lu", &lu],
            vec!["lus", &lu, "--frame", &frame],
            vec!["fes", &reader, "--frame", &frame],
            vec!["relations", &frame, "--kind", &typed("Tense")],
            vec!["semtypes", &typed("Gear")],
            vec!["edition", "show", &typed("Selected")],
        ] {
            assert!(!ran(&arguments).is_empty(), "{arguments:?}");
        }
        ran(&["edition", "verify", &typed("Selected")]);
        ran(&["edition", "delete", &typed("Selected")]);
        assert_eq!(fnstore_in(&store, &["edition", "list"]).code, Some(1), "there is none");
    }
}

#[test]
fn lookups_of_the_library_take_either_spelling() {
    for [stored, typed] in WAYS {
        let (_dir, store, _) = store_of(stored);
        let database = Database::open(&store).unwrap();
        let lexicon = database.lexicons().unwrap().remove(0);
        let key = typed("Rereading");
        let frame = lexicon.frame_by_name(&key).unwrap().unwrap();
        assert_eq!(frame.name, stored("Rereading"));
        assert_eq!(frame.fe_by_name(&typed("Reader")).unwrap().name, stored("Reader"));
        assert_eq!(frame.fes_by_name(&typed("Text")).count(), 1);
        assert_eq!(lexicon.lus_by_name(&typed("reread.v")).unwrap().len(), 1);
        let (_, lu) = database
            .the_lu(RecordKey::Name(&typed("reread.v")), Some(RecordKey::Name(&key)), None)
            .unwrap();
        assert_eq!(lu.name, stored("reread.v"));
        assert_eq!(lexicon.semtype_by_name(&typed("Gear")).unwrap().unwrap().name, stored("Gear"));
        assert!(lexicon.semtype_by_abbreviation(&typed("ge")).unwrap().is_some());
    }
}

#[test]
fn proposals_are_decided_about_in_either_spelling() {
    for [stored, typed] in WAYS {
        let (_dir, database, report) = mini::imported();
        let release = report.release.id;
        generated::write(&database, release);
        let lexicon = database.lexicons().unwrap().remove(0);
        let proposed = lexicon.lus_by_name("vet.v").unwrap().remove(0);
        let (frame, name) = (proposed.frame, stored("vet.v"));
        let mut edits = database.transaction(release).unwrap();
        edits.set_lexunit(LexUnit { name: name.clone(), ..proposed }).unwrap();
        edits.commit().unwrap();
        let proposals = Proposals::new(&database, None, Ranker::default());
        let by = || Reviewed { reviewer: "kim".to_owned(), time: 1, note: String::new() };
        let of = (frame, &*typed("vet.v"));
        assert_eq!(proposals.of(release, frame, of.1).unwrap().name, name);
        for fate in [Fate::Accept, Fate::Reject] {
            proposals.decide(release, of, fate, by()).unwrap();
            assert!(proposals.decide(release, of, fate, by()).is_err(), "a decision stands");
            proposals.undo(release, of, by()).unwrap();
        }
        let decided = database.store().all_decisions(release).unwrap().map(Result::unwrap);
        let decided: Vec<(String, usize)> =
            decided.map(|decided| (decided.name, decided.history.len())).collect();
        assert_eq!(decided, [(name, 2)], "one history, under the LU's own name");
    }
}

#[test]
fn labels_of_spans_in_either_spelling_are_one_frame() {
    let dir = tempfile::tempdir().unwrap();
    let line = |name: String| {
        let span = json!({"start": 4, "end": 10, "type": name, "lemma": "reread", "pos": "v"});
        json!({"text": format!("She reread {name} ."), "spans": [span]})
    };
    let lines = [line(decomposed("Reread")), line(composed("Reread"))];
    let file = script(dir.path(), "spans.jsonl", &lines);
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    database.import_spans(&file, &ImportOptions::default(), &mut |_| {}).unwrap();
    let lexicon = database.lexicons().unwrap().remove(0);
    let frames: Vec<String> = lexicon.frames().unwrap().map(|of| of.unwrap().name).collect();
    assert_eq!(frames, [decomposed("Reread")], "the spelling that came first");
    let expression = Expression::parse(&format!("frame={}", composed("Reread"))).unwrap();
    assert_eq!(database.query(&expression).unwrap().count(), 2);
}

#[test]
fn a_name_as_it_is_written_wins_over_an_equivalent_one() {
    let (_dir, store, _) = store_of(composed);
    let (frame, names) = (composed("Rereading"), [composed("reread.v"), decomposed("reread.v")]);
    edit(&store, &[json!({"op": "add-lu", "frame": frame, "name": names[1], "another": true})]);
    for name in &names {
        let line = json!({"op": "edit-lu", "frame": frame, "lu": name, "definition": name});
        edit(&store, &[line]);
    }
    let database = Database::open(&store).unwrap();
    let lexicon = database.lexicons().unwrap().remove(0);
    for name in &names {
        let found = lexicon.lus_by_name(name).unwrap();
        assert_eq!(found.len(), 1, "{name:?}");
        assert_eq!((&found[0].name, &found[0].definition), (name, name));
        assert!(database.the_lu(RecordKey::Name(name), None, None).is_ok());
    }
    // Neither is written so: a hat and a dot below in two orders.
    let mut frame = lexicon.frame_by_name(&frame).unwrap().unwrap();
    frame.elements[0].name = "\u{1ec7}".to_owned();
    frame.elements[1].name = "e\u{323}\u{302}".to_owned();
    let count = |name: &str| frame.fes_by_name(name).count();
    assert_eq!([count("\u{1ec7}"), count("e\u{323}\u{302}"), count("\u{ea}\u{323}")], [1, 1, 2]);
}
