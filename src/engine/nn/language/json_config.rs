//! A language model's `config.json`, as transformers writes it: its version 5, and older ones.

use std::path::Path;

use serde::Deserialize;

use super::{LanguageConfig, LanguageLayout, Rotation, RotationScaling, Window};
use crate::engine::nn::config::{ConfigError, activation, read_family, read_json};
use crate::engine::nn::generation::one_or_more;

const CONFIG: &str = "config.json";
const GENERATION: &str = "generation_config.json";

#[derive(Deserialize)]
struct File {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    intermediate_size: usize,
    max_position_embeddings: usize,
    rms_norm_eps: f32,
    hidden_act: Option<String>,
    hidden_activation: Option<String>,
    tie_word_embeddings: Option<bool>,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    query_pre_attn_scalar: Option<f32>,
    attn_logit_softcapping: Option<f32>,
    final_logit_softcapping: Option<f32>,
    use_bidirectional_attention: Option<bool>,
    sliding_window: Option<usize>,
    use_sliding_window: Option<bool>,
    sliding_window_pattern: Option<usize>,
    layer_types: Option<Vec<String>>,
    rope_theta: Option<f32>,
    rope_local_base_freq: Option<f32>,
    rope_scaling: Option<Turning>,
    rope_parameters: Option<Turnings>,
}

/// Rotations of both kinds of layers, or one for all.
#[derive(Deserialize)]
struct Turnings {
    #[serde(flatten)]
    all: Turning,
    full_attention: Option<Turning>,
    sliding_attention: Option<Turning>,
}

#[derive(Clone, Default, Deserialize)]
struct Turning {
    rope_theta: Option<f32>,
    rope_type: Option<String>,
    #[serde(rename = "type")]
    old_type: Option<String>,
    factor: Option<f32>,
    low_freq_factor: Option<f32>,
    high_freq_factor: Option<f32>,
    original_max_position_embeddings: Option<f32>,
    partial_rotary_factor: Option<f32>,
}

/// Special tokens, in either file.
#[derive(Default, Deserialize)]
struct Specials {
    bos_token_id: Option<u32>,
    #[serde(default, deserialize_with = "one_or_more")]
    eos_token_id: Option<Vec<u32>>,
}

/// The error of a setting that is not computed.
struct Refuse<'a>(&'a Path);

impl Refuse<'_> {
    fn unsupported(
        &self,
        field: &'static str,
        found: impl ToString,
        expected: impl Into<String>,
    ) -> ConfigError {
        let (found, expected) = (found.to_string(), expected.into());
        ConfigError::Unsupported { field, found, expected, path: self.0.to_owned() }
    }
}

pub(super) fn read(directory: &Path) -> Result<LanguageConfig, ConfigError> {
    let path = directory.join(CONFIG);
    let families = LanguageLayout::ALL.map(|(family, _, _)| family);
    let family = read_family(&path, &families)?;
    let layout = LanguageLayout::ALL.iter().find(|(name, ..)| *name == family);
    let (_, _, layout) = *layout.expect("one of the known families");
    let file: File = read_json(&path)?;
    let refuse = &Refuse(&path);
    check_settings(&file, refuse)?;
    let is_gemma = layout == LanguageLayout::Gemma3;
    let head_columns = match (file.head_dim, layout) {
        (Some(columns), _) => columns,
        (None, LanguageLayout::Qwen3) => 128,
        (None, LanguageLayout::Gemma3) => 256,
        (None, _) => file.hidden_size / file.num_attention_heads.max(1),
    };
    let name = file.hidden_activation.as_deref().or(file.hidden_act.as_deref());
    let activation = activation(&path, "hidden_act", name.unwrap_or("silu"))?;
    let Specials { bos_token_id, eos_token_id } = read_specials(directory, &path)?;
    let config = LanguageConfig {
        layout,
        vocab_size: file.vocab_size,
        hidden_size: file.hidden_size,
        layers: file.num_hidden_layers,
        heads: file.num_attention_heads,
        key_heads: file.num_key_value_heads.unwrap_or(file.num_attention_heads),
        head_columns,
        inner_size: file.intermediate_size,
        max_length: file.max_position_embeddings,
        eps: file.rms_norm_eps,
        activation,
        rotation: read_rotation(&file, layout, refuse)?,
        window: read_window(&file, layout, refuse)?,
        has_biases: file.attention_bias || layout == LanguageLayout::Qwen2,
        tied_projection: file.tie_word_embeddings.unwrap_or(is_gemma),
        score_factor: match file.query_pre_attn_scalar {
            Some(scalar) if is_gemma => (head_columns as f32 / scalar).sqrt(),
            _ => 1.0,
        },
        embedding_scale: if is_gemma { (file.hidden_size as f32).sqrt() } else { 1.0 },
        gain_offset: if is_gemma { 1.0 } else { 0.0 },
        start_token: bos_token_id,
        end_tokens: eos_token_id.unwrap_or_default(),
    };
    match config.wrong_size() {
        Some((field, found, expected)) => Err(refuse.unsupported(field, found, expected)),
        None => Ok(config),
    }
}

