//! Records that a tool adds without numbers: frames, LUs, relations, documents, sentences and
//! annotation sets, as a script adds them; a release by its name, its number or itself.

use fnstore::database::{Database, DatabaseError, EditError};
use fnstore::edit::Script;
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, CoreType, Document, FeStatus, Frame, FrameElement, FrameId, FrameRelation,
    LayerName, LexUnit, NullInstantiation, SemType, Sentence, Span,
};
use fnstore::query::Expression;

use crate::mini;

const TEXT: &str = "\u{c9}mile proofread the galleys .";

/// Adds one record of each kind, and gives the set.
fn add_all(database: &Database) -> AnnotationSet {
    let release = database.releases().unwrap()[0].clone();
    let mut edits = database.transaction(&release).unwrap();
    let frame = Frame::new("Proofreading", "Somebody reads a text for errors.")
        .element(FrameElement::new("Proofer", CoreType::Core))
        .element(FrameElement::new("Text", CoreType::Core))
        .element(FrameElement::new("Errors", CoreType::Core));
    let frame = edits.add_frame(frame).unwrap();
    let lu = edits.add_lexunit(LexUnit::new(frame, "proof read.v")).unwrap();
    let (checking, proofreading) =
        (edits.frame(FrameId(102)).unwrap().unwrap(), edits.frame(frame).unwrap().unwrap());
    let relation = FrameRelation::new("Inheritance", checking.id, frame)
        .mapping(checking.elements[0].id, proofreading.elements[0].id);
    edits.add_relation(relation).unwrap();
    edits.add_sem_type(SemType::new("Galley", "A proof.")).unwrap();
    let key = edits.add_document(Document::new("Press", "Galleys")).unwrap();
    let mut document = edits.document(key.0, key.1).unwrap().unwrap();
    let sentence = edits.add_sentence(Sentence::new(TEXT).listed_by(&document)).unwrap();
    document.sentences.push(sentence);
    edits.set_document(document).unwrap();
    let span = |part| Span::of_part(TEXT, part).unwrap();
    let set = AnnotationSet::new(sentence, frame, lu, span("proofread"))
        .element("Proofer", span("\u{c9}mile"), "Ext", "NP")
        .element("Text", span("the galleys"), "Obj", "NP")
        .unexpressed("Errors", NullInstantiation::Indefinite);
    let id = edits.add_annotation_set(set).unwrap();
    edits.commit().unwrap();
    database.store().annotation_set(release.id, id).unwrap().unwrap()
}

/// The same records by lines.
fn script_all(database: &Database) -> AnnotationSet {
    let lines = [
        r#"{"op":"add-frame","name":"Proofreading","definition":"Somebody reads a text for errors.","elements":[{"name":"Proofer","core_type":"Core"},{"name":"Text","core_type":"Core"},{"name":"Errors","core_type":"Core"}],"as":"f"}"#,
        r#"{"op":"add-lu","frame":"@f","name":"proof read.v"}"#,
        r#"{"op":"add-relation","kind":"Inheritance","parent":"Checking","child":"@f","elements":[["Checker","Proofer"]]}"#,
        r#"{"op":"add-semtype","name":"Galley","definition":"A proof."}"#,
        r#"{"op":"add-document","corpus":"Press","name":"Galleys","as":"d"}"#,
        "{\"op\":\"add-sentence\",\"document\":\"@d\",\"text\":\"\u{c9}mile proofread the galleys .\",\"as\":\"s\"}",
        r#"{"op":"add-set","sentence":"@s","frame":"@f","lu":"proof read.v","targets":[[6,15]],"elements":[{"name":"Proofer","span":[0,5],"gf":"Ext","pt":"NP"},{"name":"Text","span":[16,27],"gf":"Obj","pt":"NP"},{"name":"Errors","ni":"INI"}]}"#,
    ];
    let release = database.releases().unwrap()[0].clone();
    let mut edits = database.transaction(release.name.as_str()).unwrap();
    let mut script = Script::new(&mut edits, None, 0);
    script.edit(lines.join("\n").as_bytes(), &mut |_| {}).unwrap();
    drop(script);
    edits.commit().unwrap();
    let query = Expression::parse("frame=Proofreading").unwrap();
    database.query(&query).unwrap().next().unwrap().unwrap().set
}

