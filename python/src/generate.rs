//! `db.generate(...)`: annotated sentences for LUs that have none, from those of their sisters.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fnstore::database::{self, DatabaseError};
use fnstore::expand::{FrameModels, VerifierModels};
use fnstore::internals::engine::{LanguageAdapter, declared_languages};
use fnstore::internals::generate::{
    self, Answer, Estimate, GenerationPrompt, GenerationRecipe, Generator, LanguageFiller,
    RemoteFiller, Seq2SeqFiller, TrainedFiller, is_seq2seq, stamped,
};
use fnstore::internals::identify::FrameIdentifier;
use fnstore::internals::label::Labeller;
use fnstore::internals::paraphrase::{base_of, is_adapter};
use fnstore::internals::score::Scorer;
use fnstore::model::Method;
use fnstore::models::{VERIFIER, find};
use fnstore::query::Expression;
use pyo3::prelude::*;

use crate::database::{Database, directories};
use crate::error::{Fault, Result};
use crate::expand::{Teller, refuse_beside};
use crate::models::{Places, named};
use crate::number::Count;
use crate::servers::Server;

/// The adapter for infilling, the language model and the classifier, unless others are named.
const INFILLER: &str = "infill";
const LANGUAGE_MODEL: &str = "SmolLM2-135M-Instruct";
const CLASSIFIER: &str = "fe-classifier";

/// How far a generation is.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct GenerationProgress {
    /// LUs that are finished.
    lus: u64,
    /// LUs that match.
    of: u64,
    /// Sentences written in this run.
    sentences: u64,
}

#[pymethods]
impl GenerationProgress {
    fn __repr__(&self) -> String {
        format!("<GenerationProgress {} of {}, {} sentences>", self.lus, self.of, self.sentences)
    }
}

/// What a generation did.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct GenerationReport {
    /// Number of the recipe in the store; None while nothing was written.
    recipe: Option<u32>,
    /// LUs without sentences that match.
    lus: u64,
    /// Those that were done under the recipe before.
    done_before: u64,
    /// Those that the limit left to a later run.
    left: u64,
    /// Those that got a sentence.
    given: u64,
    sentences: u64,
    /// Sentences whose frame the frame model finds unlikely.
    unlikely: u64,
    /// Sentences about which a verifier answered; None where none was asked.
    verified: Option<u64>,
    candidates: u64,
    /// Candidates whose new words were all read as their FEs; None without a classifier.
    faithful: Option<u64>,
    /// FEs that are written anew.
    blanks: u64,
    /// LUs that got no sentence, by reason.
    skipped: BTreeMap<&'static str, u64>,
    /// Sentences of sisters that were passed over, by reason.
    passed_over: BTreeMap<&'static str, u64>,
    /// Of a dry run: seconds that the LUs which are left take, about; None where none was tried.
    left_seconds: Option<f64>,
    seconds: f64,
}

#[pymethods]
impl GenerationReport {
    fn __repr__(&self) -> String {
        format!(
            "<GenerationReport {} sentences for {} of {} LUs>",
            self.sentences, self.given, self.lus
        )
    }
}

impl From<generate::GenerationReport> for GenerationReport {
    fn from(of: generate::GenerationReport) -> Self {
        let mut skipped = BTreeMap::new();
        for (reason, count) in of.fates.values().flat_map(|fate| &fate.skipped) {
            *skipped.entry(reason.as_str()).or_default() += count;
        }
        let passed_over = of.passed_over.iter().map(|(reason, count)| (reason.as_str(), *count));
        Self {
            recipe: of.recipe.map(|recipe| recipe.0),
            lus: of.lexunits,
            done_before: of.done_before,
            left: of.left,
            given: of.given,
            sentences: of.sentences,
            unlikely: of.unlikely,
            verified: of.verified,
            candidates: of.candidates,
            faithful: of.faithful,
            blanks: of.blanks,
            skipped,
            passed_over: passed_over.collect(),
            left_seconds: None,
            seconds: of.elapsed.as_secs_f64(),
        }
    }
}

