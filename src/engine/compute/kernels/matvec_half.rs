//! Product of a few rows with a weight of 16 bits on a GPU.
//!
//! [`matmul_tiled`](super::matmul_tiled) chooses among the shaders of a product; what 16 bits cost
//! is said in [`matmul_half`](super::matmul_half).

use super::matmul_tiled::Block;
use super::matvec::by_columns;
use crate::engine::compute::ComputeError;

shader!("matvec_half" = "matvec" of f16, 256, super::matvec::SHADER.bindings);

pub(super) fn gpu(block: Block<'_>) -> Result<(), ComputeError> {
    by_columns(block, &SHADER)
}
