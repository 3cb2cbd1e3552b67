//! What a model's `config.json` says about its network.
//!
//! Field names on disk are those of Hugging Face; ours are the same for every family. A setting
//! that would change the mathematics and is not implemented is an error, never ignored.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::compute::kernels::Activation;

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

/// One stack of an encoder-decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct StackConfig {
    /// Number of layers.
    pub layers: usize,
    /// Attention heads, `H`.
    pub heads: usize,
    /// Width between the two products of a feed-forward block.
    pub inner_size: usize,
}

/// An encoder-decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct Seq2SeqConfig {
    /// Number of source token ids.
    pub source_vocab_size: usize,
    /// Number of target token ids, `V`.
    pub vocab_size: usize,
    /// Model width, `D`.
    pub hidden_size: usize,
    /// The encoder.
    pub encoder: StackConfig,
    /// The decoder.
    pub decoder: StackConfig,
    /// Number of positions, the longest source and the longest hypothesis.
    pub max_length: usize,
    /// Between the two products of a feed-forward block.
    pub activation: Activation,
    /// Factor of a token's embedding.
    pub embedding_scale: f32,
    /// Whether source and target tokens share one table.
    pub shared_tokens: bool,
    /// Whether the output projection is the target tokens' table.
    pub tied_projection: bool,
    /// Token that starts every hypothesis.
    pub start_token: u32,
    /// Token that ends every source and hypothesis.
    pub eos_token: u32,
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
        let file: File = read_family(&path, "bert")?;
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

/// The fields of a Marian configuration that the network depends on.
#[derive(Deserialize)]
struct MarianFile {
    vocab_size: usize,
    decoder_vocab_size: Option<usize>,
    d_model: usize,
    encoder_layers: usize,
    encoder_attention_heads: usize,
    encoder_ffn_dim: usize,
    decoder_layers: usize,
    decoder_attention_heads: usize,
    decoder_ffn_dim: usize,
    max_position_embeddings: usize,
    activation_function: String,
    #[serde(default)]
    scale_embedding: bool,
    #[serde(default = "yes")]
    share_encoder_decoder_embeddings: bool,
    #[serde(default = "yes")]
    tie_word_embeddings: bool,
    #[serde(flatten)]
    tokens: SpecialTokens,
}

fn yes() -> bool {
    true
}

/// Stated in `config.json` by older exports, in `generation_config.json` by newer ones.
#[derive(Deserialize, Default)]
struct SpecialTokens {
    decoder_start_token_id: Option<u32>,
    eos_token_id: Option<u32>,
}

impl Seq2SeqConfig {
    /// Reads `config.json` of a model directory; the start and end token may stand in
    /// `generation_config.json`.
    ///
    /// # Errors
    /// When it is absent or incomplete, or not of the Marian family.
    pub fn read(directory: &Path) -> Result<Self, ConfigError> {
        let path = directory.join("config.json");
        let file: MarianFile = read_family(&path, "marian")?;
        let beside = directory.join("generation_config.json");
        let generation =
            if beside.exists() { read_json(&beside)? } else { SpecialTokens::default() };
        let token = |field, own: Option<u32>, other: Option<u32>| {
            own.or(other).ok_or_else(|| ConfigError::Unsupported {
                field,
                found: "absent".to_owned(),
                expected: "a token id, here or in generation_config.json".to_owned(),
                path: path.clone(),
            })
        };
        check_heads(&path, file.d_model, file.encoder_attention_heads)?;
        check_heads(&path, file.d_model, file.decoder_attention_heads)?;
        let own_vocab = file.decoder_vocab_size.filter(|_| !file.share_encoder_decoder_embeddings);
        Ok(Self {
            source_vocab_size: file.vocab_size,
            vocab_size: own_vocab.unwrap_or(file.vocab_size),
            hidden_size: file.d_model,
            encoder: StackConfig {
                layers: file.encoder_layers,
                heads: file.encoder_attention_heads,
                inner_size: file.encoder_ffn_dim,
            },
            decoder: StackConfig {
                layers: file.decoder_layers,
                heads: file.decoder_attention_heads,
                inner_size: file.decoder_ffn_dim,
            },
            max_length: file.max_position_embeddings,
            activation: activation(&path, "activation_function", &file.activation_function)?,
            embedding_scale: if file.scale_embedding { (file.d_model as f32).sqrt() } else { 1.0 },
            shared_tokens: file.share_encoder_decoder_embeddings,
            tied_projection: file.tie_word_embeddings,
            start_token: token(
                "decoder_start_token_id",
                file.tokens.decoder_start_token_id,
                generation.decoder_start_token_id,
            )?,
            eos_token: token("eos_token_id", file.tokens.eos_token_id, generation.eos_token_id)?,
        })
    }
}

