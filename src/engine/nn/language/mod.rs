//! Decoder-only language models: Llama, Qwen 2 and 3, Gemma 3.
//!
//! A prompt takes the place of an encoder-decoder's source. Its keys and values are computed once a
//! slot, side by side with those of other slots. Every hypothesis of the slot sees them before its
//! own. Prompt and hypotheses share one cache, so a hypothesis' keys are one list of entries.
//! Prompts that begin alike share the keys of their beginning, so an instruction is computed once
//! for all sentences.
//!
//! The last token of a prompt is the first that a hypothesis is given, in place of an
//! encoder-decoder's start token. What follows it is the output.

mod config;
mod gguf_config;
mod joined;
mod json_config;
mod layer;
mod rotation;

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use config::{LanguageConfig, LanguageLayout, Window};
use joined::{JoinedLayer, Seen};
use layer::{Layer, Projected};
use rotation::TurnTable;
pub use rotation::{Rotation, RotationScaling};

use super::gguf::{Gguf, GgufError, RowOrder};
use super::inputs::{KeyTable, StepInputs};
use super::language_adapter::LanguageAdapter;
use super::layers::{Keys, LayerLoader, Norm, sequence_lists, sequence_positions};
use super::recovery::recovering;
use super::shared_weights::SharedWeights;
use super::stepping::Stepping;
use super::steps::{Encoding, Limits, Source, Steps};
use super::{Fingerprint, NnError, Weights, WeightsError};
use crate::engine::compute::kernels::{
    KeyList, Lookup, Placing, Stream, TokenMask, Weight, add, best_tokens, embedding, matmul_into,
};
use crate::engine::compute::{ComputeError, Device, Gpu, Numbers, Tensor, place_on};
use crate::engine::tokenize::{TokenizeError, Tokenizer};

/// Rows whose logits are computed together: with 262,144 tokens they fill 64 MiB.
const LOGIT_ROWS: usize = 64;

/// A decoder-only language model.
///
/// ```no_run
/// use fnstore::engine::{Device, Numbers};
/// use fnstore::engine::LanguageModel;
///
/// let mut model = LanguageModel::open("SmolLM2.gguf".as_ref(), &Device::cpu(), Numbers::F32)?;
/// let log_probs = model.log_probs(&[&[0, 504, 2644]])?;
/// assert_eq!(log_probs[0].len(), 2);
/// # Ok::<(), fnstore::engine::NnError>(())
/// ```
#[derive(Debug)]
pub struct LanguageModel {
    path: PathBuf,
    numbers: Numbers,
    config: LanguageConfig,
    fingerprint: Fingerprint,
    adapter: Option<Arc<LanguageAdapter>>,
    /// What it has in common with models of other adapters.
    base: Arc<SharedWeights>,
    tokens: Table,
    layers: Layers,
    exit: Norm,
    /// None where the table of tokens is the projection, too.
    projection: Option<Arc<Weight>>,
    /// How heads turn in layers that see everything.
    wide: TurnTable,
    /// The same in layers that see a window; none where all see everything.
    local: Option<TurnTable>,
    steps: Steps,
}

impl LanguageModel {
    /// Loads a GGUF file, or a directory of Hugging Face's, to compute products in these numbers.
    ///
    /// # Errors
    /// When the file is damaged or the model of no known layout, or weights are missing, of the
    /// wrong shape or not finite.
    pub fn open(path: &Path, device: &Device, numbers: Numbers) -> Result<Self, NnError> {
        Self::open_with(path, None, device, numbers)
    }

    /// As [`open`](Self::open), with an adapter beside the weights, which stay as they are.
    ///
    /// # Errors
    /// As [`open`](Self::open), and when the adapter was trained on another model.
    pub fn open_with(
        path: &Path,
        adapter: Option<Arc<LanguageAdapter>>,
        device: &Device,
        numbers: Numbers,
    ) -> Result<Self, NnError> {
        if let Some(adapter) = &adapter {
            adapter.check_base(path)?;
        }
        let load = |device: &Device| Self::load(path, adapter.clone(), device, numbers, None);
        let (_, opened) = place_on(device, load)?;
        Ok(opened)
    }

