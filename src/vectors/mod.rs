//! Word vectors: which words mean alike.
//!
//! A table with one direction for each word, made from the words around it and from what a sentence
//! encoder makes of it (`training/vectors`). Two words are as alike as the cosine between their
//! directions says. No network runs: a comparison is one product.
//!
//! An expansion asks it which words may evoke a frame, by their likeness to the frame's LUs.
//! Pennacchiotti, De Cao, Basili, Croce and Roth (2008), Automatic Induction of FrameNet Lexical
//! Units, section 4.

mod error;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

pub use error::VectorsError;

use crate::engine::{Fingerprint, WORDS, Weights, WeightsError, declared_languages};
use crate::model::Declared;
use crate::text::fold;
use crate::text::input::read_text;

/// The format that this build reads.
const FORMAT: u32 = 1;
/// What `model_type` in a table's configuration says.
pub const MODEL_TYPE: &str = "word-vectors";
/// Name of the tensor: (V, D), V the number of words.
const TENSOR: &str = "vectors.weight";

/// Of the others' cosines with a word, those that count: one may be like it by chance. The rules of
/// a guided expansion (`expand/guide.rs`) depend on it.
const NEAREST: usize = 3;

/// The fields of `config.json`.
#[derive(Debug, Deserialize)]
struct Config {
    model_type: String,
    format: u32,
    words: usize,
    dimensions: usize,
}

/// Words and their directions, at length 1.
///
/// ```
/// use fnstore::proposals::WordVectors;
///
/// let vectors = WordVectors::open("models/word-vectors".as_ref())?;
/// let of = |word: &str| vectors.of(word).expect("it is in the table");
/// let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
/// assert!(cosine(&of("certify"), &of("verify")) > cosine(&of("banana"), &of("verify")));
/// # Ok::<(), fnstore::proposals::VectorsError>(())
/// ```
#[derive(Debug)]
pub struct WordVectors {
    /// In small letters.
    words: Vec<Arc<str>>,
    rows: HashMap<Arc<str>, usize>,
    table: Table,
    fingerprint: Fingerprint,
    declared: Declared,
}

/// A matrix (V, D), row by row, as its file has it.
#[derive(Debug)]
struct Table {
    dimensions: usize,
    numbers: Numbers,
}

#[derive(Debug)]
enum Numbers {
    /// At length 1.
    Floats(Vec<f32>),
    /// A quarter of the memory, of which a listing of proposals looks at a few rows.
    Bytes { values: Vec<i8>, scales: Vec<f32> },
}

impl Table {
    fn read(weights: &Weights, [words, dimensions]: [usize; 2]) -> Result<Self, WeightsError> {
        let shape = [words, dimensions];
        let numbers = if let Some((values, scales)) = weights.eight_bits(TENSOR, &shape)? {
            Numbers::Bytes { values, scales }
        } else {
            let mut floats = weights.tensor(TENSOR, &shape)?.into_data();
            floats.chunks_exact_mut(dimensions).for_each(to_length_1);
            Numbers::Floats(floats)
        };
        Ok(Self { dimensions, numbers })
    }

    /// A row at length 1.
    fn row(&self, row: usize) -> Cow<'_, [f32]> {
        let place = row * self.dimensions..(row + 1) * self.dimensions;
        match &self.numbers {
            Numbers::Floats(floats) => Cow::Borrowed(&floats[place]),
            Numbers::Bytes { values, scales } => {
                let of = |value: &i8| f32::from(*value) * scales[row];
                let mut floats: Vec<f32> = values[place].iter().map(of).collect();
                to_length_1(&mut floats);
                Cow::Owned(floats)
            }
        }
    }

    fn truncate(&mut self, rows: usize) {
        match &mut self.numbers {
            Numbers::Floats(floats) => floats.truncate(rows * self.dimensions),
            Numbers::Bytes { values, scales } => {
                values.truncate(rows * self.dimensions);
                scales.truncate(rows);
            }
        }
    }
}

impl WordVectors {
    /// Opens a table: `config.json`, `words.txt` with a word a line, `model.safetensors`.
    ///
    /// # Errors
    /// When a file is missing or damaged, or they do not belong together.
    pub fn open(directory: &Path) -> Result<Self, VectorsError> {
        let config = read_config(directory)?;
        let path = directory.join(WORDS);
        let text = read(&path)?;
        let words: Vec<Arc<str>> = text.lines().map(|word| fold(word).into()).collect();
        let refuse = |line, found, expected: String| VectorsError::Content {
            path: path.clone(),
            line,
            found,
            expected,
        };
        if words.len() != config.words {
            let found = format!("{} words", words.len());
            let expected = format!("{}, as `config.json` says", config.words);
            return Err(refuse(words.len(), found, expected));
        }
        let mut rows = HashMap::with_capacity(words.len());
        for (row, word) in words.iter().enumerate() {
            if word.trim().is_empty() || rows.insert(Arc::clone(word), row).is_some() {
                let found = format!("`{word}`");
                return Err(refuse(row + 1, found, "another word on each line".to_owned()));
            }
        }
        let of_weights = |source| VectorsError::Weights { path: directory.to_owned(), source };
        let weights = Weights::open(directory).map_err(of_weights)?;
        let shape = [config.words, config.dimensions];
        let table = Table::read(&weights, shape).map_err(of_weights)?;
        let fingerprint = weights.fingerprint().map_err(of_weights)?;
        let declared = declared_languages(directory);
        Ok(Self { words, rows, table, fingerprint, declared })
    }

