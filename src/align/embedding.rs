//! A word aligner without training: words whose encoder states are nearest to each other.
//!
//! Each sentence is encoded by itself. Two words are linked if each is the other's nearest by the
//! cosine of their states (Jalili Sabet et al. 2020, SimAlign, the method `Argmax`).

use std::path::Path;

use super::candidates::WordSpan;
use super::encode::{PairEncoder, WordPair};
use super::error::{AlignError, TooLong};
use super::features::{PairStates, SentenceStates};
use super::words::{Link, Links, SentencePair};
use crate::engine::Device;
use crate::learn::directions;

/// Pairs whose states are held at once.
const PAIRS_AT_ONCE: usize = 256;

/// An encoder whose states say which words are alike.
#[derive(Debug)]
pub struct EmbeddingAligner {
    encoder: PairEncoder,
}

impl EmbeddingAligner {
    /// Opens a model directory of the BERT family; its states after `layer`, counted from 1, are
    /// compared, after the last for none.
    ///
    /// # Errors
    /// When it cannot be read, or has no such layer.
    pub fn open(encoder: &Path, layer: Option<usize>, device: &Device) -> Result<Self, AlignError> {
        Ok(Self { encoder: PairEncoder::open(encoder, layer, None, device)? })
    }

    /// The links of each pair, in order; a pair with a sentence that is too long has none.
    ///
    /// # Errors
    /// When words cannot be cut into pieces, or the device fails.
    pub fn align(&self, pairs: &[SentencePair]) -> Result<Vec<Result<Links, TooLong>>, AlignError> {
        let mut links = Vec::with_capacity(pairs.len());
        for (batch, pairs) in pairs.chunks(PAIRS_AT_ONCE).enumerate() {
            let words: Vec<WordPair<'_>> = pairs.iter().map(SentencePair::words).collect();
            let states = self
                .encoder
                .encode_apart(&words)
                .map_err(|error| error.counted_from(batch * PAIRS_AT_ONCE))?;
            links.extend(states.into_iter().map(|states| {
                let PairStates { source, target, .. } = states?;
                Ok(mutual(&word_directions(&source), &word_directions(&target)))
            }));
        }
        Ok(links)
    }
}

/// The state of each word, of length 1; of a word without pieces, zeros.
fn word_directions(states: &SentenceStates) -> Vec<Vec<f32>> {
    let mean = |word: u32| {
        let mut mean = vec![0.0; states.width()];
        states.mean(WordSpan::new(word, word + 1), &mut mean);
        directions(&mean, states.width())
    };
    (0..states.words()).map(mean).collect()
}

/// Words that are each the other's nearest; of equals the first. Words without a direction have no
/// link.
fn mutual(source: &[Vec<f32>], target: &[Vec<f32>]) -> Links {
    let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let nearest = |word: &[f32], others: &[Vec<f32>]| {
        let mut best: Option<(usize, f32)> = None;
        for (at, other) in others.iter().enumerate() {
            let cosine = cosine(word, other);
            if cosine > best.map_or(0.0, |(_, best)| best) {
                best = Some((at, cosine));
            }
        }
        best.map(|(at, _)| at)
    };
    let back: Vec<Option<usize>> = target.iter().map(|word| nearest(word, source)).collect();
    let link = |(at, word): (usize, &Vec<f32>)| {
        let found = nearest(word, target)?;
        (back[found] == Some(at)).then_some(Link { source: at as u32, target: found as u32 })
    };
    source.iter().enumerate().filter_map(link).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_linked_when_each_is_the_others_nearest() {
        let source = vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![0.8, 0.6]];
        let target = vec![vec![0.0, 1.0], vec![1.0, 0.0], vec![0.0, 0.0]];
        // The third word's nearest is target 1, which is nearer to the first word.
        assert_eq!(mutual(&source, &target).to_string(), "0-1 1-0");
        assert!(mutual(&source, &[]).is_empty() && mutual(&[], &target).is_empty());
    }

    #[test]
    fn of_words_that_are_equally_near_the_first_is_taken() {
        let twice = vec![vec![1.0, 0.0], vec![1.0, 0.0]];
        assert_eq!(mutual(&twice, &twice).to_string(), "0-0");
    }
}
