//! Encoders of the BERT family: absolute positions, token types, post-norm blocks.
//!
//! Source: Devlin et al. 2019, section 3; tensor names and details (exact GELU, epsilon from the
//! configuration) as in Hugging Face's `BertModel`. The pooler and any head are left out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::layers::{
    Attention, AttentionNames, EncoderLayer, FeedForward, FeedForwardNames, LayerLoader, Norm,
    Residual, sequence_lists, sequence_positions,
};
use super::{Adapter, BertConfig, Fingerprint, InputProblem, NnError, Weights};
use crate::engine::compute::kernels::{Lookup, embedding};
use crate::engine::compute::{AdapterKind, ComputeError, Device, Numbers, Renewable, Tensor};

/// Tokens that pass through the network together: enough to amortise reading the weights, few
/// enough that a feed-forward block's activations stay in the processor's caches.
const PASS_TOKENS: usize = 1024;

/// The same on a GPU, which a thousand do not fill.
const GPU_PASS_TOKENS: usize = 8192;

/// One sequence of tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EncoderInput {
    /// Token ids, special tokens included.
    pub ids: Vec<u32>,
    /// The type (segment) of each token; empty means type 0 for all.
    pub type_ids: Vec<u32>,
}

/// The states of one sequence after the layer that is read; of several layers, those of a token
/// side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Hidden {
    /// (T, D), or (T, L D) of L layers.
    states: Tensor,
}

impl Hidden {
    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.states.rows()
    }

    /// Whether there is no token; never, coming from an encoder.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Numbers of a token: the model's width `D`, times the number of layers that are read.
    pub fn width(&self) -> usize {
        self.states.width()
    }

    /// The state of one token.
    ///
    /// # Panics
    /// When there is no such token.
    pub fn token(&self, token: usize) -> &[f32] {
        self.states.row(token)
    }

    /// All states, token by token.
    pub fn data(&self) -> &[f32] {
        self.states.data()
    }
}

/// An encoder of the BERT family.
///
/// ```no_run
/// use fnstore::engine::Device;
/// use fnstore::engine::{Encoder, EncoderInput};
/// # fn main() -> Result<(), fnstore::engine::NnError> {
/// let encoder = Encoder::open("models/aligner-encoder".as_ref(), &Device::cpu())?;
/// let input = EncoderInput { ids: vec![101, 7592, 102], type_ids: vec![] };
/// let states = encoder.encode(&[input])?;
/// assert_eq!(states[0].token(1).len(), encoder.hidden_size());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Encoder {
    directory: PathBuf,
    config: BertConfig,
    /// The layers whose states are read, ascending; the last is the last that is computed; 0 is the
    /// embeddings.
    read: Vec<usize>,
    fingerprint: Fingerprint,
    adapter: Option<Arc<Adapter>>,
    network: Renewable<Network>,
}

/// The weights on a device.
#[derive(Debug)]
struct Network {
    words: Tensor,
    positions: Tensor,
    types: Tensor,
    norm: Norm,
    layers: Vec<EncoderLayer>,
    /// The layers whose states are given, ascending; the last is the last that is computed.
    read: Vec<usize>,
}

impl Encoder {
    /// Loads a model directory.
    ///
    /// # Errors
    /// When the configuration is not of the BERT family, or weights are missing, of the wrong
    /// shape or not finite.
    pub fn open(directory: &Path, device: &Device) -> Result<Self, NnError> {
        Self::open_at(directory, None, None, device)
    }

    /// Loads a model directory to read the states of one layer, counted from 1; 0 is the
    /// embeddings, and none the last. The layers above it are neither loaded nor computed. An
    /// adapter changes what the layers compute, not the encoder's fingerprint.
    ///
    /// # Errors
    /// As [`open`](Self::open), when the network has fewer layers, and when the adapter is another
    /// network's.
    pub fn open_at(
        directory: &Path,
        layer: Option<usize>,
        adapter: Option<Arc<Adapter>>,
        device: &Device,
    ) -> Result<Self, NnError> {
        let read: Vec<usize> = layer.into_iter().collect();
        Self::open_layers(directory, &read, adapter, device)
    }

