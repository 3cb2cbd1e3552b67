//! A trained tagger on disk.
//!
//! A directory with `config.json` ([`TaggerConfig`]) and `model.safetensors` (f32 tensors `hidden.weight`
//! (H, D + 6), `hidden.bias`, `prelu.weight`, `output.weight` (T, H), `output.bias`). A tagger belongs to the
//! states of one encoder and names it by fingerprint.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::TagError;
use super::features::WRITING;
use super::network::Parameters;
use super::train::DevAccuracy;
use crate::durable::WholeDirectory;
use crate::nn::{NnError, Weights, write_model};

/// The format that this build writes and reads.
pub(super) const FORMAT: u32 = 1;

const CONFIG: &str = "config.json";

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
    /// Layer of the encoder whose states are read, from 1; 0 is the embeddings, none the last layer.
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

/// Tries, before the work, whether a tagger can be written at a place: nothing may be there, an empty
/// directory, or an earlier tagger.
pub(super) fn prepare(out: &Path) -> Result<WholeDirectory, TagError> {
    WholeDirectory::prepare(out, |old| read_config(old).is_ok()).map_err(|e| failed(out, e))
}

/// Writes a tagger, all of it or nothing.
pub(super) fn write(
    out: WholeDirectory,
    config: &TaggerConfig,
    parameters: &Parameters,
) -> Result<(), TagError> {
    let place = out.place().to_owned();
    write_model(out, config, &parameters.tensors()).map_err(|error| failed(&place, error))
}

fn failed(out: &Path, source: io::Error) -> TagError {
    TagError::File { action: "write a tagger to", path: out.to_owned(), source }
}

/// Reads `config.json` and refuses what this build would misread.
pub(super) fn read_config(directory: &Path) -> Result<TaggerConfig, TagError> {
    let path = directory.join(CONFIG);
    let json = std::fs::read_to_string(&path).map_err(|source| TagError::File {
        action: "read tagger",
        path: path.clone(),
        source,
    })?;
    let refuse = |line, found, expected| TagError::Content { path, line, found, expected };
    let config: TaggerConfig = match serde_json::from_str(&json) {
        Ok(config) => config,
        Err(e) => return Err(refuse(e.line(), e.to_string(), "the configuration of a tagger")),
    };
    if config.format != FORMAT || config.features != FEATURES {
        let found = format!("format {} of `{}`", config.format, config.features);
        return Err(refuse(1, found, "format 1 of the features of src/tag/features.rs"));
    }
    if config.width == 0 || config.hidden == 0 || config.tags.is_empty() {
        let found = "no inputs, no hidden units or no tags".to_owned();
        return Err(refuse(1, found, "at least one of each"));
    }
    Ok(config)
}

/// Reads a tagger's weights, which were trained on an encoder's states.
pub(super) fn read_parameters(
    directory: &Path,
    config: &TaggerConfig,
    fingerprint: &str,
) -> Result<(Parameters, Weights), TagError> {
    if config.encoder_fingerprint != fingerprint {
        return Err(TagError::Encoder {
            tagger: directory.to_owned(),
            expected: format!("{} {}", config.encoder, config.encoder_fingerprint),
            found: fingerprint.to_owned(),
        });
    }
    let weights = Weights::open(directory).map_err(NnError::from)?;
    let sizes = [config.width + WRITING, config.hidden, config.tags.len()];
    let parameters = Parameters::read(sizes, |name, shape| {
        let tensor = weights.tensor(name, shape).map_err(NnError::from)?;
        Ok::<_, TagError>(tensor.into_data())
    })?;
    Ok((parameters, weights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::SplitMix64;
    use crate::tag::Accuracy;

    fn tagger() -> (TaggerConfig, Parameters) {
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
        let parameters = Parameters::random(3 + WRITING, 2, 2, &mut SplitMix64::new(1));
        (config, parameters)
    }

    #[test]
    fn a_tagger_reads_back_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let (config, parameters) = tagger();
        write(prepare(directory.path()).unwrap(), &config, &parameters).unwrap();
        assert_eq!(read_config(directory.path()).unwrap(), config);
        let (read, _) = read_parameters(directory.path(), &config, "abc").unwrap();
        assert_eq!(read, parameters);
        let error = read_parameters(directory.path(), &config, "xyz").unwrap_err();
        assert!(matches!(error, TagError::Encoder { .. }));
        assert!(error.to_string().contains("tiny abc"), "{error}");
    }

    #[test]
    fn a_damaged_tagger_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(CONFIG);
        assert!(matches!(read_config(directory.path()), Err(TagError::File { .. })));
        let (config, parameters) = tagger();
        write(prepare(directory.path()).unwrap(), &config, &parameters).unwrap();
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
            let error = read_config(directory.path()).unwrap_err();
            assert!(matches!(error, TagError::Content { .. }), "{old}: {error}");
        }
        // One tag more than the network has outputs.
        std::fs::write(&path, json.replacen("\"DT\"", "\"CC\", \"DT\"", 1)).unwrap();
        let config = read_config(directory.path()).unwrap();
        let error = read_parameters(directory.path(), &config, "abc").unwrap_err();
        assert!(matches!(error, TagError::Network { .. }), "{error}");
    }
}
