//! How likely texts are under a language model.
//!
//! A text is scored as one that begins anew. Its first token is scored given the token that the
//! model was trained to see there, every other one given all tokens before it. A part of a text is
//! scored in its left context; every token that holds a character of it counts. The same model says
//! how a text may go on (`continuing.rs`), and answers questions by one of two tokens
//! (`question.rs`).

mod continuing;
mod error;
mod question;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use error::{ScoreError, ScoreRefusal};
pub(crate) use question::QuestionFields;
pub use question::{FieldTexts, Question};

use crate::engine::{
    DecodeError, Device, Fingerprint, GoesOn, LanguageAdapter, LanguageModel, NextTokens, Numbers,
    StepNetwork, Tokenizer, always, declared_languages, neighbours, tokenizer_of,
};
use crate::model::{Declared, Span};

/// Tokens that are computed together, about: enough for products to be worth their while.
const BATCH_TOKENS: usize = 1024;

/// A token that parts texts in training, in vocabularies whose texts begin with none of their own.
const BETWEEN_TEXTS: &str = "<|endoftext|>";

/// A language model with its tokenizer.
///
/// ```no_run
/// use fnstore::engine::{Device, Numbers};
/// use fnstore::score::{ScoreRequest, Scorer};
///
/// let mut scorer = Scorer::open("SmolLM2.gguf".as_ref(), &Device::cpu(), Numbers::Int8)?;
/// let requests = ["They tore the envelope open.", "Amelia envelope open."].map(ScoreRequest::of);
/// for score in scorer.score(&requests)? {
///     println!("{:.1}", score?.perplexity());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Scorer {
    model: LanguageModel,
    tokenizer: Tokenizer,
    start: u32,
    declared: Declared,
    asking: NextTokens,
}

/// A text to score, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScoreRequest {
    /// The text.
    pub text: String,
    /// The part that counts; all of it for none.
    pub span: Option<Span>,
}

impl ScoreRequest {
    /// A whole text.
    pub fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), span: None }
    }
}

/// How likely a text is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextScore {
    /// Sum of the log-probabilities of its tokens (natural log).
    pub log_prob: f64,
    /// The tokens that count.
    pub tokens: usize,
}

impl TextScore {
    /// `exp(-log_prob / tokens)`: among how many tokens, all as likely, the model would have had to
    /// choose at each.
    #[must_use]
    pub fn perplexity(&self) -> f64 {
        (-self.log_prob / self.tokens as f64).exp()
    }
}

/// What a model answers to a [`Question`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// Log-probabilities (natural log) of the two answers.
    pub log_probs: [f64; 2],
    /// Tokens of the prompt, the start counted.
    pub tokens: usize,
}

impl Answer {
    /// How much more likely the first answer is than the second: the difference of their
    /// log-probabilities.
    #[must_use]
    pub fn log_odds(&self) -> f64 {
        self.log_probs[0] - self.log_probs[1]
    }

    /// The probability of the first answer among the two: the logistic function of
    /// [`log_odds`](Self::log_odds).
    #[must_use]
    pub fn yes(&self) -> f64 {
        1.0 / (1.0 + (-self.log_odds()).exp())
    }
}

/// A request as the network takes it.
struct Prepared {
    /// The start token, then those of the text.
    ids: Vec<u32>,
    /// Which of the text's tokens count.
    counted: Range<usize>,
}

impl Scorer {
    /// Opens a language model, a GGUF file or a directory of Hugging Face's, in these numbers.
    ///
    /// # Errors
    /// When a file is missing or damaged, or the model of no known layout.
    pub fn open(path: &Path, device: &Device, numbers: Numbers) -> Result<Self, ScoreError> {
        Self::open_with(path, None, device, numbers)
    }

    /// As [`open`](Self::open), with an adapter beside the weights.
    ///
    /// # Errors
    /// As [`open`](Self::open), and when the adapter was trained on another model.
    pub fn open_with(
        path: &Path,
        adapter: Option<LanguageAdapter>,
        device: &Device,
        numbers: Numbers,
    ) -> Result<Self, ScoreError> {
        let declared = declared_by(path, adapter.as_ref());
        let model = LanguageModel::open_with(path, adapter.map(Arc::new), device, numbers)?;
        Self::joined(model, declared)
    }

    /// A model with its tokenizer.
    fn joined(model: LanguageModel, declared: Declared) -> Result<Self, ScoreError> {
        let (tokenizer, begins_with_start) = tokenizer_of::<ScoreError>(model.path())?;
        let (network, vocabulary) = (model.config().vocab_size, tokenizer.vocab_size());
        if vocabulary > network {
            return Err(ScoreError::Vocabulary { network, vocabulary });
        }
        let config = model.config();
        let own = config.start_token.filter(|_| begins_with_start);
        let start = own.or_else(|| tokenizer.id(BETWEEN_TEXTS)).unwrap_or(config.end_tokens[0]);
        let asking = NextTokens::default();
        Ok(Self { model, tokenizer, start, declared, asking })
    }

    /// The same language model with another adapter, or with none. What both compute with lies in
    /// memory once ([`LanguageModel::with_adapter`]).
    ///
    /// # Errors
    /// When the adapter was trained on another model, or the model's file is not what it was.
    pub fn with_adapter(&self, adapter: Option<LanguageAdapter>) -> Result<Self, ScoreError> {
        Self::over(&self.model, adapter)
    }

