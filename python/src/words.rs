//! Words of sentence pairs that are aligned, and the tasks by which annotators align spans.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use fnstore::database::DatabaseError;
use fnstore::expand::{TaskSettings, Tasks};
use fnstore::internals::align::linker::Linker;
use fnstore::internals::align::words::{
    Links, MAX_LENGTH, Model, ModelName, SentencePair, Settings, Symmetrization, WordAligner,
};
use fnstore::internals::align::{self, Answer, Collection, EmbeddingAligner, Task, TooLong};
use fnstore::internals::paraphrase::{Paraphraser, base_of};
use fnstore::query::Expression;
use fnstore::text::words;
use pyo3::prelude::*;

use crate::changes::parsed;
use crate::database::{Database, directories};
use crate::error::{Fault, Result};
use crate::expand::Teller;
use crate::handle::watched;
use crate::models::{Places, list, named, refused};
use crate::number::Count;
use crate::texts::Side;

/// The encoder of `embeddings`, unless another is named.
const ENCODER: &str = "aligner-encoder";

/// How often one who waits for a task looks whether Ctrl-C was pressed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Tasks that wait to be taken.
const WAITING: usize = 8;

/// Words of a pair that mean the same.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct WordLinks {
    source: Vec<String>,
    target: Vec<String>,
    /// Places of words: in the source and in the target.
    links: Vec<(u32, u32)>,
}

#[pymethods]
impl WordLinks {
    /// In Pharaoh's form, as in 0-0 1-2.
    fn __str__(&self) -> String {
        let links: Vec<String> = self.links.iter().map(|(a, b)| format!("{a}-{b}")).collect();
        links.join(" ")
    }

    fn __repr__(&self) -> String {
        format!("<WordLinks {}>", self.__str__())
    }
}

/// How words are aligned: the options of `fnstore align words`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct WordOptions {
    model: String,
    symmetrize: Option<String>,
    iterations: Option<usize>,
    null: Option<f64>,
    identity: Option<f64>,
    threshold: Option<f64>,
    max_length: Option<usize>,
    linker: Option<PathBuf>,
    encoder: Option<PathBuf>,
    layer: Option<usize>,
    device: String,
}

fn pair((source, target): (Side, Side)) -> SentencePair {
    let words_of = |side| match side {
        Side::Words(words) => words,
        Side::Text(text) => {
            let spans = words(&text).into_iter();
            spans.filter_map(|span| span.of(&text)).map(str::to_owned).collect()
        }
    };
    SentencePair { source: words_of(source), target: words_of(target), ..SentencePair::default() }
}

impl WordOptions {
    fn links(
        &self,
        pairs: &[SentencePair],
        others: Vec<SentencePair>,
        (dirs, teller): (Vec<PathBuf>, &mut Teller),
    ) -> Result<Vec<std::result::Result<Links, TooLong>>> {
        let model: ModelName = named("model", &self.model)?;
        self.check(model, !others.is_empty())?;
        let Some(statistical) = model.statistical() else {
            let places = Places::new(dirs, &self.device, None)?;
            if model == ModelName::Linker {
                let named = self.linker.as_deref().ok_or_else(|| {
                    let advice = "give linker=DIR, as `fnstore train words` wrote it";
                    Fault::new("ModelError", "M-model", "`linker` names no directory", advice)
                })?;
                let linker = places.model(named)?;
                let encoder = places.encoder(self.encoder.as_deref(), &linker)?;
                return Ok(Linker::open(&linker, &encoder, &places.device)?.align(pairs)?);
            }
            let name = self.encoder.clone().unwrap_or_else(|| ENCODER.into());
            let encoder = places.model(&name)?;
            let aligner = EmbeddingAligner::open(&encoder, self.layer, &places.device)?;
            return Ok(aligner.align(pairs)?);
        };
        let settings = self.settings(statistical)?;
        let longest = self.max_length.unwrap_or(MAX_LENGTH);
        let is_short = |of: &SentencePair| of.source.len().max(of.target.len()) <= longest;
        let mut all = pairs.to_vec();
        all.extend(others.into_iter().filter(is_short));
        let aligner = WordAligner::train_until(&all, settings, |at| {
            let (done, total) = (at.done as u64, at.total as u64);
            teller.tell(|function| function.call1((done, total)).map(drop))
        });
        // After Ctrl-C there is none, and what it raised is told.
        let Some(aligner) = aligner else { return Ok(Vec::new()) };
        Ok((0..pairs.len()).map(|at| Ok(aligner.align(at))).collect())
    }

