//! Matrix product on a GPU's matrix units, with weights and states of 16 bits and sums of 32.
//!
//! A device whose units are right ([`fault`] says what is not) multiplies every weight of 16 bits
//! so, whatever the number of rows. Sums are added in order of k, so a row's bits do not depend on
//! what stands beside it. States are rounded by [`half_rows`](super::half_rows), which divides rows
//! that 16 bits would not hold; weights so large are divided when they are loaded. Where operands
//! are rounded to the nearest, a product is within 2^-10 of the sum of the magnitudes of its terms,
//! and within 2^-10 + 2^-11 where the driver chooses the neighbour.

use std::fmt;

use super::finish_rows::Sums;
use super::half_rows::{HalfRows, depth, half_rows, place};
use super::matmul_half;
use super::matmul_tiled::{self, Resident};
use super::units_spelled_out::spelled_out;
use crate::engine::compute::gpu::{Buffer, Cost, Gpu, Shader};
use crate::engine::compute::{ComputeError, Tensor};

/// Rows and columns that operands are padded to.
pub(super) const TILE: usize = 64;

/// Rows that a workgroup computes.
const ROWS: usize = 128;

/// Columns that a workgroup computes.
const COLUMNS: usize = 64;

/// Rows, columns and terms of a fragment.
pub(super) const SIDE: usize = 16;

shader! {
    "matmul_cooperative", 128, MatrixUnits, [Read, Read, Write];
    struct Params {
        fragments: u32,
        output_stride: u32,
        first_column: u32,
        rows: u32,
        columns: u32,
        padding: [u32; 3],
    }
}

/// A weight `[out, in]` in a GPU's memory as 16-bit floats, padded with zeros to whole tiles.
#[derive(Debug, Clone)]
pub(super) struct UnitWeight {
    pub(super) gpu: Gpu,
    pub(super) outputs: usize,
    pub(super) inputs: usize,
    /// What its numbers were divided by, a power of two; 1 where 16 bits hold them.
    pub(super) factor: f32,
    /// Where the upload failed, the first product says so.
    pub(super) buffer: Result<Buffer, ComputeError>,
}

impl UnitWeight {
    /// Uploads a weight, once.
    pub(super) fn new(gpu: &Gpu, weight: &Tensor) -> Self {
        let (outputs, inputs) = (weight.rows(), weight.width());
        let (mut factor, depth) = (1.0, depth(inputs));
        let buffer = weight.host_data().and_then(|data| {
            let largest = data.iter().fold(0.0, |most: f32, number| most.max(number.abs()));
            while largest / factor > matmul_half::LARGEST {
                factor *= 2.0;
            }
            let mut padded = vec![0; outputs.next_multiple_of(TILE) * depth];
            for (row, numbers) in data.chunks_exact(inputs.max(1)).enumerate() {
                let divided: Vec<f32> = numbers.iter().map(|number| number / factor).collect();
                for (of_fragment, halves) in matmul_half::pack(&divided).chunks(SIDE).enumerate() {
                    let at = place(depth, row, of_fragment * SIDE);
                    padded[at..at + halves.len()].copy_from_slice(halves);
                }
            }
            gpu.upload(&padded)
        });
        Self { gpu: gpu.clone(), outputs, inputs, factor, buffer }
    }

    /// What failed when it was uploaded.
    pub(super) fn check(&self) -> Result<(), ComputeError> {
        self.buffer.clone().map(|_| ())
    }

