//! Encoder states of a sentence and its paraphrase.
//!
//! Both are encoded at once as `[CLS] S [SEP] S' [SEP]` by a frozen encoder (Culkin et al. 2021,
//! section 4.1), so that the states of each side have seen the other.

use std::path::Path;
use std::sync::Arc;

use super::error::{AlignError, TooLong};
use super::features::{PairStates, SentenceStates};
use crate::compute::Device;
use crate::nn::{Adapter, Encoder, EncoderInput, Hidden};
use crate::tokenize::{Tokenizer, WordPieces};

/// Pairs that are encoded between two reports of progress.
const BATCH: usize = 64;

/// The words of a sentence and of its paraphrase.
#[derive(Debug, Clone)]
pub(super) struct WordPair<'a> {
    pub(super) source: Vec<&'a str>,
    pub(super) target: Vec<&'a str>,
}

/// The frozen encoder with its tokenizer.
#[derive(Debug)]
pub(super) struct PairEncoder {
    tokenizer: Tokenizer,
    encoder: Encoder,
}

impl PairEncoder {
    /// Opens a model directory of the BERT family to read the states of a layer, the last for none.
    pub(super) fn open(
        directory: &Path,
        layer: Option<usize>,
        adapter: Option<Arc<Adapter>>,
        device: &Device,
    ) -> Result<Self, AlignError> {
        Ok(Self {
            tokenizer: Tokenizer::open(directory)?,
            encoder: Encoder::open_at(directory, layer, adapter, device)?,
        })
    }

    /// Width D of a state.
    pub(super) fn width(&self) -> usize {
        self.encoder.hidden_size()
    }

    /// The encoder's fingerprint in hexadecimal.
    pub(super) fn fingerprint(&self) -> String {
        self.encoder.fingerprint().to_string()
    }

    /// Encodes pairs, in the order given; one that is too long takes the others with it.
    ///
    /// Pairs of similar length go through the encoder together; the result of a pair does not
    /// depend on its company.
    pub(super) fn encode(&self, pairs: &[WordPair<'_>]) -> Result<Vec<PairStates>, AlignError> {
        let cut = self.cut_pairs(pairs)?;
        // Said before the long part.
        for (request, cut) in cut.iter().enumerate() {
            if let Err(TooLong { pieces, limit, .. }) = *cut {
                return Err(AlignError::TooLong { request, pieces, limit });
            }
        }
        let states =
            self.run(cut, |at, pieces, hidden| pool(&pairs[at], pieces, hidden), |_| ())?;
        Ok(states.into_iter().map(|pair| pair.expect("none is too long")).collect())
    }

    /// Encodes pairs, in the order given, each for itself: one that is too long has no states. `done`
    /// hears how many are finished.
    pub(super) fn encode_those_that_fit(
        &self,
        pairs: &[WordPair<'_>],
        done: impl FnMut(usize),
    ) -> Result<Vec<Result<PairStates, TooLong>>, AlignError> {
        let cut = self.cut_pairs(pairs)?;
        self.run(cut, |at, pieces, hidden| pool(&pairs[at], pieces, hidden), done)
    }

    /// Encodes the two sentences of each pair apart, as `[CLS] S [SEP]`, in the order given; a pair with
    /// one that is too long has no states.
    pub(super) fn encode_apart(
        &self,
        pairs: &[WordPair<'_>],
    ) -> Result<Vec<Result<PairStates, TooLong>>, AlignError> {
        let sides: Vec<&[&str]> =
            pairs.iter().flat_map(|pair| [&pair.source[..], &pair.target[..]]).collect();
        let cut = sides.iter().enumerate().map(|(at, words)| {
            let side = ["`source` is", "`target` is"][at % 2];
            self.cut(at / 2, words, None, side)
        });
        let cut: Vec<_> = cut.collect::<Result<_, _>>()?;
        let states =
            self.run(cut, |at, pieces, hidden| side(sides[at].len(), 0, pieces, hidden), |_| ())?;
        let mut states = states.into_iter();
        let mut next = || states.next().expect("each pair has two sides");
        let pair = |_| {
            let (source, target) = (next(), next());
            Ok(PairStates { source: source?, target: target? })
        };
        Ok(pairs.iter().map(pair).collect())
    }

    fn cut_pairs(
        &self,
        pairs: &[WordPair<'_>],
    ) -> Result<Vec<Result<WordPieces, TooLong>>, AlignError> {
        let cut = pairs.iter().enumerate().map(|(request, pair)| {
            self.cut(request, &pair.source, Some(&pair.target), "`source` and `target` are")
        });
        cut.collect()
    }

    /// Cuts words into pieces, as many as the encoder takes at most.
    fn cut(
        &self,
        request: usize,
        first: &[&str],
        second: Option<&[&str]>,
        side: &'static str,
    ) -> Result<Result<WordPieces, TooLong>, AlignError> {
        let cut = self
            .tokenizer
            .encode_words(first, second)
            .map_err(|source| AlignError::Cut { request, source })?;
        let (pieces, limit) = (cut.ids.len(), self.encoder.max_length());
        Ok(if pieces > limit { Err(TooLong { side, pieces, limit }) } else { Ok(cut) })
    }

    /// Runs the encoder batch by batch, shortest inputs first, and pools every input's states.
    fn run<S>(
        &self,
        cut: Vec<Result<WordPieces, TooLong>>,
        mut pool: impl FnMut(usize, &WordPieces, &Hidden) -> S,
        mut done: impl FnMut(usize),
    ) -> Result<Vec<Result<S, TooLong>>, AlignError> {
        let fitting = cut.iter().enumerate();
        let mut order: Vec<(usize, &WordPieces)> =
            fitting.filter_map(|(at, cut)| Some((at, cut.as_ref().ok()?))).collect();
        order.sort_by_key(|(_, pieces)| pieces.ids.len());
        let mut states: Vec<Option<S>> = cut.iter().map(|_| None).collect();
        let mut finished = cut.len() - order.len();
        for batch in order.chunks(BATCH) {
            let input = |(_, pieces): &(usize, &WordPieces)| EncoderInput {
                ids: pieces.ids.clone(),
                type_ids: pieces.type_ids.clone(),
            };
            let inputs: Vec<EncoderInput> = batch.iter().map(input).collect();
            for (&(at, pieces), hidden) in batch.iter().zip(self.encoder.encode(&inputs)?) {
                states[at] = Some(pool(at, pieces, &hidden));
            }
            finished += batch.len();
            done(finished);
        }
        let result = |(cut, states): (Result<WordPieces, TooLong>, Option<S>)| {
            cut.map(|_| states.expect("what fits is in one batch"))
        };
        Ok(cut.into_iter().zip(states).map(result).collect())
    }
}

/// Sums the states of each side's pieces by word.
fn pool(pair: &WordPair<'_>, pieces: &WordPieces, hidden: &Hidden) -> PairStates {
    PairStates {
        source: side(pair.source.len(), 0, pieces, hidden),
        target: side(pair.target.len(), 1, pieces, hidden),
    }
}

/// Sums the states of one sequence's pieces by word.
fn side(words: usize, sequence: u8, pieces: &WordPieces, hidden: &Hidden) -> SentenceStates {
    let states = pieces.words.iter().enumerate().filter_map(|(at, word)| {
        let word = word.filter(|word| word.sequence == sequence)?;
        Some((word.word as usize, hidden.token(at)))
    });
    SentenceStates::new(hidden.width(), words, states)
}
