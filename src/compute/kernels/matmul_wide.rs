//! Matrix product on a GPU in tiles of 128 x 128, for many rows.
//!
//! [`matmul_tiled`](super::matmul_tiled) chooses between this shader and its own.

use super::matmul_tiled::{BINDINGS, Block, in_tiles};
use crate::compute::ComputeError;
use crate::compute::gpu::{Needs, Shader};

/// Rows and columns that a workgroup computes.
const TILE: usize = 128;

pub(super) static SHADER: Shader = Shader {
    name: "matmul_wide",
    source: include_str!("../../../shaders/matmul_wide.wgsl"),
    workgroup_size: [256, 1, 1],
    needs: Needs::Nothing,
    bindings: &BINDINGS,
};

pub(super) fn gpu(block: Block<'_>) -> Result<(), ComputeError> {
    in_tiles(block, &SHADER, TILE)
}
