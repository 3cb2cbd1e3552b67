//! `db.discover(...)`: new LUs of frames, through WordNets, word vectors and a rewriter.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fnstore::database;
use fnstore::discover::{Corpus, DiscoverOptions, Discoverer, FrameDiscoveries};
use fnstore::expand::WORD_VECTORS;
use fnstore::internals::paraphrase::Paraphraser;
use fnstore::internals::tag::Tagger;
use fnstore::internals::vectors::WordVectors;
use fnstore::internals::verify::Verifier;
use fnstore::model::{Discovery, FrameId};
use fnstore::models::{ADAPTER, VERIFIER, find};
use pyo3::prelude::*;

use crate::database::{Database, directories};
use crate::error::{Fault, Result};
use crate::expand::Teller;
use crate::models::Places;
use crate::number::Count;

/// A word that may be an LU of a frame.
#[pyclass(frozen, get_all, module = "fnstore", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct DiscoveredLu {
    /// Name of the LU that it would be, as in `vet.v`.
    lu: String,
    /// How likely it is an LU of the frame, 0 to 1.
    score: f32,
    /// Mean of the verifier's answers; None where none was asked.
    evokes: Option<f32>,
    /// How much likelier a language model finds it in the frame's sentences than their LUs.
    slot: Option<f32>,
    /// How much the frame's LUs lead to it in a WordNet.
    support: f32,
    /// Likeness to the frame's LUs by word vectors.
    likeness: Option<f32>,
    /// How it was come by, as in `hyponym of check.v`.
    sources: Vec<String>,
    /// Sentences with the word: the text, the word as it stands there, and what a verifier says.
    sentences: Vec<(String, String, Option<f32>)>,
}

impl From<Discovery> for DiscoveredLu {
    fn from(of: Discovery) -> Self {
        let sentences = of.sentences.into_iter().map(|of| {
            let word = of.target.of(&of.text).unwrap_or_default().to_owned();
            (of.text, word, of.evokes)
        });
        Self {
            sentences: sentences.collect(),
            lu: of.name,
            score: of.score,
            evokes: of.evokes,
            slot: of.slot,
            support: of.support,
            likeness: of.likeness,
            sources: of.sources,
        }
    }
}

#[pymethods]
impl DiscoveredLu {
    fn __repr__(&self) -> String {
        format!("<DiscoveredLu {} {:.2}>", self.lu, self.score)
    }
}

/// What a search of a frame found.
#[pyclass(frozen, get_all, module = "fnstore", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct FrameSearch {
    release: String,
    frame: String,
    /// Words that its LUs lead to.
    candidates: u32,
    /// Words that were asked about.
    asked: u32,
    /// Whether the frame had been searched before, and this is what was found then.
    was_searched: bool,
    /// What is proposed, the likeliest first.
    found: Vec<DiscoveredLu>,
    /// Words that are none of the frame's: the LU, the reason, and the frame that is nearer.
    refused: Vec<(String, String, Option<String>)>,
}

impl FrameSearch {
    fn new(release: &str, of: FrameDiscoveries) -> Self {
        let refused = of.refused.into_iter().map(|word| {
            let by = Some(word.by).filter(|by| !by.is_empty());
            (word.name, word.reason, by)
        });
        Self {
            release: release.to_owned(),
            frame: of.name,
            candidates: of.candidates,
            asked: of.asked,
            was_searched: of.was_searched,
            found: of.found.into_iter().map(DiscoveredLu::from).collect(),
            refused: refused.collect(),
        }
    }
}

#[pymethods]
impl FrameSearch {
    fn __repr__(&self) -> String {
        format!("<FrameSearch {}: {} proposed>", self.frame, self.found.len())
    }
}

/// What is asked for.
struct Wishes {
    frames: Vec<String>,
    release: String,
    wordnet: Option<String>,
    corpus: Option<PathBuf>,
    options: DiscoverOptions,
    verifier: PathBuf,
    rewriter: Option<PathBuf>,
    no_rewriter: bool,
    any_language: bool,
}

/// The models that a search asks; the usual ones where they are at hand.
struct SearchModels {
    verifier: Option<Verifier>,
    rewriter: Option<Paraphraser>,
    vectors: Option<WordVectors>,
    tagger: Option<Tagger>,
}

/// What was opened, if it is there; what is damaged is an error.
pub(crate) fn at_hand<T>(opened: Result<T>) -> Result<Option<T>> {
    match opened {
        Err(fault) if fault.is_absence() => Ok(None),
        opened => opened.map(Some),
    }
}

