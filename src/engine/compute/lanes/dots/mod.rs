//! Products of bytes, summed in 32-bit integers, on whatever the processor has.
//!
//! As [`Lanes`] for f32: kernels are written once, against the trait [`Dots`], and [`dispatch`]
//! picks AVX-512 with VNNI, AVX2 or plain code. Sums of integers are exact, so all three, in any
//! order, give the same bits.

mod plain;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::{LANES, Lanes};
use plain::PlainDots;

/// Numbers that are multiplied and summed at once in each lane.
pub(in crate::engine::compute) const FOUR: usize = 4;

/// Four 8-bit numbers for each of 16 lanes, aligned so that no load crosses a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(in crate::engine::compute) struct ByteLine(pub(in crate::engine::compute) [[i8; FOUR]; LANES]);

/// An instruction set. A value of the type is proof that the processor has it.
pub(in crate::engine::compute) trait Dots: Copy {
    /// The same set for f32.
    type Floats: Lanes;
    /// Sixteen sums.
    type Sums: Copy;
    /// A [`ByteLine`].
    type Bytes: Copy;
    /// Four numbers, the same in every lane.
    type Four: Copy;
    /// The same, with their signs as they are.
    type Signed: Copy;

    /// Rows and vectors of a matrix-product tile that fit the registers.
    const TILE: (usize, usize);

    /// What is added to the four numbers of [`splat`](Self::splat) beforehand. Instructions that
    /// want one operand without a sign get numbers of 1 to 255, and sums begin with what that adds.
    const OFFSET: u8;

    fn floats(self) -> Self::Floats;
    fn start(self, sums: &[i32; LANES]) -> Self::Sums;
    fn load(self, line: &ByteLine) -> Self::Bytes;
    /// Four numbers of -127 to 127, plus [`OFFSET`](Self::OFFSET).
    fn splat(self, four: &[u8; FOUR]) -> Self::Four;
    /// `sums[lane] + sum_i four[i] * bytes[lane][i]`; no byte is -128.
    fn dot(self, four: Self::Four, bytes: Self::Bytes, sums: Self::Sums) -> Self::Sums;
    /// Sums that all begin with one number.
    fn start_all(self, sum: i32) -> Self::Sums;
    /// Four numbers of -127 to 127.
    fn splat_signed(self, four: &[u8; FOUR]) -> Self::Signed;
    /// The lower halves of bytes without a sign, and the upper ones.
    fn halves(self, bytes: Self::Bytes) -> [Self::Bytes; 2];
    /// `sums[lane] + sum_i bytes[lane][i] * four[i]` of bytes without a sign; they are `SMALL`
    /// below 128.
    fn weigh<const SMALL: bool>(
        self,
        bytes: Self::Bytes,
        four: Self::Signed,
        sums: Self::Sums,
    ) -> Self::Sums;
    /// To the nearest f32.
    fn to_floats(self, sums: Self::Sums) -> <Self::Floats as Lanes>::Vector;
}

/// Work that runs on any instruction set; what [`super::Work`] says of inlining holds here, too.
pub(in crate::engine::compute) trait DotWork {
    type Output;
    fn run<D: Dots>(self, dots: D) -> Self::Output;
}

/// Runs work on the best instruction set of this processor.
pub(in crate::engine::compute) fn dispatch<W: DotWork>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(dots) = x86::Vnni::detect() {
            return dots.run(work);
        }
        if let Some(dots) = x86::Avx2Dots::detect() {
            return dots.run(work);
        }
    }
    work.run(PlainDots)
}

