//! A transaction: edits, each checked as it is made, committed together. `fnstore/_edits.py` gives
//! them names.

use std::sync::Arc;

use fnstore::database::Database;
use fnstore::edit::Script;
use pyo3::prelude::*;

use crate::error::Result;
use crate::handle::Handle;
use crate::worker::Worker;

enum Step {
    /// An edit as a line of JSON, as `schema/edit.md` has it.
    Edit(String),
    Commit,
}

/// What a step gives: the id of a record, or the revision.
enum Outcome {
    Began,
    Id(String),
    Revision(u64),
}

/// Edits of one release. It holds the writer's lock from its beginning to its end.
#[pyclass(frozen, module = "fnstore._fnstore")]
pub(crate) struct Edits {
    handle: Arc<Handle>,
    worker: Worker<Step, Outcome>,
}

impl Edits {
    pub(crate) fn begin(
        handle: &Arc<Handle>,
        release: String,
        (reviewer, now, note): (Option<String>, u64, String),
    ) -> Result<Self> {
        // A handle that was closed begins nothing.
        handle.get()?;
        let path = handle.path.clone();
        let (worker, _) = Worker::start(move |asked, answers| {
            let database = Database::open_existing_writer(&path)?;
            if let Some(reviewer) = &reviewer {
                database.set_author(reviewer);
            }
            let mut edits = database.transaction(database.release(&release)?.id)?;
            edits.explain(&note);
            let _ = answers.send(Ok(Outcome::Began));
            let mut script = Script::new(&mut edits, reviewer, now);
            for step in asked {
                let Step::Edit(line) = step else {
                    let revision = edits.commit()?;
                    database.close()?;
                    let _ = answers.send(Ok(Outcome::Revision(revision)));
                    return Ok(());
                };
                let mut id = String::new();
                let done = script.edit(line.as_bytes(), &mut |done| id = done.id);
                let _ = answers.send(done.map(|()| Outcome::Id(id)).map_err(Into::into));
            }
            Ok(())
        })?;
        Ok(Self { handle: Arc::clone(handle), worker })
    }
}

#[pymethods]
impl Edits {
    /// Makes an edit; gives the id of its record.
    fn edit(&self, py: Python<'_>, line: String) -> Result<String> {
        match py.detach(|| self.worker.ask(Step::Edit(line)))? {
            Outcome::Id(id) => Ok(id),
            Outcome::Began | Outcome::Revision(_) => Ok(String::new()),
        }
    }

    /// Commits; gives the store's revision.
    fn commit(&self, py: Python<'_>) -> Result<u64> {
        py.detach(|| {
            let outcome = self.worker.ask(Step::Commit);
            self.worker.end();
            let outcome = outcome?;
            self.handle.get()?.refresh()?;
            Ok(if let Outcome::Revision(revision) = outcome { revision } else { 0 })
        })
    }

    /// Ends it; nothing is written.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| self.worker.end());
    }
}
