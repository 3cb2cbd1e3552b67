//! What a caller's callback may do wrong: it panics, or calls back into the handle that calls it.
//! The handle goes on, nothing is half written, and no call waits for itself.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use fnstore::database::{Database, DatabaseError};
use fnstore::expand::{Expander, Models, Recipe, RunOptions};
use fnstore::model::{Coded as _, ErrorKind, FrameId, LexUnit};
use fnstore::transfer::ImportOptions;
use fnstore::upkeep::CheckOptions;

use crate::mini;

/// A frame of the mini release.
const CHECKING: FrameId = FrameId(102);

fn add(database: &Database, name: &str) -> Result<u64, DatabaseError> {
    let mut edits = database.transaction("mini-framenet")?;
    edits.add_lexunit(LexUnit::new(CHECKING, name))?;
    edits.commit()
}

fn second() -> ImportOptions {
    ImportOptions { release: Some("second".to_owned()), ..ImportOptions::default() }
}

/// The handle writes and reads, and its store is whole.
fn goes_on(database: &Database, releases: usize) {
    assert_eq!(database.releases().unwrap().len(), releases);
    add(database, "vet.v").unwrap();
    let report = database.check(CheckOptions::default(), &mut |_| {}).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

/// What a callback does with the handle that calls it: reading works, writing is refused.
fn calls_back(database: &Database, seen: &RefCell<Vec<Option<&'static str>>>) {
    assert_eq!(mini::answers(database, "trigger=look*").len(), 3);
    let refused = add(database, "peruse.v").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Locked);
    let imported = database.import(&mini::framenet(), &second(), &mut |_| {}).unwrap_err();
    let undone = database.undo(&[1], "").unwrap_err();
    seen.borrow_mut().extend([refused.code(), imported.code(), undone.code()]);
}

#[test]
fn an_import_whose_callback_panics_leaves_the_store_and_the_handle() {
    let (_dir, database, _) = mini::imported();
    let before = mini::content(&database);
    for file in 0..3 {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            database.import(&mini::framenet(), &second(), &mut |at| {
                assert!(at.files <= file, "of the caller");
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(mini::content(&database), before);
    }
    database.import(&mini::framenet(), &second(), &mut |_| {}).unwrap();
    goes_on(&database, 2);
}

#[test]
fn an_import_whose_callback_writes_by_the_same_handle_is_told_and_ends_well() {
    let (_dir, database, _) = mini::imported();
    let seen = RefCell::default();
    database.import(&mini::framenet(), &second(), &mut |_| calls_back(&database, &seen)).unwrap();
    let seen = seen.into_inner();
    assert!(seen.len() >= 3 && seen.iter().all(|code| *code == Some("S-busy")), "{seen:?}");
    goes_on(&database, 2);
}

fn expander() -> Expander {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let recipe =
        Recipe { beam_size: 2, candidates: 2, ..Recipe::new(Models::open(&models).unwrap()) };
    Expander::open(recipe, RunOptions::rounds(1)).unwrap()
}

#[test]
fn an_expansion_goes_on_after_a_callback_that_panics_and_beside_one_that_writes() {
    let (_dir, database, _) = mini::imported();
    let (query, mut expander) = ("lu=audit.v".parse().unwrap(), expander());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let run = expander.run(&database, &query, &mut |at| {
            assert!(at.seed.is_none(), "of the caller");
            ControlFlow::Continue(())
        });
        drop(run);
    }));
    assert!(panicked.is_err());
    // What it writes is a commit between those of the run.
    let mut is_added = false;
    let report = expander
        .run(&database, &query, &mut |at| {
            assert_eq!(mini::answers(&database, "trigger=look*").len(), 3);
            if at.seed.is_some() && !is_added {
                add(&database, "peruse.v").unwrap();
                is_added = true;
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(is_added && report.sentences > 0 && !report.interrupted, "{report:?}");
    let written = mini::answers(&database, "origin=generated");
    // With what the run before had committed.
    assert!(written.len() as u64 >= report.sentences);
    goes_on(&database, 1);
    let (_other_dir, other, _) = mini::imported();
    expander.run(&other, &query, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(mini::answers(&other, "origin=generated"), written, "as without it");
}
