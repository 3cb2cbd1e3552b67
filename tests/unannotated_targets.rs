//! Sets of the status UNANN that mark a target in an LU file: sets, as NLTK has them.

use std::fs;

use fnstore::database::Database;
use fnstore::framenet::WarningCode;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, FeStatus};

use crate::framenet_round_trip::{assert_equal, export};
use crate::mini;

const SET: [&str; 2] = ["status=\"MANUAL\" ID=\"7012\"", "status=\"UNANN\" ID=\"7012\""];

#[test]
fn a_target_that_nobody_annotated_is_a_set_and_comes_out_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("mini-framenet");
    mini::reworded(&release, SET);
    let file = fs::read_to_string(release.join("lu/lu1001.xml")).unwrap();
    assert!(file.contains(SET[1]), "the set stands in that file");
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let report = mini::import(&database, &release).unwrap();
    assert_eq!(report.warnings.count(WarningCode::SetUnannotated), 1 + 1);
    assert_eq!(report.release.counts.exemplar_sets, 34);
    assert_eq!(mini::answers(&database, "id=x7012").len(), 1);
    let id = AnnotationSetId::parse("x7012").unwrap();
    let set = database.store().annotation_set(report.release.id, id).unwrap().unwrap();
    assert_eq!((set.fe_status, set.targets.len()), (FeStatus::Unannotated, 1));

    let out = dir.path().join("out");
    export(&database, "", &out).unwrap().unwrap();
    // All else is as in an export of the release without that set.
    let (_plain, plain, _) = mini::imported();
    export(&plain, "", &dir.path().join("plain")).unwrap().unwrap();
    let read =
        |from: &str| fs::read_to_string(dir.path().join(from).join("lu/lu1001.xml")).unwrap();
    assert_eq!(read("out"), read("plain").replace(SET[0], SET[1]));
    let again = Database::open_writer(&dir.path().join("again")).unwrap();
    let renamed = dir.path().join("second/mini-framenet");
    mini::copy(&out, &renamed);
    mini::import(&again, &renamed).unwrap();
    assert_equal(&database, &again);
}

#[test]
fn without_a_target_it_holds_sentence_layers() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("mini-framenet");
    mini::reworded(&release, SET);
    let path = release.join("lu/lu1001.xml");
    let file = fs::read_to_string(&path).unwrap();
    let at = file.find(SET[1]).unwrap();
    let (before, set) = file.split_at(at);
    let set = set.replacen("name=\"Target\"", "name=\"Note\"", 2);
    fs::write(&path, format!("{before}{set}")).unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let report = mini::import(&database, &release).unwrap();
    assert_eq!(report.release.counts.exemplar_sets, 33);
    assert!(mini::answers(&database, "id=x7012").is_empty());
}
