//! `db.annotate(texts)`: targets with their frames and frame elements. The models, and what is
//! written into a store, stay on a thread of their own.

use std::path::{Path, PathBuf};

use fnstore::Database;
use fnstore::internals::identify::{FrameIdentifier, Search};
use fnstore::internals::label::{FoundElement, Labeller};
use fnstore::internals::tag::Tagger;
use fnstore::lexicon::Lexicon;
use fnstore::transfer::{AnnotatedTarget, Annotator, PredictionReport};
use pyo3::prelude::*;

use crate::database;
use crate::error::Result;
use crate::models::{Places, in_chars, list};
use crate::texts::longer;
use crate::worker::Worker;

/// Name of the shipped tagger, which is left out where it is not at hand.
const TAGGER: &str = "tagger";

/// What stands for a file's name.
const SOURCE: &str = "Python";

/// A frame element that was found.
#[pyclass(frozen, get_all, module = "fnstore", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct FoundFe {
    name: String,
    span: (u32, u32),
    text: String,
    /// Probability that the span is this FE.
    score: f32,
}

#[pymethods]
impl FoundFe {
    fn __repr__(&self) -> String {
        format!("<FoundFe {} {:?}>", self.name, self.text)
    }
}

/// A target that was found.
#[pyclass(frozen, get_all, module = "fnstore", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct Target {
    /// From its first letter to its last.
    span: (u32, u32),
    /// One piece, or two of a verb around its object, as in `turned it down`.
    pieces: Vec<(u32, u32)>,
    /// Its words.
    text: String,
    frame: String,
    /// The LU of that frame that it is a form of.
    lu: Option<String>,
    /// Probability of the frame.
    score: f32,
    /// Whether form alone decided.
    by_form: bool,
    /// The next likeliest frames.
    runners_up: Vec<(String, f32)>,
    /// None where nobody looked for them.
    fes: Option<Vec<FoundFe>>,
}

impl Target {
    fn new(text: &str, AnnotatedTarget { target, elements }: AnnotatedTarget) -> Self {
        let fe = |FoundElement { name, span, score }: FoundElement| {
            let words = span.of(text).unwrap_or_default().to_owned();
            FoundFe { name, span: in_chars(text, span), text: words, score }
        };
        Self {
            span: in_chars(text, target.span()),
            pieces: target.pieces.iter().map(|piece| in_chars(text, *piece)).collect(),
            text: target.words(text),
            frame: target.frame.to_string(),
            lu: target.lexunit.as_deref().map(str::to_owned),
            score: target.score,
            by_form: target.is_by_form,
            runners_up: target
                .runners_up
                .iter()
                .map(|(of, share)| (of.to_string(), *share))
                .collect(),
            fes: elements.map(|found| found.into_iter().map(fe).collect()),
        }
    }
}

#[pymethods]
impl Target {
    fn __repr__(&self) -> String {
        format!("<Target {:?} {} {:.2}>", self.text, self.frame, self.score)
    }
}

/// A sentence with its targets.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct AnnotatedText {
    text: String,
    targets: Vec<Target>,
}

#[pymethods]
impl AnnotatedText {
    fn __repr__(&self) -> String {
        format!("<AnnotatedText {:?}, {} targets>", self.text, self.targets.len())
    }
}

/// What is asked of the thread.
enum Step {
    Batch(Vec<String>),
    /// Commits what goes into a store.
    Finish,
}

/// What it answers.
enum Done {
    Began,
    Batch(Vec<Result<AnnotatedText>>),
    Release(Option<String>),
}

/// Open models over the LUs of a release, and where what they find is written.
#[pyclass(frozen, module = "fnstore._fnstore")]
pub(crate) struct TextAnnotator(Worker<Step, Done>);

/// What `db.annotate` is asked for.
pub(crate) struct Wishes {
    store: PathBuf,
    release: String,
    places: Places,
    open: bool,
    identifier: PathBuf,
    encoder: Option<PathBuf>,
    tagger: Option<PathBuf>,
    labeller: Option<PathBuf>,
    into: Option<PathBuf>,
    name: String,
    any_language: bool,
}

impl Wishes {
    fn annotator(&self, lexicon: &Lexicon<'_>) -> Result<Annotator> {
        let places = &self.places;
        let opened = |name: &PathBuf, encoder: Option<&PathBuf>| -> Result<(PathBuf, PathBuf)> {
            let model = places.model(name)?;
            let encoder = places.encoder(encoder.map(PathBuf::as_path), &model)?;
            Ok((model, encoder))
        };
        let tagger = match &self.tagger {
            Some(name) if !self.open => self.open_tagger(name, opened(name, None), lexicon)?,
            _ => None,
        };
        let (model, encoder) = opened(&self.identifier, self.encoder.as_ref())?;
        let identifier = FrameIdentifier::open(&model, &encoder, &places.device)?;
        let labeller = |name| -> Result<Labeller> {
            let (model, encoder) = opened(name, self.encoder.as_ref())?;
            Ok(Labeller::open(&model, &encoder, &places.device)?)
        };
        let labeller = self.labeller.as_ref().map(labeller).transpose()?;
        let search = if self.open { Search::Open } else { Search::Lexicon };
        Ok(Annotator::new(lexicon, identifier.with_tagger(tagger), labeller, search)?)
    }

