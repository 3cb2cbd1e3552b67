//! Calls of a network, whose errors say what it was about to do.

use super::DecodeError;
use crate::engine::compute::ComputeError;
use crate::engine::nn::{
    Candidate, Draw, NnError, RowMask, SlotCandidates, SlotId, StepNetwork, StepRow,
};

/// Whether a network has no room for what it was asked.
pub(super) fn is_full(error: &DecodeError) -> bool {
    let DecodeError::Network { source, .. } = error else { return false };
    matches!(source, NnError::Compute(ComputeError::Memory { .. }))
}

pub(super) fn open<N: StepNetwork + ?Sized>(
    network: &mut N,
    sources: &[&[u32]],
) -> Result<Vec<SlotId>, DecodeError> {
    network.open(sources).map_err(failed("open sources"))
}

pub(super) fn step<N: StepNetwork + ?Sized>(
    network: &mut N,
    rows: &[StepRow],
    masks: &[RowMask],
    top: usize,
) -> Result<Vec<SlotCandidates>, DecodeError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    network.step(rows, masks, top).map_err(failed("take a step"))
}

pub(super) fn sample<N: StepNetwork + ?Sized>(
    network: &mut N,
    rows: &[StepRow],
    masks: &[RowMask],
    draws: &[Draw],
) -> Result<Vec<Option<Candidate>>, DecodeError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    network.sample(rows, masks, draws).map_err(failed("draw tokens"))
}

fn failed(doing: &'static str) -> impl FnOnce(NnError) -> DecodeError {
    move |source| DecodeError::Network { doing, source }
}
