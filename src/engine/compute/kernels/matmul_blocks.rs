//! The product of `matmul.rs` with weights that stay in blocks of few bits.
//!
//! A row of the input is rounded to 8 bits in blocks of 32, each by its own scale `max |x| / 127`.
//! Sums of products within a group of the weight are exact integers; each is scaled once and added
//! in order of the groups:
//!
//! `output[r][o] = bias[o] + sum_g (sum_i input8[r][i] * (quant[o][i] - zero)) * (scale[r][g] *
//! scale[o][g]) + least[o][g] * (scale[r][g] * sum_i input8[r][i])`
//!
//! It is what llama.cpp computes with its formats `Q8_0` and `Q8_1` of activations, but for their
//! scales in 16 bits. Each float is rounded by itself (no fused multiply-add), so results are the
//! same bits in every batch, on every number of threads, and on every processor. A block with a
//! number that is not finite makes its row NaN.
//!
//! A panel is packed once: 16 outputs stand side by side, four inputs of each, and two such lines
//! share their bytes where every integer fits 4 bits. A tile of up to 12 rows unpacks a line once,
//! in registers.

#![allow(unsafe_code, reason = "threads write disjoint columns of one row-major matrix")]

use super::blocks::{BLOCK, Blocks};
use super::matmul::{PANEL, PANEL_LINES, Shape, Target, Tile, cut};
use super::matmul8::{Block, multiply_by, rounded, scale};
use crate::engine::compute::Tensor;
use crate::engine::compute::lanes::dots::{ByteLine, DotWork, Dots, FOUR};
use crate::engine::compute::lanes::{LANES, Lanes, Line};

/// Fours of a block.
const FOURS: usize = BLOCK / FOUR;

/// A [`Blocks`] matrix, packed.
#[derive(Clone)]
pub(super) struct BlockPanels {
    outputs: usize,
    inputs: usize,
    /// Inputs that share a scale.
    group: usize,
    /// Whether a byte holds two integers.
    nibbles: bool,
    zero: u8,
    /// (strip of 16 outputs, line); outputs beyond the last, and inputs beyond the last, are zero.
    lines: Vec<ByteLine>,
    /// (strip, group)
    scales: Vec<Line>,
    /// As the scales, or empty.
    least: Vec<Line>,
}

impl BlockPanels {
    pub(super) fn new(weight: &Blocks) -> Self {
        let mut panels = Self {
            outputs: weight.outputs(),
            inputs: weight.inputs(),
            group: weight.group(),
            nibbles: weight.fits_nibbles(),
            zero: weight.zero(),
            lines: Vec::new(),
            scales: Vec::new(),
            least: Vec::new(),
        };
        let strips = weight.outputs().div_ceil(PANEL) * PANEL_LINES;
        let (of_lines, of_groups) = (panels.lines_of_strip(), panels.groups_of_strip());
        panels.lines = vec![ByteLine([[0; FOUR]; LANES]); strips * of_lines];
        panels.scales = vec![Line([0.0; LANES]); strips * of_groups];
        if weight.has_least() {
            panels.least = panels.scales.clone();
        }
        for output in 0..weight.outputs() {
            let (strip, lane) = (output / LANES, output % LANES);
            let (quants, scales, least) = weight.row(output);
            for (i, quant) in quants.iter().enumerate() {
                let (line, shift) = panels.place(i);
                let byte = &mut panels.lines[strip * of_lines + line].0[lane][i % FOUR];
                *byte |= (quant << shift).cast_signed();
            }
            for (number, scale) in scales.iter().enumerate() {
                panels.scales[strip * of_groups + number].0[lane] = *scale;
            }
            for (number, least) in least.iter().enumerate() {
                panels.least[strip * of_groups + number].0[lane] = *least;
            }
        }
        panels
    }

    /// The line of a strip that holds an input, and by how many bits it is shifted.
    fn place(&self, input: usize) -> (usize, u32) {
        let four = input / FOUR;
        if self.nibbles { (four / 2, 4 * (four % 2) as u32) } else { (four, 0) }
    }

    /// Inputs of a line.
    pub(super) fn inputs_of_line(&self) -> usize {
        if self.nibbles { 2 * FOUR } else { FOUR }
    }

    /// Lines of a strip, whose blocks are whole.
    pub(super) fn lines_of_strip(&self) -> usize {
        self.inputs.next_multiple_of(BLOCK) / self.inputs_of_line()
    }

