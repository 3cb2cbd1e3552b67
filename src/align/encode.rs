//! Encoder states of a sentence and its paraphrase.
//!
//! Both are encoded at once as `[CLS] S [SEP] S' [SEP]` by a frozen encoder (Culkin et al. 2021,
//! section 4.1), so that the states of each side have seen the other.

use std::path::Path;
use std::sync::Arc;

use super::error::AlignError;
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

    /// Encodes pairs, in the order given. `done` hears how many are finished.
    ///
    /// Pairs of similar length go through the encoder together; the result of a pair does not
    /// depend on its company.
    pub(super) fn encode(
        &self,
        pairs: &[WordPair<'_>],
        mut done: impl FnMut(usize),
    ) -> Result<Vec<PairStates>, AlignError> {
        let cut = pairs.iter().enumerate();
        let cut: Vec<WordPieces> = cut
            .map(|(request, pair)| self.cut(request, &pair.source, Some(&pair.target)))
            .collect::<Result<_, _>>()?;
        let mut states: Vec<Option<PairStates>> = vec![None; pairs.len()];
        let mut finished = 0;
        self.run(&cut, |at, hidden| {
            states[at] = Some(pool(&pairs[at], &cut[at], hidden));
            finished += 1;
            if finished % BATCH == 0 || finished == pairs.len() {
                done(finished);
            }
        })?;
        Ok(states.into_iter().map(|pair| pair.expect("every pair is in one batch")).collect())
    }

    /// Encodes sentences each for itself, as `[CLS] S [SEP]`, in the order given.
    pub(super) fn encode_sentences(
        &self,
        sentences: &[Vec<&str>],
    ) -> Result<Vec<SentenceStates>, AlignError> {
        let cut = sentences.iter().enumerate();
        let cut: Vec<WordPieces> =
            cut.map(|(request, words)| self.cut(request, words, None)).collect::<Result<_, _>>()?;
        let mut states: Vec<Option<SentenceStates>> = vec![None; sentences.len()];
        self.run(&cut, |at, hidden| {
            states[at] = Some(side(sentences[at].len(), 0, &cut[at], hidden));
        })?;
        Ok(states.into_iter().map(|state| state.expect("every sentence is in one batch")).collect())
    }

    /// Cuts words into pieces, as many as the encoder takes at most.
    fn cut(
        &self,
        request: usize,
        first: &[&str],
        second: Option<&[&str]>,
    ) -> Result<WordPieces, AlignError> {
        let (cut, limit) = (self.tokenizer.encode_words(first, second)?, self.encoder.max_length());
        if cut.ids.len() > limit {
            return Err(AlignError::TooLong { request, pieces: cut.ids.len(), limit });
        }
        Ok(cut)
    }

    /// Runs the encoder batch by batch, shortest inputs first; `each` gets every input's states.
    fn run(
        &self,
        cut: &[WordPieces],
        mut each: impl FnMut(usize, &Hidden),
    ) -> Result<(), AlignError> {
        let mut order: Vec<usize> = (0..cut.len()).collect();
        order.sort_by_key(|&at| cut[at].ids.len());
        for indices in order.chunks(BATCH) {
            let inputs: Vec<EncoderInput> = indices
                .iter()
                .map(|&at| EncoderInput {
                    ids: cut[at].ids.clone(),
                    type_ids: cut[at].type_ids.clone(),
                })
                .collect();
            for (&at, hidden) in indices.iter().zip(self.encoder.encode(&inputs)?) {
                each(at, &hidden);
            }
        }
        Ok(())
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
