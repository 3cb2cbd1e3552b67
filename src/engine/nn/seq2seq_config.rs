//! What `config.json` says about an encoder-decoder, for each of the layouts.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::config::{
    ConfigError, activation, check_heads, check_positions, read_family, read_json,
};
use super::generation::Generation;
use crate::engine::compute::kernels::Activation;

/// PyTorch's default, which Hugging Face's Marian and BART do not override.
const NORM_EPS: f32 = 1e-5;

/// Positions of a T5 whose configuration names none: any number can be computed, and this is how
/// far the published ones were trained.
const T5_POSITIONS: usize = 512;

/// How the tensors of an encoder-decoder are named and joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// Junczys-Dowmunt et al. 2018, as in `MarianMTModel`: sinusoidal positions, post-norm blocks.
    Marian,
    /// Lewis et al. 2020, as in `BartForConditionalGeneration`: learned positions, a normalisation
    /// of the embeddings, post-norm blocks.
    Bart,
    /// Raffel et al. 2020 and T5 1.1 (Flan-T5), as in `T5ForConditionalGeneration`: distances in
    /// place of positions, pre-norm blocks without biases, RMS norm, scores that are not scaled.
    T5,
}

impl Layout {
    /// All layouts, with their `model_type` in `config.json`.
    pub const ALL: [(&'static str, Self); 3] =
        [("marian", Self::Marian), ("bart", Self::Bart), ("t5", Self::T5)];

    /// Its `model_type`.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, layout)| *layout == self).expect("all are listed").0
    }
}

/// One stack of an encoder-decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct StackConfig {
    /// Number of layers.
    pub layers: usize,
    /// Attention heads, `H`.
    pub heads: usize,
    /// Width of the queries, keys and values of all heads together; mostly that of the model.
    pub attention_size: usize,
    /// Width between the two products of a feed-forward block.
    pub inner_size: usize,
}

/// The buckets into which T5 puts distances between tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buckets {
    /// Number of buckets; an encoder has half of them for each direction.
    pub count: usize,
    /// Distances from here on share a bucket.
    pub max_distance: usize,
}

/// An encoder-decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct Seq2SeqConfig {
    /// Names and order of its parts.
    pub layout: Layout,
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
    /// The longest source and the longest hypothesis.
    pub max_length: usize,
    /// Of distances, in the T5 layout.
    pub buckets: Option<Buckets>,
    /// Between the two products of a feed-forward block.
    pub activation: Activation,
    /// Whether a second product joins the activation as a factor.
    pub is_gated: bool,
    /// Added to the variance, or to the mean square, in normalisation.
    pub eps: f32,
    /// Factor of a token's embedding.
    pub embedding_scale: f32,
    /// Factor of the decoder's output before its projection.
    pub output_scale: f32,
    /// Whether source and target tokens share one table.
    pub shared_tokens: bool,
    /// Whether the output projection is the target tokens' table; a T5 with a projection in its
    /// files uses that, whatever it says.
    pub tied_projection: bool,
    /// Token that starts every hypothesis.
    pub start_token: u32,
    /// Token that must follow the start.
    pub forced_token: Option<u32>,
    /// Token that ends every source and hypothesis.
    pub eos_token: u32,
    /// Token that the model was trained to read before words of the source that must not come back.
    pub avoid_token: Option<String>,
    /// Text that the model was trained to read before every source, as T5's `paraphrase: `.
    pub source_prefix: Option<String>,
}

/// The fields of a Marian or BART configuration that the network depends on.
#[derive(Deserialize)]
struct BartFile {
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
    #[serde(default)]
    normalize_before: bool,
    #[serde(default)]
    add_final_layer_norm: bool,
}

/// The fields of a T5 configuration that the network depends on.
#[derive(Deserialize)]
struct T5File {
    vocab_size: usize,
    d_model: usize,
    d_kv: usize,
    d_ff: usize,
    num_layers: usize,
    num_decoder_layers: Option<usize>,
    num_heads: usize,
    n_positions: Option<usize>,
    #[serde(default = "thirty_two")]
    relative_attention_num_buckets: usize,
    #[serde(default = "one_hundred_and_twenty_eight")]
    relative_attention_max_distance: usize,
    #[serde(default = "relu")]
    feed_forward_proj: String,
    #[serde(default = "one_millionth")]
    layer_norm_epsilon: f32,
    tie_word_embeddings: Option<bool>,
    scale_decoder_outputs: Option<bool>,
}

fn yes() -> bool {
    true
}

fn thirty_two() -> usize {
    32
}

fn one_hundred_and_twenty_eight() -> usize {
    128
}

fn relu() -> String {
    "relu".to_owned()
}

fn one_millionth() -> f32 {
    1e-6
}