    /// The tagger; none where it is the shipped one, and is not at hand or made for another
    /// language.
    fn open_tagger(
        &self,
        name: &Path,
        found: Result<(PathBuf, PathBuf)>,
        lexicon: &Lexicon<'_>,
    ) -> Result<Option<Tagger>> {
        let is_shipped = name.as_os_str() == TAGGER;
        let (model, encoder) = match found {
            Err(_) if is_shipped => return Ok(None),
            found => found?,
        };
        let tagger = Tagger::open(&model, &encoder, &self.places.device)?;
        match lexicon.check_language(tagger.declared()) {
            Err(_) if is_shipped => Ok(None),
            checked => Ok(checked.map(|()| Some(tagger))?),
        }
    }

    fn start(self) -> Result<TextAnnotator> {
        let (worker, _) = Worker::start(move |asked, answers| {
            let database = Database::open(&self.store)?.snapshot()?;
            let database = database.with_any_language(self.any_language);
            let lexicon = database.lexicon(self.release.as_str())?;
            let mut annotator = self.annotator(&lexicon)?;
            let into = self.into.as_deref().map(Database::open_writer).transpose()?;
            let source = PathBuf::from(SOURCE);
            let predictions =
                into.as_ref().map(|into| into.predictions(&self.name, &lexicon, &source));
            let mut predictions = predictions.transpose()?;
            let _ = answers.send(Ok(Done::Began));
            for step in asked {
                let Step::Batch(texts) = step else {
                    let finished = predictions.take().map(|predictions| predictions.finish());
                    let name = |PredictionReport { release, .. }: PredictionReport| release.name;
                    let name = finished.transpose()?.map(name);
                    let _ = answers.send(Ok(Done::Release(name)));
                    return Ok(());
                };
                let mut batch = || -> Result<Vec<Result<AnnotatedText>>> {
                    let all: Vec<&str> = texts.iter().map(String::as_str).collect();
                    annotator.look_up(&lexicon, &all)?;
                    let mut found = Vec::new();
                    for (text, targets) in texts.iter().zip(annotator.annotate(&all)?) {
                        let targets = match targets {
                            Ok(targets) => targets,
                            Err(error) => {
                                found.push(Err(longer(&error)));
                                continue;
                            }
                        };
                        if let Some(predictions) = &mut predictions {
                            let targets = targets.iter().map(|of| annotator.predicted(SOURCE, of));
                            predictions.add(text, targets.collect())?;
                        }
                        let targets = targets.into_iter().map(|of| Target::new(text, of));
                        let (text, targets) = (text.clone(), targets.collect());
                        found.push(Ok(AnnotatedText { text, targets }));
                    }
                    Ok(found)
                };
                let _ = answers.send(batch().map(Done::Batch));
            }
            Ok(())
        })?;
        Ok(TextAnnotator(worker))
    }
}

#[pymethods]
impl TextAnnotator {
    fn batch(&self, py: Python<'_>, texts: Vec<String>) -> PyResult<Vec<Py<PyAny>>> {
        let done = py.detach(|| self.0.ask(Step::Batch(texts)))?;
        match done {
            Done::Batch(found) => list(py, found),
            Done::Began | Done::Release(_) => Ok(Vec::new()),
        }
    }

    /// Commits what goes into a store; gives the name of the release.
    fn finish(&self, py: Python<'_>) -> Result<Option<String>> {
        py.detach(|| {
            let done = self.0.ask(Step::Finish);
            self.0.end();
            Ok(if let Done::Release(name) = done? { name } else { None })
        })
    }

    /// Ends it; nothing is written.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| self.0.end());
    }
}

#[pymethods]
impl database::Database {
    /// Finds targets in sentences, with their frames and frame elements, as `fnstore annotate`
    /// does: a stream, in the order in which the texts come. With into, what is found also goes
    /// into the store there, as the release called name, once the stream is at its end.
    #[pyo3(signature = (texts, *, release=None, open=false, identifier=PathBuf::from("frames"),
                        encoder=None, tagger=PathBuf::from("tagger"), no_tagger=false,
                        labeller=PathBuf::from("fes"), no_fes=false, into=None,
                        name="predicted".to_owned(), models=None, device="cpu",
                        any_language=false, errors="raise", progress=None),
           text_signature = "($self, texts, *, release=None, open=False, identifier='frames', \
                             encoder=None, tagger='tagger', no_tagger=False, labeller='fes', \
                             no_fes=False, into=None, name='predicted', models=None, \
                             device='cpu', any_language=False, errors='raise', progress=None)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn annotate<'py>(
        &self,
        py: Python<'py>,
        texts: Bound<'py, PyAny>,
        release: Option<String>,
        open: bool,
        identifier: PathBuf,
        encoder: Option<PathBuf>,
        tagger: PathBuf,
        no_tagger: bool,
        labeller: PathBuf,
        no_fes: bool,
        into: Option<PathBuf>,
        name: String,
        models: Option<PathBuf>,
        device: &str,
        any_language: bool,
        errors: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let dirs = database::directories(py, models)?;
        let annotator = py.detach(|| {
            Wishes {
                store: self.handle.path.clone(),
                release: self.only(release)?,
                places: Places::new(dirs, device, None)?,
                open,
                identifier,
                encoder,
                tagger: (!no_tagger).then_some(tagger),
                labeller: (!no_fes).then_some(labeller),
                into,
                name,
                any_language,
            }
            .start()
        })?;
        let stream = py.import("fnstore._texts")?.getattr("annotated")?;
        stream.call1((texts, annotator, errors, progress))
    }
}