    /// The same model on the same device with another adapter, or with none: what both compute with
    /// lies in memory once. It has no open prompts, and ends texts where its file says.
    ///
    /// A GPU that unpacks weights ([`Device::unpacks`]) adds an adapter to them, so there the model
    /// has weights of its own. After the loss of a GPU each model loads its own, too.
    ///
    /// # Errors
    /// When the adapter was trained on another model, the weights' file is not what it was, or the
    /// device has no room.
    pub fn with_adapter(&self, adapter: Option<Arc<LanguageAdapter>>) -> Result<Self, NnError> {
        if let Some(adapter) = &adapter {
            adapter.check_base(&self.path)?;
        }
        let device = &self.steps.device;
        let other = Self::load(&self.path, adapter, device, self.numbers, Some(self))?;
        if other.fingerprint != self.fingerprint {
            return Err(WeightsError::Changed { path: self.path.clone() }.into());
        }
        Ok(other)
    }

    /// How many matrices of the base another model computes with, too, instead of a copy.
    #[must_use]
    pub fn shared_matrices(&self, other: &Self) -> usize {
        if !Arc::ptr_eq(&self.base, &other.base) {
            return 0;
        }
        let table = match (&self.tokens, &other.tokens) {
            (Table::Numbers(own), Table::Numbers(others)) => usize::from(Arc::ptr_eq(own, others)),
            // In blocks it is one of the packed ones.
            _ => 0,
        };
        table + self.base.shared()
    }

    fn load(
        path: &Path,
        adapter: Option<Arc<LanguageAdapter>>,
        device: &Device,
        numbers: Numbers,
        beside: Option<&Self>,
    ) -> Result<Self, NnError> {
        const TABLE: &str = "model.embed_tokens.weight";
        let (config, weights) = read(path)?;
        if let Some(adapter) = &adapter {
            adapter.check_shapes(&weights)?;
        }
        let base = beside.map_or_else(Arc::default, |beside| beside.base.clone());
        let (adapter_of, shared) = (adapter.as_deref(), Some(&*base));
        let from = LayerLoader { weights: &weights, device, numbers, adapter: adapter_of, shared };
        let width = config.hidden_size;
        let shape = [config.vocab_size, width];
        let tokens = match (beside, numbers) {
            (Some(beside), _) => beside.tokens.clone(),
            (None, Numbers::Blocks) => Table::Blocks(from.weight(TABLE, &shape)?),
            (None, _) => {
                Table::Numbers(Arc::new(weights.tensor(TABLE, &shape)?.to_device(device)?))
            }
        };
        let projection = match (&tokens, config.tied_projection) {
            (Table::Blocks(_), true) => None,
            (Table::Numbers(_), true) => Some(from.weight(TABLE, &shape)?),
            (_, false) => Some(from.weight("lm_head.weight", &shape)?),
        };
        let layers = Layers::load(from, &config)?;
        let offset = config.gain_offset;
        let turns = |frequencies| TurnTable::new(device, frequencies, config.max_length);
        let local = config.window.as_ref();
        let local = local.map(|window| window.rotation.frequencies(config.head_columns));
        let opened = Self {
            path: path.to_owned(),
            numbers,
            tokens,
            layers,
            exit: Norm::load_rms(from, "model.norm", (width, config.eps), |gain| gain + offset)?,
            projection,
            wide: turns(frequencies(&config, &weights)?)?,
            local: local.map(turns).transpose()?,
            fingerprint: weights.fingerprint()?,
            steps: Steps::new(device, config.layers, config.key_size(), config.vocab_size)?,
            adapter: adapter.clone(),
            base: base.clone(),
            config,
        };
        weights.check_unchanged()?;
        Ok(opened)
    }

