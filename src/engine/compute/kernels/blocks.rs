//! A matrix of integers of few bits, in groups along a row that share a scale and a least number.
//!
//! `weight[o][i] = scale[o][g] * (quant[o][i] - zero) + least[o][g]`, where `g` is the group of
//! `i`: 16 or 32 neighbours. All formats of GGUF are of this form, bit by bit: those of 4, 5, 6 and
//! 8 bits, and the `K` formats, whose scales are products of two numbers.

use crate::engine::compute::{ComputeError, Tensor};

/// Numbers of a block of an input, and the most of a group.
pub(super) const BLOCK: usize = 32;

/// The integer that stands for zero in a matrix that was rounded here.
const MIDDLE: u8 = 128;

/// A matrix `[out, in]` of integers of up to 8 bits in groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    inputs: usize,
    group: usize,
    zero: u8,
    /// (out, in)
    quants: Vec<u8>,
    /// (out, groups of a row)
    scales: Vec<f32>,
    /// As the scales, or empty where all are zero.
    least: Vec<f32>,
}

impl Blocks {
    /// A matrix of existing numbers, row by row: integers, and a scale and a least number for each
    /// `group` of a row. The last group may be shorter. There are no least numbers where all are
    /// zero.
    ///
    /// # Errors
    /// When a group is not of 16 or 32, or the numbers do not make up rows.
    pub fn new(
        inputs: usize,
        (group, zero): (usize, u8),
        quants: Vec<u8>,
        scales: Vec<f32>,
        least: Vec<f32>,
    ) -> Result<Self, ComputeError> {
        let refuse = |operand, expected, found| {
            Err(ComputeError::Shape { op: "a matrix in blocks", operand, expected, found })
        };
        if ![BLOCK / 2, BLOCK].contains(&group) {
            return refuse("group", vec![BLOCK], vec![group]);
        }
        let outputs = quants.len() / inputs.max(1);
        if quants.len() != outputs * inputs {
            return refuse("quants", vec![outputs, inputs], vec![quants.len()]);
        }
        let groups = outputs * inputs.div_ceil(group);
        if scales.len() != groups {
            return refuse("scales", vec![groups], vec![scales.len()]);
        }
        if ![0, groups].contains(&least.len()) {
            return refuse("least", vec![groups], vec![least.len()]);
        }
        Ok(Self { inputs, group, zero, quants, scales, least })
    }

    /// Rounds a matrix `[out, in]` to 8 bits, each group of 32 by its largest number: an element is
    /// off by at most a 254th of it.
    pub fn round(weight: &Tensor) -> Self {
        let inputs = weight.width();
        let mut rounded = Self {
            inputs,
            group: BLOCK,
            zero: MIDDLE,
            quants: Vec::with_capacity(weight.data().len()),
            scales: Vec::new(),
            least: Vec::new(),
        };
        for row in weight.data().chunks(inputs.max(1)) {
            for group in row.chunks(BLOCK) {
                let largest = group.iter().fold(0.0f32, |largest, x| largest.max(x.abs()));
                let scale = largest / 127.0;
                let factor = if largest < 1e-30 { 0.0 } else { 127.0 / largest };
                let quant = |x: &f32| ((x * factor).round_ties_even() + f32::from(MIDDLE)) as u8;
                rounded.quants.extend(group.iter().map(quant));
                rounded.scales.push(scale);
            }
        }
        rounded
    }

    /// The matrix in f32.
    pub fn to_f32(&self) -> Tensor {
        let mut tensor = Tensor::zeros(self.outputs(), self.inputs);
        let zero = f32::from(self.zero);
        for (output, values) in tensor.data_mut().chunks_mut(self.inputs.max(1)).enumerate() {
            let (quants, scales, least) = self.row(output);
            let groups = values.chunks_mut(self.group).zip(quants.chunks(self.group));
            for (number, (values, quants)) in groups.enumerate() {
                let scale = scales[number];
                for (value, quant) in values.iter_mut().zip(quants) {
                    *value = scale * (f32::from(*quant) - zero);
                }
                if let Some(least) = least.get(number) {
                    values.iter_mut().for_each(|value| *value += least);
                }
            }
        }
        tensor
    }