    /// As [`open_at`](Self::open_at), to read the states of several layers: those of a token stand
    /// side by side in the order of the layers. No layer means the last.
    ///
    /// # Errors
    /// As [`open_at`](Self::open_at).
    pub fn open_layers(
        directory: &Path,
        layers: &[usize],
        adapter: Option<Arc<Adapter>>,
        device: &Device,
    ) -> Result<Self, NnError> {
        let config = BertConfig::read(directory)?;
        let mut read = if layers.is_empty() { vec![config.layers] } else { layers.to_vec() };
        read.sort_unstable();
        if let Some(&layer) = read.iter().find(|layer| **layer > config.layers) {
            return Err(NnError::Layer { layer, layers: config.layers });
        }
        let weights = Weights::open(directory)?.adapted(adapter.clone())?;
        Ok(Self {
            directory: directory.to_owned(),
            fingerprint: weights.fingerprint()?,
            network: Renewable::open(device, |device| {
                Network::load(&weights, &config, &read, device)
            })?,
            config,
            read,
            adapter,
        })
    }

    /// Width of a state, `D`.
    pub fn hidden_size(&self) -> usize {
        self.config.hidden_size
    }

    /// The processor that works beside the encoder's device.
    pub(crate) fn host(&self) -> Device {
        self.network.device().host()
    }

    /// The longest input in tokens, special tokens counted.
    pub fn max_length(&self) -> usize {
        self.config.max_length
    }

    /// The configuration.
    pub fn config(&self) -> &BertConfig {
        &self.config
    }

    /// The model's fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The states of each input's tokens after the layer that is read.
    ///
    /// A token attends to its own sequence only: an input's result has the same bits whatever
    /// stands beside it.
    ///
    /// # Errors
    /// When an input is empty or too long, holds an unknown token, or its types do not fit.
    pub fn encode(&self, inputs: &[EncoderInput]) -> Result<Vec<Hidden>, NnError> {
        for (index, input) in inputs.iter().enumerate() {
            self.check(input).map_err(|problem| NnError::Input { index, problem })?;
        }
        let most = match self.network.device() {
            Device::Gpu(gpu) if gpu.adapter().kind != AdapterKind::Software => GPU_PASS_TOKENS,
            _ => PASS_TOKENS,
        };
        let mut results = Vec::with_capacity(inputs.len());
        let mut rest = inputs;
        while !rest.is_empty() {
            let mut tokens = 0;
            let fitting = rest.iter().take_while(|input| {
                tokens += input.ids.len();
                tokens <= most
            });
            let (pass, others) = rest.split_at(fitting.count().max(1));
            results.extend(self.pass(pass)?);
            rest = others;
        }
        Ok(results)
    }

    fn check(&self, input: &EncoderInput) -> Result<(), InputProblem> {
        let (length, max_length) = (input.ids.len(), self.config.max_length);
        if length == 0 || length > max_length {
            return Err(InputProblem::Length { length, max_length });
        }
        let vocab_size = self.config.vocab_size;
        if let Some(token) = input.ids.iter().find(|id| **id as usize >= vocab_size) {
            return Err(InputProblem::Token { token: *token, vocab_size });
        }
        let (found, types) = (input.type_ids.len(), self.config.types);
        let known = input.type_ids.iter().all(|id| (*id as usize) < types);
        if (found != 0 && found != length) || !known {
            return Err(InputProblem::Types { expected: length, found, types });
        }
        Ok(())
    }

    /// Encodes inputs that go through the network together: in halves where the device is full, on
    /// a fresh device where it is lost.
    fn pass(&self, inputs: &[EncoderInput]) -> Result<Vec<Hidden>, NnError> {
        let load = |device: &Device| {
            let weights = Weights::open(&self.directory)?.adapted(self.adapter.clone())?;
            Network::load(&weights, &self.config, &self.read, device)
        };
        let device = self.network.device();
        match self.network.run(&device, load, |device, network| network.pass(device, inputs)) {
            Err(NnError::Compute(ComputeError::Memory { .. })) if inputs.len() > 1 => {
                let (first, second) = inputs.split_at(inputs.len() / 2);
                let count = inputs.len();
                let text = format!("the GPU is full: {count} sentences are encoded in two halves");
                device.tell(&text);
                let mut states = self.pass(first)?;
                states.extend(self.pass(second)?);
                Ok(states)
            }
            other => other,
        }
    }
}

