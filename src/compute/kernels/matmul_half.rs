//! Matrix product on a GPU with weights of 16 bits, and how weights become 16 bits.
//!
//! A weight is rounded to the nearest 16-bit float (IEEE 754 binary16, ties to even): within 2^-11 of its
//! value, or 2^-25 where that is more. Sums stay 32-bit, so a product is within 2^-11 of the sum of the
//! magnitudes of its terms.

use super::matmul_tiled::{BINDINGS, Block, TILE, in_tiles};
use crate::compute::ComputeError;
use crate::compute::gpu::{Needs, Shader};

/// The largest number that 16 bits hold.
pub(super) const LARGEST: f32 = 65504.0;

pub(super) static SHADER: Shader = Shader {
    name: "matmul_half",
    source: include_str!("../../../shaders/matmul_half.wgsl"),
    workgroup_size: [256, 1, 1],
    needs: Needs::Half,
    bindings: &BINDINGS,
};

pub(super) fn gpu(block: Block<'_>) -> Result<(), ComputeError> {
    in_tiles(block, &SHADER, TILE)
}

/// Numbers as 16-bit floats.
pub(super) fn pack(numbers: &[f32]) -> Vec<u16> {
    numbers.iter().map(|number| half_bits(*number)).collect()
}

/// The bits of the nearest 16-bit float of a finite number, up to [`LARGEST`].
fn half_bits(number: f32) -> u16 {
    let bits = number.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // 2^-14 is the smallest normal number.
    if magnitude < 0x3880_0000 {
        // Subnormal: a whole number of 2^-24. The addition rounds to that, ties to even.
        let shifted = f32::from_bits(magnitude) + f32::from_bits(0x3f00_0000);
        return sign | (shifted.to_bits() - 0x3f00_0000) as u16;
    }
    // Another bias of the exponent, then 13 bits less, rounded to even.
    let rebased = magnitude - 0x3800_0000;
    let rounded = rebased + 0xfff + ((rebased >> 13) & 1);
    sign | (rounded >> 13) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a finite 16-bit float, read off its definition.
    fn value(bits: u16) -> f64 {
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
        let magnitude = match exponent {
            0 => fraction * 2f64.powi(-24),
            _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
        };
        if bits >> 15 == 1 { -magnitude } else { magnitude }
    }

    #[test]
    fn every_half_keeps_its_bits() {
        for bits in (0..0x7c00u16).chain(0x8000..0xfc00) {
            assert_eq!(half_bits(value(bits) as f32), bits);
        }
    }

    #[test]
    fn a_number_goes_to_the_nearest_half() {
        for bits in 0..0x7bffu16 {
            let (low, high) = (value(bits), value(bits + 1));
            let middle = (low + high) / 2.0;
            assert_eq!(half_bits(middle as f32), bits + (bits & 1), "ties go to even");
            assert_eq!(half_bits((low * 0.51 + high * 0.49) as f32), bits);
            assert_eq!(half_bits((low * 0.49 + high * 0.51) as f32), bits + 1);
        }
    }
}
