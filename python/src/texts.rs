//! What models say of texts: alignments, scores, answers, tags and substitutes. Objects hold an
//! open model and answer batches; `fnstore/_texts.py` makes streams of them.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fnstore::internals::NetworkError;
use fnstore::internals::align::{
    AlignError, AlignRequest, Aligner, Ranking, WordRanking, WordRequest, WordSpan,
};
use fnstore::internals::engine::LanguageAdapter;
use fnstore::internals::paraphrase::{
    ParaphraseError, Paraphraser, Settings, Substitute, base_of, is_adapter,
};
use fnstore::internals::score::{FieldTexts, Question, ScoreRefusal, ScoreRequest, Scorer};
use fnstore::internals::tag::Tagger;
use fnstore::model::Span;
use fnstore::models::{default_rewriter, find};
use fnstore::text::{Morphology, natural_spacing_with, words};
use pyo3::prelude::*;

use crate::error::{Fault, Result};
use crate::html;
use crate::models::{Places, check_language, in_bytes, in_chars, list, refusal, refused};

/// A text, or its words.
#[derive(FromPyObject)]
pub(crate) enum Side {
    Text(String),
    Words(Vec<String>),
}

/// A span of a text, what it covers, and its score.
type Placed = ((u32, u32), String, f32);

/// Where a span went.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct Alignment {
    /// The span that answers to each piece; None where nothing does.
    #[pyo3(get)]
    spans: Option<Vec<(u32, u32)>>,
    #[pyo3(get)]
    texts: Option<Vec<String>>,
    /// 0 to 1; of several pieces the lowest. None where no span may answer.
    #[pyo3(get)]
    score: Option<f32>,
    /// The next best spans of each piece, with text and score.
    #[pyo3(get)]
    runners_up: Vec<Vec<Placed>>,
    /// Source and target as texts, with the pieces and what answers to them in bytes.
    source: Shown,
    target: Shown,
}

/// A text, and spans of it in bytes.
#[derive(Default)]
struct Shown {
    text: String,
    spans: Vec<Span>,
}

impl Shown {
    /// A list of words as a text.
    fn of_words(words: &[String], spans: &[WordSpan]) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for word in words {
            if !text.is_empty() {
                text.push(' ');
            }
            let start = text.len() as u32;
            text.push_str(word);
            ends.push(Span::new(start, text.len() as u32));
        }
        let span = |of: &WordSpan| {
            let (first, last) = (ends.get(of.start as usize)?, ends.get(of.end as usize - 1)?);
            Some(Span::new(first.start, last.end))
        };
        Self { text, spans: spans.iter().filter_map(span).collect() }
    }
}

impl Alignment {
    fn new(
        (source, mut target): (Shown, Shown),
        found: Option<Vec<(Placed, Vec<Placed>)>>,
        threshold: f32,
    ) -> Self {
        let Some(found) = found else {
            target.spans.clear();
            let runners_up = source.spans.iter().map(|_| Vec::new()).collect();
            return Self { spans: None, texts: None, score: None, runners_up, source, target };
        };
        let score = found.iter().map(|((.., score), _)| *score).fold(1.0, f32::min);
        let (answers, mut runners_up): (Vec<Placed>, Vec<Vec<Placed>>) = found.into_iter().unzip();
        if score < threshold {
            target.spans.clear();
            // What is too weak to be the answer stands before the others.
            answers.into_iter().zip(&mut runners_up).for_each(|(of, others)| others.insert(0, of));
            let score = Some(score);
            return Self { spans: None, texts: None, score, runners_up, source, target };
        }
        let (spans, texts) = answers.into_iter().map(|(span, text, _)| (span, text)).unzip();
        let (spans, texts) = (Some(spans), Some(texts));
        Self { spans, texts, score: Some(score), runners_up, source, target }
    }
}

#[pymethods]
impl Alignment {
    fn __repr__(&self) -> String {
        match (&self.spans, self.score) {
            (Some(spans), Some(score)) => format!("<Alignment {spans:?} {score:.2}>"),
            _ => "<Alignment: none>".to_owned(),
        }
    }

    fn _repr_html_(&self) -> String {
        let (source, target) = (&self.source, &self.target);
        let (from, to) = ((&*source.text, &*source.spans), (&*target.text, &*target.spans));
        html::alignment(from, to, self.score)
    }
}