impl From<Estimate> for GenerationReport {
    fn from(of: Estimate) -> Self {
        Self {
            lus: of.lexunits,
            done_before: of.done_before,
            left: of.left,
            left_seconds: (of.measured > 0).then_some(of.missing.as_secs_f64()),
            seconds: of.elapsed.as_secs_f64(),
            ..generate::GenerationReport::default().into()
        }
    }
}

/// The models that are named.
struct Named {
    model: Option<PathBuf>,
    ranker: Option<PathBuf>,
    classifier: Option<PathBuf>,
    prompt: Option<PathBuf>,
    verifier: Option<PathBuf>,
    endpoint: Option<Server>,
}

fn is_none(name: Option<&Path>) -> bool {
    name == Some(Path::new("none"))
}

fn wrong(message: &str) -> Fault {
    Fault::new("ExpandError", "N-model", message, "leave it out, or give another model")
}

impl Named {
    /// What fills blanks, ranks and filters.
    fn filling(&self, places: &Places) -> Result<Generator> {
        let named = self.model.as_deref();
        if let Some(server) = &self.endpoint {
            let filler = RemoteFiller::new(
                server.open(named.and_then(Path::to_str))?,
                self.prompt_of_server()?,
            );
            let generator = Generator::copying().asking(filler);
            return self
                .reading(self.ranking(generator, self.ranker.as_deref(), false, places)?, places);
        }
        let place = find(named.unwrap_or(Path::new(INFILLER)), &places.dirs);
        if let Some(place) = place.as_deref().filter(|place| named.is_some() && is_seq2seq(place)) {
            if self.prompt.is_some() {
                return Err(wrong("a T5 is told by marks around the blanks and takes no prompt"));
            }
            let filler = Seq2SeqFiller::open(place, &places.device, places.numbers)?;
            let files = stamped(place).map_err(|error| unreadable(place, &error))?;
            let generator = Generator::copying().filling_by_sentinels(filler, files);
            return self
                .reading(self.ranking(generator, self.ranker.as_deref(), false, places)?, places);
        }
        if self.ranker.is_some() {
            return Err(wrong("`ranker` ranks what a T5 writes; a language model ranks its own"));
        }
        let adapter = place.filter(|place| is_adapter(place));
        let base = adapter.as_deref().map(|adapter| base_of(adapter, &places.dirs));
        let trained = match (adapter, base) {
            (Some(adapter), Some(Ok(Some(base)))) => Some((adapter, base)),
            (_, Some(Err(error))) if named.is_some() => return Err(error.into()),
            _ => None,
        };
        let Some((adapter, base)) = trained else {
            let prompt = self.prompt(None)?;
            let generator = Generator::copying().filling(LanguageFiller::new(prompt));
            return self.reading(self.ranking(generator, named, true, places)?, places);
        };
        let prompt = self.prompt(Some(&adapter.join("prompt.toml")))?;
        let read = LanguageAdapter::read(&adapter)?;
        let writer = Scorer::open_with(&base, Some(read), &places.device, places.numbers)?;
        let generator = Generator::copying().filling_as_trained(TrainedFiller::new(writer, prompt));
        let files = stamped(&adapter).map_err(|error| unreadable(&adapter, &error))?;
        let ranked = self.ranking(generator, Some(&base), true, places)?;
        self.reading(ranked.reading_files(files), places)
    }

    /// How a server is asked: `json`, `paper`, or as a file says.
    fn prompt_of_server(&self) -> Result<GenerationPrompt> {
        let prompt = match self.prompt.as_deref().map(Path::to_str) {
            None | Some(Some("json")) => GenerationPrompt::built_in(Answer::Json),
            Some(Some("paper")) => GenerationPrompt::built_in(Answer::Commas),
            _ => GenerationPrompt::read(self.prompt.as_deref().unwrap_or(Path::new("")))?,
        };
        match prompt.answer().is_of_language_model() {
            true => Err(wrong("the prompt's `answer` is one that a server cannot give")),
            false => Ok(prompt),
        }
    }

    /// How a language model is asked: as it learnt, or as a file or the built-in prompt says.
    fn prompt(&self, learnt: Option<&Path>) -> Result<GenerationPrompt> {
        let prompt = match (self.prompt.as_deref(), learnt) {
            (Some(file), _) | (None, Some(file)) => GenerationPrompt::read(file)?,
            (None, None) => GenerationPrompt::built_in(Answer::Sentence),
        };
        let wanted = if learnt.is_some() { Answer::Bars } else { Answer::Sentence };
        match prompt.answer() == wanted {
            true => Ok(prompt),
            false => Err(wrong("the prompt's `answer` is one that this model cannot give")),
        }
    }

