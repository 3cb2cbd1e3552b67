//! What is done to a whole store: sets and releases that go, shards that come in, how long commits
//! can be taken back, the index, and backups that come back.

use std::ops::ControlFlow;
use std::path::PathBuf;

use fnstore::database::{DatabaseError, LookupError};
use fnstore::edit::Removed;
use fnstore::expand;
use fnstore::internals::WithStore as _;
use fnstore::lexicon;
use fnstore::query::Expression;
use fnstore::store::Retention;
use fnstore::upkeep;
use pyo3::prelude::*;

use crate::database::Database;
use crate::error::{Fault, Result};
use crate::expand::Teller;
use crate::number::Count;
use crate::upkeep::BackupReport;

/// What a deletion took away, or with dry_run would.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct DeletionReport {
    /// Annotation sets, those that grew from others among them.
    sets: u64,
    /// Proposed LUs that are then without a set.
    lus: u64,
    /// Names of LUs that people decided on and of whose sentences some are among the sets.
    decided: Vec<String>,
    /// The store's revision; None where nothing was written.
    revision: Option<u64>,
}

#[pymethods]
impl DeletionReport {
    fn __repr__(&self) -> String {
        format!("<DeletionReport {} sets, {} proposed LUs>", self.sets, self.lus)
    }
}

/// A shard that was taken.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct MergedShard {
    path: PathBuf,
    release: String,
    /// Its number, from 1.
    shard: u32,
    /// How many there are.
    of: u32,
    seeds: u64,
    sets: u64,
    /// Of these, sets that the store did not have.
    written: u64,
    /// Whether it was merged before and nothing was removed since, so that it was not read.
    skipped: bool,
}

#[pymethods]
impl MergedShard {
    fn __repr__(&self) -> String {
        format!("<MergedShard {} of {}: {} sets written>", self.shard, self.of, self.written)
    }
}

/// What two releases differ in.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Difference {
    /// `frame`, `fe`, `lu`, `relation` or `annotation`.
    kind: &'static str,
    /// `added`, `removed` or `changed`.
    change: &'static str,
    /// The frame; of a relation the sub frame.
    frame: String,
    name: String,
    /// What of it changed; None where the whole is new or gone.
    property: Option<&'static str>,
    before: Option<String>,
    after: Option<String>,
    /// Number of annotation sets; 1 of all else.
    count: u64,
}

#[pymethods]
impl Difference {
    fn __repr__(&self) -> String {
        let Self { kind, change, frame, name, .. } = self;
        format!("<Difference {change} {kind} {name} of {frame}>")
    }
}

impl From<lexicon::Difference> for Difference {
    fn from(of: lexicon::Difference) -> Self {
        Self {
            kind: of.kind.as_str(),
            change: of.change.as_str(),
            frame: of.frame,
            name: of.name,
            property: of.property,
            before: of.before,
            after: of.after,
            count: of.count,
        }
    }
}

/// Puts a store in the place of one, or where none is, from a directory that `db.backup` wrote. A
/// store that is there is an ExistsError, or with force replaced.
#[pyfunction]
#[pyo3(signature = (backup, path, *, force=false))]
pub(crate) fn restore(
    py: Python<'_>,
    backup: PathBuf,
    path: PathBuf,
    force: bool,
) -> Result<BackupReport> {
    if !force && fnstore::internals::store::Store::exists(&path) {
        let message = format!("there is a store in `{}`", path.display());
        return Err(Fault::new(
            "ExistsError",
            "S-exists",
            &message,
            "give force=True to replace it",
        ));
    }
    py.detach(|| Ok(upkeep::restore(&backup, &path)?.into()))
}

#[pymethods]
impl Database {
    /// Removes the generated annotation sets that a query finds, those that grew from them, and
    /// proposed LUs that are then without a set. With dry_run it says what would go.
    #[pyo3(signature = (expression, *, dry_run=false))]
    fn delete(&self, py: Python<'_>, expression: &str, dry_run: bool) -> Result<DeletionReport> {
        py.detach(|| {
            let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
            self.handle.write_for(&expression, |database| {
                let Some((release, sets)) = database.generated_found(&expression)? else {
                    let (decided, revision) = (Vec::new(), None);
                    return Ok(DeletionReport { sets: 0, lus: 0, decided, revision });
                };
                let mut edits = database.transaction(release)?;
                let Removed { sets, lexunits, decided, .. } = edits.remove_generated(&sets)?;
                let revision = if dry_run { None } else { Some(edits.commit()?) };
                let decided = decided.into_iter().collect();
                Ok(DeletionReport { sets, lus: lexunits, decided, revision })
            })
        })
    }

