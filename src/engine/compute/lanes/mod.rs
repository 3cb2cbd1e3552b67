//! Sixteen f32 lanes on whatever the processor has.
//!
//! Kernels are written once, against the trait [`Lanes`]; [`dispatch`] compiles them for AVX-512,
//! for AVX2 with FMA and for plain code, and picks at run time. A vector has 16 lanes everywhere
//! (one register, two, or an array). So reductions have one order, the fused multiply-add has one
//! rounding, and all three give the same bits. The one exception is plain x86-64 without FMA, which
//! rounds twice.
//!
//! `exp` and `erf` are polynomials, since the library's are scalar. Sources: Cephes `expf`
//! (Moshier) and the rational approximation of erf in Eigen (`generic_fast_erf_float`), each
//! within a few units in the last place.

pub(super) mod dots;
mod plain;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::mem::MaybeUninit;

use plain::Plain;

/// Lanes in a vector.
pub(super) const LANES: usize = 16;

/// A vector in memory, aligned so that no load crosses a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [f32; LANES]);

/// An instruction set. A value of the type is proof that the processor has it.
///
/// `min` and `max` return their *second* operand when either is NaN, as x86 does, so that
/// `max(low, min(high, x))` keeps a NaN in `x`.
pub(super) trait Lanes: Copy {
    /// Sixteen numbers.
    type Vector: Copy;

    /// Rows and vectors of a matrix-product tile that fit the registers.
    const TILE: (usize, usize);

    fn splat(self, value: f32) -> Self::Vector;
    fn load(self, from: &[f32; LANES]) -> Self::Vector;
    fn store(self, to: &mut [f32; LANES], vector: Self::Vector);
    /// As `store`, in memory that may hold nothing yet.
    fn write(self, to: &mut [MaybeUninit<f32>; LANES], vector: Self::Vector);
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn div(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + c`, rounded once.
    fn fma(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// To the nearest integer, ties to even.
    fn round(self, a: Self::Vector) -> Self::Vector;
    /// `a * 2^n` for integral `n` in -126..=127.
    fn scale(self, a: Self::Vector, n: Self::Vector) -> Self::Vector;
    /// Whether some lane of `a` is greater than the one of `b`.
    fn any_greater(self, a: Self::Vector, b: Self::Vector) -> bool;

    /// Loads up to 16 numbers; the remaining lanes are `fill`.
    #[inline(always)]
    fn load_part(self, from: &[f32], fill: f32) -> Self::Vector {
        match from.first_chunk::<LANES>() {
            Some(full) => self.load(full),
            None => {
                let mut lanes = [fill; LANES];
                lanes[..from.len()].copy_from_slice(from);
                self.load(&lanes)
            }
        }
    }

    /// As [`store_part`](Self::store_part), in memory that may hold nothing yet.
    #[inline(always)]
    fn write_part(self, to: &mut [MaybeUninit<f32>], vector: Self::Vector) {
        match to.first_chunk_mut::<LANES>() {
            Some(full) => self.write(full, vector),
            None => {
                let mut lanes = [0.0; LANES];
                self.store(&mut lanes, vector);
                to.write_copy_of_slice(&lanes[..to.len()]);
            }
        }
    }

    /// Stores as many lanes as `to` holds, 16 at most.
    #[inline(always)]
    fn store_part(self, to: &mut [f32], vector: Self::Vector) {
        match to.first_chunk_mut::<LANES>() {
            Some(full) => self.store(full, vector),
            None => {
                let mut lanes = [0.0; LANES];
                self.store(&mut lanes, vector);
                let len = to.len();
                to.copy_from_slice(&lanes[..len]);
            }
        }
    }

    /// The sum of all lanes: halves folded onto each other, 8, 4, 2, 1.
    #[inline(always)]
    fn sum(self, a: Self::Vector) -> f32 {
        self.fold(a, |x, y| x + y)
    }

    /// Folds the upper half of the lanes onto the lower until one is left.
    #[inline(always)]
    fn fold(self, a: Self::Vector, op: impl Fn(f32, f32) -> f32) -> f32 {
        let mut lanes = [0.0; LANES];
        self.store(&mut lanes, a);
        let mut half = LANES / 2;
        while half > 0 {
            for lane in 0..half {
                lanes[lane] = op(lanes[lane], lanes[lane + half]);
            }
            half /= 2;
        }
        lanes[0]
    }

    /// `e^x`; below -87.3 and above 88.0 the value at that bound. NaN stays NaN.
    #[inline(always)]
    fn exp(self, x: Self::Vector) -> Self::Vector {
        let x = self.max(self.splat(-87.3), self.min(self.splat(88.0), x));
        let n = self.round(self.mul(x, self.splat(std::f32::consts::LOG2_E)));
        // ln 2 in two parts, the first of few bits, so that n * part is exact.
        let r = self.fma(n, self.splat(-0.693_359_4), x);
        let r = self.fma(n, self.splat(2.121_944_4e-4), r);
        let mut p = self.splat(1.987_569_1e-4);
        for c in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1] {
            p = self.fma(p, r, self.splat(c));
        }
        let p = self.fma(p, self.mul(r, r), self.add(r, self.splat(1.0)));
        self.scale(p, n)
    }

    /// The error function. NaN stays NaN.
    #[inline(always)]
    fn erf(self, x: Self::Vector) -> Self::Vector {
        // erf is 1 to the last bit from 4 on.
        let x = self.max(self.splat(-4.0), self.min(self.splat(4.0), x));
        let x2 = self.mul(x, x);
        let mut p = self.splat(-2.726_142_3e-10);
        for c in [
            2.770_681_4e-8,
            -2.101_024e-6,
            -5.692_506_4e-5,
            -7.349_906_3e-4,
            -2.954_6e-3,
            -1.609_603_3e-2,
        ] {
            p = self.fma(p, x2, self.splat(c));
        }
        let mut q = self.splat(-1.456_607_2e-5);
        for c in [-2.133_740_5e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2] {
            q = self.fma(q, x2, self.splat(c));
        }
        self.div(self.mul(x, p), q)
    }
}

/// Work that runs on any instruction set.
///
/// `run`, and all that it calls, must be `#[inline(always)]`, and its loops plain loops. A function
/// or closure of its own (one given to `map`, say) is compiled without the set, many times slower.
pub(super) trait Work {
    type Output;
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// Runs work on the widest instruction set of this processor.
pub(super) fn dispatch<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(lanes) = x86::Avx512::detect() {
            return lanes.run(work);
        }
        if let Some(lanes) = x86::Avx2::detect() {
            return lanes.run(work);
        }
    }
    work.run(Plain)
}

/// Whether a fused multiply-add is rounded once on this processor, so that it computes the bits
/// that all others of the kind compute.
pub(super) fn rounds_once() -> bool {
    #[cfg(target_arch = "x86_64")]
    if x86::Avx512::detect().is_some() || x86::Avx2::detect().is_some() {
        return true;
    }
    plain::FUSES
}

/// Runs work on every instruction set of this processor; those with FMA first.
#[cfg(test)]
pub(super) fn on_each<W: Work>(work: impl Fn() -> W) -> Vec<W::Output> {
    let mut outputs = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        outputs.extend(x86::Avx512::detect().map(|lanes| lanes.run(work())));
        outputs.extend(x86::Avx2::detect().map(|lanes| lanes.run(work())));
    }
    outputs.push(work().run(Plain));
    outputs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on a sweep of numbers, as bits.
    #[derive(Clone)]
    struct Sweep(Vec<f32>);

