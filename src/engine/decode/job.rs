//! What names a search and what it searches, and what it needs to know of its network.

use crate::engine::nn::StepNetwork;

/// A source that was given to a [`Scheduler`](super::Scheduler).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub(crate) u64);

/// A search that was given to a [`Scheduler`](super::Scheduler).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub(crate) u64);

/// What a search needs to know of its network.
#[derive(Debug, Clone, Copy)]
pub(super) struct NetworkTokens {
    pub(super) start: u32,
    pub(super) eos: u32,
    pub(super) vocab_size: u32,
}

impl NetworkTokens {
    pub(super) fn of<N: StepNetwork + ?Sized>(network: &N) -> Self {
        let vocab_size = u32::try_from(network.vocab_size()).expect("token ids are 32-bit");
        Self { start: network.start_token(), eos: network.eos_token(), vocab_size }
    }
}
