//! What a tool asks for by mistake is refused, and the message says what would be right.

use fnstore::database::Database;
use fnstore::edit::Transaction;
use fnstore::lexicon::RecordKey;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, Coded as _, FrameId, FrameRelation, LexUnit, Sentence, Span,
};

use crate::edits::refused;
use crate::mini;

const CHECKING: FrameId = FrameId(102);

fn frame(database: &Database, name: &str) -> FrameId {
    database.the_frame(RecordKey::Name(name), None).unwrap().1.id
}

#[test]
fn an_lu_of_another_frame_is_told_with_the_frames_that_have_one() {
    let (_dir, database, _) = mini::imported();
    let repairing = Some(RecordKey::Name("Repairing"));
    let number = database.the_lu(RecordKey::Name("audit.v"), None, None).unwrap().1.id.0;
    for (key, called) in [
        (RecordKey::Name("audit.v"), "audit.v".to_owned()),
        (RecordKey::Number(number), number.to_string()),
    ] {
        let error = database.the_lu(key, repairing, None).err().unwrap();
        assert_eq!(error.code(), Some("Q-unknown-name"));
        assert_eq!(
            error.to_string(),
            format!(
                "there is no lexical unit `{called}` of frame `Repairing`; expected `Checking`, \
                 which has one"
            )
        );
    }
    let nowhere = database.the_lu(RecordKey::Name("audti.v"), repairing, None).err().unwrap();
    assert!(nowhere.to_string().contains("did you mean `audit.v`?"), "{nowhere}");
}

#[test]
fn what_is_empty_is_called_so() {
    let (_dir, database, report) = mini::imported();
    let mut edits = database.transaction(report.release.id).unwrap();
    for text in ["", "  "] {
        let found = refused(edits.add_sentence(Sentence::new(text)));
        assert!(found.contains("expected a text that is not empty"), "{found}");
        let found = refused(edits.add_lexunit(LexUnit::new(CHECKING, text)));
        assert!(found.contains("expected a name that is not empty"), "{found}");
    }
    let found = refused(edits.add_sentence(Sentence::new("a\0b")));
    assert!(found.contains("expected a text without zero characters"), "{found}");
    let found = refused(edits.add_lexunit(LexUnit::new(CHECKING, "a\u{1}.v")));
    assert!(found.contains("expected a name without control characters"), "{found}");
}

#[test]
fn a_store_without_a_path_is_none() {
    for opened in [
        Database::open("".as_ref()),
        Database::open_writer("".as_ref()),
        Database::open_editor("".as_ref()),
    ] {
        let error = opened.err().unwrap();
        assert_eq!(error.code(), Some("S-not-a-store"));
        assert!(error.to_string().contains("its path is empty"), "{error}");
    }
}

#[test]
fn a_commit_that_changes_nothing_has_no_number() {
    let (_dir, database, report) = mini::imported();
    let id: AnnotationSetId = "x7002".parse().unwrap();
    let save = |change: fn(AnnotationSet) -> AnnotationSet| {
        let mut edits = database.transaction(report.release.id).unwrap();
        let set = edits.annotation_set(id).unwrap().unwrap();
        edits.set_annotation_set(change(set)).unwrap();
        edits.commit_changes().unwrap()
    };
    let before = database.revision().unwrap();
    assert_eq!(save(|set| set), None);
    assert_eq!(database.revision().unwrap(), before);
    let changed = save(|set| set.element("Time", Span::new(0, 2), "", ""));
    assert_eq!(changed, Some(before + 1));
}

#[test]
fn a_misspelt_type_and_a_second_relation_are_refused() {
    let (_dir, database, report) = mini::imported();
    let lexicon = database.lexicon("mini-framenet").unwrap();
    let (one, other) = (frame(&database, "Checking"), frame(&database, "Repairing"));
    let mut edits = database.transaction(report.release.id).unwrap();
    let found = refused(edits.add_relation(FrameRelation::new("Inheritence", one, other)));
    assert!(found.contains("did you mean `Inheritance`?"), "{found}");
    // A type of one's own is one.
    edits.add_relation(FrameRelation::new("Echoes", one, other)).unwrap();
    let found = refused(edits.add_relation(FrameRelation::new("Echoes", one, other)));
    assert!(found.contains("not related yet"), "{found}");
    edits.add_relation(FrameRelation::new("Echoes", other, one)).unwrap();
    let relations = lexicon.relations_of(one).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
    let known = relations.first().expect("the release relates the frame");
    let twin = FrameRelation::new(&known.kind, known.parent, known.child);
    assert!(refused(edits.add_relation(twin)).contains(&format!("relation {} is it", known.id)));
    // What is there may be put back.
    edits.set_relation(known.clone()).unwrap();
    edits.commit().unwrap();
}

/// A transaction's set with an FE on spans.
fn on(edits: &Transaction<'_>, id: AnnotationSetId, spans: &[Span]) -> AnnotationSet {
    let set = edits.annotation_set(id).unwrap().unwrap().without_element("Time");
    spans.iter().fold(set, |set, span| set.element("Time", *span, "", ""))
}

#[test]
fn an_fe_stands_once_on_a_span() {
    let (_dir, database, report) = mini::imported();
    let id: AnnotationSetId = "x7002".parse().unwrap();
    let mut edits = database.transaction(report.release.id).unwrap();
    let (here, there) = (Span::new(0, 2), Span::new(1, 2));
    let twice = on(&edits, id, &[here, here]);
    let found = refused(edits.set_annotation_set(twice));
    assert!(found.contains("an FE that does not stand on this span yet"), "{found}");
    let apart = on(&edits, id, &[here, there]);
    edits.set_annotation_set(apart).unwrap();
}

#[test]
fn authors_and_notes_have_no_control_characters() {
    let (_dir, database, report) = mini::imported();
    let edit = |note: &str| {
        let mut edits = database.transaction(report.release.id).unwrap();
        edits.explain(note);
        edits.add_sentence(Sentence::new("Somebody checked it.")).unwrap();
        edits.commit()
    };
    let found = refused(edit("a\u{1b}[31m"));
    assert!(found.contains("`note` is") && found.contains("control characters"), "{found}");
    edit("first line\nsecond line").unwrap();
    database.set_author("ada\nbob");
    assert!(refused(edit("")).contains("`author` is"));
    database.set_author("ada");
    edit("").unwrap();
}

#[test]
fn an_id_that_is_none_and_a_query_with_a_control_character_are_shown_as_text() {
    let error = "q7\u{1b}".parse::<AnnotationSetId>().unwrap_err();
    assert!(error.to_string().contains("`q7\\u{1b}`"), "{error}");
    let error = "fr\0me=Checking".parse::<fnstore::query::Expression>().unwrap_err();
    assert!(!error.to_string().contains('\0'), "{error:?}");
}
