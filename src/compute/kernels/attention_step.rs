//! Attention on a GPU for a decoder's step: one query for each list, a few dozens of keys.
//!
//! [`attention_gpu`](super::attention_gpu) chooses between this shader and that of
//! [`attention`](super::attention).

use super::attention::BINDINGS;
use crate::compute::gpu::{Needs, Shader};

pub(super) static SHADER: Shader = Shader {
    name: "attention_step",
    source: include_str!("../../../shaders/attention_step.wgsl"),
    workgroup_size: [64, 1, 1],
    needs: Needs::Nothing,
    bindings: &BINDINGS,
};

/// Whether the shader takes heads of so many columns: it reads vectors of four numbers.
pub(super) fn takes(columns: usize) -> bool {
    columns.is_multiple_of(4)
}
