//! A stack of layers with what stands before and after it, the same for every layout.

use super::NnError;
use super::layers::Norm;
use crate::engine::compute::kernels::{DistanceBias, Lookup, embedding};
use crate::engine::compute::{Device, Tensor};

/// The encoder or the decoder of a network.
#[derive(Debug)]
pub(super) struct Stack<L> {
    /// (positions, D), added to the tokens' embeddings.
    pub(super) positions: Option<Tensor>,
    /// What attention among the stack's own tokens takes from their distances.
    pub(super) distances: Option<Distances>,
    /// Applied to embeddings.
    pub(super) entry: Option<Norm>,
    pub(super) layers: Vec<L>,
    /// Applied to the last layer's states.
    pub(super) exit: Option<Norm>,
}

/// A number for each head and distance.
#[derive(Debug)]
pub(super) struct Distances {
    /// (heads, distances)
    pub(super) by_distance: Tensor,
    /// The column of distance 0.
    pub(super) zero: usize,
}

impl<L> Stack<L> {
    /// Embeddings of tokens at their positions: (R, D).
    pub(super) fn embed(
        &self,
        device: &Device,
        tokens: Lookup<'_>,
        positions: &[u32],
    ) -> Result<Tensor, NnError> {
        let lookup = |table| Lookup { table, ids: positions, scale: 1.0 };
        let lookups: Vec<Lookup<'_>> =
            [Some(tokens), self.positions.as_ref().map(lookup)].into_iter().flatten().collect();
        let x = embedding(device, &lookups)?;
        normalised(device, self.entry.as_ref(), x)
    }

    /// What the distances of rows at these positions add to their scores.
    pub(super) fn bias<'a>(&'a self, positions: &'a [u32]) -> Option<DistanceBias<'a>> {
        let Distances { by_distance, zero } = self.distances.as_ref()?;
        Some(DistanceBias { by_distance, zero: *zero, positions })
    }

    /// The last layer's states as they leave the stack.
    pub(super) fn leave(&self, device: &Device, x: Tensor) -> Result<Tensor, NnError> {
        normalised(device, self.exit.as_ref(), x)
    }
}

fn normalised(device: &Device, norm: Option<&Norm>, x: Tensor) -> Result<Tensor, NnError> {
    match norm {
        Some(norm) => norm.apply(device, x, None),
        None => Ok(x),
    }
}
