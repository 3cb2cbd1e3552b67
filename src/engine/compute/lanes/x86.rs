//! AVX-512 (one register a vector) and AVX2 with FMA (two).
//!
//! A value of [`Avx512`] or [`Avx2`] is made by detection only, so that holding one proves that the
//! processor has the instructions; every `unsafe` here rests on that.

#![allow(unsafe_code, reason = "processor intrinsics, guarded by run-time detection")]

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::{LANES, Lanes, Work};

/// Proof of AVX-512F.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx512f").then_some(Self(()))
    }

    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        #[target_feature(enable = "avx512f")]
        fn with_feature<W: Work>(lanes: Avx512, work: W) -> W::Output {
            work.run(lanes)
        }
        // SAFETY: `self` exists only after AVX-512F was detected.
        unsafe { with_feature(self, work) }
    }
}

/// Forwards to an intrinsic of the set that `self` proves.
macro_rules! intrinsic {
    ($call:expr) => {
        // SAFETY: `self` exists only after the instruction set was detected; loads and stores
        // go through references to 16 numbers and need no alignment.
        unsafe { $call }
    };
}

impl Lanes for Avx512 {
    type Vector = __m512;
    const TILE: (usize, usize) = (12, 2);

    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        intrinsic!(_mm512_set1_ps(value))
    }
    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> __m512 {
        intrinsic!(_mm512_loadu_ps(from.as_ptr()))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES], vector: __m512) {
        intrinsic!(_mm512_storeu_ps(to.as_mut_ptr(), vector))
    }
    #[inline(always)]
    fn write(self, to: &mut [MaybeUninit<f32>; LANES], vector: __m512) {
        intrinsic!(_mm512_storeu_ps(to.as_mut_ptr().cast(), vector))
    }
    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        intrinsic!(_mm512_add_ps(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        intrinsic!(_mm512_sub_ps(a, b))
    }
    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        intrinsic!(_mm512_mul_ps(a, b))
    }
    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        intrinsic!(_mm512_div_ps(a, b))
    }
    #[inline(always)]
    fn min(self, a: __m512, b: __m512) -> __m512 {
        intrinsic!(_mm512_min_ps(a, b))
    }
    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        intrinsic!(_mm512_max_ps(a, b))
    }
    #[inline(always)]
    fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        intrinsic!(_mm512_fmadd_ps(a, b, c))
    }
    #[inline(always)]
    fn round(self, a: __m512) -> __m512 {
        intrinsic!(_mm512_roundscale_ps::<_MM_FROUND_TO_NEAREST_INT>(a))
    }
    #[inline(always)]
    fn scale(self, a: __m512, n: __m512) -> __m512 {
        intrinsic!(_mm512_scalef_ps(a, n))
    }
    #[inline(always)]
    fn any_greater(self, a: __m512, b: __m512) -> bool {
        intrinsic!(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b)) != 0
    }
    /// The trait's order of additions, in registers.
    #[inline(always)]
    fn sum(self, a: __m512) -> f32 {
        intrinsic!({
            let high = _mm512_shuffle_f32x4::<0b11_10_11_10>(a, a);
            let eight = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_castps512_ps256(high));
            sum_of_eight(eight)
        })
    }
}

/// Folds eight lanes 4, 2, 1.
#[inline]
#[target_feature(enable = "avx")]
fn sum_of_eight(eight: __m256) -> f32 {
    let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
}

/// Proof of AVX2 and FMA.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Self(()))
    }

    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        #[target_feature(enable = "avx2,fma")]
        fn with_feature<W: Work>(lanes: Avx2, work: W) -> W::Output {
            work.run(lanes)
        }
        // SAFETY: `self` exists only after AVX2 and FMA were detected.
        unsafe { with_feature(self, work) }
    }
}

impl Lanes for Avx2 {
    type Vector = [__m256; 2];
    const TILE: (usize, usize) = (6, 1);

    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        [intrinsic!(_mm256_set1_ps(value)); 2]
    }
    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> Self::Vector {
        let (low, high) = from.split_at(LANES / 2);
        [intrinsic!(_mm256_loadu_ps(low.as_ptr())), intrinsic!(_mm256_loadu_ps(high.as_ptr()))]
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES], vector: Self::Vector) {
        let (low, high) = to.split_at_mut(LANES / 2);
        intrinsic!(_mm256_storeu_ps(low.as_mut_ptr(), vector[0]));
        intrinsic!(_mm256_storeu_ps(high.as_mut_ptr(), vector[1]));
    }
    #[inline(always)]
    fn write(self, to: &mut [MaybeUninit<f32>; LANES], vector: Self::Vector) {
        let (low, high) = to.split_at_mut(LANES / 2);
        intrinsic!(_mm256_storeu_ps(low.as_mut_ptr().cast(), vector[0]));
        intrinsic!(_mm256_storeu_ps(high.as_mut_ptr().cast(), vector[1]));
    }
    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        intrinsic!([_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])])
    }
    #[inline(always)]
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        intrinsic!([_mm256_sub_ps(a[0], b[0]), _mm256_sub_ps(a[1], b[1])])
    }
    #[inline(always)]
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        intrinsic!([_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])])
    }
    #[inline(always)]
    fn div(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        intrinsic!([_mm256_div_ps(a[0], b[0]), _mm256_div_ps(a[1], b[1])])
    }
    #[inline(always)]
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        intrinsic!([_mm256_min_ps(a[0], b[0]), _mm256_min_ps(a[1], b[1])])
    }
    #[inline(always)]
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        intrinsic!([_mm256_max_ps(a[0], b[0]), _mm256_max_ps(a[1], b[1])])
    }
    #[inline(always)]
    fn fma(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        intrinsic!([_mm256_fmadd_ps(a[0], b[0], c[0]), _mm256_fmadd_ps(a[1], b[1], c[1])])
    }
    #[inline(always)]
    fn round(self, a: Self::Vector) -> Self::Vector {
        const MODE: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        intrinsic!([_mm256_round_ps::<MODE>(a[0]), _mm256_round_ps::<MODE>(a[1])])
    }
    #[inline(always)]
    fn scale(self, a: Self::Vector, n: Self::Vector) -> Self::Vector {
        let half = |a, n| {
            intrinsic!({
                let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
                _mm256_mul_ps(a, _mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent)))
            })
        };
        [half(a[0], n[0]), half(a[1], n[1])]
    }
    #[inline(always)]
    fn any_greater(self, a: Self::Vector, b: Self::Vector) -> bool {
        let half = |a, b| intrinsic!(_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(a, b)));
        (half(a[0], b[0]) | half(a[1], b[1])) != 0
    }
    /// The trait's order of additions, in registers.
    #[inline(always)]
    fn sum(self, a: Self::Vector) -> f32 {
        intrinsic!(sum_of_eight(_mm256_add_ps(a[0], a[1])))
    }
}