    /// The same table with the words of its text alone. Words that were added from a lexicon stand
    /// at the end, in alphabetic order: the longest run in that order goes.
    #[must_use]
    pub fn of_text(mut self) -> Self {
        let is_after = |pair: &[Arc<str>]| pair[0] > pair[1];
        let kept = self.words.windows(2).rposition(is_after).map_or(0, |at| at + 1);
        self.words.truncate(kept);
        self.rows.retain(|_, row| *row < kept);
        self.table.truncate(kept);
        self
    }

    /// Number of dimensions, D.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.table.dimensions
    }

    /// The fingerprint of words and vectors.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The languages that the table declares.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// The words, in the order of the table.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| &**word)
    }

    /// The words with their vectors, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Cow<'_, [f32]>)> {
        self.words().enumerate().map(|(row, word)| (word, self.table.row(row)))
    }

    /// The vector of a word or phrase, letter case aside, at length 1: its own, or the direction of
    /// the mean of its words'. None where no word of it is in the table.
    #[must_use]
    pub fn of(&self, phrase: &str) -> Option<Vec<f32>> {
        let phrase = fold(phrase);
        if let Some(&row) = self.rows.get(phrase.as_str()) {
            return Some(self.table.row(row).into_owned());
        }
        let mut sum = vec![0.0; self.dimensions()];
        let parts = phrase.split(|c: char| c.is_whitespace() || c == '-');
        let parts = parts.filter(|part| part.chars().any(char::is_alphabetic));
        let known: Vec<usize> = parts.filter_map(|word| self.rows.get(word).copied()).collect();
        for row in &known {
            for (sum, value) in sum.iter_mut().zip(self.table.row(*row).iter()) {
                *sum += value;
            }
        }
        to_length_1(&mut sum);
        (!known.is_empty()).then_some(sum)
    }
}

/// How much a word is like some others: the mean cosine with the nearest three of them, or fewer.
/// From -1 to 1; 0 where there are none. All vectors are of length 1.
#[must_use]
pub fn likeness<V: AsRef<[f32]>>(vector: &[f32], others: &[V]) -> f32 {
    let mut nearest = [f32::NEG_INFINITY; NEAREST];
    for other in others {
        let mut cosine = cosine(vector, other.as_ref());
        for place in &mut nearest {
            if cosine > *place {
                std::mem::swap(&mut cosine, place);
            }
        }
    }
    let count = others.len().min(NEAREST);
    nearest[..count].iter().sum::<f32>() / count.max(1) as f32
}

/// The cosine of two vectors of length 1.
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn to_length_1(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length.max(f32::MIN_POSITIVE));
}

fn read_config(directory: &Path) -> Result<Config, VectorsError> {
    let path = directory.join("config.json");
    let text = read(&path)?;
    let refuse = |line, found| VectorsError::Content {
        path: path.clone(),
        line,
        found,
        expected: format!("the configuration of {MODEL_TYPE} in format {FORMAT}"),
    };
    let config: Config =
        serde_json::from_str(&text).map_err(|error| refuse(error.line(), error.to_string()))?;
    if config.model_type != MODEL_TYPE || config.format != FORMAT || config.dimensions == 0 {
        let Config { model_type, format, dimensions, .. } = config;
        return Err(refuse(1, format!("`{model_type}`, format {format}, {dimensions} dimensions")));
    }
    Ok(config)
}

fn read(path: &Path) -> Result<String, VectorsError> {
    read_text(path).map_err(|source| VectorsError::Read { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_nearest_count_or_as_many_as_there_are() {
        let others = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [0.8, 0.6]];
        assert!((likeness(&[1.0, 0.0], &others) - 0.8).abs() < 1e-6);
        assert!(likeness(&[0.0, 1.0], &others[..1]).abs() < 1e-6);
        assert!((likeness(&[-1.0, 0.0], &others[..1]) + 1.0).abs() < 1e-6);
        assert_eq!(likeness::<[f32; 2]>(&[1.0, 0.0], &[]), 0.0);
    }
}