    impl Work for Sweep {
        type Output = Vec<u32>;
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) -> Vec<u32> {
            let mut bits = Vec::new();
            for chunk in self.0.chunks(LANES) {
                let x = lanes.load_part(chunk, 0.5);
                let y = lanes.splat(0.37);
                let results = [
                    lanes.exp(x),
                    lanes.erf(x),
                    lanes.round(x),
                    lanes.div(lanes.sub(x, y), lanes.max(y, lanes.mul(x, x))),
                ];
                for result in results {
                    let mut out = [0.0; LANES];
                    lanes.store(&mut out, result);
                    bits.extend(out.map(f32::to_bits));
                }
                bits.push(lanes.sum(x).to_bits());
                bits.push(u32::from(lanes.any_greater(x, y)));
            }
            bits
        }
    }

    fn sweep() -> Vec<f32> {
        (-4000..4000).map(|i| i as f32 * 0.0113).collect()
    }

    #[test]
    fn instruction_sets_with_fma_agree_to_the_bit_and_plain_code_within_rounding() {
        let mut results = on_each(|| Sweep(sweep()));
        let plain = results.pop().unwrap();
        for other in &results {
            assert_eq!(other, &results[0]);
            for (a, b) in plain.iter().zip(other) {
                let (a, b) = (f32::from_bits(*a), f32::from_bits(*b));
                assert!((a - b).abs() <= 1e-4 * a.abs().max(1.0), "{a} {b}");
            }
        }
        assert_eq!(plain.len(), 500 * (4 * LANES + 2));
    }

    struct Functions(f32);

    impl Work for Functions {
        type Output = (f32, f32);
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) -> (f32, f32) {
            let x = lanes.splat(self.0);
            let first = |v| {
                let mut out = [0.0; LANES];
                lanes.store(&mut out, v);
                out[0]
            };
            (first(lanes.exp(x)), first(lanes.erf(x)))
        }
    }

    #[test]
    fn exp_is_exact_to_a_few_units_in_the_last_place() {
        for i in -8000..=8000 {
            let x = i as f32 * 0.0107;
            let want = f64::from(x).exp();
            let got = f64::from(dispatch(Functions(x)).0);
            assert!((got - want).abs() <= 3e-7 * want, "exp({x}) = {got}, not {want}");
        }
        assert!(dispatch(Functions(-1e30)).0 < 2e-38);
        assert!(dispatch(Functions(f32::NAN)).0.is_nan());
    }

    #[test]
    fn erf_matches_tabulated_values() {
        // Abramowitz and Stegun, table 7.1.
        for (x, want) in [
            (0.0, 0.0),
            (0.1, 0.112_462_9),
            (0.5, 0.520_499_9),
            (1.0, 0.842_700_8),
            (1.5, 0.966_105_2),
            (2.0, 0.995_322_3),
            (3.0, 0.999_977_9),
            (9.0, 1.0),
        ] {
            for sign in [1.0, -1.0] {
                let got = dispatch(Functions(sign * x)).1;
                assert!((got - sign * want).abs() < 5e-7, "erf({x}) = {got}");
            }
        }
        assert!(dispatch(Functions(f32::NAN)).1.is_nan());
    }
}
