//! A trained head on disk.
//!
//! A directory with `config.json` ([`HeadConfig`]) and `model.safetensors` (f32 tensors
//! `hidden.weight` (H, 2 D + 4, or ten more with a linker), `hidden.bias`, `prelu.weight`,
//! `norm.weight`, `norm.bias`, `norm.running_mean`, `norm.running_var`, `output.weight` (1, H),
//! `output.bias`). A linker that stands beside the head has the same tensors,
//! `linker.hidden.weight` and so on. A head belongs to the states of one encoder and names it by
//! fingerprint.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::AlignError;
use super::features::{CUE_SCALE, Features, inputs};
use super::link_network::{LinkNetwork, LinkerPart};
use super::link_scores::LINK_CUES;
use super::metrics::AlignmentReport;
use super::scorer::ACTIVATION;
use crate::engine::{Device, NnError};
use crate::learn::{Artefact, Misread, Mlp, SmallNetwork, Weighted as _};
use crate::model::named;

/// What a head's weights were made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeadConfig {
    /// Version of the format.
    pub format: u32,
    /// Directory name of the encoder, by which [`encoder_of`](super::encoder_of) finds it.
    pub encoder: String,
    /// Fingerprint of the encoder (BLAKE3, hexadecimal).
    pub encoder_fingerprint: String,
    /// Layer of the encoder whose states are read, from 1; 0 is the embeddings, none the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<usize>,
    /// Width D of the encoder's states.
    pub width: usize,
    /// Number of hidden units H.
    pub hidden: usize,
    /// What spans and cues count: `words`.
    pub unit: String,
    /// Names of the features in the order of the inputs ([`Features`](super::Features)), with a
    /// linker also of what is known of links.
    pub features: Vec<String>,
    /// Divisor of the cues.
    pub cue_scale: f32,
    /// Most words by which a candidate may be longer or shorter than the source span.
    pub k: u32,
    /// Score below which a source span counts as not aligned, tuned for exact F1.
    pub threshold: f32,
    /// The linker whose scores the head sees, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linker: Option<LinkerPart>,
    /// How the weights were trained.
    pub training: TrainingRecord,
    /// Counts on the data that threshold and length of training were chosen on, every source span
    /// aligned.
    pub dev: AlignmentReport,
    /// The same, spans scored below the threshold counted as not aligned.
    pub dev_at_threshold: AlignmentReport,
}

/// How a head was trained.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TrainingRecord {
    /// Number of training items.
    pub items: usize,
    /// What a candidate near the gold span was to score.
    #[serde(default)]
    pub labels: Labels,
    /// Epoch whose weights were kept, from 1.
    pub epoch: usize,
    /// Items per step.
    pub batch: usize,
    /// Most candidates of an item that one step looks at.
    pub sample: usize,
    /// Learning rate after warm-up.
    pub learning_rate: f32,
    /// Weight decay.
    pub weight_decay: f32,
    /// Seed of weights, order and samples.
    pub seed: u64,
}

named! {
    /// What a candidate is to score, by its distance `d` to the gold span (Culkin et al. 2021,
    /// section 4.1, and the two last rows of Table 2).
    #[derive(Default)]
    pub enum Labels {
        /// `2^-d`: 1 for the gold span, half as much for each word by which a candidate is off.
        #[default]
        Soft => "soft",
        /// 1 for the gold span, 0 for all others.
        Hard => "hard",
    }
}

impl HeadConfig {
    /// A configuration of this build's format, all features on.
    pub(super) fn current(encoder: String, encoder_fingerprint: String, width: usize) -> Self {
        Self {
            format: Self::FORMAT,
            encoder,
            encoder_fingerprint,
            layer: None,
            width,
            hidden: 0,
            unit: "words".to_owned(),
            features: Features::default().names().into_iter().map(str::to_owned).collect(),
            cue_scale: CUE_SCALE,
            k: 0,
            threshold: 0.0,
            linker: None,
            training: TrainingRecord::default(),
            dev: AlignmentReport::default(),
            dev_at_threshold: AlignmentReport::default(),
        }
    }
}

/// A head in memory.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) config: HeadConfig,
    pub(super) mlp: Mlp,
    pub(super) linker: Option<LinkNetwork>,
}

impl Head {
    /// Reads a head that was trained on an encoder's states.
    pub(super) fn read(
        directory: &Path,
        fingerprint: &str,
        device: &Device,
    ) -> Result<Self, AlignError> {
        let config = HeadConfig::read(directory)?;
        let weights = config.weights(directory, fingerprint)?;
        let linker = config.linker.as_ref();
        let linker =
            linker.map(|part| LinkNetwork::beside_head(&weights, part, config.width, device));
        let linker = linker.transpose()?;
        let sizes = [inputs(config.width, linker.is_some()), config.hidden, 1];
        let mlp = Mlp::read(&weights, "", &sizes, ACTIVATION).map_err(NnError::from)?;
        Ok(Self { config, mlp, linker })
    }
}