/// Runs work on every instruction set of this processor.
#[cfg(test)]
pub(in crate::engine::compute) fn on_each<W: DotWork>(work: impl Fn() -> W) -> Vec<W::Output> {
    let mut outputs = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        outputs.extend(x86::Vnni::detect().map(|dots| dots.run(work())));
        outputs.extend(x86::Avx2Dots::detect().map(|dots| dots.run(work())));
    }
    outputs.push(work().run(PlainDots));
    outputs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of `four` with every line, one after the other.
    struct Sums<'a>([i8; FOUR], &'a [ByteLine]);

    impl DotWork for Sums<'_> {
        type Output = [f32; LANES];
        #[inline(always)]
        fn run<D: Dots>(self, dots: D) -> [f32; LANES] {
            let Self(four, lines) = self;
            let mut offset = [0; LANES];
            for line in lines {
                for (sum, bytes) in offset.iter_mut().zip(line.0) {
                    for byte in bytes {
                        *sum -= i32::from(D::OFFSET) * i32::from(byte);
                    }
                }
            }
            let mut sums = dots.start(&offset);
            let four = dots.splat(&four.map(|number| number.cast_unsigned() ^ D::OFFSET));
            for line in lines {
                sums = dots.dot(four, dots.load(line), sums);
            }
            let mut floats = [0.0; LANES];
            dots.floats().store(&mut floats, dots.to_floats(sums));
            floats
        }
    }

    #[test]
    fn every_instruction_set_sums_products_exactly_at_the_ends_of_the_range() {
        for (four, byte) in [(127, 127), (-127, 127), (127, -127), (-127, -127), (0, 127), (1, -1)]
        {
            let lines = [ByteLine([[byte; FOUR]; LANES]); 20];
            let want = 80 * i32::from(four) * i32::from(byte);
            for sums in on_each(|| Sums([four; FOUR], &lines)) {
                assert_eq!(sums, [want as f32; LANES], "{four} times {byte}");
            }
        }
    }

    /// As [`Sums`], of bytes without a sign.
    struct Weighed<'a>([i8; FOUR], &'a [ByteLine]);

    impl DotWork for Weighed<'_> {
        type Output = [[f32; LANES]; 2];
        #[inline(always)]
        fn run<D: Dots>(self, dots: D) -> [[f32; LANES]; 2] {
            let Self(four, lines) = self;
            let mut sums = [dots.start_all(-5), dots.start_all(0)];
            let four = dots.splat_signed(&four.map(i8::cast_unsigned));
            for line in lines {
                let bytes = dots.load(line);
                sums[0] = dots.weigh::<false>(bytes, four, sums[0]);
                let [low, high] = dots.halves(bytes);
                sums[1] = dots.weigh::<true>(low, four, sums[1]);
                sums[1] = dots.weigh::<true>(high, four, sums[1]);
            }
            let mut floats = [[0.0; LANES]; 2];
            dots.floats().store(&mut floats[0], dots.to_floats(sums[0]));
            dots.floats().store(&mut floats[1], dots.to_floats(sums[1]));
            floats
        }
    }

    #[test]
    fn every_instruction_set_weighs_bytes_without_a_sign_exactly() {
        for four in [[127; FOUR], [-127; FOUR], [127, -127, 1, -1], [3, -50, 0, 127]] {
            for bytes in [[255; FOUR], [0, 255, 128, 127], [1, 2, 16, 240]] {
                let lines = [ByteLine([bytes.map(u8::cast_signed); LANES]); 9];
                let sum = |of: fn(i32) -> i32| {
                    let products =
                        bytes.iter().zip(four).map(|(b, x)| of(i32::from(*b)) * i32::from(x));
                    9 * products.sum::<i32>()
                };
                let want =
                    [sum(|b| b) - 5, sum(|b| b % 16 + b / 16)].map(|sum| [sum as f32; LANES]);
                for sums in on_each(|| Weighed(four, &lines)) {
                    assert_eq!(sums, want, "{four:?} times {bytes:?}");
                }
            }
        }
    }

    #[test]
    fn lanes_and_places_do_not_mix() {
        let line = ByteLine(std::array::from_fn(|lane| {
            std::array::from_fn(|at| (lane as i8 - 7) * (at as i8 * 3 - 5))
        }));
        let four = [3, -50, 0, 127];
        let want = line.0.map(|bytes| {
            bytes.iter().zip(four).map(|(a, b)| i32::from(*a) * i32::from(b)).sum::<i32>() as f32
        });
        for sums in on_each(|| Sums(four, std::slice::from_ref(&line))) {
            assert_eq!(sums, want);
        }
    }
}
