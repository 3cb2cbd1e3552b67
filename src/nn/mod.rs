//! Transformer networks: weights, encoder, encoder-decoder.

mod step;

pub use step::{Candidate, Row, RowMask, SlotCandidates, SlotId, StepNetwork};

/// What can go wrong in a network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NnError {}