#[test]
fn records_of_a_tool_are_those_of_a_script() {
    let [by_tool, by_script] = [add_all as fn(&Database) -> AnnotationSet, script_all].map(|add| {
        let (dir, database, _) = mini::imported();
        let set = add(&database);
        let lexicon = database.lexicon(database.releases().unwrap()[0].id).unwrap();
        let frame = lexicon.frame(set.frame).unwrap().unwrap();
        let lu = lexicon.lu_of_frame(set.frame, set.lu).unwrap().unwrap();
        let relation = lexicon.relations().unwrap().map(Result::unwrap).last().unwrap();
        let document = lexicon.documents().unwrap().map(Result::unwrap).last().unwrap();
        let sentence = lexicon.sentence(set.sentence).unwrap().unwrap();
        drop(dir);
        (set, frame, lu, relation, document, sentence)
    });
    assert_eq!(by_tool, by_script);
    let (set, _, lu, relation, document, sentence) = by_tool;
    assert_eq!((set.fe_status, &*set.status), (FeStatus::Annotated, "MANUAL"));
    let names: Vec<_> = set.layers.iter().map(|layer| layer.name.clone()).collect();
    let expected = [LayerName::Target, LayerName::Fe, LayerName::Gf, LayerName::Pt];
    assert_eq!(names, expected);
    assert_eq!(lu.lexemes.len(), 2);
    assert_eq!((&*relation.super_role, &*relation.elements[0].child_name), ("Parent", "Proofer"));
    assert_eq!((&*document.file, document.sentences), ("Press__Galleys", vec![sentence.id]));
}

#[test]
fn a_wrong_span_is_refused_with_its_field() {
    let (_dir, database, report) = mini::imported();
    let mut edits = database.transaction(report.release.id).unwrap();
    let sentence = edits.add_sentence(Sentence::new(TEXT)).unwrap();
    let set =
        AnnotationSet::new(sentence, FrameId(102), fnstore::model::LuId(1001), Span::new(0, 1));
    let error = edits.add_annotation_set(set).unwrap_err();
    let DatabaseError::Edit(EditError::Value { field, .. }) = &error else { panic!("{error}") };
    assert_eq!(field, "targets[0]", "in the middle of a letter");
}

#[test]
fn a_document_joins_the_corpus_of_its_name() {
    let (_dir, database, report) = mini::imported();
    let mut edits = database.transaction(report.release.id).unwrap();
    let (first, _) = edits.add_document(Document::new("Press", "One")).unwrap();
    let (second, _) = edits.add_document(Document::new("Press", "Two")).unwrap();
    let (other, _) = edits.add_document(Document::new("Radio", "One")).unwrap();
    assert!(first == second && first != other);
}

#[test]
fn a_release_is_named_in_one_way_everywhere() {
    let (_dir, database, report) = mini::imported();
    let release = report.release;
    let name = release.name.clone();
    assert_eq!(database.lexicon(&name).unwrap().release().id, release.id);
    assert_eq!(database.lexicon(release.id).unwrap().release().id, release.id);
    assert_eq!(database.release(&release).unwrap().name, name);
    assert!(database.framenet_files(&*name, true).is_ok());
    assert!(database.framenet_files(release.id, true).is_ok());
    let unknown = fnstore::model::ReleaseId(9);
    for error in [
        database.lexicon(unknown).err().unwrap(),
        database.transaction(unknown).err().unwrap(),
        database.framenet_files(unknown, true).err().unwrap(),
    ] {
        assert!(matches!(error, DatabaseError::Edit(EditError::Absent { .. })), "{error}");
    }
    let error = database.transaction("mini-framenut").err().unwrap();
    assert!(error.to_string().contains("mini-framenet"), "{error}");
}

#[test]
fn transactions_of_one_release_are_not_committed_together() {
    let (_dir, database, report) = mini::imported();
    let one_release = [(); 2].map(|()| database.transaction(report.release.id).unwrap());
    let error = database.commit_together(&one_release).unwrap_err();
    assert!(error.to_string().contains("one transaction for each release"), "{error}");
    let (_other_dir, other, _) = mini::imported();
    let foreign = [other.transaction(report.release.id).unwrap()];
    let error = database.commit_together(&foreign).unwrap_err();
    assert!(error.to_string().contains("a transaction of this handle"), "{error}");
}
