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
use crate::learn::{
    Activation, CONFIG, FileError, Mlp, NetworkError, SmallNetwork, Weighted as _, read_config,
    write_model,
};
use crate::nn::{NnError, Weights};

/// The format that this build writes and reads.
pub(super) const FORMAT: u32 = 1;

/// What is done when a tagger cannot be written.
const WRITE: &str = "write a tagger to";

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

/// Tries, before the work, whether a tagger can be written at a place: nothing may be there, an
/// empty directory, or an earlier tagger.
pub(super) fn prepare(out: &Path) -> Result<WholeDirectory, NetworkError> {
    let prepared = WholeDirectory::prepare(out, |old| read_tagger_config(old).is_ok());
    Ok(prepared.map_err(FileError::io(WRITE, out))?)
}

/// Writes a tagger, all of it or nothing.
pub(super) fn write(
    out: WholeDirectory,
    config: &TaggerConfig,
    mlp: &Mlp,
) -> Result<(), NetworkError> {
    Ok(write_model(out, WRITE, config, &mlp.tensors(""))?)
}

/// Reads `config.json` and refuses what this build would misread.
pub(super) fn read_tagger_config(directory: &Path) -> Result<TaggerConfig, NetworkError> {
    let config: TaggerConfig =
        read_config(directory, "read tagger", "the configuration of a tagger")?;
    let path = directory.join(CONFIG);
    let refuse =
        |found, expected| NetworkError::from(FileError::content(&path, 1, found, expected));
    if config.format != FORMAT || config.features != FEATURES {
        let found = format!("format {} of `{}`", config.format, config.features);
        return Err(refuse(found, "format 1 of the features of src/tag/features.rs"));
    }
    if config.width == 0 || config.hidden == 0 || config.tags.is_empty() {
        let found = "no inputs, no hidden units or no tags".to_owned();
        return Err(refuse(found, "at least one of each"));
    }
    Ok(config)
}

/// Reads a tagger's weights, which were trained on an encoder's states.
pub(super) fn read_mlp(
    directory: &Path,
    config: &TaggerConfig,
    fingerprint: &str,
) -> Result<(Mlp, Weights), NetworkError> {
    let trained_on = (&*config.encoder, &*config.encoder_fingerprint);
    SmallNetwork::Tagger.require_encoder(directory, trained_on, fingerprint)?;
    let weights = Weights::open(directory).map_err(NnError::from)?;
    let sizes = [config.width + WRITING, config.hidden, config.tags.len()];
    let mlp = Mlp::read(&weights, "", &sizes, ACTIVATION).map_err(NnError::from)?;
    Ok((mlp, weights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::SplitMix64;
    use crate::tag::Accuracy;

    fn tagger() -> (TaggerConfig, Mlp) {
        let accuracy = Accuracy { words: 8, right: 7 };
        let config = TaggerConfig {
            format: FORMAT,
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
        write(prepare(directory.path()).unwrap(), &config, &mlp).unwrap();
        assert_eq!(read_tagger_config(directory.path()).unwrap(), config);
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
        assert!(matches!(
            read_tagger_config(directory.path()),
            Err(NetworkError::File(FileError::Io { .. }))
        ));
        let (config, mlp) = tagger();
        write(prepare(directory.path()).unwrap(), &config, &mlp).unwrap();
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
            let error = read_tagger_config(directory.path()).unwrap_err();
            assert!(
                matches!(error, NetworkError::File(FileError::Content { .. })),
                "{old}: {error}"
            );
        }
        // One tag more than the network has outputs.
        std::fs::write(&path, json.replacen("\"DT\"", "\"CC\", \"DT\"", 1)).unwrap();
        let config = read_tagger_config(directory.path()).unwrap();
        let error = read_mlp(directory.path(), &config, "abc").unwrap_err();
        assert!(matches!(error, NetworkError::Network { .. }), "{error}");
    }
}
