//! Matrix product with a weight: `output[r][o] = bias[o] + sum_i input[r][i] * weight[o][i]`.
//!
//! This file has the product in f32, and what it shares with those in 8 bits (`matmul8.rs`) and in
//! blocks (`matmul_blocks.rs`).
//!
//! Weights are stored `[out, in]`, as PyTorch stores a linear layer, and packed once at load into
//! panels of 32 outputs, so that the inner loop reads memory in order. A tile of up to 12 rows by
//! 32 outputs lives in registers while `i` runs over the whole inner dimension. So every output
//! element is one chain of fused multiply-adds from `i = 0` to the end, in a tile of any height.
//! That makes the product batch-invariant. General libraries choose another kernel, and another
//! order, for few rows.

#![allow(unsafe_code, reason = "threads write disjoint columns of one row-major matrix")]

use super::matmul_tiled;
use super::weight::{Packed, Weight};
use crate::engine::compute::lanes::{LANES, Lanes, Line, Work, dispatch};
use crate::engine::compute::tasks::for_each_task;
use crate::engine::compute::{ComputeError, Device, Tensor};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Vectors across a panel.
pub(super) const PANEL_LINES: usize = 2;
/// Outputs in a panel.
pub(super) const PANEL: usize = PANEL_LINES * LANES;
/// Bytes of the packed rows of one task, at most. They stay in the second-level cache while all
/// panels pass by. The more rows there are, the more often a cached panel is used.
const TASK_BYTES: usize = 768 * 1024;
/// Bytes of weights that all tiles of a task pass by before the next: a part of a second-level
/// cache.
const NEAR_BYTES: usize = 512 * 1024;
/// Fewest rows of one task.
const TASK_ROWS: usize = 96;
/// Fewest panels of one task; packing the input rows costs as much as about one panel.
const TASK_PANELS: usize = 8;
/// Multiply-adds below which threads cost more than they save.
const WORTH_THREADS: usize = 1 << 20;

/// `input` (R, in) times `weight` [out, in] transposed, plus `bias` (out): (R, out).
///
/// # Errors
/// When the shapes do not fit.
pub fn matmul(
    device: &Device,
    input: &Tensor,
    weight: &Weight,
    bias: Option<&Tensor>,
) -> Result<Tensor, ComputeError> {
    let mut output = Tensor::zeros(0, weight.outputs);
    matmul_into(device, input, weight, bias, &mut output)?;
    Ok(output)
}

/// [`matmul`] into an existing matrix of the right width, whose memory is used again.
///
/// # Errors
/// When the shapes do not fit.
pub fn matmul_into(
    device: &Device,
    input: &Tensor,
    weight: &Weight,
    bias: Option<&Tensor>,
    output: &mut Tensor,
) -> Result<(), ComputeError> {
    input.expect("matmul", "input", input.rows(), weight.inputs)?;
    output.expect("matmul", "output", output.rows(), weight.outputs)?;
    if let Some(bias) = bias {
        bias.expect("matmul", "bias", 1, weight.outputs)?;
    }
    // A weight is used on the device that it was packed for; on a GPU there are no threads to
    // share.
    let threads = if let Device::Cpu { threads } = device { *threads } else { 1 };
    let shape = Shape { rows: input.rows(), inputs: weight.inputs, outputs: weight.outputs };
    match &weight.packed {
        Packed::Gpu(resident) => *output = matmul_tiled::gpu(resident, input, bias)?,
        Packed::GpuUnits(weight) => *output = weight.multiply(input, bias)?,
        Packed::GpuBlocks(resident) => *output = resident.multiply(input, bias)?,
        Packed::Blocks(panels) => {
            let bias = bias.map(Tensor::data);
            let multiply = |result: &mut [MaybeUninit<f32>]| {
                let target = &Target::new(result, weight.outputs);
                panels.multiply(threads, shape, input, bias, target);
            };
            // SAFETY: the blocks cover the result, and each writes all of its numbers.
            unsafe { overwrite(output, input.rows(), multiply)? };
        }
        Packed::F32(panels) => {
            let bias = bias.map(Tensor::data);
            let multiply = |result: &mut [MaybeUninit<f32>]| {
                let target = &Target::new(result, weight.outputs);
                for_each_block(threads, shape, size_of::<f32>(), |rows, group| {
                    dispatch(Block { shape, input, panels, bias, rows, group, target });
                });
            };
            // SAFETY: the blocks cover the result, and each writes all of its numbers.
            unsafe { overwrite(output, input.rows(), multiply)? };
        }
        Packed::Int8(panels) => {
            let bias = bias.map(Tensor::data);
            let multiply = |result: &mut [MaybeUninit<f32>]| {
                let target = &Target::new(result, weight.outputs);
                panels.multiply(threads, shape, input, bias, target);
            };
            // SAFETY: as above.
            unsafe { overwrite(output, input.rows(), multiply)? };
        }
    }
    Ok(())
}

