//! AVX-512 with VNNI (one register a vector) and AVX2 (two).
//!
//! A value of [`Vnni`] or [`Avx2Dots`] is made by detection only, so that holding one proves that
//! the processor has the instructions; every `unsafe` here rests on that.

#![allow(unsafe_code, reason = "processor intrinsics, guarded by run-time detection")]

use std::arch::x86_64::*;

use super::super::LANES;
use super::super::x86::{Avx2, Avx512};
use super::{ByteLine, DotWork, Dots, FOUR};

/// Proof of AVX-512F, BW, VL and VNNI.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vnni(Avx512);

impl Vnni {
    pub(super) fn detect() -> Option<Self> {
        let more = is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vnni");
        Avx512::detect().filter(|_| more).map(Self)
    }

    pub(super) fn run<W: DotWork>(self, work: W) -> W::Output {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
        fn with_feature<W: DotWork>(dots: Vnni, work: W) -> W::Output {
            work.run(dots)
        }
        // SAFETY: `self` exists only after all of them were detected.
        unsafe { with_feature(self, work) }
    }
}

/// Forwards to an intrinsic of the set that `self` proves.
macro_rules! intrinsic {
    ($call:expr) => {
        // SAFETY: `self` exists only after the instruction set was detected; loads go through
        // references to as many bytes as they read and need no alignment.
        unsafe { $call }
    };
}

impl Dots for Vnni {
    type Floats = Avx512;
    type Sums = __m512i;
    type Bytes = __m512i;
    type Four = __m512i;
    type Signed = __m512i;
    const TILE: (usize, usize) = (12, 2);
    /// The instruction multiplies numbers without a sign by such with one.
    const OFFSET: u8 = 0x80;

    #[inline(always)]
    fn floats(self) -> Avx512 {
        self.0
    }
    #[inline(always)]
    fn start(self, sums: &[i32; LANES]) -> __m512i {
        intrinsic!(_mm512_loadu_si512(sums.as_ptr().cast()))
    }
    #[inline(always)]
    fn load(self, line: &ByteLine) -> __m512i {
        intrinsic!(_mm512_loadu_si512(line.0.as_ptr().cast()))
    }
    #[inline(always)]
    fn splat(self, four: &[u8; FOUR]) -> __m512i {
        intrinsic!(_mm512_broadcastd_epi32(_mm_loadu_si32(four.as_ptr())))
    }
    #[inline(always)]
    fn dot(self, four: __m512i, bytes: __m512i, sums: __m512i) -> __m512i {
        intrinsic!(_mm512_dpbusd_epi32(sums, four, bytes))
    }
    #[inline(always)]
    fn start_all(self, sum: i32) -> __m512i {
        intrinsic!(_mm512_set1_epi32(sum))
    }
    #[inline(always)]
    fn splat_signed(self, four: &[u8; FOUR]) -> __m512i {
        intrinsic!(_mm512_broadcastd_epi32(_mm_loadu_si32(four.as_ptr())))
    }
    #[inline(always)]
    fn halves(self, bytes: __m512i) -> [__m512i; 2] {
        intrinsic!({
            let low = _mm512_set1_epi8(15);
            [_mm512_and_si512(bytes, low), _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), low)]
        })
    }
    #[inline(always)]
    fn weigh<const SMALL: bool>(self, bytes: __m512i, four: __m512i, sums: __m512i) -> __m512i {
        intrinsic!(_mm512_dpbusd_epi32(sums, bytes, four))
    }
    #[inline(always)]
    fn to_floats(self, sums: __m512i) -> __m512 {
        intrinsic!(_mm512_cvtepi32_ps(sums))
    }
}

/// Proof of AVX2 and FMA.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2Dots(Avx2);

impl Avx2Dots {
    pub(super) fn detect() -> Option<Self> {
        Avx2::detect().map(Self)
    }

    pub(super) fn run<W: DotWork>(self, work: W) -> W::Output {
        #[target_feature(enable = "avx2,fma")]
        fn with_feature<W: DotWork>(dots: Avx2Dots, work: W) -> W::Output {
            work.run(dots)
        }
        // SAFETY: `self` exists only after AVX2 and FMA were detected.
        unsafe { with_feature(self, work) }
    }
}

