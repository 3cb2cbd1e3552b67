//! Queries: what `db.query(...)` gives, and the annotation sets that it finds.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard};

use fnstore::database::DatabaseError;
use fnstore::query::{Case, Cursor, Expression, Field, Selection, SortKey, Term};
use fnstore::search::{self, Answer};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::annotation::AnnotationSet;
use crate::arrow::Shape;
use crate::changes::parsed;
use crate::editions::sampling;
use crate::error::{Fault, Result};
use crate::handle::{Found, Handle};
use crate::html;
use crate::number::Count;

/// Answers that a notebook shows of a query.
const SHOWN: usize = 10;

/// A query of a store; iterating asks it, each time anew.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct Query {
    handle: Arc<Handle>,
    expression: Expression,
    selection: Selection,
}

/// Fields by their names, for errors that name the nearest one.
fn sort_keys(text: Option<&str>) -> Result<Vec<SortKey>> {
    let keys = text.map(SortKey::parse_list).transpose().map_err(DatabaseError::from)?;
    Ok(keys.unwrap_or_default())
}

fn cursor(text: Option<&str>) -> Result<Option<Cursor>> {
    Ok(text.map(str::parse).transpose().map_err(DatabaseError::from)?)
}

/// An expression of a text, narrowed to what has these names.
pub(crate) fn narrowed<'n>(
    names: impl IntoIterator<Item = (Field, &'n str)>,
    text: &str,
) -> Result<Expression> {
    let asked = Expression::parse(text).map_err(DatabaseError::from)?;
    let named = names.into_iter().map(|(field, name)| Term::named(field, name));
    let named = named.collect::<std::result::Result<Vec<_>, _>>();
    let all = named.and_then(|named| {
        Expression::all_of(named.into_iter().map(Expression::Term).chain([asked]))
    });
    Ok(all.map_err(DatabaseError::from)?)
}

impl Query {
    pub(crate) fn new(
        handle: &Arc<Handle>,
        (text, case): (&str, Case),
        sort: Option<&str>,
        after: Option<&str>,
        (offset, limit): (usize, Option<usize>),
    ) -> Result<Self> {
        let expression = Expression::parse_with(text, case).map_err(DatabaseError::from)?;
        let (sort, after) = (sort_keys(sort)?, cursor(after)?);
        Self::over(handle, expression, Selection { sort, after, offset, limit })
    }

    pub(crate) fn over(
        handle: &Arc<Handle>,
        expression: Expression,
        selection: Selection,
    ) -> Result<Self> {
        // Names that are not there are told here, not at the first answer.
        drop(handle.get()?.query(&expression)?);
        Ok(Self { handle: Arc::clone(handle), expression, selection })
    }

    fn first_answers(&self, count: usize) -> Result<Vec<Answer>> {
        let limit = Some(self.selection.limit.map_or(count, |limit| limit.min(count)));
        let selection = Selection { limit, ..self.selection.clone() };
        let database = self.handle.get()?;
        let answers = database.select(&self.expression, &selection)?;
        answers.collect::<std::result::Result<_, _>>().map_err(Fault::from)
    }

    /// Number of the answers behind a cursor.
    fn count_behind(&self) -> Result<u64> {
        let database = self.handle.get()?;
        let mut counted = 0;
        for answer in database.select(&self.expression, &self.selection)?.without_sentences() {
            answer?;
            counted += 1;
        }
        Ok(counted)
    }

    fn sets(&self, answers: Vec<Answer>) -> impl Iterator<Item = AnnotationSet> {
        answers.into_iter().map(|answer| AnnotationSet::new(&self.handle, answer))
    }

    fn changed(&self, change: impl FnOnce(&mut Selection)) -> Self {
        let mut selection = self.selection.clone();
        change(&mut selection);
        Self { handle: Arc::clone(&self.handle), expression: self.expression.clone(), selection }
    }
}

#[pymethods]
impl Query {
    fn __iter__(&self, py: Python<'_>) -> Result<Answers> {
        let receiver =
            py.detach(|| self.handle.answers(&self.expression, &self.selection, true))?;
        let place = Mutex::new(Place { receiver, chunk: Vec::new(), cursor: None });
        Ok(Answers { handle: Arc::clone(&self.handle), place })
    }

