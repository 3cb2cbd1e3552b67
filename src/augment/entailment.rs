//! What a classifier sees of an entailment pair: how much of the hypothesis the premise says.
//!
//! Premise and hypothesis are encoded each for itself by a frozen encoder. *Near* is the cosine of
//! a word's state with the nearest of the other side. A pair is eight numbers, multiplied by
//! [`SCALE`]:
//!
//! ```text
//! 1  near, mean over the hypothesis' words     5  share of the hypothesis' words that the premise has
//! 2  near, mean of its three least             6  the same of its content words
//! 3  near, its least                           7  words of the hypothesis by those of the premise, 1 at most
//! 4  near, mean over the premise's words       8  cosine of both sides' mean states
//! ```
//!
//! The states themselves are left out: some thousand pairs do not teach what they mean. With them
//! (`|u - v|` and `u * v` of Conneau et al. 2017) the classifier learns RTE's training pairs by
//! heart and gets fewer others right.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::engine::{Device, Hidden, WordPieces};
use crate::learn::{NetworkError, TooManyPieces, WordEncoder, directions, mean_states};
use crate::text::{fold, is_stop_word, words};

/// Numbers in a row.
const WIDTH: usize = 8;

/// What they are multiplied by: most lie between 0 and 1 and near each other.
const SCALE: f32 = 4.0;

/// Words of the hypothesis that are least near, whose mean is taken.
const LEAST: usize = 3;

/// Pairs whose states are held at once.
const PAIRS_AT_ONCE: usize = 256;

/// A premise and a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntailmentPair<'t> {
    /// What is given.
    pub premise: &'t str,
    /// What may follow from it.
    pub hypothesis: &'t str,
}

/// Rows of features, one for each pair.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairFeatures {
    /// Numbers in a row.
    pub(super) width: usize,
    /// (N, width).
    pub(super) rows: Vec<f32>,
    /// Pairs of which a side was cut to what the encoder takes.
    pub shortened: u64,
}

impl PairFeatures {
    /// The row of a pair.
    pub(super) fn row(&self, at: usize) -> &[f32] {
        &self.rows[at * self.width..][..self.width]
    }
}

/// A frozen encoder that reads pairs.
#[derive(Debug)]
pub struct PairReader {
    encoder: WordEncoder,
}

/// One side of a pair.
struct Side {
    /// In small letters.
    words: Vec<String>,
    /// Whether its end is left out.
    is_cut: bool,
    /// State of each word (words, D); zeros for a word without pieces.
    states: Vec<f32>,
}

impl PairReader {
    /// Opens a model directory of the BERT family.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(encoder: &Path, device: &Device) -> Result<Self, NetworkError> {
        Ok(Self { encoder: WordEncoder::open::<NetworkError>(encoder, None, None, device)? })
    }

    /// The features of pairs, in their order; `done` hears how many are finished. A sentence that
    /// is too long for the encoder is read as far as it goes.
    ///
    /// # Errors
    /// When words cannot be cut into pieces, or the device fails.
    pub fn features(
        &self,
        pairs: &[EntailmentPair<'_>],
        mut done: impl FnMut(usize),
    ) -> Result<PairFeatures, NetworkError> {
        let mut features = PairFeatures { width: WIDTH, ..PairFeatures::default() };
        let mut finished = 0;
        for pairs in pairs.chunks(PAIRS_AT_ONCE) {
            // The variants of an item stand together and share sentences: each is encoded once.
            let mut places: HashMap<&str, usize> = HashMap::new();
            let mut texts: Vec<&str> = Vec::new();
            let mut place = |text| {
                *places.entry(text).or_insert_with(|| {
                    texts.push(text);
                    texts.len() - 1
                })
            };
            let sides: Vec<[usize; 2]> =
                pairs.iter().map(|pair| [place(pair.premise), place(pair.hypothesis)]).collect();
            let read = self.sides(&texts)?;
            for side in sides {
                let [premise, hypothesis] = side.map(|at| &read[at]);
                features.rows.extend(row(premise, hypothesis, self.encoder.width()));
                features.shortened += u64::from(premise.is_cut || hypothesis.is_cut);
            }
            finished += pairs.len();
            done(finished);
        }
        Ok(features)
    }

    /// Texts, each read as far as the encoder goes.
    fn sides(&self, texts: &[&str]) -> Result<Vec<Side>, NetworkError> {
        let (mut all, mut cut) = (Vec::new(), Vec::new());
        for text in texts {
            let mut words: Vec<&str> =
                words(text).into_iter().filter_map(|word| word.of(text)).collect();
            let whole = words.len();
            let pieces = loop {
                match self.encoder.cut(&words, None)? {
                    Ok(pieces) => break pieces,
                    Err(TooManyPieces { pieces, limit }) => {
                        words.truncate((words.len() * limit / pieces).min(words.len() - 1));
                    }
                }
            };
            let is_cut = words.len() < whole;
            cut.push(Ok::<WordPieces, NetworkError>(pieces));
            all.push((words, is_cut));
        }
        let side = |at: usize, pieces: &WordPieces, hidden: &Hidden| {
            let (words, is_cut) = &all[at];
            Side {
                words: words.iter().map(|word| fold(word)).collect(),
                is_cut: *is_cut,
                states: mean_states(words.len(), pieces, hidden),
            }
        };
        self.encoder.run(cut, side, |_| ())?.into_iter().collect()
    }
}

