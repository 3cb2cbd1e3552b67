//! The linker's network: the scores of all pairs of words, and the links that they give.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::encode::WordPair;
use super::features::PairStates;
use super::link_features::{PairFeatures, WordPairs};
use super::link_scores::LinkScores;
use super::scorer::{ACTIVATION, folded_output, most_rows};
use super::words::{Link, Links};
use crate::engine::kernels::{ScoreOutput, Weight, matmul, row_scores};
use crate::engine::{ComputeError, Device, NamedTensor, NnError, Renewable, Tensor, Weights};
use crate::learn::{Mlp, Part, Weighted as _};

/// What the inputs of the network are; a build that makes them otherwise gives them another name.
const FEATURES: &str = "difference, product, 18 cues";

/// What the linker's tensors are called by in a head's file.
const PREFIX: &str = "linker.";

/// Sentence pairs whose features are held at once.
const PAIRS_AT_ONCE: usize = 256;

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

    /// What was found that this build would misread, and what it expects.
    pub(super) fn check(&self) -> Result<(), (String, &'static str)> {
        if self.features != FEATURES {
            let expected = "the features of src/align/link_features.rs";
            return Err((format!("a linker of `{}`", self.features), expected));
        }
        if self.hidden == 0 {
            return Err(("a linker without hidden units".to_owned(), "at least one"));
        }
        Ok(())
    }

    /// The links that scores give: words that score [`threshold`](Self::threshold) or more, and
    /// words that are each the other's best and score [`mutual_threshold`](Self::mutual_threshold)
    /// or more.
    pub(super) fn links(&self, scores: &LinkScores) -> Links {
        let [rows, columns] = scores.sizes;
        let mut best = [vec![0.0_f32; rows], vec![0.0_f32; columns]];
        let all = || {
            let row =
                |i| scores.of_word(i).iter().enumerate().map(move |(j, score)| (i, j, *score));
            (0..rows).flat_map(row)
        };
        for (i, j, score) in all() {
            best[0][i] = best[0][i].max(score);
            best[1][j] = best[1][j].max(score);
        }
        let linked = all().filter(|&(i, j, score)| {
            let is_best = score >= best[0][i] && score >= best[1][j];
            score >= self.threshold || (is_best && score >= self.mutual_threshold)
        });
        linked.map(|(i, j, _)| Link { source: i as u32, target: j as u32 }).collect()
    }
}

/// A linker without its encoder.
#[derive(Debug, Clone)]
pub(super) struct LinkNetwork {
    part: LinkerPart,
    scorer: WordScorer,
}

impl LinkNetwork {
    /// Reads a network for states `width` wide, whose tensors' names begin with `prefix`.
    pub(super) fn read(
        weights: &Weights,
        prefix: &str,
        part: &LinkerPart,
        width: usize,
        device: &Device,
    ) -> Result<Self, NnError> {
        let sizes = [PairFeatures::inputs(width), part.hidden, 1];
        let mlp = Mlp::read(weights, prefix, &sizes, ACTIVATION)?;
        Ok(Self { part: part.clone(), scorer: WordScorer::new(mlp, device)? })
    }

    /// Reads the network among a head's weights.
    pub(super) fn beside_head(
        weights: &Weights,
        part: &LinkerPart,
        width: usize,
        device: &Device,
    ) -> Result<Self, NnError> {
        Self::read(weights, PREFIX, part, width, device)
    }

    /// What a configuration says of it.
    pub(super) fn part(&self) -> &LinkerPart {
        &self.part
    }

