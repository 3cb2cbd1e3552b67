//! Attention on a GPU for a decoder's step: one query for each list, a few dozens of keys.
//!
//! [`attention_gpu`](super::attention_gpu) chooses between this shader and that of
//! [`attention`](super::attention).

use super::Heads;
use crate::engine::compute::gpu::Gpu;

shader!("attention_step", 128, Nothing, super::attention::SHADER.bindings);

/// Rows of a workgroup, and the most heads, which share their keys.
const ROWS: usize = 2;
const HEADS: usize = 4;

/// Whether the shader takes heads of so many columns: it reads vectors of four numbers.
pub(super) fn takes(columns: usize) -> bool {
    columns.is_multiple_of(4)
}

/// Workgroups for so many rows.
pub(super) fn grid(gpu: &Gpu, rows: usize, heads: &Heads<'_>) -> [u32; 3] {
    let [x, y, _] = gpu.grid(rows.div_ceil(ROWS));
    [x, y, (heads.count / heads.sharing * heads.sharing.div_ceil(HEADS)) as u32]
}
