//! Decisions on proposals that name neither reviewer nor release, what is never proposed, and how
//! listings tell proposals from the lexicon's own LUs.

use std::path::Path;
use std::process::Command;

use fnstore::database::Database;
use fnstore::transfer::ImportOptions;

use crate::cli_program::{Ran, fnstore_in};
use crate::mini;
use crate::proposals::{names, proposals, propose_more, store};
use crate::review_server::Review;

/// Runs `fnstore proposals` as a user of the system.
fn by(user: &str, store: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env("FNSTORE_DIR", store).env("USER", user).arg("proposals").args(arguments);
    Ran::of(command.output().unwrap())
}

fn import_again(store: &Path, name: &str) {
    let database = Database::open_existing_writer(store).unwrap();
    let options = ImportOptions { release: Some(name.to_owned()), ..ImportOptions::default() };
    database.import(&mini::framenet(), &options, &mut |_| {}).unwrap();
}

#[test]
fn the_reviewer_is_who_is_logged_in_and_the_release_the_one_with_the_proposal() {
    let store = store();
    let store = store.path();
    import_again(store, "second");
    let done = by("lee", store, &["accept", "Checking", "vet.v", "--format", "json"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let decisions = fnstore_in(store, &["proposals", "decisions"]).records();
    assert_eq!(
        (&decisions[0]["reviewer"], &decisions[0]["release"]),
        (&"lee".into(), &"mini-framenet".into())
    );
    // Undoing finds it by the decision.
    let undone = by("kim", store, &["undo", "Checking", "vet.v"]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    // Whose decision is gone is said.
    let whose = "undone: accept on `vet.v` of `Checking`, by `lee`";
    assert!(undone.stderr.contains(whose), "{undone:?}");
    let given = by("lee", store, &["reject", "Checking", "vet.v", "--reviewer", "max"]);
    assert_eq!(given.code, Some(0), "{given:?}");
    let decisions = fnstore_in(store, &["proposals", "decisions"]).stdout;
    assert!(decisions.contains("\"reviewer\":\"max\""), "{decisions}");
    // A wrong name is told of the release that has the frame.
    let wrong = by("lee", store, &["accept", "Checking", "wandr.v"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("did you mean `wander.v`"), "{wrong:?}");
    let wrong = by("lee", store, &["accept", "Cheking", "wander.v"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("did you mean `Checking`"), "{wrong:?}");
}

#[test]
fn a_proposal_of_several_releases_asks_which_one() {
    let store = store();
    let store = store.path();
    import_again(store, "second");
    let database = Database::open_existing_writer(store).unwrap();
    let second = database.release("second").unwrap().id;
    propose_more(&database, second, 900, &[(1, "wander.v", "wandered", 7012, 1, 0.5)]);
    drop(database);
    let ran = by("lee", store, &["accept", "Checking", "wander.v"]);
    assert!(ran.code == Some(2) && ran.stdout.is_empty(), "{ran:?}");
    let message = "in the releases `mini-framenet`, `second`; say which with `--release NAME`";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    let ran = by("lee", store, &["accept", "Checking", "wander.v", "--release", "second"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_no_lu_can_be_called_is_not_proposed() {
    let store = store();
    let store = store.path();
    let database = Database::open_existing_writer(store).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    let slips = [
        (7, "the.v", "the", 7012, 1, 0.9),
        (8, "be.v", "was", 7012, 2, 0.9),
        (9, "prepared2.v", "prepared2", 7006, 1, 0.9),
    ];
    propose_more(&database, release, 700, &slips);
    drop(database);
    let listed = proposals(store, &[]);
    assert_eq!(names(&listed).len(), 3, "{listed:?}");
    for (_, slip, ..) in slips {
        assert!(!names(&listed).contains(&slip), "{slip}");
        let ran = by("kim", store, &["accept", "Checking", slip]);
        assert!(ran.code == Some(2) && ran.stderr.contains("is no name of an LU"), "{ran:?}");
    }
    assert_eq!(by("kim", store, &["reject", "Checking", "the.v"]).code, Some(0));
    let merged = by("kim", store, &["merge", "Checking", "prepared2.v", "--into", "inspect.v"]);
    assert_eq!(merged.code, Some(0), "{merged:?}");
}

#[test]
fn proposals_stand_apart_from_the_lexicons_own_lus() {
    let store = store();
    let shown = fnstore_in(store.path(), &["show", "frame", "Checking"]);
    let (own, proposed) = shown.stdout.split_once("Proposed lexical units").unwrap();
    assert!(own.contains("  check.v ") && !own.contains("  vet.v "), "{own}");
    assert!(proposed.contains("  vet.v ") && !proposed.contains("  check.v "), "{proposed}");
    let review = Review::start(store.path(), &[]);
    let (status, page) = review.get("frame?name=Checking");
    assert_eq!(status, 200, "{page}");
    let (own, proposed) = page.split_once("Proposed lexical units").unwrap();
    assert!(own.contains(">check.v<") && !own.contains(">vet.v<"), "{own}");
    assert!(proposed.contains(">vet.v<") && !proposed.contains(">check.v<"), "{proposed}");
}