    /// Groups of a strip, whose blocks are whole.
    pub(super) fn groups_of_strip(&self) -> usize {
        self.inputs.next_multiple_of(BLOCK) / self.group
    }

    /// The lines of a strip, the scale of each of its groups, and the least numbers where there are
    /// any.
    #[inline(always)]
    fn strip(&self, strip: usize) -> (&[ByteLine], &[Line], &[Line]) {
        let part = |length: usize| strip * length..(strip + 1) * length;
        let (lines, groups) = (part(self.lines_of_strip()), part(self.groups_of_strip()));
        let least = if self.least.is_empty() { &[][..] } else { &self.least[groups.clone()] };
        (&self.lines[lines], &self.scales[groups], least)
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(super) fn group(&self) -> usize {
        self.group
    }

    pub(super) fn zero(&self) -> u8 {
        self.zero
    }

    /// The packed integers, scales and least numbers, strip after strip.
    pub(super) fn parts(&self) -> (&[ByteLine], &[Line], &[Line]) {
        (&self.lines, &self.scales, &self.least)
    }

    /// One output's row in f32.
    pub(super) fn unpack_row(&self, output: usize, row: &mut [f32]) {
        let (strip, lane) = (output / LANES, output % LANES);
        for (i, value) in row.iter_mut().enumerate() {
            let (line, shift) = self.place(i);
            let byte = self.lines[strip * self.lines_of_strip() + line].0[lane][i % FOUR];
            let quant = byte.cast_unsigned() >> shift & if self.nibbles { 15 } else { 255 };
            let group = strip * self.groups_of_strip() + i / self.group;
            let scaled = self.scales[group].0[lane] * (f32::from(quant) - f32::from(self.zero));
            *value = self.least.get(group).map_or(scaled, |least| scaled + least.0[lane]);
        }
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

/// Rows of a tile, rounded and interleaved.
#[derive(Clone, Copy)]
struct Rounded<'a> {
    /// (four inputs, row)
    fours: &'a [[u8; FOUR]],
    /// (group, row)
    groups: &'a [RowGroup],
}

/// What belongs to a group of a row.
#[derive(Debug, Clone, Copy, Default)]
struct RowGroup {
    scale: f32,
    /// The sum of its numbers, in what they stand for.
    sum: f32,
    /// What the integer sums begin with, so that the weight's zero goes away.
    start: i32,
}

impl DotWork for Block<'_, BlockPanels> {
    type Output = ();

    #[inline(always)]
    fn run<D: Dots>(self, dots: D) {
        let fours = self.shape.inputs.next_multiple_of(BLOCK) / FOUR;
        let groups = self.weight.groups_of_strip();
        let tiles: Vec<Tile> = cut(self.rows.clone(), D::TILE.0);
        let mut packed = vec![[0; FOUR]; self.rows.len() * fours];
        let mut of_groups = vec![RowGroup::default(); self.rows.len() * groups];
        for tile in &tiles {
            let to = &mut packed[tile.part(&self.rows, fours)];
            let of_groups = &mut of_groups[tile.part(&self.rows, groups)];
            for r in 0..tile.height {
                let (to, of_groups) = (&mut to[r..], &mut of_groups[r..]);
                self.round_row(dots, self.input.row(tile.first + r), tile.height, to, of_groups);
            }
        }
        let near = self.shape.near_panels(size_of::<i8>());
        for first in self.group.clone().step_by(near) {
            for tile in &tiles {
                let rows = Rounded {
                    fours: &packed[tile.part(&self.rows, fours)],
                    groups: &of_groups[tile.part(&self.rows, groups)],
                };
                for panel in first..(first + near).min(self.group.end) {
                    for strip in panel * PANEL_LINES..(panel + 1) * PANEL_LINES {
                        match self.weight.nibbles {
                            true => self.tile::<D, true>(dots, tile, rows, strip),
                            false => self.tile::<D, false>(dots, tile, rows, strip),
                        }
                    }
                }
            }
        }
    }
}

/// Rounds a block to 8 bits: its numbers and its scale, NaN when one of its numbers is not finite.
#[inline(always)]
fn round_block<D: Dots>(dots: D, block: &[f32]) -> ([u8; BLOCK], f32) {
    let lanes = dots.floats();
    let zero = lanes.splat(0.0);
    let mut values = [0.0; BLOCK];
    values[..block.len()].copy_from_slice(block);
    let (mut largest, mut broken) = (zero, zero);
    for part in values.as_chunks::<LANES>().0 {
        let x = lanes.load(part);
        largest = lanes.max(lanes.max(x, lanes.sub(zero, x)), largest);
        // Zero, unless a number is not finite.
        broken = lanes.add(lanes.mul(x, zero), broken);
    }
    let (scale, factor) = scale(lanes.fold(largest, f32::max));
    let mut bytes = [0; BLOCK];
    for (x, to) in values.iter().zip(&mut bytes) {
        *to = rounded(*x, factor);
    }
    let is_broken = lanes.any_greater(zero, broken) || !lanes.sum(broken).is_finite();
    (bytes, if is_broken { f32::NAN } else { scale })
}

impl Block<'_, BlockPanels> {
    /// Rounds a row into every `height`th place.
    #[inline(always)]
    fn round_row<D: Dots>(
        &self,
        dots: D,
        row: &[f32],
        height: usize,
        to: &mut [[u8; FOUR]],
        of_groups: &mut [RowGroup],
    ) {
        let group = self.weight.group;
        let in_block = BLOCK / group;
        for (number, block) in row.chunks(BLOCK).enumerate() {
            let (bytes, scale) = round_block(dots, block);
            for (at, four) in bytes.as_chunks::<FOUR>().0.iter().enumerate() {
                to[(number * FOURS + at) * height] = *four;
            }
            for (at, bytes) in bytes.chunks_exact(group).enumerate() {
                let mut sum = 0;
                for byte in bytes {
                    sum += i32::from(byte.cast_signed());
                }
                of_groups[(number * in_block + at) * height] = RowGroup {
                    scale,
                    sum: scale * sum as f32,
                    start: -i32::from(self.weight.zero) * sum,
                };
            }
        }
    }

