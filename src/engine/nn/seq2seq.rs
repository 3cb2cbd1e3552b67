//! Encoder-decoders.
//!
//! Two stacks of layers between a table of tokens and an output projection. What the stacks are
//! made of, and how files name it, differs by [layout](super::Layout): `bart.rs` loads Marian and
//! BART, `t5.rs` loads T5. From here on they are the same (Vaswani et al. 2017). How steps are
//! taken through them is in `stepping.rs`.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::advance::advance;
use super::inputs::StepInputs;
use super::layers::{
    DecoderLayer, EncoderLayer, Keys, LayerLoader, sequence_lists, sequence_positions,
};
use super::selection::group_rows;
use super::stack::Stack;
use super::stepping::Stepping;
use super::steps::{Encoding, Limits, Source, Steps};
use super::{
    Fingerprint, Layout, NnError, Seq2SeqConfig, SlotId, StepNetwork, StepRow, Weights, bart, t5,
};
use crate::engine::compute::kernels::{Lookup, Weight, matmul_into};
use crate::engine::compute::{Device, Numbers, Tensor, place_on};

/// An encoder-decoder in the layout of Marian, BART or T5.
///
/// ```no_run
/// use fnstore::engine::Device;
/// use fnstore::engine::{EncoderDecoder, StepRow, StepNetwork};
/// # fn main() -> Result<(), fnstore::engine::NnError> {
/// let mut network = EncoderDecoder::open("models/paraphrase".as_ref(), &Device::cpu())?;
/// let slot = network.open(&[&[66, 1066, 1]])?[0];
/// let row = StepRow { slot, parent: None, token: network.start_token(), score: 0.0 };
/// let candidates = network.step(&[row], &[], 5)?;
/// assert_eq!(candidates[0].best.len(), 5);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EncoderDecoder {
    directory: PathBuf,
    numbers: Numbers,
    config: Seq2SeqConfig,
    fingerprint: Fingerprint,
    /// Source tokens (V, D); target tokens where they have a table of their own.
    tokens: Tensor,
    target_tokens: Option<Tensor>,
    encoder: Stack<EncoderLayer>,
    decoder: Stack<DecoderLayer>,
    projection: Arc<Weight>,
    projection_bias: Option<Tensor>,
    steps: Steps,
}

impl EncoderDecoder {
    /// Loads a model directory, to compute in f32.
    ///
    /// # Errors
    /// When the configuration is of no known layout, or weights are missing, of the wrong shape or
    /// not finite.
    pub fn open(directory: &Path, device: &Device) -> Result<Self, NnError> {
        Self::open_in(directory, device, Numbers::F32)
    }

