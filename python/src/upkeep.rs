//! Whether a store is whole, copies of it, and what a verifier says of its sets.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use fnstore::upkeep::{self, CheckOptions};
use pyo3::prelude::*;

use crate::error::Result;
use crate::expand::Teller;
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
    Ok(handle.get()?.backup(path)?.into())
}

impl From<upkeep::BackupManifest> for BackupReport {
    fn from(of: upkeep::BackupManifest) -> Self {
        let upkeep::BackupManifest { revision, releases, rows, bytes, .. } = of;
        Self { revision, releases, rows, bytes }
    }
}

/// Something that stands in two parts of the data.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Leak {
    /// `L-text`, or `L-seed` of a generated set whose seed's sentence stands in another part.
    code: &'static str,
    part: &'static str,
    release: String,
    set: String,
    /// Sets that the text has in this part.
    sets: u64,
    other_part: &'static str,
    other_release: String,
    other_set: String,
    other_sets: u64,
    text: String,
}

#[pymethods]
impl Leak {
    fn __repr__(&self) -> String {
        let Self { code, part, other_part, text, .. } = self;
        format!("<Leak {code} {part} {other_part}: {text:?}>")
    }
}

/// What stands in two parts.
pub(crate) fn leaks(handle: &Arc<Handle>) -> Result<Vec<Leak>> {
    let database = handle.get()?;
    let releases = database.releases()?;
    let name = |id| {
        let of = releases.iter().find(|release| release.id == id);
        of.map_or_else(String::new, |release| release.name.clone())
    };
    let leak = |of: upkeep::Leak| Leak {
        code: of.kind.as_str(),
        part: of.first.0.as_str(),
        release: name(of.first.1),
        set: of.first.2.to_string(),
        sets: of.sets.0,
        other_part: of.second.0.as_str(),
        other_release: name(of.second.1),
        other_set: of.second.2.to_string(),
        other_sets: of.sets.1,
        text: of.text,
    };
    Ok(database.leaks()?.into_iter().map(leak).collect())
}