/// Refuses what would change the mathematics.
fn check_settings(file: &File, refuse: &Refuse<'_>) -> Result<(), ConfigError> {
    if file.mlp_bias {
        return Err(refuse.unsupported("mlp_bias", true, "false"));
    }
    let caps = [
        ("attn_logit_softcapping", file.attn_logit_softcapping),
        ("final_logit_softcapping", file.final_logit_softcapping),
    ];
    if let Some((field, Some(cap))) = caps.into_iter().find(|(_, cap)| cap.is_some()) {
        return Err(refuse.unsupported(field, cap, "null"));
    }
    if file.use_bidirectional_attention == Some(true) {
        return Err(refuse.unsupported("use_bidirectional_attention", true, "false"));
    }
    Ok(())
}

/// What `generation_config.json` says wins, as in transformers.
fn read_specials(directory: &Path, path: &Path) -> Result<Specials, ConfigError> {
    let own: Specials = read_json(path)?;
    let beside = directory.join(GENERATION);
    let beside: Specials = if beside.exists() { read_json(&beside)? } else { Specials::default() };
    Ok(Specials {
        bos_token_id: beside.bos_token_id.or(own.bos_token_id),
        eos_token_id: beside.eos_token_id.or(own.eos_token_id),
    })
}

fn read_rotation(
    file: &File,
    layout: LanguageLayout,
    refuse: &Refuse<'_>,
) -> Result<Rotation, ConfigError> {
    let default = if layout == LanguageLayout::Gemma3 { 1e6 } else { 1e4 };
    let turning = match (&file.rope_parameters, &file.rope_scaling) {
        (Some(turnings), _) => turnings.full_attention.clone().unwrap_or(turnings.all.clone()),
        (None, scaling) => scaling.clone().unwrap_or_default(),
    };
    let base = turning.rope_theta.or(file.rope_theta).unwrap_or(default);
    turning.rotation(base, refuse)
}

/// Which layers see a window; in Gemma 3 they turn by another base.
fn read_window(
    file: &File,
    layout: LanguageLayout,
    refuse: &Refuse<'_>,
) -> Result<Option<Window>, ConfigError> {
    const LOCAL: &str = "sliding_attention";
    let is_gemma = layout == LanguageLayout::Gemma3;
    let layers: Vec<bool> = match &file.layer_types {
        Some(types) => {
            if let Some(other) =
                types.iter().find(|kind| *kind != LOCAL && *kind != "full_attention")
            {
                let expected = "`full_attention` or `sliding_attention`";
                return Err(refuse.unsupported("layer_types", other, expected));
            }
            if types.len() != file.num_hidden_layers {
                let expected = format!("one for each of {} layers", file.num_hidden_layers);
                return Err(refuse.unsupported("layer_types", types.len(), expected));
            }
            types.iter().map(|kind| kind == LOCAL).collect()
        }
        None if is_gemma => {
            let pattern = file.sliding_window_pattern.unwrap_or(6).max(1);
            (1..=file.num_hidden_layers).map(|layer| !layer.is_multiple_of(pattern)).collect()
        }
        None if file.use_sliding_window == Some(true) => {
            return Err(refuse.unsupported("use_sliding_window", true, "false, or `layer_types`"));
        }
        None => return Ok(None),
    };
    if !layers.contains(&true) {
        return Ok(None);
    }
    let Some(length) = file.sliding_window else {
        return Err(refuse.unsupported("sliding_window", "absent", "a number of tokens"));
    };
    let rotation = if is_gemma {
        let turnings = file.rope_parameters.as_ref();
        let turning = turnings.and_then(|turnings| turnings.sliding_attention.clone());
        let turning = turning.unwrap_or_default();
        let base = turning.rope_theta.or(file.rope_local_base_freq).unwrap_or(1e4);
        turning.rotation(base, refuse)?
    } else {
        read_rotation(file, layout, refuse)?
    };
    Ok(Some(Window { length, rotation, layers }))
}

