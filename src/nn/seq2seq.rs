//! Encoder-decoders, with slots for continuous batching.
//!
//! Two stacks of layers between a table of tokens and an output projection. What the stacks are made of
//! and how files name it differs by [layout](super::Layout): `bart.rs` loads Marian and BART, `t5.rs`
//! loads T5; from here on they are the same (Vaswani et al. 2017).
//!
//! A step handles all rows of all slots in one batch. A slot keeps the keys and values of its
//! source (computed once) and the paths of its hypotheses; see [`super::cache`].

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::cache::KvCache;
use super::inputs::StepInputs;
use super::layers::{
    DecoderLayer, EncoderLayer, Keys, LayerLoader, sequence_lists, sequence_positions,
};
use super::selection::{group_rows, merge, token_masks};
use super::stack::Stack;
use super::{
    Candidate, Draw, Fingerprint, InputProblem, Layout, NnError, RowMask, RowProblem,
    Seq2SeqConfig, SlotCandidates, SlotId, StepNetwork, StepRow, Weights, bart, t5,
};
use crate::compute::kernels::{
    Lookup, TokenDraw, TokenMask, TokenScore, Weight, best_tokens, matmul_into, sample_tokens,
};
use crate::compute::{Device, Numbers, Tensor, place_on};

/// One open source.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    /// The source's tokens.
    pub(super) tokens: Vec<u32>,
    /// Entries of its keys and values, in the order of its tokens.
    pub(super) source: Vec<u32>,
    /// The path of each row of the previous step.
    pub(super) paths: Vec<Vec<u32>>,
    /// Those of the steps before it, first to last, when steps are kept.
    pub(super) kept: Option<Vec<Vec<Vec<u32>>>>,
    pub(super) gives_attention: bool,
}

/// An encoder-decoder in the layout of Marian, BART or T5.
///
/// ```no_run
/// use fnstore::compute::Device;
/// use fnstore::nn::{EncoderDecoder, StepRow, StepNetwork};
/// # fn main() -> Result<(), fnstore::nn::NnError> {
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
    pub(super) directory: PathBuf,
    pub(super) device: Device,
    pub(super) numbers: Numbers,
    config: Seq2SeqConfig,
    fingerprint: Fingerprint,
    /// Source tokens (V, D); target tokens where they have a table of their own.
    tokens: Tensor,
    target_tokens: Option<Tensor>,
    encoder: Stack<EncoderLayer>,
    decoder: Stack<DecoderLayer>,
    projection: Weight,
    projection_bias: Option<Tensor>,
    pub(super) own_cache: KvCache,
    pub(super) source_cache: KvCache,
    /// The token of each entry of the hypotheses' cache.
    pub(super) entry_tokens: Vec<u32>,
    /// Indexed by slot id; closed ones are empty and used again.
    pub(super) slots: Vec<Option<Slot>>,
    /// (R, V), kept between steps for its memory.
    logits: Tensor,
    /// The last layer's attention of each row over its source; empty where no slot asked for it.
    pub(super) attention: Vec<Vec<f32>>,
}

impl EncoderDecoder {
    /// Loads a model directory, to compute in f32.
    ///
    /// # Errors
    /// When the configuration is of no known layout, or weights are missing, of the wrong shape or not
    /// finite.
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

    pub(super) fn load(
        directory: &Path,
        device: &Device,
        numbers: Numbers,
    ) -> Result<Self, NnError> {
        let config = Seq2SeqConfig::read(directory)?;
        let weights = Weights::open(directory)?;
        let width = config.hidden_size;
        let from = LayerLoader { weights: &weights, device, numbers };
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
        let of_stack = (config.decoder.layers, config.decoder.attention_size);
        Ok(Self {
            directory: directory.to_owned(),
            tokens: tokens.to_device(device)?,
            target_tokens: target_tokens.map(|tokens| tokens.to_device(device)).transpose()?,
            encoder,
            decoder,
            projection: from.weight(projection, &shape)?,
            projection_bias: projection_bias.map(|bias| bias.to_device(device)).transpose()?,
            own_cache: KvCache::new(device, of_stack.0, of_stack.1)?,
            source_cache: KvCache::new(device, of_stack.0, of_stack.1)?,
            entry_tokens: Vec::new(),
            slots: Vec::new(),
            logits: Tensor::zeros(0, config.vocab_size),
            attention: Vec::new(),
            fingerprint: weights.fingerprint()?,
            device: device.clone(),
            numbers,
            config,
        })
    }

