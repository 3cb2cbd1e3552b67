//! `fnstore_answers`: the answers of a query, read as they are asked for.

use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};

use fnstore::database::DatabaseError;
use fnstore::query::{Expression, Selection, SortKey};
use fnstore::search;

use crate::answer::Answer;
use crate::boundary::{self, Handle, call};
use crate::database::Database;
use crate::error::{Error, Fault, Result};

/// Answers of a query. They keep the store open by themselves. Every thread may ask for the next
/// one; those that ask at once wait for each other.
pub struct Answers(Mutex<search::Answers<'static>>);

impl Handle for Answers {
    const KIND: &'static str = "list of answers";
}

/// An expression that C gives; null stands for all sets.
pub(crate) fn expression(given: *const c_char) -> Result<Expression> {
    let text = boundary::optional_text(given, "query")?.unwrap_or_default();
    Ok(Expression::parse(text).map_err(DatabaseError::from)?)
}

/// The annotation sets for which a query holds, in the language of `schema/query.md`. `sort` lists
/// fields, as in `lu,-text`; null is the order of the store. `after` is a cursor: the page behind
/// it. `limit` is the most answers; 0 gives all. Null when it fails. The caller frees the list by
/// `fnstore_answers_free`.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_query(
    database: *const Database,
    query: *const c_char,
    sort: *const c_char,
    after: *const c_char,
    limit: u64,
    error: *mut *mut Error,
) -> *mut Answers {
    call(error, std::ptr::null_mut(), || {
        let database = boundary::borrow(database)?;
        let open = database.get();
        let sort = boundary::optional_text(sort, "order")?;
        let sort = sort.map(SortKey::parse_list).transpose().map_err(DatabaseError::from)?;
        let after = boundary::optional_text(after, "cursor")?;
        let after = after.map(str::parse).transpose().map_err(DatabaseError::from)?;
        let limit = (limit > 0).then(|| usize::try_from(limit).unwrap_or(usize::MAX));
        let sort = sort.unwrap_or_default();
        let selection = Selection { sort, after, limit, ..Selection::default() };
        let answers = open.answers(&expression(query)?, &selection)?;
        Ok(boundary::give(Answers(Mutex::new(answers))))
    })
}

/// Number of annotation sets for which a query holds, to `count`.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_count(
    database: *const Database,
    query: *const c_char,
    count: *mut u64,
    error: *mut *mut Error,
) -> bool {
    call(error, false, || {
        let database = boundary::borrow(database)?;
        let open = database.get();
        boundary::put(count, open.count(&expression(query)?)?);
        Ok(true)
    })
}

/// The next answer, which the caller frees by `fnstore_answer_free`. Null behind the last one, and
/// when it fails: then `*error` is not null. An answer with NUL in a text is the error `F-nul`; the
/// call after it goes on behind that answer.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answers_next(
    answers: *mut Answers,
    error: *mut *mut Error,
) -> *mut Answer {
    call(error, std::ptr::null_mut(), || {
        let answers = boundary::borrow(answers)?;
        let mut answers = answers.0.lock().unwrap_or_else(PoisonError::into_inner);
        match answers.next().transpose()? {
            Some(answer) => Ok(boundary::give(Answer::new(answer)?)),
            None => Ok(std::ptr::null_mut()),
        }
    })
}

/// The cursor behind an answer of a list: where the next page begins. The caller frees it. It is
/// good for the same query in the same order, also in another process and after edits.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answers_cursor(
    answers: *const Answers,
    answer: *const Answer,
    error: *mut *mut Error,
) -> *mut c_char {
    call(error, std::ptr::null_mut(), || {
        let (answers, answer) = (boundary::borrow(answers)?, boundary::borrow(answer)?);
        let answers = answers.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cursor = answers.cursor(answer.of())?;
        boundary::give_text(cursor.to_string())
    })
}

/// Frees a list of answers; those that it gave stay. Null is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answers_free(answers: *mut Answers) {
    boundary::take(answers);
}

/// The one annotation set of an id, as in `x1024`. `release` is needed where several have one of
/// that id; null otherwise. The caller frees it by `fnstore_answer_free`. Null when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_annotation_set(
    database: *const Database,
    release: *const c_char,
    id: *const c_char,
    error: *mut *mut Error,
) -> *mut Answer {
    call(error, std::ptr::null_mut(), || {
        let database = boundary::borrow(database)?;
        let open = database.get();
        let id = set_id(id)?;
        let answer = open.the_annotation_set(id, boundary::optional_text(release, "release")?)?;
        Ok(boundary::give(Answer::new(answer)?))
    })
}

/// The id of a set that C gives.
pub(crate) fn set_id(given: *const c_char) -> Result<fnstore::model::AnnotationSetId> {
    let id = boundary::text(given, "id")?;
    fnstore::model::AnnotationSetId::of_written(id).ok_or_else(|| {
        let expected = "expected a letter (x, f, i or g) and a number, as in x1024";
        Fault::usage("F-id", format!("`{id}` is no id of an annotation set, {expected}"))
    })
}
