//! What every network that takes steps shares: open sources, the paths of hypotheses, and one step over
//! all rows of all slots.
//!
//! A network says what its layers are ([`Stepping`]); from that it is a [`StepNetwork`]. A slot keeps the
//! entries of its source (computed once) and the paths of its hypotheses; see [`super::cache`].

use std::ops::Range;

use super::cache::KvCache;
use super::inputs::StepInputs;
use super::recovery::{encode_parts, recovering, score_parts};
use super::selection::{group_rows, merge, token_masks};
use super::{
    Candidate, Draw, InputProblem, NnError, RowMask, RowProblem, SlotCandidates, SlotId,
    StepNetwork, StepRow,
};
use crate::compute::kernels::{TokenDraw, TokenMask, TokenScore, best_tokens, sample_tokens};
use crate::compute::{Device, Tensor};

/// How a network sees its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// By itself, in a cache of its own: an encoder's states.
    Apart,
    /// As the beginning of every hypothesis' past: a prompt. Its last token is left out, and given to the
    /// first step in place of the start token.
    BeginsThePast,
}

impl Source {
    /// The tokens of a source whose keys are computed when it is opened.
    pub(super) fn encoded(self, tokens: &[u32]) -> &[u32] {
        match self {
            Self::Apart => tokens,
            Self::BeginsThePast => &tokens[..tokens.len().saturating_sub(1)],
        }
    }
}

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

/// What a network knows of what it is stepping through.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) device: Device,
    pub(super) own_cache: KvCache,
    /// Of sources that are seen apart.
    pub(super) source_cache: Option<KvCache>,
    /// The token of each entry of the hypotheses' cache.
    pub(super) entry_tokens: Vec<u32>,
    /// Indexed by slot id; closed ones are empty and used again.
    pub(super) slots: Vec<Option<Slot>>,
    /// (R, V), kept between steps for its memory.
    pub(super) logits: Tensor,
    /// The last layer's attention of each row over its source; empty where no slot asked for it.
    pub(super) attention: Vec<Vec<f32>>,
}

impl Steps {
    /// Nothing open, for a network of so many layers whose keys are so wide.
    pub(super) fn new(
        device: &Device,
        layers: usize,
        key_size: usize,
        vocab_size: usize,
    ) -> Result<Self, NnError> {
        Ok(Self {
            device: device.clone(),
            own_cache: KvCache::new(device, layers, key_size)?,
            source_cache: None,
            entry_tokens: Vec::new(),
            slots: Vec::new(),
            logits: Tensor::zeros(0, vocab_size),
            attention: Vec::new(),
        })
    }

    /// The same with a cache for sources.
    pub(super) fn with_sources_apart(
        self,
        layers: usize,
        key_size: usize,
    ) -> Result<Self, NnError> {
        let source_cache = Some(KvCache::new(&self.device, layers, key_size)?);
        Ok(Self { source_cache, ..self })
    }

    /// The same on another device; what the caches hold is zero.
    pub(super) fn on_device(&self, device: &Device) -> Result<Self, NnError> {
        let source_cache = self.source_cache.as_ref().map(|cache| cache.on_device(device));
        Ok(Self {
            device: device.clone(),
            own_cache: self.own_cache.on_device(device)?,
            source_cache: source_cache.transpose()?,
            entry_tokens: self.entry_tokens.clone(),
            slots: self.slots.clone(),
            logits: Tensor::zeros(0, self.logits.width()),
            attention: self.attention.clone(),
        })
    }

    /// Bytes of keys and values of open sources and hypotheses.
    pub(super) fn cached_bytes(&self) -> usize {
        let of_sources = self.source_cache.as_ref().map_or(0, KvCache::used_bytes);
        self.own_cache.used_bytes() + of_sources
    }

    /// Where keys of sources lie.
    pub(super) fn of_sources(&mut self) -> &mut KvCache {
        self.source_cache.as_mut().unwrap_or(&mut self.own_cache)
    }

