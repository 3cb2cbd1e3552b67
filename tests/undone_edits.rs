//! Undo brings back what stood there before: the export is the same, byte for byte.

use std::collections::BTreeMap;
use std::path::Path;

use fnstore::database::Database;
use fnstore::edit::Transaction;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSet, ReleaseId, Span};
use fnstore::review::{Decision, Question, ReviewError, Session, Source};
use proptest::prelude::*;

use crate::framenet_round_trip::export;
use crate::mini;

/// What a reviewer does next; numbers choose among what there is.
#[derive(Debug, Clone)]
enum Step {
    Judge(usize, u8),
    /// An item, and its pieces in code points.
    Move(usize, Vec<(u32, u32)>),
    Undo,
}

fn step() -> impl Strategy<Value = Step> {
    let piece = || (0..40_u32, 1..12_u32).prop_map(|(start, length)| (start, start + length));
    prop_oneof![
        1 => (any::<usize>(), 0..=100_u8).prop_map(|(item, score)| Step::Judge(item, score)),
        4 => (any::<usize>(), piece()).prop_map(|(item, piece)| Step::Move(item, vec![piece])),
        2 => (any::<usize>(), piece(), piece()).prop_map(|(item, a, b)| Step::Move(item, vec![a, b])),
        1 => Just(Step::Undo),
    ]
}

/// Every file of an export.
fn exported(database: &Database) -> BTreeMap<String, Vec<u8>> {
    fn read(dir: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{below}/{}", path.file_name().unwrap().to_str().unwrap());
            match path.is_dir() {
                true => read(&path, &name, files),
                false => drop(files.insert(name, std::fs::read(path).unwrap())),
            }
        }
    }
    let (dir, mut files) = (tempfile::tempdir().unwrap(), BTreeMap::new());
    let dir = dir.path().join("exported");
    export(database, "", &dir).unwrap().unwrap();
    read(&dir, "", &mut files);
    assert!(files.len() > 10);
    files
}

/// Which files differ.
fn differing(a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let names = a.keys().chain(b.keys()).filter(|name| a.get(*name) != b.get(*name));
    names.cloned().collect()
}

/// Gives the number of targets that were moved.
fn review(store: &Path, steps: &[Step]) -> usize {
    let every = "frame=*".parse().unwrap();
    let session = Session::open(store, &every, "kim", Question::Evokes, Source::Query).unwrap();
    let mut items = Vec::new();
    while let Some(item) = session.next(items.last().copied(), "test").unwrap() {
        items.push(item);
    }
    let mut moved = 0;
    for step in steps {
        match step {
            Step::Judge(item, score) => {
                let item = items[item % items.len()];
                let decision = Decision { item, score: *score, millis: 1, note: String::new() };
                session.decide(&[decision], 1).unwrap();
            }
            Step::Move(item, pieces) => match session.retarget(items[item % items.len()], pieces) {
                Ok(is_moved) => moved += usize::from(is_moved),
                Err(ReviewError::Targets { .. }) => {}
                Err(error) => panic!("{step:?}: {error}"),
            },
            Step::Undo => match session.undo() {
                Ok(_) | Err(ReviewError::NothingToUndo) => {}
                Err(error) => panic!("{error}"),
            },
        }
    }
    loop {
        match session.undo() {
            Ok(_) => {}
            Err(ReviewError::NothingToUndo) => return moved,
            Err(error) => panic!("{error}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_review_whose_every_change_is_undone_leaves_the_export_as_it_was(
        steps in proptest::collection::vec(step(), 8..24),
    ) {
        let (dir, database, _) = mini::imported();
        let (records, files) = (mini::content(&database), exported(&database));
        drop(database);
        review(dir.path(), &steps);
        let database = Database::open(dir.path()).unwrap();
        prop_assert_eq!(differing(&files, &exported(&database)), Vec::<String>::new());
        prop_assert_eq!(&mini::content(&database), &records);
    }
}

#[test]
fn targets_are_moved_at_all() {
    let (dir, database, _) = mini::imported();
    drop(database);
    let steps: Vec<Step> = (0..60).map(|item| Step::Move(item, vec![(0, 3)])).collect();
    assert!(review(dir.path(), &steps) > 20);
}

fn every_set(
    edits: &Transaction<'_>,
    database: &Database,
    release: ReleaseId,
) -> Vec<AnnotationSet> {
    let sets = database.store().annotation_sets(release).unwrap();
    sets.map(|set| edits.annotation_set(set.unwrap().id).unwrap().unwrap()).collect()
}

#[test]
fn a_target_that_is_moved_there_and_back_keeps_its_annotator_and_its_place() {
    let (_dir, database, report) = mini::imported();
    let (release, files) = (report.release.id, exported(&database));
    let edits = database.transaction(release).unwrap();
    let sets = every_set(&edits, &database, release);
    drop(edits);
    let mut moved = 0;
    for set in sets {
        let elsewhere: Vec<Span> = match &*set.targets {
            [] => continue,
            [only] if only.start > 0 => vec![Span { start: 0, ..*only }],
            [first, rest @ ..] => {
                let shorter = Span { start: first.start, end: first.start + 1 };
                [&[shorter], rest].concat()
            }
        };
        let mut edits = database.transaction(release).unwrap();
        if edits.set_annotation_set(AnnotationSet { targets: elsewhere, ..set.clone() }).is_err() {
            continue;
        }
        edits.commit().unwrap();
        let now = database.store().annotation_set(release, set.id).unwrap().unwrap();
        assert_ne!(now, set);
        let mut edits = database.transaction(release).unwrap();
        edits.set_annotation_set(AnnotationSet { targets: set.targets.clone(), ..now }).unwrap();
        edits.commit().unwrap();
        moved += 1;
    }
    assert!(moved > 20, "{moved}");
    assert_eq!(differing(&files, &exported(&database)), [""; 0]);
}
