//! Edits through transactions: what they change everywhere, what they refuse, and that a refused or
//! dropped one changes nothing.

use fnstore::database::{Database, DatabaseError, EditError, LookupError};
use fnstore::edit::{Removal, Transaction};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, CoreType, CorpusId, Counted, Document, DocumentId, Extent,
    FeId, FeRelation, FeStatus, Frame, FrameElement, FrameId, FrameRelation, IdSpace, Label, Layer,
    LayerName, LexUnit, LuId, OWN_RANGE, Occurrence, Pos, Provenance, RelationId, ReleaseCounts,
    ReleaseId, SemType, SemTypeId, Sentence, SentenceId, Span,
};

use fnstore::query::Expression;
use fnstore::store::AddedCounts;

use crate::{generated, mini};

/// The frame Checking and its LU check.v.
pub(crate) const CHECKING: FrameId = FrameId(102);
pub(crate) const CHECK: LuId = LuId(1001);

fn exemplar(number: u64) -> AnnotationSetId {
    AnnotationSetId::new(IdSpace::Exemplar, number)
}

pub(crate) fn new_sentence(text: &str) -> Sentence {
    let id = SentenceId::new(IdSpace::Imported, 0);
    Sentence { id, xml_id: None, text: text.to_owned(), occurrences: Vec::new() }
}

/// A set of check.v with a target and labels of its FEs.
pub(crate) fn new_set(
    sentence: SentenceId,
    target: (u32, u32),
    labels: &[(&str, u32, u32)],
) -> AnnotationSet {
    let label = |&(name, start, end): &(&str, u32, u32)| Label {
        name: name.to_owned(),
        extent: Extent::Overt(Span::new(start, end)),
        fe: None,
        annotator: "kim".to_owned(),
        colors: None,
    };
    let labels = labels.iter().map(label).collect();
    AnnotationSet {
        id: AnnotationSetId::new(IdSpace::Imported, 0),
        xml_id: None,
        sentence,
        frame: CHECKING,
        lu: CHECK,
        status: "MANUAL".to_owned(),
        created: String::new(),
        targets: vec![Span::new(target.0, target.1)],
        fe_status: FeStatus::Annotated,
        layers: vec![Layer { name: LayerName::Fe, rank: 1, labels }],
        provenance: Provenance::User,
    }
}

pub(crate) fn new_frame(name: &str, elements: &[&str]) -> Frame {
    let fe = |(id, name): (u32, &&str)| FrameElement::named(FeId(id), name, CoreType::Core);
    Frame {
        elements: (1..).zip(elements).map(fe).collect(),
        core_sets: vec![vec![FeId(1)]],
        has_file: true,
        ..Frame::named(FrameId(0), name)
    }
}

/// The message of a refused edit.
pub(crate) fn refused<T>(outcome: Result<T, DatabaseError>) -> String {
    match outcome {
        Err(DatabaseError::Edit(error)) => error.to_string(),
        Err(error) => panic!("not an edit's error: {error}"),
        Ok(_) => panic!("the edit was taken"),
    }
}

