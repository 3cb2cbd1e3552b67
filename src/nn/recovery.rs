//! What an encoder-decoder does when its device is full or lost.
//!
//! **Full**: the rows of a step know nothing of each other, so half of them can be scored after the
//! other half; the results are the same.
//!
//! **Lost**: the weights are in their files and what was decided is on the host. The network is loaded
//! on a fresh device, the sources that are open are encoded again, and the hypotheses' tokens go
//! through the decoder once more, all hypotheses of all slots side by side, position by position. Then
//! the call that failed is made again.

use std::collections::HashSet;
use std::ops::Range;

use super::inputs::StepInputs;
use super::seq2seq::{EncoderDecoder, Finish, Slot};
use super::{NnError, SlotId};
use crate::compute::{ComputeError, Device, place_after};

/// Hypotheses that are replayed together.
const REPLAYED: usize = 512;

impl EncoderDecoder {
    /// Does something that changes nothing when it fails, on a fresh device where the old one is lost.
    pub(super) fn recovering<T>(
        &mut self,
        work: impl Fn(&mut Self) -> Result<T, NnError>,
    ) -> Result<T, NnError> {
        loop {
            match work(self) {
                Err(NnError::Compute(ComputeError::Lost { .. })) => self.renew()?,
                other => return other,
            }
        }
    }

    /// Scores rows of a step, in halves where the device is full.
    pub(super) fn score_parts(
        &mut self,
        inputs: &StepInputs,
        rows: Range<usize>,
        finish: &mut Finish<'_>,
    ) -> Result<(), NnError> {
        match self.score(inputs, rows.clone(), finish) {
            Err(NnError::Compute(ComputeError::Lost { .. })) => {
                self.renew()?;
                self.score_parts(inputs, rows, finish)
            }
            Err(NnError::Compute(ComputeError::Memory { .. })) if rows.len() > 1 => {
                let middle = rows.start + rows.len() / 2;
                self.device.tell(&format!(
                    "the GPU is full: {} hypotheses are scored in two halves",
                    rows.len()
                ));
                self.score_parts(inputs, rows.start..middle, finish)?;
                self.score_parts(inputs, middle..rows.end, finish)
            }
            other => other,
        }
    }

    /// Encodes sources into entries of the cache, in halves where the device is full.
    pub(super) fn encode_parts(
        &mut self,
        sources: &[&[u32]],
        entries: &[u32],
    ) -> Result<(), NnError> {
        match self.encode(sources, entries) {
            Err(NnError::Compute(ComputeError::Memory { .. })) if sources.len() > 1 => {
                self.device.tell(&format!(
                    "the GPU is full: {} sentences are encoded in two halves",
                    sources.len()
                ));
                let (first, second) = sources.split_at(sources.len() / 2);
                let tokens = first.iter().map(|source| source.len()).sum();
                let (of_first, of_second) = entries.split_at(tokens);
                self.encode_parts(first, of_first)?;
                self.encode_parts(second, of_second)
            }
            other => other,
        }
    }

    /// Goes on with a fresh device. Where it cannot be made what the old one was, nothing changes.
    fn renew(&mut self) -> Result<(), NnError> {
        let (_, fresh) = place_after(&self.device, |device| self.on(device))?;
        *self = fresh;
        Ok(())
    }

    /// The network as it is, on another device.
    fn on(&self, device: &Device) -> Result<Self, NnError> {
        let mut fresh = Self::load(&self.directory, device, self.numbers)?;
        fresh.own_cache = self.own_cache.on_device(device)?;
        fresh.source_cache = self.source_cache.on_device(device)?;
        fresh.entry_tokens.clone_from(&self.entry_tokens);
        fresh.slots.clone_from(&self.slots);
        fresh.attention.clone_from(&self.attention);
        fresh.restore()?;
        Ok(fresh)
    }

    /// Fills the caches of the open slots.
    fn restore(&mut self) -> Result<(), NnError> {
        let open: Vec<usize> =
            (0..self.slots.len()).filter(|slot| self.slots[*slot].is_some()).collect();
        for &slot in &open {
            let Some(Slot { tokens, source, .. }) = &self.slots[slot] else { continue };
            let (tokens, source) = (tokens.clone(), source.clone());
            self.encode(&[&tokens], &source)?;
        }
        let mut seen = HashSet::new();
        for depth in 1.. {
            // Each entry once, with the path that leads to it; shorter paths come first.
            let mut paths: Vec<(SlotId, Vec<u32>)> = Vec::new();
            for &slot in &open {
                let Some(Slot { paths: last, kept, .. }) = &self.slots[slot] else { continue };
                let all = kept.iter().flatten().flatten().chain(last);
                let reaching = all.filter_map(|path| path.get(..depth));
                let fresh = reaching.filter(|path| seen.insert(path[depth - 1]));
                paths.extend(fresh.map(|path| (SlotId(slot as u32), path.to_vec())));
            }
            if paths.is_empty() {
                return Ok(());
            }
            for paths in paths.chunks(REPLAYED) {
                let inputs = self.inputs_of(paths);
                self.decode(&inputs, 0..paths.len())?;
            }
        }
        Ok(())
    }

    /// A step that takes each path's last token.
    fn inputs_of(&self, paths: &[(SlotId, Vec<u32>)]) -> StepInputs {
        let mut inputs = StepInputs::default();
        for (slot, path) in paths {
            let entry = *path.last().expect("a path of at least one entry");
            inputs.entries.push(entry);
            inputs.tokens.push(self.entry_tokens[entry as usize]);
            inputs.past.add(path, 1);
            let slot = self.slots[slot.0 as usize].as_ref().expect("only open slots are restored");
            inputs.source.add(&slot.source, 1);
        }
        inputs
    }
}
