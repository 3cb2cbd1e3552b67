//! Rotary positions: the pairs of numbers of each head are turned by angles that grow with the
//! position.
//!
//! Su et al. 2021, RoFormer, eq. 34, with the pairs half a head apart as in GPT-NeoX and in every
//! model of Hugging Face. A score of two turned vectors depends on how far apart they stand.

use std::borrow::Cow;

use super::gather;
use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::lanes::{LANES, Lanes, Work, dispatch};
use crate::engine::compute::tasks::for_each_piece;
use crate::engine::compute::{ComputeError, Device, Tensor};

/// Numbers handled by one task, about.
const PIECE: usize = 1 << 14;

shader! {
    "rotate", 256, [Words, Read, Write];
    struct Params {
        pairs: u32,
        half_width: u32,
        half: u32,
        positions: u32,
    }
}

/// Cosines and sines of the angles at some positions, as [`rotate`] takes them: (R, 2 F) for F
/// `frequencies` in radians a position.
pub fn turns(
    device: &Device,
    frequencies: &[f32],
    positions: &[u32],
) -> Result<Tensor, ComputeError> {
    let mut data = Vec::with_capacity(2 * frequencies.len() * positions.len());
    for position in positions {
        // Products of f32, as every implementation has them: the angle is rounded, its cosine is
        // not.
        let angles = frequencies.iter().map(|frequency| *position as f32 * frequency);
        data.extend(angles.clone().map(|angle| f64::from(angle).cos() as f32));
        data.extend(angles.map(|angle| f64::from(angle).sin() as f32));
    }
    Tensor::new(&[positions.len(), 2 * frequencies.len()], data)?.to_device(device)
}

/// Turns each head of each row of `tensor` (R, heads * C), in place, by the row of `turns` (N, C)
/// that `positions` (R) names.
///
/// # Errors
/// When C is odd or no part of the width, a position has no row, or a GPU has no room or failed.
pub fn rotate(
    device: &Device,
    tensor: &mut Tensor,
    turns: &Tensor,
    positions: &[u32],
) -> Result<(), ComputeError> {
    const OP: &str = "rotate";
    let (width, columns) = (tensor.width(), turns.width());
    tensor.expect(OP, "tensor", positions.len(), width)?;
    if let Some(index) = positions.iter().find(|position| **position as usize >= turns.rows()) {
        let (index, rows) = (*index as usize, turns.rows());
        return Err(ComputeError::Index { op: OP, operand: "turns", index, rows });
    }
    if columns == 0 || !columns.is_multiple_of(2) || !width.is_multiple_of(columns) {
        let (expected, found) = (vec![width], vec![columns]);
        return Err(ComputeError::Shape { op: OP, operand: "turns", expected, found });
    }
    match device {
        Device::Cpu { threads } => cpu(*threads, tensor, turns, positions),
        Device::Gpu(device) => gpu(device, tensor, turns, positions)?,
    }
    Ok(())
}

fn cpu(threads: usize, tensor: &mut Tensor, turns: &Tensor, positions: &[u32]) {
    let width = tensor.width();
    let rows = (PIECE / width).max(1);
    for_each_piece(threads, tensor.data_mut(), rows * width, |number, piece| {
        for (row, heads) in piece.chunks_exact_mut(width).enumerate() {
            let position = positions[number * rows + row] as usize;
            dispatch(HeadRow { heads, turns: turns.row(position) });
        }
    });
}

struct HeadRow<'a> {
    heads: &'a mut [f32],
    turns: &'a [f32],
}

impl Work for HeadRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let (cosines, sines) = self.turns.split_at(self.turns.len() / 2);
        for head in self.heads.chunks_exact_mut(self.turns.len()) {
            let (first, second) = head.split_at_mut(cosines.len());
            let pairs = first.chunks_mut(LANES).zip(second.chunks_mut(LANES));
            let angles = cosines.chunks(LANES).zip(sines.chunks(LANES));
            for ((first, second), (cosine, sine)) in pairs.zip(angles) {
                let (a, b) = (lanes.load_part(first, 0.0), lanes.load_part(second, 0.0));
                let (cosine, sine) = (lanes.load_part(cosine, 0.0), lanes.load_part(sine, 0.0));
                let turned = lanes.sub(lanes.mul(a, cosine), lanes.mul(b, sine));
                lanes.store_part(first, turned);
                lanes.store_part(second, lanes.add(lanes.mul(b, cosine), lanes.mul(a, sine)));
            }
        }
    }
}

