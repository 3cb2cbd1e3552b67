//! What the linker sees of a word of a sentence and a word of its paraphrase.
//!
//! ```text
//! |s - t|   D numbers    how far the states of both words are apart, element by element
//! s t       D numbers    their product, element by element
//! cues      18 numbers   nearness beside that of the other words, likeness, place, neighbours
//! ```
//!
//! Exchanging the sides leaves every number as it is or swaps it with another. So a pair of words
//! is scored once, and no heuristic joins two directions.

use std::ops::Range;

use super::candidates::WordSpan;
use super::features::{PairStates, SentenceStates};
use super::words::likeness;
use crate::engine::kernels::{Weight, matmul, word_pairs};
use crate::engine::{ComputeError, Device, Tensor};
use crate::learn::directions;
use crate::text::fold;

/// Number of cues.
pub(super) const CUES: usize = 18;

/// What cosines are multiplied by before their exponentials are compared.
const SHARPNESS: f32 = 10.0;

/// How many neighbours on each side say whether two words stand in the same company.
const COMPANY: isize = 3;

/// All that features of one pair of sentences are made of.
#[derive(Debug)]
pub(super) struct PairFeatures {
    /// States of the words of the source, then of the target, (N + M, D).
    states: Tensor,
    /// Number of words of each side.
    pub(super) sizes: [usize; 2],
    /// (N, M, CUES)
    cues: Vec<f32>,
}

impl PairFeatures {
    pub(super) fn new(
        states: &PairStates,
        source: &[impl AsRef<str>],
        target: &[impl AsRef<str>],
    ) -> Result<Self, ComputeError> {
        let sizes = [source.len(), target.len()];
        let sides = [word_states(&states.source), word_states(&states.target)];
        let cosines = cosines(states.width(), &sides)?;
        let cues = cues(Grid { sizes, numbers: cosines }, &[folded(source), folded(target)]);
        let states = Tensor::new(&[sizes[0] + sizes[1], states.width()], sides.concat())?;
        Ok(Self { states, sizes, cues })
    }

    /// Numbers in a row.
    pub(super) fn inputs(width: usize) -> usize {
        2 * width + CUES
    }

    /// The rows of some words of the source with words of the target, (R, 2 D + CUES).
    pub(super) fn rows(&self, words: &[(usize, usize)]) -> Result<Tensor, ComputeError> {
        let rows: Vec<[u32; 2]> =
            words.iter().map(|&(source, target)| self.words(0, source, target)).collect();
        let cues: Vec<f32> =
            words.iter().flat_map(|&(source, target)| self.cues(source, target)).copied().collect();
        word_pairs(&Device::Cpu { threads: 1 }, &self.states, &rows, &cues)
    }

    /// Rows of the states of two words, where the first word of the source has row `first`.
    fn words(&self, first: usize, source: usize, target: usize) -> [u32; 2] {
        [source, self.sizes[0] + target].map(|word| (first + word) as u32)
    }

    /// The cosine of two words' states.
    pub(super) fn cosine(&self, source: usize, target: usize) -> f32 {
        self.cues(source, target)[0]
    }

    fn cues(&self, source: usize, target: usize) -> &[f32] {
        &self.cues[(source * self.sizes[1] + target) * CUES..][..CUES]
    }
}

/// All pairs of words of some pairs of sentences, ready for a device.
#[derive(Debug)]
pub(super) struct WordPairs<'a> {
    pub(super) of: &'a [PairFeatures],
    /// States of all words, (W, D).
    states: Tensor,
    /// Rows of the states of each pair of words.
    words: Vec<[u32; 2]>,
    /// (R, CUES)
    cues: Vec<f32>,
}

