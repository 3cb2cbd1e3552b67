//! What the network sees of a span.
//!
//! ```text
//! words     L D numbers   mean over the span's words of their states in the L layers that are read
//! left      D numbers     state of the word before it in the layer CONTEXT; zeros at the start of the sentence
//! right     D numbers     so of the word after it
//! sentence  D numbers     mean over all words of their states in the last layer
//! length    3 numbers     0 or 1 each: one word, two, three
//! known     1 number      1 if the span is a form of an LU
//! writing   6 numbers     how its first word is written, as the tagger sees it
//! ```
//!
//! States are kept as the upper halves of their floats (bfloat16), in training and at work alike:
//! the network sees the same numbers, and a corpus of states takes half the room.

use std::ops::Range;

use crate::engine::{Hidden, WordPieces};
use crate::learn::{NetworkError, TooManyPieces, WordEncoder, mean_states};
use crate::tag::{WRITING, writing_of};

/// Most words of a span that may evoke a frame: 0.24 % of targets have more (Culkin et al. 2021,
/// section 6.3).
pub const MAX_WORDS: usize = 3;

/// Numbers beside states.
const CUES: usize = MAX_WORDS + 1 + WRITING;

/// Which of the layers that are read shows the words beside a span.
const CONTEXT: usize = 2;

/// Sentences that go through the encoder before their states are laid down.
const SENTENCES_AT_ONCE: usize = 512;

/// Some neighbouring words of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct WordSpan {
    /// Index of the first.
    pub first: usize,
    /// How many, from 1.
    pub len: usize,
}

impl WordSpan {
    /// Index of the word after it.
    #[must_use]
    pub fn end(self) -> usize {
        self.first + self.len
    }

    /// Whether both have a word in common.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.first < other.end() && other.first < self.end()
    }

    /// All spans of at most [`MAX_WORDS`] of so many words, by first word and length.
    pub fn all(words: usize) -> impl Iterator<Item = Self> {
        let of =
            move |first| (1..=MAX_WORDS.min(words - first)).map(move |len| Self { first, len });
        (0..words).flat_map(of)
    }
}

/// The shape of features: width D of a layer and number L of layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) width: usize,
    pub(super) layers: usize,
}

impl Shape {
    /// Numbers of a span.
    pub(super) fn inputs(self) -> usize {
        self.width * (self.layers + 3) + CUES
    }

    fn context(self) -> usize {
        CONTEXT.min(self.layers - 1) * self.width
    }
}

/// The states of a sentence's words, or of those that stand near its targets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WordStates {
    shape: Shape,
    /// Index of the first word whose states are kept.
    first: usize,
    /// (N, L D) of N words from there on.
    states: Vec<u16>,
    /// Mean of the last layer over all words, D numbers.
    sentence: Vec<u16>,
    /// How each of the words kept is written.
    writing: Vec<[f32; WRITING]>,
}

impl WordStates {
    /// States of words, (N, L D), of which those of `kept` are kept.
    pub(super) fn new(shape: Shape, words: &[&str], states: &[f32], kept: Range<usize>) -> Self {
        let row = shape.width * shape.layers;
        let mut sentence = vec![0.0; shape.width];
        for last in states.chunks_exact(row).map(|states| &states[row - shape.width..]) {
            sentence.iter_mut().zip(last).for_each(|(sum, x)| *sum += x / words.len() as f32);
        }
        let first = kept.start;
        let writing = words.iter().enumerate().skip(first).take(kept.len());
        let states = &states[first * row..kept.end * row];
        Self {
            shape,
            first,
            writing: writing.map(|(at, word)| writing_of(word, at == 0)).collect(),
            states: states.iter().map(|x| upper_half(*x)).collect(),
            sentence: sentence.into_iter().map(upper_half).collect(),
        }
    }

    /// Number of words whose states are kept.
    pub(super) fn words(&self) -> usize {
        self.writing.len()
    }

    /// Appends the features of the pieces of a target, mostly one; `is_known` says whether it is a
    /// form of an LU.
    pub(super) fn write_row(&self, pieces: &[WordSpan], is_known: bool, row: &mut Vec<f32>) {
        let Shape { width, layers } = self.shape;
        let of_word = |word: usize| {
            let states = &self.states[(word - self.first) * width * layers..];
            states[..width * layers].iter().map(|half| number(*half))
        };
        let start = row.len();
        let (first, end) = (pieces[0].first, pieces[pieces.len() - 1].end());
        let words = pieces.iter().flat_map(|piece| piece.first..piece.end());
        row.extend(of_word(first));
        for word in words.clone().skip(1) {
            row[start..].iter_mut().zip(of_word(word)).for_each(|(sum, x)| *sum += x);
        }
        let len = words.count();
        row[start..].iter_mut().for_each(|sum| *sum /= len as f32);
        let kept = self.first..self.first + self.writing.len();
        for beside in [first.checked_sub(1), Some(end)] {
            match beside.filter(|word| kept.contains(word)) {
                Some(word) => row.extend(of_word(word).skip(self.shape.context()).take(width)),
                None => row.extend(std::iter::repeat_n(0.0, width)),
            }
        }
        row.extend(self.sentence.iter().map(|half| number(*half)));
        let cue = |is_so: bool| f32::from(u8::from(is_so));
        row.extend((1..=MAX_WORDS).map(|of| cue(of == len)));
        row.push(cue(is_known));
        row.extend(self.writing[first - self.first]);
    }
}

