//! `fnstore.paraphrase`: sentences rewritten under constraints.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fnstore::expand::Words;
use fnstore::internals::engine::{BeamSettings, LengthLimit, SampleSettings, Stop};
use fnstore::internals::paraphrase::{
    self as rewriting, Constraints, Heuristics, Paraphraser, Refusal, RemoteParaphraser,
    RemoteRewrite, Request, RequestOutcome, Rewrite, Settings,
};
use fnstore::text::input::read_text;
use fnstore::text::{Idf, is_copy};
use pyo3::prelude::*;

use crate::error::{Fault, Result};
use crate::html;
use crate::models::{Places, check_language, in_bytes, list, named, refusal, refused};
use crate::servers::Server;
use crate::texts::open_rewriter;

/// One paraphrase.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Paraphrase {
    text: String,
    /// Mean negative log-likelihood per token, natural log; lower is better.
    score: f32,
    log_prob: f32,
    /// Whether it ends by itself; if not, it was cut at the length limit.
    ended: bool,
    /// What it has of what is required, as lists of alternatives.
    met: Vec<Vec<String>>,
    unmet: Vec<Vec<String>>,
    /// Whether it repeats the sentence word for word.
    copy: bool,
}

#[pymethods]
impl Paraphrase {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<Paraphrase {:?} {:.2}>", self.text, self.score)
    }
}

/// What became of a sentence.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Rewriting {
    text: String,
    /// The best first; none where the length allowed holds none or everything is banned.
    paraphrases: Vec<Py<Paraphrase>>,
    /// Bans that were lifted, since what is required holds them.
    lifted: Vec<String>,
    /// Why there is no paraphrase: `length-limit` or `blocked`; `rejected` of what a server wrote.
    stop: Option<&'static str>,
}

#[pymethods]
impl Rewriting {
    fn __repr__(&self) -> String {
        format!("<Rewriting {:?}, {} paraphrases>", self.text, self.paraphrases.len())
    }

    fn _repr_html_(&self) -> String {
        let shown = self.paraphrases.iter().map(|of| (of.get().text.as_str(), of.get().score));
        html::rewriting(&self.text, &shown.collect::<Vec<_>>())
    }
}

impl Rewriting {
    fn new(request: Request, rewrite: Rewrite) -> Result<Self> {
        let (found, stop) = match rewrite.outcome {
            RequestOutcome::Refused(why) => return Err(refusal(why.into())?),
            RequestOutcome::Paraphrases(found) => (found, None),
            RequestOutcome::NothingLeft(Stop::LengthLimit) => (Vec::new(), Some("length-limit")),
            RequestOutcome::NothingLeft(_) => (Vec::new(), Some("blocked")),
        };
        Self::with(request, found, rewrite.lifted, stop)
    }

    fn with(
        request: Request,
        found: Vec<rewriting::Paraphrase>,
        lifted: Vec<String>,
        stop: Option<&'static str>,
    ) -> Result<Self> {
        let (text, require) = (request.text, request.constraints.require);
        let one = |of: rewriting::Paraphrase| {
            let (unmet, met): (Vec<usize>, Vec<usize>) =
                (0..require.len()).partition(|at| of.unmet.contains(at));
            let phrases = |at: Vec<usize>| at.into_iter().map(|at| require[at].clone()).collect();
            Paraphrase {
                copy: is_copy(&of.text, &text),
                text: of.text,
                score: of.score,
                log_prob: of.log_prob,
                ended: of.ended,
                met: phrases(met),
                unmet: phrases(unmet),
            }
        };
        let made = Python::attach(|py| {
            found.into_iter().map(|of| Py::new(py, one(of))).collect::<PyResult<Vec<_>>>()
        });
        let paraphrases = made.map_err(|error| {
            Fault::new("ModelError", "M-model", &error.to_string(), "give it more memory")
        })?;
        Ok(Self { text, paraphrases, lifted, stop })
    }
}

/// How it is searched: the options of `fnstore paraphrase`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SearchOptions {
    beam: usize,
    n_best: usize,
    length_penalty: String,
    max_length_factor: f32,
    max_length_more: usize,
    stop: String,
    patience: f32,
    prune: f32,
    coverage_penalty: f32,
    renormalize: bool,
    sample: Option<usize>,
    seed: u64,
    temperature: f32,
    top_k: usize,
    top_p: f32,
    words: String,
    max_pieces: usize,
    avoid: Vec<String>,
    avoid_list: Option<PathBuf>,
    require: Vec<String>,
    require_names: bool,
    avoid_telling: usize,
    idf: Option<PathBuf>,
}

