//! Matrix product on a GPU with weights of 16 bits, and how weights become 16 bits.
//!
//! A weight is rounded to the nearest 16-bit float (IEEE 754 binary16, ties to even): within 2^-11
//! of its value, or 2^-25 where that is more. Sums stay 32-bit, so a product is within 2^-11 of the
//! sum of the magnitudes of its terms.

use super::matmul_tiled::{Block, TILE, in_tiles};
use crate::engine::compute::ComputeError;
use half::f16;

/// The largest number that 16 bits hold.
pub(super) const LARGEST: f32 = 65504.0;

shader!("matmul_half" = "matmul_tiled" of f16, 256, super::matmul_tiled::SHADER.bindings);

pub(super) fn gpu(block: Block<'_>) -> Result<(), ComputeError> {
    in_tiles(block, &SHADER, TILE)
}

/// Numbers as the bits of 16-bit floats; they are finite, and at most [`LARGEST`].
pub(super) fn pack(numbers: &[f32]) -> Vec<u16> {
    numbers.iter().map(|number| f16::from_f32(*number).to_bits()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half_bits(number: f64) -> u16 {
        pack(&[number as f32])[0]
    }

    fn value(bits: u16) -> f64 {
        f16::from_bits(bits).to_f64()
    }

    #[test]
    fn a_number_goes_to_the_nearest_half() {
        for bits in 0..0x7bffu16 {
            let (low, high) = (value(bits), value(bits + 1));
            let middle = (low + high) / 2.0;
            assert_eq!(half_bits(middle), bits + (bits & 1), "ties go to even");
            assert_eq!(half_bits(low * 0.51 + high * 0.49), bits);
            assert_eq!(half_bits(low * 0.49 + high * 0.51), bits + 1);
        }
    }
}