    /// The same, ending texts at a token of one's own choice.
    ///
    /// # Panics
    /// If the vocabulary has no such token.
    #[must_use]
    pub fn ending_at(mut self, token: u32) -> Self {
        assert!((token as usize) < self.config.vocab_size, "token {token} is in the vocabulary");
        self.config.end_tokens.retain(|other| *other != token);
        self.config.end_tokens.insert(0, token);
        self
    }

    /// The file or directory that it was opened from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The adapter beside the weights.
    pub fn adapter(&self) -> Option<&LanguageAdapter> {
        self.adapter.as_deref()
    }

    /// The same, to open another model with it ([`with_adapter`](Self::with_adapter)).
    #[must_use]
    pub fn shared_adapter(&self) -> Option<Arc<LanguageAdapter>> {
        self.adapter.clone()
    }

    /// The configuration.
    pub fn config(&self) -> &LanguageConfig {
        &self.config
    }

    /// The model's fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Bytes of keys and values that open prompts and hypotheses hold.
    #[must_use]
    pub fn cached_bytes(&self) -> usize {
        self.steps.cached_bytes()
    }

    /// The logits after each token of some sequences: (T, V) for each.
    ///
    /// # Errors
    /// When a sequence is empty or longer than the context, or has a token outside the vocabulary.
    pub fn logits(&mut self, sequences: &[&[u32]]) -> Result<Vec<Tensor>, NnError> {
        let vocab_size = self.config.vocab_size;
        let data =
            self.over_rows(sequences, |_, logits, _| Ok(logits.clone().to_host()?.into_data()))?;
        let mut rest = data.as_slice();
        let tensors = sequences.iter().map(|sequence| {
            let (own, others) = rest.split_at(sequence.len() * vocab_size);
            rest = others;
            Ok(Tensor::new(&[sequence.len(), vocab_size], own.to_vec())?)
        });
        tensors.collect()
    }

    /// The log-probability (natural log) of each token of some sequences but the first, given those
    /// before it: one less than a sequence has tokens.
    ///
    /// A number is the same bits whatever stands in the other sequences.
    ///
    /// # Errors
    /// As [`logits`](Self::logits), and when a logit is not finite.
    pub fn log_probs(&mut self, sequences: &[&[u32]]) -> Result<Vec<Vec<f32>>, NnError> {
        // What follows the last token of a sequence is nobody's to say.
        let next = |sequence: &&[u32]| {
            let following = sequence.iter().skip(1).map(|token| Some(*token));
            following.chain([None]).collect::<Vec<_>>()
        };
        let wanted: Vec<Option<u32>> = sequences.iter().flat_map(next).collect();
        let found = self.over_rows(sequences, |device, logits, rows| {
            let wanted = wanted[rows.clone()].iter().map(Option::as_slice);
            let masks = wanted.map(|extra| TokenMask { extra, ..TokenMask::default() });
            let masks: Vec<TokenMask<'_>> = masks.collect();
            let scored = best_tokens(device, logits, &vec![0.0; rows.len()], &masks, 1)?;
            let log_probs = scored.iter().map(|row| match (row.is_finite, row.extra.first()) {
                (false, _) => f32::NAN,
                (true, extra) => extra.map_or(0.0, |token| token.log_prob),
            });
            Ok(log_probs.collect())
        })?;
        let mut rest = found.as_slice();
        let mut log_probs = Vec::with_capacity(sequences.len());
        for (index, sequence) in sequences.iter().enumerate() {
            let (own, others) = rest.split_at(sequence.len());
            rest = others;
            if let Some(step) = own.iter().position(|log_prob| !log_prob.is_finite()) {
                return Err(NnError::NonFinite { slot: index as u32, step });
            }
            log_probs.push(own[..own.len() - 1].to_vec());
        }
        Ok(log_probs)
    }

