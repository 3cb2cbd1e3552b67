//! A trained frame model on disk.
//!
//! A directory with `config.json` ([`FrameConfig`]) and `model.safetensors` (`hidden.weight` (H,
//! I), `hidden.bias`, `prelu.weight`, `output.weight` (F + 1, H), `output.bias`; the last output is
//! NULL). Matrices are f16. A model belongs to the states of one encoder and names it by
//! fingerprint.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::features::Shape;
use super::measure::Figures;
use crate::durable::WholeDirectory;
use crate::engine::{MatrixFormat, NnError, Weights, write_small_model};
use crate::learn::{
    Activation, Artefact, FileError, Misread, Mlp, NetworkError, SmallNetwork, Weighted as _,
};

/// What is done when a model cannot be written.
pub(super) const WRITE: &str = "write a frame model to";

/// What follows the sums of its hidden layer.
pub(super) const ACTIVATION: Activation = Activation::Prelu;

/// What the inputs of the network are; a build that makes them otherwise gives them another name.
pub(super) const FEATURES: &str = "words, left, right, sentence, length, known, writing";

/// What a frame model's weights were made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameConfig {
    /// Version of the format.
    pub format: u32,
    /// Directory name of the encoder, for people.
    pub encoder: String,
    /// Fingerprint of the encoder (BLAKE3, hexadecimal).
    pub encoder_fingerprint: String,
    /// Layers of the encoder whose states are read, from 1; 0 is the embeddings.
    pub layers: Vec<usize>,
    /// Width D of a layer's states.
    pub width: usize,
    /// Number of hidden units.
    pub hidden: usize,
    /// What the inputs are.
    pub features: String,
    /// Added to the score of NULL, so that span and frame F1 is highest on the development data.
    pub null_bias: f32,
    /// The frames, in the order of the network's outputs.
    pub frames: Vec<String>,
    /// How the weights were trained.
    pub training: FrameTraining,
    /// How they did on the development data, on which the epoch and the bias were chosen, before
    /// rounding.
    pub dev: Figures,
}

/// How a frame model was trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameTraining {
    /// Sentences of full text.
    pub whole: usize,
    /// Sentences of which only some targets are known: exemplars and generated ones.
    pub partial: usize,
    /// Targets of both.
    pub targets: usize,
    /// Sentences that were too long for the encoder.
    pub left_out: usize,
    /// Epoch whose weights were kept, from 1.
    pub epoch: usize,
    /// Most epochs.
    pub epochs: usize,
    /// Spans per step.
    pub batch: usize,
    /// Label smoothing of negatives.
    pub smoothing: f32,
    /// Share of the hidden values that each step went without.
    pub dropout: f32,
    /// Learning rate after warm-up.
    pub learning_rate: f32,
    /// Weight decay.
    pub weight_decay: f32,
    /// Seed of weights, order and samples.
    pub seed: u64,
}

impl FrameConfig {
    pub(super) fn shape(&self) -> Shape {
        Shape { width: self.width, layers: self.layers.len() }
    }
}

impl Artefact for FrameConfig {
    const NETWORK: SmallNetwork = SmallNetwork::FrameModel;
    const READ: &'static str = "read frame model";
    const WHAT: &'static str = "the configuration of a frame model";

    fn check(&self) -> Result<(), Misread> {
        if self.format != Self::FORMAT || self.features != FEATURES {
            let found = format!("format {} of `{}`", self.format, self.features);
            return Err((found, "format 1 of the features of src/identify/features.rs"));
        }
        let sizes = [self.width, self.hidden, self.frames.len(), self.layers.len()];
        if sizes.contains(&0) || !self.layers.is_sorted() {
            let found = "no states, hidden units or frames, or layers out of order".to_owned();
            return Err((found, "at least one of each, and layers ascending"));
        }
        Ok(())
    }

    fn encoder(&self) -> [&str; 2] {
        [&self.encoder, &self.encoder_fingerprint]
    }
}

/// Writes a model, all of it or nothing.
pub(super) fn write(
    out: WholeDirectory,
    config: &FrameConfig,
    mlp: &Mlp,
) -> Result<(), NetworkError> {
    let place = out.place().to_owned();
    let written = write_small_model(out, MatrixFormat::F16, config, &mlp.tensors(""), &[]);
    Ok(written.map_err(FileError::io(WRITE, &place))?)
}

/// Reads a model's weights, which were trained on an encoder's states.
pub(super) fn read_mlp(
    directory: &Path,
    config: &FrameConfig,
    fingerprint: &str,
) -> Result<(Mlp, Weights), NetworkError> {
    let weights = config.weights(directory, fingerprint)?;
    let sizes = [config.shape().inputs(), config.hidden, config.frames.len() + 1];
    let mlp = Mlp::read(&weights, "", &sizes, ACTIVATION).map_err(NnError::from)?;
    Ok((mlp, weights))
}
