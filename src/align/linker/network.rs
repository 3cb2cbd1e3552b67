//! The linker's network: the scores of all pairs of words, and the links that they give.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::features::PairFeatures;
use crate::align::encode::WordPair;
use crate::align::error::AlignError;
use crate::align::features::PairStates;
use crate::align::link_scores::LinkScores;
use crate::align::mlp::Parameters;
use crate::align::words::{Link, Links};
use crate::compute::{ComputeError, Device, Tensor};
use crate::nn::{NnError, Weights};

/// What the inputs of the network are; a build that makes them otherwise gives them another name.
const FEATURES: &str = "difference, product, 18 cues";

/// What the linker's tensors are called by in a head's file.
const PREFIX: &str = "linker.";

/// Rows that one product takes; bounds memory, not results.
const CHUNK: usize = 4096;

/// What a configuration says of a linker's network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkerPart {
    /// Number of hidden units.
    pub hidden: usize,
    /// What the inputs are.
    pub features: String,
    /// Score from which on two words are linked.
    pub threshold: f32,
    /// Score from which on two words are linked that are each the other's best.
    pub mutual_threshold: f32,
}

impl LinkerPart {
    /// A network that this build trained.
    pub(super) fn new(hidden: usize, [threshold, mutual_threshold]: [f32; 2]) -> Self {
        Self { hidden, features: FEATURES.to_owned(), threshold, mutual_threshold }
    }

    /// Whether this build makes the same inputs.
    pub(in crate::align) fn is_of_this_build(&self) -> bool {
        self.features == FEATURES
    }
}

/// A linker without its encoder.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::align) struct Network {
    part: LinkerPart,
    parameters: Parameters,
}

impl Network {
    /// Reads a network for states `width` wide, whose tensors' names begin with `prefix`.
    pub(super) fn read(
        weights: &Weights,
        prefix: &str,
        part: &LinkerPart,
        width: usize,
    ) -> Result<Self, AlignError> {
        let inputs = PairFeatures::inputs(width);
        let parameters = Parameters::read(inputs, part.hidden, |name, shape| {
            let tensor = weights.tensor(&format!("{prefix}{name}"), shape);
            Ok::<_, AlignError>(tensor.map_err(NnError::from)?.into_data())
        })?;
        Ok(Self { part: part.clone(), parameters })
    }

    /// Reads the network in a head's directory.
    pub(in crate::align) fn beside_head(
        head: &Path,
        part: &LinkerPart,
        width: usize,
    ) -> Result<Self, AlignError> {
        Self::read(&Weights::open(head).map_err(NnError::from)?, PREFIX, part, width)
    }

    /// What a configuration says of it.
    pub(in crate::align) fn part(&self) -> &LinkerPart {
        &self.part
    }

    /// A name for its weights.
    pub(in crate::align) fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (_, _, data) in self.parameters.tensors() {
            hasher.update(bytemuck::cast_slice(data));
        }
        hasher.finalize().to_string()
    }

    /// Its tensors, by their names in a head's file.
    pub(in crate::align) fn tensors_beside_head(&self) -> Vec<(String, Vec<usize>, &[f32])> {
        let tensors = self.parameters.tensors().into_iter();
        tensors.map(|(name, shape, data)| (format!("{PREFIX}{name}"), shape, data)).collect()
    }

    /// The score of each word of a sentence against each of its paraphrase.
    pub(in crate::align) fn scores(
        &self,
        device: &Device,
        states: &PairStates,
        pair: &WordPair<'_>,
    ) -> Result<LinkScores, ComputeError> {
        let features = PairFeatures::new(states, &pair.source, &pair.target);
        Ok(LinkScores::new(features.sizes, scores(&self.parameters, device, &features)?))
    }

    /// The links of a pair.
    pub(super) fn links(
        &self,
        device: &Device,
        features: &PairFeatures,
    ) -> Result<Links, ComputeError> {
        let scores = scores(&self.parameters, device, features)?;
        let thresholds = [self.part.threshold, self.part.mutual_threshold];
        Ok(decode(&scores, features.sizes, thresholds))
    }
}

/// The score of each pair of words, (N, M).
pub(super) fn scores(
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
pub(super) fn decode(scores: &[f32], [rows, columns]: [usize; 2], thresholds: [f32; 2]) -> Links {
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