/// Makes a tensor a matrix of `rows` rows of the numbers that `write` writes, in the memory that it
/// had. Filling that with zeros first would be a tenth of a decoding step.
///
/// # Safety
/// `write` writes every number of its slice.
pub(super) unsafe fn overwrite(
    output: &mut Tensor,
    rows: usize,
    write: impl FnOnce(&mut [MaybeUninit<f32>]),
) -> Result<(), ComputeError> {
    let width = output.width();
    let mut data = output.take_memory();
    data.clear();
    data.reserve(rows * width);
    write(&mut data.spare_capacity_mut()[..rows * width]);
    // SAFETY: the memory is there, and `write` has written it, as the caller promised.
    unsafe { data.set_len(rows * width) };
    *output = Tensor::new(&[rows, width], data)?;
    Ok(())
}

/// The numbers of rows, inputs and outputs of a product.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) rows: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
}

impl Shape {
    fn panels(self) -> usize {
        self.outputs.div_ceil(PANEL)
    }

    /// How many panels to keep near while all rows of a task pass by.
    pub(super) fn near_panels(self, number_bytes: usize) -> usize {
        (NEAR_BYTES / (self.inputs * PANEL * number_bytes).max(1)).max(1)
    }
}

/// Calls `work` with rows and panels, until every block of the result had its turn.
pub(super) fn for_each_block(
    threads: usize,
    shape: Shape,
    number_bytes: usize,
    work: impl Fn(Range<usize>, Range<usize>) + Sync,
) {
    let Shape { rows, inputs, outputs } = shape;
    if rows == 0 || outputs == 0 {
        return;
    }
    // Cut the result into row groups, and these into panel groups while threads would idle.
    let small = rows * inputs * outputs < WORTH_THREADS;
    let threads = if small { 1 } else { threads.max(1) };
    let most_rows = (TASK_BYTES / (inputs * number_bytes).max(1)).max(TASK_ROWS);
    let row_groups = rows.div_ceil(most_rows).max(threads.min(rows.div_ceil(TASK_ROWS)));
    let group_rows = rows.div_ceil(row_groups);
    let panels = shape.panels();
    let wanted = if threads == 1 { 1 } else { (2 * threads).div_ceil(row_groups) };
    let group_panels = panels.div_ceil(wanted).max(TASK_PANELS);
    let panel_groups = panels.div_ceil(group_panels);
    for_each_task(threads, row_groups * panel_groups, |task| {
        let first_row = (task / panel_groups * group_rows).min(rows);
        let first_panel = task % panel_groups * group_panels;
        work(
            first_row..(first_row + group_rows).min(rows),
            first_panel..(first_panel + group_panels).min(panels),
        );
    });
}

/// The result matrix, shared between tasks that each write their own rows and columns.
pub(super) struct Target {
    start: *mut MaybeUninit<f32>,
    width: usize,
}

// SAFETY: tasks write disjoint blocks (see `row_part`), so sharing the pointer races on nothing.
unsafe impl Sync for Target {}

impl Target {
    /// A matrix whose rows have so many numbers. It must outlive what is written through this.
    pub(super) fn new(matrix: &mut [MaybeUninit<f32>], width: usize) -> Self {
        Self { start: matrix.as_mut_ptr(), width }
    }

