//! Handles on one store, and what they gave, may be dropped in any order.

use std::sync::Arc;
use std::time::Duration;

use fnstore::database::{Database, DatabaseError};
use fnstore::model::{FrameId, LexUnit};
use fnstore::query::Selection;

use crate::mini;

/// Something that holds a store open.
type Held = Box<dyn std::any::Any>;

/// A reader that keeps an editor open, a snapshot, answers that were begun, and what outlives all.
fn handles(dir: &std::path::Path) -> Vec<Held> {
    let reader = Arc::new(Database::open(dir).unwrap());
    reader.keep_writer(Duration::from_secs(3600));
    let edited: Result<u64, DatabaseError> = reader.edit(|editor| {
        let mut edits = editor.transaction("mini-framenet")?;
        edits.explain("an edit");
        edits.set_lexunit(LexUnit {
            definition: format!("{:?}", std::time::Instant::now()),
            ..editor.lexicon("mini-framenet")?.lus_of(FrameId(102))?.next().expect("an LU")?
        })?;
        edits.commit()
    });
    edited.unwrap();
    let mut answers = reader.answers(&"".parse().unwrap(), &Selection::default()).unwrap();
    let first = answers.next().unwrap().unwrap();
    let snapshot = Arc::new(reader.snapshot().unwrap());
    let of_snapshot = snapshot.answers(&"".parse().unwrap(), &Selection::default()).unwrap();
    vec![
        Box::new(reader),
        Box::new(answers),
        Box::new(snapshot),
        Box::new(of_snapshot),
        Box::new(first),
    ]
}

/// All orders of so many things.
fn orders(number: usize) -> Vec<Vec<usize>> {
    let Some(last) = number.checked_sub(1) else { return vec![Vec::new()] };
    let longer = |order: Vec<usize>| {
        (0..number).map(move |place| {
            let mut order = order.clone();
            order.insert(place, last);
            order
        })
    };
    orders(last).into_iter().flat_map(longer).collect()
}

#[test]
fn handles_and_what_they_gave_are_dropped_in_any_order() {
    let (dir, writer, _) = mini::imported();
    let answers = mini::answers(&writer, "").len();
    drop(writer);
    let orders = orders(4);
    assert_eq!(orders.len(), 24);
    for order in orders {
        let mut held: Vec<Option<Held>> = handles(dir.path()).into_iter().map(Some).collect();
        for place in order {
            drop(held[place].take());
            // Whatever is left, the store can be read.
            assert!(Database::open(dir.path()).unwrap().revision().unwrap() > 1);
        }
        // The editor went with its reader, and nothing else holds the lock.
        drop(Database::open_existing_writer(dir.path()).unwrap());
    }
    assert_eq!(mini::answers(&Database::open(dir.path()).unwrap(), "").len(), answers);
}

#[test]
fn answers_of_a_writer_hold_its_lock_until_they_are_dropped_whichever_goes_first() {
    let (dir, writer, _) = mini::imported();
    let mut writer = Some(writer);
    for answers_first in [true, false] {
        let writer =
            writer.take().unwrap_or_else(|| Database::open_existing_writer(dir.path()).unwrap());
        let writer = Arc::new(writer);
        let mut answers = writer.answers(&"".parse().unwrap(), &Selection::default()).unwrap();
        assert!(answers.next().unwrap().is_ok());
        if answers_first {
            drop(answers);
            assert!(Database::open_existing_writer(dir.path()).is_err());
            drop(writer);
        } else {
            drop(writer);
            assert!(Database::open_existing_writer(dir.path()).is_err());
            assert_eq!(answers.count(), 41);
        }
        drop(Database::open_existing_writer(dir.path()).unwrap());
    }
}
