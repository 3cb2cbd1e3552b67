//! What commits did: the list of changes, and which store it is of.

use std::collections::HashMap;

use fnstore::database::{Database, DatabaseError};
use fnstore::model::ReleaseId;
use fnstore::query::{Expression, Field, Term};
use fnstore::store;
use pyo3::prelude::*;

use crate::error::Result;

/// What a commit did to a record.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct Change {
    /// Number of the commit.
    #[pyo3(get)]
    revision: u64,
    /// Name of the release; its number if it was removed since.
    #[pyo3(get)]
    release: String,
    /// `added`, `edited` or `removed`.
    #[pyo3(get)]
    action: &'static str,
    /// What it is, as in `set`.
    #[pyo3(get)]
    kind: &'static str,
    /// Its id or name.
    #[pyo3(get)]
    id: String,
    /// Frame of an LU, a set or a decision.
    #[pyo3(get)]
    frame: Option<u32>,
    /// LU of a set.
    #[pyo3(get)]
    lu: Option<u32>,
    /// Sentence of a set or of layers.
    #[pyo3(get)]
    sentence: Option<String>,
    /// Whose judgement it is.
    #[pyo3(get)]
    reviewer: Option<String>,
    /// The question that a judgement answers; None for that of the frame.
    #[pyo3(get)]
    question: Option<String>,
    /// When it was committed, in seconds since 1970 (UTC).
    #[pyo3(get)]
    at: Option<u64>,
    /// Who committed it; empty where nobody said so.
    #[pyo3(get)]
    by: String,
    /// Why; may be empty.
    #[pyo3(get)]
    note: String,
    /// Whether it is the last change of its commit.
    #[pyo3(get)]
    last: bool,
    /// The record as it is now, and a set's sentence, as JSON.
    records: [Option<String>; 2],
}

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
        format!("<Change {}: {} {} {}>", self.revision, self.action, self.kind, self.id)
    }

    /// With records: the record as it is now, in the form of JSON lines; None where it is gone.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        parsed(py, self.records[0].as_deref())
    }

    /// With records: the sentence of a set, likewise.
    #[getter]
    fn sentence_record<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        parsed(py, self.records[1].as_deref())
    }
}

fn parsed<'py>(py: Python<'py>, json: Option<&str>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(json) = json else { return Ok(None) };
    py.import("json")?.call_method1("loads", (json,)).map(Some)
}

impl Change {
    fn new(
        change: &store::Change,
        release: String,
        made: Option<&store::Commit>,
        records: [Option<String>; 2],
    ) -> Self {
        let subject = &change.subject;
        let told = |of: fn(&store::Commit) -> &String| made.map(of).cloned().unwrap_or_default();
        Self {
            revision: change.revision,
            action: change.action.as_str(),
            kind: subject.kind().as_str(),
            id: subject.id().unwrap_or_else(|| release.clone()),
            frame: subject.frame().map(|id| id.0),
            lu: subject.lexunit().map(|id| id.0),
            sentence: subject.sentence().map(|id| id.to_string()),
            reviewer: subject.reviewer().map(str::to_owned),
            question: subject.question().map(str::to_owned),
            at: made.map(|made| made.at),
            by: told(|made| &made.by),
            note: told(|made| &made.note),
            last: change.is_last,
            records,
            release,
        }
    }
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
    let releases = database.releases()?;
    let names: HashMap<ReleaseId, String> =
        releases.into_iter().map(|release| (release.id, release.name)).collect();
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
    let name = |id: ReleaseId| names.get(&id).cloned().unwrap_or_else(|| id.to_string());
    let mut lines = with_records.then(|| database.record_lines()).transpose()?;
    let (mut found, mut made) = (Vec::new(), None::<store::Commit>);
    for change in changes {
        let change = change?;
        if made.as_ref().is_none_or(|made| made.revision != change.revision) {
            made = database.commit_made(change.revision)?;
        }
        let records = match &mut lines {
            Some(lines) if change.action != store::Action::Removed => [
                lines.line(change.release, &change.subject)?,
                lines.sentence_of(change.release, &change.subject)?,
            ],
            _ => [None, None],
        };
        found.push(Change::new(&change, name(change.release), made.as_ref(), records));
    }
    Ok(found)
}
