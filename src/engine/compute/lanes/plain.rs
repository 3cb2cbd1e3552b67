//! Arrays and loops: what runs on every processor, and what the compiler makes of it.

use super::{LANES, Lanes};
use std::mem::MaybeUninit;

/// Arrays and loops.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain;

/// Whether the target is known to have the instruction.
pub(super) const FUSES: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

/// One rounding where the target is known to have the instruction, else two: calling the
/// library's exact version would be a hundred times slower.
#[inline(always)]
fn fused(a: f32, b: f32, c: f32) -> f32 {
    if FUSES { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
fn zip(a: [f32; LANES], b: [f32; LANES], op: impl Fn(f32, f32) -> f32) -> [f32; LANES] {
    std::array::from_fn(|lane| op(a[lane], b[lane]))
}

impl Lanes for Plain {
    type Vector = [f32; LANES];
    const TILE: (usize, usize) = (4, 1);

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        [value; LANES]
    }
    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> Self::Vector {
        *from
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES], vector: Self::Vector) {
        *to = vector;
    }
    #[inline(always)]
    fn write(self, to: &mut [MaybeUninit<f32>; LANES], vector: Self::Vector) {
        to.write_copy_of_slice(&vector);
    }
    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        zip(a, b, |x, y| x + y)
    }
    #[inline(always)]
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        zip(a, b, |x, y| x - y)
    }
    #[inline(always)]
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        zip(a, b, |x, y| x * y)
    }
    #[inline(always)]
    fn div(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        zip(a, b, |x, y| x / y)
    }
    #[inline(always)]
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        zip(a, b, |x, y| if x < y { x } else { y })
    }
    #[inline(always)]
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        zip(a, b, |x, y| if x > y { x } else { y })
    }
    #[inline(always)]
    fn fma(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        std::array::from_fn(|lane| fused(a[lane], b[lane], c[lane]))
    }
    #[inline(always)]
    fn round(self, a: Self::Vector) -> Self::Vector {
        // Adding 1.5 * 2^23 pushes the fraction out of the significand.
        const MAGIC: f32 = 12_582_912.0;
        a.map(|x| (x + MAGIC) - MAGIC)
    }
    #[inline(always)]
    fn scale(self, a: Self::Vector, n: Self::Vector) -> Self::Vector {
        zip(a, n, |x, n| x * f32::from_bits(((n as i32 + 127) as u32) << 23))
    }
    #[inline(always)]
    fn any_greater(self, a: Self::Vector, b: Self::Vector) -> bool {
        (0..LANES).any(|lane| a[lane] > b[lane])
    }
}