    pub(super) fn slot(&self, slot: SlotId) -> Option<&Slot> {
        self.slots.get(slot.0 as usize)?.as_ref()
    }

    fn slot_mut(&mut self, slot: SlotId) -> Option<&mut Slot> {
        self.slots.get_mut(slot.0 as usize)?.as_mut()
    }

    fn open(&mut self, tokens: &[u32], source: &[u32]) -> SlotId {
        let slot = Slot {
            tokens: tokens.to_vec(),
            source: source.to_vec(),
            paths: Vec::new(),
            kept: None,
            gives_attention: false,
        };
        let place = self.slots.iter().position(Option::is_none).unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[place] = Some(slot);
        SlotId(place as u32)
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

    /// The error of a slot with a score that is no number, in the step just taken.
    fn non_finite(&self, slot: SlotId) -> NnError {
        let step = self.slot(slot).map_or(0, |slot| slot.paths[0].len() - 1);
        NnError::NonFinite { slot: slot.0, step }
    }
}

/// What a network takes, and how its outputs begin and end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) vocab_size: usize,
    pub(super) source_vocab_size: usize,
    pub(super) max_length: usize,
    pub(super) start_token: u32,
    pub(super) forced_token: Option<u32>,
    pub(super) eos_token: u32,
}

impl Limits {
    /// Checks that a source can be opened.
    pub(super) fn check_source(&self, source: &[u32]) -> Result<(), InputProblem> {
        let (length, max_length) = (source.len(), self.max_length);
        if length == 0 || length > max_length {
            return Err(InputProblem::Length { length, max_length });
        }
        let vocab_size = self.source_vocab_size;
        match source.iter().find(|token| **token as usize >= vocab_size) {
            Some(token) => Err(InputProblem::Token { token: *token, vocab_size }),
            None => Ok(()),
        }
    }

    /// Checks that masks name tokens that exist.
    fn check_masks(&self, masks: &[TokenMask<'_>]) -> Result<(), NnError> {
        let vocab_size = self.vocab_size;
        for (row, mask) in masks.iter().enumerate() {
            // Banned tokens are ascending.
            let mut named = mask.banned.last().into_iter().chain(mask.extra);
            if let Some(&token) = named.find(|token| **token as usize >= vocab_size) {
                return Err(NnError::Row { row, problem: RowProblem::Token { token, vocab_size } });
            }
        }
        Ok(())
    }
}

/// Takes the logits of some rows of a step (device, logits, rows).
pub(super) type Finish<'a> = dyn FnMut(&Device, &Tensor, Range<usize>) -> Result<(), NnError> + 'a;

/// The layers of a network that takes steps.
pub(super) trait Stepping: Sized {
    /// How the network sees its source.
    const SOURCE: Source;

    fn limits(&self) -> Limits;

    fn steps(&self) -> &Steps;

    fn steps_mut(&mut self) -> &mut Steps;

    /// The network on another device, with the same sources and hypotheses, whose keys are yet to be
    /// computed.
    fn on(&self, device: &Device) -> Result<Self, NnError>;

    /// Computes the keys and values of sources into entries of their cache, as one ragged batch.
    fn encode(&mut self, sources: &[&[u32]], entries: &[u32]) -> Result<(), NnError>;

    /// The layers over some rows of a step, whose keys and values join the cache: (R, D).
    fn decode(&mut self, inputs: &StepInputs, part: Range<usize>) -> Result<Tensor, NnError>;

