//! Vectors of `f32`, `f64` and `i32` by the same names for all instruction sets. Sums and products
//! of integers are their low bits.

/// A module with the names for vectors of a type.
#[cfg(target_arch = "x86_64")]
macro_rules! registers {
    (
        $module:ident $features:literal $ty:ident $lanes:literal $vector:ident
        $zero:ident $splat:ident $load:ident $store:ident $add:ident $fma:ident
        $store_some:ident |$count:ident| $first:expr, |$sum:ident, $quiet:ident| $result:expr
    ) => {
        pub(crate) mod $module {
            use std::arch::x86_64::*;
            pub(crate) use std::arch::x86_64::{
                $add as add, $fma as fused_multiply_add, $load as load, $splat as splat,
                $store as store, $zero as zero,
            };

            /// The number of elements.
            pub(crate) const LANES: usize = $lanes;

            /// Sums as results: zeros are positive, and each NaN is the quiet one without sign and
            /// payload.
            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) fn results(sums: $vector) -> $vector {
                let ($sum, $quiet) = (add(sums, zero()), splat($ty::NAN));
                $result
            }

            /// Writes the first `count` elements, at most those of a vector.
            ///
            /// # Safety
            /// The pointer is writable for these elements.
            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) unsafe fn store_first(to: *mut $ty, elements: $vector, $count: usize) {
                // SAFETY: the caller says so.
                unsafe { $store_some(to, $first, elements) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
registers! {
    single "avx2,fma" f32 8 __m256
    _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps _mm256_fmadd_ps
    _mm256_maskstore_ps |count| _mm256_cmpgt_epi32(
        _mm256_set1_epi32(count as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
    ),
    |sum, quiet| _mm256_blendv_ps(sum, quiet, _mm256_cmp_ps::<_CMP_UNORD_Q>(sum, sum))
}
#[cfg(target_arch = "x86_64")]
registers! {
    wide_single "avx512f" f32 16 __m512
    _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps _mm512_fmadd_ps
    _mm512_mask_storeu_ps |count| !u16::MAX.unbounded_shl(count as u32),
    |sum, quiet| _mm512_mask_mov_ps(sum, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(sum, sum), quiet)
}
#[cfg(target_arch = "x86_64")]
registers! {
    double "avx2,fma" f64 4 __m256d
    _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_add_pd _mm256_fmadd_pd
    _mm256_maskstore_pd |count| _mm256_cmpgt_epi64(
        _mm256_set1_epi64x(count as i64), _mm256_setr_epi64x(0, 1, 2, 3)
    ),
    |sum, quiet| _mm256_blendv_pd(sum, quiet, _mm256_cmp_pd::<_CMP_UNORD_Q>(sum, sum))
}
#[cfg(target_arch = "x86_64")]
registers! {
    wide_double "avx512f" f64 8 __m512d
    _mm512_setzero_pd _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_add_pd _mm512_fmadd_pd
    _mm512_mask_storeu_pd |count| !u8::MAX.unbounded_shl(count as u32),
    |sum, quiet| _mm512_mask_mov_pd(sum, _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(sum, sum), quiet)
}

/// A module with the names for vectors of `i32`.
#[cfg(target_arch = "x86_64")]
macro_rules! integers {
    (
        $module:ident $features:literal $lanes:literal $vector:ident
        $zero:ident $splat:ident $load:ident $store:ident $add:ident $multiply:ident
        $store_some:ident |$count:ident| $first:expr
    ) => {
        pub(crate) mod $module {
            use std::arch::x86_64::*;
            pub(crate) use std::arch::x86_64::{$add as add, $splat as splat, $zero as zero};

            /// The number of elements.
            pub(crate) const LANES: usize = $lanes;

            /// # Safety
            /// The pointer is readable for the elements of a vector.
            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) unsafe fn load(from: *const i32) -> $vector {
                // SAFETY: the caller says so.
                unsafe { $load(from.cast()) }
            }

            /// # Safety
            /// The pointer is writable for the elements of a vector.
            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) unsafe fn store(to: *mut i32, elements: $vector) {
                // SAFETY: the caller says so.
                unsafe { $store(to.cast(), elements) }
            }

            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) fn fused_multiply_add(a: $vector, b: $vector, sum: $vector) -> $vector {
                add(sum, $multiply(a, b))
            }

            /// Sums are results.
            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) fn results(sums: $vector) -> $vector {
                sums
            }

            /// Writes the first `count` elements, at most those of a vector.
            ///
            /// # Safety
            /// The pointer is writable for these elements.
            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) unsafe fn store_first(to: *mut i32, elements: $vector, $count: usize) {
                // SAFETY: the caller says so.
                unsafe { $store_some(to, $first, elements) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
integers! {
    integer "avx2,fma" 8 __m256i
    _mm256_setzero_si256 _mm256_set1_epi32 _mm256_loadu_si256 _mm256_storeu_si256
    _mm256_add_epi32 _mm256_mullo_epi32
    _mm256_maskstore_epi32 |count| _mm256_cmpgt_epi32(
        _mm256_set1_epi32(count as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
    )
}
#[cfg(target_arch = "x86_64")]
integers! {
    wide_integer "avx512f" 16 __m512i
    _mm512_setzero_si512 _mm512_set1_epi32 _mm512_loadu_si512 _mm512_storeu_si512
    _mm512_add_epi32 _mm512_mullo_epi32
    _mm512_mask_storeu_epi32 |count| !u16::MAX.unbounded_shl(count as u32)
}

/// A module with the names for vectors of a type, each of which is a pair of NEON registers.
#[cfg(target_arch = "aarch64")]
macro_rules! pairs {
    (
        $module:ident $ty:ident $zero:literal $lanes:literal $vector:ident
        $splat:ident $load:ident $store:ident $add:ident $fma:ident
        |$sums:ident| $results:expr
    ) => {
        pub(crate) mod $module {
            use std::arch::aarch64::*;

            type Pair = [$vector; 2];

            /// The number of elements.
            pub(crate) const LANES: usize = 2 * $lanes;

            #[inline]
            #[target_feature(enable = "neon")]
            pub(crate) fn splat(x: $ty) -> Pair {
                [$splat(x); 2]
            }

            #[inline]
            #[target_feature(enable = "neon")]
            pub(crate) fn zero() -> Pair {
                splat($zero)
            }

            /// # Safety
            /// The pointer is readable for the elements of a vector.
            #[inline]
            #[target_feature(enable = "neon")]
            pub(crate) unsafe fn load(from: *const $ty) -> Pair {
                // SAFETY: the caller says so.
                unsafe { [$load(from), $load(from.add($lanes))] }
            }

            /// # Safety
            /// The pointer is writable for the elements of a vector.
            #[inline]
            #[target_feature(enable = "neon")]
            pub(crate) unsafe fn store(to: *mut $ty, [low, high]: Pair) {
                // SAFETY: the caller says so.
                unsafe {
                    $store(to, low);
                    $store(to.add($lanes), high);
                }
            }

            #[inline]
            #[target_feature(enable = "neon")]
            pub(crate) fn add(a: Pair, b: Pair) -> Pair {
                [$add(a[0], b[0]), $add(a[1], b[1])]
            }

            #[inline]
            #[target_feature(enable = "neon")]
            pub(crate) fn fused_multiply_add(a: Pair, b: Pair, sum: Pair) -> Pair {
                [$fma(sum[0], a[0], b[0]), $fma(sum[1], a[1], b[1])]
            }

            /// Sums as results: zeros are positive, and each NaN is the quiet one without sign and
            /// payload.
            #[inline]
            #[target_feature(enable = "neon")]
            pub(crate) fn results($sums: Pair) -> Pair {
                $results
            }

            /// Writes the first `count` elements, at most those of a vector.
            ///
            /// # Safety
            /// The pointer is writable for these elements.
            #[inline]
            #[target_feature(enable = "neon")]
            pub(crate) unsafe fn store_first(to: *mut $ty, elements: Pair, count: usize) {
                let mut all = [$zero; LANES];
                // SAFETY: the array has a vector, and the caller has room for its first elements.
                unsafe {
                    store(all.as_mut_ptr(), elements);
                    to.copy_from_nonoverlapping(all.as_ptr(), count.min(LANES));
                }
            }
        }
    };
}

#[cfg(target_arch = "aarch64")]
pairs! {
    single f32 0.0 4 float32x4_t
    vdupq_n_f32 vld1q_f32 vst1q_f32 vaddq_f32 vfmaq_f32
    |sums| add(sums, zero()).map(|x| vbslq_f32(vceqq_f32(x, x), x, vdupq_n_f32(f32::NAN)))
}
#[cfg(target_arch = "aarch64")]
pairs! {
    double f64 0.0 2 float64x2_t
    vdupq_n_f64 vld1q_f64 vst1q_f64 vaddq_f64 vfmaq_f64
    |sums| add(sums, zero()).map(|x| vbslq_f64(vceqq_f64(x, x), x, vdupq_n_f64(f64::NAN)))
}
#[cfg(target_arch = "aarch64")]
pairs! {
    integer i32 0 4 int32x4_t
    vdupq_n_s32 vld1q_s32 vst1q_s32 vaddq_s32 vmlaq_s32
    |sums| sums
}

/// A module with the names for vectors of a type, of 128 bits each.
#[cfg(target_family = "wasm")]
macro_rules! relaxed {
    (
        $module:ident $features:literal $ty:ident $zero:literal $lanes:literal
        $splat:ident $add:ident |$a:ident, $b:ident, $sum:ident| $fma:expr, $results:expr
    ) => {
        pub(crate) mod $module {
            use std::arch::wasm32::*;
            pub(crate) use std::arch::wasm32::{$add as add, $splat as splat};

            /// The number of elements.
            pub(crate) const LANES: usize = $lanes;

            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) fn zero() -> v128 {
                splat($zero)
            }

            /// # Safety
            /// The pointer is readable for the elements of a vector.
            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) unsafe fn load(from: *const $ty) -> v128 {
                // SAFETY: the caller says so.
                unsafe { v128_load(from.cast()) }
            }

            /// # Safety
            /// The pointer is writable for the elements of a vector.
            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) unsafe fn store(to: *mut $ty, elements: v128) {
                // SAFETY: the caller says so.
                unsafe { v128_store(to.cast(), elements) }
            }

            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) fn fused_multiply_add($a: v128, $b: v128, $sum: v128) -> v128 {
                $fma
            }

            /// Sums as results: zeros are positive, and each NaN is the quiet one without sign and
            /// payload.
            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) fn results($sum: v128) -> v128 {
                $results
            }

            /// Writes the first `count` elements, at most those of a vector.
            ///
            /// # Safety
            /// The pointer is writable for these elements.
            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) unsafe fn store_first(to: *mut $ty, elements: v128, count: usize) {
                let mut all = [$zero; LANES];
                // SAFETY: the array has a vector, and the caller has room for its first elements.
                unsafe {
                    store(all.as_mut_ptr(), elements);
                    to.copy_from_nonoverlapping(all.as_ptr(), count.min(LANES));
                }
            }
        }
    };
}