    /// Columns `from..to` of a row.
    ///
    /// # Safety
    /// `row` and `from..to` lie in the matrix, and no other task asks for the same element.
    #[allow(clippy::mut_from_ref, reason = "the elements are disjoint between callers")]
    pub(super) unsafe fn row_part(
        &self,
        row: usize,
        from: usize,
        to: usize,
    ) -> &mut [MaybeUninit<f32>] {
        // SAFETY: inside the matrix and not aliased, by the caller's promise.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.add(row * self.width + from), to - from)
        }
    }
}

/// One task: some rows by some panels.
struct Block<'a> {
    shape: Shape,
    input: &'a Tensor,
    panels: &'a [Line],
    bias: Option<&'a [f32]>,
    rows: Range<usize>,
    /// Numbers of panels.
    group: Range<usize>,
    target: &'a Target,
}

impl Work for Block<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let inputs = self.shape.inputs;
        let tiles: Vec<Tile> = cut(self.rows.clone(), L::TILE.0);
        let mut packed = vec![0.0; self.rows.len() * inputs];
        for tile in &tiles {
            pack(self.input, tile, &mut packed[tile.part(&self.rows, inputs)]);
        }
        // Some panels at a time, so that they stay cached while all tiles pass by. A tile then
        // writes long runs of each row; every row has its own page.
        let lines = inputs * PANEL_LINES;
        let near = self.shape.near_panels(size_of::<f32>());
        for first in self.group.clone().step_by(near) {
            for tile in &tiles {
                let rows = &packed[tile.part(&self.rows, inputs)];
                for panel in first..(first + near).min(self.group.end) {
                    let columns = &self.panels[panel * lines..(panel + 1) * lines];
                    self.tile(lanes, tile, rows, panel, columns);
                }
            }
        }
    }
}

/// Rows that are computed together.
pub(super) struct Tile {
    pub(super) first: usize,
    pub(super) height: usize,
}

impl Tile {
    /// Where the tile lies in its task's packed rows of `width` numbers.
    pub(super) fn part(&self, rows: &Range<usize>, width: usize) -> Range<usize> {
        let start = (self.first - rows.start) * width;
        start..start + self.height * width
    }
}

/// Cuts rows into tiles of equal height as far as possible: 13 rows are 7 + 6 and not 12 + 1.
pub(super) fn cut(rows: Range<usize>, tallest: usize) -> Vec<Tile> {
    let count = rows.len().div_ceil(tallest).max(1);
    let (height, taller) = (rows.len() / count, rows.len() % count);
    let mut first = rows.start;
    (0..count)
        .map(|number| {
            let tile = Tile { first, height: height + usize::from(number < taller) };
            first += tile.height;
            tile
        })
        .collect()
}

/// Interleaves a tile's rows: `packed[i][r] = input[first + r][i]`.
fn pack(input: &Tensor, tile: &Tile, packed: &mut [f32]) {
    macro_rules! heights {
        ($($height:literal)*) => {
            match tile.height {
                $($height => interleave::<$height>(input, tile.first, packed),)*
                height => unreachable!("no tile has {height} rows"),
            }
        };
    }
    heights!(1 2 3 4 5 6 7 8 9 10 11 12);
}

/// As [`pack`]: all rows are read side by side, so that what is written is written in order.
fn interleave<const R: usize>(input: &Tensor, first: usize, packed: &mut [f32]) {
    let rows: [&[f32]; R] = std::array::from_fn(|r| input.row(first + r));
    for (i, to) in packed.as_chunks_mut::<R>().0.iter_mut().enumerate() {
        for r in 0..R {
            to[r] = rows[r][i];
        }
    }
}