    /// Calls the code for the tile's height.
    #[inline(always)]
    fn tile<D: Dots, const NIBBLES: bool>(
        &self,
        dots: D,
        tile: &Tile,
        rows: Rounded<'_>,
        strip: usize,
    ) {
        macro_rules! heights {
            ($($height:literal)*) => {
                match tile.height {
                    $($height if $height <= D::TILE.0 => {
                        let sums = self.product::<D, $height, NIBBLES>(dots, rows, strip);
                        self.store(dots, tile, strip, sums);
                    })*
                    height => unreachable!("no tile has {height} rows"),
                }
            };
        }
        heights!(1 2 3 4 5 6 7 8 9 10 11 12)
    }

    /// The products of `R` rows with the outputs of a strip.
    #[inline(always)]
    fn product<D: Dots, const R: usize, const NIBBLES: bool>(
        &self,
        dots: D,
        rows: Rounded<'_>,
        strip: usize,
    ) -> [<D::Floats as Lanes>::Vector; R] {
        let lanes = dots.floats();
        let (lines, scales, least) = self.weight.strip(strip);
        let lines_of_group = lines.len() / scales.len().max(1);
        let mut fours = rows.fours.as_chunks::<R>().0;
        let row_groups = rows.groups.as_chunks::<R>().0;
        let mut totals = [lanes.splat(0.0); R];
        let of_lines = lines.chunks_exact(lines_of_group.max(1));
        for (number, ((of_rows, lines), scale)) in
            row_groups.iter().zip(of_lines).zip(scales).enumerate()
        {
            let mut sums = [dots.start_all(0); R];
            for r in 0..R {
                sums[r] = dots.start_all(of_rows[r].start);
            }
            for line in lines {
                let bytes = dots.load(line);
                if NIBBLES {
                    let [low, high] = dots.halves(bytes);
                    let ([first, second], rest) = split_two(fours);
                    fours = rest;
                    for r in 0..R {
                        sums[r] = dots.weigh::<true>(low, dots.splat_signed(&first[r]), sums[r]);
                    }
                    for r in 0..R {
                        sums[r] = dots.weigh::<true>(high, dots.splat_signed(&second[r]), sums[r]);
                    }
                } else {
                    let (first, rest) = fours.split_first().expect("a line has its fours");
                    fours = rest;
                    for r in 0..R {
                        sums[r] = dots.weigh::<false>(bytes, dots.splat_signed(&first[r]), sums[r]);
                    }
                }
            }
            let scale = lanes.load(&scale.0);
            for r in 0..R {
                let scale = lanes.mul(lanes.splat(of_rows[r].scale), scale);
                totals[r] = lanes.add(totals[r], lanes.mul(dots.to_floats(sums[r]), scale));
            }
            if let Some(least) = least.get(number) {
                let least = lanes.load(&least.0);
                for r in 0..R {
                    let raised = lanes.mul(lanes.splat(of_rows[r].sum), least);
                    totals[r] = lanes.add(totals[r], raised);
                }
            }
        }
        totals
    }