    /// Numbers made of the logits of all rows of some sequences, some rows at a time.
    fn over_rows(
        &mut self,
        sequences: &[&[u32]],
        take: impl Fn(&Device, &Tensor, Range<usize>) -> Result<Vec<f32>, NnError>,
    ) -> Result<Vec<f32>, NnError> {
        for (index, sequence) in sequences.iter().enumerate() {
            let checked = self.limits().check_source(sequence);
            checked.map_err(|problem| NnError::Input { index, problem })?;
        }
        let width = self.config.hidden_size;
        recovering(self, |model| {
            let states = model.whole(sequences)?;
            let device = model.steps.device.clone();
            let states = model.exit.apply(&device, states, None)?.to_host()?;
            let mut taken = Vec::new();
            for first in (0..states.rows()).step_by(LOGIT_ROWS) {
                let rows = first..(first + LOGIT_ROWS).min(states.rows());
                let part = states.data()[rows.start * width..rows.end * width].to_vec();
                let part = Tensor::new(&[rows.len(), width], part)?.to_device(&device)?;
                model.project(&part)?;
                taken.extend(take(&device, &model.steps.logits, rows)?);
            }
            Ok(taken)
        })
    }

    /// The last layer's states of whole sequences, each token seeing those before it and itself.
    fn whole(&mut self, sequences: &[&[u32]]) -> Result<Tensor, NnError> {
        let lengths = || sequences.iter().map(|sequence| sequence.len());
        let positions = sequence_positions(lengths());
        let lists: Vec<KeyList> = sequence_lists(lengths())
            .iter()
            .zip(&positions)
            .map(|(list, position)| KeyList { len: position + 1, ..*list })
            .collect();
        self.states(&sequences.concat(), &positions, &lists, Past::Rows)
    }

    /// The last layer's states of some rows: tokens `ids` at `positions` that see the keys of
    /// `lists`.
    fn states(
        &mut self,
        ids: &[u32],
        positions: &[u32],
        lists: &[KeyList],
        past: Past<'_>,
    ) -> Result<Tensor, NnError> {
        let device = self.steps.device.clone();
        // Every layer brings them.
        let own: Vec<u32> = (0..ids.len() as u32).collect();
        let (entries, table) = past.entries(&own);
        let _held = device.hold(&[positions, KeyList::words(lists), entries, table]);
        let scale = self.config.embedding_scale;
        let mut x = self.tokens.look_up(&device, ids, scale)?;
        let wide = self.wide.covering(&device, positions)?;
        let local = self.local.as_mut().map(|local| local.covering(&device, positions));
        let local = local.transpose()?.unwrap_or(wide);
        let layers = match &self.layers {
            Layers::Plain(layers) => layers,
            Layers::Joined(gpu, layers) => {
                let mut stream = Stream::new(x);
                let mut alone = match past {
                    Past::Rows => Some(self.steps.own_cache.fresh(&device, ids.len())?),
                    Past::Cache { .. } => None,
                };
                for (number, layer) in layers.iter().enumerate() {
                    let window = self.config.window_of(number);
                    let turns = if window.is_some() { local } else { wide };
                    let placing = Placing { positions, turns, entries, bias: None };
                    let tables = match &mut alone {
                        Some((keys, values)) => (keys, values),
                        None => self.steps.own_cache.layer_mut(number),
                    };
                    let table = matches!(past, Past::Cache { .. }).then_some(table);
                    let seen = Seen { placing, lists: &seen(lists, window), table };
                    layer.apply(gpu, &mut stream, seen, tables)?;
                }
                return Ok(joined_up(&device, stream)?);
            }
        };
        for (number, layer) in layers.iter().enumerate() {
            let window = self.config.window_of(number);
            let lists = seen(lists, window);
            let turns = (if window.is_some() { local } else { wide }, positions);
            let entered = layer.enter(&device, &x)?;
            let Projected { queries, keys, values } = &layer.project(&device, &entered, turns)?;
            let cache = &mut self.steps.own_cache;
            if let Past::Cache { entries, .. } = past {
                cache.append(&device, number, entries, keys, values)?;
            }
            let keys = match past {
                Past::Rows => Keys { keys, values, lists: &lists, table: None, bias: None },
                Past::Cache { table, .. } => table.keys(&lists, cache.layer(number)),
            };
            x = layer.attend(&device, &x, queries, keys)?;
        }
        Ok(x)
    }
}

