//! Rows of a weight that lies in 16 bits for matrix units: the tokens of a language model, whose
//! table may also be its projection.
//!
//! [`Weight::look_up`](super::Weight::look_up) is the kernel.

use super::half_rows::depth;
use super::matmul_cooperative::{SIDE, TILE, UnitWeight};
use crate::engine::compute::gpu::Cost;
use crate::engine::compute::{ComputeError, Tensor};

shader! {
    "embedding_half", 256, Half, [Words, Read, Write];
    struct Params {
        rows: u32,
        width: u32,
        ids: u32,
        first_row: u32,
        table_rows: u32,
        fragments: u32,
        factor: f32,
        padding: u32,
    }
}

/// The rows that `ids` (R) name, times `factor`: (R, D).
pub(super) fn gpu(table: &UnitWeight, ids: &[u32], factor: f32) -> Result<Tensor, ComputeError> {
    let UnitWeight { gpu, outputs, inputs, .. } = table;
    let (matrix, width) = (table.buffer.clone()?, *inputs);
    let output = Tensor::unwritten(gpu, ids.len(), width)?;
    let to = gpu.operand(&output)?;
    let tile = TILE * depth(width) / 2;
    for part in gpu.parts(ids.len(), &[width], usize::MAX)? {
        let ids = &ids[part.0..part.0 + part.1];
        for tiles in gpu.tiles(outputs.div_ceil(TILE), &[tile], usize::MAX)? {
            let (mut call, [place]) = gpu.call_with(&SHADER, [ids], 0)?;
            let params = Params {
                rows: part.1 as u32,
                width: width as u32,
                ids: place,
                first_row: (tiles.0 * TILE) as u32,
                table_rows: (tiles.1 * TILE) as u32,
                fragments: (depth(width) / SIDE) as u32,
                factor: factor * table.factor,
                padding: 0,
            };
            call.bind(gpu.rows(&matrix, tiles, tile));
            call.bind(gpu.rows(&to, part, width));
            call.costs(|| Cost::moved(&[part.1, width], 2 * part.1 * width));
            call.run(&params, gpu.grid((part.1 * width).div_ceil(256)));
        }
    }
    Ok(output)
}