/// An open aligner.
#[pyclass(frozen, module = "fnstore._fnstore")]
pub(crate) struct SpanAligner {
    aligner: Aligner,
    threshold: f32,
    runners_up: usize,
}

/// What is asked of an aligner: source, pieces of it, and target.
type AlignItem = (Side, Vec<(u32, u32)>, Side);

/// A question to it, with spans as it counts them.
enum Asked {
    Texts(String, Vec<Span>, String),
    Words(Vec<String>, Vec<WordSpan>, Vec<String>),
}

impl Asked {
    fn new((source, pieces, target): AlignItem) -> Result<Self> {
        match (source, target) {
            (Side::Text(source), Side::Text(target)) => {
                let pieces = pieces.into_iter().map(|piece| in_bytes(&source, piece));
                let pieces = pieces.collect::<Result<_>>()?;
                Ok(Self::Texts(source, pieces, target))
            }
            (Side::Words(source), Side::Words(target)) => {
                if source.iter().chain(&target).any(|word| word.trim().is_empty()) {
                    return Err(refused("E-empty", "a list of words has an empty word"));
                }
                let size = source.len();
                let piece = |(start, end): (u32, u32)| match start < end && end as usize <= size {
                    true => Ok(WordSpan::new(start, end)),
                    false => {
                        let message = format!("the span is ({start}, {end}) of {size} words");
                        Err(refused("E-span", &message))
                    }
                };
                let pieces = pieces.into_iter().map(piece).collect::<Result<_>>()?;
                Ok(Self::Words(source, pieces, target))
            }
            _ => Err(refused("E-type", "source and target are two texts, or two lists of words")),
        }
    }
}

impl SpanAligner {
    fn answer(&self, items: Vec<AlignItem>) -> Result<Vec<Result<Alignment>>> {
        let asked: Vec<Result<Asked>> = items.into_iter().map(Asked::new).collect();
        let (mut texts, mut lists) = (Vec::new(), Vec::new());
        for asked in asked.iter().flatten() {
            match asked {
                Asked::Texts(source, pieces, target) => {
                    texts.push(AlignRequest { source, pieces, target });
                }
                Asked::Words(source, pieces, target) => {
                    lists.push(WordRequest { source, pieces, target });
                }
            }
        }
        let mut of_texts = self.aligner.rank_each(&texts, self.runners_up)?.into_iter();
        let mut of_lists = self.aligner.rank_words_each(&lists, self.runners_up)?.into_iter();
        let answer = |asked: Result<Asked>| match asked? {
            Asked::Texts(source, pieces, target) => {
                let found = of_texts.next().expect("each text has an answer");
                let found = found.map_err(|error| too_long(&error))?;
                let spans = found.as_ref().map(|of| of.alignment.spans.clone());
                let found = found.map(|ranking| of_text(&target, ranking));
                let source = Shown { text: source, spans: pieces };
                let target = Shown { text: target, spans: spans.unwrap_or_default() };
                Ok(Alignment::new((source, target), found, self.threshold))
            }
            Asked::Words(source, pieces, target) => {
                let found = of_lists.next().expect("each list has an answer");
                let found = found.map_err(|error| too_long(&error))?;
                let spans: Vec<WordSpan> =
                    found.iter().flatten().map(|((span, _), _)| *span).collect();
                let shown = (Shown::of_words(&source, &pieces), Shown::of_words(&target, &spans));
                let found = found.map(|ranking| of_list(&target, ranking));
                Ok(Alignment::new(shown, found, self.threshold))
            }
        };
        Ok(asked.into_iter().map(answer).collect())
    }
}

fn too_long(error: &AlignError) -> Fault {
    let code = if matches!(error, AlignError::TooLong { .. }) { "E-too-long" } else { "E-span" };
    refused(code, &error.to_string())
}

fn of_text(target: &str, Ranking { alignment, runners_up }: Ranking) -> Vec<(Placed, Vec<Placed>)> {
    let place = |(span, score): (Span, f32)| {
        (in_chars(target, span), span.of(target).unwrap_or_default().to_owned(), score)
    };
    let answers = alignment.spans.into_iter().zip(alignment.scores).map(place);
    let others = runners_up.into_iter().map(|others| others.into_iter().map(place).collect());
    answers.zip(others).collect()
}