/// The upper half of a float, rounded to the nearest.
fn upper_half(x: f32) -> u16 {
    (x.to_bits().wrapping_add(0x8000) >> 16) as u16
}

fn number(half: u16) -> f32 {
    f32::from_bits(u32::from(half) << 16)
}

/// The states of the words of each sentence, in the order of the sentences; one that is too long
/// has its error, which counts sentences of the call. What comes of a sentence does not depend on
/// its company. `kept` says which of its words are needed, and `done` hears how many sentences are
/// finished.
pub(super) fn states(
    encoder: &WordEncoder,
    layers: usize,
    sentences: &[Vec<&str>],
    kept: &dyn Fn(usize) -> Range<usize>,
    done: &mut dyn FnMut(usize),
) -> Result<Vec<Result<WordStates, NetworkError>>, NetworkError> {
    let shape = Shape { width: encoder.width(), layers };
    let pool =
        |at: usize, means: Vec<f32>| WordStates::new(shape, &sentences[at], &means, kept(at));
    pooled_states(encoder, sentences, pool, done)
}

/// What `pool` makes of the states of each sentence's words, (N, L D); otherwise as [`states`].
pub(super) fn pooled_states<S>(
    encoder: &WordEncoder,
    sentences: &[Vec<&str>],
    mut pool: impl FnMut(usize, Vec<f32>) -> S,
    done: &mut dyn FnMut(usize),
) -> Result<Vec<Result<S, NetworkError>>, NetworkError> {
    let mut all = Vec::with_capacity(sentences.len());
    for (chunk, sentences) in sentences.chunks(SENTENCES_AT_ONCE).enumerate() {
        let first = chunk * SENTENCES_AT_ONCE;
        let host = encoder.host();
        let cut = host.share(sentences.len(), |_, at| {
            let too_long = |TooManyPieces { pieces, limit }| NetworkError::TooLong {
                item: first + at,
                pieces,
                limit,
            };
            Ok(encoder.cut(&sentences[at], None)?.map_err(too_long))
        });
        let cut: Vec<Result<WordPieces, NetworkError>> =
            cut.into_iter().collect::<Result<_, NetworkError>>()?;
        let pool = |at: usize, pieces: &WordPieces, hidden: &Hidden| {
            pool(first + at, mean_states(sentences[at].len(), pieces, hidden))
        };
        all.extend(encoder.run(cut, pool, |finished| done(first + finished))?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_a_sentence_have_one_to_three_words() {
        let spans: Vec<(usize, usize)> = WordSpan::all(4).map(|of| (of.first, of.len)).collect();
        let expected = [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1)];
        assert_eq!(spans, expected);
        assert_eq!(WordSpan::all(0).count(), 0);
    }

    #[test]
    fn a_row_holds_what_the_head_of_the_file_says() {
        let shape = Shape { width: 1, layers: 3 };
        // Three words; of the first the layers 1, 2, 3, of the second 4, 5, 6, of the third 8, 9,
        // 10.
        let states = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0, 10.0];
        let words = ["They", "check", "NASA"];
        let part = WordStates::new(shape, &words, &states, 1..3);
        let states = WordStates::new(shape, &words, &states, 0..3);
        let row = |first, len, is_known| {
            let mut row = Vec::new();
            states.write_row(&[WordSpan { first, len }], is_known, &mut row);
            assert_eq!(row.len(), shape.inputs());
            row
        };
        let mean = (3.0 + 6.0 + 10.0) / 3.0;
        let one = row(1, 1, true);
        assert_eq!(one[..5], [4.0, 5.0, 6.0, 3.0, 10.0]);
        assert!((one[5] - mean).abs() < mean / 250.0, "rounded to the upper half");
        assert_eq!(one[6..], [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let two = row(1, 2, false);
        assert_eq!(two[..5], [6.0, 7.0, 8.0, 3.0, 0.0]);
        assert_eq!(two[6..10], [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(row(0, 1, false)[3..5], [0.0, 6.0]);
        assert_eq!(row(2, 1, false)[10..], [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        let mut near = Vec::new();
        part.write_row(&[WordSpan { first: 2, len: 1 }], false, &mut near);
        assert_eq!(near, row(2, 1, false), "what is not needed may be left out");
    }

    #[test]
    fn half_of_a_float_is_within_half_a_percent() {
        for x in [0.0_f32, 1.0, -3.7, 0.0123, 812.5, -1e-6] {
            assert!((number(upper_half(x)) - x).abs() <= x.abs() / 250.0, "{x}");
        }
    }
}