    /// The expression, as the language writes it.
    #[getter]
    fn expression(&self) -> String {
        self.expression.to_string()
    }

    /// Number of the annotation sets.
    fn count(&self, py: Python<'_>) -> Result<u64> {
        if self.selection.after.is_some() {
            return py.detach(|| self.count_behind());
        }
        let found = py.detach(|| Ok::<_, Fault>(self.handle.get()?.count(&self.expression)?))?;
        let after = found.saturating_sub(self.selection.offset as u64);
        Ok(self.selection.limit.map_or(after, |limit| after.min(limit as u64)))
    }

    /// Number of the annotation sets for each value of a field, the most frequent first. With
    /// several fields the keys are tuples, which have a value of each.
    #[pyo3(signature = (field, /, *more))]
    fn count_by<'py>(
        &self,
        py: Python<'py>,
        field: &str,
        more: Vec<String>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let counts = py.detach(|| {
            let names = [field].into_iter().chain(more.iter().map(String::as_str));
            let mut fields = Vec::new();
            for name in names {
                fields.push(Field::with_value(name, 1).map_err(DatabaseError::from)?);
            }
            Ok::<_, Fault>(self.handle.get()?.count_by(&self.expression, &fields)?)
        })?;
        let counted = PyDict::new(py);
        for row in counts {
            match more.is_empty() {
                true => counted.set_item(row.value(), row.count)?,
                false => counted.set_item(PyTuple::new(py, &row.values)?, row.count)?,
            }
        }
        Ok(counted)
    }

    /// The first annotation set, or None.
    fn first(&self, py: Python<'_>) -> Result<Option<AnnotationSet>> {
        let answers = py.detach(|| self.first_answers(1))?;
        Ok(self.sets(answers).next())
    }

    /// The same query, of which no more than so many sets are wanted.
    fn limit(&self, count: Count) -> Self {
        self.changed(|selection| selection.limit = Some(count.size()))
    }

    /// The same query without its first sets.
    fn offset(&self, count: Count) -> Self {
        self.changed(|selection| selection.offset = count.size())
    }

    /// The same query behind a cursor, which `Answers.cursor` gives; in the same order.
    fn after(&self, cursor: &str) -> Result<Self> {
        let selection = Selection { after: self::cursor(Some(cursor))?, ..self.selection.clone() };
        Self::over(&self.handle, self.expression.clone(), selection)
    }

    /// The same query in the order of fields, as in `"frame,-aligner"`.
    fn sort(&self, fields: &str) -> Result<Self> {
        let sort = sort_keys(Some(fields))?;
        Ok(self.changed(|selection| selection.sort = sort))
    }

    /// A query of a random sample of the same sets: so many of them, or so many for each value of
    /// the fields in per. The same seed gives the same sample.
    #[pyo3(signature = (size, *, per=None, seed=Count(1)),
           text_signature = "($self, size, *, per=None, seed=1)")]
    fn sample(&self, py: Python<'_>, size: Count, per: Option<&str>, seed: Count) -> Result<Self> {
        let (handle, selection) = (Arc::clone(&self.handle), self.selection.clone());
        py.detach(|| match sampling(Some(size), per, seed)? {
            Some(sampling) => {
                let sample = handle.get()?.sample(&self.expression, &sampling)?;
                Ok(Self { expression: sample.expression, handle, selection })
            }
            None => Ok(self.changed(|_| ())),
        })
    }

    /// How it is answered: which terms narrow the search, what each lets through, and how many sets
    /// are read (`schema/plan.schema.json`). It is answered for that.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let plan = py.detach(|| {
            let database = self.handle.get()?;
            Result::Ok(database.explain(&self.expression, &self.selection)?)
        })?;
        parsed(py, Some(&serde_json::to_string(&plan).unwrap_or_default()))
    }

    /// The answers as a table that every library reads which knows Arrow's PyCapsule interface.
    #[pyo3(signature = (columns=None))]
    fn to_arrow(&self, columns: Option<Vec<String>>) -> Result<Table> {
        Ok(Table { query: self.changed(|_| ()), shape: Shape::new(columns)? })
    }

    /// The answers as a polars.DataFrame.
    #[pyo3(signature = (columns=None))]
    fn to_polars<'py>(
        &self,
        py: Python<'py>,
        columns: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        py.import("polars")?.getattr("DataFrame")?.call1((self.to_arrow(columns)?,))
    }

    /// The answers as a pandas.DataFrame, by way of pyarrow. Integers are of pandas' nullable
    /// types, and Python's own inside of lists.
    #[pyo3(signature = (columns=None))]
    fn to_pandas<'py>(
        &self,
        py: Python<'py>,
        columns: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        py.import("fnstore._pandas")?.getattr("frame")?.call1((self.to_arrow(columns)?,))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.to_arrow(None)?.__arrow_c_stream__(py, requested_schema)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.to_arrow(None)?.__arrow_c_schema__(py)
    }

    fn __repr__(&self) -> String {
        let text = self.expression.to_string().replace('\\', "\\\\").replace('\'', "\\'");
        format!("<Query '{text}' of {}>", self.handle.path.display())
    }

    fn _repr_html_(&self, py: Python<'_>) -> Result<String> {
        let (found, answers) = (self.count(py)?, py.detach(|| self.first_answers(SHOWN))?);
        Ok(html::query(&self.expression.to_string(), found, &answers))
    }
}