impl Seq2SeqConfig {
    /// Reads `config.json` of a model directory; a special token that `generation_config.json`
    /// states is the one that holds.
    ///
    /// # Errors
    /// When it is absent or incomplete, or of no layout that is known.
    pub fn read(directory: &Path) -> Result<Self, ConfigError> {
        let path = directory.join("config.json");
        let family = read_family(&path, &Layout::ALL.map(|(name, _)| name))?;
        let mut config = match family {
            "t5" => Self::t5(read_json(&path)?, &path)?,
            "bart" => Self::bart(Layout::Bart, read_json(&path)?, &path)?,
            _ => Self::bart(Layout::Marian, read_json(&path)?, &path)?,
        };
        let generation = Generation::read(directory, config.vocab_size)?;
        config.start_token = generation.start_token;
        config.eos_token = generation.eos_token;
        config.forced_token = generation.forced_token;
        config.avoid_token = generation.avoid_token;
        config.source_prefix = generation.source_prefix;
        Ok(config)
    }

    fn bart(layout: Layout, file: BartFile, path: &Path) -> Result<Self, ConfigError> {
        for (field, is_set) in [
            ("normalize_before", file.normalize_before),
            ("add_final_layer_norm", file.add_final_layer_norm),
        ] {
            if is_set {
                return Err(unsupported(path, field, "true", "false"));
            }
        }
        check_heads(path, file.d_model, file.encoder_attention_heads)?;
        check_heads(path, file.d_model, file.decoder_attention_heads)?;
        check_positions(path, "max_position_embeddings", file.max_position_embeddings)?;
        let own_vocab = file.decoder_vocab_size.filter(|_| !file.share_encoder_decoder_embeddings);
        let stack = |layers, heads, inner_size| StackConfig {
            layers,
            heads,
            attention_size: file.d_model,
            inner_size,
        };
        Ok(Self {
            layout,
            source_vocab_size: file.vocab_size,
            vocab_size: own_vocab.unwrap_or(file.vocab_size),
            hidden_size: file.d_model,
            encoder: stack(file.encoder_layers, file.encoder_attention_heads, file.encoder_ffn_dim),
            decoder: stack(file.decoder_layers, file.decoder_attention_heads, file.decoder_ffn_dim),
            max_length: file.max_position_embeddings,
            buckets: None,
            activation: activation(path, "activation_function", &file.activation_function)?,
            is_gated: false,
            eps: NORM_EPS,
            embedding_scale: if file.scale_embedding { (file.d_model as f32).sqrt() } else { 1.0 },
            output_scale: 1.0,
            shared_tokens: file.share_encoder_decoder_embeddings,
            tied_projection: file.tie_word_embeddings,
            start_token: 0,
            forced_token: None,
            eos_token: 0,
            avoid_token: None,
            source_prefix: None,
        })
    }

    fn t5(file: T5File, path: &Path) -> Result<Self, ConfigError> {
        let (count, max_distance) =
            (file.relative_attention_num_buckets, file.relative_attention_max_distance);
        // Half of the buckets for each direction, half of those for single distances.
        if count < 4 || !count.is_multiple_of(4) {
            let field = "relative_attention_num_buckets";
            return Err(unsupported(path, field, &count.to_string(), "a multiple of 4"));
        }
        if max_distance <= count / 2 {
            let expected = format!("more than half the buckets, {}", count / 2);
            let found = max_distance.to_string();
            return Err(unsupported(path, "relative_attention_max_distance", &found, &expected));
        }
        let max_length = file.n_positions.unwrap_or(T5_POSITIONS);
        check_positions(path, "n_positions", max_length)?;
        if file.num_heads == 0 || file.d_kv == 0 {
            return Err(unsupported(path, "num_heads", "or `d_kv` 0", "1 or more"));
        }
        let (is_gated, name) = match file.feed_forward_proj.strip_prefix("gated-") {
            // As T5 1.1 was trained, whatever its configuration calls it.
            Some("gelu") => (true, "gelu_new"),
            Some(name) => (true, name),
            None => (false, file.feed_forward_proj.as_str()),
        };
        let stack = |layers| StackConfig {
            layers,
            heads: file.num_heads,
            attention_size: file.num_heads * file.d_kv,
            inner_size: file.d_ff,
        };
        // The first T5 scales where its table is the projection; newer exports say it by itself.
        let tied = file.tie_word_embeddings.unwrap_or(true);
        let is_scaled = file.scale_decoder_outputs.unwrap_or(tied);
        Ok(Self {
            layout: Layout::T5,
            source_vocab_size: file.vocab_size,
            vocab_size: file.vocab_size,
            hidden_size: file.d_model,
            encoder: stack(file.num_layers),
            decoder: stack(file.num_decoder_layers.unwrap_or(file.num_layers)),
            max_length,
            buckets: Some(Buckets { count, max_distance }),
            activation: activation(path, "feed_forward_proj", name)?,
            is_gated,
            eps: file.layer_norm_epsilon,
            embedding_scale: 1.0,
            output_scale: if is_scaled { 1.0 / (file.d_model as f32).sqrt() } else { 1.0 },
            shared_tokens: true,
            tied_projection: tied,
            start_token: 0,
            forced_token: None,
            eos_token: 0,
            avoid_token: None,
            source_prefix: None,
        })
    }
}

