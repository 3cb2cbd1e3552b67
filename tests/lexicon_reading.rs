//! The library's reading of a release: every kind of thing by id, by name, by pattern and one after
//! the other, from any thread.

use fnstore::database::{Database, DatabaseError, LookupError};
use fnstore::lexicon::Lexicon;
use fnstore::model::{AnnotationSetId, FrameId, LuId, SemTypeId, SentenceId};
use fnstore::query::{Case, Expression, Pattern};
use fnstore::store::NameKind;

use crate::mini;

fn wildcard(text: &str) -> Pattern {
    Pattern::wildcard(text, Case::Fold)
}

fn collect<T>(rows: impl Iterator<Item = Result<T, DatabaseError>>) -> Vec<T> {
    rows.map(|row| row.unwrap()).collect()
}

/// Compiles only while the handles may be shared and sent between threads.
#[test]
fn handles_may_be_used_from_many_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Database>();
    shared::<Lexicon<'_>>();
    let (_dir, database, _) = mini::imported();
    let lexicon = database.lexicon("mini-framenet").unwrap();
    std::thread::scope(|scope| {
        let count = || collect(lexicon.frames().unwrap()).len();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap() == 6));
    });
}

#[test]
fn a_release_is_chosen_by_name() {
    let (_dir, database, _) = mini::imported();
    assert_eq!(database.lexicons().unwrap().len(), 1);
    let error = database.lexicon("mini-framenut").err().unwrap();
    assert!(
        matches!(error, DatabaseError::Lookup(LookupError::UnknownName { kind: "release", .. })),
        "{error}"
    );
}

#[test]
fn frames_are_read_by_id_name_and_pattern() {
    let (_dir, database, _) = mini::imported();
    let lexicon = database.lexicon("mini-framenet").unwrap();
    let checking = lexicon.frame(FrameId(102)).unwrap().unwrap();
    assert_eq!(lexicon.frame_by_name("Checking").unwrap(), Some(checking));
    assert_eq!(lexicon.frame_by_name("checking").unwrap(), None);
    assert_eq!(lexicon.frame(FrameId(7)).unwrap(), None);
    let names = |pattern: &Pattern| -> Vec<String> {
        collect(lexicon.find_frames(pattern).unwrap()).into_iter().map(|frame| frame.name).collect()
    };
    assert_eq!(names(&wildcard("checking")), ["Checking"]);
    assert_eq!(names(&Pattern::exact("checking", Case::Sensitive)), [""; 0]);
    assert_eq!(names(&Pattern::regex("^R", Case::Sensitive).unwrap()), ["Repairing", "Roaming"]);
    assert_eq!(collect(lexicon.frames().unwrap())[0].name, "Happening");
}

#[test]
fn lexical_units_are_read_by_id_name_and_pattern() {
    let (_dir, database, _) = mini::imported();
    let lexicon = database.lexicon("mini-framenet").unwrap();
    let inspect = lexicon.lu(LuId(1002)).unwrap().unwrap();
    assert_eq!(inspect.name, "inspect.v");
    assert_eq!(lexicon.lu_of_frame(inspect.frame, inspect.id).unwrap(), Some(inspect.clone()));
    assert_eq!(lexicon.lu(LuId(7)).unwrap(), None);
    let two = lexicon.lus_by_name("check.v").unwrap();
    assert_eq!(two.iter().map(|lu| lu.id.0).collect::<Vec<_>>(), [1001, 1007]);
    assert_eq!(collect(lexicon.find_lus(&wildcard("C*")).unwrap()).len(), 3);
    assert_eq!(collect(lexicon.lus_of(FrameId(103)).unwrap()).len(), 3);
    assert_eq!(collect(lexicon.lus().unwrap()).len(), 17);
}

#[test]
fn frame_elements_come_with_their_frame() {
    let (_dir, database, _) = mini::imported();
    let lexicon = database.lexicon("mini-framenet").unwrap();
    let times = collect(lexicon.find_fes(&wildcard("time")).unwrap());
    let frames: Vec<&str> = times.iter().map(|entry| &*entry.frame_name).collect();
    assert_eq!(frames, ["Happening", "Checking", "Repairing", "Roaming", "Giving_leave"]);
    let of_frames: usize =
        collect(lexicon.frames().unwrap()).iter().map(|frame| frame.elements.len()).sum();
    assert_eq!(collect(lexicon.fes().unwrap()).len(), of_frames);
}

#[test]
fn relations_are_read_for_all_frames_and_for_one() {
    let (_dir, database, _) = mini::imported();
    let lexicon = database.lexicon("mini-framenet").unwrap();
    assert_eq!(collect(lexicon.relations().unwrap()).len(), 6);
    let of_leave = collect(lexicon.relations_of(FrameId(105)).unwrap());
    assert_eq!(of_leave.iter().map(|relation| relation.id.0).collect::<Vec<_>>(), [14, 16]);
}