/// Reads a configuration whose `model_type` is `family`.
fn read_family<T: DeserializeOwned>(path: &Path, family: &str) -> Result<T, ConfigError> {
    #[derive(Deserialize)]
    struct Family {
        model_type: Option<String>,
    }
    let found: Family = read_json(path)?;
    if found.model_type.as_deref() != Some(family) {
        return Err(ConfigError::Unsupported {
            field: "model_type",
            found: found.model_type.unwrap_or_else(|| "absent".to_owned()),
            expected: format!("`{family}`"),
            path: path.to_owned(),
        });
    }
    read_json(path)
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ConfigError> {
    let bytes = std::fs::read(path)
        .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    serde_json::from_slice(&bytes)
        .map_err(|source| ConfigError::Format { path: path.to_owned(), source })
}

fn activation(path: &Path, field: &'static str, name: &str) -> Result<Activation, ConfigError> {
    match name {
        "relu" => Ok(Activation::Relu),
        "gelu" => Ok(Activation::Gelu),
        "swish" | "silu" => Ok(Activation::Swish),
        other => Err(ConfigError::Unsupported {
            field,
            found: other.to_owned(),
            expected: "`relu`, `gelu`, `swish` or `silu`".to_owned(),
            path: path.to_owned(),
        }),
    }
}

fn check_heads(path: &Path, width: usize, heads: usize) -> Result<(), ConfigError> {
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn write(name: &str, value: &Value, directory: &Path) {
        std::fs::write(directory.join(name), value.to_string()).unwrap();
    }

    fn marian() -> Value {
        json!({
            "model_type": "marian", "vocab_size": 50, "decoder_vocab_size": 60, "d_model": 16,
            "encoder_layers": 3, "encoder_attention_heads": 4, "encoder_ffn_dim": 32,
            "decoder_layers": 2, "decoder_attention_heads": 2, "decoder_ffn_dim": 24,
            "max_position_embeddings": 64, "activation_function": "swish",
            "scale_embedding": true, "decoder_start_token_id": 3, "eos_token_id": 0,
        })
    }

    #[test]
    fn a_marian_configuration_is_read() {
        let directory = tempfile::tempdir().unwrap();
        write("config.json", &marian(), directory.path());
        let config = Seq2SeqConfig::read(directory.path()).unwrap();
        assert_eq!(config.encoder, StackConfig { layers: 3, heads: 4, inner_size: 32 });
        assert_eq!((config.start_token, config.eos_token), (3, 0));
        assert_eq!(config.embedding_scale, 4.0);
        // One shared table has one size, whatever the other field says.
        assert_eq!((config.vocab_size, config.activation), (50, Activation::Swish));
        assert!(config.shared_tokens && config.tied_projection);
    }

    #[test]
    fn the_start_token_may_stand_in_the_generation_configuration() {
        let directory = tempfile::tempdir().unwrap();
        let mut config = marian();
        config.as_object_mut().unwrap().remove("decoder_start_token_id");
        write("config.json", &config, directory.path());
        let error = Seq2SeqConfig::read(directory.path()).unwrap_err().to_string();
        assert!(error.contains("`decoder_start_token_id` is `absent`"), "{error}");
        write("generation_config.json", &json!({"decoder_start_token_id": 7}), directory.path());
        assert_eq!(Seq2SeqConfig::read(directory.path()).unwrap().start_token, 7);
    }

    #[test]
    fn what_is_not_computed_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        for (field, value) in [
            ("model_type", json!("t5")),
            ("activation_function", json!("gelu_new")),
            ("encoder_attention_heads", json!(3)),
            ("decoder_attention_heads", json!(0)),
        ] {
            let mut config = marian();
            config[field] = value;
            write("config.json", &config, directory.path());
            let error = Seq2SeqConfig::read(directory.path()).unwrap_err();
            assert!(matches!(error, ConfigError::Unsupported { .. }), "{field}: {error}");
        }
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