    /// Adds the bias and writes the columns that exist.
    #[inline(always)]
    fn store<D: Dots, const R: usize>(
        &self,
        dots: D,
        tile: &Tile,
        strip: usize,
        totals: [<D::Floats as Lanes>::Vector; R],
    ) {
        let lanes = dots.floats();
        let from = strip * LANES;
        let to = (from + LANES).min(self.shape.outputs);
        if from >= to {
            return;
        }
        let bias = match self.bias {
            Some(bias) => lanes.load_part(&bias[from..to], 0.0),
            None => lanes.splat(0.0),
        };
        for (r, total) in totals.iter().enumerate() {
            // SAFETY: the row is below the result's rows and the columns below its width; a block
            // owns its rows and panels, and each of its tiles is stored once.
            let part = unsafe { self.target.row_part(tile.first + r, from, to) };
            lanes.write_part(part, lanes.add(*total, bias));
        }
    }
}

/// The first two of a list, and the rest.
#[inline(always)]
fn split_two<T>(list: &[T]) -> (&[T; 2], &[T]) {
    list.split_first_chunk().expect("a line of halves has two fours")
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

    /// Numbers drawn one after the other (Numerical Recipes' congruences).
    struct Draw(u32);

    impl Draw {
        fn below(&mut self, end: u32) -> u32 {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (self.0 >> 8) % end
        }

        fn number(&mut self) -> f32 {
            self.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0
        }

        fn tensor(&mut self, rows: usize, width: usize) -> Tensor {
            let data = (0..rows * width).map(|_| self.number()).collect();
            Tensor::new(&[rows, width], data).unwrap()
        }

        /// A weight of one of the forms that files have: bits, group, zero, least numbers.
        fn blocks(&mut self, form: usize, outputs: usize, inputs: usize) -> Blocks {
            let (bits, group, zero, has_least) = [
                (4, 32, 8, false),
                (4, 32, 0, true),
                (5, 32, 16, false),
                (5, 32, 0, true),
                (6, 16, 32, false),
                (8, 32, 128, false),
            ][form];
            let groups = outputs * inputs.div_ceil(group);
            let quants = (0..outputs * inputs).map(|_| self.below(1 << bits) as u8).collect();
            let scales = (0..groups).map(|_| self.number() / 16.0).collect();
            let least = (0..if has_least { groups } else { 0 }).map(|_| self.number()).collect();
            Blocks::new(inputs, (group, zero), quants, scales, least).unwrap()
        }
    }

    /// The definition in f64: the outputs, and the sums of the terms' sizes.
    fn oracle(input: &Tensor, weight: &Blocks) -> Vec<(f64, f64)> {
        let dense = weight.to_f32();
        let mut outputs = Vec::new();
        for r in 0..input.rows() {
            let mut row = Vec::new();
            for block in input.row(r).chunks(BLOCK) {
                let largest = block.iter().map(|x| x.abs()).fold(0.0, f32::max);
                let scale = largest / 127.0;
                let number = |x: &f32| (x * (127.0 / largest)).round_ties_even() * scale;
                row.extend(block.iter().map(number).map(f64::from));
            }
            for o in 0..weight.outputs() {
                let terms = row.iter().zip(dense.row(o)).map(|(x, w)| x * f64::from(*w));
                let size = row.iter().map(|x| x.abs() * 300.0).sum::<f64>();
                outputs.push((terms.sum(), size));
            }
        }
        outputs
    }

    struct Whole<'a>(&'a Tensor, &'a BlockPanels);

    impl DotWork for Whole<'_> {
        type Output = Vec<u32>;
        #[inline(always)]
        fn run<D: Dots>(self, dots: D) -> Vec<u32> {
            let Self(input, weight) = self;
            let (inputs, outputs) = (weight.inputs, weight.outputs);
            let shape = Shape { rows: input.rows(), inputs, outputs };
            let mut output = Tensor::zeros(0, shape.outputs);
            let multiply = |result: &mut [MaybeUninit<f32>]| {
                let target = &Target::new(result, shape.outputs);
                let (rows, group) = (0..shape.rows, 0..outputs.div_ceil(PANEL));
                Block { shape, input, weight, bias: None, rows, group, target }.run(dots);
            };
            // SAFETY: the block is the whole result.
            unsafe { overwrite(&mut output, shape.rows, multiply).unwrap() };
            output.data().iter().map(|x| x.to_bits()).collect()
        }
    }

    #[test]
    fn a_product_done_by_hand() {
        // 127 steps of 0.01 and half as many: 63.5 rounds to 64.
        let input = Tensor::new(&[1, 2], vec![1.27, 0.635]).unwrap();
        let weight =
            Blocks::new(2, (32, 8), vec![9, 8, 8, 6], vec![2.0, 0.5], vec![0.0, 1.0]).unwrap();
        let bias = Tensor::new(&[2], vec![10.0, 0.0]).unwrap();
        let one = Device::Cpu { threads: 1 };
        let output = matmul(&one, &input, &Weight::blocks(&one, &weight), Some(&bias)).unwrap();
        for (got, want) in output.data().iter().zip([10.0 + 2.0 * 1.27, -0.64 + 1.91]) {
            assert!((got - want).abs() < 1e-5, "{got} {want}");
        }
    }

    #[test]
    fn blocks_that_vanish_give_the_bias_and_broken_ones_give_nan() {
        let one = Device::Cpu { threads: 1 };
        let weight = Weight::blocks(&one, &Draw(3).blocks(1, 5, 40));
        let product = |data: Vec<f32>| {
            matmul(&one, &Tensor::new(&[1, 40], data).unwrap(), &weight, None).unwrap()
        };
        assert_eq!(product(vec![1e-37; 40]).data(), [0.0; 5]);
        for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for place in [0, 17, 39] {
                let mut data = vec![0.5; 40];
                data[place] = broken;
                assert!(product(data).data().iter().all(|x| x.is_nan()));
            }
        }
    }

    #[test]
    fn rows_are_looked_up_as_they_are() {
        let one = Device::Cpu { threads: 1 };
        for form in 0..6 {
            let blocks = Draw(7).blocks(form, 37, 70);
            let (weight, dense) = (Weight::blocks(&one, &blocks), blocks.to_f32());
            let rows = weight.look_up(&one, &[36, 0, 17], 2.0).unwrap();
            for (row, id) in [36, 0, 17].into_iter().enumerate() {
                let want: Vec<f32> = dense.row(id).iter().map(|x| x * 2.0).collect();
                assert_eq!(rows.row(row), want);
            }
            let error = weight.look_up(&one, &[37], 1.0).unwrap_err().to_string();
            assert!(error.contains("index 37"), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn it_is_the_sum_of_rounded_numbers_and_the_same_bits_on_each_instruction_set(
            form in 0usize..6, rows in 1usize..30, inputs in 1usize..200, outputs in 1usize..80,
            seed: u32,
        ) {
            let mut draw = Draw(seed);
            let input = draw.tensor(rows, inputs);
            let weight = draw.blocks(form, outputs, inputs);
            let panels = BlockPanels::new(&weight);
            let found = on_each(|| Whole(&input, &panels));
            for bits in &found {
                prop_assert_eq!(bits, &found[0]);
            }
            for (got, (want, size)) in found[0].iter().zip(oracle(&input, &weight)) {
                let off = (f64::from(f32::from_bits(*got)) - want).abs();
                prop_assert!(off <= 1e-6 * size + 1e-6, "{off} of {size}");
            }
        }

        #[test]
        fn a_row_has_the_same_bits_in_every_batch_and_on_any_number_of_threads(
            form in 0usize..6, rows in 1usize..200, threads in 1usize..4, seed: u32,
        ) {
            let mut draw = Draw(seed);
            let input = draw.tensor(rows, 96);
            let device = Device::Cpu { threads };
            let weight = Weight::blocks(&device, &draw.blocks(form, 150, 96));
            let together = matmul(&device, &input, &weight, None).unwrap();
            let row = seed as usize % rows;
            let alone = Tensor::new(&[1, 96], input.row(row).to_vec()).unwrap();
            let alone = matmul(&device, &alone, &weight, None).unwrap();
            prop_assert_eq!(alone.data(), together.row(row));
        }
    }
}