fn edited(
    database: &Database,
    release: ReleaseId,
    edit: impl FnOnce(&mut Transaction<'_>) -> Result<(), DatabaseError>,
) -> u64 {
    let mut edits = database.transaction(release).unwrap();
    edit(&mut edits).unwrap();
    edits.commit().unwrap()
}

#[test]
fn a_frame_with_all_that_belongs_to_it_is_found_at_once_and_after_reopening() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    edited(&database, release, |edits| {
        let frame = edits.add_frame(new_frame("Proofing", &["Proofer", "Proof"]))?;
        assert!(frame.0 > OWN_RANGE);
        let lu = edits.add_lexunit(LexUnit::named(frame, LuId(0), "proof.v"))?;
        let sentence = edits.add_sentence(new_sentence("Zo\u{eb} proofed it ."))?;
        assert_eq!(sentence.space(), IdSpace::Imported);
        let labels = [("Proofer", 0, 4), ("Proof", 13, 15)];
        let set = AnnotationSet { frame, lu, ..new_set(sentence, (5, 12), &labels) };
        edits.add_annotation_set(set)?;
        let relation = FrameRelation {
            id: RelationId(0),
            kind: "Inheritance".to_owned(),
            super_role: "Parent".to_owned(),
            sub_role: "Child".to_owned(),
            parent: CHECKING,
            parent_name: String::new(),
            child: frame,
            child_name: String::new(),
            elements: Vec::new(),
        };
        edits.add_relation(relation).map(drop)
    });
    for database in [&database, &Database::open(dir.path()).unwrap()] {
        for query in [
            "frame=Proofing",
            "lu=proof.v frame=Proofing",
            "trigger=proofed",
            "fe=Proofer frame=Proofing",
            "inherits=Checking origin=user",
            "text=\"Zo\u{eb} proofed it .\"",
        ] {
            assert_eq!(mini::answers(database, query), ["mini-framenet i2"], "{query}");
        }
        let answer = database.query(&"id=i2".parse().unwrap()).unwrap().next().unwrap().unwrap();
        let labels: Vec<&Label> = answer.elements().map(|fe| fe.label).collect();
        assert!(labels.iter().all(|label| label.fe.is_some_and(|fe| fe.0 > OWN_RANGE)));
        assert_eq!(answer.set.layers[0].name, LayerName::Target, "the Target layer is written");
        let relations = database.store().relations(release).unwrap().map(Result::unwrap);
        let names: Vec<_> = relations.map(|of| (of.parent_name, of.child_name)).collect();
        assert!(names.contains(&("Checking".to_owned(), "Proofing".to_owned())));
    }
}

#[test]
fn a_dropped_transaction_and_one_that_changes_nothing_write_nothing() {
    let (_dir, database, report) = mini::imported();
    let (content, revision) = (mini::content(&database), database.store().revision().unwrap());
    let mut edits = database.transaction(report.release.id).unwrap();
    edits.remove_frame(CHECKING, Removal::Cascade).unwrap();
    edits.add_sentence(new_sentence("Nobody reads this .")).unwrap();
    drop(edits);
    let mut edits = database.transaction(report.release.id).unwrap();
    let lu = edits.lexunit(CHECKING, CHECK).unwrap().unwrap();
    edits.set_lexunit(LexUnit { definition: "other".to_owned(), ..lu.clone() }).unwrap();
    edits.set_lexunit(lu).unwrap();
    assert_eq!(edits.commit().unwrap(), revision);
    assert_eq!(mini::content(&database), content);
    assert_eq!(database.store().revision().unwrap(), revision);
}

#[test]
fn a_new_name_is_found_and_the_old_one_is_not() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    edited(&database, release, |edits| {
        let lu = edits.lexunit(CHECKING, CHECK)?.unwrap();
        edits.allow_another(true);
        edits.set_lexunit(LexUnit { name: "verify.v".to_owned(), ..lu })?;
        let mut frame = edits.frame(CHECKING)?.unwrap();
        frame.name = "Inspecting".to_owned();
        frame.elements.iter_mut().find(|fe| fe.name == "Checker").unwrap().name =
            "Inspector".to_owned();
        edits.set_frame(frame)
    });
    for database in [&database, &Database::open(dir.path()).unwrap()] {
        let store = database.store();
        assert_eq!(store.frames_by_name(release, "Checking", true).unwrap(), []);
        assert_eq!(store.frames_by_name(release, "inspecting", true).unwrap(), [CHECKING]);
        assert_eq!(store.elements_by_name(release, "Checker", false).unwrap().len(), 0);
        let of_name = store.lexunits_by_name(release, "check.v", false).unwrap();
        assert_eq!(of_name, [(CHECKING, LuId(1007))], "the other LU of that name stays");
        assert_eq!(mini::answers(database, "frame=Inspecting").len(), 27);
        assert!(!mini::answers(database, "fe=Inspector").is_empty());
        assert_eq!(mini::answers(database, "lu=verify.v frame=Inspecting").len(), 12);
        for relation in store.relations(release).unwrap().map(Result::unwrap) {
            assert!(relation.parent_name != "Checking" && relation.child_name != "Checking");
        }
        let lu = store.lexunit(release, CHECKING, CHECK).unwrap().unwrap();
        let mut tables = lu.valences.realizations.iter();
        assert!(
            tables.any(|table| table.elements == ["Inspector"]),
            "valence tables spell it, too"
        );
        let gone = database.query(&"frame=Checking".parse().unwrap()).err().unwrap();
        assert!(gone.to_string().contains("`Checking`"), "{gone}");
    }
}

