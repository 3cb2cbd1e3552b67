//! Edits of a release that files once listed: what is exported after them is what the records say.

use std::fs;

use fnstore::database::Database;
use fnstore::edit::Removal;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSet, FrameId, LayerName, LexUnit, LuId, RelationId};
use fnstore::transfer::FramenetLoss;

use crate::framenet_round_trip::export;
use crate::mini;

const CHECKING: FrameId = FrameId(102);

#[test]
fn a_set_that_loses_its_fes_keeps_the_layer_that_readers_ask_for() {
    let (_dir, database, report) = mini::imported();
    let mut edits = database.transaction(report.release.id).unwrap();
    let id = fnstore::model::AnnotationSetId::parse("x7004").unwrap();
    let mut set = edits.annotation_set(id).unwrap().unwrap();
    set.layers.retain(|layer| layer.name != LayerName::Fe);
    edits.set_annotation_set(set).unwrap();
    edits.commit().unwrap();
    let set = database.store().annotation_set(report.release.id, id).unwrap().unwrap();
    let mut layers = set.layers.iter().filter(|layer| layer.name == LayerName::Fe);
    assert!(layers.next().is_some_and(|layer| layer.labels.is_empty()), "{set:?}");
}

#[test]
fn an_edited_release_comes_back_from_its_export_as_it_is() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    let mut edits = database.transaction(release).unwrap();
    let mut frame = edits.frame(CHECKING).unwrap().unwrap();
    frame.name = "Inspecting".to_owned();
    frame.elements.iter_mut().find(|fe| fe.name == "Checker").unwrap().name =
        "Inspector".to_owned();
    edits.set_frame(frame).unwrap();
    let lu = edits.lexunit(CHECKING, LuId(1001)).unwrap().unwrap();
    let definition = "to make sure".to_owned();
    edits.allow_another(true);
    edits.set_lexunit(LexUnit { name: "verify.v".to_owned(), definition, ..lu }).unwrap();
    edits.remove_lexunit(CHECKING, LuId(1002), Removal::Cascade).unwrap();
    edits.remove_relation(RelationId(11)).unwrap();
    let fulltext = fnstore::model::AnnotationSetId::parse("f8002").unwrap();
    edits.remove_annotation_set(fulltext, Removal::Alone).unwrap();
    let exemplar = fnstore::model::AnnotationSetId::parse("x7004").unwrap();
    let set = edits.annotation_set(exemplar).unwrap().unwrap();
    edits.set_annotation_set(AnnotationSet { status: "SEEN".to_owned(), ..set }).unwrap();
    edits.commit().unwrap();
    let store = database.store();
    assert!(store.lexunit_layout(release, CHECKING, LuId(1002)).unwrap().is_none());

    let dir = tempfile::tempdir().unwrap();
    let exported = dir.path().join("mini-framenet");
    export(&database, "", &exported).unwrap().unwrap();
    let other = tempfile::tempdir().unwrap();
    let again = Database::open_writer(other.path()).unwrap();
    mini::import(&again, &exported).unwrap();
    let content = |database: &Database| {
        let mut content = mini::content(database);
        // What the import counted is of the files that it read, and its layout may go on naming
        // what is gone: an export leaves that out.
        content.remove(0);
        content.retain(|row| !row.starts_with("Some(ReleaseLayout"));
        content
    };
    for (edited, read) in content(&database).iter().zip(&content(&again)) {
        assert_eq!(edited, read);
    }
    assert_eq!(content(&database).len(), content(&again).len());

    // Relation 11 joined two frames; the lists of the others go on, with the new name.
    let written = export(&database, "", &dir.path().join("counted")).unwrap().unwrap();
    assert_eq!(written.lost, [(FramenetLoss::RelatedFrames, 2)].into());
    let repairing = fs::read_to_string(exported.join("frame/Repairing.xml")).unwrap();
    assert!(repairing.contains("<relatedFrame>Inspecting</relatedFrame>"), "{repairing}");

    let exported = dir.path().join("again");
    export(&again, "", &exported).unwrap().unwrap();
    let third = tempfile::tempdir().unwrap();
    let third = Database::open_writer(third.path()).unwrap();
    mini::import(&third, &exported).unwrap();
    assert_eq!(mini::content(&third)[1..], mini::content(&again)[1..]);
}
