//! The product of `matmul.rs` in integers of 8 bits.
//!
//! A weight's row is kept as 8-bit integers with one scale, as a file may store it. A row of the
//! input is rounded to 8 bits when it comes, by a scale of its own: `scale = max |x| / 127`. The
//! sum of products is exact in 32 bits, and only then multiplied by both scales:
//!
//! `output[r][o] = bias[o] + (sum_i input8[r][i] * weight8[o][i]) * (scale[r] * scale[o])`
//!
//! Dettmers et al. (2022), LLM.int8(), section 2.2, vector-wise; the same as CTranslate2's `int8`.
//! Since integers are exact and each row has its own scale, results are the same bits in every
//! batch, on every number of threads, and on every processor. A row with a number that is not
//! finite gives NaN.

#![allow(unsafe_code, reason = "threads write disjoint columns of one row-major matrix")]

use super::matmul::{PANEL, PANEL_LINES, Shape, Target, Tile, cut, for_each_block};
use crate::engine::compute::lanes::dots::{ByteLine, DotWork, Dots, FOUR, dispatch};
use crate::engine::compute::lanes::{LANES, Lanes};
use crate::engine::compute::{ComputeError, Tensor};
use std::ops::Range;

/// The largest 8-bit number; -128 is not used, so that numbers and their negatives are alike.
const LARGEST: f32 = 127.0;

/// Inputs of the widest product that cannot overflow 32 bits, with an operand without a sign.
const WIDEST: usize = (i32::MAX / (255 * 127)) as usize;

/// A matrix `[out, in]` of 8-bit integers with a scale for each row:
/// `weight[o][i] = value[o][i] * scale[o]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantized {
    inputs: usize,
    values: Vec<i8>,
    scales: Vec<f32>,
}

impl Quantized {
    /// A matrix of existing numbers, -127 to 127, row by row.
    ///
    /// # Errors
    /// When there is no scale for each row, or a row is too wide to be summed in 32 bits.
    pub fn new(inputs: usize, values: Vec<i8>, scales: Vec<f32>) -> Result<Self, ComputeError> {
        let refuse = |operand, expected, found| {
            Err(ComputeError::Shape { op: "an 8-bit matrix", operand, expected, found })
        };
        if inputs > WIDEST {
            return refuse("inputs", vec![WIDEST], vec![inputs]);
        }
        if values.len() != inputs * scales.len() {
            return refuse("values", vec![scales.len(), inputs], vec![values.len()]);
        }
        Ok(Self { inputs, values, scales })
    }

    /// Rounds a matrix `[out, in]` to 8 bits, each row by its largest number.
    ///
    /// # Errors
    /// When a row is too wide to be summed in 32 bits.
    pub fn round(weight: &Tensor) -> Result<Self, ComputeError> {
        let mut values = vec![0; weight.data().len()];
        let mut scales = Vec::with_capacity(weight.rows());
        for (row, to) in weight.data().chunks(weight.width()).zip(values.chunks_mut(weight.width()))
        {
            let largest = row.iter().fold(0.0f32, |largest, x| largest.max(x.abs()));
            let (scale, factor) = scale(largest);
            for (x, to) in row.iter().zip(to) {
                *to = rounded(*x, factor).cast_signed();
            }
            scales.push(scale);
        }
        Self::new(weight.width(), values, scales)
    }

    /// The matrix in f32.
    pub(super) fn to_f32(&self) -> Tensor {
        let mut tensor = Tensor::zeros(self.outputs(), self.inputs);
        let rows = tensor.data_mut().chunks_mut(self.inputs.max(1));
        for ((to, from), scale) in
            rows.zip(self.values.chunks(self.inputs.max(1))).zip(&self.scales)
        {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = f32::from(*from) * scale);
        }
        tensor
    }

    pub(super) fn outputs(&self) -> usize {
        self.scales.len()
    }

    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    fn row(&self, output: usize) -> &[i8] {
        &self.values[output * self.inputs..(output + 1) * self.inputs]
    }
}

/// The scale of a row with this largest number, and what its numbers are multiplied by to be
/// rounded. A row of numbers that vanish counts as zeros: the factor would overflow.
#[inline(always)]
pub(super) fn scale(largest: f32) -> (f32, f32) {
    if largest < 1e-30 { (0.0, 0.0) } else { (largest / LARGEST, LARGEST / largest) }
}

