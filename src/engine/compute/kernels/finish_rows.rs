//! What follows a product of scaled rows: the scale of each row, a bias, and the width that the
//! output has.

use super::half_rows::HalfRows;
use crate::engine::compute::gpu::{Buffer, Cost, Gpu, Window};
use crate::engine::compute::{ComputeError, Tensor};

shader! {
    "finish_rows", 128, [Read, Read, Read, Write];
    struct Params {
        rows: u32,
        columns: u32,
        stride: u32,
        has_bias: u32,
        in_place: u32,
        factor: f32,
        has_scales: u32,
        padding: u32,
    }
}

/// Sums of the products of some rows with a weight on matrix units: (R, C) in rows of `stride`
/// numbers, which are yet to be multiplied by what rows and weight were divided by.
#[derive(Debug)]
pub struct Sums {
    pub(super) gpu: Gpu,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) stride: usize,
    pub(super) buffer: Buffer,
    /// What each row was divided by, if any was.
    pub(super) scales: Option<Buffer>,
    /// What all numbers of the weight were divided by.
    pub(super) factor: f32,
}

impl Sums {
    /// Of the products of `rows` with a weight of so many columns, in `buffer`.
    pub(super) fn new(
        gpu: &Gpu,
        rows: &HalfRows,
        (buffer, stride): (Buffer, usize),
        columns: usize,
        factor: f32,
    ) -> Self {
        let (gpu, scales) = (gpu.clone(), rows.scales.clone());
        Self { gpu, rows: rows.rows, columns, stride, buffer, scales, factor }
    }

    /// The scales of some rows, or what stands in for them.
    pub(super) fn scales_of(&self, part: (usize, usize)) -> Window {
        match &self.scales {
            Some(scales) => self.gpu.rows(scales, part, 1),
            None => self.gpu.rows(&self.buffer, part, self.stride),
        }
    }

    /// The sums as they are, with scales, factor and bias: (R, C).
    ///
    /// # Errors
    /// When the GPU has no room or failed.
    pub fn finish(self, bias: Option<&Tensor>) -> Result<Tensor, ComputeError> {
        let Self { gpu, rows, columns, stride, buffer, .. } = &self;
        let (rows, columns, in_place) = (*rows, *columns, stride == columns);
        let is_ready = in_place && self.scales.is_none() && self.factor == 1.0 && bias.is_none();
        if is_ready {
            return Ok(Tensor::on_gpu(gpu, &[rows, columns], buffer.clone()));
        }
        let output = if in_place { buffer.clone() } else { gpu.allocate(rows * columns)? };
        let bias = bias.map(|bias| gpu.operand(bias)).transpose()?;
        // What is written may not be read through another binding.
        let stand_in = gpu.allocate(1)?;
        let stand_in = || gpu.rows(&stand_in, (0, 1), 1);
        for part in gpu.parts(rows, &[*stride, 1], usize::MAX)? {
            let params = Params {
                rows: part.1 as u32,
                columns: columns as u32,
                stride: *stride as u32,
                has_bias: u32::from(bias.is_some()),
                in_place: u32::from(in_place),
                factor: self.factor,
                has_scales: u32::from(self.scales.is_some()),
                padding: 0,
            };
            let mut call = gpu.call(&SHADER, 0)?;
            call.bind(if in_place { stand_in() } else { gpu.rows(buffer, part, *stride) });
            call.bind(match &self.scales {
                Some(scales) => gpu.rows(scales, part, 1),
                None => stand_in(),
            });
            call.bind(match &bias {
                Some(bias) => gpu.whole(bias, columns)?,
                None => stand_in(),
            });
            call.bind(gpu.rows(&output, part, columns));
            call.costs(|| Cost::moved(&[part.1, columns], part.1 * (stride + columns)));
            call.run(&params, gpu.grid(part.1));
        }
        Ok(Tensor::on_gpu(gpu, &[rows, columns], output))
    }
}
