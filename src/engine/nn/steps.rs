//! Where a network that takes steps stands: open sources, the paths of hypotheses, and its limits.
//!
//! A slot keeps the entries of its source (computed once) and the paths of its hypotheses; see
//! [`super::cache`].

use super::cache::KvCache;
use super::{InputProblem, NnError, RowProblem, SlotId};
use crate::engine::compute::kernels::TokenMask;
use crate::engine::compute::{Device, Tensor};

/// How a network sees its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// By itself, in a cache of its own: an encoder's states.
    Apart,
    /// As the beginning of every hypothesis' past: a prompt. Its last token is left out, and given
    /// to the first step in place of the start token.
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

/// A source whose keys are to be computed.
#[derive(Debug, Clone)]
pub(super) struct Encoding<'a> {
    pub(super) tokens: &'a [u32],
    /// An entry for each token.
    pub(super) entries: Vec<u32>,
    /// How many of the first are another source's, computed before or side by side with this one.
    pub(super) shared: usize,
}

impl Encoding<'_> {
    /// Tokens and entries that are its own.
    pub(super) fn own(&self) -> (&[u32], &[u32]) {
        (&self.tokens[self.shared..], &self.entries[self.shared..])
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

    pub(super) fn slot_mut(&mut self, slot: SlotId) -> Option<&mut Slot> {
        self.slots.get_mut(slot.0 as usize)?.as_mut()
    }

    pub(super) fn open(&mut self, tokens: &[u32], source: &[u32]) -> SlotId {
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

    /// Takes entries for sources out of the pool. A prompt shares those of the longest beginning
    /// that it has in common with an open one, or one before it.
    pub(super) fn place_sources<'a>(
        &mut self,
        kind: Source,
        sources: &[&'a [u32]],
    ) -> Result<Vec<Encoding<'a>>, NnError> {
        let known = |tokens: &[u32], others: &[(&[u32], &[u32])]| {
            let common =
                |other: &[u32]| tokens.iter().zip(other).take_while(|(a, b)| a == b).count();
            let longest = others.iter().map(|(other, entries)| (common(other), *entries));
            longest.max_by_key(|(len, _)| *len).map(|(len, entries)| entries[..len].to_vec())
        };
        // 1. What each shares, as places among the sources of this call or as entries.
        let open: Vec<(&[u32], &[u32])> = match kind {
            Source::Apart => Vec::new(),
            Source::BeginsThePast => {
                let open = self.slots.iter().flatten();
                open.map(|slot| (slot.tokens.as_slice(), slot.source.as_slice()))
                    .map(|(tokens, entries)| (&tokens[..entries.len()], entries))
                    .collect()
            }
        };
        let mut placed: Vec<Encoding<'a>> = Vec::with_capacity(sources.len());
        let mut fresh = 0;
        // Entries that are yet to be taken are counted from the end of the numbers.
        let pending = |fresh: &mut u32| {
            *fresh += 1;
            u32::MAX - (*fresh - 1)
        };
        for tokens in sources {
            let earlier = placed.iter().map(|placed| (placed.tokens, placed.entries.as_slice()));
            let others: Vec<(&[u32], &[u32])> = match kind {
                Source::Apart => Vec::new(),
                Source::BeginsThePast => open.iter().copied().chain(earlier).collect(),
            };
            let mut entries = known(tokens, &others).unwrap_or_default();
            let shared = entries.len();
            entries.extend(tokens[shared..].iter().map(|_| pending(&mut fresh)));
            placed.push(Encoding { tokens, entries, shared });
        }
        // 2. The entries that are no other's.
        let taken = self.of_sources().allocate(fresh as usize)?;
        for entry in placed.iter_mut().flat_map(|placed| &mut placed.entries) {
            if let Some(taken) = taken.get((u32::MAX - *entry) as usize) {
                *entry = *taken;
            }
        }
        Ok(placed)
    }

    /// Forgets a source; what another one shares with it stays.
    pub(super) fn close(&mut self, slot: SlotId) {
        let Some(closed) = self.slots.get_mut(slot.0 as usize).and_then(Option::take) else {
            return;
        };
        let others: Vec<Vec<u32>> =
            self.slots.iter().flatten().map(|slot| slot.source.clone()).collect();
        self.of_sources().release_unshared(&[closed.source], &others);
    }

    pub(super) fn rewind(&mut self, slot: SlotId, steps: usize) {
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
    pub(super) fn non_finite(&self, slot: SlotId) -> NnError {
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
    pub(super) fn check_masks(&self, masks: &[TokenMask<'_>]) -> Result<(), NnError> {
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
