//! A trained tagger on disk.
//!
//! A directory with `config.json` ([`TaggerConfig`]) and `model.safetensors` (f32 tensors
//! `hidden.weight` (H, D + 6), `hidden.bias`, `prelu.weight`, `output.weight` (T, H),
//! `output.bias`). A tagger belongs to the states of one encoder and names it by fingerprint.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::features::WRITING;
use super::measure::DevAccuracy;
use crate::durable::WholeDirectory;
use crate::engine::{NnError, Weights};
use crate::learn::{
    Activation, Artefact, Misread, Mlp, NetworkError, SmallNetwork, Weighted as _, write_model,
};

/// What is done when a tagger cannot be written.
pub(super) const WRITE: &str = "write a tagger to";

/// What follows the sums of its hidden layer.
pub(super) const ACTIVATION: Activation = Activation::Prelu;

/// What the inputs of the network are; a build that makes them otherwise gives them another name.
pub(super) const FEATURES: &str = "state, 6 of writing";

/// What a tagger's weights were made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaggerConfig {
    /// Version of the format.
    pub format: u32,
    /// Directory name of the encoder, for people.
    pub encoder: String,
    /// Fingerprint of the encoder (BLAKE3, hexadecimal).
    pub encoder_fingerprint: String,
    /// Layer of the encoder whose states are read, from 1; 0 is the embeddings, none the last.
    pub layer: Option<usize>,
    /// Width D of the encoder's states.
    pub width: usize,
    /// Number of hidden units.
    pub hidden: usize,
    /// What the inputs are.
    pub features: String,
    /// The tags, in the order of the network's outputs.
    pub tags: Vec<String>,
    /// How the weights were trained.
    pub training: TaggerTraining,
    /// Words of the development data that are tagged rightly, on which the epoch was chosen.
    pub dev: DevAccuracy,
}

/// How a tagger was trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaggerTraining {
    /// Number of sentences, not counting their copies in small letters.
    pub sentences: usize,
    /// Number of their words that have a tag.
    pub words: usize,
    /// Sentences of training and development data that were too long for the encoder.
    pub left_out: usize,
    /// Epoch whose weights were kept, from 1.
    pub epoch: usize,
    /// Most epochs.
    pub epochs: usize,
    /// Words per step.
    pub batch: usize,
    /// Learning rate after warm-up.
    pub learning_rate: f32,
    /// Weight decay.
    pub weight_decay: f32,
    /// Seed of weights and order.
    pub seed: u64,
}

impl Artefact for TaggerConfig {
    const NETWORK: SmallNetwork = SmallNetwork::Tagger;
    const READ: &'static str = "read tagger";
    const WHAT: &'static str = "the configuration of a tagger";

    fn check(&self) -> Result<(), Misread> {
        if self.format != Self::FORMAT || self.features != FEATURES {
            let found = format!("format {} of `{}`", self.format, self.features);
            return Err((found, "format 1 of the features of src/tag/features.rs"));
        }
        if self.width == 0 || self.hidden == 0 || self.tags.is_empty() {
            let found = "no inputs, no hidden units or no tags".to_owned();
            return Err((found, "at least one of each"));
        }
        Ok(())
    }

    fn encoder(&self) -> [&str; 2] {
        [&self.encoder, &self.encoder_fingerprint]
    }
}

/// Writes a tagger, all of it or nothing.
pub(super) fn write(
    out: WholeDirectory,
    config: &TaggerConfig,
    mlp: &Mlp,
) -> Result<(), NetworkError> {
    Ok(write_model(out, WRITE, config, &mlp.tensors(""))?)
}

/// Reads a tagger's weights, which were trained on an encoder's states.
pub(super) fn read_mlp(
    directory: &Path,
    config: &TaggerConfig,
    fingerprint: &str,
) -> Result<(Mlp, Weights), NetworkError> {
    let weights = config.weights(directory, fingerprint)?;
    let sizes = [config.width + WRITING, config.hidden, config.tags.len()];
    let mlp = Mlp::read(&weights, "", &sizes, ACTIVATION).map_err(NnError::from)?;
    Ok((mlp, weights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{CONFIG, FileError, SplitMix64};
    use crate::tag::Accuracy;

    fn tagger() -> (TaggerConfig, Mlp) {
        let accuracy = Accuracy { words: 8, right: 7 };
        let config = TaggerConfig {
            format: TaggerConfig::FORMAT,
            encoder: "tiny".to_owned(),
            encoder_fingerprint: "abc".to_owned(),
            layer: Some(2),
            width: 3,
            hidden: 2,
            features: FEATURES.to_owned(),
            tags: ["DT", "NN"].map(str::to_owned).into(),
            training: TaggerTraining {
                sentences: 3,
                words: 8,
                left_out: 0,
                epoch: 2,
                epochs: 4,
                batch: 16,
                learning_rate: 0.5,
                weight_decay: 0.0,
                seed: 1,
            },
            dev: DevAccuracy { written: accuracy, lowercase: accuracy },
        };
        let sizes = [3 + WRITING, 2, 2];
        (config, Mlp::random(&sizes, ACTIVATION, &mut SplitMix64::new(1)))
    }

    #[test]
    fn a_tagger_reads_back_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let (config, mlp) = tagger();
        write(TaggerConfig::prepare(directory.path(), WRITE).unwrap(), &config, &mlp).unwrap();
        assert_eq!(TaggerConfig::read(directory.path()).unwrap(), config);
        let (read, _) = read_mlp(directory.path(), &config, "abc").unwrap();
        assert_eq!(read, mlp);
        let error = read_mlp(directory.path(), &config, "xyz").unwrap_err();
        assert!(matches!(error, NetworkError::Encoder { .. }));
        assert!(error.to_string().contains("tiny abc"), "{error}");
    }

    #[test]
    fn a_damaged_tagger_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(CONFIG);
        assert!(matches!(TaggerConfig::read(directory.path()), Err(FileError::Io { .. })));
        let (config, mlp) = tagger();
        write(TaggerConfig::prepare(directory.path(), WRITE).unwrap(), &config, &mlp).unwrap();
        let json = std::fs::read_to_string(&path).unwrap();
        for (old, new) in [
            ("\"format\": 1", "\"format\": 2"),
            ("\"state, ", "\"states, "),
            ("\"hidden\": 2", "\"hidden\": 0"),
            ("\"DT\"", "7"),
            ("\"layer\": 2", "\"layer\": -2"),
            ("{", "["),
        ] {
            std::fs::write(&path, json.replacen(old, new, 1)).unwrap();
            let error = TaggerConfig::read(directory.path()).unwrap_err();
            assert!(matches!(error, FileError::Content { .. }), "{old}: {error}");
        }
        // One tag more than the network has outputs.
        std::fs::write(&path, json.replacen("\"DT\"", "\"CC\", \"DT\"", 1)).unwrap();
        let config = TaggerConfig::read(directory.path()).unwrap();
        let error = read_mlp(directory.path(), &config, "abc").unwrap_err();
        assert!(matches!(error, NetworkError::Network { .. }), "{error}");
    }
}