/// `x * factor` to the nearest integer, ties to even, in two's complement; at most 127 in size.
#[inline(always)]
pub(super) fn rounded(x: f32, factor: f32) -> u8 {
    // Adding 1.5 * 2^23 pushes the fraction out of the significand and leaves the integer below.
    const MAGIC: f32 = 12_582_912.0;
    (x * factor + MAGIC).to_bits() as u8
}

/// A [`Quantized`] matrix, packed.
#[derive(Clone)]
pub(super) struct Panels8 {
    /// (panel, inputs / 4, 2) lines; outputs beyond the last, and inputs beyond the last, are zero.
    lines: Vec<ByteLine>,
    /// Scales and sums of each panel's rows.
    scales: Vec<[f32; PANEL]>,
    sums: Vec<[i32; PANEL]>,
}

impl Panels8 {
    pub(super) fn new(weight: &Quantized) -> Self {
        let panels = weight.outputs().div_ceil(PANEL);
        let panel_lines = weight.inputs.div_ceil(FOUR) * PANEL_LINES;
        let mut packed = Self {
            lines: vec![ByteLine([[0; FOUR]; LANES]); panels * panel_lines],
            scales: vec![[0.0; PANEL]; panels],
            sums: vec![[0; PANEL]; panels],
        };
        for (output, scale) in weight.scales.iter().enumerate() {
            let (panel, column) = (output / PANEL, output % PANEL);
            for (four, values) in weight.row(output).chunks(FOUR).enumerate() {
                let line = panel * panel_lines + four * PANEL_LINES + column / LANES;
                packed.lines[line].0[column % LANES][..values.len()].copy_from_slice(values);
            }
            packed.scales[panel][column] = *scale;
            packed.sums[panel][column] =
                weight.row(output).iter().map(|value| i32::from(*value)).sum();
        }
        packed
    }

    /// The product with `input` (R, in), plus `bias` (out), into a matrix (R, out).
    pub(super) fn multiply(
        &self,
        threads: usize,
        shape: Shape,
        input: &Tensor,
        bias: Option<&[f32]>,
        target: &Target,
    ) {
        multiply_by(self, threads, (shape, input, bias), target);
    }
}

/// One task: some rows by some panels of a weight in integers.
pub(super) struct Block<'a, W> {
    pub(super) shape: Shape,
    pub(super) input: &'a Tensor,
    pub(super) weight: &'a W,
    pub(super) bias: Option<&'a [f32]>,
    pub(super) rows: Range<usize>,
    /// Numbers of panels.
    pub(super) group: Range<usize>,
    pub(super) target: &'a Target,
}

/// The product of an input (R, in) with a weight in integers, plus a bias (out), into a matrix (R,
/// out).
pub(super) fn multiply_by<W: Sync>(
    weight: &W,
    threads: usize,
    (shape, input, bias): (Shape, &Tensor, Option<&[f32]>),
    target: &Target,
) where
    for<'a> Block<'a, W>: DotWork,
{
    for_each_block(threads, shape, size_of::<i8>(), |rows, group| {
        dispatch(Block { shape, input, weight, bias, rows, group, target });
    });
}

impl DotWork for Block<'_, Panels8> {
    type Output = ();

    #[inline(always)]
    fn run<D: Dots>(self, dots: D) {
        let fours = self.shape.inputs.div_ceil(FOUR);
        let tiles: Vec<Tile> = cut(self.rows.clone(), D::TILE.0);
        let mut packed = vec![[0; FOUR]; self.rows.len() * fours];
        let mut scales = Vec::with_capacity(self.rows.len());
        let mut row8 = vec![[0; FOUR]; fours];
        for tile in &tiles {
            let to = &mut packed[tile.part(&self.rows, fours)];
            for r in 0..tile.height {
                let row = self.input.row(tile.first + r);
                scales.push(round_row(dots, row, row8.as_flattened_mut()));
                // The tile's rows are interleaved: `to[i][r] = row8[i]`.
                for (four, to) in row8.iter().zip(to[r..].iter_mut().step_by(tile.height)) {
                    *to = *four;
                }
            }
        }
        let lines = fours * PANEL_LINES;
        let near = self.shape.near_panels(size_of::<i8>());
        for first in self.group.clone().step_by(near) {
            for tile in &tiles {
                let rows = &packed[tile.part(&self.rows, fours)];
                let scales = &scales[tile.part(&self.rows, 1)];
                for panel in first..(first + near).min(self.group.end) {
                    let columns = &self.weight.lines[panel * lines..(panel + 1) * lines];
                    self.tile(dots, tile, (rows, scales), panel, columns);
                }
            }
        }
    }
}