impl<'a> WordPairs<'a> {
    pub(super) fn of(features: &'a [PairFeatures]) -> Result<Self, ComputeError> {
        let (mut states, mut words, mut cues) = (Vec::new(), Vec::new(), Vec::new());
        let width = features.first().map_or(1, |of_pair| of_pair.states.width());
        for of_pair in features {
            let first = states.len() / width;
            states.extend_from_slice(of_pair.states.data());
            let [rows, columns] = of_pair.sizes;
            let each = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
            words.extend(each.map(|(i, j)| of_pair.words(first, i, j)));
            cues.extend_from_slice(&of_pair.cues);
        }
        let states = Tensor::new(&[states.len() / width, width], states)?;
        Ok(Self { of: features, states, words, cues })
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The rows of some of them, (R, 2 D + CUES).
    pub(super) fn rows(&self, device: &Device, part: Range<usize>) -> Result<Tensor, ComputeError> {
        let cues = &self.cues[part.start * CUES..part.end * CUES];
        word_pairs(device, &self.states, &self.words[part], cues)
    }
}

fn folded(words: &[impl AsRef<str>]) -> Vec<String> {
    words.iter().map(|word| fold(word.as_ref())).collect()
}

/// The mean state of each word, (N, D).
fn word_states(states: &SentenceStates) -> Vec<f32> {
    let width = states.width();
    let mut all = vec![0.0; states.words() as usize * width];
    for (word, mean) in (0..).zip(all.chunks_exact_mut(width)) {
        states.mean(WordSpan::new(word, word + 1), mean);
    }
    all
}

/// A number for each word of the source and each of the target.
struct Grid {
    sizes: [usize; 2],
    numbers: Vec<f32>,
}

impl Grid {
    fn new(sizes: [usize; 2], number: impl Fn(usize, usize) -> f32) -> Self {
        let [rows, columns] = sizes;
        let all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        Self { sizes, numbers: all.map(|(i, j)| number(i, j)).collect() }
    }

    fn at(&self, i: usize, j: usize) -> f32 {
        self.numbers[i * self.sizes[1] + j]
    }

    /// The number so many words further on both sides; `beyond` past an end of one of them, 1 past
    /// the same end of both.
    fn neighbour(&self, i: usize, j: usize, step: isize, beyond: f32) -> f32 {
        let place = |at: usize, size: usize| at.checked_add_signed(step).filter(|at| *at < size);
        match (place(i, self.sizes[0]), place(j, self.sizes[1])) {
            (Some(i), Some(j)) => self.at(i, j),
            (None, None) => 1.0,
            _ => beyond,
        }
    }