impl Artefact for HeadConfig {
    const NETWORK: SmallNetwork = SmallNetwork::Head;
    const READ: &'static str = "read head";
    const WHAT: &'static str = "the configuration of a head";

    fn check(&self) -> Result<(), Misread> {
        if self.format != Self::FORMAT {
            return Err((format!("format {}", self.format), "format 1"));
        }
        let known = self.unit == "words" && has_known_features(self) && self.cue_scale == CUE_SCALE;
        if !known {
            let found = format!("{} {:?}", self.unit, self.features);
            return Err((found, "the unit, features and cue scale of src/align/features.rs"));
        }
        if let Some(linker) = &self.linker {
            linker.check()?;
        }
        if self.width == 0 || self.hidden == 0 {
            return Err(("no inputs or no hidden units".to_owned(), "at least one of each"));
        }
        Ok(())
    }

    fn encoder(&self) -> [&str; 2] {
        [&self.encoder, &self.encoder_fingerprint]
    }
}

/// Whether the inputs are those that this build makes.
fn has_known_features(config: &HeadConfig) -> bool {
    let of_links: &[&str] = if config.linker.is_some() { &LINK_CUES } else { &[] };
    let Some(own) = config.features.len().checked_sub(of_links.len()) else { return false };
    let (own, others) = config.features.split_at(own);
    Features::from_names(own).is_some() && others.iter().eq(of_links)
}

#[cfg(test)]
mod tests {
    use super::super::trained;
    use super::*;
    use crate::learn::{CONFIG, FileError, NetworkError, SplitMix64};

    fn write(head: &Head, directory: &Path) {
        let out = trained::prepare(directory).unwrap();
        trained::write(out, &head.config, &head.mlp, head.linker.as_ref()).unwrap();
    }

    fn read(directory: &Path) -> Result<Head, AlignError> {
        Head::read(directory, "abc", &Device::cpu())
    }

    fn assert_is(found: &Head, wanted: &Head) {
        assert_eq!((&found.config, &found.mlp), (&wanted.config, &wanted.mlp));
    }

    fn head() -> Head {
        let mut config = HeadConfig::current("tiny".to_owned(), "abc".to_owned(), 3);
        (config.hidden, config.k) = (2, 5);
        let mlp = Mlp::random(&[10, 2, 1], ACTIVATION, &mut SplitMix64::new(1));
        Head { config, mlp, linker: None }
    }

    #[test]
    fn a_head_reads_back_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        write(&head(), directory.path());
        assert_is(&read(directory.path()).unwrap(), &head());
    }

    #[test]
    fn a_config_without_layer_and_labels_means_the_last_layer_and_soft_labels() {
        let directory = tempfile::tempdir().unwrap();
        let mut head = head();
        (head.config.layer, head.config.training.labels) = (Some(4), Labels::Hard);
        write(&head, directory.path());
        assert_is(&read(directory.path()).unwrap(), &head);
        let path = directory.path().join(CONFIG);
        let json = std::fs::read_to_string(&path).unwrap();
        let json = json.replace("\"layer\": 4,", "").replace("\"labels\": \"hard\",", "");
        std::fs::write(&path, json).unwrap();
        let config = HeadConfig::read(directory.path()).unwrap();
        assert_eq!((config.layer, config.training.labels), (None, Labels::Soft));
    }

    #[test]
    fn a_head_of_another_encoder_is_refused_and_named() {
        let directory = tempfile::tempdir().unwrap();
        write(&head(), directory.path());
        let error = Head::read(directory.path(), "xyz", &Device::cpu()).unwrap_err();
        assert!(matches!(error, AlignError::Network(NetworkError::Encoder { .. })));
        assert!(error.to_string().contains("tiny abc"), "{error}");
    }

    #[test]
    fn a_damaged_head_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(CONFIG);
        let missing = HeadConfig::read(directory.path());
        assert!(matches!(missing, Err(FileError::Io { .. })));
        write(&head(), directory.path());
        let json = std::fs::read_to_string(&path).unwrap();
        for (old, new) in [
            ("\"format\": 1", "\"format\": 2"),
            ("\"words\"", "\"pieces\""),
            ("\"hidden\": 2", "\"hidden\": 0"),
            ("\"maximum\"", "\"mean\""),
            ("\"soft\"", "\"softer\""),
            ("\"k\": 5", "\"k\": -5"),
            ("{", "["),
        ] {
            std::fs::write(&path, json.replacen(old, new, 1)).unwrap();
            let error = HeadConfig::read(directory.path()).unwrap_err();
            assert!(matches!(error, FileError::Content { .. }), "{old}: {error}");
        }
        std::fs::write(&path, json.replacen("\"hidden\": 2", "\"hidden\": 3", 1)).unwrap();
        let error = read(directory.path()).unwrap_err();
        assert!(matches!(error, AlignError::Network(NetworkError::Network { .. })), "{error}");
    }
}
