//! Queries of the library that name an edition are answered under the split list that it keeps.

use std::path::Path;

use fnstore::database::{Database, DatabaseError, SplitListError};
use fnstore::model::Split;
use fnstore::query::{Expression, Field, Selection, SortKey};
use fnstore::review::{Question, Session, Source};

use crate::cli_program::{fnstore_in, new_store};
use crate::generated;

/// A store with two generated sets, in an edition that a list puts into `dev`.
fn store() -> tempfile::TempDir {
    let (store, beside) = (new_store(), tempfile::tempdir().unwrap());
    let database = Database::open_writer(store.path()).unwrap();
    generated::write(&database, database.release("mini-framenet").unwrap().id);
    drop(database);
    let list = beside.path().join("fold.tsv");
    std::fs::write(&list, "exemplars\t*\tdev\n").unwrap();
    let list = ["--split-list", list.to_str().unwrap()];
    create(store.path(), &[&["fold", "origin=generated split=dev"], &list[..]].concat());
    create(store.path(), &["plain", "origin=generated"]);
    store
}

fn create(store: &Path, arguments: &[&str]) {
    let made = fnstore_in(store, &[&["edition", "create"], arguments].concat());
    assert_eq!(made.code, Some(0), "{made:?}");
}

fn expression(text: &str) -> Expression {
    Expression::parse(text).unwrap()
}

#[test]
fn answers_counts_and_parts_are_read_under_the_editions_list() {
    let store = store();
    let database = Database::open(store.path()).unwrap();
    let splits = |text: &str| -> Vec<Option<Split>> {
        let answers = database.query(&expression(text)).unwrap();
        answers.map(|answer| answer.unwrap().split).collect()
    };
    assert_eq!(splits("edition=fold"), [Some(Split::Dev); 2]);
    assert_eq!(splits("edition=plain"), [None; 2]);
    assert_eq!(splits("origin=generated edition!=fo*"), [None; 0]);
    assert_eq!(database.count(&expression("edition=fold split=dev")).unwrap(), 2);
    assert_eq!(database.count(&expression("edition=fold split=train")).unwrap(), 0);
    let counts = database.count_by(&expression("edition=fold"), &[Field::Split]).unwrap();
    assert_eq!((counts.len(), counts[0].value(), counts[0].count), (1, Some("dev"), 2));
    let asked = expression("edition=fold split=dev");
    let sort = vec![SortKey { field: Field::Split, descending: true }];
    let sorted = database.select(&asked, &Selection { sort, ..Selection::default() }).unwrap();
    assert_eq!(sorted.count(), 2);
    let parts = database.parts(&asked, 2).unwrap();
    let of_part = |part| database.answers_in(&asked, part).unwrap().map(|it| it.unwrap().split);
    let of_parts: Vec<_> = parts.iter().flat_map(of_part).collect();
    assert_eq!(of_parts, [Some(Split::Dev); 2]);
}

#[test]
fn the_handles_own_list_comes_first() {
    let store = store();
    let list = fnstore::exchange::read_split_list(&b"exemplars\t*\ttest\n"[..], "x.tsv".as_ref());
    let database = Database::open(store.path()).unwrap().with_split_list(list.unwrap()).unwrap();
    assert_eq!(database.count(&expression("edition=fold split=test")).unwrap(), 2);
    assert_eq!(database.count(&expression("edition=fold or edition=plain")).unwrap(), 2);
}

#[test]
fn editions_of_different_lists_are_refused() {
    let store = store();
    let database = Database::open(store.path()).unwrap();
    let refused = database.count(&expression("edition=fold or edition=plain"));
    let expected = |error: &DatabaseError| {
        matches!(error, DatabaseError::SplitList(SplitListError::Editions { .. }))
    };
    assert!(refused.as_ref().is_err_and(expected), "{refused:?}");
}

#[test]
fn what_is_read_together_is_read_under_one_list() {
    let store = store();
    let database = Database::open(store.path()).unwrap();
    let asked = expression("edition=fold");
    let refused = database.require_list_of(&asked);
    let expected = |error: &DatabaseError| matches!(error, DatabaseError::SplitList(SplitListError::NotUnder { list }) if list == "fold");
    assert!(refused.as_ref().is_err_and(expected), "{refused:?}");
    database.require_list_of(&expression("edition=plain")).unwrap();
    let list = database.split_list_of_editions(&asked).unwrap().unwrap();
    database.with_split_list(list).unwrap().require_list_of(&asked).unwrap();
}

#[test]
fn a_review_of_an_edition_shows_the_sets_of_a_part_of_its_list() {
    let store = store();
    for (query, is_there) in [("edition=fold split=dev", true), ("edition=fold split=train", false)]
    {
        let open =
            Session::open(store.path(), &expression(query), "kim", Question::Evokes, Source::Query);
        assert_eq!(open.unwrap().next(None, "one").unwrap().is_some(), is_there, "{query}");
    }
}

#[test]
fn an_experiment_reads_all_of_its_data_under_the_editions_list() {
    let store = store();
    let given = ["experiment", "fes", "--generated", "edition=fold", "--resamples", "1"];
    let ran = fnstore_in(store.path(), &given);
    assert!(ran.stderr.contains("parts are those of the edition's split list `fold`"), "{ran:?}");
}
