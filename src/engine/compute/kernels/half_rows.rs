//! Rows as 16-bit floats, as matrix units read them.
//!
//! A row that 16 bits would not hold, or hold with few digits, is divided by a power of two, which
//! is exact, and the sums that it enters are multiplied by it (`finish_rows.rs`). So no state
//! overflows, whatever a network computes.

use super::matmul_cooperative::{SIDE, TILE};
use crate::engine::compute::gpu::{Buffer, Cost, Gpu, Window};
use crate::engine::compute::{ComputeError, Tensor};
use half::f16;

shader! {
    "half_rows", 128, Half, [Read, Write, Write];
    struct Params {
        rows: u32,
        width: u32,
        pairs: u32,
        padding: u32,
    }
}

/// Rows (R, K) on a GPU as 16-bit floats (R', K'), in which R' is a multiple of a tile of
/// `matmul_cooperative` and K' one of its fragments, as which they lie. Numbers beyond K are zero;
/// rows beyond R hold whatever lay there.
#[derive(Debug, Clone)]
pub struct HalfRows {
    pub(super) rows: usize,
    pub(super) width: usize,
    pub(super) buffer: Buffer,
    /// What each row was divided by (R); by nothing where there are none.
    pub(super) scales: Option<Buffer>,
}

/// Numbers of a row of `width` numbers that is padded to whole fragments.
pub(super) fn depth(width: usize) -> usize {
    width.next_multiple_of(SIDE)
}

/// Where a number of a matrix with so many numbers a row lies: fragments of [`SIDE`] rows and
/// columns are in one piece, row by row, and those of the same rows one after the other.
pub(super) fn place(depth: usize, row: usize, column: usize) -> usize {
    (row / SIDE * (depth / SIDE) + column / SIDE) * SIDE * SIDE + row % SIDE * SIDE + column % SIDE
}

/// Cuts rows into parts, as [`Gpu::parts`] does, that begin where a tile begins.
pub(super) fn tile_parts(
    gpu: &Gpu,
    rows: usize,
    widths: &[usize],
) -> Result<Vec<(usize, usize)>, ComputeError> {
    let widths: Vec<usize> = widths.iter().map(|width| width * TILE).collect();
    let parts = gpu.tiles(rows.div_ceil(TILE), &widths, usize::MAX)?;
    let in_rows =
        |(first, tiles): (usize, usize)| (first * TILE, (tiles * TILE).min(rows - first * TILE));
    Ok(parts.into_iter().map(in_rows).collect())
}

impl HalfRows {
    /// Rows that are yet to be written, with scales or without.
    pub(super) fn unwritten(
        gpu: &Gpu,
        rows: usize,
        width: usize,
        is_scaled: bool,
    ) -> Result<Self, ComputeError> {
        let buffer = gpu.allocate(rows.next_multiple_of(TILE) * depth(width) / 2)?;
        let scales = is_scaled.then(|| gpu.allocate(rows)).transpose()?;
        Ok(Self { rows, width, buffer, scales })
    }

    /// Some rows, which begin with a tile, and what pads the last of them to a whole one.
    pub(super) fn window(&self, gpu: &Gpu, (first, rows): (usize, usize)) -> Window {
        gpu.rows(&self.buffer, (first, rows.next_multiple_of(TILE)), self.pairs())
    }

    /// Pairs of numbers of a row.
    pub(super) fn pairs(&self) -> usize {
        depth(self.width) / 2
    }

    /// The numbers (R, K'), and what each row was divided by.
    pub(super) fn to_host(&self, gpu: &Gpu) -> Result<(Vec<f32>, Vec<f32>), ComputeError> {
        let (depth, rows) = (depth(self.width), self.rows.next_multiple_of(SIDE));
        let pairs: Vec<u32> = gpu.download(&self.buffer, rows * depth / 2)?;
        let halves: Vec<u16> =
            pairs.iter().flat_map(|pair| [*pair as u16, (pair >> 16) as u16]).collect();
        let number = |row, column| f16::from_bits(halves[place(depth, row, column)]).to_f32();
        let of_row = |row| (0..depth).map(move |column| number(row, column));
        let numbers = (0..self.rows).flat_map(of_row).collect();
        let scales = match &self.scales {
            Some(scales) => gpu.download(scales, self.rows)?,
            None => vec![1.0; self.rows],
        };
        Ok((numbers, scales))
    }

    /// The same rows, said to be divided by other numbers.
    pub(super) fn scaled(self, gpu: &Gpu, scales: &[f32]) -> Result<Self, ComputeError> {
        Ok(Self { scales: Some(gpu.upload(scales)?), ..self })
    }
}

/// Rounds rows (R, K) to 16 bits.
///
/// # Errors
/// When the GPU has no room or failed.
pub fn half_rows(gpu: &Gpu, input: &Tensor) -> Result<HalfRows, ComputeError> {
    let (rows, width) = (input.rows(), input.width());
    let from = gpu.operand(input)?;
    let states = HalfRows::unwritten(gpu, rows, width, true)?;
    let (pairs, scales) = (states.pairs(), states.scales.as_ref().expect("they are scaled"));
    for part in tile_parts(gpu, rows, &[width, pairs])? {
        let params =
            Params { rows: part.1 as u32, width: width as u32, pairs: pairs as u32, padding: 0 };
        let mut call = gpu.call(&SHADER, 0)?;
        call.bind(gpu.rows(&from, part, width));
        call.bind(states.window(gpu, part));
        call.bind(gpu.rows(scales, part, 1));
        call.costs(|| Cost::moved(&[part.1, width], part.1 * (width + pairs)));
        call.run(&params, gpu.grid(part.1));
    }
    Ok(states)
}
