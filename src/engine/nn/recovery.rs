//! What a network does when its device is full or lost.
//!
//! **Full**: the rows of a step know nothing of each other, so half of them can be scored after the
//! other half; the results are the same.
//!
//! **Lost**: the weights are in their files and what was decided is on the host. The network is
//! loaded on a fresh device and the open sources are encoded again. The hypotheses' tokens go
//! through the layers once more, position by position, all hypotheses of all slots side by side.
//! Then the call that failed is made again.

use std::collections::HashSet;
use std::ops::Range;

use super::inputs::StepInputs;
use super::stepping::{Finish, Stepping, score};
use super::steps::{Encoding, Slot, Steps};
use super::{NnError, SlotId};
use crate::engine::compute::{ComputeError, Device, place_after};

/// Hypotheses that are replayed together.
const REPLAYED: usize = 512;

/// Does something that changes nothing when it fails, on a fresh device where the old one is lost.
pub(super) fn recovering<N: Stepping, T>(
    network: &mut N,
    work: impl Fn(&mut N) -> Result<T, NnError>,
) -> Result<T, NnError> {
    loop {
        match work(network) {
            Err(NnError::Compute(ComputeError::Lost { .. })) => renew(network)?,
            other => return other,
        }
    }
}

/// Scores rows of a step, in halves where the device is full.
pub(super) fn score_parts<N: Stepping>(
    network: &mut N,
    inputs: &StepInputs,
    rows: Range<usize>,
    finish: &mut Finish<'_>,
) -> Result<(), NnError> {
    match score(network, inputs, rows.clone(), finish) {
        Err(NnError::Compute(ComputeError::Lost { .. })) => {
            renew(network)?;
            score_parts(network, inputs, rows, finish)
        }
        Err(NnError::Compute(ComputeError::Memory { .. })) if rows.len() > 1 => {
            let middle = rows.start + rows.len() / 2;
            network.steps().device.tell(&format!(
                "the GPU is full: {} hypotheses are scored in two halves",
                rows.len()
            ));
            score_parts(network, inputs, rows.start..middle, finish)?;
            score_parts(network, inputs, middle..rows.end, finish)
        }
        other => other,
    }
}

/// Encodes sources into entries of their cache, in halves where the device is full.
pub(super) fn encode_parts<N: Stepping>(
    network: &mut N,
    sources: &[Encoding<'_>],
) -> Result<(), NnError> {
    if sources.iter().all(|source| source.own().0.is_empty()) {
        return Ok(());
    }
    match network.encode(sources) {
        Err(NnError::Compute(ComputeError::Memory { .. })) if sources.len() > 1 => {
            network.steps().device.tell(&format!(
                "the GPU is full: {} sentences are encoded in two halves",
                sources.len()
            ));
            // What a source shares is that of one before it.
            let (first, second) = sources.split_at(sources.len() / 2);
            encode_parts(network, first)?;
            encode_parts(network, second)
        }
        other => other,
    }
}

/// Goes on with a fresh device. Where it cannot be made what the old one was, nothing changes.
fn renew<N: Stepping>(network: &mut N) -> Result<(), NnError> {
    let lost = network.steps().device.clone();
    let restored = |device: &Device| {
        let mut fresh = network.on(device)?;
        restore(&mut fresh)?;
        Ok::<_, NnError>(fresh)
    };
    let (_, fresh) = place_after(&lost, restored)?;
    *network = fresh;
    Ok(())
}

/// Fills the caches of the open slots.
fn restore<N: Stepping>(network: &mut N) -> Result<(), NnError> {
    let slots = &network.steps().slots;
    let open: Vec<usize> = (0..slots.len()).filter(|slot| slots[*slot].is_some()).collect();
    for &slot in &open {
        let Some(Slot { tokens, source, .. }) = network.steps().slots[slot].clone() else {
            continue;
        };
        // Shared entries are written once for each source, with the same numbers.
        let tokens = N::SOURCE.encoded(&tokens);
        encode_parts(network, &[Encoding { tokens, entries: source, shared: 0 }])?;
    }
    let mut seen = HashSet::new();
    for depth in 1.. {
        // Each entry once, with the path that leads to it; shorter paths come first.
        let mut paths: Vec<(SlotId, Vec<u32>)> = Vec::new();
        for &slot in &open {
            let Some(Slot { paths: last, kept, .. }) = &network.steps().slots[slot] else {
                continue;
            };
            let all = kept.iter().flatten().flatten().chain(last);
            let reaching = all.filter_map(|path| path.get(..depth));
            let fresh = reaching.filter(|path| seen.insert(path[depth - 1]));
            paths.extend(fresh.map(|path| (SlotId(slot as u32), path.to_vec())));
        }
        if paths.is_empty() {
            return Ok(());
        }
        for paths in paths.chunks(REPLAYED) {
            let inputs = inputs_of::<N>(network.steps(), paths);
            network.decode(&inputs, 0..paths.len())?;
        }
    }
    Ok(())
}

/// A step that takes each path's last token.
fn inputs_of<N: Stepping>(steps: &Steps, paths: &[(SlotId, Vec<u32>)]) -> StepInputs {
    let mut inputs = StepInputs::default();
    for (slot, path) in paths {
        let entry = *path.last().expect("a path of at least one entry");
        inputs.entries.push(entry);
        inputs.tokens.push(steps.entry_tokens[entry as usize]);
        inputs.see(N::SOURCE, steps.slot(*slot).expect("only open slots are restored"), path);
    }
    inputs
}
