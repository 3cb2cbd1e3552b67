//! Product of a few rows with a weight of 16 bits on a GPU.
//!
//! [`matmul_tiled`](super::matmul_tiled) chooses among the shaders of a product; what 16 bits cost is
//! said in [`matmul_half`](super::matmul_half).

use super::matmul_tiled::Block;
use super::matvec::{BINDINGS, by_columns};
use crate::compute::ComputeError;
use crate::compute::gpu::{Needs, Shader};

pub(super) static SHADER: Shader = Shader {
    name: "matvec_half",
    source: include_str!("../../../shaders/matvec_half.wgsl"),
    workgroup_size: [256, 1, 1],
    needs: Needs::Half,
    bindings: &BINDINGS,
};

pub(super) fn gpu(block: Block<'_>) -> Result<(), ComputeError> {
    by_columns(block, &SHADER)
}