    /// A fold over each row and over each column.
    fn folded(&self, start: f32, fold: impl Fn(f32, f32) -> f32) -> [Vec<f32>; 2] {
        let mut folded = self.sizes.map(|size| vec![start; size]);
        for i in 0..self.sizes[0] {
            for j in 0..self.sizes[1] {
                folded[0][i] = fold(folded[0][i], self.at(i, j));
                folded[1][j] = fold(folded[1][j], self.at(i, j));
            }
        }
        folded
    }
}

fn cues(cosine: Grid, words: &[Vec<String>; 2]) -> Vec<f32> {
    let sizes = cosine.sizes;
    let sharp = Grid::new(sizes, |i, j| (SHARPNESS * cosine.at(i, j)).exp());
    let like = Grid::new(sizes, |i, j| likeness(&words[0][i], &words[1][j]) as f32);
    let equal = Grid::new(sizes, |i, j| f32::from(u8::from(words[0][i] == words[1][j])));
    let best = cosine.folded(-1.0, f32::max);
    let mass = sharp.folded(0.0, |sum, x| sum + x);
    let twins = equal.folded(0.0, |sum, x| sum + x);
    let flags = words.each_ref().map(|words| -> Vec<[f32; 2]> {
        let no_letter = |word: &str| !word.chars().any(char::is_alphanumeric);
        let flag = |is: bool| f32::from(u8::from(is));
        words.iter().map(|word| [flag(no_letter(word)), flag(word.chars().count() <= 3)]).collect()
    });
    let middle = |at: usize, size: usize| (at as f32 + 0.5) / size as f32;
    let mut cues = Vec::with_capacity(sizes[0] * sizes[1] * CUES);
    for i in 0..sizes[0] {
        for j in 0..sizes[1] {
            let company: f32 = (-COMPANY..=COMPANY)
                .filter(|step| *step != 0)
                .map(|step| equal.neighbour(i, j, step, 0.0))
                .sum();
            let cue: [f32; CUES] = [
                cosine.at(i, j),
                cosine.at(i, j) - best[0][i],
                cosine.at(i, j) - best[1][j],
                sharp.at(i, j) / mass[0][i],
                sharp.at(i, j) / mass[1][j],
                like.at(i, j),
                equal.at(i, j),
                cosine.neighbour(i, j, -1, 0.0),
                cosine.neighbour(i, j, 1, 0.0),
                equal.neighbour(i, j, -1, 0.0),
                equal.neighbour(i, j, 1, 0.0),
                company / (2 * COMPANY) as f32,
                (middle(i, sizes[0]) - middle(j, sizes[1])).abs(),
                1.0 / (1.0 + twins[0][i]),
                1.0 / (1.0 + twins[1][j]),
                flags[0][i][0] - flags[1][j][0],
                flags[0][i][1],
                flags[1][j][1],
            ];
            cues.extend(cue);
        }
    }
    cues
}

/// The cosines of the states of all words, (N, M).
fn cosines(width: usize, states: &[Vec<f32>; 2]) -> Result<Vec<f32>, ComputeError> {
    let one = Device::Cpu { threads: 1 };
    let unit = |side: &[f32]| Tensor::new(&[side.len() / width, width], directions(side, width));
    let [source, target] = [unit(&states[0])?, unit(&states[1])?];
    Ok(matmul(&one, &source, &Weight::new(&one, &target), None)?.into_data())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(words: &[[f32; 2]]) -> SentenceStates {
        SentenceStates::new(2, words.len(), words.iter().enumerate().map(|(at, s)| (at, &s[..])))
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_row_is_that_worked_by_hand() {
        let pair = PairStates {
            source: states(&[[1.0, 0.0], [0.0, 2.0]]),
            target: states(&[[0.0, 3.0], [1.0, 0.0]]),
            links: None,
        };
        let features = PairFeatures::new(&pair, &words("The locks"), &words("locked the")).unwrap();
        let row = features.rows(&[(1, 0)]).unwrap().into_data();
        assert_eq!(row.len(), PairFeatures::inputs(2));
        assert_eq!(row[..4], [0.0, 1.0, 0.0, 6.0]);
        let cues = &row[4..];
        assert_eq!((cues[0], cues[1], cues[2]), (1.0, 0.0, 0.0));
        assert!(cues[3] > 0.99 && cues[4] > 0.99);
        // lock/s and lock/ed: four of six letters.
        assert!((cues[5] - 16.0 / 36.0).abs() < 1e-6 && cues[6] == 0.0);
        // Before them stands one word and nothing; after them nothing and one word.
        assert_eq!((cues[7], cues[8]), (0.0, 0.0));
        assert_eq!(cues[12], 0.5);
        let row = features.rows(&[(0, 1)]).unwrap().into_data();
        assert_eq!((row[4 + 5], row[4 + 6], row[4 + 13]), (1.0, 1.0, 0.5));
    }

    #[test]
    fn all_pairs_of_words_of_some_pairs_have_the_rows_that_each_has_alone() {
        let pair = |a: &[[f32; 2]], b: &[[f32; 2]]| {
            let pair = PairStates { source: states(a), target: states(b), links: None };
            let (source, target) = (vec!["x"; a.len()], vec!["y"; b.len()]);
            PairFeatures::new(&pair, &source, &target).unwrap()
        };
        let features = [
            pair(&[[1.0, 0.5], [0.2, 2.0]], &[[0.3, 3.0]]),
            pair(&[[0.1, 0.9]], &[[4.0, 1.0], [1.0, 1.0], [0.0, 1.0]]),
            pair(&[], &[[1.0, 2.0]]),
        ];
        let all = WordPairs::of(&features).unwrap();
        let rows = all.rows(&Device::cpu(), 1..all.len()).unwrap();
        let of_first = features[0].rows(&[(1, 0)]).unwrap();
        let of_second = features[1].rows(&[(0, 0), (0, 1), (0, 2)]).unwrap();
        assert_eq!(rows.data(), [of_first.data(), of_second.data()].concat());
        assert_eq!(WordPairs::of(&[]).unwrap().len(), 0);
    }

    #[test]
    fn exchanging_the_sides_exchanges_what_is_said_of_them() {
        let (a, b) = (states(&[[1.0, 0.5], [0.2, 2.0]]), states(&[[0.3, 3.0], [1.0, 0.0]]));
        let pair = PairStates { source: a.clone(), target: b.clone(), links: None };
        let flipped = PairStates { source: b, target: a, links: None };
        let (source, target) = (words("they ,"), words("so they"));
        let row = PairFeatures::new(&pair, &source, &target).unwrap().rows(&[(0, 1)]).unwrap();
        let other = PairFeatures::new(&flipped, &target, &source).unwrap();
        let mut other = other.rows(&[(1, 0)]).unwrap().into_data();
        for (one, two) in [(1, 2), (3, 4), (13, 14), (16, 17)] {
            other.swap(4 + one, 4 + two);
        }
        other[4 + 15] = -other[4 + 15];
        assert_eq!(row.data(), other);
    }
}