    /// Refuses what was given and the model would not read, as the command does.
    fn check(&self, model: ModelName, with_others: bool) -> Result<()> {
        let given = [
            ("train", with_others),
            ("symmetrize", self.symmetrize.is_some()),
            ("iterations", self.iterations.is_some()),
            ("null", self.null.is_some()),
            ("identity", self.identity.is_some()),
            ("threshold", self.threshold.is_some()),
            ("max_length", self.max_length.is_some()),
            ("linker", self.linker.is_some()),
            ("encoder", self.encoder.is_some()),
            ("layer", self.layer.is_some()),
        ];
        let advice = "leave it out, or choose another";
        for (name, given) in given {
            if given && !ModelName::readers_of(name).contains(&model) {
                let message = format!("the model `{model}` does not read `{name}`");
                return Err(Fault::new("QueryError", "E-value", &message, advice));
            }
        }
        let symmetrization = self.symmetrization()?;
        if self.threshold.is_some() && symmetrization != Symmetrization::Agreement {
            let message = format!("symmetrize=\"{symmetrization}\" does not read `threshold`");
            return Err(Fault::new("QueryError", "E-value", &message, advice));
        }
        Ok(())
    }

    fn symmetrization(&self) -> Result<Symmetrization> {
        let given = self.symmetrize.as_deref().map(|name| named("symmetrize", name));
        Ok(given.transpose()?.unwrap_or_default())
    }

    fn settings(&self, model: Model) -> Result<Settings> {
        let default = Settings::default();
        let settings = Settings {
            model,
            symmetrization: self.symmetrization()?,
            iterations: self.iterations.unwrap_or(default.iterations),
            null: self.null.unwrap_or(default.null),
            identity: self.identity.unwrap_or(default.identity),
            threshold: self.threshold.unwrap_or(default.threshold),
            ..default
        };
        settings.check().map_err(|error| {
            let message = error.to_string();
            Fault::new("QueryError", "E-range", &message, "give a number in that range")
        })?;
        Ok(settings)
    }
}

/// Aligns the words of pairs.
#[pyfunction]
pub(crate) fn _word_links(
    py: Python<'_>,
    pairs: Vec<(Side, Side)>,
    others: Vec<(Side, Side)>,
    dirs: Vec<PathBuf>,
    options: WordOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Py<PyAny>>> {
    let mut teller = Teller::new(progress);
    let found = py.detach(|| -> Result<_> {
        let pairs: Vec<SentencePair> = pairs.into_iter().map(pair).collect();
        let others = others.into_iter().map(pair).collect();
        let links = options.links(&pairs, others, (dirs, &mut teller))?;
        Ok(pairs.into_iter().zip(links).collect::<Vec<_>>())
    });
    teller.end()?;
    let answer = |(pair, links): (SentencePair, std::result::Result<Links, TooLong>)| {
        let links = links.map_err(|why| refused("E-too-long", &why.to_string()))?;
        let links = links.iter().map(|link| (link.source, link.target)).collect();
        Ok(WordLinks { source: pair.source, target: pair.target, links })
    };
    list(py, found?.into_iter().map(answer).collect())
}

/// A sentence and its paraphrase, in which an annotator marks what means the same as the trigger.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct AlignmentTask {
    id: String,
    frame: String,
    lu: String,
    sentence: String,
    /// The trigger in the sentence, in code points.
    span: (u32, u32),
    trigger: String,
    paraphrase: String,
}

