//! `db.import_release(...)`: releases, JSON lines and other lexicons.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fnstore::Database;
use fnstore::framenet::WarningCode;
use fnstore::transfer::{ImportKind, ImportOptions, ImportProgress, JsonlImport, SpanImport};
use pyo3::prelude::*;

use crate::database;
use crate::error::{Fault, Result};
use crate::expand::Teller;

/// What an import did.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct ImportReport {
    /// Name of the release, or of the lexicon.
    release: String,
    /// Number of records by kind.
    counts: BTreeMap<String, u64>,
    /// What was odd, by code; none of it was dropped silently.
    warnings: BTreeMap<String, u64>,
}

#[pymethods]
impl ImportReport {
    fn __repr__(&self) -> String {
        let warnings: u64 = self.warnings.values().sum();
        format!("<ImportReport {}: {warnings} warnings>", self.release)
    }
}

impl ImportReport {
    fn new(release: String, counts: impl IntoIterator<Item = (String, u64)>) -> Self {
        Self { release, counts: counts.into_iter().collect(), warnings: BTreeMap::new() }
    }
}

/// Refuses options that would not do what they say.
fn require_fitting(path: &Path, kind: ImportKind, options: &ImportOptions) -> Result<()> {
    let has_own_language = kind == ImportKind::Records && options.language.is_some();
    let (option, what) = match () {
        () if options.strict && kind != ImportKind::Framenet => ("strict", "no XML of FrameNet"),
        () if has_own_language => ("language", "an export, which says its language itself"),
        () => return Ok(()),
    };
    let message = format!("`{option}` has no use with `{}`: it is {what}", path.display());
    Err(Fault::new("ImportFailedError", "I-option", &message, "leave it out"))
}

fn import(
    writer: &Database,
    (path, kind, options): (&Path, ImportKind, &ImportOptions),
    teller: &mut Teller,
) -> Result<ImportReport> {
    let of = path.metadata().map_or(0, |metadata| metadata.len());
    let mut told = |bytes: u64| {
        // What reads lines is not stopped in between.
        let _ = teller.tell(|function| function.call1((bytes, of)).map(drop));
    };
    match kind {
        ImportKind::Framenet => {
            let report = writer.import_with(path, options, &mut |at: ImportProgress| {
                teller.tell(|function| function.call1((at.files, at.of)).map(drop))
            })?;
            let counts = report.release.counts.named();
            let counts = counts.into_iter().map(|(kind, count)| (kind.to_owned(), count));
            let named = |(code, count, _): (WarningCode, u64, _)| (code.to_string(), count);
            let warnings = report.warnings.iter().map(named).collect();
            Ok(ImportReport { warnings, ..ImportReport::new(report.release.name, counts) })
        }
        ImportKind::Records => {
            let JsonlImport { release, written, .. } =
                writer.import_jsonl(path, options.release.as_deref(), &mut told)?;
            let counts = written.into_iter().map(|(kind, count)| (kind.as_str().to_owned(), count));
            Ok(ImportReport::new(release.name, counts))
        }
        ImportKind::Spans => {
            let SpanImport { release, texts, types, lexunits, .. } =
                writer.import_spans(path, options, &mut told)?;
            let counts = [
                ("frames", types.len() as u64),
                ("lexunits", lexunits),
                ("sentences", texts),
                ("sets", types.values().sum()),
            ];
            let counts = counts.map(|(kind, count)| (kind.to_owned(), count));
            Ok(ImportReport::new(release.name, counts))
        }
        ImportKind::Resource(_) => {
            let resource = writer.import_resource(path, options)?;
            let counts = resource.counts.named();
            let counts = counts.into_iter().map(|(kind, count)| (kind.to_owned(), count));
            Ok(ImportReport::new(resource.name, counts))
        }
    }
}

#[pymethods]
impl database::Database {
    /// Imports a release from a zip file or a directory, an export or span-labelled texts as JSON
    /// lines, or another lexicon; all of it or nothing. With spans, lines are span-labelled texts
    /// whatever they look like. progress is called with files read and files to read; of lines,
    /// with bytes.
    #[pyo3(signature = (path, *, release=None, language=None, spans=false, strict=false,
                        progress=None))]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn import_release(
        &self,
        py: Python<'_>,
        path: PathBuf,
        release: Option<String>,
        language: Option<String>,
        spans: bool,
        strict: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<ImportReport> {
        let options = ImportOptions { release, language, strict, ..ImportOptions::default() };
        let mut teller = Teller::new(progress);
        let report = py.detach(|| {
            let kind = match spans {
                true => ImportKind::Spans,
                false => ImportKind::of(&path).map_err(|error| {
                    let message = format!("cannot read `{}`: {error}", path.display());
                    Fault::new(
                        "ImportFailedError",
                        "E-read",
                        &message,
                        "give a file that can be read",
                    )
                })?,
            };
            require_fitting(&path, kind, &options)?;
            self.handle.write(|writer| import(writer, (&path, kind, &options), &mut teller))
        });
        teller.end()?;
        Ok(report?)
    }
}