#[cfg(target_family = "wasm")]
relaxed! {
    single "relaxed-simd" f32 0.0 4 f32x4_splat f32x4_add
    |a, b, sum| f32x4_relaxed_madd(a, b, sum), {
        let sum = add(sum, zero());
        v128_bitselect(sum, splat(f32::NAN), f32x4_eq(sum, sum))
    }
}
#[cfg(target_family = "wasm")]
relaxed! {
    double "relaxed-simd" f64 0.0 2 f64x2_splat f64x2_add
    |a, b, sum| f64x2_relaxed_madd(a, b, sum), {
        let sum = add(sum, zero());
        v128_bitselect(sum, splat(f64::NAN), f64x2_eq(sum, sum))
    }
}
#[cfg(target_family = "wasm")]
relaxed! {
    integer "simd128" i32 0 4 i32x4_splat i32x4_add
    |a, b, sum| add(sum, i32x4_mul(a, b)), sum
}
#[cfg(target_family = "wasm")]
relaxed! {
    exact_single "simd128" f32 0.0 4 f32x4_splat f32x4_add
    |a, b, sum| crate::simd::emulated::multiply_add(a, b, sum), {
        let sum = add(sum, zero());
        v128_bitselect(sum, splat(f32::NAN), f32x4_eq(sum, sum))
    }
}