    /// As [`open`](Self::open), to compute products in these numbers.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in(directory: &Path, device: &Device, numbers: Numbers) -> Result<Self, NnError> {
        let (_, opened) = place_on(device, |device| Self::load(directory, device, numbers))?;
        Ok(opened)
    }

    fn load(directory: &Path, device: &Device, numbers: Numbers) -> Result<Self, NnError> {
        let config = Seq2SeqConfig::read(directory)?;
        let weights = Weights::open(directory)?;
        let width = config.hidden_size;
        let from = LayerLoader { weights: &weights, device, numbers, adapter: None, shared: None };
        let (source, target, projection) = match config.layout {
            Layout::Marian | Layout::Bart => bart::table_names(&config),
            Layout::T5 => {
                let (tokens, projection) = t5::table_names(&weights, &config);
                (tokens, None, projection)
            }
        };
        let (encoder, decoder, projection_bias) = match config.layout {
            Layout::Marian | Layout::Bart => (
                bart::load_encoder(from, &config)?,
                bart::load_decoder(from, &config)?,
                bart::load_logits_bias(&weights, &config)?,
            ),
            Layout::T5 => {
                (t5::load_encoder(from, &config)?, t5::load_decoder(from, &config)?, None)
            }
        };
        let tokens = weights.tensor(source, &[config.source_vocab_size, width])?;
        let shape = [config.vocab_size, width];
        let target_tokens = target.map(|name| weights.tensor(name, &shape)).transpose()?;
        let (layers, key_size) = (config.decoder.layers, config.decoder.attention_size);
        let steps = Steps::new(device, layers, key_size, config.vocab_size)?;
        Ok(Self {
            directory: directory.to_owned(),
            tokens: tokens.to_device(device)?,
            target_tokens: target_tokens.map(|tokens| tokens.to_device(device)).transpose()?,
            encoder,
            decoder,
            projection: from.weight(projection, &shape)?,
            projection_bias: projection_bias.map(|bias| bias.to_device(device)).transpose()?,
            steps: steps.with_sources_apart(layers, key_size)?,
            fingerprint: weights.fingerprint()?,
            numbers,
            config,
        })
    }

    /// Bytes of keys and values that open sources and hypotheses hold, also hypotheses of finished
    /// searches whose steps are kept. The memory behind them grows by doubling and is used again.
    #[must_use]
    pub fn cached_bytes(&self) -> usize {
        self.steps.cached_bytes()
    }

    /// The configuration.
    pub fn config(&self) -> &Seq2SeqConfig {
        &self.config
    }

    /// The model's fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The logits of given targets, through the same steps and caches that a search takes.
    ///
    /// Each pair is a source and a target, both ending in EOS; row `t` of its result (T, V) scores
    /// the candidates for `target[t]`, given the start token and `target[..t]`. For measuring and
    /// for tests; a search has no use for logits.
    ///
    /// # Errors
    /// As [`StepNetwork::open`] and [`StepNetwork::step`].
    pub fn forced_logits(&mut self, pairs: &[(&[u32], &[u32])]) -> Result<Vec<Tensor>, NnError> {
        let sources: Vec<&[u32]> = pairs.iter().map(|(source, _)| *source).collect();
        let slots = self.open(&sources)?;
        let logits = self.force(&slots, pairs);
        slots.iter().for_each(|slot| self.close(*slot));
        logits
    }

    fn force(
        &mut self,
        slots: &[SlotId],
        pairs: &[(&[u32], &[u32])],
    ) -> Result<Vec<Tensor>, NnError> {
        let vocab_size = self.config.vocab_size;
        let mut logits = vec![Vec::new(); pairs.len()];
        let steps = pairs.iter().map(|(_, target)| target.len()).max().unwrap_or(0);
        for step in 0..steps {
            let active: Vec<usize> =
                (0..pairs.len()).filter(|pair| step < pairs[*pair].1.len()).collect();
            let rows = active.iter().map(|pair| {
                let (parent, token) = match step.checked_sub(1) {
                    Some(before) => (Some(0), pairs[*pair].1[before]),
                    None => (None, self.config.start_token),
                };
                StepRow { slot: slots[*pair], parent, token, score: 0.0 }
            });
            let rows: Vec<StepRow> = rows.collect();
            let groups = group_rows(&rows)?;
            advance(self, &rows, &groups, &mut |_, of_rows, range| {
                let of_rows = of_rows.clone().to_host()?;
                for (row, pair) in active[range].iter().enumerate() {
                    logits[*pair].extend_from_slice(of_rows.row(row));
                }
                Ok(())
            })?;
        }
        let tensors = logits
            .into_iter()
            .map(|data| Ok(Tensor::new(&[data.len() / vocab_size, vocab_size], data)?));
        tensors.collect()
    }

    fn lookup<'a>(&self, table: &'a Tensor, ids: &'a [u32]) -> Lookup<'a> {
        Lookup { table, ids, scale: self.config.embedding_scale }
    }
}

impl Stepping for EncoderDecoder {
    const SOURCE: Source = Source::Apart;

