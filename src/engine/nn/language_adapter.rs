//! Low-rank adapters for language models (Hu et al. 2021, LoRA), as `training/language_model`
//! exports them.
//!
//! A directory holds `adapter_config.json`, which names rank, scale and base as PEFT does, and
//! `adapter_model.safetensors`. For a matrix W [O, I] of the base that has `NAME.lora_A.weight` [R,
//! I] and `NAME.lora_B.weight` [O, R], under transformers' names. `W + lora_alpha / r * B A` is
//! multiplied. The two thin products are computed beside that of W, so the base's weights stay in
//! their blocks of few bits.
//!
//! An adapter fits the weights that it was trained over and no others, so it names their
//! fingerprint.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::engine::compute::Tensor;
use crate::engine::nn::{
    Fingerprint, Gguf, NnError, WORDS, Weights, WeightsError, declared_languages,
};
use crate::model::Declared;

/// Name of the file that makes a directory an adapter.
pub const ADAPTER_CONFIG: &str = "adapter_config.json";

const WEIGHTS: &str = "adapter_model.safetensors";
const DOWN: &str = ".lora_A.weight";
const UP: &str = ".lora_B.weight";

/// Why an adapter cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// A file cannot be read.
    #[error("reading an adapter: cannot open `{}` (A-read)", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The configuration is no JSON, or lacks a field.
    #[error("reading an adapter: `{}`: {problem} (A-config)", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What the parser says, with line and column.
        problem: String,
    },
    /// A field has a value that is not computed.
    #[error(
        "reading an adapter: `{}`: `{field}` is `{found}`, expected {expected} (A-field)",
        path.display()
    )]
    Field {
        /// The file.
        path: PathBuf,
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
        /// What would do.
        expected: String,
    },
    /// A tensor is no part of an adapter.
    #[error(
        "reading an adapter: `{}`: tensor `{tensor}` adapts nothing, expected `NAME.lora_A.weight` and \
         `NAME.lora_B.weight` of a matrix of the base (A-tensor)",
        path.display()
    )]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
    },
    /// It was trained on another model.
    #[error(
        "reading an adapter: `{}`: `base_fingerprint` is `{expected}`, and that of `{}` is `{found}`; use it \
         with the `{name}` that it was trained on (A-base)",
        path.display(), base.display()
    )]
    Base {
        /// The configuration.
        path: PathBuf,
        /// The model.
        base: PathBuf,
        /// Name of the model that it was trained on.
        name: String,
        /// That model's fingerprint.
        expected: String,
        /// The model's.
        found: String,
    },
}

/// The fields of `adapter_config.json` that are read here.
#[derive(Debug, Deserialize)]
struct Config {
    format: u32,
    peft_type: String,
    base_model_name_or_path: String,
    base_fingerprint: String,
    r: usize,
    lora_alpha: f32,
}

/// Differences to the matrices of a language model.
pub struct LanguageAdapter {
    directory: PathBuf,
    config: Config,
    weights: Weights,
    fingerprint: Fingerprint,
    declared: Declared,
}

