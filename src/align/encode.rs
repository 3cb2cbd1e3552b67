//! Encoder states of a sentence and its paraphrase.
//!
//! Both are encoded at once as `[CLS] S [SEP] S' [SEP]` by a frozen encoder (Culkin et al. 2021,
//! section 4.1), so that the states of each side have seen the other.

use std::path::Path;
use std::sync::Arc;

use super::error::{AlignError, TooLong};
use super::features::{PairStates, SentenceStates};
use crate::engine::{Adapter, Device, Hidden, WordPieces};
use crate::learn::{TooManyPieces, WordEncoder, states_of};

/// The words of a sentence and of its paraphrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WordPair<'a> {
    pub(super) source: Vec<&'a str>,
    pub(super) target: Vec<&'a str>,
}

/// The frozen encoder with its tokenizer.
#[derive(Debug)]
pub(super) struct PairEncoder {
    words: WordEncoder,
}

impl PairEncoder {
    /// Opens a model directory of the BERT family to read the states of a layer, the last for none.
    pub(super) fn open(
        directory: &Path,
        layer: Option<usize>,
        adapter: Option<Arc<Adapter>>,
        device: &Device,
    ) -> Result<Self, AlignError> {
        Ok(Self { words: WordEncoder::open::<AlignError>(directory, layer, adapter, device)? })
    }

    /// Width D of a state.
    pub(super) fn width(&self) -> usize {
        self.words.width()
    }

    /// The encoder's fingerprint in hexadecimal.
    pub(super) fn fingerprint(&self) -> String {
        self.words.fingerprint()
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
        let pooled =
            |at: usize, pieces: &WordPieces, hidden: &Hidden| pool(&pairs[at], pieces, hidden);
        let states = self.words.run(cut, pooled, |_| ())?;
        Ok(states.into_iter().map(|pair| pair.expect("none is too long")).collect())
    }

    /// Encodes pairs, in the order given, each for itself: one that is too long has no states.
    /// `done` hears how many are finished.
    pub(super) fn encode_those_that_fit(
        &self,
        pairs: &[WordPair<'_>],
        done: impl FnMut(usize),
    ) -> Result<Vec<Result<PairStates, TooLong>>, AlignError> {
        let cut = self.cut_pairs(pairs)?;
        let pooled =
            |at: usize, pieces: &WordPieces, hidden: &Hidden| pool(&pairs[at], pieces, hidden);
        Ok(self.words.run(cut, pooled, done)?)
    }

    /// Encodes the two sentences of each pair apart, as `[CLS] S [SEP]`, in the order given; a pair
    /// with one that is too long has no states.
    pub(super) fn encode_apart(
        &self,
        pairs: &[WordPair<'_>],
    ) -> Result<Vec<Result<PairStates, TooLong>>, AlignError> {
        let sides: Vec<&[&str]> =
            pairs.iter().flat_map(|pair| [&pair.source[..], &pair.target[..]]).collect();
        let cut = self.words.host().share(sides.len(), |_, at| {
            let side = ["`source` is", "`target` is"][at % 2];
            self.cut(at / 2, sides[at], None, side)
        });
        let cut: Vec<_> = cut.into_iter().collect::<Result<_, _>>()?;
        let pooled = |at: usize, pieces: &WordPieces, hidden: &Hidden| {
            side(sides[at].len(), 0, pieces, hidden)
        };
        let states = self.words.run(cut, pooled, |_| ())?;
        let mut states = states.into_iter();
        let mut next = || states.next().expect("each pair has two sides");
        let pair = |_| {
            let (source, target) = (next(), next());
            Ok(PairStates { source: source?, target: target?, links: None })
        };
        Ok(pairs.iter().map(pair).collect())
    }

    fn cut_pairs(
        &self,
        pairs: &[WordPair<'_>],
    ) -> Result<Vec<Result<WordPieces, TooLong>>, AlignError> {
        let cut = self.words.host().share(pairs.len(), |_, request| {
            let WordPair { source, target } = &pairs[request];
            self.cut(request, source, Some(target), "`source` and `target` are")
        });
        cut.into_iter().collect()
    }

    /// Cuts words into pieces, as many as the encoder takes at most.
    fn cut(
        &self,
        request: usize,
        first: &[&str],
        second: Option<&[&str]>,
        side: &'static str,
    ) -> Result<Result<WordPieces, TooLong>, AlignError> {
        let cut =
            self.words.cut(first, second).map_err(|source| AlignError::Cut { request, source })?;
        Ok(cut.map_err(|TooManyPieces { pieces, limit }| TooLong { side, pieces, limit }))
    }
}

/// Sums the states of each side's pieces by word.
fn pool(pair: &WordPair<'_>, pieces: &WordPieces, hidden: &Hidden) -> PairStates {
    PairStates {
        source: side(pair.source.len(), 0, pieces, hidden),
        target: side(pair.target.len(), 1, pieces, hidden),
        links: None,
    }
}

/// Sums the states of one sequence's pieces by word.
fn side(words: usize, sequence: u8, pieces: &WordPieces, hidden: &Hidden) -> SentenceStates {
    SentenceStates::new(hidden.width(), words, states_of(sequence, pieces, hidden))
}
