//! States of words: a frozen encoder of the BERT family with its tokenizer.
//!
//! Said once and kept everywhere: a network over the encoder sees **words**, and the state of a
//! word is made of those of its pieces.

use std::path::Path;
use std::sync::Arc;

use crate::engine::{
    Adapter, Device, Encoder, EncoderInput, Hidden, NnError, Tensor, TokenizeError, Tokenizer,
    WordPieces,
};
use crate::model::Span;

/// Inputs that go through the encoder between two reports of progress.
const BATCH: usize = 64;

/// Words that are more pieces than the encoder takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TooManyPieces {
    /// Number of pieces, special tokens counted.
    pub(crate) pieces: usize,
    /// Longest input of the encoder.
    pub(crate) limit: usize,
}

/// A frozen encoder with its tokenizer.
#[derive(Debug)]
pub(crate) struct WordEncoder {
    tokenizer: Tokenizer,
    encoder: Encoder,
}

impl WordEncoder {
    /// Opens a model directory of the BERT family to read the states of a layer, the last for none.
    /// `E` is the caller's error.
    pub(crate) fn open<E: From<TokenizeError> + From<NnError>>(
        directory: &Path,
        layer: Option<usize>,
        adapter: Option<Arc<Adapter>>,
        device: &Device,
    ) -> Result<Self, E> {
        let layers: Vec<usize> = layer.into_iter().collect();
        Self::open_layers(directory, &layers, adapter, device)
    }

    /// As [`open`](Self::open), to read the states of several layers, which stand side by side.
    pub(crate) fn open_layers<E: From<TokenizeError> + From<NnError>>(
        directory: &Path,
        layers: &[usize],
        adapter: Option<Arc<Adapter>>,
        device: &Device,
    ) -> Result<Self, E> {
        Ok(Self {
            tokenizer: Tokenizer::open(directory)?,
            encoder: Encoder::open_layers(directory, layers, adapter, device)?,
        })
    }

    /// Width D of a layer's state.
    pub(crate) fn width(&self) -> usize {
        self.encoder.hidden_size()
    }

    /// The processor beside the encoder's device.
    pub(crate) fn host(&self) -> Device {
        self.encoder.host()
    }

    /// The encoder's fingerprint in hexadecimal.
    pub(crate) fn fingerprint(&self) -> String {
        self.encoder.fingerprint().to_string()
    }

    /// Cuts the words of one sequence, or of two that are encoded together, into pieces.
    pub(crate) fn cut(
        &self,
        first: &[&str],
        second: Option<&[&str]>,
    ) -> Result<Result<WordPieces, TooManyPieces>, TokenizeError> {
        let cut = self.tokenizer.encode_words(first, second)?;
        let (pieces, limit) = (cut.ids.len(), self.encoder.max_length());
        Ok(if pieces > limit { Err(TooManyPieces { pieces, limit }) } else { Ok(cut) })
    }

    /// Runs the encoder batch by batch, shortest inputs first, and pools every input's states; an
    /// input that could not be cut keeps its error. `done` hears how many are finished.
    ///
    /// Inputs of similar length go through the encoder together; the states of an input do not
    /// depend on its company.
    pub(crate) fn run<S, E>(
        &self,
        cut: Vec<Result<WordPieces, E>>,
        mut pool: impl FnMut(usize, &WordPieces, &Hidden) -> S,
        mut done: impl FnMut(usize),
    ) -> Result<Vec<Result<S, E>>, NnError> {
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
        let result = |(cut, states): (Result<WordPieces, E>, Option<S>)| {
            cut.map(|_| states.expect("what fits is in one batch"))
        };
        Ok(cut.into_iter().zip(states).map(result).collect())
    }
}

/// An encoder by its fingerprint, and the layers of it that are read.
#[derive(Debug, PartialEq)]
pub(crate) struct EncodedBy {
    pub(crate) fingerprint: String,
    pub(crate) layers: Vec<usize>,
}

/// The states of a sentence's words in some layers of an encoder: what one network read of it,
/// for another that reads no more.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedSentence {
    /// Whose states they are.
    pub(crate) by: Arc<EncodedBy>,
    /// Where each word stands, in bytes.
    pub(crate) words: Vec<Span>,
    /// (N, L D): of each word the states in the layers, side by side.
    pub(crate) states: Vec<f32>,
}

impl EncodedSentence {
    /// The states in some layers of an encoder, (N, M D); none where others were read.
    pub(crate) fn in_layers(&self, encoder: &str, wanted: &[usize]) -> Option<Tensor> {
        let EncodedBy { fingerprint, layers } = &*self.by;
        if fingerprint != encoder {
            return None;
        }
        let row = self.states.len() / self.words.len().max(1);
        let width = row / layers.len().max(1);
        let place = |layer: &usize| layers.iter().position(|of| of == layer).map(|at| at * width);
        let places: Vec<usize> = wanted.iter().map(place).collect::<Option<_>>()?;
        let rows = self.states.chunks_exact(row.max(1));
        let states = rows.flat_map(|row| places.iter().flat_map(|at| &row[*at..at + width]));
        Tensor::new(&[self.words.len(), width * wanted.len()], states.copied().collect()).ok()
    }
}

/// The states of the pieces of one sequence, in order, each with the word that it belongs to.
pub(crate) fn states_of<'a>(
    sequence: u8,
    pieces: &'a WordPieces,
    hidden: &'a Hidden,
) -> impl Iterator<Item = (usize, &'a [f32])> {
    pieces.words.iter().enumerate().filter_map(move |(at, word)| {
        let word = word.filter(|word| word.sequence == sequence)?;
        Some((word.word as usize, hidden.token(at)))
    })
}

/// Rows (N, width) at length 1; a row of zeros stays.
pub(crate) fn directions(rows: &[f32], width: usize) -> Vec<f32> {
    let mut rows = rows.to_vec();
    for row in rows.chunks_exact_mut(width) {
        let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            row.iter_mut().for_each(|x| *x /= length);
        }
    }
    rows
}

/// The mean over the states of the pieces of each of `words` words of the first sequence, (N, D);
/// zeros for a word without pieces.
pub(crate) fn mean_states(words: usize, pieces: &WordPieces, hidden: &Hidden) -> Vec<f32> {
    let width = hidden.width();
    let mut means = vec![0.0; words * width];
    let mut counts = vec![0_usize; words];
    for (word, state) in states_of(0, pieces, hidden) {
        counts[word] += 1;
        let mean = &mut means[word * width..][..width];
        mean.iter_mut().zip(state).for_each(|(sum, x)| *sum += x);
    }
    for (mean, count) in means.chunks_exact_mut(width.max(1)).zip(counts) {
        mean.iter_mut().for_each(|sum| *sum /= count.max(1) as f32);
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_given_in_the_layers_that_are_wanted_or_not_at_all() {
        let by = Arc::new(EncodedBy { fingerprint: "a".to_owned(), layers: vec![0, 2, 3] });
        let words = vec![Span::new(0, 2), Span::new(3, 5)];
        let states = (0..12).map(|x| x as f32).collect();
        let encoded = EncodedSentence { by, words, states };
        let of = |encoder, wanted: &[usize]| encoded.in_layers(encoder, wanted);
        let found = of("a", &[3, 0]).unwrap();
        assert_eq!(found.shape(), [2, 4]);
        assert_eq!(found.data(), [4.0, 5.0, 0.0, 1.0, 10.0, 11.0, 6.0, 7.0]);
        assert_eq!(of("a", &[1]), None, "it was not read");
        assert_eq!(of("b", &[0]), None, "it is another encoder's");
    }
}