#[test]
fn a_set_that_changes_is_found_as_it_is() {
    let (_dir, database, report) = mini::imported();
    let before = mini::answers(&database, "trigger=checked").len();
    let revision = database.store().revision().unwrap();
    edited(&database, report.release.id, |edits| {
        let mut set = edits.annotation_set(exemplar(7002))?.unwrap();
        set.lu = LuId(1003);
        set.targets = vec![Span::new(0, 3)];
        edits.set_annotation_set(set)
    });
    assert_eq!(mini::answers(&database, "trigger=checked").len(), before - 1);
    assert_eq!(mini::answers(&database, "lu=examine.v id=x7002").len(), 1);
    assert_eq!(mini::answers(&database, "id=x7002 trigger=she").len(), 1);
    assert_eq!(mini::answers(&database, &format!("since={revision}")), ["mini-framenet x7002"]);
}

#[test]
fn what_others_refer_to_goes_only_with_them() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    generated::write(&database, release);
    let mut edits = database.transaction(release).unwrap();
    let sentence = SentenceId::new(IdSpace::Exemplar, 5001);
    let checker = edits.frame(CHECKING).unwrap().unwrap().fe_by_name("Checker").unwrap().id;
    for (message, by) in [
        (refused(edits.remove_frame(CHECKING, Removal::Alone)), " LUs and "),
        (refused(edits.remove_lexunit(CHECKING, CHECK, Removal::Alone)), "it has 12 annotation"),
        (refused(edits.remove_sentence(sentence, Removal::Alone)), "2 annotation sets"),
        (refused(edits.remove_annotation_set(generated::seed(), Removal::Alone)), "2 annotation"),
        (refused(edits.remove_element(CHECKING, checker, Removal::Alone)), "sets label it"),
        (refused(edits.remove_sem_type(SemTypeId(1), Removal::Alone)), "semantic types have it"),
        (refused(edits.remove_document(CorpusId(301), DocumentId(401), Removal::Alone)), "lists"),
    ] {
        assert!(message.starts_with("E-in-use: ") && message.contains(by), "{message}");
    }
    assert_eq!(edits.commit().unwrap(), database.store().revision().unwrap(), "nothing was staged");

    edited(&database, release, |edits| {
        edits.remove_annotation_set(generated::seed(), Removal::Cascade)?;
        edits.remove_element(CHECKING, checker, Removal::Cascade)?;
        edits.remove_sem_type(SemTypeId(1), Removal::Cascade)?;
        edits.remove_document(CorpusId(301), DocumentId(401), Removal::Cascade)
    });
    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(mini::answers(&reader, "origin=generated").len(), 0, "they went with their seed");
    assert_eq!(reader.store().journals_of(release, generated::seed()).unwrap().count(), 0);
    let gone = reader.query(&Expression::parse("doc=HarbourLog").unwrap()).map(drop);
    assert!(
        matches!(
            gone,
            Err(DatabaseError::Lookup(LookupError::UnknownName { kind: "document", .. }))
        ),
        "{gone:?}"
    );
    let labels = |set: &AnnotationSet| {
        let mut labels = set.layers.iter().flat_map(|layer| &layer.labels);
        labels.any(|label| label.fe == Some(checker))
    };
    let sets = reader.store().annotation_sets_of_frame(release, CHECKING).unwrap();
    assert!(!sets.map(Result::unwrap).any(|set| labels(&set)));
    nothing_dangles(&reader, release);

    edited(&database, release, |edits| edits.remove_frame(CHECKING, Removal::Cascade));
    nothing_dangles(&Database::open(dir.path()).unwrap(), release);
    assert_eq!(mini::answers(&database, "trigger=checked").len(), 0);
}

