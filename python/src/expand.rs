//! Expansion: what takes long, without the interpreter's lock, and ends on Ctrl-C.

mod conflicts;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fnstore::database::{Database, DatabaseError};
use fnstore::expand::{
    self, BlindTo, ExpandError, FromSisters, Guidance, GuideModels, Models, Recipe, RecipeSettings,
    RewriterSource, RunOptions, Shard, VerifierModels,
};
use fnstore::internals::paraphrase::base_of;
use fnstore::models::{default_rewriter, find};
use fnstore::query::Expression;
use fnstore::search::Sampling;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::database::{self, directories};
use crate::editions::sampling;
use crate::error::{Fault, Result};
use crate::handle::Handle;
use crate::models::device;
use crate::number::Count;
use crate::servers::Server;
use crate::shards::FrameProgress;

pub(crate) use conflicts::refuse_beside;

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
    /// Number of the recipe in the store; None while nothing of it is there.
    recipe: Option<u32>,
    /// Human annotation sets that match.
    seeds: u64,
    /// Those that were through all rounds before this run.
    done_before: u64,
    /// Those that the limit left to a later run; of a dry run those that have rounds to go.
    left: u64,
    /// Of a dry run: rounds that are missing.
    left_rounds: Option<u64>,
    /// Of a dry run: seconds that they take, about; None where none was measured.
    left_seconds: Option<f64>,
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

impl ExpansionReport {
    fn of(recipe: Option<u32>, report: expand::Report) -> Self {
        let named = |(reason, count): (expand::EndReason, u64)| (reason.as_str(), count);
        let dropped = report.carried.dropped.into_iter();
        Self {
            recipe,
            seeds: report.seeds,
            done_before: report.done_before,
            left: report.left,
            left_rounds: None,
            left_seconds: None,
            sentences: report.sentences,
            new_triggers: report.new_triggers,
            new_pairs: report.new_pairs,
            proposed_lus: report.proposed_lexunits,
            flags: report.flags,
            carried: report.carried.found,
            dropped: dropped.map(|(of, count)| (of.as_str(), count)).collect(),
            unproductive: report.unproductive.into_iter().map(named).collect(),
            seconds: report.elapsed.as_secs_f64(),
        }
    }

    /// Of a run that wrote nothing.
    fn without_sentences(recipe: Option<u32>, seeds: u64, done_before: u64) -> Self {
        let (flags, dropped, unproductive) = Default::default();
        Self {
            recipe,
            seeds,
            done_before,
            left: 0,
            left_rounds: None,
            left_seconds: None,
            sentences: 0,
            new_triggers: 0,
            new_pairs: 0,
            proposed_lus: 0,
            flags,
            carried: 0,
            dropped,
            unproductive,
            seconds: 0.0,
        }
    }
}

/// A caller's function that is told how far something is, or a bar that shows it.
pub(crate) struct Teller {
    function: Option<Py<PyAny>>,
    /// Whether it is a bar, which is closed at the end.
    is_bar: bool,
    /// What it raised, or Ctrl-C.
    raised: Option<PyErr>,
}

impl Teller {
    /// Of a function, or of True for a bar.
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        let made = |given: Py<PyAny>| {
            Python::attach(|py| {
                let is_bar = given.bind(py).is_instance_of::<PyBool>();
                let teller = py.import("fnstore._progress")?.getattr("teller")?;
                let function: Option<Py<PyAny>> = teller.call1((given,))?.extract()?;
                PyResult::Ok((function, is_bar))
            })
        };
        let (found, raised) = match progress.map(made).transpose() {
            Ok(found) => (found.unwrap_or_default(), None),
            Err(error) => ((None, false), Some(error)),
        };
        let (function, is_bar) = found;
        let is_bar = is_bar && function.is_some();
        Self { function, is_bar, raised }
    }

    /// What it raised, if it did.
    pub(crate) fn end(self) -> PyResult<()> {
        if let (true, Some(bar)) = (self.is_bar, &self.function) {
            Python::attach(|py| bar.call_method0(py, "close"))?;
        }
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
    endpoint: Option<Server>,
}