    /// The logits of states (R, D), into the steps' own (R, V).
    fn project(&mut self, states: &Tensor) -> Result<(), NnError>;
}

/// Logits of some rows of a step, handed to `finish`.
pub(super) fn score<N: Stepping>(
    network: &mut N,
    inputs: &StepInputs,
    part: Range<usize>,
    finish: &mut Finish<'_>,
) -> Result<(), NnError> {
    let states = network.decode(inputs, part.clone())?;
    network.project(&states)?;
    let Steps { device, logits, .. } = network.steps();
    finish(device, logits, part)
}

/// Takes one step and hands the logits of its rows to `finish`, all at once or in parts.
pub(super) fn advance<N: Stepping>(
    network: &mut N,
    rows: &[StepRow],
    groups: &[Range<usize>],
    finish: &mut Finish<'_>,
) -> Result<(), NnError> {
    check_rows(network, rows)?;
    let tokens: Vec<u32> = rows.iter().map(|row| given(network, row)).collect();
    let entries = extend_paths(network, rows, &tokens, groups)?;
    let mut inputs = StepInputs { entries, tokens, ..Default::default() };
    for group in groups {
        let slot = network.steps().slot(rows[group.start].slot).expect("rows were checked");
        inputs.gives_attention |= slot.gives_attention;
        slot.paths.iter().for_each(|path| inputs.see(N::SOURCE, slot, path));
    }
    score_parts(network, &inputs, 0..rows.len(), finish)
}

/// The token that a row gives the network.
fn given<N: Stepping>(network: &N, row: &StepRow) -> u32 {
    match (N::SOURCE, row.parent) {
        (Source::BeginsThePast, None) => {
            let slot = network.steps().slot(row.slot).expect("rows were checked");
            *slot.tokens.last().expect("an open source has a token")
        }
        _ => row.token,
    }
}

/// Checks that each row extends a hypothesis that exists.
fn check_rows<N: Stepping>(network: &N, rows: &[StepRow]) -> Result<(), NnError> {
    let Limits { vocab_size, max_length, .. } = network.limits();
    for (number, row) in rows.iter().enumerate() {
        let refuse = |problem| Err(NnError::Row { row: number, problem });
        let SlotId(slot) = row.slot;
        let Some(open) = network.steps().slot(row.slot) else {
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
        let before = match N::SOURCE {
            Source::Apart => 0,
            Source::BeginsThePast => open.source.len(),
        };
        if before + open.paths.first().map_or(0, Vec::len) >= max_length {
            return refuse(RowProblem::TooLong { slot, max_length });
        }
        if row.token as usize >= vocab_size {
            return refuse(RowProblem::Token { token: row.token, vocab_size });
        }
    }
    Ok(())
}

/// Extends the paths of each group's slot by one new entry per row; returns the entries.
fn extend_paths<N: Stepping>(
    network: &mut N,
    rows: &[StepRow],
    tokens: &[u32],
    groups: &[Range<usize>],
) -> Result<Vec<u32>, NnError> {
    let entries =
        recovering(network, |network| network.steps_mut().own_cache.allocate(rows.len()))?;
    let steps = network.steps_mut();
    steps.entry_tokens.resize(steps.own_cache.entries(), 0);
    for (entry, token) in entries.iter().zip(tokens) {
        steps.entry_tokens[*entry as usize] = *token;
    }
    for group in groups {
        let SlotId(slot) = rows[group.start].slot;
        let slot = steps.slots[slot as usize].as_mut().expect("rows were checked");
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
            None => steps.own_cache.release_unshared(&before, &slot.paths),
        }
    }
    Ok(entries)
}

impl<N: Stepping> StepNetwork for N {
    fn vocab_size(&self) -> usize {
        self.limits().vocab_size
    }

    fn start_token(&self) -> u32 {
        self.limits().start_token
    }

    fn eos_token(&self) -> u32 {
        self.limits().eos_token
    }

    fn forced_token(&self) -> Option<u32> {
        self.limits().forced_token
    }

    fn max_length(&self) -> usize {
        self.limits().max_length
    }