/// The tokens' embeddings (V, D).
#[derive(Debug, Clone)]
enum Table {
    Numbers(Arc<Tensor>),
    /// Packed for products, and looked up row by row.
    Blocks(Arc<Weight>),
}

impl Table {
    /// The rows of some tokens, times a factor.
    fn look_up(&self, device: &Device, ids: &[u32], scale: f32) -> Result<Tensor, ComputeError> {
        match self {
            Self::Numbers(table) => embedding(device, &[Lookup { table, ids, scale }]),
            Self::Blocks(table) => table.look_up(device, ids, scale),
        }
    }
}

/// The rows of a stream, which what is pending has joined.
fn joined_up(device: &Device, stream: Stream) -> Result<Tensor, ComputeError> {
    let (mut rows, pending) = stream.into_parts();
    if let Some(sums) = pending {
        add(device, &mut rows, &sums.finish(None)?)?;
    }
    Ok(rows)
}

/// The layers, in the form that their device computes.
#[derive(Debug)]
enum Layers {
    Plain(Vec<Layer>),
    Joined(Gpu, Vec<JoinedLayer>),
}

impl Layers {
    fn load(from: LayerLoader<'_>, config: &LanguageConfig) -> Result<Self, NnError> {
        let numbers = 0..config.layers;
        if let Device::Gpu(gpu) = from.device {
            let joined = numbers.clone().map(|number| JoinedLayer::load(from, config, number));
            if let Some(layers) = joined.collect::<Result<Option<Vec<_>>, _>>()? {
                return Ok(Self::Joined(gpu.clone(), layers));
            }
        }
        let plain = numbers.map(|number| Layer::load(from, config, number));
        Ok(Self::Plain(plain.collect::<Result<_, _>>()?))
    }
}

/// Where rows find the keys that they see.
#[derive(Clone, Copy)]
enum Past<'a> {
    /// Among the rows themselves.
    Rows,
    /// In the cache, once the rows' own have joined it as these entries.
    Cache { entries: &'a [u32], table: &'a KeyTable },
}

impl<'a> Past<'a> {
    /// The entries that rows' keys go to, and those that are seen; rows by themselves are their
    /// `own` entries.
    fn entries(self, own: &'a [u32]) -> (&'a [u32], &'a [u32]) {
        match self {
            Self::Rows => (own, &[]),
            Self::Cache { entries, table } => (entries, table.entries()),
        }
    }
}

/// The parts of lists that a layer sees: all, or the last keys.
fn seen<'a>(lists: &'a [KeyList], window: Option<&Window>) -> Cow<'a, [KeyList]> {
    let Some(window) = window else { return Cow::Borrowed(lists) };
    let last = |list: &KeyList| {
        let len = list.len.min(window.length as u32);
        KeyList { start: list.start + (list.len - len), len }
    };
    Cow::Owned(lists.iter().map(last).collect())
}

fn read(path: &Path) -> Result<(LanguageConfig, Weights), NnError> {
    if path.is_dir() {
        return Ok((LanguageConfig::read(path)?, Weights::open(path)?));
    }
    let file = Gguf::open(path).map_err(WeightsError::from)?;
    let config = gguf_config::read(&file).map_err(WeightsError::from)?;
    let order_of = |name: &str| {
        let heads = match name {
            _ if config.layout != LanguageLayout::Llama => return RowOrder::AsTheyStand,
            name if name.contains(".q_proj.") => config.heads,
            name if name.contains(".k_proj.") => config.key_heads,
            _ => return RowOrder::AsTheyStand,
        };
        RowOrder::HalvesInTurn { heads }
    };
    let weights = Weights::of_gguf(&file, config.has_four_norms(), order_of)?;
    Ok((config, weights))
}

