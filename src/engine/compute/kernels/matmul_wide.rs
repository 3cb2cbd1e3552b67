//! Matrix product on a GPU in tiles of 128 x 128, for many rows.
//!
//! [`matmul_tiled`](super::matmul_tiled) chooses between this shader and its own.

use super::matmul_tiled::{Block, in_tiles};
use crate::engine::compute::ComputeError;

/// Rows and columns that a workgroup computes.
const TILE: usize = 128;

shader!("matmul_wide", 256, Nothing, super::matmul_tiled::SHADER.bindings);

pub(super) fn gpu(block: Block<'_>) -> Result<(), ComputeError> {
    in_tiles(block, &SHADER, TILE)
}