/// How far answers were read.
struct Place {
    receiver: Receiver<Result<Vec<Found>>>,
    /// What is left of the last chunk, backwards.
    chunk: Vec<Found>,
    /// The place behind the last answer of a page.
    cursor: Option<Cursor>,
}

/// The answers of a query, one by one.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct Answers {
    handle: Arc<Handle>,
    place: Mutex<Place>,
}

impl Answers {
    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn next(&self) -> Option<Result<Answer>> {
        let mut place = self.place();
        if place.chunk.is_empty() {
            match place.receiver.recv().ok()? {
                Ok(found) => place.chunk = found.into_iter().rev().collect(),
                Err(fault) => return Some(Err(fault)),
            }
        }
        let (answer, cursor) = place.chunk.pop()?;
        place.cursor = cursor;
        Some(Ok(answer))
    }
}

#[pymethods]
impl Answers {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> Result<Option<AnnotationSet>> {
        // A closed handle gives no more, also of what was read ahead.
        self.handle.get()?;
        let answer = py.detach(|| self.next()).transpose()?;
        Ok(answer.map(|answer| AnnotationSet::new(&self.handle, answer)))
    }

    /// The place behind the last set that was given, where the next page begins:
    /// `db.query(..., after=cursor)`. None before the first set, and of a query without a limit.
    #[getter]
    fn cursor(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.place().cursor.as_ref().map(ToString::to_string))
    }
}

/// Answers of a query as a table: a source for every library that reads Arrow. It asks the query
/// each time it is read.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct Table {
    query: Query,
    shape: Shape,
}

#[pymethods]
impl Table {
    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&'static str> {
        self.shape.names().collect()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer give its own schema where it cannot give another.
        drop(requested_schema);
        let (query, shape) = (&self.query, self.shape.clone());
        let stream = py.detach(|| {
            // The whole query goes in parts; an order or a limit goes one by one.
            if query.selection == Selection::default() {
                let with_sentences = shape.needs_sentences();
                let make = move |answers: &mut search::Answers<'_>| shape.batch(answers);
                let made = query.handle.made(&query.expression, with_sentences, make)?;
                return Ok(self.shape.stream(made));
            }
            let chunks = query.handle.answers(&query.expression, &query.selection, false)?;
            let chunks = chunks.into_iter().filter_map(move |chunk| {
                chunk
                    .and_then(|chunk| shape.batch(chunk.into_iter().map(|(answer, _)| Ok(answer))))
                    .transpose()
            });
            Ok::<_, Fault>(self.shape.stream(chunks))
        })?;
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, self.shape.schema(), c"arrow_schema")
    }

    fn __repr__(&self) -> String {
        let names: Vec<_> = self.shape.names().collect();
        format!("<Table {} of {}>", names.join(", "), self.query.__repr__())
    }
}