impl Block<'_> {
    /// Calls the code for the tile's height.
    #[inline(always)]
    fn tile<L: Lanes>(&self, lanes: L, tile: &Tile, rows: &[f32], panel: usize, columns: &[Line]) {
        macro_rules! heights {
            ($($height:literal)*) => {
                match tile.height {
                    $($height if $height <= L::TILE.0 => {
                        if L::TILE.1 == 2 {
                            let sums = product::<L, $height, 2>(lanes, rows, columns, 0);
                            self.store(lanes, tile, panel, 0, sums);
                        } else {
                            for line in 0..PANEL_LINES {
                                let sums = product::<L, $height, 1>(lanes, rows, columns, line);
                                self.store(lanes, tile, panel, line, sums);
                            }
                        }
                    })*
                    height => unreachable!("no tile has {height} rows"),
                }
            };
        }
        heights!(1 2 3 4 5 6 7 8 9 10 11 12)
    }

    /// Adds the bias and writes the columns that exist.
    #[inline(always)]
    fn store<L: Lanes, const R: usize, const C: usize>(
        &self,
        lanes: L,
        tile: &Tile,
        panel: usize,
        line: usize,
        sums: [[L::Vector; C]; R],
    ) {
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
            for (r, sums) in sums.iter().enumerate() {
                // SAFETY: the row is below the result's rows and the columns below its width; a
                // block owns its rows and panels, and each of its tiles is stored once.
                let part = unsafe { self.target.row_part(tile.first + r, from, to) };
                lanes.write_part(part, lanes.add(sums[c], bias));
            }
        }
    }
}

