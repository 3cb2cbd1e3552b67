//! Whether a store is whole, copies of it, and what a verifier says of its sets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fnstore::compute::{Device, Numbers};
use fnstore::database::DatabaseError;
use fnstore::expand::{self, ExpandError, Judges};
use fnstore::models::{ADAPTER, VERIFIER};
use fnstore::paraphrase::{Paraphraser, base_of};
use fnstore::query::Expression;
use fnstore::upkeep::{self, CheckOptions};
use pyo3::prelude::*;

use crate::error::Result;
use crate::expand::{Teller, model};
use crate::handle::Handle;

/// Something that is wrong with a store.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Finding {
    /// As in `C-span`; schema/check.md lists them.
    code: &'static str,
    meaning: &'static str,
    /// How often it was found.
    count: u64,
    /// The first of them.
    examples: Vec<String>,
}

#[pymethods]
impl Finding {
    fn __repr__(&self) -> String {
        format!("<Finding {}, {} times: {}>", self.code, self.count, self.meaning)
    }
}

/// What a check saw; true where nothing is wrong.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct CheckReport {
    revision: u64,
    /// Rows that were read, by family.
    rows: BTreeMap<&'static str, u64>,
    /// Entries of the index; None where there is no index that opens.
    index_entries: Option<u64>,
    /// Commits that the index is behind the store.
    index_behind: u64,
    findings: Vec<Py<Finding>>,
}

#[pymethods]
impl CheckReport {
    fn __bool__(&self) -> bool {
        self.findings.is_empty()
    }

    fn __repr__(&self) -> String {
        match self.findings.len() {
            0 => format!("<CheckReport: whole at revision {}>", self.revision),
            found => format!("<CheckReport: {found} kinds of findings>"),
        }
    }
}

/// Reads every row.
pub(crate) fn check(
    py: Python<'_>,
    handle: &Arc<Handle>,
    (deep, progress): (bool, Option<Py<PyAny>>),
) -> PyResult<CheckReport> {
    let mut teller = Teller::new(progress);
    let report = py.detach(|| {
        let mut tell = |rows: u64| teller.tell(|function| function.call1((rows,)).map(drop));
        let database = handle.get()?;
        Result::Ok(database.check(CheckOptions { deep }, &mut |rows| {
            let _ = tell(rows);
        })?)
    });
    teller.end()?;
    let upkeep::CheckReport { revision, rows, index_entries, index_behind, findings, .. } = report?;
    let finding = |(code, count, examples): (upkeep::CheckCode, u64, &[upkeep::Finding])| {
        let examples = examples.iter().map(|of| format!("{}: {}", of.family, of.detail));
        let (code, meaning) = (code.as_str(), code.meaning());
        Py::new(py, Finding { code, meaning, count, examples: examples.collect() })
    };
    let findings = findings.iter().map(finding).collect::<PyResult<_>>()?;
    Ok(CheckReport { revision, rows, index_entries, index_behind, findings })
}

/// What a backup holds.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct BackupReport {
    revision: u64,
    /// Names of the releases in it.
    releases: Vec<String>,
    rows: u64,
    bytes: u64,
}

#[pymethods]
impl BackupReport {
    fn __repr__(&self) -> String {
        format!("<BackupReport {} rows at revision {}>", self.rows, self.revision)
    }
}

/// Copies the store as it is now.
pub(crate) fn backup(handle: &Arc<Handle>, path: &Path) -> Result<BackupReport> {
    let upkeep::BackupManifest { revision, releases, rows, bytes, .. } =
        handle.get()?.backup(path)?;
    Ok(BackupReport { revision, releases, rows, bytes })
}

/// What became of sets of which a verifier was asked.
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

/// Asks a verifier of the sets that a query finds.
pub(crate) fn verify(
    py: Python<'_>,
    handle: &Arc<Handle>,
    (expression, models): (&str, &[PathBuf]),
    progress: Option<Py<PyAny>>,
) -> PyResult<VerificationReport> {
    let mut teller = Teller::new(progress);
    let report = py.detach(|| {
        let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
        // Before the models, which take seconds: a name may be wrong.
        handle.get()?.count(&expression)?;
        let mut judges = judges(models)?;
        handle.write(|database| {
            Ok(expand::verify(database, &expression, &mut judges, &mut |sets| {
                teller.tell(|function| function.call1((sets,)).map(drop))
            })?)
        })
    });
    teller.end()?;
    let expand::Verified { sets, written, without, .. } = report?;
    Ok(VerificationReport { sets, written, without })
}

/// The verifier, and beside it the rewriter where that is at hand.
fn judges(models: &[PathBuf]) -> Result<Judges> {
    let (device, numbers) = (Device::cpu(), Numbers::default());
    let rewriter = || -> Result<Paraphraser> {
        let adapter = model(Path::new(ADAPTER), models)?;
        let base = base_of(&adapter, models).map_err(ExpandError::from)?;
        let opened = Paraphraser::open_with(&adapter, base.as_deref(), &device, numbers);
        Ok(opened.map_err(ExpandError::from)?)
    };
    let rewriter = rewriter().ok();
    let verifier = model(Path::new(VERIFIER), models)?;
    let base = base_of(&verifier, models).map_err(ExpandError::from)?;
    // Every verifier is an adapter: one without a base is none.
    let base = base.map_or_else(|| model(Path::new(VERIFIER), &[]), Ok)?;
    let judges = Judges::open((&verifier, &base), rewriter, (&device, numbers));
    Ok(judges.map_err(ExpandError::from)?)
}