impl SearchModels {
    fn open(wishes: &Wishes, places: &Places) -> Result<Self> {
        let rewriter = match &wishes.rewriter {
            Some(name) => Some(places.rewriter(name)?),
            None if wishes.no_rewriter => None,
            None => at_hand(places.rewriter(Path::new(ADAPTER)))?,
        };
        let verifier = match places.verifier(&wishes.verifier) {
            Err(fault) if wishes.verifier.as_os_str() == VERIFIER && fault.is_absence() => None,
            found => {
                let (adapter, base) = found?;
                let beside = rewriter.as_ref().and_then(Paraphraser::language_model);
                let at = (&places.device, places.numbers);
                Some(Verifier::open_beside(beside, (&adapter, &base), at)?)
            }
        };
        let tagger = || -> Result<Tagger> {
            let model = places.model(Path::new("tagger"))?;
            Ok(Tagger::open(&model, &places.encoder(None, &model)?, &places.device)?)
        };
        let tagger = match wishes.corpus {
            Some(_) => at_hand(tagger())?,
            None => None,
        };
        let vectors = find(Path::new(WORD_VECTORS), &places.dirs);
        let vectors = vectors.map(|place| WordVectors::open(&place)).transpose()?;
        Ok(Self { verifier, rewriter, vectors, tagger })
    }
}

/// The frames of these names, or all that have LUs with sentences.
fn frames(
    database: &database::Database,
    wishes: &Wishes,
    discoverer: &Discoverer<'_>,
) -> Result<Vec<FrameId>> {
    if wishes.frames.is_empty() {
        return Ok(discoverer.frames()?);
    }
    let lexicon = database.lexicon(wishes.release.as_str())?;
    let called = lexicon.frames_called(&wishes.frames)?;
    Ok(called.into_iter().map(|frame| frame.id).collect())
}

fn search(
    database: &database::Database,
    wishes: &Wishes,
    models: &mut SearchModels,
    teller: &mut Teller,
) -> Result<Vec<FrameSearch>> {
    let wordnets = match &wishes.wordnet {
        Some(name) => vec![database.wordnet(name)?],
        None => database.wordnets()?,
    };
    let corpus = wishes.corpus.as_deref().map(Corpus::open).transpose()?;
    let sources = (wordnets, models.vectors.as_ref());
    let verifier = models.verifier.as_mut();
    let discoverer = Discoverer::new(database, &wishes.release, sources, verifier, wishes.options)?;
    let mut discoverer =
        discoverer.with_rewriter(models.rewriter.as_mut()).with_tagger(models.tagger.as_ref());
    if let Some(corpus) = &corpus {
        discoverer = discoverer.with_corpus(corpus);
    }
    let frames = frames(database, wishes, &discoverer)?;
    let (of, mut searched) = (frames.len(), Vec::new());
    for frame in frames {
        let found = match discoverer.discover(frame, &mut || teller.check()) {
            Err(error) if error.is_stopped() => break,
            found => FrameSearch::new(&wishes.release, found?),
        };
        searched.push(found.clone());
        let told = (found, searched.len(), of);
        if teller.tell(|function| function.call1(told).map(drop)) == ControlFlow::Break(()) {
            break;
        }
    }
    Ok(searched)
}

#[pymethods]
impl Database {
    /// Proposes new lexical units of frames, or of all that have LUs with sentences, as
    /// `fnstore discover` does; db.proposals() lists them, too. progress is called with what was
    /// found of a frame, the frames that were searched, and their number. A frame that was
    /// searched in the same way is not asked about again, unless again is true.
    #[pyo3(signature = (*frames, release=None, wordnet=None, corpus=None, candidates=Count(60),
                        sentences=Count(3), least=0.1, again=false,
                        verifier=PathBuf::from(VERIFIER), rewriter=None, no_rewriter=false,
                        models=None, device="cpu", numbers=None, any_language=false,
                        progress=None),
           text_signature = "($self, *frames, release=None, wordnet=None, corpus=None, \
                             candidates=60, sentences=3, least=0.1, again=False, \
                             verifier='verifier', rewriter=None, no_rewriter=False, models=None, \
                             device='cpu', numbers=None, any_language=False, progress=None)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn discover(
        &self,
        py: Python<'_>,
        frames: Vec<String>,
        release: Option<String>,
        wordnet: Option<String>,
        corpus: Option<PathBuf>,
        candidates: Count,
        sentences: Count,
        least: f32,
        again: bool,
        verifier: PathBuf,
        rewriter: Option<PathBuf>,
        no_rewriter: bool,
        models: Option<PathBuf>,
        device: &str,
        numbers: Option<&str>,
        any_language: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<FrameSearch>> {
        let dirs = directories(py, models)?;
        let is_zero = candidates.0 == 0 || sentences.0 == 0;
        if is_zero || !(0.0..=1.0).contains(&least) {
            let message = "candidates and sentences are at least 1, and least is from 0 to 1";
            let advice = "give numbers in that range";
            return Err(Fault::new("NumberError", "E-number", message, advice).raise());
        }
        let mut teller = Teller::new(progress);
        let found = py.detach(|| {
            let (candidates, sentences) = (candidates.size(), sentences.size());
            let options = DiscoverOptions { candidates, sentences, least, again };
            let release = self.only(release)?;
            let wishes = Wishes {
                frames,
                release,
                wordnet,
                corpus,
                options,
                verifier,
                rewriter,
                no_rewriter,
                any_language,
            };
            let places = Places::new(dirs, device, numbers)?;
            let mut models = SearchModels::open(&wishes, &places)?;
            self.handle.write(|database| {
                database.allow_any_language(wishes.any_language);
                search(database, &wishes, &mut models, &mut teller)
            })
        });
        teller.end()?;
        Ok(found?)
    }
}