/// Rounds a row to 8 bits and returns its scale; NaN when one of its numbers is not finite.
#[inline(always)]
fn round_row<D: Dots>(dots: D, row: &[f32], to: &mut [u8]) -> f32 {
    let lanes = dots.floats();
    let zero = lanes.splat(0.0);
    let (mut largest, mut broken) = (zero, zero);
    for part in row.chunks(LANES) {
        let x = lanes.load_part(part, 0.0);
        largest = lanes.max(lanes.max(x, lanes.sub(zero, x)), largest);
        // Zero, unless a number is not finite.
        broken = lanes.fma(x, zero, broken);
    }
    let (scale, factor) = scale(lanes.fold(largest, f32::max));
    for (x, to) in row.iter().zip(to) {
        *to = rounded(*x, factor) ^ D::OFFSET;
    }
    scale + lanes.sum(broken)
}

impl Block<'_, Panels8> {
    /// Calls the code for the tile's height.
    #[inline(always)]
    fn tile<D: Dots>(
        &self,
        dots: D,
        tile: &Tile,
        (rows, scales): (&[[u8; FOUR]], &[f32]),
        panel: usize,
        columns: &[ByteLine],
    ) {
        macro_rules! heights {
            ($($height:literal)*) => {
                match tile.height {
                    $($height if $height <= D::TILE.0 => {
                        if D::TILE.1 == 2 {
                            let start = self.start::<D, 2>(dots, panel, 0);
                            let sums = product::<D, $height, 2>(dots, rows, columns, 0, start);
                            self.store(dots, tile, scales, (panel, 0), sums);
                        } else {
                            for line in 0..PANEL_LINES {
                                let start = self.start::<D, 1>(dots, panel, line);
                                let sums =
                                    product::<D, $height, 1>(dots, rows, columns, line, start);
                                self.store(dots, tile, scales, (panel, line), sums);
                            }
                        }
                    })*
                    height => unreachable!("no tile has {height} rows"),
                }
            };
        }
        heights!(1 2 3 4 5 6 7 8 9 10 11 12)
    }

    /// What sums begin with, so that the offset of the rows' numbers goes away.
    #[inline(always)]
    fn start<D: Dots, const C: usize>(&self, dots: D, panel: usize, line: usize) -> [D::Sums; C] {
        let sums = self.weight.sums[panel].as_chunks::<LANES>().0;
        let mut starts = [dots.start(&[0; LANES]); C];
        for (start, sums) in starts.iter_mut().zip(&sums[line..]) {
            let mut less = [0; LANES];
            for (less, sum) in less.iter_mut().zip(sums) {
                *less = -i32::from(D::OFFSET) * sum;
            }
            *start = dots.start(&less);
        }
        starts
    }

    /// Scales the sums, adds the bias and writes the columns that exist.
    #[inline(always)]
    fn store<D: Dots, const R: usize, const C: usize>(
        &self,
        dots: D,
        tile: &Tile,
        row_scales: &[f32],
        (panel, line): (usize, usize),
        sums: [[D::Sums; C]; R],
    ) {
        let lanes = dots.floats();
        for c in 0..C {
            let from = panel * PANEL + (line + c) * LANES;
            let to = (from + LANES).min(self.shape.outputs);
            if from >= to {
                break;
            }
            let bias = match self.bias {
                Some(bias) => lanes.load_part(&bias[from..to], 0.0),
                None => lanes.splat(0.0),
            };
            let scales = lanes.load(&self.weight.scales[panel].as_chunks().0[line + c]);
            for (r, sums) in sums.iter().enumerate() {
                let scales = lanes.mul(lanes.splat(row_scales[r]), scales);
                let scaled = lanes.mul(dots.to_floats(sums[c]), scales);
                // SAFETY: the row is below the result's rows and the columns below its width; a
                // block owns its rows and panels, and each of its tiles is stored once.
                let part = unsafe { self.target.row_part(tile.first + r, from, to) };
                lanes.write_part(part, lanes.add(scaled, bias));
            }
        }
    }
}

