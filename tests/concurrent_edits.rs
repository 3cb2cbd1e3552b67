//! Transactions beside each other: those that meet, and the numbers that all of them draw from.

use fnstore::database::{Database, Write};
use fnstore::edit::{Removal, Transaction};
use fnstore::model::{LexUnit, LuId, OWN_RANGE};

use crate::edits::{CHECK, CHECKING, new_frame, new_sentence, new_set, nothing_dangles, refused};
use crate::mini;

#[test]
fn of_two_transactions_that_meet_the_second_is_refused_whole() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    let begin = || database.transaction(release).unwrap();
    let annotate = |edits: &mut Transaction<'_>| {
        let sentence = edits.add_sentence(new_sentence("He checked it .")).unwrap();
        edits.add_annotation_set(new_set(sentence, (3, 10), &[])).unwrap();
    };
    // Sets beside each other do not meet.
    let (mut left, mut right) = (begin(), begin());
    annotate(&mut left);
    annotate(&mut right);
    left.commit().unwrap();
    right.commit().unwrap();
    // An LU that goes while a set of it comes does, whichever is first.
    let (mut remover, mut adder) = (begin(), begin());
    remover.remove_lexunit(CHECKING, CHECK, Removal::Cascade).unwrap();
    annotate(&mut adder);
    adder.commit().unwrap();
    let message = refused(remover.commit());
    assert!(message.starts_with("E-changed: annotation set `i"), "{message}");
    let (mut remover, mut adder) = (begin(), begin());
    remover.remove_lexunit(CHECKING, CHECK, Removal::Cascade).unwrap();
    annotate(&mut adder);
    let revision = remover.commit().unwrap();
    let before = mini::content(&database);
    let message = refused(adder.commit());
    let expected = format!("E-changed: LU `1001` was changed by revision {revision}");
    assert!(message.starts_with(&expected), "{message}");
    assert_eq!(mini::content(&database), before);
    nothing_dangles(&database, release);
}

#[test]
fn two_frames_of_one_name_are_refused_also_when_they_come_at_once() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    let mut first = database.transaction(release).unwrap();
    let mut second = database.transaction(release).unwrap();
    first.add_frame(new_frame("Proofing", &["Proof"])).unwrap();
    second.add_frame(new_frame("Proofing", &["Proof"])).unwrap();
    let twice = refused(first.add_frame(new_frame("Proofing", &["Proof"])));
    assert!(twice.contains("a name that no other frame of the release has"), "{twice}");
    let other = first.add_frame(new_frame("Reading", &["Text"])).unwrap();
    let mut renamed = first.frame(other).unwrap().unwrap();
    renamed.name = "Checking".to_owned();
    assert!(refused(first.set_frame(renamed)).contains("a name that no other frame"));
    first.commit().unwrap();
    assert!(refused(second.commit()).contains("a name that no other frame"));
    assert_eq!(mini::answers(&database, "frame=Proofing").len(), 0, "the name leads to one frame");
}

#[test]
fn numbers_are_never_given_twice() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    let add = |edits: &mut Transaction<'_>| {
        edits.allow_another(true);
        let lu = edits.add_lexunit(LexUnit::named(CHECKING, LuId(0), "peruse.v")).unwrap();
        (lu, edits.add_sentence(new_sentence("They perused it .")).unwrap())
    };
    // As expansion proposes them, and files of other stores bring them.
    let taken = LexUnit::named(CHECKING, LuId(OWN_RANGE + 1), "vet.v");
    let write = Write { lexunits: vec![taken], ..Write::default() };
    database.write(release, &write).unwrap();
    let mut edits = database.transaction(release).unwrap();
    let first = add(&mut edits);
    assert_eq!(first.0, LuId(OWN_RANGE + 2));
    edits.commit().unwrap();
    let mut edits = database.transaction(release).unwrap();
    edits.remove_lexunit(CHECKING, first.0, Removal::Alone).unwrap();
    edits.remove_sentence(first.1, Removal::Alone).unwrap();
    edits.commit().unwrap();
    let mut left = database.transaction(release).unwrap();
    let mut right = database.transaction(release).unwrap();
    let (second, third) = (add(&mut left), add(&mut right));
    left.commit().unwrap();
    right.commit().unwrap();
    drop(database);
    let database = Database::open_writer(dir.path()).unwrap();
    let fourth = add(&mut database.transaction(release).unwrap());
    let mut all = [first, second, third, fourth];
    all.sort();
    assert!(all.windows(2).all(|two| two[0].0 != two[1].0 && two[0].1 != two[1].1), "{all:?}");
}
