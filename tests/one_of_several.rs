//! Calls that give one thing: several of a name are an error that lists them.

use std::fs;

use fnstore::database::{Database, DatabaseError, LookupError};
use fnstore::lexicon::RecordKey;
use fnstore::model::{AnnotationSetId, LuId};
use fnstore::transfer::ImportOptions;
use serde_json::json;
use tempfile::TempDir;

use crate::cli_program::fnstore_in;
use crate::mini;
use crate::others_releases::replace;
use crate::review_server::Review;

/// A store of two releases with the same content.
fn two_releases() -> (TempDir, Database) {
    let (dir, database, _) = mini::imported();
    let options = ImportOptions { release: Some("second".to_owned()), ..ImportOptions::default() };
    database.import(&mini::framenet(), &options, &mut |_| {}).unwrap();
    (dir, database)
}

/// The choices that an error lists.
fn choices<T>(asked: Result<T, DatabaseError>) -> Vec<String> {
    match asked.err().unwrap() {
        DatabaseError::Lookup(LookupError::Ambiguous { choices, .. }) => choices,
        other => panic!("{other}"),
    }
}

#[test]
fn a_frame_of_two_releases_is_one_of_them_when_its_release_is_named() {
    let (_dir, database) = two_releases();
    let asked = |release| database.the_frame(RecordKey::Name("Checking"), release);
    let of = |release| format!("`Checking` (frame 102) in `{release}`");
    assert_eq!(choices(asked(None)), [of("mini-framenet"), of("second")]);
    assert_eq!(
        asked(None).err().unwrap().to_string(),
        "2 records of the kind frame are called `Checking`; expected one of them: `Checking` (frame 102) in \
         `mini-framenet`, `Checking` (frame 102) in `second` (Q-ambiguous)"
    );
    let (lexicon, frame) = asked(Some("second")).unwrap();
    assert_eq!((lexicon.release().name.as_str(), frame.id.0), ("second", 102));
    assert_eq!(choices(database.the_frame(RecordKey::Number(102), None)).len(), 2);
    for (key, release, message) in [
        (RecordKey::Name("Cheking"), None, "there is no frame `Cheking`; did you mean `Checking`?"),
        (RecordKey::Number(9), None, "there is no frame `9`"),
        (RecordKey::Name("Checking"), Some("secnd"), "did you mean `second`?"),
    ] {
        let error = database.the_frame(key, release).err().unwrap().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_lexical_unit_of_several_frames_is_one_when_frame_and_release_are_named() {
    let (_dir, database) = two_releases();
    let name = RecordKey::Name("check.v");
    let frame = Some(RecordKey::Name("Checking"));
    let all = choices(database.the_lu(name, None, None));
    let lexicons = database.lexicons().unwrap();
    let found = lexicons.iter().map(|of| of.lus_by_name("check.v").unwrap().len());
    assert_eq!(all.len(), found.sum::<usize>());
    assert!(all.contains(&"LU 1001 of `Checking` (frame 102) in `second`".to_owned()), "{all:?}");
    assert_eq!(choices(database.the_lu(name, frame, None)).len(), 2 * in_checking(&database));
    let number = RecordKey::Number(1002);
    assert_eq!(choices(database.the_lu(number, None, None)).len(), 2);
    let (_, lu) = database.the_lu(number, None, Some("second")).unwrap();
    assert_eq!(lu.name, "inspect.v");
    let one = database.the_lu(RecordKey::Name("inspect.v"), frame, Some("second")).unwrap().1;
    assert_eq!(one, lu);
    let elsewhere = Some(RecordKey::Name("Roaming"));
    let error = database.the_lu(RecordKey::Name("inspect.v"), elsewhere, None).err().unwrap();
    assert!(error.to_string().starts_with("there is no lexical unit `inspect.v`"), "{error}");
    let nowhere = Some(RecordKey::Name("Roming"));
    let error = database.the_lu(name, nowhere, None).err().unwrap();
    assert!(error.to_string().contains("no frame `Roming`; did you mean `Roaming`?"), "{error}");
}

fn in_checking(database: &Database) -> usize {
    let lus = database.lexicons().unwrap()[0].lus_by_name("check.v").unwrap();
    lus.iter().filter(|lu| lu.frame.0 == 102).count()
}

#[test]
fn an_annotation_set_of_two_releases_is_one_of_them_when_its_release_is_named() {
    let (_dir, database) = two_releases();
    let id = AnnotationSetId::parse("x7002").unwrap();
    assert_eq!(choices(database.the_annotation_set(id, None)), ["`mini-framenet`", "`second`"]);
    let answer = database.the_annotation_set(id, Some("second")).unwrap();
    assert_eq!((answer.release.name.as_str(), answer.set.id), ("second", id));
    let none = AnnotationSetId::parse("x1").unwrap();
    let error = database.the_annotation_set(none, None).err().unwrap();
    assert_eq!(error.to_string(), "there is no annotation set `x1`");
}

/// A release in which two frames, two FEs and two semantic types have one name.
fn odd() -> (TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("odd");
    mini::copy(&mini::framenet(), &release);
    let file = release.join("frame/Roaming.xml");
    let content = fs::read_to_string(&file).unwrap();
    let again = content.replace("name=\"Roaming\" ID=\"104\"", "name=\"Roaming\" ID=\"188\"");
    fs::write(release.join("frame/Roaming_again.xml"), again).unwrap();
    fs::write(file, content.replace("name=\"Vehicle\" ID=\"2204\"", "name=\"Route\" ID=\"2204\""))
        .unwrap();
    replace(&release, "semTypes.xml", "name=\"Tool\"", "name=\"Sentient\"");
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    mini::import(&database, &release).unwrap();
    (dir, database)
}

#[test]
fn names_that_a_release_gives_twice_are_told() {
    let (dir, database) = odd();
    let lexicon = &database.lexicons().unwrap()[0];
    let called = choices(lexicon.frame_by_name("Roaming"));
    assert_eq!(called.len(), 2, "{called:?}");
    assert_eq!(choices(lexicon.semtype_by_name("Sentient")).len(), 2);
    assert!(lexicon.semtype_by_name("Physical_entity").unwrap().is_some());
    assert!(lexicon.frame_by_name("Checking").unwrap().is_some());
    assert!(lexicon.lu(LuId(1001)).unwrap().is_some());
    let roaming = lexicon.frames().unwrap().map(Result::unwrap).find(|frame| frame.id.0 == 104);
    assert_eq!(roaming.unwrap().fes_by_name("Route").count(), 2);
    drop(database);

    // A script that means one of two is told their numbers.
    let store = dir.path().join("store");
    let script = dir.path().join("edit.jsonl");
    let line = json!({"op": "edit-frame", "frame": 104, "core_sets": [["Route", "Goal"]]});
    fs::write(&script, line.to_string()).unwrap();
    let ran = fnstore_in(&store, &["edit", script.to_str().unwrap()]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(ran.stderr.contains("the FEs 2202, 2204 are called so"), "{}", ran.stderr);
}

#[test]
fn an_edition_of_two_releases_is_told_with_both() {
    let (dir, database) = two_releases();
    drop(database);
    for release in ["mini-framenet", "second"] {
        let made = ["edition", "create", "one", "frame=Checking", "--release", release];
        assert_eq!(fnstore_in(dir.path(), &made).code, Some(0));
    }
    let ran = fnstore_in(dir.path(), &["edition", "show", "one"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("`mini-framenet`, `second` (Q-ambiguous-edition)"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("--release NAME"), "{}", ran.stderr);
    let shown = fnstore_in(dir.path(), &["edition", "show", "one", "--release", "second"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
}

#[test]
fn the_page_of_a_frame_asks_which_one_is_meant() {
    let (dir, database) = two_releases();
    drop(database);
    let review = Review::start(dir.path(), &[]);
    let (status, page) = review.get("frame?name=Checking");
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("2 frames are called"), "{page}");
    for release in ["mini-framenet", "second"] {
        let address = format!("frame?name=Checking&release={release}&number=102");
        assert!(page.contains(&address.replace('&', "&amp;")), "{page}");
        let (_, page) = review.get(&address);
        assert!(
            page.contains("Relations") && page.contains(&format!("release={release}")),
            "{page}"
        );
        assert_eq!(review.get(&address.replace("frame?", "growth.svg?")).0, 200);
    }
    assert_eq!(review.get("relations.svg?name=Checking").0, 409);
}