    /// A name for its weights.
    pub(super) fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, shape, data) in self.scorer.mlp.tensors("") {
            hasher.update(format!("{name} {shape:?}").as_bytes());
            data.iter().for_each(|number| {
                hasher.update(&number.to_be_bytes());
            });
        }
        hasher.finalize().to_string()
    }

    /// Its tensors, by their names in a head's file.
    pub(super) fn tensors_beside_head(&self) -> Vec<NamedTensor<'_>> {
        self.scorer.mlp.tensors(PREFIX)
    }

    /// The score of each word of a sentence against each of its paraphrase, for each pair of
    /// sentences. A pair's scores depend on nothing but the pair.
    pub(super) fn scores(
        &self,
        pairs: &[(&PairStates, &WordPair<'_>)],
    ) -> Result<Vec<LinkScores>, ComputeError> {
        let scores = pairs.chunks(PAIRS_AT_ONCE).map(|pairs| self.scores_together(pairs));
        Ok(scores.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    fn scores_together(
        &self,
        pairs: &[(&PairStates, &WordPair<'_>)],
    ) -> Result<Vec<LinkScores>, ComputeError> {
        let device = self.scorer.weights.device();
        let features = device.share(pairs.len(), |_, at| {
            let (states, pair) = pairs[at];
            PairFeatures::new(states, &pair.source, &pair.target)
        });
        let features = features.into_iter().collect::<Result<Vec<_>, _>>()?;
        // On the CPU a thread takes pair by pair.
        let groups = groups(&features, most_rows(&device, 1));
        let scores = device.share_prepared(
            groups.len(),
            |at| WordPairs::of(&features[groups[at].clone()]),
            |device, words| self.scorer.score(device, &words),
        )?;
        Ok(scores.into_iter().flatten().collect())
    }
}

/// As many pairs together as fill a product with their words, at least one.
fn groups(features: &[PairFeatures], most: usize) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut rows = 0;
    for (at, of_pair) in features.iter().enumerate() {
        let [source, target] = of_pair.sizes;
        // States take room as rows do.
        let of_pair = (source * target).max(source + target);
        rows += of_pair;
        match groups.last_mut() {
            Some(group) if rows <= most => group.end = at + 1,
            _ => {
                groups.push(at..at + 1);
                rows = of_pair;
            }
        }
    }
    groups
}

/// The network's weights, arranged for scoring.
#[derive(Debug, Clone)]
pub(super) struct WordScorer {
    mlp: Mlp,
    weights: Renewable<Placed>,
}

/// The weights on a device.
#[derive(Debug)]
struct Placed {
    hidden: Weight,
    bias: Tensor,
    output: ScoreOutput,
}

impl Placed {
    fn new(mlp: &Mlp, device: &Device) -> Result<Self, ComputeError> {
        let layer = &mlp.layers[0];
        let shape = [layer.outputs, layer.inputs];
        let (output, bias) = folded_output(mlp);
        Ok(Self {
            hidden: Weight::new(device, &Tensor::new(&shape, layer[Part::Weight].to_vec())?)
                .placed()?,
            bias: Tensor::new(&shape[..1], layer[Part::Bias].to_vec())?.to_device(device)?,
            output: ScoreOutput::new(device, output, layer.slope(), bias)?,
        })
    }
}

impl WordScorer {
    pub(super) fn new(mlp: Mlp, device: &Device) -> Result<Self, ComputeError> {
        let weights = Renewable::open(device, |device| Placed::new(&mlp, device))?;
        Ok(Self { mlp, weights })
    }

    /// The score of each pair of words, for each pair of sentences. If the device is full, the
    /// sentences are taken in halves, and the words of a single pair likewise.
    pub(super) fn score(
        &self,
        device: &Device,
        words: &WordPairs<'_>,
    ) -> Result<Vec<LinkScores>, ComputeError> {
        match self.score_together(device, words) {
            Err(ComputeError::Memory { .. }) if words.of.len() > 1 => {
                let count = words.of.len();
                let text =
                    format!("the GPU is full: words of {count} pairs are linked in two halves");
                device.tell(&text);
                let (first, second) = words.of.split_at(count / 2);
                let mut scores = self.score(device, &WordPairs::of(first)?)?;
                scores.extend(self.score(device, &WordPairs::of(second)?)?);
                Ok(scores)
            }
            other => other,
        }
    }

    fn score_together(
        &self,
        device: &Device,
        words: &WordPairs<'_>,
    ) -> Result<Vec<LinkScores>, ComputeError> {
        let most = most_rows(device, CHUNK);
        let mut scores = Vec::with_capacity(words.len());
        for start in (0..words.len()).step_by(most) {
            scores.extend(self.score_rows(
                device,
                words,
                start..(start + most).min(words.len()),
            )?);
        }
        let mut scores = scores.into_iter();
        let of_pair = |of_pair: &PairFeatures| {
            let [rows, columns] = of_pair.sizes;
            LinkScores::new(of_pair.sizes, scores.by_ref().take(rows * columns).collect())
        };
        Ok(words.of.iter().map(of_pair).collect())
    }

    /// Scores some pairs of words.
    fn score_rows(
        &self,
        device: &Device,
        words: &WordPairs<'_>,
        rows: Range<usize>,
    ) -> Result<Vec<f32>, ComputeError> {
        let place = |device: &Device| Placed::new(&self.mlp, device);
        let score = |device: &Device, placed: &Placed| {
            let inputs = words.rows(device, rows.clone())?;
            let hidden = matmul(device, &inputs, &placed.hidden, Some(&placed.bias))?;
            row_scores(device, &placed.output, &hidden)
        };
        match self.weights.run(device, place, score) {
            // Its states alone take little room.
            Err(ComputeError::Memory { .. }) if words.of.len() == 1 && rows.len() > 1 => {
                device.tell("the GPU is full: the words of one pair are linked in two halves");
                let middle = rows.start + rows.len() / 2;
                let mut scores = self.score_rows(device, words, rows.start..middle)?;
                scores.extend(self.score_rows(device, words, middle..rows.end)?);
                Ok(scores)
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_linked_that_score_high_or_are_each_the_others_best() {
        let scores = LinkScores::new([2, 3], vec![0.9, 0.8, 0.1, 0.2, 0.3, 0.3]);
        let links = |thresholds| LinkerPart::new(1, thresholds).links(&scores).to_string();
        assert_eq!(links([0.5, 0.5]), "0-0 0-1");
        // 1-2 is the best of its words; 1-1 is the best of one of its words.
        assert_eq!(links([0.5, 0.25]), "0-0 0-1 1-2");
        assert_eq!(links([1.1, 0.25]), "0-0 1-2");
        let none = LinkScores::new([0, 3], Vec::new());
        assert_eq!(LinkerPart::new(1, [0.5, 0.5]).links(&none).len(), 0);
    }

    #[test]
    fn a_part_that_this_build_would_misread_is_refused() {
        let part = LinkerPart::new(1, [0.5, 0.5]);
        assert!(part.check().is_ok());
        let found = |part: LinkerPart| part.check().unwrap_err().0;
        let without_units = LinkerPart { hidden: 0, ..part.clone() };
        assert_eq!(found(without_units), "a linker without hidden units");
        let other = LinkerPart { features: "17 cues".to_owned(), ..part };
        assert_eq!(found(other), "a linker of `17 cues`");
    }
}
