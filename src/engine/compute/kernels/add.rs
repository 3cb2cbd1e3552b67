//! The sum of two tensors: what a block that normalises its input adds to its output ("pre-norm").
//! Where a normalisation follows the sum, [`layer_norm`](super::layer_norm()) takes both in one
//! pass.

use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::tasks::for_each_piece;
use crate::engine::compute::{ComputeError, Device, Tensor};

shader! {
    "add", 256, [Read, Write];
    struct Params {
        numbers: u32,
        padding: [u32; 3],
    }
}

/// Numbers handled by one task.
const PIECE: usize = 1 << 14;

/// Adds `other` (R, D) to `sum` (R, D), in place.
///
/// # Errors
/// When the shapes differ, or a GPU has no room or failed.
pub fn add(device: &Device, sum: &mut Tensor, other: &Tensor) -> Result<(), ComputeError> {
    other.expect("add", "other", sum.rows(), sum.width())?;
    match device {
        Device::Cpu { threads } => {
            let other = other.data();
            for_each_piece(*threads, sum.data_mut(), PIECE, |number, piece| {
                let other = &other[number * PIECE..];
                piece.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
            });
        }
        Device::Gpu(device) => gpu(device, sum, other)?,
    }
    Ok(())
}

fn gpu(gpu: &Gpu, sum: &mut Tensor, other: &Tensor) -> Result<(), ComputeError> {
    let (rows, width) = (sum.rows(), sum.width());
    let other = gpu.operand(other)?;
    let buffer = sum.own_buffer(gpu)?;
    for part in gpu.parts(rows, &[width], usize::MAX)? {
        let params = Params { numbers: (part.1 * width) as u32, padding: [0; 3] };
        let mut call = gpu.call(&SHADER, 0)?;
        call.bind(gpu.rows(&other, part, width));
        call.bind(gpu.rows(&buffer, part, width));
        call.costs(|| Cost::moved(&[part.1, width], 3 * part.1 * width));
        call.run(&params, gpu.grid((part.1 * width).div_ceil(256)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    #[test]
    fn every_number_is_added_to_the_one_in_its_place() {
        let number = |i: usize| i as f32;
        let mut sum = Tensor::new(&[5, 7000], (0..35_000).map(number).collect()).unwrap();
        let other = Tensor::new(&[5, 7000], (0..35_000).map(|i| 2.0 * number(i)).collect());
        add(&Device::Cpu { threads: 3 }, &mut sum, &other.unwrap()).unwrap();
        assert!(sum.data().iter().enumerate().all(|(i, x)| *x == 3.0 * number(i)));
        let refused = add(&Device::cpu(), &mut sum, &Tensor::zeros(7000, 5));
        assert_eq!(refusal(refused), "shape of other");
    }
}