    /// Bytes of keys and values that open sources and hypotheses hold, also hypotheses of finished
    /// searches whose steps are kept. The memory behind them grows by doubling and is used again.
    #[must_use]
    pub fn cached_bytes(&self) -> usize {
        self.own_cache.used_bytes() + self.source_cache.used_bytes()
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
            self.advance(&rows, &groups, &mut |_, of_rows, range| {
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

    /// Encodes sources as one ragged batch and puts what the decoder reads of them into its cache.
    pub(super) fn encode(&mut self, sources: &[&[u32]], entries: &[u32]) -> Result<(), NnError> {
        let lengths = || sources.iter().map(|source| source.len());
        let (ids, positions) = (sources.concat(), sequence_positions(lengths()));
        let tokens = self.lookup(&self.tokens, &ids);
        let mut x = self.encoder.embed(&self.device, tokens, &positions)?;
        let lists = sequence_lists(lengths());
        let bias = self.encoder.bias(&positions);
        for layer in &self.encoder.layers {
            x = layer.apply(&self.device, &x, &lists, bias)?;
        }
        x = self.encoder.leave(&self.device, x)?;
        for (number, layer) in self.decoder.layers.iter().enumerate() {
            let (keys, values) = layer.source.project(&self.device, &x)?;
            self.source_cache.append(&self.device, number, entries, &keys, &values)?;
        }
        Ok(())
    }

    fn lookup<'a>(&self, table: &'a Tensor, ids: &'a [u32]) -> Lookup<'a> {
        Lookup { table, ids, scale: self.config.embedding_scale }
    }

    fn check_source(&self, source: &[u32]) -> Result<(), InputProblem> {
        let (length, max_length) = (source.len(), self.config.max_length);
        if length == 0 || length > max_length {
            return Err(InputProblem::Length { length, max_length });
        }
        let vocab_size = self.config.source_vocab_size;
        match source.iter().find(|token| **token as usize >= vocab_size) {
            Some(token) => Err(InputProblem::Token { token: *token, vocab_size }),
            None => Ok(()),
        }
    }

    fn slot(&self, slot: SlotId) -> Option<&Slot> {
        self.slots.get(slot.0 as usize)?.as_ref()
    }

    /// Checks that each row extends a hypothesis that exists.
    fn check_rows(&self, rows: &[StepRow]) -> Result<(), NnError> {
        for (number, row) in rows.iter().enumerate() {
            let refuse = |problem| Err(NnError::Row { row: number, problem });
            let SlotId(slot) = row.slot;
            let Some(open) = self.slot(row.slot) else {
                return refuse(RowProblem::UnknownSlot { slot });
            };
            let previous = open.paths.len();
            let known = match row.parent {
                Some(parent) => (parent as usize) < previous,
                None => previous == 0,
            };
            if !known {
                let (parent, rows) = (row.parent, previous);
                return refuse(RowProblem::UnknownParent { slot, parent, rows });
            }
            let max_length = self.config.max_length;
            if open.paths.first().is_some_and(|path| path.len() >= max_length) {
                return refuse(RowProblem::TooLong { slot, max_length });
            }
            let vocab_size = self.config.vocab_size;
            if row.token as usize >= vocab_size {
                return refuse(RowProblem::Token { token: row.token, vocab_size });
            }
        }
        Ok(())
    }

    /// Extends the paths of each group's slot by one new entry per row; returns the entries.
    fn extend_paths(
        &mut self,
        rows: &[StepRow],
        groups: &[Range<usize>],
    ) -> Result<Vec<u32>, NnError> {
        let entries = self.recovering(|network| network.own_cache.allocate(rows.len()))?;
        self.entry_tokens.resize(self.own_cache.entries(), 0);
        for (entry, row) in entries.iter().zip(rows) {
            self.entry_tokens[*entry as usize] = row.token;
        }
        for group in groups {
            let SlotId(slot) = rows[group.start].slot;
            let slot = self.slots[slot as usize].as_mut().expect("rows were checked");
            let paths: Vec<Vec<u32>> = rows[group.clone()]
                .iter()
                .zip(&entries[group.clone()])
                .map(|(row, entry)| {
                    let past = row.parent.map_or(&[][..], |parent| &slot.paths[parent as usize]);
                    past.iter().chain([entry]).copied().collect()
                })
                .collect();
            let before = std::mem::replace(&mut slot.paths, paths);
            match &mut slot.kept {
                Some(kept) if !before.is_empty() => kept.push(before),
                Some(_) => {}
                None => self.own_cache.release_unshared(&before, &slot.paths),
            }
        }
        Ok(entries)
    }

    /// Checks that masks name tokens that exist.
    fn check_masks(&self, masks: &[TokenMask<'_>]) -> Result<(), NnError> {
        let vocab_size = self.config.vocab_size;
        for (row, mask) in masks.iter().enumerate() {
            // Banned tokens are ascending.
            let mut named = mask.banned.last().into_iter().chain(mask.extra);
            if let Some(&token) = named.find(|token| **token as usize >= vocab_size) {
                return Err(NnError::Row { row, problem: RowProblem::Token { token, vocab_size } });
            }
        }
        Ok(())
    }

    /// The error of a slot with a score that is no number, in the step just taken.
    fn non_finite(&self, slot: SlotId) -> NnError {
        let step = self.slot(slot).map_or(0, |slot| slot.paths[0].len() - 1);
        NnError::NonFinite { slot: slot.0, step }
    }

    /// Takes one step and hands the logits of its rows to `finish`, all at once or in parts.
    fn advance(
        &mut self,
        rows: &[StepRow],
        groups: &[Range<usize>],
        finish: &mut Finish<'_>,
    ) -> Result<(), NnError> {
        self.check_rows(rows)?;
        let mut inputs =
            StepInputs { entries: self.extend_paths(rows, groups)?, ..Default::default() };
        for group in groups {
            let slot = self.slot(rows[group.start].slot).expect("rows were checked");
            inputs.gives_attention |= slot.gives_attention;
            slot.paths.iter().for_each(|path| inputs.past.add(path, 1));
            inputs.source.add(&slot.source, group.len());
        }
        inputs.tokens = rows.iter().map(|row| row.token).collect();
        self.score_parts(&inputs, 0..rows.len(), finish)
    }

    /// The decoder's layers over some rows of a step, whose keys and values join the cache: (R, D).
    pub(super) fn decode(
        &mut self,
        inputs: &StepInputs,
        part: Range<usize>,
    ) -> Result<Tensor, NnError> {
        let StepInputs { entries, past, source, tokens, .. } = inputs;
        let of_past = &past.lists[part.clone()];
        let of_source = &source.lists[part.clone()];
        let positions: Vec<u32> = of_past.iter().map(|list| list.len - 1).collect();
        let table = self.target_tokens.as_ref().unwrap_or(&self.tokens);
        let tokens = self.lookup(table, &tokens[part.clone()]);
        let mut x = self.decoder.embed(&self.device, tokens, &positions)?;
        let bias = self.decoder.bias(&positions);
        for (number, layer) in self.decoder.layers.iter().enumerate() {
            let entered = layer.own.enter(&self.device, &x)?;
            let (keys, values) = layer.own.project(&self.device, &entered)?;
            let entries = &entries[part.clone()];
            self.own_cache.append(&self.device, number, entries, &keys, &values)?;
            let keys = Keys { bias, ..past.keys(of_past, self.own_cache.layer(number)) };
            let past_seen = layer.own.attend(&self.device, &x, &entered, keys)?;
            let entered = layer.source.enter(&self.device, &past_seen)?;
            let keys = source.keys(of_source, self.source_cache.layer(number));
            if inputs.gives_attention && number + 1 == self.decoder.layers.len() {
                let weights = layer.source.weights(&self.device, &entered, keys)?;
                self.attention.truncate(part.start);
                self.attention.extend(weights);
            }
            let source_seen = layer.source.attend(&self.device, &past_seen, &entered, keys)?;
            x = layer.feed_forward.apply(&self.device, &source_seen)?;
        }
        self.decoder.leave(&self.device, x)
    }

    /// Logits of some rows of a step, handed to `finish`.
    pub(super) fn score(
        &mut self,
        inputs: &StepInputs,
        part: Range<usize>,
        finish: &mut Finish<'_>,
    ) -> Result<(), NnError> {
        let x = self.decode(inputs, part.clone())?;
        let bias = self.projection_bias.as_ref();
        matmul_into(&self.device, &x, &self.projection, bias, &mut self.logits)?;
        finish(&self.device, &self.logits, part)
    }
}

/// Takes the logits of some rows of a step (device, logits, rows).
pub(super) type Finish<'a> = dyn FnMut(&Device, &Tensor, Range<usize>) -> Result<(), NnError> + 'a;

impl StepNetwork for EncoderDecoder {
    fn vocab_size(&self) -> usize {
        self.config.vocab_size
    }

    fn start_token(&self) -> u32 {
        self.config.start_token
    }

    fn eos_token(&self) -> u32 {
        self.config.eos_token
    }

    fn forced_token(&self) -> Option<u32> {
        self.config.forced_token
    }

    fn max_length(&self) -> usize {
        self.config.max_length
    }

    fn open(&mut self, sources: &[&[u32]]) -> Result<Vec<SlotId>, NnError> {
        for (index, source) in sources.iter().enumerate() {
            self.check_source(source).map_err(|problem| NnError::Input { index, problem })?;
        }
        let count = sources.iter().map(|source| source.len()).sum();
        let entries = self.recovering(|network| network.source_cache.allocate(count))?;
        // A loss at any part: what was encoded before it went with the device.
        let encoded = self.recovering(|network| network.encode_parts(sources, &entries));
        if let Err(error) = encoded {
            self.source_cache.release(&entries);
            return Err(error);
        }
        let mut rest = entries.as_slice();
        let mut slots = Vec::with_capacity(sources.len());
        for source in sources {
            let (own, others) = rest.split_at(source.len());
            rest = others;
            let slot = Slot {
                tokens: source.to_vec(),
                source: own.to_vec(),
                paths: Vec::new(),
                kept: None,
                gives_attention: false,
            };
            let place = self.slots.iter().position(Option::is_none).unwrap_or_else(|| {
                self.slots.push(None);
                self.slots.len() - 1
            });
            self.slots[place] = Some(slot);
            slots.push(SlotId(place as u32));
        }
        Ok(slots)
    }

    fn step(
        &mut self,
        rows: &[StepRow],
        masks: &[RowMask],
        top: usize,
    ) -> Result<Vec<SlotCandidates>, NnError> {
        let groups = group_rows(rows)?;
        let mut bans = Vec::new();
        let masks = token_masks(rows.len(), masks, self.config.eos_token, &mut bans)?;
        self.check_masks(&masks)?;
        let scores: Vec<f32> = rows.iter().map(|row| row.score).collect();
        let mut scored = Vec::with_capacity(rows.len());
        self.advance(rows, &groups, &mut |device, logits, part| {
            let (scores, masks) = (&scores[part.clone()], &masks[part]);
            scored.extend(best_tokens(device, logits, scores, masks, top)?);
            Ok(())
        })?;
        let mut answers = Vec::with_capacity(groups.len());
        for group in groups {
            let slot = rows[group.start].slot;
            let merged = merge(slot, &scores[group.clone()], &scored[group.clone()], top);
            let mut answer = merged.ok_or_else(|| self.non_finite(slot))?;
            if self.slot(slot).is_some_and(|slot| slot.gives_attention) {
                answer.attention = self.attention[group].to_vec();
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    fn sample(
        &mut self,
        rows: &[StepRow],
        masks: &[RowMask],
        draws: &[Draw],
    ) -> Result<Vec<Option<Candidate>>, NnError> {
        let groups = group_rows(rows)?;
        let mut bans = Vec::new();
        let masks = token_masks(rows.len(), masks, self.config.eos_token, &mut bans)?;
        self.check_masks(&masks)?;
        let draws: Vec<TokenDraw> = draws
            .iter()
            .map(|&Draw { temperature, top_k, top_p, uniform }| TokenDraw {
                temperature,
                top_k,
                top_p,
                uniform,
            })
            .collect();
        let mut drawn = Vec::with_capacity(rows.len());
        self.advance(rows, &groups, &mut |device, logits, part| {
            let (masks, draws) = (&masks[part.clone()], &draws[part]);
            drawn.extend(sample_tokens(device, logits, masks, draws)?);
            Ok(())
        })?;
        let parents = groups.iter().flat_map(|group| 0u32..group.len() as u32);
        let candidates = drawn.into_iter().zip(rows).zip(parents).map(|((drawn, row), parent)| {
            let Some(TokenScore { token, log_prob }) = drawn else { return Ok(None) };
            if !log_prob.is_finite() {
                return Err(self.non_finite(row.slot));
            }
            Ok(Some(Candidate { parent, token, log_prob }))
        });
        candidates.collect()
    }

    /// Of the last layer, the mean over its heads.
    fn give_attention(&mut self, slot: SlotId, wanted: bool) -> bool {
        let slot = self.slots[slot.0 as usize].as_mut().expect("only an open slot gives attention");
        slot.gives_attention = wanted;
        true
    }

    fn keep_steps(&mut self, slot: SlotId) {
        let slot = self.slots[slot.0 as usize].as_mut().expect("only an open slot keeps steps");
        assert!(slot.paths.is_empty(), "steps are kept from the first one on");
        slot.kept = Some(Vec::new());
    }

    fn rewind(&mut self, slot: SlotId, steps: usize) {
        let slot = self.slots[slot.0 as usize].as_mut().expect("only an open slot is rewound");
        let Some(kept) = &mut slot.kept else {
            assert_eq!(steps, 0, "no step of this slot was kept");
            self.own_cache.release_unshared(&slot.paths, &[]);
            slot.paths.clear();
            return;
        };
        if !slot.paths.is_empty() {
            kept.push(std::mem::take(&mut slot.paths));
        }
        assert!(steps <= kept.len(), "step {steps} was not taken");
        // While steps are kept, the last entry of a path belongs to it alone.
        let dropped = kept.drain(steps..).flatten();
        let entries: Vec<u32> = dropped.filter_map(|path| path.last().copied()).collect();
        self.own_cache.release(&entries);
        slot.paths = kept.pop().unwrap_or_default();
    }

    fn tell(&self, text: &str) {
        self.device.tell(text);
    }

    fn close(&mut self, slot: SlotId) {
        if self.slot(slot).is_some() {
            self.rewind(slot, 0);
        }
        if let Some(slot) = self.slots.get_mut(slot.0 as usize).and_then(Option::take) {
            self.source_cache.release(&slot.source);
        }
    }
}