/// The features of a pair.
fn row(premise: &Side, hypothesis: &Side, width: usize) -> [f32; WIDTH] {
    let (p, h) = (directions(&premise.states, width), directions(&hypothesis.states, width));
    let (mut near, back) = (nearest(&h, &p, width), nearest(&p, &h, width));
    near.sort_by(f32::total_cmp);
    let least = &near[..near.len().min(LEAST)];
    let known: HashSet<&String> = premise.words.iter().collect();
    let share_known = |words: &[&String]| {
        let same = words.iter().filter(|word| known.contains(**word)).count();
        same as f32 / words.len().max(1) as f32
    };
    let all: Vec<&String> = hypothesis.words.iter().collect();
    let content = |word: &&&String| !is_stop_word(word) && word.contains(char::is_alphanumeric);
    let content: Vec<&String> = all.iter().filter(content).copied().collect();
    let length = hypothesis.words.len() as f32 / premise.words.len().max(1) as f32;
    let means = [mean(&premise.states, width), mean(&hypothesis.states, width)];
    let [u, v] = means.map(|mean| directions(&mean, width));
    let row = [
        mean(&near, 1)[0],
        mean(least, 1)[0],
        near.first().copied().unwrap_or(0.0),
        mean(&back, 1)[0],
        share_known(&all),
        share_known(&content),
        length.min(1.0),
        u.iter().zip(&v).map(|(u, v)| u * v).sum(),
    ];
    row.map(|number| SCALE * number)
}

/// The mean of rows (N, width); zeros of none.
fn mean(rows: &[f32], width: usize) -> Vec<f32> {
    let mut mean = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    let count = (rows.len() / width).max(1) as f32;
    mean.iter_mut().for_each(|sum| *sum /= count);
    mean
}

/// Of each row of `a`, the cosine with the nearest row of `b`; 0 where `b` has none.
fn nearest(a: &[f32], b: &[f32], width: usize) -> Vec<f32> {
    let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let best = |row: &[f32]| {
        let all = b.chunks_exact(width).map(|other| cosine(row, other));
        all.reduce(f32::max).unwrap_or(0.0)
    };
    a.chunks_exact(width).map(best).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(words: &[&str], states: &[f32]) -> Side {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Side { words, is_cut: false, states: states.to_vec() }
    }

    #[test]
    fn a_pair_is_how_near_its_words_are() {
        let premise = side(&["the", "dog", "ran"], &[1.0, 0.0, 0.0, 2.0, 0.0, 1.0]);
        let hypothesis =
            side(&["dog", "the", "cat", "."], &[0.0, 4.0, 3.0, 0.0, -1.0, 0.0, 0.0, -1.0]);
        let row = row(&premise, &hypothesis, 2).map(|number| number / SCALE);
        // The hypothesis' words are near by 1, 1, 0 and 0; both means are (1, 3) and (2, 3) in
        // direction.
        let cosine = 11.0 / (10.0_f32 * 13.0).sqrt();
        let expected = [0.5, 1.0 / 3.0, 0.0, 1.0, 0.5, 0.5, 1.0, cosine];
        for (found, expected) in row.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{row:?}");
        }
    }

    #[test]
    fn a_side_without_words_is_near_to_nothing() {
        let row = row(&side(&[], &[]), &side(&["dog"], &[0.0, 1.0]), 2);
        assert_eq!(row, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0]);
        let row = super::row(&side(&["dog"], &[0.0, 1.0]), &side(&[], &[]), 2);
        assert_eq!(row, [0.0; WIDTH]);
    }
}