impl Network {
    /// Loads the network up to the last of the layers that are read onto a device.
    fn load(
        weights: &Weights,
        config: &BertConfig,
        read: &[usize],
        device: &Device,
    ) -> Result<Self, NnError> {
        // Exports with a head put the network under a prefix.
        let prefix =
            if weights.contains("bert.embeddings.word_embeddings.weight") { "bert." } else { "" };
        let width = config.hidden_size;
        let table = |name, rows| {
            let table =
                weights.tensor(&format!("{prefix}embeddings.{name}.weight"), &[rows, width])?;
            Ok::<_, NnError>(table.to_device(device)?)
        };
        let numbers = Numbers::F32;
        let from = LayerLoader { weights, device, numbers, adapter: None, shared: None };
        let last = read.last().copied().unwrap_or_default();
        let layers = (0..last).map(|number| load_layer(from, config, prefix, number));
        Ok(Self {
            words: table("word_embeddings", config.vocab_size)?,
            positions: table("position_embeddings", config.max_length)?,
            types: table("token_type_embeddings", config.types)?,
            norm: Norm::load(from, &format!("{prefix}embeddings.LayerNorm"), width, config.eps)?,
            layers: layers.collect::<Result<_, _>>()?,
            read: read.to_vec(),
        })
    }

    /// Encodes inputs that go through the network together.
    fn pass(&self, device: &Device, inputs: &[EncoderInput]) -> Result<Vec<Hidden>, NnError> {
        let lengths = || inputs.iter().map(|input| input.ids.len());
        let ids: Vec<u32> = inputs.iter().flat_map(|input| input.ids.iter().copied()).collect();
        let positions = sequence_positions(lengths());
        let mut types = Vec::with_capacity(ids.len());
        for input in inputs {
            types.extend(&input.type_ids);
            types.resize(types.len() + input.ids.len() - input.type_ids.len(), 0);
        }
        let lists = sequence_lists(lengths());

        let lookup = |table, ids| Lookup { table, ids, scale: 1.0 };
        let x = embedding(
            device,
            &[
                lookup(&self.words, &ids),
                lookup(&self.types, &types),
                lookup(&self.positions, &positions),
            ],
        )?;
        let mut x = self.norm.apply(device, x, None)?;
        let mut states = Vec::with_capacity(self.read.len());
        for number in 0..=self.layers.len() {
            if let Some(layer) = number.checked_sub(1).and_then(|below| self.layers.get(below)) {
                x = layer.apply(device, &x, &lists, None)?;
            }
            for _ in self.read.iter().filter(|read| **read == number) {
                states.push(x.clone().to_host()?);
            }
        }
        let width: usize = states.iter().map(Tensor::width).sum();
        let mut start = 0;
        let hidden = lengths().map(|length| {
            let rows = start..start + length;
            start += length;
            let rows = rows.flat_map(|row| states.iter().flat_map(move |of| of.row(row)));
            let states = Tensor::new(&[length, width], rows.copied().collect());
            Ok(Hidden { states: states? })
        });
        hidden.collect()
    }
}

fn load_layer(
    from: LayerLoader<'_>,
    config: &BertConfig,
    prefix: &str,
    number: usize,
) -> Result<EncoderLayer, NnError> {
    let name = |part: &str| format!("{prefix}encoder.layer.{number}.{part}");
    let attention = AttentionNames {
        query: &name("attention.self.query"),
        key: &name("attention.self.key"),
        value: &name("attention.self.value"),
        output: &name("attention.output.dense"),
        norm: &name("attention.output.LayerNorm"),
    };
    let feed_forward =
        FeedForwardNames { inner: &name("intermediate.dense"), outer: &name("output.dense") };
    let (width, eps) = (config.hidden_size, config.eps);
    let residual = Residual::After(Norm::load(from, &name("output.LayerNorm"), width, eps)?);
    let sizes = (width, config.inner_size);
    Ok(EncoderLayer {
        attention: Attention::load(from, attention, width, config.heads, eps)?,
        feed_forward: FeedForward::load(from, feed_forward, sizes, config.activation, residual)?,
    })
}
