//! Product with a weight in blocks on a GPU, which reads the weight as it is packed and unpacks in
//! registers.
//!
//! The input stays in f32: what is saved is memory and the reading of it, which bounds products of
//! few rows.

use super::matmul_blocks::BlockPanels;
use crate::engine::compute::gpu::{Buffer, Cost, Gpu};
use crate::engine::compute::lanes::LANES;
use crate::engine::compute::{ComputeError, Tensor};
use std::sync::Arc;

/// Rows that one reading of the weight serves.
const ROWS: usize = 8;

shader! {
    "matmul_blocks", 256, [Read, Read, Read, Read, Read, Write];
    struct Params {
        rows: u32,
        inputs: u32,
        columns: u32,
        output_stride: u32,
        first_column: u32,
        lines: u32,
        line_inputs: u32,
        groups: u32,
        group_inputs: u32,
        zero: u32,
        has_least: u32,
        has_bias: u32,
    }
}

/// A weight in blocks in a GPU's memory.
#[derive(Clone)]
pub(super) struct ResidentBlocks {
    pub(super) gpu: Gpu,
    /// The same in the host's memory, which says how it is laid out.
    pub(super) panels: Arc<BlockPanels>,
    /// Integers, scales and least numbers; where the upload failed, the first product says so.
    pub(super) buffers: Result<[Buffer; 3], ComputeError>,
}

impl ResidentBlocks {
    /// Uploads a weight, once.
    pub(super) fn new(gpu: &Gpu, panels: Arc<BlockPanels>) -> Self {
        let (lines, scales, least) = panels.parts();
        let words = lines.iter().flat_map(|line| line.0).map(|four| {
            let four = four.map(i8::cast_unsigned);
            four.iter().rev().fold(0, |word: u32, byte| word << 8 | u32::from(*byte))
        });
        let words: Vec<u32> = words.collect();
        let numbers = |lines: &[crate::engine::compute::lanes::Line]| {
            lines.iter().flat_map(|line| line.0).collect::<Vec<f32>>()
        };
        let upload = || {
            let scales = gpu.upload(&numbers(scales))?;
            let least =
                if least.is_empty() { scales.clone() } else { gpu.upload(&numbers(least))? };
            Ok([gpu.upload(&words)?, scales, least])
        };
        let buffers = upload();
        Self { gpu: gpu.clone(), panels, buffers }
    }

    /// What failed when it was uploaded.
    pub(super) fn check(&self) -> Result<(), ComputeError> {
        self.buffers.clone().map(|_| ())
    }

    /// `input` (R, in) times the weight transposed, plus `bias`: (R, out).
    pub(super) fn multiply(
        &self,
        input: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Tensor, ComputeError> {
        let (gpu, panels) = (&self.gpu, &*self.panels);
        let [words, scales, least] = self.buffers.clone()?;
        let (rows, inputs, outputs) = (input.rows(), panels.inputs(), panels.outputs());
        let (lines, groups) = (panels.lines_of_strip(), panels.groups_of_strip());
        let input = gpu.operand(input)?;
        let bias = bias.map(|bias| gpu.operand(bias)).transpose()?;
        let output = gpu.allocate(rows * outputs)?;
        let most = ROWS * gpu.most_workgroups();
        for (first_row, rows) in gpu.parts(rows, &[inputs, outputs], most)? {
            let widths = [lines * LANES, groups * LANES];
            for strips in gpu.parts(outputs.div_ceil(LANES), &widths, usize::MAX)? {
                let first_column = strips.0 * LANES;
                let columns = (strips.1 * LANES).min(outputs - first_column);
                let params = Params {
                    rows: rows as u32,
                    inputs: inputs as u32,
                    columns: columns as u32,
                    output_stride: outputs as u32,
                    first_column: first_column as u32,
                    lines: lines as u32,
                    line_inputs: panels.inputs_of_line() as u32,
                    groups: groups as u32,
                    group_inputs: panels.group() as u32,
                    zero: u32::from(panels.zero()),
                    has_least: u32::from(!panels.parts().2.is_empty()),
                    has_bias: u32::from(bias.is_some()),
                };
                let mut call = gpu.call(&SHADER, 0)?;
                call.bind(gpu.rows(&input, (first_row, rows), inputs));
                call.bind(gpu.rows(&words, strips, widths[0]));
                call.bind(gpu.rows(&scales, strips, widths[1]));
                call.bind(gpu.rows(&least, strips, widths[1]));
                call.bind(match &bias {
                    Some(bias) => gpu.whole(bias, outputs)?,
                    None => gpu.rows(&scales, strips, widths[1]),
                });
                call.bind(gpu.rows(&output, (first_row, rows), outputs));
                let [x, y, _] = gpu.grid(strips.1);
                // Scales, and least numbers where there are any.
                let scales = if params.has_least > 0 { 2 * groups } else { groups };
                let of_strips = 4 * strips.1 * LANES * (lines + scales);
                call.costs(|| Cost::product([rows, inputs, columns], of_strips));
                call.run(&params, [x, y, rows.div_ceil(ROWS) as u32]);
            }
        }
        Ok(Tensor::on_gpu(gpu, &[rows, outputs], output))
    }
}
