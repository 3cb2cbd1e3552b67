//! Pages of answers: each begins where the one before ended, in whatever order, and answers that
//! own their hold on the database are those that borrow it.

use std::sync::Arc;

use fnstore::database::{Database, DatabaseError};
use fnstore::edit::Removal;
use fnstore::query::{Cursor, Expression, QueryError, Selection, SortKey};
use fnstore::search::Answer;

use crate::cli_program::{Ran, fnstore};
use crate::{generated, mini};

const ORDERS: [&str; 7] = ["", "id", "-id", "text,-trigger", "-aligner", "round,frame", "seed"];

fn selection(sort: &str, limit: Option<usize>) -> Selection {
    let sort = if sort.is_empty() { Vec::new() } else { SortKey::parse_list(sort).unwrap() };
    Selection { sort, limit, ..Selection::default() }
}

fn ids(answers: &[Answer]) -> Vec<String> {
    answers.iter().map(|answer| answer.set.id.to_string()).collect()
}

fn whole(database: &Database, query: &Expression, sort: &str) -> Vec<String> {
    let answers = database.select(query, &selection(sort, None)).unwrap();
    ids(&answers.map(Result::unwrap).collect::<Vec<_>>())
}

#[test]
fn pages_by_cursor_are_the_whole_in_every_order() {
    let (_dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    let database = Arc::new(database);
    for query in ["", "frame=Checking", "trigger=look*", "lu=inspect.v or lu=check.v"] {
        let query = Expression::parse(query).unwrap();
        for sort in ORDERS {
            let expected = whole(&database, &query, sort);
            for length in [1, 5, 1000] {
                let mut page = selection(sort, Some(length));
                let mut found = Vec::new();
                loop {
                    let mut answers = database.answers(&query, &page).unwrap();
                    let read: Vec<Answer> = answers.by_ref().map(Result::unwrap).collect();
                    let Some(last) = read.last() else { break };
                    let after = answers.cursor(last).unwrap();
                    assert_eq!(after.to_string().parse::<Cursor>().unwrap(), after);
                    page.after = Some(after);
                    found.extend(ids(&read));
                }
                assert_eq!(found, expected, "{query} by `{sort}` in pages of {length}");
            }
        }
    }
}

#[test]
fn owned_answers_go_to_another_thread_and_outlive_the_handle() {
    let (_dir, database, _) = mini::imported();
    let query = Expression::parse("").unwrap();
    let expected = whole(&database, &query, "");
    let database = Arc::new(database);
    let mut answers = database.answers(&query, &Selection::default()).unwrap();
    let first = answers.next().unwrap().unwrap();
    drop(database);
    let rest = std::thread::spawn(move || answers.map(Result::unwrap).collect::<Vec<_>>());
    let all: Vec<Answer> = [first].into_iter().chain(rest.join().unwrap()).collect();
    assert_eq!(ids(&all), expected);
}

#[test]
fn a_cursor_stays_good_when_its_answer_is_removed() {
    let (_dir, database, report) = mini::imported();
    let query = Expression::parse("frame=Checking").unwrap();
    for sort in ["", "text"] {
        let all: Vec<Answer> =
            database.select(&query, &selection(sort, None)).unwrap().map(Result::unwrap).collect();
        let expected = ids(&all[3..]);
        let answers = database.select(&query, &selection(sort, Some(3))).unwrap();
        let after = Some(answers.cursor(&all[2]).unwrap());
        drop(answers);
        let mut edits = database.transaction(report.release.id).unwrap();
        edits.remove_annotation_set(all[2].set.id, Removal::Cascade).unwrap();
        edits.commit().unwrap();
        let page = Selection { after, ..selection(sort, None) };
        let rest = database.select(&query, &page).unwrap().map(Result::unwrap);
        assert_eq!(ids(&rest.collect::<Vec<_>>()), expected, "by `{sort}`");
    }
}

#[test]
fn a_cursor_of_another_query_or_order_is_refused() {
    let (_dir, database, _) = mini::imported();
    let query = Expression::parse("frame=Checking").unwrap();
    let mut answers = database.select(&query, &selection("id", Some(1))).unwrap();
    let first = answers.next().unwrap().unwrap();
    let after = Some(answers.cursor(&first).unwrap());
    let other = Expression::parse("frame=Inspecting").unwrap();
    for (query, sort) in [(&other, "id"), (&query, ""), (&query, "-id")] {
        let page = Selection { after: after.clone(), ..selection(sort, None) };
        let error = database.select(query, &page).map(drop).unwrap_err();
        let DatabaseError::Query(QueryError::ForeignCursor { .. }) = error else {
            panic!("{error}")
        };
    }
}

fn lines(ran: &Ran) -> Vec<String> {
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn the_command_names_the_next_page() {
    for sort in [&[][..], &["--sort=-text"]] {
        let all = lines(&fnstore(&[&["query", "frame=Checking"][..], sort].concat()));
        let page = [&["query", "frame=Checking", "--limit", "4"][..], sort].concat();
        let first = fnstore(&page);
        assert_eq!(lines(&first), all[..4]);
        let named = first.stderr.split("`--after ").nth(1).unwrap();
        let cursor = named.split('`').next().unwrap();
        let second = fnstore(&[&page[..], &["--after", cursor]].concat());
        assert_eq!(lines(&second), all[4..8]);
        let other =
            fnstore(&[&["query", "frame=Inspecting", "--after", cursor][..], sort].concat());
        let expected = "is of another query or order";
        assert!(other.code != Some(0) && other.stderr.contains(expected), "{}", other.stderr);
    }
    for wrong in ["", "x1", "00000000.1.2.3.x4", "00000000.1.2.3.x4.x5.q"] {
        let ran = fnstore(&["query", "--after", wrong]);
        let expected = "is no cursor; expected one that a page of answers gave";
        assert!(ran.code != Some(0) && ran.stderr.contains(expected), "{wrong}: {}", ran.stderr);
    }
}