impl Wishes {
    /// The recipe and how far it is followed: what is asked for, then what the named recipe says,
    /// then the defaults.
    fn recipe(&self) -> Result<(Recipe, RunOptions, RecipeSettings)> {
        let dirs = &self.models;
        let found = |name: &PathBuf| model(name, dirs);
        let rewriter = match (&self.endpoint, &self.model) {
            (Some(server), name) => {
                let name = name.as_deref().and_then(Path::to_str);
                RewriterSource::Server(server.settings(name)?)
            }
            (None, Some(name)) => RewriterSource::in_directory(found(name)?, dirs)?,
            (None, None) => {
                let name = default_rewriter(dirs)?.0.into();
                RewriterSource::in_directory(found(&name)?, dirs)?
            }
        };
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
        Ok((recipe, options, settings))
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

/// What is done with an expansion that is asked for.
enum Work {
    /// It is run.
    Run,
    /// A part of it goes into a file.
    Shard(Shard, PathBuf),
    /// It is measured, or a part of it.
    Measure(Option<Shard>),
}

impl Work {
    fn new(shard: Option<&str>, out: Option<PathBuf>, dry_run: bool) -> Result<Self> {
        let shard = shard.map(Shard::from_request).transpose().map_err(ExpandError::from)?;
        match (shard, out) {
            (shard, None) if dry_run => Ok(Self::Measure(shard)),
            (Some(shard), Some(out)) if !dry_run => Ok(Self::Shard(shard, out)),
            (None, None) => Ok(Self::Run),
            _ => {
                let message = "a shard is computed into a file, and nothing else is";
                let advice = "give both shard=\"1/16\" and out=FILE, or shard with dry_run=True";
                Err(Fault::new("ExpandError", "X-shard", message, advice))
            }
        }
    }
}

/// A recipe, and how far it is followed.
type Followed<'a> = (&'a Recipe, &'a RunOptions);
type Telling<'t> = &'t mut dyn FnMut(&expand::ExpansionProgress) -> ControlFlow<()>;

/// A part of an expansion in a file. One that was there is not computed again.
fn computed(
    database: &Database,
    (expression, (recipe, options)): (&Expression, Followed<'_>),
    (shard, file): (Shard, &Path),
    tell: Telling<'_>,
) -> Result<ExpansionReport> {
    let told = (expression, recipe, options);
    Ok(match expand::run_shard(database, told, (shard, file), tell)? {
        (_, Some(report)) => ExpansionReport::of(None, report),
        (there, None) => {
            let seeds = there.map_or(0, |there| there.seeds);
            ExpansionReport::without_sentences(None, seeds, seeds)
        }
    })
}

/// What is left of an expansion, and how long it takes.
fn measured(
    database: &Database,
    (expression, (recipe, options)): (&Expression, Followed<'_>),
    shard: Option<Shard>,
    tell: Telling<'_>,
) -> Result<ExpansionReport> {
    let told = (expression, recipe, options);
    let (status, estimate) = expand::estimate(database, told, shard, tell)?;
    let total = status.total();
    let done = total.done + total.ended.values().sum::<u64>();
    let recipe = status.recipe.map(|recipe| recipe.0);
    Ok(ExpansionReport {
        left: total.seeds - done,
        left_rounds: Some(total.rounds_missing),
        left_seconds: estimate.map(|estimate| estimate.missing.as_secs_f64()),
        seconds: estimate.map_or(0.0, |estimate| estimate.elapsed.as_secs_f64()),
        ..ExpansionReport::without_sentences(recipe, total.seeds, done)
    })
}

impl Wishes {
    /// The expressions under whose split list seeds are read: where they name no list, what is
    /// held out may.
    fn listed(&self, handle: &Handle, expression: &Expression) -> Result<Expression> {
        let blind_to = self.blind_to.as_deref().map(Expression::parse).transpose();
        let blind_to = blind_to.map_err(DatabaseError::from)?;
        Ok(match handle.get()?.split_list_for(expression)? {
            Some(_) => expression.clone(),
            None => blind_to.unwrap_or_else(|| expression.clone()),
        })
    }

    fn worked(
        &self,
        handle: &Handle,
        expression: Expression,
        work: &Work,
        tell: Telling<'_>,
    ) -> Result<ExpansionReport> {
        let (mut recipe, options, settings) = self.recipe()?;
        if matches!(work, Work::Shard(..)) {
            expand::require_models(&recipe, &settings, self.filter.is_some())
                .map_err(ExpandError::from)?;
        }
        let listed = self.listed(handle, &expression)?;
        let with = |database: &Database| {
            database.allow_any_language(self.any_language);
            let expression = seeds(database, expression, (&mut recipe, self))?;
            let followed = (&recipe, &options);
            let told = (&expression, followed);
            match work {
                Work::Shard(shard, file) => computed(database, told, (*shard, file), tell),
                Work::Measure(shard) => measured(database, told, *shard, tell),
                Work::Run => {
                    if self.redo {
                        expand::forget(database, &expression, followed)?;
                    }
                    let report = expand::run_with(database, &expression, followed, tell)?;
                    Ok(ExpansionReport::of(Some(report.recipe.0), report))
                }
            }
        };
        match work {
            Work::Run => handle.write_for(&listed, with),
            _ => handle.read_for(&listed, with),
        }
    }
}

fn expand(
    py: Python<'_>,
    handle: &Arc<Handle>,
    expression: &str,
    (wishes, work, progress): (Wishes, Work, Option<Py<PyAny>>),
) -> PyResult<ExpansionReport> {
    let mut teller = Teller::new(progress);
    let report = py.detach(|| {
        let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
        wishes.worked(handle, expression, &work, &mut |at| {
            let told = Progress { seeds: at.seeds, of: at.of, sentences: at.sentences };
            teller.tell(|function| function.call1((told,)).map(drop))
        })
    });
    teller.end()?;
    Ok(report?)
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
    /// expanded, or so many for each value of the fields in per. With shard, as "3/16", that part
    /// is computed into the file out, with a manifest beside it; `db.merge` takes it in. With
    /// dry_run nothing is written: the report says what is left, and how long that takes. With
    /// endpoint a Server rewrites; `model` is then the server's name for its model.
    #[pyo3(signature = (expression, *, recipe=None, model=None, models=None, filter=None,
                        verifier=None, from_sisters=false, blind_to=None, redo=false, sample=None,
                        per=None, seed=Count(1), device="cpu", limit=None, progress=None,
                        any_language=false, shard=None, out=None, dry_run=false, endpoint=None,
                        **settings),
           text_signature = "($self, expression, *, recipe=None, model=None, models=None, \
                             filter=None, verifier=None, from_sisters=False, blind_to=None, \
                             redo=False, sample=None, per=None, seed=1, device='cpu', limit=None, \
                             progress=None, any_language=False, shard=None, out=None, \
                             dry_run=False, endpoint=None, **settings)")]
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
        shard: Option<&str>,
        out: Option<PathBuf>,
        dry_run: bool,
        endpoint: Option<&Server>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<ExpansionReport> {
        let work = Work::new(shard, out, dry_run)?;
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
            endpoint: endpoint.cloned(),
        };
        wishes.check(&work)?;
        expand(py, &self.handle, expression, (wishes, work, progress))
    }

