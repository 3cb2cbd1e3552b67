//! Product of a few rows with a weight on a GPU, bound by reading the weight.
//!
//! [`matmul_tiled`](super::matmul_tiled) chooses between this shader and its own.

use super::matmul_tiled::Block;
use crate::engine::compute::ComputeError;
use crate::engine::compute::gpu::{Cost, Shader};

/// Columns of a workgroup.
const COLUMNS: usize = 8;

/// Rows that one reading of the weight serves.
const ROWS: usize = 4;

shader! {
    "matvec" of f32, 256, [Read, Read, Read, Write];
    struct Params {
        rows: u32,
        inputs: u32,
        columns: u32,
        weight_stride: u32,
        output_stride: u32,
        first_column: u32,
        has_bias: u32,
        padding: u32,
    }
}

pub(super) fn gpu(block: Block<'_>) -> Result<(), ComputeError> {
    by_columns(block, &SHADER)
}

/// Calls a shader that computes eight columns of four rows.
pub(super) fn by_columns(block: Block<'_>, shader: &'static Shader) -> Result<(), ComputeError> {
    let Block { gpu, weight, rows, outputs: (first, columns), .. } = block;
    let params = Params {
        rows: rows as u32,
        inputs: weight.inputs as u32,
        columns: columns as u32,
        weight_stride: (weight.stride() / 4) as u32,
        output_stride: weight.outputs as u32,
        first_column: first as u32,
        has_bias: u32::from(block.bias.is_some()),
        padding: 0,
    };
    let mut call = gpu.call(shader, 0)?;
    call.bind(block.input);
    call.bind(block.matrix.clone());
    call.bind(block.bias.unwrap_or(block.matrix));
    call.bind(block.output);
    let [x, y, _] = gpu.grid(columns.div_ceil(COLUMNS));
    call.costs(|| Cost::product([rows, weight.inputs, columns], weight.bytes(columns)));
    call.run(&params, [x, y, rows.div_ceil(ROWS) as u32]);
    Ok(())
}