/// That every reference in the release leads to a record.
pub(crate) fn nothing_dangles(database: &Database, release: ReleaseId) {
    let store = database.store();
    for set in store.annotation_sets(release).unwrap().map(Result::unwrap) {
        assert!(store.lexunit(release, set.frame, set.lu).unwrap().is_some(), "{}", set.id);
        assert!(store.sentence(release, set.sentence).unwrap().is_some(), "{}", set.id);
        let of_sentence = store.sets_of_sentence(release, set.sentence).unwrap();
        assert!(of_sentence.map(Result::unwrap).any(|id| id == set.id), "{}", set.id);
        let by_id = store.annotation_set(release, set.id).unwrap();
        assert_eq!(by_id.as_ref(), Some(&set));
        if let Provenance::FullText { corpus, document } = set.provenance {
            assert!(store.document(release, corpus, document).unwrap().is_some(), "{}", set.id);
        }
    }
    for lu in store.lexunits(release).unwrap().map(Result::unwrap) {
        assert!(store.frame(release, lu.frame).unwrap().is_some(), "{}", lu.name);
        let tables = lu.valences.realizations.iter().chain(&lu.valences.groups);
        let of_patterns = tables.flat_map(|table| &table.patterns).flat_map(|row| &row.sets);
        let of_governors = lu.valences.governors.iter().flat_map(|governor| &governor.sets);
        for set in of_patterns.chain(of_governors) {
            assert!(store.set_location(release, *set).unwrap().is_some(), "{} {set}", lu.name);
        }
    }
    for relation in store.relations(release).unwrap().map(Result::unwrap) {
        for frame in [relation.parent, relation.child] {
            assert!(store.frame(release, frame).unwrap().is_some(), "relation {}", relation.id);
        }
    }
    let lexunits: Vec<LuId> = store.lexunits(release).unwrap().map(|lu| lu.unwrap().id).collect();
    for sentence in store.sentences(release).unwrap().map(Result::unwrap) {
        for place in &sentence.occurrences {
            assert!(place.lu.is_none_or(|lu| lexunits.contains(&lu)), "{}", sentence.id);
        }
    }
    for document in store.documents(release).unwrap().map(Result::unwrap) {
        for sentence in &document.sentences {
            assert!(store.sentence(release, *sentence).unwrap().is_some(), "{sentence}");
        }
    }
    for layers in store.all_sentence_layers(release).unwrap().map(Result::unwrap) {
        assert!(store.sentence(release, layers.sentence).unwrap().is_some(), "{}", layers.id);
    }
    for row in store.all_judgements(release).unwrap() {
        let (set, _) = row.unwrap();
        assert!(store.set_location(release, set).unwrap().is_some(), "judgement of {set}");
    }
}

