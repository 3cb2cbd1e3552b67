//! Import and expansion: what takes long, without the interpreter's lock, and ends on Ctrl-C.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fnstore::compute::{Device, DeviceChoice, GpuOptions};
use fnstore::database::{Database, DatabaseError};
use fnstore::expand::{
    self, ExpandError, Guidance, GuideModels, Models, Recipe, RecipeSettings, RewriterSource,
    RunOptions,
};
use fnstore::models::{default_rewriter, find};
use fnstore::query::Expression;
use fnstore::transfer::{self, ImportOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Fault, Result};
use crate::handle::Handle;

/// How far an expansion is.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Progress {
    /// Annotation sets that are finished.
    seeds: u64,
    /// Annotation sets that match.
    of: u64,
    /// Sentences written in this run.
    sentences: u64,
}

#[pymethods]
impl Progress {
    fn __repr__(&self) -> String {
        format!("<Progress {} of {}, {} sentences>", self.seeds, self.of, self.sentences)
    }
}

/// What an expansion did.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct ExpansionReport {
    /// Number of the recipe in the store.
    recipe: u32,
    /// Human annotation sets that match.
    seeds: u64,
    /// Those that were through all rounds before this run.
    done_before: u64,
    /// Those that the limit left to a later run.
    left: u64,
    /// Sentences written.
    sentences: u64,
    new_triggers: u64,
    /// New (Frame, Trigger) pairs.
    new_pairs: u64,
    proposed_lus: u64,
    /// Sentences written by flag.
    flags: BTreeMap<&'static str, u64>,
    /// Other sets of the seeds' sentences that stand in the new ones, too.
    carried: u64,
    /// Those that do not, by reason.
    dropped: BTreeMap<&'static str, u64>,
    /// Sets without any new sentence by reason.
    unproductive: BTreeMap<&'static str, u64>,
    /// Seconds from the first sentence to the last commit.
    seconds: f64,
}

#[pymethods]
impl ExpansionReport {
    fn __repr__(&self) -> String {
        let Self { sentences, seeds, new_triggers, .. } = self;
        format!(
            "<ExpansionReport {sentences} sentences of {seeds} sets, {new_triggers} new triggers>"
        )
    }
}

/// What an import did.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct ImportReport {
    /// Name of the release.
    release: String,
    /// Number of records by kind.
    counts: BTreeMap<&'static str, u64>,
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

/// A caller's function that is told how far something is.
pub(crate) struct Teller {
    function: Option<Py<PyAny>>,
    /// What it raised, or Ctrl-C.
    raised: Option<PyErr>,
}

impl Teller {
    pub(crate) fn new(function: Option<Py<PyAny>>) -> Self {
        Self { function, raised: None }
    }

    /// What it raised, if it did.
    pub(crate) fn end(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }

    /// Tells; says whether to go on. After an error it tells no more.
    pub(crate) fn tell(
        &mut self,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
    ) -> ControlFlow<()> {
        if self.raised.is_none() {
            let told = Python::attach(|py| {
                py.check_signals()?;
                self.function.as_ref().map_or(Ok(()), |function| call(function.bind(py)))
            });
            self.raised = told.err();
        }
        match self.raised {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    }
}

pub(crate) fn import(
    py: Python<'_>,
    handle: &Arc<Handle>,
    path: PathBuf,
    (options, progress): (ImportOptions, Option<Py<PyAny>>),
) -> PyResult<ImportReport> {
    let mut teller = Teller::new(progress);
    let report = py.detach(|| {
        handle.write(|database| {
            Ok(database.import_with(&path, &options, &mut |at: transfer::ImportProgress| {
                teller.tell(|function| function.call1((at.files, at.of)).map(drop))
            })?)
        })
    });
    teller.end()?;
    let report = report?;
    let named =
        |(code, count, _): (fnstore::framenet::WarningCode, u64, _)| (code.to_string(), count);
    Ok(ImportReport {
        release: report.release.name,
        counts: report.release.counts.named().into_iter().collect(),
        warnings: report.warnings.iter().map(named).collect(),
    })
}

/// Where a model of a name is.
pub(crate) fn model(name: &Path, models: &[PathBuf]) -> Result<PathBuf> {
    find(name, models).ok_or_else(|| {
        let (name, searched) = (name.display().to_string(), models.to_vec());
        Fault::from(ExpandError::ModelMissing { name, searched })
    })
}

/// What `db.expand` is told beside the expression.
pub(crate) struct Wishes {
    pub(crate) settings: RecipeSettings,
    pub(crate) recipe: Option<String>,
    pub(crate) model: Option<PathBuf>,
    pub(crate) models: Vec<PathBuf>,
    pub(crate) filter: Option<PathBuf>,
    pub(crate) device: String,
    pub(crate) limit: Option<usize>,
    pub(crate) any_language: bool,
}

impl Wishes {
    /// The recipe and how far it is followed: what is asked for, then what the named recipe says,
    /// then the defaults.
    fn recipe(&self) -> Result<(Recipe, RunOptions)> {
        let dirs = &self.models;
        let name = match &self.model {
            Some(name) => name.clone(),
            None => default_rewriter(dirs)?.0.into(),
        };
        let found = |name: &PathBuf| model(name, dirs);
        let rewriter = RewriterSource::in_directory(found(&name)?, dirs)?;
        let mut models = Models::search_with(rewriter, dirs)?;
        let named = self.recipe.as_deref().map(RecipeSettings::open).transpose()?;
        let settings = self.settings.or(named.unwrap_or_default());
        match settings.guide {
            Some(Guidance::None) => models.guide = None,
            Some(_) => models.guide = Some(GuideModels::search(dirs)?),
            None => {}
        }
        if let Some(name) = &self.filter {
            let is_none = name.as_os_str() == "none";
            models.filter = (!is_none).then(|| found(name)).transpose()?;
        }
        let (mut recipe, mut options) = (Recipe::new(models), RunOptions::default());
        settings.apply(&mut recipe, &mut options);
        options.seed_limit = self.limit;
        recipe.check()?;
        options.check()?;
        let choice: DeviceChoice = self.device.parse().unwrap_or(DeviceChoice::Auto);
        let device = Device::open(&choice, &GpuOptions::default());
        options.device = device.map_err(|error| {
            Fault::new("ExpandError", "G-device", &error.to_string(), "give device=\"cpu\"")
        })?;
        Ok((recipe, options))
    }
}

pub(crate) fn expand(
    py: Python<'_>,
    handle: &Arc<Handle>,
    expression: &str,
    (wishes, progress): (Wishes, Option<Py<PyAny>>),
) -> PyResult<ExpansionReport> {
    let mut teller = Teller::new(progress);
    let report = py.detach(|| {
        let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
        let (recipe, options) = wishes.recipe()?;
        handle.write(|database: &Database| {
            database.allow_any_language(wishes.any_language);
            Ok(expand::run_with(database, &expression, (&recipe, &options), &mut |at| {
                let told = Progress { seeds: at.seeds, of: at.of, sentences: at.sentences };
                teller.tell(|function| function.call1((told,)).map(drop))
            })?)
        })
    });
    teller.end()?;
    let report = report?;
    let named = |(reason, count): (expand::EndReason, u64)| (reason.as_str(), count);
    Ok(ExpansionReport {
        recipe: report.recipe.0,
        seeds: report.seeds,
        done_before: report.done_before,
        left: report.left,
        sentences: report.sentences,
        new_triggers: report.new_triggers,
        new_pairs: report.new_pairs,
        proposed_lus: report.proposed_lexunits,
        flags: report.flags,
        carried: report.carried.found,
        dropped: report
            .carried
            .dropped
            .into_iter()
            .map(|(of, count)| (of.as_str(), count))
            .collect(),
        unproductive: report.unproductive.into_iter().map(named).collect(),
        seconds: report.elapsed.as_secs_f64(),
    })
}

/// Settings of a recipe by the names that its file has.
pub(crate) fn settings(options: Option<&Bound<'_, PyDict>>) -> PyResult<RecipeSettings> {
    let Some(options) = options else { return Ok(RecipeSettings::default()) };
    let named = PyDict::new(options.py());
    for (name, value) in options {
        named.set_item(name.extract::<String>()?.replace('_', "-"), value)?;
    }
    let json = options.py().import("json")?.call_method1("dumps", (named,))?;
    Ok(serde_json::from_str(&json.extract::<String>()?).map_err(|error| {
        Fault::new(
            "ExpandError",
            "X-setting",
            &format!("cannot use the settings: {error}"),
            "docs/concepts/recipes.md lists the settings of a recipe",
        )
    })?)
}