#[pymethods]
impl AlignmentTask {
    /// In the form that `fnstore align tasks` writes.
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Self { id, frame, lu, sentence, span, trigger, paraphrase } = self;
        let task = Task {
            id: id.clone(),
            frame: frame.clone(),
            lu: lu.clone(),
            sentence: sentence.clone(),
            span: [span.0, span.1],
            trigger: trigger.clone(),
            paraphrase: paraphrase.clone(),
        };
        let json = serde_json::to_string(&task);
        let json = json.map_err(|error| refused("E-json", &error.to_string()))?;
        py.import("json")?.call_method1("loads", (json,))
    }

    fn __repr__(&self) -> String {
        format!("<AlignmentTask {}: {:?}>", self.id, self.paraphrase)
    }
}

impl From<Task> for AlignmentTask {
    fn from(of: Task) -> Self {
        let Task { id, frame, lu, sentence, span: [start, end], trigger, paraphrase } = of;
        Self { id, frame, lu, sentence, span: (start, end), trigger, paraphrase }
    }
}

/// Sentences that were left out, by the reason.
type LeftOut = BTreeMap<&'static str, u64>;

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Tasks one after the other, made ahead by a thread of their own.
#[pyclass(frozen, module = "fnstore._fnstore")]
pub(crate) struct AlignmentTasks {
    tasks: Mutex<Receiver<Result<Task>>>,
    left_out: Arc<Mutex<LeftOut>>,
}

#[pymethods]
impl AlignmentTasks {
    /// Sentences that were left out so far, by the reason.
    #[getter]
    fn left_out(&self) -> LeftOut {
        locked(&self.left_out).clone()
    }

    fn __iter__(of: PyRef<'_, Self>) -> PyRef<'_, Self> {
        of
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<AlignmentTask>> {
        loop {
            let task = py.detach(|| locked(&self.tasks).recv_timeout(PATIENCE));
            match task {
                Ok(task) => return Ok(Some(task?.into())),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            }
        }
    }
}

#[pymethods]
impl Database {
    /// Tasks for annotators: sentences of each LU of the human sets that an expression finds, each
    /// paraphrased without its trigger. They come one by one, as they are made.
    #[pyo3(signature = (expression, *, per_lu=Count(4), top_k=Count(10), seed=Count(1),
                        limit=None, max_pieces=Count(80), model=PathBuf::from("paraphrase"),
                        models=None, device="cpu", numbers=None, any_language=false),
           text_signature = "($self, expression, *, per_lu=4, top_k=10, seed=1, limit=None, \
                             max_pieces=80, model='paraphrase', models=None, device='cpu', \
                             numbers=None, any_language=False)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn align_tasks(
        &self,
        py: Python<'_>,
        expression: &str,
        per_lu: Count,
        top_k: Count,
        seed: Count,
        limit: Option<Count>,
        max_pieces: Count,
        model: PathBuf,
        models: Option<PathBuf>,
        device: &str,
        numbers: Option<&str>,
        any_language: bool,
    ) -> PyResult<AlignmentTasks> {
        let dirs = directories(py, models)?;
        let settings = TaskSettings {
            per_lu: per_lu.size(),
            top_k: top_k.size(),
            seed: seed.0,
            limit: limit.map(Count::size),
            max_source_pieces: max_pieces.size(),
        };
        if settings.per_lu == 0 {
            let advice = "give per_lu=4, or leave it out";
            let message = "sentences of an LU are 0, expected 1 or more";
            return Err(Fault::new("QueryError", "N-range", message, advice).into());
        }
        let (database, expression, paraphraser) = py.detach(|| -> Result<_> {
            let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
            let database = self.handle.get()?;
            database.count(&expression)?;
            database.allow_any_language(any_language);
            let places = Places::new(dirs, device, numbers)?;
            let model = places.model(&model)?;
            let base = base_of(&model, &places.dirs)?;
            let (device, numbers) = (&places.device, places.numbers);
            Ok((
                database,
                expression,
                Paraphraser::open_with(&model, base.as_deref(), device, numbers)?,
            ))
        })?;
        let (sender, receiver) = sync_channel(WAITING);
        let left_out = Arc::<Mutex<LeftOut>>::default();
        let told = Arc::clone(&left_out);
        std::thread::spawn(move || {
            let mut paraphraser = paraphraser;
            watched(&sender, || {
                let mut tasks = match Tasks::new(&database, &expression, &mut paraphraser, settings)
                {
                    Ok(tasks) => tasks,
                    Err(error) => return sender.send(Err(error.into())).ok(),
                };
                // Whoever takes no more of them has let go of the other end.
                loop {
                    let task = tasks.next();
                    locked(&told).clone_from(tasks.left_out());
                    sender.send(task?.map_err(Fault::from)).ok()?;
                }
            })
        });
        Ok(AlignmentTasks { tasks: Mutex::new(receiver), left_out })
    }
}