/// The tokenizer of a language model (a GGUF file or a directory of Hugging Face's), and whether
/// its texts begin with the start token. No text becomes a control token.
///
/// # Errors
/// When a file is missing or damaged.
pub fn tokenizer_of<E: From<GgufError> + From<TokenizeError>>(
    path: &Path,
) -> Result<(Tokenizer, bool), E> {
    if path.is_dir() {
        let tokenizer = Tokenizer::open(path)?.plain();
        let begins_with_start = !tokenizer.encode_with_specials("")?.is_empty();
        return Ok((tokenizer, begins_with_start));
    }
    let file = Gguf::open(path)?;
    Ok((Tokenizer::from_pieces(&file.pieces()?)?, file.begins_with_start()?))
}

/// Frequencies in layers that see everything.
fn frequencies(config: &LanguageConfig, weights: &Weights) -> Result<Vec<f32>, NnError> {
    /// Where a GGUF file has Llama 3's scaling, as divisors.
    const DIVISORS: &str = "rope_freqs.weight";
    let columns = config.head_columns;
    let mut wide = config.rotation.frequencies(columns);
    if weights.contains(DIVISORS) {
        let divisors = weights.tensor(DIVISORS, &[columns / 2])?;
        wide.iter_mut().zip(divisors.data()).for_each(|(frequency, divisor)| *frequency /= divisor);
    }
    Ok(wide)
}

impl Stepping for LanguageModel {
    const SOURCE: Source = Source::BeginsThePast;

    fn limits(&self) -> Limits {
        let LanguageConfig { vocab_size, max_length, start_token, .. } = self.config;
        let eos_token = self.config.end_tokens[0];
        Limits {
            vocab_size,
            source_vocab_size: vocab_size,
            max_length,
            start_token: start_token.unwrap_or(eos_token),
            forced_token: None,
            eos_token,
        }
    }

    fn other_ends(&self) -> &[u32] {
        &self.config.end_tokens[1..]
    }

    fn steps(&self) -> &Steps {
        &self.steps
    }

    fn steps_mut(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn on(&self, device: &Device) -> Result<Self, NnError> {
        let mut fresh = Self::load(&self.path, self.adapter.clone(), device, self.numbers, None)?;
        if fresh.fingerprint != self.fingerprint {
            return Err(WeightsError::Changed { path: self.path.clone() }.into());
        }
        fresh.config = self.config.clone();
        fresh.steps = self.steps.on_device(device)?;
        Ok(fresh)
    }

    fn encode(&mut self, sources: &[Encoding<'_>]) -> Result<(), NnError> {
        let mut past = KeyTable::default();
        let (mut ids, mut entries) = (Vec::new(), Vec::new());
        for source in sources {
            let (own, of_own) = source.own();
            ids.extend(own);
            entries.extend(of_own);
            past.add_growing(&source.entries, source.shared);
        }
        let positions: Vec<u32> = past.lists.iter().map(|list| list.len - 1).collect();
        let in_cache = Past::Cache { entries: &entries, table: &past };
        self.states(&ids, &positions, &past.lists, in_cache).map(drop)
    }

    fn decode(&mut self, inputs: &StepInputs, part: Range<usize>) -> Result<Tensor, NnError> {
        let StepInputs { entries, past, tokens, .. } = inputs;
        let lists = &past.lists[part.clone()];
        let positions: Vec<u32> = lists.iter().map(|list| list.len - 1).collect();
        let in_cache = Past::Cache { entries: &entries[part.clone()], table: past };
        let x = self.states(&tokens[part], &positions, lists, in_cache)?;
        self.exit.apply(&self.steps.device, x, None)
    }

    fn project(&mut self, states: &Tensor) -> Result<(), NnError> {
        let Steps { device, logits, .. } = &mut self.steps;
        let weight = match (&self.projection, &self.tokens) {
            (Some(projection), _) | (None, Table::Blocks(projection)) => projection,
            (None, Table::Numbers(_)) => unreachable!("numbers are not packed for products"),
        };
        Ok(matmul_into(device, states, weight, None, logits)?)
    }
}