    /// As [`open_with`](Self::open_with), over a language model that is open already, whatever its
    /// own adapter: a rewriter's, for one.
    ///
    /// # Errors
    /// As [`with_adapter`](Self::with_adapter), and when a file is damaged.
    pub fn over(
        base: &LanguageModel,
        adapter: Option<LanguageAdapter>,
    ) -> Result<Self, ScoreError> {
        let declared = declared_by(base.path(), adapter.as_ref());
        let model = base.with_adapter(adapter.map(Arc::new))?;
        Self::joined(model, declared)
    }

    /// The language model.
    #[must_use]
    pub fn model(&self) -> &LanguageModel {
        &self.model
    }

    /// The languages that the adapter, or else the model, declares.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// The model's fingerprint.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.model.fingerprint()
    }

    /// Longest text that the model takes, in tokens.
    #[must_use]
    pub fn max_length(&self) -> usize {
        self.model.max_length()
    }

    /// The fingerprint of the adapter beside the weights, if there is one.
    #[must_use]
    pub fn adapter(&self) -> Option<Fingerprint> {
        self.model.adapter().map(LanguageAdapter::fingerprint)
    }

    /// Scores texts; one that cannot be scored costs nobody the others. A score is the same bits
    /// whatever else is scored with it.
    ///
    /// # Errors
    /// When the model's weights give numbers that are not finite, or a device failed.
    pub fn score(
        &mut self,
        requests: &[ScoreRequest],
    ) -> Result<Vec<Result<TextScore, ScoreRefusal>>, ScoreError> {
        self.score_while(requests, &mut always())
    }

    /// As [`score`](Self::score), asking between batches of some thousand tokens whether to go on.
    ///
    /// # Errors
    /// As there, and [`DecodeError::Stopped`] after `Break`.
    pub fn score_while(
        &mut self,
        requests: &[ScoreRequest],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Result<TextScore, ScoreRefusal>>, ScoreError> {
        let prepared = requests.iter().map(|request| self.prepare(request));
        let prepared: Vec<Result<Prepared, ScoreRefusal>> =
            prepared.collect::<Result<_, ScoreError>>()?;
        let good: Vec<&Prepared> = prepared.iter().filter_map(|text| text.as_ref().ok()).collect();
        let mut scores = Vec::with_capacity(good.len());
        for batch in batches(&good) {
            if goes_on().is_break() {
                return Err(DecodeError::Stopped.into());
            }
            let sequences: Vec<&[u32]> = batch.iter().map(|text| text.ids.as_slice()).collect();
            let log_probs = self.model.log_probs(&sequences)?;
            for (text, log_probs) in batch.iter().zip(log_probs) {
                let counted = &log_probs[text.counted.clone()];
                let log_prob = counted.iter().map(|log_prob| f64::from(*log_prob)).sum();
                scores.push(TextScore { log_prob, tokens: counted.len() });
            }
        }
        let mut scores = scores.into_iter();
        let answers = prepared.into_iter().map(|text| {
            text.map(|_| scores.next().expect("every text that was prepared has a score"))
        });
        Ok(answers.collect())
    }

    fn prepare(
        &self,
        request: &ScoreRequest,
    ) -> Result<Result<Prepared, ScoreRefusal>, ScoreError> {
        let ScoreRequest { text, span } = request;
        let inside = |span: &Span| {
            let range = span.start as usize..span.end as usize;
            !range.is_empty() && text.get(range).is_some()
        };
        if let Some(&Span { start, end }) = span.as_ref().filter(|span| !inside(span)) {
            return Ok(Err(ScoreRefusal::Span { start, end, bytes: text.len() }));
        }
        let pieces = self.tokenizer.encode_places(text)?;
        let (tokens, limit) = (pieces.len() + 1, self.model.config().max_length);
        if pieces.is_empty() {
            return Ok(Err(ScoreRefusal::Empty));
        }
        if tokens > limit {
            return Ok(Err(ScoreRefusal::TooLong { tokens, limit }));
        }
        let counted = span.map_or(0..pieces.len(), |Span { start, end }| {
            let first = pieces.partition_point(|(_, place)| place.end <= start as usize);
            let end = pieces.partition_point(|(_, place)| place.start < end as usize);
            first..end.max(first)
        });
        if counted.is_empty() {
            return Ok(Err(ScoreRefusal::Empty));
        }
        let ids = [self.start].into_iter().chain(pieces.iter().map(|(id, _)| *id)).collect();
        Ok(Ok(Prepared { ids, counted }))
    }
}

/// The languages that an adapter, or else its model, declares.
fn declared_by(path: &Path, adapter: Option<&LanguageAdapter>) -> Declared {
    let of_model = declared_languages(path);
    match adapter {
        Some(adapter) => adapter.declared().clone().or(&of_model),
        None => of_model,
    }
}

/// Neighbours that together have some hundreds of tokens.
fn batches<'a>(texts: &'a [&'a Prepared]) -> impl Iterator<Item = &'a [&'a Prepared]> {
    neighbours(texts, [usize::MAX, BATCH_TOKENS], |_, text| text.ids.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perplexity_is_the_number_of_tokens_to_choose_among() {
        let score = TextScore { log_prob: 3.0 * 0.25f64.ln(), tokens: 3 };
        assert!((score.perplexity() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn batches_hold_every_text_and_few_tokens() {
        let text = |length| Prepared { ids: vec![0; length], counted: 0..1 };
        let texts = [text(600), text(500), text(5000), text(1), text(1)];
        let texts: Vec<&Prepared> = texts.iter().collect();
        let lengths: Vec<usize> = batches(&texts).map(<[_]>::len).collect();
        assert_eq!(lengths, [1, 1, 1, 2]);
        assert_eq!(batches(&[]).count(), 0);
    }
}