impl SearchOptions {
    fn settings(&self) -> Result<Settings> {
        let wrong = |error: fnstore::internals::engine::DecodeError| {
            Fault::new("QueryError", "E-value", &error.to_string(), "give a formula of those")
        };
        let length_penalty = self.length_penalty.parse().map_err(wrong)?;
        let length_limit =
            LengthLimit { factor: self.max_length_factor, constant: self.max_length_more };
        let beam = BeamSettings {
            beam_size: self.beam,
            n_best: self.n_best.min(self.beam),
            length_penalty,
            length_limit,
            stopping: named("stop", &self.stop)?,
            patience: self.patience,
            prune_threshold: self.prune,
            renormalize: self.renormalize,
            coverage_penalty: self.coverage_penalty,
        };
        let sample = self.sample.map(|samples| SampleSettings {
            samples,
            seed: self.seed,
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            length_penalty,
            length_limit,
            renormalize: self.renormalize,
        });
        let mut avoid = self.avoid.clone();
        if let Some(file) = &self.avoid_list {
            let text = lines(file)?;
            let phrases = text.lines().map(str::trim).filter(|line| !line.is_empty());
            avoid.extend(phrases.map(str::to_owned));
        }
        let known_words = named::<Words>("words", &self.words)? == Words::Known;
        let max_source_pieces = self.max_pieces;
        Ok(Settings { beam, sample, avoid, known_words, max_source_pieces, ..Settings::default() })
    }

    fn heuristics(&self) -> Result<Heuristics> {
        let idf = match (&self.idf, self.avoid_telling) {
            (_, 0) => Idf::default(),
            (Some(file), _) => Idf::new(lines(file)?.lines()),
            (None, _) => {
                let message = "`avoid_telling` counts words in sentences, and there are none";
                let advice = "give idf=FILE, with one sentence a line";
                return Err(Fault::new("QueryError", "E-value", message, advice));
            }
        };
        Ok(Heuristics {
            require: Heuristics::alternatives(&self.require),
            names: self.require_names,
            telling: self.avoid_telling,
            idf,
        })
    }
}

fn lines(file: &Path) -> Result<String> {
    read_text(file).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", file.display());
        Fault::new("ImportFailedError", "E-read", &message, "give a file of UTF-8 text")
    })
}

/// A sentence with its own constraints: text, avoid, require, keep, prefix, hint.
type Item = (String, Vec<String>, Vec<Vec<String>>, Vec<(u32, u32)>, String, Vec<String>);

fn request((text, avoid, require, keep, prefix, hint): Item) -> Result<Request> {
    let kept = keep.into_iter().map(|span| {
        let span = in_bytes(&text, span)?;
        Ok(vec![span.of(&text).unwrap_or_default().to_owned()])
    });
    let mut all = kept.collect::<Result<Vec<_>>>()?;
    all.extend(require);
    let constraints = Constraints { avoid, require: all, prefix, hint };
    Ok(Request { text, constraints })
}

/// What writes: a network of this process, or a server.
#[allow(clippy::large_enum_variant, reason = "there is one")]
enum Writer {
    Network(Paraphraser),
    Server(RemoteParaphraser),
}