#[test]
fn semantic_types_are_read_by_each_of_their_names() {
    let (_dir, database, _) = mini::imported();
    let lexicon = database.lexicon("mini-framenet").unwrap();
    let sentient = lexicon.semtype(SemTypeId(2)).unwrap().unwrap();
    assert_eq!(lexicon.semtype_by_name("Sentient").unwrap().as_ref(), Some(&sentient));
    assert_eq!(lexicon.semtype_by_abbreviation("Sent").unwrap().as_ref(), Some(&sentient));
    assert_eq!(lexicon.semtype_by_name("Sent").unwrap(), None);
    let tree = lexicon.semtype_tree().unwrap();
    assert!(tree.inherits(sentient.id, SemTypeId(1)));
    assert_eq!(tree.types().count(), collect(lexicon.semtypes().unwrap()).len());
}

#[test]
fn documents_hold_their_sentences_in_reading_order() {
    let (_dir, database, _) = mini::imported();
    let lexicon = database.lexicon("mini-framenet").unwrap();
    let documents = collect(lexicon.documents().unwrap());
    let names: Vec<&str> = documents.iter().map(|document| document.name.as_str()).collect();
    assert_eq!(names, ["HarbourLog", "BikeRide"], "sources of exemplars are no documents");
    let sentences = collect(lexicon.sentences_of(&documents[1]));
    assert_eq!(
        sentences.iter().map(|sentence| sentence.id).collect::<Vec<_>>(),
        documents[1].sentences
    );
    assert_eq!(collect(lexicon.find_documents(&wildcard("MINI__*")).unwrap()).len(), 2);
    assert_eq!(
        lexicon.document(documents[0].corpus, documents[0].id).unwrap().as_ref(),
        Some(&documents[0])
    );
}

#[test]
fn a_sentence_leads_to_its_sets_and_layers() {
    let (_dir, database, _) = mini::imported();
    let lexicon = database.lexicon("mini-framenet").unwrap();
    let id = SentenceId::parse("f6005").unwrap();
    assert!(lexicon.sentence(id).unwrap().unwrap().text.starts_with("The older the bike"));
    let sets = collect(lexicon.annotation_sets_of(id).unwrap());
    let set = AnnotationSetId::parse("f8013").unwrap();
    assert_eq!(sets, [lexicon.annotation_set(set).unwrap().unwrap()]);
    let layers = collect(lexicon.sentence_layers_of(id).unwrap());
    assert!(layers.iter().any(|set| set.construction.is_some()));
    assert_eq!(collect(lexicon.annotation_sets().unwrap()).len(), 42);
    assert_eq!(collect(lexicon.sentences().unwrap()).len(), 39);
}

#[test]
fn exemplars_are_an_lus_own_and_annotations_are_of_every_origin() {
    let (_dir, database, _) = mini::imported();
    let lexicon = database.lexicon("mini-framenet").unwrap();
    let check = lexicon.lu(LuId(1001)).unwrap().unwrap();
    let exemplars = collect(lexicon.exemplars(&check).unwrap());
    assert!(exemplars.iter().all(|exemplar| exemplar.set.id.to_string().starts_with('x')));
    assert_eq!(exemplars[0].trigger(), "checked");
    let every = Expression::parse("lu=check.v").unwrap();
    let every = collect(lexicon.annotations(&every).unwrap());
    assert!(every.len() > exemplars.len());
}

#[test]
fn annotations_are_those_of_one_release() {
    let (_dir, database, _) = mini::imported();
    let options = fnstore::transfer::ImportOptions {
        release: Some("again".to_owned()),
        ..Default::default()
    };
    database.import(&mini::framenet(), &options, &mut |_| {}).unwrap();
    let query = Expression::parse("lu=inspect.v or lu=audit.v").unwrap();
    let both = database.query(&query).unwrap().count();
    for lexicon in database.lexicons().unwrap() {
        let answers = collect(lexicon.annotations(&query).unwrap());
        assert_eq!(answers.len() * 2, both);
        assert!(answers.iter().all(|answer| answer.release.name == lexicon.release().name));
    }
}

#[test]
fn a_name_is_required_and_a_pattern_is_not() {
    let (_dir, database, _) = mini::imported();
    for (kind, name) in [
        (NameKind::Frame, "checking"),
        (NameKind::LexUnit, "Check.v"),
        (NameKind::FrameElement, "CHECKER"),
        (NameKind::SemType, "sentient"),
        (NameKind::Document, "bikeride"),
    ] {
        database.require_name(kind, &wildcard(name)).unwrap();
        database.require_name(kind, &wildcard("zz*")).unwrap();
        let slip = Pattern::exact(&name[1..], Case::Fold);
        let error = database.require_name(kind, &slip).unwrap_err();
        assert!(error.to_string().contains("did you mean"), "{error}");
    }
}