    /// How far an expansion is that would be made so: a row for each frame. Nothing is written.
    #[pyo3(signature = (expression="", *, recipe=None, model=None, models=None, filter=None,
                        verifier=None, from_sisters=false, blind_to=None, sample=None, per=None,
                        seed=Count(1), any_language=false, endpoint=None, **settings),
           text_signature = "($self, expression='', *, recipe=None, model=None, models=None, \
                             filter=None, verifier=None, from_sisters=False, blind_to=None, \
                             sample=None, per=None, seed=1, any_language=False, endpoint=None, \
                             **settings)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn expansion_status(
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
        sample: Option<Count>,
        per: Option<&str>,
        seed: Count,
        any_language: bool,
        endpoint: Option<&Server>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<FrameProgress>> {
        let wishes = Wishes {
            settings: self::settings(settings)?,
            recipe,
            model,
            models: directories(py, models)?,
            filter,
            verifier,
            from_sisters,
            blind_to,
            redo: false,
            sampling: sampling(sample, per, seed)?,
            device: "cpu".to_owned(),
            limit: None,
            any_language,
            endpoint: endpoint.cloned(),
        };
        wishes.check(&Work::Run)?;
        let rows = py.detach(|| {
            let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
            let (mut recipe, options, _) = wishes.recipe()?;
            let listed = wishes.listed(&self.handle, &expression)?;
            self.handle.read_for(&listed, |database| {
                database.allow_any_language(any_language);
                let expression = seeds(database, expression, (&mut recipe, &wishes))?;
                let status = expand::status(database, &expression, (&recipe, &options))?;
                Ok(status.records(database)?)
            })
        });
        Ok(rows?.into_iter().map(FrameProgress::from).collect())
    }
}
