//! A random model of the shape that Culkin et al. (2021, footnote 3) decode with, and surfaces for
//! its tokens.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use fnstore::engine::{NamedTensor, Vocabulary, write_weights};

const WIDTH: usize = 512;
const INNER: usize = 2048;
pub(crate) const TOKENS: u32 = 16_000;
pub(crate) const END: u32 = 0;
/// The first token that spells something; the one before it starts every hypothesis.
const FIRST: u32 = 2;

const CONFIG: &str = r#"{
  "model_type": "marian", "architectures": ["MarianMTModel"], "activation_function": "relu",
  "vocab_size": 16000, "decoder_vocab_size": 16000, "d_model": 512, "max_position_embeddings": 256,
  "encoder_layers": 6, "encoder_attention_heads": 8, "encoder_ffn_dim": 2048,
  "decoder_layers": 4, "decoder_attention_heads": 8, "decoder_ffn_dim": 2048,
  "scale_embedding": true, "share_encoder_decoder_embeddings": true, "tie_word_embeddings": true,
  "decoder_start_token_id": 1, "pad_token_id": 1, "eos_token_id": 0, "bos_token_id": null,
  "dropout": 0.0
}"#;

/// A generator without a crate: Knuth's 64-bit one, of which the upper bits are used.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() as usize * limit) >> 32
    }

    /// A number of [-1, 1).
    fn centred(&mut self) -> f32 {
        self.next() as f32 / (1u64 << 31) as f32 - 1.0
    }

    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 32
    }
}

/// Writes the model into a directory, unless it is there.
pub(crate) fn write_unless_there(directory: &Path) -> Result<(), Box<dyn Error>> {
    if directory.join("model.safetensors").exists() {
        return Ok(());
    }
    std::fs::create_dir_all(directory)?;
    std::fs::write(directory.join("config.json"), CONFIG)?;
    let mut random = Random(42);
    let mut tensors: Vec<(String, Vec<usize>, Vec<f32>)> = Vec::new();
    let mut matrix = |name: String, rows: usize, columns: usize, bound: f32| {
        let numbers = (0..rows * columns).map(|_| random.centred() * bound).collect();
        tensors.push((name, vec![rows, columns], numbers));
    };
    // A deviation of 0.13 makes that of the logits 3: as uneven as those of trained networks.
    matrix("model.shared.weight".to_owned(), TOKENS as usize, WIDTH, 0.225);
    let mut vectors = vec![("final_logits_bias".to_owned(), vec![1, TOKENS as usize], 0.0)];
    for (stack, layers) in [("encoder", 6), ("decoder", 4)] {
        for layer in 0..layers {
            let mut blocks = vec!["self_attn"];
            if stack == "decoder" {
                blocks.push("encoder_attn");
            }
            let name = |part: &str| format!("model.{stack}.layers.{layer}.{part}");
            let mut linear = |part: &str, outputs: usize, inputs: usize| {
                // Glorot and Bengio (2010), equation 16.
                let bound = (6.0 / (inputs + outputs) as f32).sqrt();
                matrix(name(&format!("{part}.weight")), outputs, inputs, bound);
                vectors.push((name(&format!("{part}.bias")), vec![outputs], 0.0));
            };
            for block in &blocks {
                for part in ["q_proj", "k_proj", "v_proj", "out_proj"] {
                    linear(&format!("{block}.{part}"), WIDTH, WIDTH);
                }
            }
            linear("fc1", INNER, WIDTH);
            linear("fc2", WIDTH, INNER);
            let norms = blocks.iter().map(|block| format!("{block}_layer_norm"));
            for norm in norms.chain(["final_layer_norm".to_owned()]) {
                vectors.push((name(&format!("{norm}.weight")), vec![WIDTH], 1.0));
                vectors.push((name(&format!("{norm}.bias")), vec![WIDTH], 0.0));
            }
        }
    }
    for (name, shape, value) in vectors {
        let numbers = vec![value; shape.iter().product()];
        tensors.push((name, shape, numbers));
    }
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    let named: Vec<NamedTensor<'_>> = tensors
        .iter()
        .map(|(name, shape, numbers)| (name.clone(), shape.clone(), &numbers[..]))
        .collect();
    Ok(write_weights(directory, &named)?)
}

/// What the model's tokens spell: syllables, every second token with a space before it.
pub(crate) struct Words {
    pub(crate) vocabulary: Arc<Vocabulary>,
    surfaces: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Words {
    pub(crate) fn new() -> Self {
        let mut random = Random(7);
        let mut seen = HashSet::new();
        let mut surfaces = vec![String::new(); FIRST as usize];
        while surfaces.len() < TOKENS as usize {
            let space = if surfaces.len().is_multiple_of(2) { " " } else { "" };
            let syllables = 1 + random.below(3);
            let surface = (0..syllables).fold(space.to_owned(), |mut surface, _| {
                surface.push(char::from(b"bcdfghjklmnpqrstvwxz"[random.below(20)]));
                surface.push(char::from(b"aeiou"[random.below(5)]));
                surface
            });
            if seen.insert(surface.clone()) {
                surfaces.push(surface);
            }
        }
        let ids = (0u32..).zip(&surfaces).skip(FIRST as usize);
        Self {
            vocabulary: Arc::new(Vocabulary::new(surfaces.iter().map(String::as_bytes))),
            ids: ids.map(|(id, surface)| (surface.clone(), id)).collect(),
            surfaces,
        }
    }

    /// `count` sources of `length` tokens, the end counted.
    pub(crate) fn sources(count: usize, length: usize) -> Vec<Vec<u32>> {
        let mut random = Random(1);
        let mut token = || FIRST + random.below((TOKENS - FIRST) as usize) as u32;
        let source = |_| (1..length).map(|_| token()).chain([END]).collect();
        (0..count).map(source).collect()
    }

    /// A word of two tokens.
    pub(crate) fn word(&self, random: &mut Random) -> String {
        let mut pick = |parity: usize| {
            let at = FIRST as usize + 2 * random.below((TOKENS - FIRST) as usize / 2) + parity;
            self.surfaces[at].trim()
        };
        format!("{}{}", pick(0), pick(1))
    }

    /// The text of some tokens.
    pub(crate) fn text(&self, tokens: &[u32]) -> String {
        tokens.iter().map(|token| self.surfaces[*token as usize].as_str()).collect()
    }

    /// A phrase's tokens: the longest that fits, again and again.
    pub(crate) fn cut(&self, phrase: &str) -> Vec<u32> {
        let spaced = format!(" {phrase}");
        let (mut rest, mut tokens) = (spaced.as_str(), Vec::new());
        while !rest.is_empty() {
            let fits =
                (1..=rest.len()).rev().find_map(|end| Some((end, *self.ids.get(&rest[..end])?)));
            let (end, token) = fits.expect("a phrase is made of syllables");
            tokens.push(token);
            rest = &rest[end..];
        }
        tokens
    }
}