fn gpu(
    gpu: &Gpu,
    tensor: &mut Tensor,
    turns: &Tensor,
    positions: &[u32],
) -> Result<(), ComputeError> {
    let (rows, width, columns) = (tensor.rows(), tensor.width(), turns.width());
    let buffer = tensor.own_buffer(gpu)?;
    for part in gpu.parts(rows, &[width, columns], usize::MAX)? {
        let of_part = &positions[part.0..part.0 + part.1];
        // Of a table that no binding holds, the rows of these positions.
        let is_held = turns.rows() * columns <= gpu.most_numbers();
        let (turns, of_part) = match is_held {
            true => (Cow::Borrowed(turns), Cow::Borrowed(of_part)),
            false => {
                let own = gather(&Device::Gpu(gpu.clone()), turns, of_part)?;
                (Cow::Owned(own), (0..part.1 as u32).collect())
            }
        };
        let (from, known) = (gpu.operand(&turns)?, turns.rows() * columns);
        let (mut call, [positions]) = gpu.call_with(&SHADER, [&of_part], 0)?;
        let params = Params {
            pairs: (part.1 * width / 2) as u32,
            half_width: (width / 2) as u32,
            half: (columns / 2) as u32,
            positions,
        };
        call.bind(gpu.whole(&from, known)?);
        call.bind(gpu.rows(&buffer, part, width));
        call.costs(|| Cost::moved(&[part.1, width], part.1 * (2 * width + columns)));
        call.run(&params, gpu.grid((part.1 * width / 2).div_ceil(256)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    const ONE: Device = Device::Cpu { threads: 1 };

    #[test]
    fn a_quarter_turn_done_by_hand() {
        // Two heads of four columns; the first pair of each turns by a quarter a position.
        let turns = turns(&ONE, &[std::f32::consts::FRAC_PI_2, 0.0], &[0, 1]).unwrap();
        let row = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let mut tensor = Tensor::new(&[2, 8], [row, row].concat()).unwrap();
        rotate(&ONE, &mut tensor, &turns, &[0, 1]).unwrap();
        assert_eq!(tensor.row(0), row);
        for (got, want) in tensor.row(1).iter().zip([-3.0, 2.0, 1.0, 4.0, -7.0, 6.0, 5.0, 8.0]) {
            assert!((got - want).abs() < 1e-6, "{got} {want}");
        }
    }

    #[test]
    fn scores_depend_on_the_distance_alone() {
        let frequencies: Vec<f32> = (0..20).map(|i| 0.7f32.powi(i)).collect();
        let number = |i: usize| ((i * 37 % 101) as f32 - 50.0) / 40.0;
        let score = |positions: &[u32]| {
            let vectors = (0..80).map(number).collect();
            let mut vectors = Tensor::new(&[2, 40], vectors).unwrap();
            let all: Vec<u32> = (0..50).collect();
            let turns = turns(&ONE, &frequencies, &all).unwrap();
            rotate(&ONE, &mut vectors, &turns, positions).unwrap();
            let pairs = vectors.row(0).iter().zip(vectors.row(1));
            pairs.map(|(a, b)| a * b).sum::<f32>()
        };
        assert!((score(&[3, 8]) - score(&[40, 45])).abs() < 1e-3);
        assert!((score(&[3, 8]) - score(&[3, 9])).abs() > 1e-2);
    }

    #[test]
    fn rows_and_threads_do_not_change_a_number() {
        let number = |i: usize| ((i * 53 % 97) as f32 - 48.0) / 30.0;
        let whole = Tensor::new(&[90, 600], (0..54_000).map(number).collect()).unwrap();
        let positions: Vec<u32> = (0..90).map(|row| row * 7 % 90).collect();
        let frequencies: Vec<f32> = (0..50).map(|i| 1.0 / (i + 1) as f32).collect();
        let mut turned = whole.clone();
        let all: Vec<u32> = (0..90).collect();
        let all = turns(&ONE, &frequencies, &all).unwrap();
        rotate(&Device::Cpu { threads: 3 }, &mut turned, &all, &positions).unwrap();
        for row in [0, 31, 89] {
            let mut alone = Tensor::new(&[1, 600], whole.row(row).to_vec()).unwrap();
            let own = turns(&ONE, &frequencies, &positions[row..=row]).unwrap();
            rotate(&ONE, &mut alone, &own, &[0]).unwrap();
            assert_eq!(alone.row(0), turned.row(row));
        }
    }

    #[test]
    fn turns_that_do_not_fit_are_refused() {
        let mut tensor = Tensor::zeros(2, 12);
        let mut refused = |columns: usize, positions: &[u32]| {
            refusal(rotate(&ONE, &mut tensor, &Tensor::zeros(2, columns), positions))
        };
        for columns in [3, 8, 0] {
            assert_eq!(refused(columns, &[0, 1]), "shape of turns");
        }
        assert_eq!(refused(4, &[1]), "shape of tensor");
        assert_eq!(refused(4, &[1, 2]), "index 2 of turns");
        assert_eq!(refused(4, &[1, 1]), "nothing");
    }
}