/// The sums of products of `R` interleaved rows with `C` vectors of a panel's columns, from vector
/// `line`.
#[inline(always)]
fn product<D: Dots, const R: usize, const C: usize>(
    dots: D,
    rows: &[[u8; FOUR]],
    columns: &[ByteLine],
    line: usize,
    start: [D::Sums; C],
) -> [[D::Sums; C]; R] {
    let mut sums = [start; R];
    let rows = rows.as_chunks::<R>().0;
    let columns = columns.as_chunks::<PANEL_LINES>().0;
    for (row, column) in rows.iter().zip(columns) {
        // No closure: one may be compiled without the instruction set.
        let mut bytes = [dots.load(&column[line]); C];
        for c in 1..C {
            bytes[c] = dots.load(&column[line + c]);
        }
        for r in 0..R {
            let four = dots.splat(&row[r]);
            for c in 0..C {
                sums[r][c] = dots.dot(four, bytes[c], sums[r][c]);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use proptest::prelude::*;

    use super::super::matmul::overwrite;
    use super::super::{Weight, matmul};
    use super::*;
    use crate::engine::compute::Device;
    use crate::engine::compute::lanes::dots::on_each;

    const ONE: Device = Device::Cpu { threads: 1 };

    fn tensor(rows: usize, width: usize, seed: u32) -> Tensor {
        let mut state = seed;
        let data = (0..rows * width)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / (1 << 23) as f32 - 1.0
            })
            .collect();
        Tensor::new(&[rows, width], data).unwrap()
    }

    fn product(device: &Device, input: &Tensor, weight: &Quantized) -> Tensor {
        matmul(device, input, &Weight::int8(device, weight), None).unwrap()
    }

    /// The definition, in the order of the page.
    fn oracle(input: &Tensor, weight: &Quantized) -> Vec<f32> {
        let mut outputs = Vec::new();
        for r in 0..input.rows() {
            let row = input.row(r);
            let largest = row.iter().map(|x| x.abs()).fold(0.0, f32::max);
            let (scale, factor) = (largest / 127.0, 127.0 / largest);
            for o in 0..weight.outputs() {
                let products = row
                    .iter()
                    .zip(weight.row(o))
                    .map(|(x, w)| (x * factor).round_ties_even() as i64 * i64::from(*w));
                outputs.push(products.sum::<i64>() as f32 * (scale * weight.scales[o]));
            }
        }
        outputs
    }

    #[test]
    fn a_product_done_by_hand() {
        // 127 steps of 0.01 and half as many: 63.5 rounds to 64.
        let input = Tensor::new(&[1, 2], vec![1.27, 0.635]).unwrap();
        let weight = Quantized::new(2, vec![1, 0, 0, -2], vec![2.0, 0.5]).unwrap();
        let bias = Tensor::new(&[2], vec![10.0, 0.0]).unwrap();
        let weight = Weight::int8(&ONE, &weight);
        let output = matmul(&ONE, &input, &weight, Some(&bias)).unwrap();
        for (got, want) in output.data().iter().zip([10.0 + 2.0 * 1.27, -0.64]) {
            assert!((got - want).abs() < 1e-6, "{got} {want}");
        }
    }

    #[test]
    fn rows_that_vanish_give_the_bias_and_broken_rows_give_nan() {
        let weight = Quantized::round(&tensor(5, 40, 1)).unwrap();
        let mut data = vec![1e-37; 40];
        assert_eq!(
            product(&ONE, &Tensor::new(&[1, 40], data.clone()).unwrap(), &weight).data(),
            [0.0; 5]
        );
        for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for place in [0, 17, 39] {
                data.fill(0.5);
                data[place] = broken;
                let row = Tensor::new(&[1, 40], data.clone()).unwrap();
                assert!(product(&ONE, &row, &weight).data().iter().all(|x| x.is_nan()));
            }
        }
    }

    #[test]
    fn the_largest_numbers_overflow_nothing() {
        let weight = Quantized::new(4096, vec![-127; 4096], vec![1.0]).unwrap();
        for sign in [1.0, -1.0] {
            let input = Tensor::new(&[1, 4096], vec![127.0 * sign; 4096]).unwrap();
            let want = -127.0 * 127.0 * 4096.0 * sign;
            assert_eq!(product(&ONE, &input, &weight).data(), [want]);
        }
    }

    #[test]
    fn rounding_what_is_8_bit_already_changes_nothing() {
        let weight = Quantized::round(&tensor(7, 30, 3)).unwrap();
        let numbers = (0..7).flat_map(|o| weight.row(o).iter().map(move |w| (o, *w)));
        let numbers = numbers.map(|(o, w)| f32::from(w) * weight.scales[o]).collect();
        let again = Quantized::round(&Tensor::new(&[7, 30], numbers).unwrap()).unwrap();
        assert_eq!(again.values, weight.values);
    }

    #[test]
    fn matrices_that_cannot_be_are_refused() {
        assert!(Quantized::new(3, vec![0; 6], vec![1.0; 2]).is_ok());
        let error = Quantized::new(3, vec![0; 5], vec![1.0; 2]).unwrap_err().to_string();
        assert!(error.contains("`values`") && error.contains("[2, 3]"), "{error}");
        let error = Quantized::new(WIDEST + 1, Vec::new(), Vec::new()).unwrap_err().to_string();
        assert!(error.contains("`inputs`"), "{error}");
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        // Rows for every height of a tile, inputs and outputs that end inside a vector.
        for rows in 1..=13 {
            let input = tensor(rows, 37, 1);
            let weight = Quantized::round(&tensor(75, 37, 2)).unwrap();
            struct Whole<'a>(&'a Tensor, &'a Panels8);
            impl DotWork for Whole<'_> {
                type Output = Vec<f32>;
                #[inline(always)]
                fn run<D: Dots>(self, dots: D) -> Vec<f32> {
                    let Self(input, weight) = self;
                    let shape = Shape { rows: input.rows(), inputs: 37, outputs: 75 };
                    let mut output = Tensor::zeros(0, shape.outputs);
                    let multiply = |result: &mut [MaybeUninit<f32>]| {
                        let target = &Target::new(result, shape.outputs);
                        let (rows, group) = (0..shape.rows, 0..3);
                        Block { shape, input, weight, bias: None, rows, group, target }.run(dots);
                    };
                    // SAFETY: the block is the whole result.
                    unsafe { overwrite(&mut output, shape.rows, multiply).unwrap() };
                    output.into_data()
                }
            }
            let panels = Panels8::new(&weight);
            let want = oracle(&input, &weight);
            for output in on_each(|| Whole(&input, &panels)) {
                assert_eq!(output, want);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn it_is_the_exact_sum_of_rounded_numbers(
            rows in 1usize..200, inputs in 1usize..300, outputs in 1usize..300,
            threads in 1usize..4, seed: u32,
        ) {
            let input = tensor(rows, inputs, seed);
            let weight = Quantized::round(&tensor(outputs, inputs, !seed)).unwrap();
            let output = product(&Device::Cpu { threads }, &input, &weight);
            prop_assert_eq!(output.data(), oracle(&input, &weight));
        }

        #[test]
        fn it_is_as_far_from_the_product_in_f32_as_rounding_takes_it(
            rows in 1usize..20, inputs in 1usize..300, outputs in 1usize..40, seed: u32,
        ) {
            let (input, weight) = (tensor(rows, inputs, seed), tensor(outputs, inputs, !seed));
            let output = product(&ONE, &input, &Quantized::round(&weight).unwrap());
            let step = |row: &[f32]| row.iter().map(|x| x.abs()).fold(0.0, f32::max) / 127.0;
            for r in 0..rows {
                for o in 0..outputs {
                    let (x, w) = (input.row(r), weight.row(o));
                    // Each factor is off by half a step.
                    let (dx, dw) = (step(x) / 2.0 * 1.001, step(w) / 2.0 * 1.001);
                    let off = x.iter().zip(w).map(|(x, w)| x.abs() * dw + w.abs() * dx + dx * dw);
                    let sum: f32 = x.iter().zip(w).map(|(x, w)| x * w).sum();
                    let bound = off.sum::<f32>() + 1e-4;
                    prop_assert!((output.row(r)[o] - sum).abs() <= bound);
                }
            }
        }
    }
}