    /// With the language model that ranks, and fills where it is to: the one that is named, else
    /// the usual one; where only ranks are lost, none will do.
    fn ranking(
        &self,
        generator: Generator,
        named: Option<&Path>,
        fills: bool,
        places: &Places,
    ) -> Result<Generator> {
        if is_none(named) && !fills {
            return Ok(generator);
        }
        let place = match places.language_model(named.unwrap_or(Path::new(LANGUAGE_MODEL))) {
            Err(fault) if named.is_none() && !fills && fault.is_absence() => return Ok(generator),
            place => place?,
        };
        let files = stamped(&place).map_err(|error| unreadable(&place, &error))?;
        let scorer = Scorer::open(&place, &places.device, places.numbers)?;
        Ok(generator.ranking(scorer, files))
    }

    /// With the classifier that reads new words: the one that is named, else the usual one, where
    /// it is at hand.
    fn reading(&self, generator: Generator, places: &Places) -> Result<Generator> {
        let named = self.classifier.as_deref();
        if is_none(named) {
            return Ok(generator);
        }
        let place = match places.model(named.unwrap_or(Path::new(CLASSIFIER))) {
            Err(_) if named.is_none() => return Ok(generator),
            place => place?,
        };
        let encoder = places.encoder(None, &place)?;
        Ok(generator.classifying(Labeller::open(&place, &encoder, &places.device)?))
    }

    /// With the frame model, where it is at hand.
    fn judging(&self, generator: Generator, places: &Places) -> Result<Generator> {
        let Some(FrameModels { identifier, encoder }) = FrameModels::search(&places.dirs) else {
            return Ok(generator);
        };
        Ok(generator.judging(FrameIdentifier::open(&identifier, &encoder, &places.device)?))
    }

    /// With the verifier that is asked about what is kept: the one that is named, else the usual
    /// one, where it is at hand and made for the releases of an expression.
    fn verifying(
        &self,
        generator: Generator,
        (database, expression): (&database::Database, &Expression),
        places: &Places,
    ) -> Result<Generator> {
        let named = self.verifier.as_deref();
        // Without another word, whoever wants no language model gets none.
        if is_none(named) || named.is_none() && is_none(self.model.as_deref()) {
            return Ok(generator);
        }
        let (adapter, base) = match places.verifier(named.unwrap_or(Path::new(VERIFIER))) {
            Err(fault) if named.is_none() && fault.is_absence() => return Ok(generator),
            found => found?,
        };
        if named.is_none() {
            let declared = declared_languages(&adapter).or(&declared_languages(&base));
            let releases = database.releases_of(expression)?;
            let ids = releases.iter().map(|release| release.id);
            if database.check_languages([&declared], ids).is_err() {
                return Ok(generator);
            }
        }
        let files =
            [stamped(&adapter), stamped(&base)].into_iter().collect::<std::io::Result<Vec<_>>>();
        let files = files.map_err(|error| unreadable(&adapter, &error))?.concat();
        let at = (&places.device, places.numbers);
        Ok(generator.verifying(&VerifierModels { adapter, base }, at, files)?)
    }
}

fn unreadable(place: &Path, error: &std::io::Error) -> Fault {
    wrong(&format!("cannot read `{}`: {error}", place.display()))
}

