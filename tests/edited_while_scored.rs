//! Sets that another thread edits or removes while a filter scores what it has read of them.

use std::ops::ControlFlow;

use fnstore::database::{Database, Write};
use fnstore::edit::Removal;
use fnstore::expand;
use fnstore::filter::Filter;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSet, AnnotationSetId, IdSpace, Sentence, SentenceId};
use fnstore::query::Expression;

use crate::cli_program::new_store;
use crate::{filters, generated};

/// More sets than are read before others help, and than are written together.
const SETS: u64 = 2_500;

fn all() -> Expression {
    "origin=generated status=GENERATED round=1".parse().unwrap()
}

fn set(number: u64) -> AnnotationSetId {
    AnnotationSetId::new(IdSpace::Generated, 1_000 + number)
}

#[test]
fn what_was_edited_stays_as_it_was_left() {
    let folder = tempfile::tempdir().unwrap();
    let filter = Filter::open(&filters::trained(folder.path())).unwrap();
    let store = new_store();
    let database = Database::open_existing_writer(store.path()).unwrap();
    let release = database.releases().unwrap()[0].id;
    generated::write(&database, release);
    let (of, one) = generated::sets(&database, release).swap_remove(0);
    let mut write = Write::default();
    for number in 0..SETS {
        let id = SentenceId::new(IdSpace::Generated, 1_000 + number);
        write.sentences.push(Sentence { id, ..of.clone() });
        write.sets.push(AnnotationSet { id: set(number), sentence: id, ..one.clone() });
    }
    database.write(release, &write).unwrap();
    // Behind the first that are written together, and of the piece that was read with them.
    let (removed, refused) = (set(1_200), set(1_201));
    let mut edit = |looked_at: u64| {
        if looked_at == 1_024 {
            let mut edits = database.transaction(release).unwrap();
            edits.remove_annotation_set(removed, Removal::Cascade).unwrap();
            edits.commit().unwrap();
            let stored = database.store().annotation_set(release, refused).unwrap().unwrap();
            let sets = vec![AnnotationSet { status: "REFUSED".to_owned(), ..stored }];
            database.write(release, &Write { sets, ..Default::default() }).unwrap();
        }
        ControlFlow::Continue(())
    };
    let done = expand::rescore(&database, &all(), &filter, &mut edit).unwrap();
    let now = |id| database.store().annotation_set(release, id).unwrap();
    assert_eq!(now(removed), None);
    assert_eq!(now(refused).unwrap().status, "REFUSED");
    // g101 and the copies.
    assert_eq!((done.kept.scored, done.written), (1 + SETS, SETS - 1));
}
