//! What commits did: the list of changes, and which store it is of.

use fnstore::database::{Database, DatabaseError};
use fnstore::query::{Expression, Field, Term};
use fnstore::store;
use fnstore::transfer::ChangeRecord;
use pyo3::prelude::*;

use crate::error::Result;

/// What a commit did to a record.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct Change(ChangeRecord);

/// A commit: who made it, when and why.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Commit {
    /// Its number.
    revision: u64,
    /// When it was made, in seconds since 1970 (UTC).
    at: u64,
    /// Who made it; empty where nobody said so.
    by: String,
    /// Why; may be empty.
    note: String,
    /// The commits that it took back.
    undoes: Vec<u64>,
    /// Whether it can be taken back: what its records held before is kept.
    can_undo: bool,
}

#[pymethods]
impl Commit {
    fn __repr__(&self) -> String {
        format!("<Commit {} by {:?}: {:?}>", self.revision, self.by, self.note)
    }
}

/// The last commits, the last one first.
pub(crate) fn history(database: &Database, limit: usize) -> Result<Vec<Commit>> {
    let commit = |made: store::Commit| Commit {
        revision: made.revision,
        at: made.at,
        can_undo: made.images.is_some_and(|images| images > 0),
        by: made.by,
        note: made.note,
        undoes: made.undoes,
    };
    database.commits()?.take(limit).map(|made| Ok(made.map(commit)?)).collect()
}

#[pymethods]
impl Change {
    fn __repr__(&self) -> String {
        let ChangeRecord { revision, action, kind, id, .. } = &self.0;
        format!("<Change {revision}: {action} {kind} {id}>")
    }

    /// Number of the commit.
    #[getter]
    fn revision(&self) -> u64 {
        self.0.revision
    }

    /// Name of the release; its number if it was removed since.
    #[getter]
    fn release(&self) -> &str {
        &self.0.release
    }

    /// `added`, `edited` or `removed`.
    #[getter]
    fn action(&self) -> &'static str {
        self.0.action.as_str()
    }

    /// What it is, as in `set`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind.as_str()
    }

    /// Its id or name.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// Frame of an LU, a set or a decision.
    #[getter]
    fn frame(&self) -> Option<u32> {
        self.0.frame.map(|id| id.0)
    }

    /// LU of a set.
    #[getter]
    fn lu(&self) -> Option<u32> {
        self.0.lu.map(|id| id.0)
    }

    /// Sentence of a set or of layers.
    #[getter]
    fn sentence(&self) -> Option<String> {
        self.0.sentence.map(|id| id.to_string())
    }

    /// Whose judgement it is.
    #[getter]
    fn reviewer(&self) -> Option<&str> {
        self.0.reviewer.as_deref()
    }

    /// The question that a judgement answers; None for that of the frame.
    #[getter]
    fn question(&self) -> Option<&str> {
        self.0.question.as_deref()
    }

    /// When it was committed, in seconds since 1970 (UTC).
    #[getter]
    fn at(&self) -> Option<u64> {
        self.0.at
    }

    /// Who committed it; empty where nobody said so.
    #[getter]
    fn by(&self) -> &str {
        self.0.by.as_deref().unwrap_or_default()
    }

    /// Why; may be empty.
    #[getter]
    fn note(&self) -> &str {
        self.0.note.as_deref().unwrap_or_default()
    }

    /// Whether it is the last change of its commit.
    #[getter]
    fn last(&self) -> bool {
        self.0.last
    }

    /// With records: the record as it is now, in the form of JSON lines; None where it is gone.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        parsed(py, self.0.record.as_deref())
    }

    /// With records: the sentence of a set, likewise.
    #[getter]
    fn sentence_record<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        parsed(py, self.0.sentence_record.as_deref())
    }
}

/// What a record in JSON says.
pub(crate) fn parsed<'py>(
    py: Python<'py>,
    json: Option<&str>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(json) = json else { return Ok(None) };
    py.import("json")?.call_method1("loads", (json,)).map(Some)
}

/// What was committed after a revision, of one release or of all.
pub(crate) fn since(
    database: &Database,
    since: u64,
    (release, expression): (Option<&str>, Option<&Expression>),
    generation: Option<&str>,
    with_records: bool,
) -> Result<Vec<Change>> {
    database.refresh()?;
    if let Some(generation) = generation {
        database.require_generation(generation)?;
    }
    let expression = match (release, expression) {
        (Some(name), Some(expression)) => {
            let of = Term::named(Field::Release, name).map_err(DatabaseError::from)?;
            let both = [Expression::Term(of), expression.clone()];
            Some(Expression::all_of(both).map_err(DatabaseError::from)?)
        }
        (_, expression) => expression.cloned(),
    };
    let changes: Box<dyn Iterator<Item = _>> = match (release, &expression) {
        (_, Some(expression)) => Box::new(database.changes_matching(expression, since)?),
        (Some(name), None) => Box::new(database.changes_of(database.release(name)?.id, since)?),
        (None, None) => Box::new(database.changes(since)?),
    };
    let records = database.change_records(changes, with_records)?;
    records.map(|record| Ok(Change(record?))).collect()
}