impl LanguageAdapter {
    /// Maps the adapter of a directory.
    ///
    /// # Errors
    /// When a file is missing or damaged, or asks for what is not computed.
    pub fn read(directory: &Path) -> Result<Self, NnError> {
        let path = directory.join(ADAPTER_CONFIG);
        let read = |path: &Path| {
            std::fs::read(path)
                .map_err(|source| AdapterError::Read { path: path.to_owned(), source })
        };
        let config: Config = serde_json::from_slice(&read(&path)?).map_err(|error| {
            AdapterError::Config { path: path.clone(), problem: error.to_string() }
        })?;
        config.check(&path)?;
        let file = directory.join(WEIGHTS);
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("fnstore adapter 1 {} {}", config.r, config.lora_alpha).as_bytes());
        hasher.update(&read(&file)?);
        match read(&directory.join(WORDS)) {
            // Adapters had no words when the first fingerprints were taken.
            Err(AdapterError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            words => {
                hasher.update(WORDS.as_bytes());
                hasher.update(&words?);
            }
        }
        let weights = Weights::open_file(&file)?;
        let fingerprint = Fingerprint(*hasher.finalize().as_bytes());
        let declared = declared_languages(directory);
        Ok(Self { directory: directory.to_owned(), config, weights, fingerprint, declared })
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The languages that the adapter declares.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// Of weights, rank, scale, and the words that it may write where there is a list of them.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The file name of the model that it was trained on.
    #[must_use]
    pub fn base_name(&self) -> &str {
        &self.config.base_model_name_or_path
    }

    /// How many numbers it has of each element type.
    pub fn formats(&self) -> std::collections::BTreeMap<String, u64> {
        self.weights.formats()
    }

    /// Checks that a model, a GGUF file or a directory, is the one that it was trained on.
    ///
    /// # Errors
    /// When it is not, or cannot be read.
    pub fn check_base(&self, base: &Path) -> Result<(), NnError> {
        let found = match base.is_dir() {
            true => Weights::open(base)?.fingerprint()?,
            false => Gguf::open(base).map_err(WeightsError::from)?.tensors_fingerprint(),
        };
        let (found, expected) = (found.to_string(), self.config.base_fingerprint.clone());
        if found == expected {
            return Ok(());
        }
        let (path, base) = (self.directory.join(ADAPTER_CONFIG), base.to_owned());
        Err(AdapterError::Base { path, base, name: self.base_name().to_owned(), expected, found }
            .into())
    }

    /// Checks that every tensor is a part of the difference to a matrix of the base.
    pub(super) fn check_shapes(&self, base: &Weights) -> Result<(), NnError> {
        for (tensor, _) in self.weights.shapes() {
            let plain = tensor.strip_suffix(".scale").unwrap_or(tensor);
            let name = plain.strip_suffix(DOWN).or_else(|| plain.strip_suffix(UP));
            let shape = name.and_then(|name| base.shape(&format!("{name}.weight")));
            let (Some(name), Some(&[outputs, inputs])) = (name, shape) else {
                let path = self.directory.join(WEIGHTS);
                return Err(AdapterError::Tensor { path, tensor: tensor.to_owned() }.into());
            };
            self.factors(name, inputs, outputs)?;
        }
        Ok(())
    }

    /// The factors of the difference to `NAME.weight` [outputs, inputs], if there is one: [rank,
    /// inputs], and [outputs, rank] with the scale.
    pub(in crate::engine::nn) fn factors(
        &self,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Option<(Tensor, Tensor)>, WeightsError> {
        let (down, up) = (format!("{name}{DOWN}"), format!("{name}{UP}"));
        if !self.weights.contains(&down) && !self.weights.contains(&up) {
            return Ok(None);
        }
        let Config { r: rank, lora_alpha, .. } = self.config;
        let down = self.weights.tensor(&down, &[rank, inputs])?;
        let up = self.weights.tensor(&up, &[outputs, rank])?;
        let scale = lora_alpha / rank as f32;
        let scaled = up.into_data().into_iter().map(|value| value * scale);
        let up = Tensor::new(&[outputs, rank], scaled.collect()).expect("scaling changes no shape");
        Ok(Some((down, up)))
    }
}

impl Config {
    fn check(&self, path: &Path) -> Result<(), AdapterError> {
        let wrong = |field, found: String, expected: &str| {
            let (path, expected) = (path.to_owned(), expected.to_owned());
            Err(AdapterError::Field { path, field, found, expected })
        };
        if self.format != 1 {
            return wrong("format", self.format.to_string(), "1");
        }
        if self.peft_type != "LORA" {
            return wrong("peft_type", self.peft_type.clone(), "`LORA`");
        }
        if !(1..=4096).contains(&self.r) {
            return wrong("r", self.r.to_string(), "1 to 4096");
        }
        if !self.lora_alpha.is_finite() {
            return wrong("lora_alpha", self.lora_alpha.to_string(), "a finite number");
        }
        Ok(())
    }
}

impl std::fmt::Debug for LanguageAdapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LanguageAdapter({}, rank {})", self.directory.display(), self.config.r)
    }
}