/// How far annotators agree, and what most of them marked.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct AnnotatorAgreement {
    /// Tasks with an answer.
    tasks: u64,
    annotators: u64,
    answers: u64,
    /// Answers that say that nothing means the same.
    unaligned: u64,
    /// Answered tasks of which no answer has more voices than every other.
    undecided: u64,
    /// Tasks with two answers or more.
    shared: u64,
    /// Share of those where all marked a span in which it is the same one.
    exact: f64,
    /// F1 of words between two annotators who marked a span.
    soft: f64,
    fleiss_kappa: Option<f64>,
    cohen_kappa: Option<f64>,
    /// Training data: a record for each task that is decided, as `fnstore train aligner` reads.
    items: Vec<Py<PyAny>>,
    /// Tasks and answers that could not be used, by their codes.
    refused: BTreeMap<&'static str, Vec<String>>,
}

#[pymethods]
impl AnnotatorAgreement {
    fn __repr__(&self) -> String {
        let Self { answers, annotators, exact, .. } = self;
        format!("<AnnotatorAgreement of {annotators} annotators, {answers} answers: {exact:.2}>")
    }
}

/// Brings tasks and answers together, both as JSON.
#[pyfunction]
pub(crate) fn _answered(
    py: Python<'_>,
    tasks: Vec<String>,
    answers: Vec<String>,
) -> PyResult<AnnotatorAgreement> {
    let (items, of, refused) = py.detach(|| agreed(&tasks, &answers));
    let record = |item| parsed(py, Some(item));
    let items = items.iter().filter_map(|item| record(item).transpose());
    Ok(AnnotatorAgreement {
        tasks: of.tasks,
        annotators: of.annotators,
        answers: of.answers,
        unaligned: of.unaligned,
        undecided: of.undecided,
        shared: of.shared,
        exact: of.exact(),
        soft: of.soft(),
        fleiss_kappa: of.fleiss_kappa,
        cohen_kappa: of.cohen_kappa,
        items: items.map(|item| Ok(item?.unbind())).collect::<PyResult<_>>()?,
        refused,
    })
}

/// What could not be used, by its codes.
type Refusals = BTreeMap<&'static str, Vec<String>>;

/// Training data as JSON, how far annotators agree, and what could not be used.
fn agreed(
    tasks: &[String],
    answers: &[String],
) -> (Vec<String>, align::AnnotatorAgreement, Refusals) {
    let (mut collection, mut refusals) = (Collection::default(), Refusals::new());
    let unread = |error: serde_json::Error| ("E-json", error.to_string());
    let problem = |error: align::TaskProblem| (error.code(), error.to_string());
    for text in tasks {
        let task = serde_json::from_str::<Task>(text).map_err(unread);
        let added = task.and_then(|task| collection.add_task(task).map_err(problem));
        if let Err((code, why)) = added {
            refusals.entry(code).or_default().push(why);
        }
    }
    for text in answers {
        let answer = serde_json::from_str::<Answer>(text).map_err(unread);
        let added = answer.and_then(|answer| collection.add_answer(answer).map_err(problem));
        if let Err((code, why)) = added {
            refusals.entry(code).or_default().push(why);
        }
    }
    let items = collection.items();
    let items = items.iter().filter_map(|item| serde_json::to_string(item).ok()).collect();
    (items, collection.agreement(), refusals)
}