#[test]
fn a_wrong_field_is_named_with_its_value_and_nothing_is_staged() {
    let (_dir, database, report) = mini::imported();
    let revision = database.store().revision().unwrap();
    let mut edits = database.transaction(report.release.id).unwrap();
    let text = "Zo\u{eb} checked it .";
    let sentence = edits.add_sentence(new_sentence(text)).unwrap();
    let good = new_set(sentence, (5, 12), &[]);
    let of = |change: &dyn Fn(&mut AnnotationSet)| {
        let mut set = good.clone();
        change(&mut set);
        set
    };
    let wrong_sets = [
        (of(&|set| set.targets[0] = Span::new(5, 99)), "`targets[0]` is `5..99`"),
        (of(&|set| set.targets[0] = Span::new(3, 12)), "it cuts a character"),
        (of(&|set| set.targets[0] = Span::new(5, 5)), "a span that covers text"),
        (
            of(&|set| set.targets.push(Span::new(0, 2))),
            "`targets[1]` is `0..2`; expected targets in",
        ),
        (of(&|set| set.targets.push(Span::new(6, 13))), "that do not overlap"),
        (of(&|set| set.layers[0].rank = 0), "`layers[0].rank` is `0`; expected 1 to 3"),
        (
            of(&|set| {
                set.layers.push(Layer { rank: 2, ..Layer::empty(LayerName::Gf) });
            }),
            "`layers[1].rank` is `2`; expected 1: GF has one layer",
        ),
        (
            of(&|set| set.lu = LuId(1101)),
            "`lu` is `1101`; expected the number of an LU of `Checking`",
        ),
        (of(&|set| set.frame = FrameId(7)), "E-absent: there is no frame `7`"),
        (of(&|set| set.sentence = SentenceId::new(IdSpace::Imported, 99)), "no sentence `i99`"),
        (of(&|set| set.status.clear()), "`status` is ``"),
        (
            of(&|set| set.provenance = Provenance::Imported { file: "x".to_owned() }),
            "", // as good as a user's
        ),
        (
            of(&|set| {
                set.provenance = Provenance::Exemplar { lu: CHECK, subcorpus: String::new() }
            }),
            "`provenance` is `exemplar`; expected `user` or `imported`",
        ),
        (
            new_set(sentence, (5, 12), &[("Chekcer", 0, 4)]),
            "`layers[0].labels[0].name` is `Chekcer`; expected an FE of `Checking`; did you mean \
             `Checker`?",
        ),
        (
            new_set(sentence, (5, 12), &[("Checker", 0, 4), ("Matter", 13, 20)]),
            "`layers[0].labels[1].span` is `13..20`",
        ),
    ];
    for (set, message) in wrong_sets {
        let outcome = edits.add_annotation_set(set);
        match message {
            "" => assert!(outcome.is_ok()),
            _ => {
                let found = refused(outcome);
                assert!(found.contains(message), "{found}\nlacks {message}");
            }
        }
    }
    let refusals = [
        (refused(edits.add_sentence(new_sentence(" "))), "`text`"),
        (refused(edits.add_frame(new_frame("", &[]))), "`name` is ``"),
        (refused(edits.add_frame(new_frame("A\0B", &["X"]))), "without control characters"),
        (refused(edits.add_frame(new_frame("Two", &["X", "X"]))), "`elements[1].name` is `X`"),
        (refused(edits.add_frame(new_frame("None", &[]))), "`core_sets[0]` is `1`"),
        (
            refused(edits.add_lexunit(LexUnit::named(CHECKING, CHECK, "peruse"))),
            "`name` is `peruse`",
        ),
        (
            refused(edits.add_lexunit(LexUnit {
                pos: Pos::Noun,
                ..LexUnit::named(CHECKING, CHECK, "peruse.v")
            })),
            "`pos` is `N`; expected that of the name, `V`",
        ),
        (
            refused(edits.add_lexunit(LexUnit {
                incorporated_fe: Some("Wheel".to_owned()),
                ..LexUnit::named(CHECKING, CHECK, "peruse.v")
            })),
            "`incorporated_fe` is `Wheel`",
        ),
        (
            refused(edits.set_lexunit(LexUnit::named(CHECKING, LuId(7), "a.v"))),
            "no LU `7 of frame 102`",
        ),
        (
            refused(edits.remove_frame(FrameId(7), Removal::Cascade)),
            "E-absent: there is no frame `7`",
        ),
        (
            refused(edits.set_sentence(Sentence { id: sentence, ..new_sentence("Other .") })),
            "`text` is `Other .`; expected `Zo\u{eb} checked it .`, which never changes",
        ),
        (
            refused(edits.add_sem_type(SemType {
                id: SemTypeId(0),
                name: "Odd".to_owned(),
                abbreviation: String::new(),
                definition: String::new(),
                parents: vec![SemTypeId(99)],
            })),
            "`parents[0]` is `99`",
        ),
        (
            refused(edits.add_document(Document {
                id: DocumentId(0),
                corpus: CorpusId(301),
                corpus_name: "MINI".to_owned(),
                corpus_description: None,
                name: "Notes".to_owned(),
                description: None,
                in_headers: None,
                file: String::new(),
                sentences: vec![SentenceId::new(IdSpace::Imported, 99)],
            })),
            "`sentences[0]` is `i99`",
        ),
        (
            refused(edits.set_sentence(Sentence {
                id: sentence,
                occurrences: vec![Occurrence {
                    corpus: Some(CorpusId(301)),
                    document: Some(DocumentId(9)),
                    ..Occurrence::default()
                }],
                ..new_sentence(text)
            })),
            "`occurrences[0].document` is `9`",
        ),
        (
            refused(edits.add_relation(FrameRelation {
                id: RelationId(0),
                kind: "Using".to_owned(),
                super_role: "Parent".to_owned(),
                sub_role: "Child".to_owned(),
                parent: FrameId(101),
                parent_name: String::new(),
                child: CHECKING,
                child_name: String::new(),
                elements: vec![FeRelation {
                    id: 0,
                    parent: FeId(7),
                    parent_name: String::new(),
                    child: FeId(2001),
                    child_name: String::new(),
                }],
            })),
            "`elements[0].parent` is `7`; expected an FE of `Happening`",
        ),
    ];
    for (found, message) in refusals {
        assert!(found.contains(message), "{found}\nlacks {message}");
    }
    assert_eq!(edits.commit().unwrap(), revision + 1);
    let written = mini::answers(&database, &format!("since={revision}"));
    assert_eq!(written.len(), 1, "the one good set: {written:?}");
}