    /// The first element of a group whose scale or least number is not finite, and that number.
    pub(crate) fn non_finite(&self) -> Option<(usize, f32)> {
        let element =
            |at: usize| (at / self.groups()) * self.inputs + at % self.groups() * self.group;
        let of_groups = [&self.scales, &self.least].into_iter();
        let found = of_groups.filter_map(|numbers| {
            let at = numbers.iter().position(|number| !number.is_finite())?;
            Some((element(at), numbers[at]))
        });
        found.min_by_key(|(element, _)| *element)
    }

    pub(super) fn outputs(&self) -> usize {
        self.quants.len() / self.inputs.max(1)
    }

    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Numbers that share a scale.
    pub(super) fn group(&self) -> usize {
        self.group
    }

    /// Groups of a row.
    pub(super) fn groups(&self) -> usize {
        self.inputs.div_ceil(self.group)
    }

    pub(super) fn zero(&self) -> u8 {
        self.zero
    }

    /// Whether every integer fits 4 bits.
    pub(super) fn fits_nibbles(&self) -> bool {
        self.quants.iter().all(|quant| *quant < 16)
    }

    pub(super) fn has_least(&self) -> bool {
        !self.least.is_empty()
    }

    /// A row's integers, scales and least numbers.
    pub(super) fn row(&self, output: usize) -> (&[u8], &[f32], &[f32]) {
        let groups = output * self.groups()..(output + 1) * self.groups();
        let least = if self.has_least() { &self.least[groups.clone()] } else { &[] };
        (
            &self.quants[output * self.inputs..(output + 1) * self.inputs],
            &self.scales[groups],
            least,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    #[test]
    fn numbers_are_scaled_from_zero_and_the_least_added() {
        let quants: Vec<u8> = (0..40).map(|i| i % 16).collect();
        let of = |zero, least| {
            let blocks =
                Blocks::new(20, (16, zero), quants.clone(), vec![1.0, 2.0, 0.5, 4.0], least);
            blocks.unwrap().to_f32().into_data()
        };
        let plain = of(8, Vec::new());
        assert_eq!((plain[0], plain[15], plain[16], plain[20]), (-8.0, 7.0, -16.0, -2.0));
        let raised = of(0, vec![0.5, -1.0, 0.0, 3.0]);
        assert_eq!((raised[1], raised[17], raised[39]), (1.5, 1.0, 31.0));
    }

    #[test]
    fn rounding_is_off_by_a_254th_of_a_groups_largest_number() {
        let data: Vec<f32> = (0..90).map(|i| ((i * 37 % 91) as f32 - 45.0) * 0.013).collect();
        let weight = Tensor::new(&[2, 45], data.clone()).unwrap();
        let rounded = Blocks::round(&weight).to_f32();
        for (got, want) in rounded.data().iter().zip(&data) {
            assert!((got - want).abs() <= 45.0 * 0.013 / 254.0 * 1.001, "{got} {want}");
        }
        assert_eq!(Blocks::round(&Tensor::zeros(2, 3)).to_f32().data(), [0.0; 6]);
    }

    #[test]
    fn numbers_that_do_not_make_up_rows_are_refused() {
        let new = |group, quants, scales, least| {
            Blocks::new(40, (group, 0), vec![0; quants], vec![1.0; scales], vec![0.0; least])
        };
        assert!(new(32, 80, 4, 4).is_ok());
        assert_eq!(refusal(new(8, 80, 10, 0)), "shape of group");
        assert_eq!(refusal(new(32, 81, 4, 0)), "shape of quants");
        assert_eq!(refusal(new(32, 80, 5, 0)), "shape of scales");
        assert_eq!(refusal(new(32, 80, 4, 3)), "shape of least");
    }

    #[test]
    fn a_scale_that_is_no_number_is_found_by_its_first_element() {
        let mut scales = vec![1.0; 4];
        scales[3] = f32::NAN;
        let blocks = Blocks::new(40, (32, 0), vec![0; 80], scales, Vec::new()).unwrap();
        assert_eq!(blocks.non_finite().map(|(element, _)| element), Some(72));
    }
}