    /// `input` (R, in) times the weight transposed, plus `bias` (out): (R, out).
    pub(super) fn multiply(
        &self,
        input: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Tensor, ComputeError> {
        self.sums(&half_rows(&self.gpu, input)?)?.finish(bias)
    }

    /// Rows (R, in) times the weight transposed.
    pub(super) fn sums(&self, rows: &HalfRows) -> Result<Sums, ComputeError> {
        self.by(if self.gpu.spells_units_out() { spelled_out() } else { &SHADER }, rows)
    }

    /// The same by a shader of the caller's choice.
    pub(super) fn by(
        &self,
        shader: &'static Shader,
        rows: &HalfRows,
    ) -> Result<Sums, ComputeError> {
        let Self { gpu, outputs, inputs, factor, .. } = self;
        let matrix = self.buffer.clone()?;
        let words = depth(*inputs) / 2;
        let (tiles, column_tiles) = (rows.rows.div_ceil(TILE), outputs.div_ceil(TILE));
        let stride = column_tiles * TILE;
        let sums = gpu.allocate(tiles * TILE * stride)?;
        // Whole tiles are cut apart, so what a part is padded with lies in no other.
        for of_rows in gpu.tiles(tiles, &[TILE * words, TILE * stride], gpu.most_workgroups())? {
            for of_columns in gpu.tiles(column_tiles, &[TILE * words], gpu.most_workgroups())? {
                let params = Params {
                    fragments: (depth(*inputs) / SIDE) as u32,
                    output_stride: stride as u32,
                    first_column: (of_columns.0 * TILE) as u32,
                    rows: (of_rows.1 * TILE).min(rows.rows - of_rows.0 * TILE) as u32,
                    columns: (of_columns.1 * TILE) as u32,
                    padding: [0; 3],
                };
                let grid =
                    [params.columns.div_ceil(COLUMNS as u32), params.rows.div_ceil(ROWS as u32), 1];
                let mut call = gpu.call(shader, 0)?;
                call.bind(gpu.rows(&rows.buffer, of_rows, TILE * words));
                call.bind(gpu.rows(&matrix, of_columns, TILE * words));
                call.bind(gpu.rows(&sums, of_rows, TILE * stride));
                let computed = [of_rows.1 * TILE, *inputs, of_columns.1 * TILE];
                call.costs(|| Cost::product(computed, 4 * of_columns.1 * TILE * words));
                call.run(&params, grid);
            }
        }
        Ok(Sums::new(gpu, rows, (sums, stride), *outputs, *factor))
    }
}

/// What is wrong with the products of a device's units.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine::compute) struct Fault {
    /// Rows, inputs and outputs.
    shape: [usize; 3],
    not_a_number: usize,
    infinite: usize,
    /// Finite, and another number than the device's other shaders compute.
    wrong: usize,
    /// Numbers that are others when the same product is computed again.
    unsteady: usize,
    /// Row and column of the first of them.
    first: [usize; 2],
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape: [rows, inputs, outputs], not_a_number, infinite, wrong, unsteady, first } =
            self;
        let [row, column] = first;
        write!(
            f,
            "of the {} numbers of a product {rows} x {inputs} x {outputs}, {not_a_number} are not a number, \
             {infinite} infinite, {wrong} wrong and {unsteady} others each time, first in row {row}, column \
             {column}",
            rows * outputs
        )
    }
}

/// Rows, inputs and outputs of the products that are compared: each a multiple of a tile or not,
/// less than a fragment, and more workgroups than a device runs at once.
const SHAPES: [[usize; 3]; 20] = [
    [1, 1, 1],
    [1, 7, 5],
    [1, 576, 192],
    [3, 16, 16],
    [5, 32, 64],
    [15, 17, 63],
    [16, 15, 65],
    [17, 33, 16],
    [20, 512, 512],
    [31, 48, 129],
    [63, 64, 64],
    [64, 63, 64],
    [64, 64, 63],
    [65, 65, 65],
    [127, 100, 140],
    [128, 576, 576],
    [150, 100, 140],
    [256, 1536, 576],
    [1023, 40, 300],
    [2048, 64, 2048],
];

/// How often each product is computed.
const REPEATS: usize = 3;

/// What the units of a device compute otherwise than its plain shader, on whole numbers whose sums
/// 32 bits hold: so not a bit may differ, in whatever order they are added.
///
/// # Errors
/// When the device fails, which says nothing of its units.
pub(in crate::engine::compute) fn fault(gpu: &Gpu) -> Result<Option<Fault>, ComputeError> {
    fault_of(gpu, &SHADER, &SHAPES)
}