#[pymethods]
impl Database {
    /// Gives annotated sentences to LUs that have none, as `fnstore generate` does: a sister's
    /// sentence with the LU in its place, and with method="infill" other words for its frame
    /// elements. The expression is over LUs (`lu`, `frame`, `pos`, `release`, `lu_status`). LUs
    /// that are done under the same settings are skipped, so a stopped run resumes; progress is
    /// called with a GenerationProgress. model, ranker, classifier and verifier are names of
    /// models, or "none". With dry_run nothing is written: the report says what is left, and how
    /// long that takes. With endpoint a Server fills; `model` is then the server's name for its
    /// model.
    #[pyo3(signature = (expression="", *, lacking="annotation", method=None,
                        mode="fe", sisters="agreeing", sources=None, candidates=None,
                        keep=Count(1), least=0.0, verifier=None, seed=Count(1), limit=None,
                        dry_run=false, model=None, ranker=None, classifier=None, prompt=None,
                        endpoint=None, models=None, device="cpu", numbers=None,
                        any_language=false, progress=None),
           text_signature = "($self, expression='', *, lacking='annotation', method=None, \
                             mode='fe', sisters='agreeing', sources=None, candidates=None, \
                             keep=1, least=0.0, verifier=None, seed=1, limit=None, \
                             dry_run=False, model=None, ranker=None, classifier=None, \
                             prompt=None, endpoint=None, models=None, device='cpu', \
                             numbers=None, any_language=False, progress=None)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn generate(
        &self,
        py: Python<'_>,
        expression: &str,
        lacking: &str,
        method: Option<&str>,
        mode: &str,
        sisters: &str,
        sources: Option<Count>,
        candidates: Option<Count>,
        keep: Count,
        least: f32,
        verifier: Option<PathBuf>,
        seed: Count,
        limit: Option<Count>,
        dry_run: bool,
        model: Option<PathBuf>,
        ranker: Option<PathBuf>,
        classifier: Option<PathBuf>,
        prompt: Option<PathBuf>,
        endpoint: Option<&Server>,
        models: Option<PathBuf>,
        device: &str,
        numbers: Option<&str>,
        any_language: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<GenerationReport> {
        let dirs = directories(py, models)?;
        let asks = endpoint.is_some();
        if asks {
            let measures = dry_run.then(|| "dry_run=True".to_owned());
            refuse_beside("X-setting", "endpoint=Server(...)", [measures])?;
        }
        let method = match method {
            Some(method) => named("method", method)?,
            None if asks => Method::Infill,
            None => Method::SisterLu,
        };
        if asks && method != Method::Infill {
            return Err(wrong("a server writes words, which `sister-lu` does not ask for").into());
        }
        let ranks = !is_none(model.as_deref());
        let (usual_sources, usual_candidates) = match method {
            Method::Infill if !asks => (8, 2),
            Method::SisterLu if ranks => (1, 4),
            _ => (1, 1),
        };
        let (keep, sources) = (keep.size(), sources.map_or(usual_sources, Count::size));
        let candidates = candidates.map_or(usual_candidates, Count::size);
        let recipe = GenerationRecipe {
            method,
            sisters: named("sisters", sisters)?,
            mode: named("mode", mode)?,
            sources,
            candidates: candidates.max(keep.div_ceil(sources.max(1))),
            keep,
            least,
            seed: seed.0,
            lacking: named("lacking", lacking)?,
        };
        let endpoint = endpoint.cloned();
        let names = Named { model, ranker, classifier, prompt, verifier, endpoint };
        let mut teller = Teller::new(progress);
        let report = py.detach(|| -> Result<GenerationReport> {
            let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
            let places = Places::new(dirs, device, numbers)?;
            let generator = match method {
                Method::Infill => names.filling(&places)?,
                _ => {
                    names.prompt(None)?;
                    let named = names.model.as_deref();
                    names.ranking(Generator::copying(), named, false, &places)?
                }
            };
            let generator = names.judging(generator, &places)?;
            let asked = (&recipe, limit.map(Count::size));
            let mut tell = |at: &generate::GenerationProgress| {
                let (lus, of, sentences) = (at.lexunits, at.of, at.sentences);
                let told = GenerationProgress { lus, of, sentences };
                teller.tell(|function| function.call1((told,)).map(drop))
            };
            if dry_run {
                let database = self.handle.get()?;
                database.allow_any_language(any_language);
                let mut generator =
                    names.verifying(generator, (&database, &expression), &places)?;
                return Ok(generate::estimate(
                    &database,
                    &expression,
                    asked,
                    &mut generator,
                    &mut tell,
                )?
                .into());
            }
            self.handle.write(|database| {
                database.allow_any_language(any_language);
                let mut generator = names.verifying(generator, (database, &expression), &places)?;
                Ok(generate::run_with(database, &expression, asked, &mut generator, &mut tell)?
                    .into())
            })
        });
        teller.end()?;
        Ok(report?)
    }
}
