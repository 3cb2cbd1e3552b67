//! The linker: a word aligner that was trained on gold links, over the states of an encoder.
//!
//! The place of DiscAlign in Culkin et al. 2021 (section 4.2), which is trained on a part of Edinburgh++
//! too; this one has no bitext behind it but the encoder's own. A sentence and its paraphrase are encoded
//! together, a feed-forward network as the span aligner's scores every pair of words
//! (`features.rs`), and links are (`decode`)
//!
//! - the pairs that score [`LinkerConfig::threshold`] or more, and
//! - those that are the best of both their words and score [`LinkerConfig::mutual_threshold`] or more.
//!
//! `train.rs` says how it learns. On disk it is a directory with `config.json` ([`LinkerConfig`]) and
//! `model.safetensors`, with the tensors of a head.

mod features;
pub mod train;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::encode::{PairEncoder, WordPair};
use super::error::{AlignError, TooLong};
use super::mlp::Parameters;
use super::trained::CONFIG;
use super::words::{Link, LinkCounts, Links, SentencePair};
use crate::compute::{ComputeError, Device, Tensor};
use crate::nn::{NnError, Weights};
use features::PairFeatures;

/// The format that this build writes and reads.
const FORMAT: u32 = 1;

/// What the inputs of the network are; a build that makes them otherwise gives them another name.
const FEATURES: &str = "difference, product, 18 cues";

/// Pairs whose states are held at once.
const PAIRS_AT_ONCE: usize = 128;

/// Rows that one product takes; bounds memory, not results.
const CHUNK: usize = 4096;

/// What a linker's weights were made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkerConfig {
    /// Version of the format.
    pub format: u32,
    /// Directory name of the encoder, by which [`encoder_of`](super::encoder_of) finds it.
    pub encoder: String,
    /// Fingerprint of the encoder (BLAKE3, hexadecimal).
    pub encoder_fingerprint: String,
    /// Layer of the encoder whose states are read, from 1; 0 is the embeddings, none the last layer.
    pub layer: Option<usize>,
    /// Width D of the encoder's states.
    pub width: usize,
    /// Number of hidden units.
    pub hidden: usize,
    /// What the inputs are.
    pub features: String,
    /// Score from which on two words are linked.
    pub threshold: f32,
    /// Score from which on two words are linked that are each the other's best.
    pub mutual_threshold: f32,
    /// How the weights were trained.
    pub training: train::LinkerTraining,
    /// Links found in the development data, on which epoch and thresholds were chosen.
    pub dev: LinkCounts,
}

/// An encoder and the network that was trained to link words by its states.
///
/// ```no_run
/// use fnstore::align::linker::Linker;
/// use fnstore::align::words::read_pairs;
/// use fnstore::compute::Device;
/// # fn main() -> Result<(), fnstore::align::AlignError> {
/// let encoder = "models/all-MiniLM-L6-v2".as_ref();
/// let linker = Linker::open("linker".as_ref(), encoder, &Device::cpu())?;
/// for links in linker.align(&read_pairs("pairs.tsv".as_ref())?)?.into_iter().flatten() {
///     println!("{links}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Linker {
    encoder: PairEncoder,
    device: Device,
    parameters: Parameters,
    config: LinkerConfig,
}

impl Linker {
    /// Opens a linker and its encoder.
    ///
    /// # Errors
    /// When either cannot be read, or the linker was trained on the states of another encoder.
    pub fn open(directory: &Path, encoder: &Path, device: &Device) -> Result<Self, AlignError> {
        let (config, parameters) = read(directory)?;
        let encoder = PairEncoder::open(encoder, config.layer, None, device)?;
        let found = encoder.fingerprint();
        if config.encoder_fingerprint != found {
            return Err(AlignError::Encoder {
                head: directory.to_owned(),
                expected: format!("{} {}", config.encoder, config.encoder_fingerprint),
                found,
            });
        }
        Ok(Self { encoder, device: device.clone(), parameters, config })
    }

    /// What the linker was made for and how it did on its development data.
    #[must_use]
    pub fn config(&self) -> &LinkerConfig {
        &self.config
    }