/// The product of `R` interleaved rows with `C` vectors of a panel's columns, from vector `line`.
#[inline(always)]
fn product<L: Lanes, const R: usize, const C: usize>(
    lanes: L,
    rows: &[f32],
    columns: &[Line],
    line: usize,
) -> [[L::Vector; C]; R] {
    let mut sums = [[lanes.splat(0.0); C]; R];
    let rows = rows.as_chunks::<R>().0;
    let columns = columns.as_chunks::<PANEL_LINES>().0;
    for (row, column) in rows.iter().zip(columns) {
        let column: [L::Vector; C] = std::array::from_fn(|c| lanes.load(&column[line + c].0));
        for r in 0..R {
            let value = lanes.splat(row[r]);
            for c in 0..C {
                sums[r][c] = lanes.fma(value, column[c], sums[r][c]);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::compute::lanes::on_each;

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

    const ONE: Device = Device::Cpu { threads: 1 };

    #[test]
    fn a_product_done_by_hand() {
        // [1 2 3] . [1 0 -1], [1 2 3] . [2 2 2]; bias 10, 20.
        let input = Tensor::new(&[1, 3], vec![1.0, 2.0, 3.0]).unwrap();
        let weight = Tensor::new(&[2, 3], vec![1.0, 0.0, -1.0, 2.0, 2.0, 2.0]).unwrap();
        let bias = Tensor::new(&[2], vec![10.0, 20.0]).unwrap();
        let weight = Weight::new(&ONE, &weight);
        let output = matmul(&ONE, &input, &weight, Some(&bias)).unwrap();
        assert_eq!(output.data(), [8.0, 32.0]);
        assert_eq!(matmul(&ONE, &input, &weight, None).unwrap().data(), [-2.0, 12.0]);
    }

    #[test]
    fn no_rows_give_no_rows() {
        let weight = Weight::new(&ONE, &tensor(5, 3, 1));
        let output = matmul(&ONE, &Tensor::zeros(0, 3), &weight, None).unwrap();
        assert_eq!(output.shape(), [0, 5]);
    }

    #[test]
    fn every_instruction_set_gives_the_same_product() {
        // Rows for every height of a tile, outputs that end inside a vector.
        for rows in 1..=13 {
            let (input, weight) = (tensor(rows, 37, 1), Weight::new(&ONE, &tensor(75, 37, 2)));
            let products = on_each(|| {
                struct Whole(Tensor, Weight);
                impl Work for Whole {
                    type Output = Vec<f32>;
                    #[inline(always)]
                    fn run<L: Lanes>(self, lanes: L) -> Vec<f32> {
                        let Self(input, weight) = &self;
                        let Packed::F32(panels) = &weight.packed else { unreachable!() };
                        let (inputs, outputs) = (weight.inputs, weight.outputs);
                        let shape = Shape { rows: input.rows(), inputs, outputs };
                        let mut output = Tensor::zeros(0, outputs);
                        let multiply = |result: &mut [MaybeUninit<f32>]| {
                            let target = &Target::new(result, outputs);
                            let (rows, group) = (0..shape.rows, 0..shape.panels());
                            Block { shape, input, panels, bias: None, rows, group, target }
                                .run(lanes);
                        };
                        // SAFETY: the block is the whole result.
                        unsafe { overwrite(&mut output, shape.rows, multiply).unwrap() };
                        output.into_data()
                    }
                }
                Whole(input.clone(), weight.clone())
            });
            let (plain, others) = products.split_last().unwrap();
            for other in others {
                assert_eq!(other, &others[0]);
                for (a, b) in plain.iter().zip(other) {
                    assert!((a - b).abs() < 1e-4, "{a} {b}");
                }
            }
            assert_eq!(matmul(&ONE, &input, &weight, None).unwrap().data(), products[0]);
        }
    }

    #[test]
    fn no_threads_are_one_thread() {
        let (input, weight) = (tensor(64, 256, 1), Weight::new(&ONE, &tensor(256, 256, 2)));
        let output = matmul(&Device::Cpu { threads: 0 }, &input, &weight, None).unwrap();
        assert_eq!(output, matmul(&ONE, &input, &weight, None).unwrap());
    }

    #[test]
    fn operands_that_do_not_fit_are_named() {
        let weight = Weight::new(&ONE, &tensor(5, 3, 1));
        let error = matmul(&ONE, &tensor(2, 4, 1), &weight, None).unwrap_err().to_string();
        assert!(error.contains("`input`") && error.contains("[2, 4]"), "{error}");
        let error = matmul(&ONE, &tensor(2, 3, 1), &weight, Some(&tensor(1, 4, 1)));
        assert!(error.unwrap_err().to_string().contains("`bias`"));
        let mut output = Tensor::zeros(1, 6);
        let error = matmul_into(&ONE, &tensor(2, 3, 1), &weight, None, &mut output);
        assert!(error.unwrap_err().to_string().contains("`output`"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn it_is_the_sum_of_products(
            rows in 1usize..40, inputs in 1usize..70, outputs in 1usize..90, seed: u32,
        ) {
            let (input, weight) = (tensor(rows, inputs, seed), tensor(outputs, inputs, !seed));
            let bias = tensor(1, outputs, seed ^ 5);
            let packed = Weight::new(&ONE, &weight);
            let output = matmul(&ONE, &input, &packed, Some(&bias)).unwrap();
            for r in 0..rows {
                for o in 0..outputs {
                    let products = input.row(r).iter().zip(weight.row(o));
                    let sum: f64 = products.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                    let want = sum + f64::from(bias.row(0)[o]);
                    prop_assert!((f64::from(output.row(r)[o]) - want).abs() < 1e-4);
                }
            }
        }

        #[test]
        fn a_row_has_the_same_bits_in_every_batch(
            rows in 1usize..300, inputs in 1usize..300, outputs in 1usize..600,
            pick in 0usize..300, take in 1usize..60, threads in 1usize..5, seed: u32,
        ) {
            let (input, weight) = (tensor(rows, inputs, seed), tensor(outputs, inputs, !seed));
            let weight = Weight::new(&ONE, &weight);
            let whole = matmul(&ONE, &input, &weight, None).unwrap();
            let device = Device::Cpu { threads };
            let picked: Vec<usize> = (0..take).map(|i| (pick + i * 7) % rows).collect();
            let data = picked.iter().flat_map(|row| input.row(*row).to_vec()).collect();
            let subset = Tensor::new(&[take, inputs], data).unwrap();
            let part = matmul(&device, &subset, &weight, None).unwrap();
            for (row, source) in picked.iter().enumerate() {
                prop_assert_eq!(part.row(row), whole.row(*source));
            }
        }
    }
}
