//! What a model's `config.json` says about its network.
//!
//! Field names on disk are those of Hugging Face; ours are the same for every family. A setting
//! that would change the mathematics and is not implemented is an error, never ignored.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::engine::compute::kernels::Activation;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("reading a model's configuration: cannot open `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is not JSON, or lacks a field.
    #[error("reading a model's configuration: `{}` is not a complete configuration", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The cause, with line and field.
        source: serde_json::Error,
    },
    /// A setting is one that this build does not compute.
    #[error(
        "reading a model's configuration: `{field}` is `{found}`, expected {expected}, in `{}`",
        path.display()
    )]
    Unsupported {
        /// The setting.
        field: &'static str,
        /// Its value.
        found: String,
        /// What would do.
        expected: String,
        /// The file.
        path: PathBuf,
    },
}

/// An encoder of the BERT family.
#[derive(Debug, Clone, PartialEq)]
pub struct BertConfig {
    /// Number of token ids, `V`.
    pub vocab_size: usize,
    /// Model width, `D`.
    pub hidden_size: usize,
    /// Number of layers.
    pub layers: usize,
    /// Attention heads, `H`.
    pub heads: usize,
    /// Width between the two products of a feed-forward block.
    pub inner_size: usize,
    /// Number of positions, the longest input.
    pub max_length: usize,
    /// Number of token types.
    pub types: usize,
    /// Added to the variance in layer normalisation.
    pub eps: f32,
    /// Between the two products of a feed-forward block.
    pub activation: Activation,
}

impl BertConfig {
    /// Reads `config.json` of a model directory.
    ///
    /// # Errors
    /// When it is absent or incomplete, or not of the BERT family.
    pub fn read(directory: &Path) -> Result<Self, ConfigError> {
        #[derive(Deserialize)]
        struct File {
            vocab_size: usize,
            hidden_size: usize,
            num_hidden_layers: usize,
            num_attention_heads: usize,
            intermediate_size: usize,
            max_position_embeddings: usize,
            type_vocab_size: usize,
            hidden_act: String,
            layer_norm_eps: f32,
            position_embedding_type: Option<String>,
        }
        let path = directory.join("config.json");
        read_family(&path, &["bert"])?;
        let file: File = read_json(&path)?;
        if let Some(found) = file.position_embedding_type.filter(|kind| kind != "absolute") {
            let (field, expected) = ("position_embedding_type", "`absolute`".to_owned());
            return Err(ConfigError::Unsupported { field, found, expected, path });
        }
        let activation = activation(&path, "hidden_act", &file.hidden_act)?;
        check_heads(&path, file.hidden_size, file.num_attention_heads)?;
        Ok(Self {
            vocab_size: file.vocab_size,
            hidden_size: file.hidden_size,
            layers: file.num_hidden_layers,
            heads: file.num_attention_heads,
            inner_size: file.intermediate_size,
            max_length: file.max_position_embeddings,
            types: file.type_vocab_size,
            eps: file.layer_norm_eps,
            activation,
        })
    }
}

/// The family that a configuration says it is of, one of `known`.
pub(super) fn read_family(
    path: &Path,
    known: &[&'static str],
) -> Result<&'static str, ConfigError> {
    #[derive(Deserialize)]
    struct Family {
        model_type: Option<String>,
    }
    let found = read_json::<Family>(path)?.model_type;
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let same = known.iter().find(|name| found.as_deref() == Some(name));
    same.copied().ok_or_else(|| ConfigError::Unsupported {
        field: "model_type",
        found: found.unwrap_or_else(|| "absent".to_owned()),
        expected: names.join(" or "),
        path: path.to_owned(),
    })
}

pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ConfigError> {
    let bytes = std::fs::read(path)
        .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    serde_json::from_slice(&bytes)
        .map_err(|source| ConfigError::Format { path: path.to_owned(), source })
}

pub(super) fn activation(
    path: &Path,
    field: &'static str,
    name: &str,
) -> Result<Activation, ConfigError> {
    match name {
        "relu" => Ok(Activation::Relu),
        "gelu" => Ok(Activation::Gelu),
        "swish" | "silu" => Ok(Activation::Swish),
        "gelu_new" | "gelu_pytorch_tanh" => Ok(Activation::GeluTanh),
        other => Err(ConfigError::Unsupported {
            field,
            found: other.to_owned(),
            expected: "`relu`, `gelu`, `gelu_new`, `swish` or `silu`".to_owned(),
            path: path.to_owned(),
        }),
    }
}

pub(super) fn check_heads(path: &Path, width: usize, heads: usize) -> Result<(), ConfigError> {
    if heads > 0 && width > 0 && width.is_multiple_of(heads) {
        return Ok(());
    }
    Err(ConfigError::Unsupported {
        field: "attention heads",
        found: heads.to_string(),
        expected: format!("a divisor of the model width {width}"),
        path: path.to_owned(),
    })
}

/// More than any model has; tables of positions and distances are made as long as this says.
const MOST_POSITIONS: usize = 1 << 20;

pub(super) fn check_positions(
    path: &Path,
    field: &'static str,
    positions: usize,
) -> Result<(), ConfigError> {
    if (1..=MOST_POSITIONS).contains(&positions) {
        return Ok(());
    }
    let (found, path) = (positions.to_string(), path.to_owned());
    let expected = format!("1 to {MOST_POSITIONS}");
    Err(ConfigError::Unsupported { field, found, expected, path })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn write(name: &str, value: &Value, directory: &Path) {
        std::fs::write(directory.join(name), value.to_string()).unwrap();
    }

    #[test]
    fn positions_that_are_not_computed_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let bert = json!({
            "model_type": "bert", "vocab_size": 5, "hidden_size": 4, "num_hidden_layers": 1,
            "num_attention_heads": 2, "intermediate_size": 8, "max_position_embeddings": 8,
            "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
            "position_embedding_type": "relative_key",
        });
        write("config.json", &bert, directory.path());
        let error = BertConfig::read(directory.path()).unwrap_err().to_string();
        assert!(error.contains("`relative_key`"), "{error}");
    }

    #[test]
    fn a_missing_field_and_a_missing_file_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let error = BertConfig::read(directory.path()).unwrap_err();
        assert!(matches!(error, ConfigError::Read { .. }));
        write("config.json", &json!({"model_type": "bert"}), directory.path());
        let error = BertConfig::read(directory.path()).unwrap_err();
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains("vocab_size"), "{source}");
    }
}