    fn open(&mut self, sources: &[&[u32]]) -> Result<Vec<SlotId>, NnError> {
        let limits = self.limits();
        for (index, source) in sources.iter().enumerate() {
            limits.check_source(source).map_err(|problem| NnError::Input { index, problem })?;
        }
        let encoded: Vec<&[u32]> = sources.iter().map(|source| N::SOURCE.encoded(source)).collect();
        let count = encoded.iter().map(|source| source.len()).sum();
        let entries = recovering(self, |network| network.steps_mut().of_sources().allocate(count))?;
        // A loss at any part: what was encoded before it went with the device.
        let computed = recovering(self, |network| encode_parts(network, &encoded, &entries));
        if let Err(error) = computed {
            self.steps_mut().of_sources().release(&entries);
            return Err(error);
        }
        let mut rest = entries.as_slice();
        let mut slots = Vec::with_capacity(sources.len());
        for (source, encoded) in sources.iter().zip(&encoded) {
            let (own, others) = rest.split_at(encoded.len());
            rest = others;
            slots.push(self.steps_mut().open(source, own));
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
        let limits = self.limits();
        let masks = token_masks(rows.len(), masks, limits.eos_token, &mut bans)?;
        limits.check_masks(&masks)?;
        let scores: Vec<f32> = rows.iter().map(|row| row.score).collect();
        let mut scored = Vec::with_capacity(rows.len());
        advance(self, rows, &groups, &mut |device, logits, part| {
            let (scores, masks) = (&scores[part.clone()], &masks[part]);
            scored.extend(best_tokens(device, logits, scores, masks, top)?);
            Ok(())
        })?;
        let mut answers = Vec::with_capacity(groups.len());
        let steps = self.steps();
        for group in groups {
            let slot = rows[group.start].slot;
            let merged = merge(slot, &scores[group.clone()], &scored[group.clone()], top);
            let mut answer = merged.ok_or_else(|| steps.non_finite(slot))?;
            if steps.slot(slot).is_some_and(|slot| slot.gives_attention) {
                answer.attention = steps.attention[group].to_vec();
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
        let limits = self.limits();
        let masks = token_masks(rows.len(), masks, limits.eos_token, &mut bans)?;
        limits.check_masks(&masks)?;
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
        advance(self, rows, &groups, &mut |device, logits, part| {
            let (masks, draws) = (&masks[part.clone()], &draws[part]);
            drawn.extend(sample_tokens(device, logits, masks, draws)?);
            Ok(())
        })?;
        let parents = groups.iter().flat_map(|group| 0u32..group.len() as u32);
        let candidates = drawn.into_iter().zip(rows).zip(parents).map(|((drawn, row), parent)| {
            let Some(TokenScore { token, log_prob }) = drawn else { return Ok(None) };
            if !log_prob.is_finite() {
                return Err(self.steps().non_finite(row.slot));
            }
            Ok(Some(Candidate { parent, token, log_prob }))
        });
        candidates.collect()
    }

    /// Of the last layer, the mean over its heads; a prompt is not told from what follows it.
    fn give_attention(&mut self, slot: SlotId, wanted: bool) -> bool {
        if N::SOURCE == Source::BeginsThePast {
            return !wanted;
        }
        let slot = self.steps_mut().slot_mut(slot).expect("only an open slot gives attention");
        slot.gives_attention = wanted;
        true
    }

    fn keep_steps(&mut self, slot: SlotId) {
        let slot = self.steps_mut().slot_mut(slot).expect("only an open slot keeps steps");
        assert!(slot.paths.is_empty(), "steps are kept from the first one on");
        slot.kept = Some(Vec::new());
    }

    fn rewind(&mut self, slot: SlotId, steps: usize) {
        self.steps_mut().rewind(slot, steps);
    }

    fn tell(&self, text: &str) {
        self.steps().device.tell(text);
    }

    fn close(&mut self, slot: SlotId) {
        let steps = self.steps_mut();
        if steps.slot(slot).is_some() {
            steps.rewind(slot, 0);
        }
        if let Some(slot) = steps.slots.get_mut(slot.0 as usize).and_then(Option::take) {
            steps.of_sources().release(&slot.source);
        }
    }
}
