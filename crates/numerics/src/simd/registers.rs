//! Vectors of `f32` and `f64` by the same names for all instruction sets.

/// A module with the names for vectors of a type.
macro_rules! registers {
    (
        $module:ident $features:literal $ty:ident $lanes:literal $vector:ident
        $zero:ident $splat:ident $load:ident $store:ident $add:ident $fma:ident
        |$sum:ident, $quiet:ident| $result:expr
    ) => {
        pub mod $module {
            use std::arch::x86_64::*;
            pub use std::arch::x86_64::{
                $add as add, $fma as fused_multiply_add, $load as load, $splat as splat,
                $store as store, $zero as zero,
            };

            /// The number of elements.
            pub const LANES: usize = $lanes;

            /// Sums as results: zeros are positive, and each NaN is the quiet one without sign and
            /// payload.
            #[inline]
            #[target_feature(enable = $features)]
            pub fn results(sums: $vector) -> $vector {
                let ($sum, $quiet) = (add(sums, zero()), splat($ty::NAN));
                $result
            }
        }
    };
}

registers! {
    single "avx2,fma" f32 8 __m256
    _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps _mm256_fmadd_ps
    |sum, quiet| _mm256_blendv_ps(sum, quiet, _mm256_cmp_ps::<_CMP_UNORD_Q>(sum, sum))
}
registers! {
    wide_single "avx512f" f32 16 __m512
    _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps _mm512_fmadd_ps
    |sum, quiet| _mm512_mask_mov_ps(sum, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(sum, sum), quiet)
}
registers! {
    double "avx2,fma" f64 4 __m256d
    _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_add_pd _mm256_fmadd_pd
    |sum, quiet| _mm256_blendv_pd(sum, quiet, _mm256_cmp_pd::<_CMP_UNORD_Q>(sum, sum))
}
registers! {
    wide_double "avx512f" f64 8 __m512d
    _mm512_setzero_pd _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_add_pd _mm512_fmadd_pd
    |sum, quiet| _mm512_mask_mov_pd(sum, _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(sum, sum), quiet)
}
