//! What a network says of its layers to take steps; from that it is a
//! [`StepNetwork`](super::StepNetwork).

use std::ops::Range;

use super::NnError;
use super::inputs::StepInputs;
use super::steps::{Encoding, Limits, Source, Steps};
use crate::engine::compute::{Device, Tensor};

/// Takes the logits of some rows of a step (device, logits, rows).
pub(super) type Finish<'a> = dyn FnMut(&Device, &Tensor, Range<usize>) -> Result<(), NnError> + 'a;

/// The layers of a network that takes steps.
pub(super) trait Stepping: Sized {
    /// How the network sees its source.
    const SOURCE: Source;

    fn limits(&self) -> Limits;

    /// Tokens that end an output as the end token does.
    fn other_ends(&self) -> &[u32] {
        &[]
    }

    fn steps(&self) -> &Steps;

    fn steps_mut(&mut self) -> &mut Steps;

    /// The network on another device, with the same sources and hypotheses, whose keys are yet to
    /// be computed.
    fn on(&self, device: &Device) -> Result<Self, NnError>;

    /// Computes the keys and values of sources into their entries of the cache, as one ragged
    /// batch. Entries that a source shares are there already, or come with another source of the
    /// batch.
    fn encode(&mut self, sources: &[Encoding<'_>]) -> Result<(), NnError>;

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