    /// Takes shards that `fnstore expand --shard` computed, each all of it or nothing. With mixed
    /// also those of several recipes or states of a store; with again also those that were merged
    /// before. progress is called with the shards that were taken and their number.
    #[pyo3(signature = (*paths, mixed=false, again=false, progress=None))]
    fn merge(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        mixed: bool,
        again: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<MergedShard>> {
        let mut teller = Teller::new(progress);
        let merged = py.detach(|| self.merge_all(&paths, (mixed, again), &mut teller));
        teller.end()?;
        Ok(merged?)
    }

    /// Removes a release with all annotation, or a WordNet. Gives the number of rows that went.
    fn remove_release(&self, py: Python<'_>, name: &str) -> Result<u64> {
        py.detach(|| {
            self.handle.write(|database| {
                let removed = match database.release(name) {
                    Ok(_) => database.remove_release(name)?,
                    Err(error @ DatabaseError::Lookup(LookupError::UnknownName { .. })) => {
                        database.resource(name).map_err(|_| error)?;
                        database.remove_resource(name)?
                    }
                    Err(error) => return Err(error.into()),
                };
                // The rows take their place on disk until files are packed again.
                database.store().compact().map_err(DatabaseError::from)?;
                Ok(removed)
            })
        })
    }

    /// What two releases differ in: frames, then FEs, LUs, relations and annotation.
    fn differences(&self, py: Python<'_>, before: &str, after: &str) -> Result<Vec<Difference>> {
        py.detach(|| {
            let found = self.handle.get()?.differences(before, after)?;
            Ok(found.into_iter().map(Difference::from).collect())
        })
    }

    /// Says how long commits can be taken back: the last so many commits, or those of the last
    /// days; with forever all of them. What falls out goes at once.
    #[pyo3(signature = (*, commits=None, days=None, forever=false))]
    fn keep_history(
        &self,
        py: Python<'_>,
        commits: Option<Count>,
        days: Option<Count>,
        forever: bool,
    ) -> Result<()> {
        let is_bounded = commits.is_some() || days.is_some();
        let is_zero = [commits, days].into_iter().flatten().any(|count| count.0 == 0);
        if is_bounded == forever || is_zero {
            let message = "history is kept by commits, by days, or forever";
            let advice = "give commits=N, days=N or both, from 1, or forever=True";
            return Err(Fault::new("NumberError", "E-number", message, advice));
        }
        let seconds = days.map(|days| days.0.saturating_mul(24 * 60 * 60));
        let retention = Retention { commits: commits.map(|count| count.0), seconds };
        py.detach(|| self.handle.write(|database| Ok(database.set_retention(retention)?)))
    }

    /// Makes the index anew out of the store. Gives the number of its entries.
    fn reindex(&self, py: Python<'_>) -> Result<u64> {
        py.detach(|| {
            let database = self.handle.get()?;
            let report = fnstore::Database::reindex(&self.handle.path)?;
            database.refresh()?;
            Ok(report.entries)
        })
    }
}

impl Database {
    fn merge_all(
        &self,
        paths: &[PathBuf],
        (mixed, again): (bool, bool),
        teller: &mut Teller,
    ) -> Result<Vec<MergedShard>> {
        let shards = expand::read_shards(paths, mixed).map_err(|mut wrong| {
            wrong.pop().expect("there is an error where there is no answer")
        })?;
        let query = shards.first().and_then(|(_, manifest)| manifest.query.parse().ok());
        let mut merged = Vec::new();
        self.handle.write_for(&query.unwrap_or(Expression::Everything), |database| {
            if !mixed {
                expand::require_seeds_of_shards(database, &shards)?;
            }
            for (path, manifest) in &shards {
                let written = match again {
                    true => Some(expand::merge_shard_again(database, path, manifest)?),
                    false => expand::merge_shard(database, path, manifest)?,
                };
                merged.push(MergedShard {
                    path: path.clone(),
                    release: manifest.release.clone(),
                    shard: manifest.shard.number,
                    of: manifest.shard.of,
                    seeds: manifest.seeds,
                    sets: manifest.sets,
                    written: written.unwrap_or(0),
                    skipped: written.is_none(),
                });
                let told = (merged.len(), shards.len());
                if teller.tell(|function| function.call1(told).map(drop)) == ControlFlow::Break(())
                {
                    break;
                }
            }
            Ok(())
        })?;
        Ok(merged)
    }
}
