//! Rows of a table in blocks on a GPU, unpacked there: the tokens of a language model, whose table
//! may also be its projection.
//!
//! [`Weight::look_up`](super::Weight::look_up) is the kernel; its CPU code unpacks row by row.

use super::matmul_blocks_gpu::ResidentBlocks;
use crate::engine::compute::gpu::Cost;
use crate::engine::compute::lanes::LANES;
use crate::engine::compute::{ComputeError, Tensor};

shader! {
    "embedding_blocks", 256, [Words, Read, Read, Read, Write];
    struct Params {
        rows: u32,
        width: u32,
        ids: u32,
        first_row: u32,
        table_rows: u32,
        starts: u32,
        factor: f32,
        lines: u32,
        line_inputs: u32,
        groups: u32,
        group_inputs: u32,
        zero: u32,
        has_least: u32,
        padding: [u32; 3],
    }
}

/// The rows that `ids` (R) name, times `factor`: (R, D).
pub(super) fn gpu(
    table: &ResidentBlocks,
    ids: &[u32],
    factor: f32,
) -> Result<Tensor, ComputeError> {
    let (gpu, panels) = (&table.gpu, &*table.panels);
    let [integers, scales, least] = table.buffers.clone()?;
    let (width, outputs) = (panels.inputs(), panels.outputs());
    let (lines, groups) = (panels.lines_of_strip(), panels.groups_of_strip());
    let output = Tensor::unwritten(gpu, ids.len(), width)?;
    let to = gpu.operand(&output)?;
    for part in gpu.parts(ids.len(), &[width], usize::MAX)? {
        let ids = &ids[part.0..part.0 + part.1];
        let widths = [lines * LANES, groups * LANES];
        for strips in gpu.parts(outputs.div_ceil(LANES), &widths, usize::MAX)? {
            let (mut call, [place]) = gpu.call_with(&SHADER, [ids], 0)?;
            let params = Params {
                rows: part.1 as u32,
                width: width as u32,
                ids: place,
                first_row: (strips.0 * LANES) as u32,
                table_rows: (strips.1 * LANES) as u32,
                starts: u32::from(strips.0 == 0),
                factor,
                lines: lines as u32,
                line_inputs: panels.inputs_of_line() as u32,
                groups: groups as u32,
                group_inputs: panels.group() as u32,
                zero: u32::from(panels.zero()),
                has_least: u32::from(!panels.parts().2.is_empty()),
                padding: [0; 3],
            };
            call.bind(gpu.rows(&integers, strips, widths[0]));
            call.bind(gpu.rows(&scales, strips, widths[1]));
            call.bind(gpu.rows(&least, strips, widths[1]));
            call.bind(gpu.rows(&to, part, width));
            call.costs(|| Cost::moved(&[part.1, width], part.1 * width));
            call.run(&params, gpu.grid((part.1 * width).div_ceil(256)));
        }
    }
    Ok(output)
}
