//! Arrays and loops: what runs on every processor, and what the compiler makes of it.

use super::super::LANES;
use super::super::plain::Plain;
use super::{ByteLine, Dots, FOUR};

/// Arrays and loops.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainDots;

impl Dots for PlainDots {
    type Floats = Plain;
    type Sums = [i32; LANES];
    type Bytes = ByteLine;
    type Four = [i32; FOUR];
    type Signed = [i32; FOUR];
    const TILE: (usize, usize) = (4, 1);
    const OFFSET: u8 = 0;

    #[inline(always)]
    fn floats(self) -> Plain {
        Plain
    }
    #[inline(always)]
    fn start(self, sums: &[i32; LANES]) -> Self::Sums {
        *sums
    }
    #[inline(always)]
    fn load(self, line: &ByteLine) -> Self::Bytes {
        *line
    }
    #[inline(always)]
    fn splat(self, four: &[u8; FOUR]) -> Self::Four {
        four.map(|number| i32::from(number.cast_signed()))
    }
    #[inline(always)]
    fn dot(self, four: Self::Four, bytes: Self::Bytes, mut sums: Self::Sums) -> Self::Sums {
        for (sum, bytes) in sums.iter_mut().zip(bytes.0) {
            for (number, byte) in four.iter().zip(bytes) {
                *sum += number * i32::from(byte);
            }
        }
        sums
    }
    #[inline(always)]
    fn start_all(self, sum: i32) -> Self::Sums {
        [sum; LANES]
    }
    #[inline(always)]
    fn splat_signed(self, four: &[u8; FOUR]) -> Self::Signed {
        four.map(|number| i32::from(number.cast_signed()))
    }
    #[inline(always)]
    fn halves(self, bytes: Self::Bytes) -> [Self::Bytes; 2] {
        let half = |shift: u32| {
            let of_byte = |byte: i8| (byte.cast_unsigned() >> shift & 15).cast_signed();
            ByteLine(bytes.0.map(|four| four.map(of_byte)))
        };
        [half(0), half(4)]
    }
    #[inline(always)]
    fn weigh<const SMALL: bool>(
        self,
        bytes: Self::Bytes,
        four: Self::Signed,
        mut sums: Self::Sums,
    ) -> Self::Sums {
        for (sum, bytes) in sums.iter_mut().zip(bytes.0) {
            for (number, byte) in four.iter().zip(bytes) {
                *sum += number * i32::from(byte.cast_unsigned());
            }
        }
        sums
    }
    #[inline(always)]
    fn to_floats(self, sums: Self::Sums) -> [f32; LANES] {
        sums.map(|sum| sum as f32)
    }
}
