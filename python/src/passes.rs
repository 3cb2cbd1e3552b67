//! Passes over sets that are there, which write what models say of them: `db.verify`, `db.fit`,
//! `db.filter`. Each goes on where it was stopped.

use std::ops::ControlFlow;
use std::path::PathBuf;

use fnstore::database::DatabaseError;
use fnstore::expand;
use fnstore::internals::filter::Filter;
use fnstore::internals::identify::FrameIdentifier;
use fnstore::query::Expression;
use pyo3::prelude::*;

use crate::database::{Database, directories};
use crate::error::Result;
use crate::expand::{Teller, model};
use crate::models::Places;

/// What became of sets of which a model was asked.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct VerificationReport {
    /// Sets that were looked at.
    sets: u64,
    /// Sets whose answers were written; the others had them already.
    written: u64,
    /// Sets that could not be asked about: the target is empty, or the sentence too long.
    without: u64,
}

#[pymethods]
impl VerificationReport {
    fn __repr__(&self) -> String {
        format!("<VerificationReport {} sets, {} written>", self.sets, self.written)
    }
}

/// What a filter says of generated sets.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct FilterReport {
    /// Sets that were looked at.
    sets: u64,
    /// Sets whose scores were written; the others had them already.
    written: u64,
    /// Score from which on the filter for precision keeps a set, as in `p>=0.78`.
    precision_cut: f32,
    /// How many it keeps.
    by_precision: u64,
    recall_cut: f32,
    by_recall: u64,
}

#[pymethods]
impl FilterReport {
    fn __repr__(&self) -> String {
        format!("<FilterReport {} sets, {} written>", self.sets, self.written)
    }
}

type Working<'w> = &'w mut dyn FnMut(u64) -> ControlFlow<()>;

impl Database {
    /// Works on the sets that an expression finds, with what `open` opens.
    fn pass<M, T>(
        &self,
        py: Python<'_>,
        (expression, any_language): (&str, bool),
        progress: Option<Py<PyAny>>,
        open: impl FnOnce() -> Result<M> + Send,
        work: impl FnOnce(&fnstore::Database, &Expression, M, Working<'_>) -> Result<T> + Send,
    ) -> PyResult<T>
    where
        T: Send,
    {
        let mut teller = Teller::new(progress);
        let done = py.detach(|| {
            let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
            // Before the models, which take seconds: a name may be wrong.
            self.handle.get()?.count(&expression)?;
            let models = open()?;
            self.handle.write_for(&expression, |database| {
                database.allow_any_language(any_language);
                work(database, &expression, models, &mut |sets| {
                    teller.tell(|function| function.call1((sets,)).map(drop))
                })
            })
        });
        teller.end()?;
        Ok(done?)
    }
}

#[pymethods]
impl Database {
    /// Asks a verifier of the sets for which a query holds: `evokes`, `same_meaning` and `reverse`
    /// of queries. What was asked the same before is not asked again; progress is called with the
    /// sets that were looked at.
    #[pyo3(signature = (expression, *, verifier=PathBuf::from("verifier"), rewriter=None,
                        models=None, device="cpu", numbers=None, any_language=false,
                        progress=None),
           text_signature = "($self, expression, *, verifier='verifier', rewriter=None, \
                             models=None, device='cpu', numbers=None, any_language=False, \
                             progress=None)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn verify(
        &self,
        py: Python<'_>,
        expression: &str,
        verifier: PathBuf,
        rewriter: Option<PathBuf>,
        models: Option<PathBuf>,
        device: &str,
        numbers: Option<&str>,
        any_language: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<VerificationReport> {
        let dirs = directories(py, models)?;
        let open = || Places::new(dirs, device, numbers)?.judges(&verifier, rewriter.as_deref());
        let asked = (expression, any_language);
        let done = self.pass(py, asked, progress, open, |database, of, mut judges, progress| {
            Ok(expand::verify(database, of, &mut judges, progress)?)
        })?;
        let expand::Verified { sets, written, without, .. } = done;
        Ok(VerificationReport { sets, written, without })
    }

    /// Has the frame model say how likely the frames of the generated sets are for which a query
    /// holds: `frame_fit` of queries. progress is called with the sets that were looked at.
    #[pyo3(signature = (expression, *, identifier=PathBuf::from("frames"), encoder=None,
                        models=None, device="cpu", any_language=false, progress=None),
           text_signature = "($self, expression, *, identifier='frames', encoder=None, \
                             models=None, device='cpu', any_language=False, progress=None)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn fit(
        &self,
        py: Python<'_>,
        expression: &str,
        identifier: PathBuf,
        encoder: Option<PathBuf>,
        models: Option<PathBuf>,
        device: &str,
        any_language: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<VerificationReport> {
        let dirs = directories(py, models)?;
        let open = || {
            let places = Places::new(dirs, device, None)?;
            let model = places.model(&identifier)?;
            let encoder = places.encoder(encoder.as_deref(), &model)?;
            Ok(FrameIdentifier::open(&model, &encoder, &places.device)?)
        };
        let asked = (expression, any_language);
        let done = self.pass(py, asked, progress, open, |database, of, identifier, progress| {
            Ok(expand::refit(database, of, &identifier, progress)?)
        })?;
        let expand::Refitted { sets, written, without, .. } = done;
        Ok(VerificationReport { sets, written, without })
    }

    /// Has a filter score the generated sets for which a query holds: `p` and `r` of queries.
    /// progress is called with the sets that were looked at.
    #[pyo3(signature = (expression, *, filter=PathBuf::from("filter"), models=None,
                        progress=None),
           text_signature = "($self, expression, *, filter='filter', models=None, \
                             progress=None)")]
    fn filter(
        &self,
        py: Python<'_>,
        expression: &str,
        filter: PathBuf,
        models: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<FilterReport> {
        let dirs = directories(py, models)?;
        let open = || Ok(Filter::open(&model(&filter, &dirs)?)?);
        let done = self.pass(
            py,
            (expression, false),
            progress,
            open,
            |database, of, filter, progress| Ok(expand::rescore(database, of, &filter, progress)?),
        )?;
        Ok(FilterReport {
            sets: done.kept.scored,
            written: done.written,
            precision_cut: done.kept.precision_cut,
            by_precision: done.kept.by_precision,
            recall_cut: done.kept.recall_cut,
            by_recall: done.kept.by_recall,
        })
    }
}
