//! Sums of the products of a vector with columns, with SIMD of WebAssembly.

use super::{ColumnSums, Columns, GROUP};
use crate::math::fused::fused_multiply_add_f32;
use crate::simd::Isa;
use crate::simd::emulated;
use crate::simd::relaxed::is_fused;
use std::arch::wasm32::*;

impl ColumnSums<f32> for f32 {
    #[inline(always)]
    fn column_chains<const W: usize, const N: usize>(
        isa: Isa,
        groups: [Columns<'_, f32>; N],
    ) -> Option<[[f32; W]; N]> {
        if W != GROUP || !isa.has_vectors_of_32_bits() {
            return None;
        }
        let mut all = [[0.0; W]; N];
        for (all, group) in all.iter_mut().zip(&groups) {
            let sums = match is_fused() {
                true => sums::<true>(group)?,
                false => sums::<false>(group)?,
            };
            all.copy_from_slice(&sums);
        }
        Some(all)
    }
}

/// The products of a vector with columns; `None` if these are too short.
#[target_feature(enable = "relaxed-simd")]
fn sums<const FUSED: bool>(columns: &Columns<'_, f32>) -> Option<[f32; GROUP]> {
    let Columns { vector, elements, stride, .. } = *columns;
    let last = stride.checked_mul(GROUP - 1)?;
    if elements.len() < last.checked_add(vector.len())? {
        return None;
    }
    let mut low = f32x4_splat(0.0);
    let mut high = low;
    let (quads, rest) = vector.as_chunks::<4>();
    for (quad, factors) in quads.iter().enumerate() {
        let first = elements.as_ptr().wrapping_add(4 * quad);
        // SAFETY: all columns have elements for these factors.
        unsafe {
            low = add_four::<FUSED>(factors, first, stride, low);
            high = add_four::<FUSED>(factors, first.wrapping_add(4 * stride), stride, high);
        }
    }
    let mut sums = [0.0; GROUP];
    // SAFETY: there is room for both.
    unsafe {
        v128_store(sums.as_mut_ptr().cast(), low);
        v128_store(sums.as_mut_ptr().add(4).cast(), high);
    }
    for (column, sum) in sums.iter_mut().enumerate() {
        let elements = &elements[column * stride + 4 * quads.len()..];
        for (&factor, &element) in rest.iter().zip(elements) {
            *sum = fused_multiply_add_f32(factor, element, *sum);
        }
    }
    Some(sums)
}

/// Adds the products of four factors with as many elements of each of four columns.
///
/// # Safety
/// The columns have these elements.
#[inline]
#[target_feature(enable = "relaxed-simd")]
unsafe fn add_four<const FUSED: bool>(
    &[w, x, y, z]: &[f32; 4],
    column: *const f32,
    stride: usize,
    sums: v128,
) -> v128 {
    // SAFETY: the caller says so.
    let (a, b, c, d) = unsafe {
        (
            v128_load(column.cast()),
            v128_load(column.add(stride).cast()),
            v128_load(column.add(2 * stride).cast()),
            v128_load(column.add(3 * stride).cast()),
        )
    };
    // Rows of pairs of columns, and of all four.
    let (low_ab, low_cd) = (i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<0, 4, 1, 5>(c, d));
    let high_ab = i32x4_shuffle::<2, 6, 3, 7>(a, b);
    let high_cd = i32x4_shuffle::<2, 6, 3, 7>(c, d);
    let rows = (
        i64x2_shuffle::<0, 2>(low_ab, low_cd),
        i64x2_shuffle::<1, 3>(low_ab, low_cd),
        i64x2_shuffle::<0, 2>(high_ab, high_cd),
        i64x2_shuffle::<1, 3>(high_ab, high_cd),
    );
    let sums = multiply_add::<FUSED>(w, rows.0, sums);
    let sums = multiply_add::<FUSED>(x, rows.1, sums);
    let sums = multiply_add::<FUSED>(y, rows.2, sums);
    multiply_add::<FUSED>(z, rows.3, sums)
}

#[inline]
#[target_feature(enable = "relaxed-simd")]
fn multiply_add<const FUSED: bool>(factor: f32, elements: v128, sums: v128) -> v128 {
    match FUSED {
        true => f32x4_relaxed_madd(f32x4_splat(factor), elements, sums),
        false => emulated::multiply_add(f32x4_splat(factor), elements, sums),
    }
}
