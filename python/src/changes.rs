//! What commits did: the list of changes, and which store it is of.

use std::collections::HashMap;

use fnstore::database::Database;
use fnstore::model::ReleaseId;
use fnstore::store;
use pyo3::prelude::*;

use crate::error::Result;

/// What a commit did to a record.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Change {
    /// Number of the commit.
    revision: u64,
    /// Name of the release; its number if it was removed since.
    release: String,
    /// `added`, `edited` or `removed`.
    action: &'static str,
    /// What it is, as in `set`.
    kind: &'static str,
    /// Its id or name.
    id: String,
    /// Frame of an LU, a set or a decision.
    frame: Option<u32>,
    /// LU of a set.
    lu: Option<u32>,
    /// Sentence of a set or of layers.
    sentence: Option<String>,
    /// Whose judgement it is.
    reviewer: Option<String>,
    /// Whether it is the last change of its commit.
    last: bool,
}

#[pymethods]
impl Change {
    fn __repr__(&self) -> String {
        format!("<Change {}: {} {} {}>", self.revision, self.action, self.kind, self.id)
    }
}

impl Change {
    fn new(change: store::Change, release: String) -> Self {
        let subject = &change.subject;
        Self {
            revision: change.revision,
            action: change.action.as_str(),
            kind: subject.kind().as_str(),
            id: subject.id().unwrap_or_else(|| release.clone()),
            frame: subject.frame().map(|id| id.0),
            lu: subject.lexunit().map(|id| id.0),
            sentence: subject.sentence().map(|id| id.to_string()),
            reviewer: subject.reviewer().map(str::to_owned),
            last: change.is_last,
            release,
        }
    }
}

/// What was committed after a revision, of one release or of all.
pub(crate) fn since(
    database: &Database,
    since: u64,
    release: Option<&str>,
    generation: Option<&str>,
) -> Result<Vec<Change>> {
    database.refresh()?;
    if let Some(generation) = generation {
        database.require_generation(generation)?;
    }
    let releases = database.releases()?;
    let names: HashMap<ReleaseId, String> =
        releases.into_iter().map(|release| (release.id, release.name)).collect();
    let changes: Box<dyn Iterator<Item = _>> = match release {
        Some(name) => Box::new(database.changes_of(database.release(name)?.id, since)?),
        None => Box::new(database.changes(since)?),
    };
    let name = |id: ReleaseId| names.get(&id).cloned().unwrap_or_else(|| id.to_string());
    let named = |change: store::Change| {
        let release = name(change.release);
        Change::new(change, release)
    };
    changes.map(|change| Ok(change.map(named)?)).collect()
}