fn of_list(target: &[String], ranking: WordRanking) -> Vec<(Placed, Vec<Placed>)> {
    let place = |(WordSpan { start, end }, score): (WordSpan, f32)| {
        ((start, end), target[start as usize..end as usize].join(" "), score)
    };
    let of_piece = |(answer, others): ((WordSpan, f32), Vec<_>)| {
        (place(answer), others.into_iter().map(place).collect())
    };
    ranking.into_iter().map(of_piece).collect()
}

#[pymethods]
impl SpanAligner {
    #[new]
    #[pyo3(signature = (dirs, head, encoder, device, threshold, runners_up, language))]
    #[allow(clippy::too_many_arguments, reason = "they are those of fnstore.align")]
    fn new(
        py: Python<'_>,
        dirs: Vec<PathBuf>,
        head: PathBuf,
        encoder: Option<PathBuf>,
        device: &str,
        threshold: Option<f32>,
        runners_up: usize,
        language: Option<&str>,
    ) -> Result<Self> {
        py.detach(|| {
            let places = Places::new(dirs, device, None)?;
            let head = places.model(&head)?;
            let encoder = places.encoder(encoder.as_deref(), &head)?;
            let aligner = Aligner::open(&head, &encoder, &places.device)?;
            check_language(aligner.declared(), language)?;
            let threshold = threshold.unwrap_or(aligner.config().threshold);
            Ok(Self { aligner, threshold, runners_up })
        })
    }

    fn batch(&self, py: Python<'_>, items: Vec<AlignItem>) -> PyResult<Vec<Py<PyAny>>> {
        let answers = py.detach(|| self.answer(items))?;
        list(py, answers)
    }
}

/// How likely a text is under a language model.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Score {
    /// Sum of the log-probabilities of its tokens (natural log).
    log_prob: f64,
    tokens: usize,
    perplexity: f64,
}

#[pymethods]
impl Score {
    fn __repr__(&self) -> String {
        format!("<Score perplexity {:.2}, {} tokens>", self.perplexity, self.tokens)
    }
}

/// What a language model answers to a question.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Verdict {
    /// Probability of the first answer among the two.
    yes: f64,
    log_odds: f64,
}

#[pymethods]
impl Verdict {
    fn __repr__(&self) -> String {
        format!("<Verdict {:.4}>", self.yes)
    }
}

/// An open language model, and the question that it is asked.
#[pyclass(frozen, module = "fnstore._fnstore")]
pub(crate) struct TextScorer {
    scorer: Mutex<Scorer>,
    question: Option<Question>,
}

fn unscored(refusal: &ScoreRefusal) -> Fault {
    refused("E-text", &refusal.to_string())
}

#[pymethods]
impl TextScorer {
    #[new]
    #[pyo3(signature = (dirs, model, device, numbers, question, language))]
    fn new(
        py: Python<'_>,
        dirs: Vec<PathBuf>,
        model: PathBuf,
        device: &str,
        numbers: Option<&str>,
        question: Option<PathBuf>,
        language: Option<&str>,
    ) -> Result<Self> {
        py.detach(|| {
            let question = question.as_deref().map(Question::read).transpose()?;
            let places = Places::new(dirs, device, numbers)?;
            let adapter = find(&model, &places.dirs).filter(|place| is_adapter(place));
            let base = adapter.as_deref().map(|adapter| base_of(adapter, &places.dirs));
            let base = match base.transpose()?.flatten() {
                Some(base) => base,
                None => places.language_model(&model)?,
            };
            let adapter = adapter.as_deref().map(LanguageAdapter::read).transpose()?;
            let scorer = Scorer::open_with(&base, adapter, &places.device, places.numbers)?;
            check_language(scorer.declared(), language)?;
            Ok(Self { scorer: Mutex::new(scorer), question })
        })
    }