    /// The links of each pair, in order; a pair that is too long has none. A pair's links depend on
    /// nothing but the pair.
    ///
    /// # Errors
    /// When words cannot be cut into pieces, or the device fails.
    pub fn align(&self, pairs: &[SentencePair]) -> Result<Vec<Result<Links, TooLong>>, AlignError> {
        let thresholds = [self.config.threshold, self.config.mutual_threshold];
        let mut links = Vec::with_capacity(pairs.len());
        for (batch, pairs) in pairs.chunks(PAIRS_AT_ONCE).enumerate() {
            let features = encode(&self.encoder, pairs, &mut |_| ())
                .map_err(|error| error.counted_from(batch * PAIRS_AT_ONCE))?;
            for features in features {
                links.push(match features {
                    Ok(features) => {
                        let scores = scores(&self.parameters, &self.device, &features)?;
                        Ok(decode(&scores, features.sizes, thresholds))
                    }
                    Err(too_long) => Err(too_long),
                });
            }
        }
        Ok(links)
    }
}

/// What features of each pair are made of. `done` hears how many are finished.
fn encode(
    encoder: &PairEncoder,
    pairs: &[SentencePair],
    done: &mut dyn FnMut(usize),
) -> Result<Vec<Result<PairFeatures, TooLong>>, AlignError> {
    let words: Vec<WordPair<'_>> = pairs.iter().map(SentencePair::words).collect();
    let states = encoder.encode_those_that_fit(&words, done)?;
    let features = pairs.iter().zip(states);
    Ok(features
        .map(|(pair, states)| Ok(PairFeatures::new(&states?, &pair.source, &pair.target)))
        .collect())
}

/// The score of each pair of words, (N, M).
fn scores(
    parameters: &Parameters,
    device: &Device,
    features: &PairFeatures,
) -> Result<Vec<f32>, ComputeError> {
    let [rows, columns] = features.sizes;
    let all: Vec<(usize, usize)> =
        (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).collect();
    let mut scores = Vec::with_capacity(all.len());
    for chunk in all.chunks(CHUNK) {
        let mut inputs = Vec::with_capacity(chunk.len() * parameters.inputs);
        chunk.iter().for_each(|&(i, j)| features.push(i, j, &mut inputs));
        let inputs = Tensor::new(&[chunk.len(), parameters.inputs], inputs)?;
        scores.extend(parameters.score_rows(device, &inputs)?);
    }
    Ok(scores)
}

/// The links that scores (N, M) give.
fn decode(scores: &[f32], [rows, columns]: [usize; 2], thresholds: [f32; 2]) -> Links {
    let [threshold, mutual] = thresholds;
    let mut best = [vec![0.0_f32; rows], vec![0.0_f32; columns]];
    let at = |i: usize, j: usize| scores[i * columns + j];
    for i in 0..rows {
        for j in 0..columns {
            best[0][i] = best[0][i].max(at(i, j));
            best[1][j] = best[1][j].max(at(i, j));
        }
    }
    let all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    let linked = all.filter(|&(i, j)| {
        let score = at(i, j);
        let is_best = score >= best[0][i] && score >= best[1][j];
        score >= threshold || (is_best && score >= mutual)
    });
    linked.map(|(i, j)| Link { source: i as u32, target: j as u32 }).collect()
}

fn read(directory: &Path) -> Result<(LinkerConfig, Parameters), AlignError> {
    let path = directory.join(CONFIG);
    let json = std::fs::read_to_string(&path).map_err(|source| AlignError::File {
        action: "read linker",
        path: path.clone(),
        source,
    })?;
    let refuse = |line, found, expected| AlignError::Content { path, line, found, expected };
    let config: LinkerConfig = match serde_json::from_str(&json) {
        Ok(config) => config,
        Err(e) => return Err(refuse(e.line(), e.to_string(), "the configuration of a linker")),
    };
    if config.format != FORMAT || config.features != FEATURES {
        let found = format!("format {} of `{}`", config.format, config.features);
        return Err(refuse(1, found, "format 1 of the features of src/align/linker/features.rs"));
    }
    let weights = Weights::open(directory).map_err(NnError::from)?;
    let inputs = PairFeatures::inputs(config.width);
    let parameters = Parameters::read(inputs, config.hidden, |name, shape| {
        let tensor = weights.tensor(name, shape).map_err(NnError::from)?;
        Ok::<_, AlignError>(tensor.into_data())
    })?;
    Ok((config, parameters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_linked_that_score_high_or_are_each_the_others_best() {
        let scores = [0.9, 0.8, 0.1, 0.2, 0.3, 0.3];
        let links = |thresholds| decode(&scores, [2, 3], thresholds).to_string();
        assert_eq!(links([0.5, 0.5]), "0-0 0-1");
        // 1-2 is the best of its words; 1-1 is the best of one of its words.
        assert_eq!(links([0.5, 0.25]), "0-0 0-1 1-2");
        assert_eq!(links([1.1, 0.25]), "0-0 1-2");
        assert_eq!(decode(&[], [0, 3], [0.5, 0.5]).len(), 0);
    }
}