/// The sign of `four` goes over to the bytes: `maddubs` wants one operand without a sign. It sums
/// pairs in 16 bits with saturation, which 2 * 127 * 127 stays below.
#[inline]
#[target_feature(enable = "avx2")]
fn half_dot([four, absolute]: [__m256i; 2], bytes: __m256i, sums: __m256i) -> __m256i {
    let pairs = _mm256_maddubs_epi16(absolute, _mm256_sign_epi8(bytes, four));
    _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
}

/// `maddubs` saturates in 16 bits, which products of numbers below 128 stay below: the highest bits
/// go by themselves.
#[inline]
#[target_feature(enable = "avx2")]
fn half_weigh<const SMALL: bool>(bytes: __m256i, four: __m256i, sums: __m256i) -> __m256i {
    let sum = |bytes, factor| {
        _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, four), _mm256_set1_epi16(factor))
    };
    if SMALL {
        return _mm256_add_epi32(sums, sum(bytes, 1));
    }
    let low = _mm256_and_si256(bytes, _mm256_set1_epi8(127));
    let high = _mm256_and_si256(_mm256_srli_epi16::<7>(bytes), _mm256_set1_epi8(1));
    _mm256_add_epi32(_mm256_add_epi32(sums, sum(low, 1)), sum(high, 128))
}

/// The lower or, shifted by four, the upper halves of bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn half_halves<const SHIFT: i32>(bytes: __m256i) -> __m256i {
    _mm256_and_si256(_mm256_srli_epi16::<SHIFT>(bytes), _mm256_set1_epi8(15))
}

impl Dots for Avx2Dots {
    type Floats = Avx2;
    type Sums = [__m256i; 2];
    type Bytes = [__m256i; 2];
    /// The numbers, and their absolute values.
    type Four = [__m256i; 2];
    type Signed = __m256i;
    const TILE: (usize, usize) = (4, 1);
    const OFFSET: u8 = 0;

    #[inline(always)]
    fn floats(self) -> Avx2 {
        self.0
    }
    #[inline(always)]
    fn start(self, sums: &[i32; LANES]) -> Self::Sums {
        let (low, high) = sums.split_at(LANES / 2);
        intrinsic!([
            _mm256_loadu_si256(low.as_ptr().cast()),
            _mm256_loadu_si256(high.as_ptr().cast()),
        ])
    }
    #[inline(always)]
    fn load(self, line: &ByteLine) -> Self::Bytes {
        let (low, high) = line.0.split_at(LANES / 2);
        intrinsic!([
            _mm256_loadu_si256(low.as_ptr().cast()),
            _mm256_loadu_si256(high.as_ptr().cast()),
        ])
    }
    #[inline(always)]
    fn splat(self, four: &[u8; FOUR]) -> Self::Four {
        intrinsic!({
            let four = _mm256_broadcastd_epi32(_mm_loadu_si32(four.as_ptr()));
            [four, _mm256_abs_epi8(four)]
        })
    }
    #[inline(always)]
    fn dot(self, four: Self::Four, bytes: Self::Bytes, sums: Self::Sums) -> Self::Sums {
        intrinsic!([half_dot(four, bytes[0], sums[0]), half_dot(four, bytes[1], sums[1])])
    }
    #[inline(always)]
    fn start_all(self, sum: i32) -> Self::Sums {
        intrinsic!([_mm256_set1_epi32(sum); 2])
    }
    #[inline(always)]
    fn splat_signed(self, four: &[u8; FOUR]) -> __m256i {
        intrinsic!(_mm256_broadcastd_epi32(_mm_loadu_si32(four.as_ptr())))
    }
    #[inline(always)]
    fn halves(self, bytes: Self::Bytes) -> [Self::Bytes; 2] {
        intrinsic!([
            [half_halves::<0>(bytes[0]), half_halves::<0>(bytes[1])],
            [half_halves::<4>(bytes[0]), half_halves::<4>(bytes[1])],
        ])
    }
    #[inline(always)]
    fn weigh<const SMALL: bool>(
        self,
        bytes: Self::Bytes,
        four: __m256i,
        sums: Self::Sums,
    ) -> Self::Sums {
        intrinsic!([
            half_weigh::<SMALL>(bytes[0], four, sums[0]),
            half_weigh::<SMALL>(bytes[1], four, sums[1]),
        ])
    }
    #[inline(always)]
    fn to_floats(self, sums: Self::Sums) -> [__m256; 2] {
        intrinsic!([_mm256_cvtepi32_ps(sums[0]), _mm256_cvtepi32_ps(sums[1])])
    }
}
