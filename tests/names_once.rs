//! A name is given once, unless `another` is asked for: the same in the library and in scripts.

use fnstore::edit::{Script, Transaction};
use fnstore::internals::WithStore as _;
use fnstore::model::{FrameId, LexUnit, LuId, OWN_RANGE, PROPOSED};

use crate::edits::{new_frame, refused};
use crate::mini;

const CHECKING: FrameId = FrameId(102);

fn scripted(edits: &mut Transaction<'_>, line: &str) -> Result<(), String> {
    let done = Script::new(edits, None, 1).edit(line.as_bytes(), &mut |_| {});
    done.map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        format!("{error}: {}", source.unwrap_or_default())
    })
}

fn lexunit(name: &str) -> LexUnit {
    LexUnit::named(CHECKING, LuId(0), name)
}

#[test]
fn a_second_lu_of_a_name_is_refused_by_library_and_script() {
    let (_dir, database, report) = mini::imported();
    let mut edits = database.transaction(report.release.id).unwrap();
    for name in ["inspect.v", "Inspect.v"] {
        let found = refused(edits.add_lexunit(lexunit(name)));
        let expected = format!("`name` is `{name}`; expected a name that no LU of the frame has");
        assert!(found.contains(&expected) && found.contains("is allowed"), "{found}");
        let line = format!(r#"{{"op":"add-lu","frame":"Checking","name":"{name}"}}"#);
        let found = scripted(&mut edits, &line).unwrap_err();
        assert!(found.contains(&expected), "{found}");
    }
    // A new name is looked at as the first one is.
    let lu = edits.add_lexunit(lexunit("peruse.v")).unwrap();
    let renamed = LexUnit { id: lu, ..lexunit("inspect.v") };
    assert!(refused(edits.set_lexunit(renamed.clone())).contains("no LU of the frame has"));
    let line = r#"{"op":"edit-lu","frame":"Checking","lu":"peruse.v","name":"inspect.v"}"#;
    assert!(scripted(&mut edits, line).unwrap_err().contains("no LU of the frame has"));
    // In another frame the name is free.
    edits.add_lexunit(LexUnit::named(FrameId(103), LuId(0), "inspect.v")).unwrap();
    edits.allow_another(true);
    edits.set_lexunit(renamed).unwrap();
    let second = edits.add_lexunit(lexunit("inspect.v")).unwrap();
    edits.allow_another(false);
    assert!(refused(edits.add_lexunit(lexunit("inspect.v"))).contains("no LU of the frame has"));
    let line = r#"{"op":"add-lu","frame":"Checking","name":"inspect.v","another":true}"#;
    scripted(&mut edits, line).unwrap();
    edits.commit().unwrap();
    let lexunits = database.store().lexunits_of(report.release.id, CHECKING).unwrap();
    let named = lexunits.map(Result::unwrap).filter(|lu| lu.name == "inspect.v");
    let ids: Vec<LuId> = named.map(|lu| lu.id).collect();
    assert!(ids.len() == 4 && ids.contains(&lu) && ids.contains(&second), "{ids:?}");
}

#[test]
fn an_lu_that_an_expansion_proposed_makes_room_for_one_of_its_name() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    let proposed =
        LexUnit { id: LuId(OWN_RANGE | 7), status: PROPOSED.to_owned(), ..lexunit("vet.v") };
    let write = fnstore::database::Write { lexunits: vec![proposed], ..Default::default() };
    database.write(release, &write).unwrap();
    let mut edits = database.transaction(release).unwrap();
    edits.add_lexunit(lexunit("vet.v")).unwrap();
    assert!(refused(edits.add_lexunit(lexunit("vet.v"))).contains("no LU of the frame has"));
    edits.commit().unwrap();
}

#[test]
fn two_lus_of_one_name_are_refused_also_when_they_come_at_once() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    let mut first = database.transaction(release).unwrap();
    let mut second = database.transaction(release).unwrap();
    let mut third = database.transaction(release).unwrap();
    for edits in [&mut first, &mut second] {
        edits.add_lexunit(lexunit("peruse.v")).unwrap();
    }
    third.allow_another(true);
    third.add_lexunit(lexunit("peruse.v")).unwrap();
    first.commit().unwrap();
    assert!(refused(second.commit()).contains("a name that no LU of the frame has"));
    third.commit().unwrap();
    assert_eq!(mini::answers(&database, "lu=peruse.v").len(), 0);
}

#[test]
fn a_frame_in_other_letter_case_is_refused_by_library_and_script() {
    let (_dir, database, report) = mini::imported();
    let mut edits = database.transaction(report.release.id).unwrap();
    let expected = "no other frame of the release has in any letter case (`Checking` has it)";
    let found = refused(edits.add_frame(new_frame("checking", &["Proof"])));
    assert!(found.contains(expected) && found.contains("is allowed"), "{found}");
    let line = r#"{"op":"add-frame","name":"CHECKING"}"#;
    assert!(scripted(&mut edits, line).unwrap_err().contains(expected));
    let proofing = edits.add_frame(new_frame("Proofing", &["Proof"])).unwrap();
    let mut renamed = edits.frame(proofing).unwrap().unwrap();
    renamed.name = "checkinG".to_owned();
    assert!(refused(edits.set_frame(renamed.clone())).contains(expected));
    // Its own name in other letter case is no other frame's.
    renamed.name = "proofing".to_owned();
    edits.set_frame(renamed.clone()).unwrap();
    let line = r#"{"op":"add-frame","name":"CHECKING","another":true}"#;
    scripted(&mut edits, line).unwrap();
    edits.allow_another(true);
    renamed.name = "cheCKing".to_owned();
    edits.set_frame(renamed).unwrap();
    // The very name stays one frame's: files are called after it.
    let same = refused(edits.add_frame(new_frame("Checking", &["Proof"])));
    assert!(same.contains("a name that no other frame of the release has"), "{same}");
    edits.commit().unwrap();
    let found = database.store().frames_by_name(report.release.id, "checking", true).unwrap();
    assert_eq!(found.len(), 3);
}