/// Whether to go on: not after Ctrl-C, which `raised` then holds.
fn check(raised: &mut Option<PyErr>) -> ControlFlow<()> {
    *raised = Python::attach(|py| py.check_signals()).err();
    if raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// An open rewriter.
#[pyclass(frozen, module = "fnstore._fnstore")]
pub(crate) struct SentenceRewriter {
    writer: Mutex<Writer>,
    settings: Settings,
    heuristics: Heuristics,
}

impl SentenceRewriter {
    fn answer(&self, items: Vec<Item>) -> PyResult<Vec<Result<Rewriting>>> {
        let mut writer = self.writer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match &mut *writer {
            Writer::Network(paraphraser) => self.searched(paraphraser, items),
            Writer::Server(server) => {
                items.into_iter().map(|item| self.asked(server, item)).collect()
            }
        }
    }

    /// What a server writes in the place of a sentence.
    fn asked(&self, server: &mut RemoteParaphraser, item: Item) -> PyResult<Result<Rewriting>> {
        let mut request = match request(item) {
            Ok(request) => request,
            Err(fault) => return Ok(Err(fault)),
        };
        if !request.constraints.prefix.trim().is_empty() {
            let message = "`prefix` asks for a beginning, which a server cannot be held to";
            return Ok(Err(refused("E-prefix", message)));
        }
        if request.text.trim().is_empty() {
            return Ok(Err(refusal(Refusal::Empty.into())?));
        }
        self.heuristics.apply(&mut request);
        let mut raised = None;
        let asked = server.paraphrase_while(&request, &self.settings, &mut || check(&mut raised));
        if let Some(raised) = raised {
            return Err(raised);
        }
        Ok(match asked {
            Ok(RemoteRewrite { paraphrases, lifted }) => {
                let stop = paraphrases.is_empty().then_some("rejected");
                Rewriting::with(request, paraphrases, lifted, stop)
            }
            Err(error) => Err(refusal(error)?),
        })
    }

    fn searched(
        &self,
        paraphraser: &mut Paraphraser,
        items: Vec<Item>,
    ) -> PyResult<Vec<Result<Rewriting>>> {
        let failed = |error: rewriting::ParaphraseError| PyErr::from(Fault::from(error));
        let mut session = paraphraser.session(self.settings.clone()).map_err(failed)?;
        let mut open = HashMap::new();
        let mut answers: Vec<Option<Result<Rewriting>>> = Vec::new();
        for (at, item) in items.into_iter().enumerate() {
            let mut request = match request(item) {
                Ok(request) => request,
                Err(fault) => {
                    answers.push(Some(Err(fault)));
                    continue;
                }
            };
            self.heuristics.apply(&mut request);
            let begun =
                session.open_under(&request.text, &request.constraints).and_then(|source| {
                    let submitted = session.submit(source, &request.constraints);
                    submitted.map(|_| source).inspect_err(|_| session.close(source))
                });
            answers.push(match begun {
                Ok(source) => {
                    open.insert(source, (at, request));
                    None
                }
                Err(error) => Some(Err(refusal(error)?)),
            });
        }
        let mut raised = None;
        while !open.is_empty() {
            let rewrite = session.next_finished_while(&mut || check(&mut raised));
            if let Some(raised) = raised.take() {
                return Err(raised);
            }
            let Some(rewrite) = rewrite.map_err(failed)? else { break };
            session.close(rewrite.source);
            if let Some((at, request)) = open.remove(&rewrite.source) {
                answers[at] = Some(Rewriting::new(request, rewrite));
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }
}

#[pymethods]
impl SentenceRewriter {
    #[new]
    #[pyo3(signature = (dirs, model, device, numbers, language, options, endpoint))]
    #[allow(clippy::too_many_arguments, reason = "the package names them")]
    fn new(
        py: Python<'_>,
        dirs: Vec<PathBuf>,
        model: Option<PathBuf>,
        device: &str,
        numbers: Option<&str>,
        language: Option<&str>,
        options: SearchOptions,
        endpoint: Option<&Server>,
    ) -> Result<Self> {
        py.detach(|| {
            let (settings, heuristics) = (options.settings()?, options.heuristics()?);
            if let Some(server) = endpoint {
                let server = server.open(model.as_deref().and_then(Path::to_str))?;
                let writer = Mutex::new(Writer::Server(RemoteParaphraser::new(server)));
                return Ok(Self { writer, settings, heuristics });
            }
            let places = Places::new(dirs, device, numbers)?;
            let mut paraphraser = open_rewriter(&places, model.as_deref())?;
            check_language(paraphraser.declared(), language)?;
            // Settings that no search can follow are told here.
            drop(paraphraser.session(settings.clone())?);
            let writer = Mutex::new(Writer::Network(paraphraser));
            Ok(Self { writer, settings, heuristics })
        })
    }

    fn batch(&self, py: Python<'_>, items: Vec<Item>) -> PyResult<Vec<Py<PyAny>>> {
        let answers = py.detach(|| self.answer(items))?;
        list(py, answers)
    }
}