fn fault_of(
    gpu: &Gpu,
    shader: &'static Shader,
    shapes: &[[usize; 3]],
) -> Result<Option<Fault>, ComputeError> {
    for &[rows, inputs, outputs] in shapes {
        let whole = |rows: usize, width: usize, step: usize| {
            let numbers = (0..rows * width).map(|i| (i * step % 2039 % 9) as f32 - 4.0);
            Tensor::new(&[rows, width], numbers.collect())
        };
        let (input, bias) = (whole(rows, inputs, 37)?, whole(1, outputs, 11)?);
        let weight = whole(outputs, inputs, 53)?;
        let plain = Resident::new(&gpu.with_half(false), &weight);
        let wanted =
            matmul_tiled::by(matmul_tiled::tiled, &plain, &input, Some(&bias))?.to_host()?;
        let weight = UnitWeight::new(gpu, &weight);
        let mut before: Option<Tensor> = None;
        for _ in 0..REPEATS {
            let states = half_rows(gpu, &input)?;
            let found = weight.by(shader, &states)?.finish(Some(&bias))?.to_host()?;
            let others = before.as_ref().unwrap_or(&found);
            let fault = compare([rows, inputs, outputs], [&found, &wanted, others]);
            if fault.is_some() {
                return Ok(fault);
            }
            before = Some(found);
        }
    }
    Ok(None)
}