#[test]
fn what_framenet_has_that_no_edit_could_make_may_stay() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    edited(&database, release, |edits| {
        // Every set may get another status, whatever is odd about it.
        for set in database.store().annotation_sets(release)? {
            let set = set?;
            edits.set_annotation_set(AnnotationSet { status: "SEEN".to_owned(), ..set })?;
        }
        for lu in database.store().lexunits(release)? {
            edits.set_lexunit(LexUnit { definition: "seen".to_owned(), ..lu? })?;
        }
        for frame in database.store().frames(release)? {
            edits.set_frame(Frame { definition: "seen".to_owned(), ..frame? })?;
        }
        Ok(())
    });
    assert_eq!(mini::answers(&database, "status=SEEN").len(), 42);
    let mut edits = database.transaction(release).unwrap();
    let set = edits.annotation_set(exemplar(7002)).unwrap().unwrap();
    let moved = AnnotationSet { sentence: SentenceId::new(IdSpace::Exemplar, 5001), ..set.clone() };
    assert!(
        set.sentence == moved.sentence
            || refused(edits.set_annotation_set(moved)).contains("never changes")
    );
    let disowned = AnnotationSet { provenance: Provenance::User, ..set };
    assert!(refused(edits.set_annotation_set(disowned)).contains("`provenance` is `user`"));
}

#[test]
fn a_reader_and_an_unknown_release_begin_no_transaction() {
    let (dir, database, _) = mini::imported();
    let outcome = database.transaction(ReleaseId(9));
    assert!(matches!(outcome, Err(DatabaseError::Edit(EditError::Absent { .. }))));
    let reader = Database::open(dir.path()).unwrap();
    assert!(matches!(reader.transaction(ReleaseId(1)), Err(DatabaseError::ReadOnly { .. })));
}

#[test]
fn the_counts_of_a_release_stay_true() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    generated::write(&database, release);
    let mut edits = database.transaction(release).unwrap();
    let frame = edits.add_frame(new_frame("Proofing", &["Proof"])).unwrap();
    edits.add_lexunit(LexUnit::named(frame, LuId(0), "proof.v")).unwrap();
    let sentence = edits.add_sentence(new_sentence("He checked it .")).unwrap();
    edits.add_annotation_set(new_set(sentence, (3, 10), &[])).unwrap();
    edits.remove_annotation_set(exemplar(7004), Removal::Cascade).unwrap();
    edits.remove_lexunit(CHECKING, LuId(1002), Removal::Cascade).unwrap();
    edits.commit().unwrap();
    let store = database.store();
    let mut counted = ReleaseCounts::default();
    store.frames(release).unwrap().for_each(|row| counted.add(row.unwrap().counts()));
    store.relations(release).unwrap().for_each(|row| counted.add(row.unwrap().counts()));
    store.sem_types(release).unwrap().for_each(|row| counted.add(row.unwrap().counts()));
    store.lexunits(release).unwrap().for_each(|row| counted.add(row.unwrap().counts()));
    store.documents(release).unwrap().for_each(|row| counted.add(row.unwrap().counts()));
    store.sentences(release).unwrap().for_each(|row| counted.add(row.unwrap().counts()));
    store.annotation_sets(release).unwrap().for_each(|row| counted.add(row.unwrap().counts()));
    store.all_sentence_layers(release).unwrap().for_each(|row| counted.add(row.unwrap().counts()));
    assert_eq!(database.releases().unwrap()[0].counts, counted);
    assert_ne!(counted, report.release.counts);
    let added = store.added_counts(release).unwrap();
    let expected = AddedCounts {
        user_sets: 1,
        generated_sets: 2,
        generated_sentences: 2,
        ..AddedCounts::default()
    };
    assert_eq!((added, added.sets()), (expected, 3));
}
