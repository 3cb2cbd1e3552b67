//! What a language model is: the sizes, and what differs between layouts.

use std::path::Path;

use super::{Rotation, json_config};
use crate::engine::compute::kernels::Activation;
use crate::engine::nn::ConfigError;

/// How the tensors of a decoder-only network are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LanguageLayout {
    /// Touvron et al. 2023, as in `LlamaForCausalLM`: SmolLM2, TinyLlama, Llama 3.
    Llama,
    /// Yang et al. 2024, as in `Qwen2ForCausalLM`: queries, keys and values have biases.
    Qwen2,
    /// Yang et al. 2025, as in `Qwen3ForCausalLM`: heads of queries and keys are normalised.
    Qwen3,
    /// Gemma Team 2025, as in `Gemma3ForCausalLM`: blocks between two norms, GELU, most layers see
    /// a window, embeddings are scaled, heads of queries and keys are normalised.
    Gemma3,
}

impl LanguageLayout {
    /// All layouts, with their `model_type` in `config.json` and their architecture in a GGUF file.
    pub const ALL: [(&'static str, &'static str, Self); 4] = [
        ("llama", "llama", Self::Llama),
        ("qwen2", "qwen2", Self::Qwen2),
        ("qwen3", "qwen3", Self::Qwen3),
        ("gemma3_text", "gemma3", Self::Gemma3),
    ];

    /// Whether heads of queries and keys are normalised.
    pub(super) fn has_head_norms(self) -> bool {
        matches!(self, Self::Qwen3 | Self::Gemma3)
    }
}

/// A decoder-only network.
#[derive(Debug, Clone, PartialEq)]
pub struct LanguageConfig {
    /// How its tensors are joined.
    pub layout: LanguageLayout,
    /// Number of token ids, `V`.
    pub vocab_size: usize,
    /// Model width, `D`.
    pub hidden_size: usize,
    /// Number of layers.
    pub layers: usize,
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and values, a divisor of those of queries.
    pub key_heads: usize,
    /// Columns of a head.
    pub head_columns: usize,
    /// Width between the products of a feed-forward block.
    pub inner_size: usize,
    /// The most tokens of a prompt and what follows it.
    pub max_length: usize,
    /// Added to the mean square in RMS normalisation.
    pub eps: f32,
    /// Of the gate of a feed-forward block.
    pub activation: Activation,
    /// How heads turn.
    pub rotation: Rotation,
    /// Which layers see the last tokens only, and how many.
    pub window: Option<Window>,
    /// Whether queries, keys and values have biases.
    pub has_biases: bool,
    /// Whether the tokens' table is the output projection.
    pub tied_projection: bool,
    /// Factor of scores beside the root of a head's width.
    pub score_factor: f32,
    /// Factor of the tokens' embeddings.
    pub embedding_scale: f32,
    /// Added to the gain of norms.
    pub gain_offset: f32,
    /// The token at which the model says a text begins, where it says so.
    pub start_token: Option<u32>,
    /// Tokens that end a text; a search sees all of them as the first.
    pub end_tokens: Vec<u32>,
}

/// Layers that see the last tokens only.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Tokens that they see, the one that looks counted.
    pub length: usize,
    /// How heads turn in these layers.
    pub rotation: Rotation,
    /// For each layer whether it is one of them.
    pub layers: Vec<bool>,
}

/// A size that is wrong: its name, its value, and what was expected.
pub(super) type WrongSize = (&'static str, String, String);

impl LanguageConfig {
    /// Reads `config.json` of a model directory, and `generation_config.json` where there is one.
    ///
    /// # Errors
    /// When it is absent or incomplete, or asks for what is not computed.
    pub fn read(directory: &Path) -> Result<Self, ConfigError> {
        json_config::read(directory)
    }

    /// Width of all heads of queries together.
    #[must_use]
    pub fn query_size(&self) -> usize {
        self.heads * self.head_columns
    }

    /// Width of all heads of keys together.
    #[must_use]
    pub fn key_size(&self) -> usize {
        self.key_heads * self.head_columns
    }

    /// Whether blocks stand between two norms each.
    pub(super) fn has_four_norms(&self) -> bool {
        self.layout == LanguageLayout::Gemma3
    }

    /// Whether a layer sees the last tokens only.
    pub(super) fn window_of(&self, layer: usize) -> Option<&Window> {
        self.window.as_ref().filter(|window| window.layers.get(layer) == Some(&true))
    }

    /// The first size with which nothing can be computed.
    pub(super) fn wrong_size(&self) -> Option<WrongSize> {
        const MOST: usize = 1 << 20;
        let sizes = [
            ("vocabulary", self.vocab_size),
            ("width", self.hidden_size),
            ("layers", self.layers),
            ("heads", self.heads),
            ("heads of keys", self.key_heads),
            ("columns of a head", self.head_columns),
            ("inner width", self.inner_size),
            ("context", self.max_length),
        ];
        for (name, size) in sizes {
            if !(1..=MOST).contains(&size) {
                return Some((name, size.to_string(), format!("1 to {MOST}")));
            }
        }
        if !self.heads.is_multiple_of(self.key_heads) {
            let expected = format!("a divisor of the {} heads", self.heads);
            return Some(("heads of keys", self.key_heads.to_string(), expected));
        }
        if !self.head_columns.is_multiple_of(2) {
            let expected = "an even number".to_owned();
            return Some(("columns of a head", self.head_columns.to_string(), expected));
        }
        let length = self.window.as_ref().map_or(1, |window| window.length);
        if length == 0 {
            return Some(("window", "0".to_owned(), "at least 1".to_owned()));
        }
        if self.end_tokens.is_empty() {
            return Some(("end token", "absent".to_owned(), "a token id".to_owned()));
        }
        let mut tokens = self.start_token.iter().chain(&self.end_tokens);
        let token = tokens.find(|token| **token as usize >= self.vocab_size)?;
        let expected = format!("a token id below {}", self.vocab_size);
        Some(("special token", token.to_string(), expected))
    }
}