fn unsupported(path: &Path, field: &'static str, found: &str, expected: &str) -> ConfigError {
    let (found, expected, path): (_, _, PathBuf) = (found.into(), expected.into(), path.into());
    ConfigError::Unsupported { field, found, expected, path }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(config: &Value) -> Result<Seq2SeqConfig, ConfigError> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("config.json"), config.to_string()).unwrap();
        Seq2SeqConfig::read(directory.path())
    }

    fn with(mut config: Value, field: &str, value: Value) -> Value {
        config[field] = value;
        config
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

    fn t5() -> Value {
        json!({
            "model_type": "t5", "vocab_size": 50, "d_model": 16, "d_kv": 6, "d_ff": 24,
            "num_layers": 3, "num_heads": 2, "feed_forward_proj": "gated-gelu",
            "tie_word_embeddings": false, "decoder_start_token_id": 0, "eos_token_id": 1,
        })
    }

    #[test]
    fn a_marian_configuration_is_read() {
        let config = read(&marian()).unwrap();
        let encoder = StackConfig { layers: 3, heads: 4, attention_size: 16, inner_size: 32 };
        assert_eq!((config.layout, config.encoder), (Layout::Marian, encoder));
        assert_eq!((config.start_token, config.eos_token), (3, 0));
        assert_eq!(config.embedding_scale, 4.0);
        // One shared table has one size, whatever the other field says.
        assert_eq!((config.vocab_size, config.activation), (50, Activation::Swish));
        assert!(config.shared_tokens && config.tied_projection);
        assert_eq!((config.forced_token, config.avoid_token), (None, None));
    }

    #[test]
    fn a_t5_has_heads_of_their_own_width_and_a_gate() {
        let config = read(&t5()).unwrap();
        let stack = StackConfig { layers: 3, heads: 2, attention_size: 12, inner_size: 24 };
        assert_eq!((&config.encoder, &config.decoder), (&stack, &stack));
        assert_eq!((config.is_gated, config.activation), (true, Activation::GeluTanh));
        assert_eq!((config.output_scale, config.max_length), (1.0, 512));
        assert_eq!(config.buckets, Some(Buckets { count: 32, max_distance: 128 }));
        let first = with(
            with(t5(), "feed_forward_proj", json!("relu")),
            "tie_word_embeddings",
            json!(true),
        );
        let config = read(&first).unwrap();
        assert_eq!((config.is_gated, config.output_scale), (false, 0.25));
        // What newer exports of T5 1.1 say.
        let config = read(&with(first, "scale_decoder_outputs", json!(false))).unwrap();
        assert_eq!(config.output_scale, 1.0);
    }

    #[test]
    fn marks_and_forced_tokens_are_read() {
        let bart = with(marian(), "model_type", json!("bart"));
        let config =
            with(with(bart, "forced_bos_token_id", json!(7)), "avoid_token", json!("<no>"));
        let config = read(&config).unwrap();
        assert_eq!((config.layout, config.forced_token), (Layout::Bart, Some(7)));
        assert_eq!(config.avoid_token.as_deref(), Some("<no>"));
    }

    #[test]
    fn the_start_token_may_stand_in_the_generation_configuration() {
        let mut config = marian();
        config.as_object_mut().unwrap().remove("decoder_start_token_id");
        let error = read(&config).unwrap_err().to_string();
        assert!(error.contains("`decoder_start_token_id` is `absent`"), "{error}");
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, value: &Value| {
            std::fs::write(directory.path().join(name), value.to_string()).unwrap();
        };
        write("config.json", &config);
        write("generation_config.json", &json!({"decoder_start_token_id": 7}));
        assert_eq!(Seq2SeqConfig::read(directory.path()).unwrap().start_token, 7);
    }

    #[test]
    fn what_is_not_computed_is_refused_with_its_field() {
        for (config, field, value) in [
            (marian(), "model_type", json!("pegasus")),
            (marian(), "activation_function", json!("mish")),
            (marian(), "normalize_before", json!(true)),
            (marian(), "eos_token_id", json!(50)),
            (t5(), "feed_forward_proj", json!("gated-mish")),
            (t5(), "relative_attention_num_buckets", json!(6)),
            (t5(), "relative_attention_max_distance", json!(16)),
            (t5(), "num_heads", json!(0)),
            (t5(), "n_positions", json!(0)),
            (t5(), "n_positions", json!((1 << 20) + 1)),
            (marian(), "max_position_embeddings", json!(0)),
            (marian(), "max_position_embeddings", json!((1 << 20) + 1)),
        ] {
            let error = read(&with(config, field, value)).unwrap_err();
            assert!(matches!(error, ConfigError::Unsupported { .. }), "{field}: {error}");
            let message = error.to_string();
            assert!(message.contains(field) && message.contains("config.json"), "{message}");
        }
        for (field, value) in
            [("encoder_attention_heads", json!(3)), ("decoder_attention_heads", json!(0))]
        {
            let error = read(&with(marian(), field, value)).unwrap_err().to_string();
            assert!(error.contains("attention heads"), "{error}");
        }
    }
}