impl Turning {
    fn rotation(&self, base: f32, refuse: &Refuse<'_>) -> Result<Rotation, ConfigError> {
        if let Some(share) = self.partial_rotary_factor.filter(|share| *share != 1.0) {
            return Err(refuse.unsupported("partial_rotary_factor", share, "1"));
        }
        let number = |field, value: Option<f32>| match value {
            Some(value) if value.is_finite() && value > 0.0 => Ok(value),
            Some(value) => Err(refuse.unsupported(field, value, "a number above 0")),
            None => Err(refuse.unsupported(field, "absent", "a number above 0")),
        };
        let kind = self.rope_type.as_deref().or(self.old_type.as_deref()).unwrap_or("default");
        let scaling = match kind {
            "default" => RotationScaling::None,
            "linear" => RotationScaling::Linear { factor: number("rope factor", self.factor)? },
            "llama3" => RotationScaling::Llama3 {
                factor: number("rope factor", self.factor)?,
                low: number("low_freq_factor", self.low_freq_factor)?,
                high: number("high_freq_factor", self.high_freq_factor)?,
                positions: number(
                    "original_max_position_embeddings",
                    self.original_max_position_embeddings,
                )?,
            },
            other => {
                let expected = "`default`, `linear` or `llama3`";
                return Err(refuse.unsupported("rope_type", other, expected));
            }
        };
        Ok(Rotation { base: number("rope_theta", Some(base))?, scaling })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn llama() -> Value {
        json!({
            "model_type": "llama", "vocab_size": 100, "hidden_size": 24, "num_hidden_layers": 2,
            "num_attention_heads": 3, "num_key_value_heads": 1, "intermediate_size": 40,
            "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "hidden_act": "silu",
            "bos_token_id": 1, "eos_token_id": 2,
        })
    }

    fn read_with(changes: Value, beside: Option<Value>) -> Result<LanguageConfig, ConfigError> {
        let directory = tempfile::tempdir().unwrap();
        let mut config = llama();
        for (key, value) in changes.as_object().unwrap() {
            config[key] = value.clone();
        }
        std::fs::write(directory.path().join(CONFIG), config.to_string()).unwrap();
        if let Some(beside) = beside {
            std::fs::write(directory.path().join(GENERATION), beside.to_string()).unwrap();
        }
        LanguageConfig::read(directory.path())
    }

    #[test]
    fn configurations_of_old_and_new_form_say_the_same() {
        let scaling = json!({"type": "linear", "factor": 4.0});
        let old = read_with(json!({"rope_theta": 5e5, "rope_scaling": scaling}), None).unwrap();
        let scaling = json!({"rope_theta": 5e5, "rope_type": "linear", "factor": 4.0});
        let new = read_with(json!({"rope_parameters": scaling, "head_dim": 8}), None).unwrap();
        assert_eq!(old, new);
        assert_eq!(old.rotation.base, 5e5);
        assert_eq!((old.key_size(), old.query_size()), (8, 24));
        assert!(!old.tied_projection && old.window.is_none());
    }

    #[test]
    fn gemma_sees_windows_in_five_of_six_layers() {
        let gemma = json!({
            "model_type": "gemma3_text", "num_hidden_layers": 7, "sliding_window": 16,
            "head_dim": 8, "query_pre_attn_scalar": 32, "hidden_activation": "gelu_pytorch_tanh",
        });
        let config = read_with(gemma, None).unwrap();
        let window = config.window.unwrap();
        assert_eq!(window.layers, [true, true, true, true, true, false, true]);
        assert_eq!((window.length, window.rotation.base, config.rotation.base), (16, 1e4, 1e6));
        assert_eq!((config.score_factor, config.gain_offset), (0.5, 1.0));
        assert!(config.tied_projection);
    }

    #[test]
    fn several_tokens_may_end_a_text_and_the_generation_configuration_wins() {
        let beside = json!({"eos_token_id": [7, 2]});
        let config = read_with(json!({}), Some(beside)).unwrap();
        assert_eq!((config.start_token, config.end_tokens), (Some(1), vec![7, 2]));
    }

    #[test]
    fn what_is_not_computed_is_refused_by_name() {
        for (changes, field, found) in [
            (json!({"model_type": "gpt2"}), "model_type", "gpt2"),
            (json!({"mlp_bias": true}), "mlp_bias", "true"),
            (json!({"final_logit_softcapping": 30.0}), "final_logit_softcapping", "30"),
            (json!({"use_sliding_window": true}), "use_sliding_window", "true"),
            (json!({"rope_parameters": {"rope_type": "yarn"}}), "rope_type", "yarn"),
            (
                json!({"rope_parameters": {"partial_rotary_factor": 0.5}}),
                "partial_rotary_factor",
                "0.5",
            ),
            (json!({"num_key_value_heads": 2}), "heads of keys", "2"),
            (json!({"head_dim": 7}), "columns of a head", "7"),
            (json!({"vocab_size": 0}), "vocabulary", "0"),
            (json!({"num_hidden_layers": 4_000_000}), "layers", "4000000"),
            (json!({"eos_token_id": 100}), "special token", "100"),
            (json!({"layer_types": ["full_attention"]}), "layer_types", "1"),
        ] {
            let error = read_with(changes, None).unwrap_err();
            assert!(matches!(error, ConfigError::Unsupported { .. }), "{error}");
            let message = error.to_string();
            assert!(message.contains(&format!("`{field}` is `{found}`")), "{message}");
        }
    }
}
