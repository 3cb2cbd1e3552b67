//! Encoder states of a sentence and its paraphrase.
//!
//! Both are encoded at once as `[CLS] S [SEP] S' [SEP]` by a frozen encoder (Culkin et al. 2021,
//! section 4.1), so that the states of each side have seen the other.

use std::path::Path;

use super::error::AlignError;
use super::features::{PairStates, SentenceStates};
use crate::compute::Device;
use crate::nn::{Encoder, EncoderInput, Hidden};
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
    /// Opens a model directory of the BERT family.
    pub(super) fn open(directory: &Path, device: &Device) -> Result<Self, AlignError> {
        Ok(Self {
            tokenizer: Tokenizer::open(directory)?,
            encoder: Encoder::open(directory, device)?,
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
        // 1. Cut every pair into pieces.
        let limit = self.encoder.max_length();
        let mut cut = Vec::with_capacity(pairs.len());
        for (request, pair) in pairs.iter().enumerate() {
            let pieces = self.tokenizer.encode_words(&pair.source, Some(&pair.target))?;
            if pieces.ids.len() > limit {
                let pieces = pieces.ids.len();
                return Err(AlignError::TooLong { request, pieces, limit });
            }
            cut.push(pieces);
        }
        // 2. Encode batch by batch, shortest pairs first.
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by_key(|&at| cut[at].ids.len());
        let mut states: Vec<Option<PairStates>> = vec![None; pairs.len()];
        for (batch, indices) in order.chunks(BATCH).enumerate() {
            let inputs: Vec<EncoderInput> = indices
                .iter()
                .map(|&at| EncoderInput {
                    ids: cut[at].ids.clone(),
                    type_ids: cut[at].type_ids.clone(),
                })
                .collect();
            for (&at, hidden) in indices.iter().zip(self.encoder.encode(&inputs)?) {
                states[at] = Some(pool(&pairs[at], &cut[at], &hidden));
            }
            done((batch * BATCH + indices.len()).min(pairs.len()));
        }
        Ok(states.into_iter().map(|pair| pair.expect("every pair is in one batch")).collect())
    }
}

/// Sums the states of each side's pieces by word.
fn pool(pair: &WordPair<'_>, pieces: &WordPieces, hidden: &Hidden) -> PairStates {
    let side = |sequence: u8, words: usize| {
        let states = pieces.words.iter().enumerate().filter_map(|(at, word)| {
            let word = word.filter(|word| word.sequence == sequence)?;
            Some((word.word as usize, hidden.token(at)))
        });
        SentenceStates::new(hidden.width(), words, states)
    };
    PairStates { source: side(0, pair.source.len()), target: side(1, pair.target.len()) }
}
