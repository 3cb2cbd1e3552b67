//! A language model's sizes in the metadata of a GGUF file.
//!
//! Keys begin with the architecture (`llama.block_count`); their meaning is that of
//! `llama-model.cpp`.

use super::{LanguageConfig, LanguageLayout, Rotation, RotationScaling, Window};
use crate::engine::compute::kernels::Activation;
use crate::engine::nn::gguf::{Gguf, GgufError};

/// How many files a model is split into.
const PARTS: &str = "split.count";

const ARCHITECTURE: &str = "general.architecture";
const TABLE: &str = "token_embd.weight";

/// Every sixth layer of Gemma 3 sees everything; the file does not say so.
const GEMMA_PATTERN: usize = 6;

/// Layers of Gemma 3 27B, the one whose scores are scaled by another width than that of its heads.
const LARGEST_GEMMA: usize = 62;

/// The values of one architecture.
struct Values<'a> {
    file: &'a Gguf,
    architecture: &'static str,
}

impl Values<'_> {
    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.architecture)
    }

    fn count(&self, name: &str) -> Result<usize, GgufError> {
        let key = self.key(name);
        self.file.count(&key)?.ok_or_else(|| self.file.missing(&key, "a number"))
    }

    fn count_or(&self, name: &str, default: usize) -> Result<usize, GgufError> {
        Ok(self.file.count(&self.key(name))?.unwrap_or(default))
    }

    /// The columns of a head, of keys, values and rotations alike.
    fn head_columns(&self, usual: usize) -> Result<usize, GgufError> {
        let head_columns = self.count_or("attention.key_length", usual)?;
        for name in ["attention.value_length", "rope.dimension_count"] {
            let found = self.count_or(name, head_columns)?;
            if found != head_columns {
                let expected = format!("{head_columns}, the columns of a head");
                return Err(self.file.unfit(&self.key(name), found.to_string(), expected));
            }
        }
        Ok(head_columns)
    }

    fn number(&self, name: &str) -> Result<Option<f32>, GgufError> {
        let key = self.key(name);
        match self.file.number(&key)? {
            Some(number) if number <= 0.0 => {
                Err(self.file.unfit(&key, number.to_string(), "a number above 0"))
            }
            number => Ok(number),
        }
    }
}

pub(super) fn read(file: &Gguf) -> Result<LanguageConfig, GgufError> {
    let layout = layout(file)?;
    let (_, architecture, layout) = layout;
    let parts = file.count(PARTS)?.unwrap_or(1);
    if parts > 1 {
        return Err(file.unfit(PARTS, parts.to_string(), "1, a model in one file; join its parts"));
    }
    let values = Values { file, architecture };
    let is_gemma = layout == LanguageLayout::Gemma3;
    let hidden_size = values.count("embedding_length")?;
    let heads = values.count("attention.head_count")?;
    let layers = values.count("block_count")?;
    // Fewer would leave the last ones of the file unused.
    if file.shape(&format!("blk.{layers}.attn_norm.weight")).is_some() {
        let expected = "the number of blocks that the file has";
        return Err(file.unfit(&values.key("block_count"), layers.to_string(), expected));
    }
    let head_columns = values.head_columns(hidden_size / heads.max(1))?;
    let Some(vocab_size) = file.shape(TABLE).and_then(|shape| shape.first().copied()) else {
        return Err(file.tensor_missing(TABLE, "the table of tokens"));
    };
    let epsilon = "attention.layer_norm_rms_epsilon";
    let eps = values.number(epsilon)?;
    let eps = eps.ok_or_else(|| file.missing(&values.key(epsilon), "a number above 0"))?;
    let score_factor = match is_gemma && layers == LARGEST_GEMMA {
        true => (head_columns as f32 * heads as f32 / hidden_size as f32).sqrt(),
        false => 1.0,
    };
    let config = LanguageConfig {
        layout,
        vocab_size,
        hidden_size,
        layers,
        heads,
        key_heads: values.count_or("attention.head_count_kv", heads)?,
        head_columns,
        inner_size: values.count("feed_forward_length")?,
        max_length: values.count("context_length")?,
        eps,
        activation: if is_gemma { Activation::GeluTanh } else { Activation::Swish },
        rotation: rotation(&values, if is_gemma { 1e6 } else { 1e4 })?,
        window: if is_gemma { Some(window(&values, layers)?) } else { None },
        has_biases: layout == LanguageLayout::Qwen2 || file.shape("blk.0.attn_q.bias").is_some(),
        tied_projection: file.shape("output.weight").is_none(),
        score_factor,
        embedding_scale: if is_gemma { (hidden_size as f32).sqrt() } else { 1.0 },
        // The files have it in the gains.
        gain_offset: 0.0,
        start_token: token(file, "tokenizer.ggml.bos_token_id")?,
        end_tokens: ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"]
            .into_iter()
            .filter_map(|key| token(file, key).transpose())
            .collect::<Result<_, _>>()?,
    };
    match config.wrong_size() {
        Some((name, found, expected)) => Err(file.unfit(name, found, expected)),
        None => Ok(config),
    }
}

type Known = (&'static str, &'static str, LanguageLayout);

fn layout(file: &Gguf) -> Result<Known, GgufError> {
    let names = LanguageLayout::ALL.map(|(_, name, _)| format!("`{name}`")).join(", ");
    let Some(found) = file.text(ARCHITECTURE)? else {
        return Err(file.missing(ARCHITECTURE, format!("one of {names}")));
    };
    let known = LanguageLayout::ALL.into_iter().find(|(_, name, _)| *name == found);
    known.ok_or_else(|| file.unfit(ARCHITECTURE, found, format!("one of {names}")))
}

fn token(file: &Gguf, key: &str) -> Result<Option<u32>, GgufError> {
    Ok(file.count(key)?.map(|token| token as u32))
}

fn rotation(values: &Values<'_>, default: f32) -> Result<Rotation, GgufError> {
    const KIND: &str = "rope.scaling.type";
    let base = values.number("rope.freq_base")?.unwrap_or(default);
    // Llama 3's scaling is a tensor of factors beside the weights.
    let factor = values.number("rope.scaling.factor")?;
    let key = values.key(KIND);
    let scaling = match (values.file.text(&key)?, factor) {
        (None | Some("none"), _) | (Some("linear"), None) => RotationScaling::None,
        (Some("linear"), Some(factor)) => RotationScaling::Linear { factor },
        (Some(other), _) => return Err(values.file.unfit(&key, other, "`none` or `linear`")),
    };
    Ok(Rotation { base, scaling })
}

fn window(values: &Values<'_>, layers: usize) -> Result<Window, GgufError> {
    let rotation = Rotation { base: 1e4, scaling: RotationScaling::None };
    // A hostile count of layers is refused with the other sizes, before anything is loaded.
    let layers = (1..=layers.min(1 << 16)).map(|layer| !layer.is_multiple_of(GEMMA_PATTERN));
    let length = values.count("attention.sliding_window")?;
    Ok(Window { length, rotation, layers: layers.collect() })
}
