//! Expansion: what takes long, without the interpreter's lock, and ends on Ctrl-C.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fnstore::database::{Database, DatabaseError};
use fnstore::expand::{
    self, BlindTo, ExpandError, FromSisters, Guidance, GuideModels, Models, Recipe, RecipeSettings,
    RewriterSource, RunOptions, VerifierModels,
};
use fnstore::internals::paraphrase::base_of;
use fnstore::models::{default_rewriter, find};
use fnstore::query::Expression;
use fnstore::search::Sampling;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::database::{self, directories};
use crate::editions::sampling;
use crate::error::{Fault, Result};
use crate::handle::Handle;
use crate::models::device;
use crate::number::Count;

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

    /// Says whether to go on, and tells nothing.
    pub(crate) fn check(&mut self) -> ControlFlow<()> {
        if self.raised.is_none() {
            self.raised = Python::attach(|py| py.check_signals()).err();
        }
        match self.raised {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
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

/// Where a model of a name is.
pub(crate) fn model(name: &Path, models: &[PathBuf]) -> Result<PathBuf> {
    find(name, models).ok_or_else(|| {
        let (name, searched) = (name.display().to_string(), models.to_vec());
        Fault::from(ExpandError::ModelMissing { name, searched })
    })
}

/// What `db.expand` is told beside the expression.
struct Wishes {
    settings: RecipeSettings,
    recipe: Option<String>,
    model: Option<PathBuf>,
    models: Vec<PathBuf>,
    filter: Option<PathBuf>,
    verifier: Option<PathBuf>,
    from_sisters: bool,
    blind_to: Option<String>,
    redo: bool,
    sampling: Option<Sampling>,
    device: String,
    limit: Option<usize>,
    any_language: bool,
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
        let mut named = named.unwrap_or_default();
        // A smaller beam than the recipe's has fewer outputs to look at.
        if let (Some(candidates), Some(beam)) = (named.candidates, self.settings.beam) {
            named.candidates = Some(candidates.min(beam));
        }
        let settings = self.settings.or(named);
        match settings.guide {
            Some(Guidance::None) => models.guide = None,
            Some(_) => models.guide = Some(GuideModels::search(dirs)?),
            None => {}
        }
        if let Some(name) = &self.filter {
            let is_none = name.as_os_str() == "none";
            models.filter = (!is_none).then(|| found(name)).transpose()?;
        }
        if let Some(name) = &self.verifier {
            let adapter = found(name)?;
            let base = base_of(&adapter, dirs)?.map_or_else(|| model(name, &[]), Ok)?;
            models.verifier = Some(VerifierModels { adapter, base });
        }
        let (mut recipe, mut options) = (Recipe::new(models), RunOptions::default());
        settings.apply(&mut recipe, &mut options);
        options.seed_limit = self.limit;
        options.verify = self.verifier.is_some();
        recipe.check()?;
        options.check()?;
        options.device = device(&self.device)?;
        Ok((recipe, options))
    }
}

/// What is expanded: all that an expression finds, or a sample of it. What the recipe is blind to
/// is read under the same list.
fn seeds(
    database: &Database,
    expression: Expression,
    (recipe, wishes): (&mut Recipe, &Wishes),
) -> Result<Expression> {
    let mut expression = expression;
    if wishes.from_sisters {
        let from_sisters = FromSisters::of(database, &expression)?;
        expression = from_sisters.seeds().clone();
        recipe.from_sisters = Some(from_sisters);
        recipe.check()?;
    }
    if let Some(query) = &wishes.blind_to {
        let query = Expression::parse(query).map_err(DatabaseError::from)?;
        recipe.blind_to = Some(BlindTo::new(query, database.split_list().map(AsRef::as_ref)));
    }
    let Some(sampling) = &wishes.sampling else { return Ok(expression) };
    // What was generated is no seed, and takes no place in the sample.
    let human = Expression::parse(expand::SEEDS).map_err(DatabaseError::from)?;
    let all = Expression::all_of([expression, human]).map_err(DatabaseError::from)?;
    Ok(database.sample(&all, sampling)?.expression)
}

fn expand(
    py: Python<'_>,
    handle: &Arc<Handle>,
    expression: &str,
    (wishes, progress): (Wishes, Option<Py<PyAny>>),
) -> PyResult<ExpansionReport> {
    let mut teller = Teller::new(progress);
    let report = py.detach(|| {
        let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
        let (mut recipe, options) = wishes.recipe()?;
        let blind_to = wishes.blind_to.as_deref().map(Expression::parse).transpose();
        let listed = blind_to.map_err(DatabaseError::from)?;
        // Where the seeds name no list, what is held out may.
        let listed = match handle.get()?.split_list_for(&expression)? {
            Some(_) => expression.clone(),
            None => listed.unwrap_or_else(|| expression.clone()),
        };
        handle.write_for(&listed, |database: &Database| {
            database.allow_any_language(wishes.any_language);
            let expression = seeds(database, expression, (&mut recipe, &wishes))?;
            if wishes.redo {
                expand::forget(database, &expression, (&recipe, &options))?;
            }
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
fn settings(options: Option<&Bound<'_, PyDict>>) -> PyResult<RecipeSettings> {
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

#[pymethods]
impl database::Database {
    /// Writes new annotated sentences from the human ones that a query finds. Run again it goes on
    /// where it was stopped, by Ctrl-C or otherwise; progress is called with a Progress. Settings
    /// are those of a recipe's file: rounds, beam, candidates, max_pieces, words, guide, search,
    /// choice, asked, tell_bans, ban_lexicon, few_lus, reword, keep_fe, carry, targets,
    /// frame_fit, least_frame_fit, least_evokes, numbers. Models that are made for another language
    /// than the release are refused, unless any_language is true. With verifier, that verifier is
    /// asked about each sentence that is kept. With from_sisters the LUs of the expression that
    /// have no sentences get new ones from their sisters'. What blind_to finds is not read. With
    /// redo, what the recipe wrote before is removed first. With sample, so many seeds are
    /// expanded, or so many for each value of the fields in per.
    #[pyo3(signature = (expression, *, recipe=None, model=None, models=None, filter=None,
                        verifier=None, from_sisters=false, blind_to=None, redo=false, sample=None,
                        per=None, seed=Count(1), device="cpu", limit=None, progress=None,
                        any_language=false, **settings),
           text_signature = "($self, expression, *, recipe=None, model=None, models=None, \
                             filter=None, verifier=None, from_sisters=False, blind_to=None, \
                             redo=False, sample=None, per=None, seed=1, device='cpu', limit=None, \
                             progress=None, any_language=False, **settings)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn expand(
        &self,
        py: Python<'_>,
        expression: &str,
        recipe: Option<String>,
        model: Option<PathBuf>,
        models: Option<PathBuf>,
        filter: Option<PathBuf>,
        verifier: Option<PathBuf>,
        from_sisters: bool,
        blind_to: Option<String>,
        redo: bool,
        sample: Option<Count>,
        per: Option<&str>,
        seed: Count,
        device: &str,
        limit: Option<Count>,
        progress: Option<Py<PyAny>>,
        any_language: bool,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<ExpansionReport> {
        let models = directories(py, models)?;
        let (settings, device) = (self::settings(settings)?, device.to_owned());
        let wishes = Wishes {
            settings,
            recipe,
            model,
            models,
            filter,
            verifier,
            from_sisters,
            blind_to,
            redo,
            sampling: sampling(sample, per, seed)?,
            device,
            limit: limit.map(Count::size),
            any_language,
        };
        expand(py, &self.handle, expression, (wishes, progress))
    }
}