    fn limits(&self) -> Limits {
        let config = &self.config;
        Limits {
            vocab_size: config.vocab_size,
            source_vocab_size: config.source_vocab_size,
            max_length: config.max_length,
            start_token: config.start_token,
            forced_token: config.forced_token,
            eos_token: config.eos_token,
        }
    }

    fn steps(&self) -> &Steps {
        &self.steps
    }

    fn steps_mut(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn on(&self, device: &Device) -> Result<Self, NnError> {
        let mut fresh = Self::load(&self.directory, device, self.numbers)?;
        fresh.steps = self.steps.on_device(device)?;
        Ok(fresh)
    }

    /// What the decoder reads of the sources goes into its cache.
    fn encode(&mut self, sources: &[Encoding<'_>]) -> Result<(), NnError> {
        let device = self.steps.device.clone();
        let lengths = || sources.iter().map(|source| source.tokens.len());
        let positions = sequence_positions(lengths());
        let ids: Vec<u32> = sources.iter().flat_map(|source| source.tokens).copied().collect();
        let entries: Vec<u32> =
            sources.iter().flat_map(|source| &source.entries).copied().collect();
        let tokens = self.lookup(&self.tokens, &ids);
        let mut x = self.encoder.embed(&device, tokens, &positions)?;
        let lists = sequence_lists(lengths());
        let bias = self.encoder.bias(&positions);
        for layer in &self.encoder.layers {
            x = layer.apply(&device, &x, &lists, bias)?;
        }
        x = self.encoder.leave(&device, x)?;
        for (number, layer) in self.decoder.layers.iter().enumerate() {
            let (keys, values) = layer.source.project(&device, &x)?;
            self.steps.of_sources().append(&device, number, &entries, &keys, &values)?;
        }
        Ok(())
    }

    fn decode(&mut self, inputs: &StepInputs, part: Range<usize>) -> Result<Tensor, NnError> {
        let StepInputs { entries, past, source, tokens, .. } = inputs;
        let device = &self.steps.device.clone();
        let of_past = &past.lists[part.clone()];
        let of_source = &source.lists[part.clone()];
        let positions: Vec<u32> = of_past.iter().map(|list| list.len - 1).collect();
        let table = self.target_tokens.as_ref().unwrap_or(&self.tokens);
        let tokens = self.lookup(table, &tokens[part.clone()]);
        let mut x = self.decoder.embed(device, tokens, &positions)?;
        let bias = self.decoder.bias(&positions);
        for (number, layer) in self.decoder.layers.iter().enumerate() {
            let entered = layer.own.enter(device, &x)?;
            let (keys, values) = layer.own.project(device, &entered)?;
            let entries = &entries[part.clone()];
            let Steps { own_cache, attention, .. } = &mut self.steps;
            own_cache.append(device, number, entries, &keys, &values)?;
            let keys = Keys { bias, ..past.keys(of_past, own_cache.layer(number)) };
            let past_seen = layer.own.attend(device, &x, &entered, keys)?;
            let entered = layer.source.enter(device, &past_seen)?;
            let gives_attention = inputs.gives_attention && number + 1 == self.decoder.layers.len();
            if gives_attention {
                attention.truncate(part.start);
            }
            let keys = source.keys(of_source, self.steps.of_sources().layer(number));
            let weights = match gives_attention {
                true => layer.source.weights(device, &entered, keys)?,
                false => Vec::new(),
            };
            let source_seen = layer.source.attend(device, &past_seen, &entered, keys)?;
            self.steps.attention.extend(weights);
            x = layer.feed_forward.apply(device, &source_seen)?;
        }
        self.decoder.leave(device, x)
    }

    fn project(&mut self, states: &Tensor) -> Result<(), NnError> {
        let (bias, projection) = (self.projection_bias.as_ref(), &self.projection);
        let Steps { device, logits, .. } = &mut self.steps;
        Ok(matmul_into(device, states, projection, bias, logits)?)
    }
}