/// How a product differs from the right one, and from the one before.
fn compare(shape: [usize; 3], [found, wanted, before]: [&Tensor; 3]) -> Option<Fault> {
    let mut fault =
        Fault { shape, not_a_number: 0, infinite: 0, wrong: 0, unsteady: 0, first: [0, 0] };
    let mut first = None;
    let numbers = found.data().iter().zip(wanted.data()).zip(before.data());
    for (at, ((found, wanted), before)) in numbers.enumerate() {
        let unsteady = found.to_bits() != before.to_bits();
        fault.unsteady += usize::from(unsteady);
        if found == wanted && !unsteady {
            continue;
        }
        first = first.or(Some([at / shape[2], at % shape[2]]));
        match found {
            found if found.is_nan() => fault.not_a_number += 1,
            found if found.is_infinite() => fault.infinite += 1,
            found => fault.wrong += usize::from(found != wanted),
        }
    }
    first.map(|first| Fault { first, ..fault })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::kernels::{Weight, matmul};
    use crate::engine::compute::{Device, Trial};
    use crate::engine::compute::{GpuOptions, adapters};

    /// A GPU with 16-bit floats, or a word past the harness, which keeps what tests print.
    fn gpu() -> Option<Gpu> {
        let place = adapters().iter().position(|adapter| adapter.half_precision);
        if place.is_none() {
            let why = b"the shader of matrix units is not tested: no adapter has 16-bit floats\n";
            std::io::Write::write_all(&mut std::io::stderr(), why).unwrap();
        }
        place.map(|place| Gpu::open(place, &GpuOptions::default()).unwrap())
    }

    #[test]
    fn the_shader_is_right_where_its_units_are_spelled_out() {
        let Some(gpu) = gpu() else { return };
        assert_eq!(fault_of(&gpu, spelled_out(), &SHAPES[..17]).unwrap(), None);
    }

    #[test]
    fn rows_keep_their_bits_whatever_stands_beside_them_and_do_not_overflow() {
        let Some(gpu) = gpu() else { return };
        let number = |i: usize, step: usize| (i * step % 2039) as f32 / 1024.0 - 1.0;
        let (inputs, outputs, most) = (100, 70, 150);
        // Rows of every magnitude that 32 bits have, among them one of zeros.
        let size = |row: usize| match row % 12 {
            0 => 0.0,
            place => 2f32.powi(20 * place as i32 - 120),
        };
        let rows: Vec<f32> = (0..most * inputs).map(|i| size(i / inputs) * number(i, 37)).collect();
        let weight = (0..outputs * inputs).map(|i| number(i, 53) * 1e6).collect();
        let weight = Tensor::new(&[outputs, inputs], weight).unwrap();
        let units = UnitWeight::new(&gpu, &weight);
        let product = |count: usize| {
            let input = Tensor::new(&[count, inputs], rows[..count * inputs].to_vec()).unwrap();
            let states = half_rows(&gpu, &input).unwrap();
            units.by(spelled_out(), &states).unwrap().finish(None).unwrap().to_host().unwrap()
        };
        let all = product(most);
        for count in [1, 4, 5, 63, 64, 65] {
            assert_eq!(product(count).data(), &all.data()[..count * outputs], "{count} rows");
        }
        let input = Tensor::new(&[most, inputs], rows.clone()).unwrap();
        let cpu = Device::Cpu { threads: 1 };
        let wanted = matmul(&cpu, &input, &Weight::new(&cpu, &weight), None).unwrap();
        for (row, (found, wanted)) in
            all.data().chunks(outputs).zip(wanted.data().chunks(outputs)).enumerate()
        {
            // Both operands are rounded: 2^-10 of the sum of at most `inputs` terms.
            let allowed = size(row) * 1e6 * inputs as f32 * 2f32.powi(-9);
            for (found, wanted) in found.iter().zip(wanted) {
                assert!((found - wanted).abs() <= allowed, "row {row}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn a_shader_that_computes_something_else_is_found_out() {
        let Some(gpu) = gpu() else { return };
        let whole = spelled_out();
        let broken = whole.source.replace("k += FRAGMENT", "k += 2u * FRAGMENT");
        assert_ne!(broken, whole.source);
        let broken = Shader { source: broken.leak(), ..*whole };
        let fault = fault_of(&gpu, Box::leak(Box::new(broken)), &[[4, 16, 4], [40, 64, 40]]);
        let fault = fault.unwrap().expect("every other term is missing");
        assert_eq!((fault.shape, fault.first), ([40, 64, 40], [0, 0]));
        let text = fault.to_string();
        assert!(text.contains("of the 1600 numbers") && text.contains("row 0, column 0"), "{text}");
    }

    #[test]
    fn rows_that_no_binding_holds_are_cut_at_tiles_and_none_is_lost() {
        let Some(place) = adapters().iter().position(|adapter| adapter.half_precision) else {
            return;
        };
        let trial = Trial { binding: Some(1 << 18), ..Trial::default() };
        let options = GpuOptions { trial, ..GpuOptions::default() };
        let gpu = Gpu::open(place, &options).unwrap();
        // The last part ends four rows into a fragment.
        let shapes = [[2100, 32, 20]];
        assert_eq!(fault_of(&gpu, spelled_out(), &shapes).unwrap(), None);
    }

    #[test]
    fn what_differs_is_counted_by_kind() {
        let tensor = |numbers: [f32; 6]| Tensor::new(&[2, 3], numbers.to_vec()).unwrap();
        let wanted = tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let found = tensor([1.0, f32::NAN, f32::INFINITY, 4.0, 0.0, 6.0]);
        assert_eq!(compare([2, 9, 3], [&wanted, &wanted, &wanted]), None);
        let fault = compare([2, 9, 3], [&found, &wanted, &found]).unwrap();
        let counts = [fault.not_a_number, fault.infinite, fault.wrong, fault.unsteady];
        assert_eq!((counts, fault.first), ([1, 1, 1, 0], [0, 1]));
        let other = tensor([1.0, 2.0, 3.0, 4.0, 5.0, 7.0]);
        let fault = compare([2, 9, 3], [&wanted, &wanted, &other]).unwrap();
        assert_eq!((fault.unsteady, fault.wrong, fault.first), (1, 0, [1, 2]));
    }
}