    fn batch(
        &self,
        py: Python<'_>,
        items: Vec<(String, Option<(u32, u32)>)>,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let request = |(text, span): (String, Option<(u32, u32)>)| {
            let span = span.map(|span| in_bytes(&text, span)).transpose()?;
            Ok(ScoreRequest { text, span })
        };
        let answers = py.detach(|| {
            let asked: Vec<Result<ScoreRequest>> = items.into_iter().map(request).collect();
            let good: Vec<ScoreRequest> = asked.iter().flatten().cloned().collect();
            let mut scorer = self.scorer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let mut scores = scorer.score(&good)?.into_iter();
            let answer = |asked: Result<ScoreRequest>| {
                asked?;
                let score = scores.next().expect("each text has an answer");
                let score = score.map_err(|refusal| unscored(&refusal))?;
                let (log_prob, perplexity) = (score.log_prob, score.perplexity());
                Ok(Score { log_prob, tokens: score.tokens, perplexity })
            };
            Result::Ok(asked.into_iter().map(answer).collect::<Vec<_>>())
        })?;
        list(py, answers)
    }

    /// Names of the fields that the question asks for.
    fn fields(&self) -> Vec<&str> {
        self.question.iter().flat_map(Question::fields).collect()
    }

    fn ask(&self, py: Python<'_>, items: Vec<FieldTexts>) -> PyResult<Vec<Py<PyAny>>> {
        let Some(question) = &self.question else { return Ok(Vec::new()) };
        let answers = py.detach(|| {
            let mut scorer = self.scorer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let answers = scorer.ask(question, &items)?.into_iter().map(|answer| {
                let answer = answer.map_err(|refusal| unscored(&refusal))?;
                Ok(Verdict { yes: answer.yes(), log_odds: answer.log_odds() })
            });
            Result::Ok(answers.collect::<Vec<_>>())
        })?;
        list(py, answers)
    }
}

/// Words with their parts of speech.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Tagged {
    words: Vec<String>,
    tags: Vec<String>,
    /// Probability of each tag.
    scores: Vec<f32>,
}

#[pymethods]
impl Tagged {
    fn __repr__(&self) -> String {
        let words = self.words.iter().zip(&self.tags).map(|(word, tag)| format!("{word}/{tag}"));
        format!("<Tagged {}>", words.collect::<Vec<_>>().join(" "))
    }
}

/// An open tagger.
#[pyclass(frozen, module = "fnstore._fnstore")]
pub(crate) struct WordTagger(Tagger);

#[pymethods]
impl WordTagger {
    #[new]
    #[pyo3(signature = (dirs, tagger, encoder, device, language))]
    fn new(
        py: Python<'_>,
        dirs: Vec<PathBuf>,
        tagger: PathBuf,
        encoder: Option<PathBuf>,
        device: &str,
        language: Option<&str>,
    ) -> Result<Self> {
        py.detach(|| {
            let places = Places::new(dirs, device, None)?;
            let tagger = places.model(&tagger)?;
            let encoder = places.encoder(encoder.as_deref(), &tagger)?;
            let tagger = Tagger::open(&tagger, &encoder, &places.device)?;
            check_language(tagger.declared(), language)?;
            Ok(Self(tagger))
        })
    }

    fn batch(&self, py: Python<'_>, items: Vec<Side>) -> PyResult<Vec<Py<PyAny>>> {
        let of_text = |text: &str| -> Vec<String> {
            let spans = words(text).into_iter();
            spans.filter_map(|span| span.of(text)).map(str::to_owned).collect()
        };
        let words_of = |side: Side| {
            let words = match side {
                Side::Text(text) => of_text(&text),
                Side::Words(words) => words,
            };
            match words.is_empty() || words.iter().any(|word| word.trim().is_empty()) {
                true => Err(refused("E-empty", "the sentence has no word, or an empty one")),
                false => Ok(words),
            }
        };
        let answers = py.detach(|| {
            let asked: Vec<Result<Vec<String>>> = items.into_iter().map(words_of).collect();
            let good = asked.iter().flatten().map(|words| words.iter().map(String::as_str));
            let good: Vec<Vec<&str>> = good.map(Iterator::collect).collect();
            let tagged = self.0.tag_each(&good)?;
            let mut tagged = tagged.into_iter().map(|tags| {
                let tags = tags.map_err(|error| longer(&error))?;
                let named = tags.iter().map(|tag| tag.name.to_owned()).collect::<Vec<_>>();
                Ok((named, tags.iter().map(|tag| tag.score).collect::<Vec<f32>>()))
            });
            let mut found: Vec<Result<_>> = tagged.by_ref().collect();
            found.reverse();
            let answer = |asked: Result<Vec<String>>| {
                let words = asked?;
                let (tags, scores) = found.pop().expect("each sentence has an answer")?;
                Ok(Tagged { words, tags, scores })
            };
            Result::Ok(asked.into_iter().map(answer).collect::<Vec<_>>())
        })?;
        list(py, answers)
    }
}

