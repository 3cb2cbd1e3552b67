//! A set in an LU's file may name another LU: it evokes that one, and stands in that file alone.

use std::fs;

use fnstore::model::{AnnotationSet, LuId};

use crate::others_releases::{Deviating, replace};

const LU: &str = "lu/lu1202.xml";

#[test]
fn a_set_that_names_another_lu_stands_in_one_file_after_every_round_trip() {
    let release = Deviating::new(|release| {
        let other = "luID=\"1201\" luName=\"wander.v\" frameID=\"104\" frameName=\"Roaming\" \
                     status=\"MANUAL\" ID=\"7062\"";
        replace(release, LU, "status=\"MANUAL\" ID=\"7062\"", other);
    });
    assert_eq!(release.report.warnings.faults(), 0, "{:?}", release.report.warnings);
    assert!(release.answers("lu=wander.v").contains(&"x7062".to_owned()));
    let files = fs::read_dir(release.out().join("lu")).unwrap();
    let contents = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let times: usize =
        contents.map(|content| content.matches("status=\"MANUAL\" ID=\"7062\"").count()).sum();
    assert_eq!(times, 1);
    assert!(release.exported(LU).contains("luName=\"wander.v\""));
}

#[test]
fn a_set_that_names_the_lu_of_its_file_is_written_without_and_that_is_said() {
    let release = Deviating::new(|release| {
        let own = "luID=\"1202\" luName=\"cycle.v\" frameID=\"104\" frameName=\"Roaming\" \
                   status=\"MANUAL\" ID=\"7062\"";
        replace(release, LU, "status=\"MANUAL\" ID=\"7062\"", own);
    });
    let said = release.details("W-written-otherwise");
    assert_eq!(said, ["set 7062 names the LU of its file, which an export leaves out"]);
}

#[test]
fn a_set_that_an_edit_gives_to_another_lu_stands_in_one_file() {
    let (_dir, database, report) = crate::mini::imported();
    let lexicon = database.lexicons().unwrap().remove(0);
    let sets = lexicon.annotation_sets().unwrap().map(Result::unwrap);
    let set = sets.into_iter().find(|set| set.id.to_string() == "x7062").unwrap();
    let mut edits = database.transaction(report.release.id).unwrap();
    let frame = set.frame;
    edits.set_annotation_set(AnnotationSet { lu: LuId(1201), ..set }).unwrap();
    edits.commit().unwrap();
    let out = tempfile::tempdir().unwrap();
    crate::framenet_round_trip::export(&database, "", &out.path().join("x")).unwrap().unwrap();
    let files = fs::read_dir(out.path().join("x/lu")).unwrap();
    let contents = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let times: usize =
        contents.map(|content| content.matches("MANUAL\" ID=\"7062\"").count()).sum();
    assert_eq!((times, frame.0), (1, 104));
}