/// The error of a sentence that an encoder does not take.
pub(crate) fn longer(error: &NetworkError) -> Fault {
    let is_long = matches!(error, NetworkError::TooLong { .. });
    refused(if is_long { "E-too-long" } else { "E-text" }, &error.to_string())
}

/// What can stand in the place of a target.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Substitutes {
    target: String,
    /// Each with its log-probability (natural log), the likeliest first.
    substitutes: Vec<(String, f32)>,
}

#[pymethods]
impl Substitutes {
    fn __repr__(&self) -> String {
        let words: Vec<&str> = self.substitutes.iter().map(|(word, _)| word.as_str()).collect();
        format!("<Substitutes of {:?}: {}>", self.target, words.join(", "))
    }
}

/// A rewriter that is asked for words.
#[pyclass(frozen, module = "fnstore._fnstore")]
pub(crate) struct WordFinder {
    rewriter: Mutex<Paraphraser>,
    morphology: Morphology,
    n_best: usize,
}

/// The rewriter of a name, or the usual one.
pub(crate) fn open_rewriter(places: &Places, name: Option<&Path>) -> Result<Paraphraser> {
    match name {
        Some(name) => places.rewriter(name),
        None => places.rewriter(Path::new(&default_rewriter(&places.dirs)?.0)),
    }
}

#[pymethods]
impl WordFinder {
    #[new]
    #[pyo3(signature = (dirs, model, device, numbers, n_best, language))]
    fn new(
        py: Python<'_>,
        dirs: Vec<PathBuf>,
        model: Option<PathBuf>,
        device: &str,
        numbers: Option<&str>,
        n_best: usize,
        language: Option<&str>,
    ) -> Result<Self> {
        py.detach(|| {
            let places = Places::new(dirs, device, numbers)?;
            let rewriter = open_rewriter(&places, model.as_deref())?;
            if rewriter.prompt().is_none() {
                return Err(ParaphraseError::NoPrompt.into());
            }
            check_language(rewriter.declared(), language)?;
            let of_model = || rewriter.declared().languages()?.only().map(str::to_owned);
            let language = language.map(str::to_owned).or_else(of_model);
            let morphology = Morphology::without_forms(language.as_deref().unwrap_or("en"));
            Ok(Self { rewriter: Mutex::new(rewriter), morphology, n_best })
        })
    }

    fn batch(
        &self,
        py: Python<'_>,
        items: Vec<(String, (u32, u32), Vec<String>)>,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let answers = py.detach(|| {
            let mut rewriter =
                self.rewriter.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            // The model's context is the only limit.
            let settings = Settings { max_source_pieces: usize::MAX, ..Settings::default() };
            let mut answers = Vec::new();
            for (text, span, avoid) in items {
                let span = match in_bytes(&text, span) {
                    Ok(span) if !span.of(&text).is_none_or(|of| of.trim().is_empty()) => span,
                    Ok(_) => {
                        answers.push(Err(refused("E-span", "the target is blank")));
                        continue;
                    }
                    Err(fault) => {
                        answers.push(Err(fault));
                        continue;
                    }
                };
                let (text, span) = natural_spacing_with(&text, span);
                let target = span.of(&text).unwrap_or_default().to_owned();
                let forms = self.morphology.forms_of_target(&target).into_iter();
                let avoid: Vec<String> = forms.chain(avoid).collect();
                answers.push(match rewriter.substitutes(&text, span, &avoid, &settings) {
                    Ok(found) => {
                        let found = found.into_iter().take(self.n_best);
                        let listed = found.map(|Substitute { text, log_prob }| (text, log_prob));
                        Ok(Substitutes { target, substitutes: listed.collect() })
                    }
                    Err(error) => Err(refusal(error)?),
                });
            }
            Result::Ok(answers)
        })?;
        list(py, answers)
    }
}
