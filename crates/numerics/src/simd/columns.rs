//! Products of a vector with columns of neighbouring elements, in registers.

use super::Isa;
use crate::{Complex32, Complex64, I1};

/// Columns that are summed at a time.
pub const GROUP: usize = 8;

/// A vector, and as many columns as a [`GROUP`] has: the elements of all of them from the first one
/// on, each `stride` elements after the one before.
#[derive(Clone, Copy)]
pub struct Columns<'a, T> {
    /// The vector.
    pub vector: &'a [T],
    /// The columns.
    pub elements: &'a [T],
    /// The distance between columns.
    pub stride: usize,
}

/// A type whose columns are summed in vector registers.
pub trait ColumnSums: Sized {
    /// The products of each vector with its columns: chains of fused multiply-adds from zero on, in
    /// the order of the elements. `None` if there are no instructions for the type, the vectors
    /// differ in length, or columns are too short.
    #[inline(always)]
    fn column_chains<const N: usize>(
        _isa: Isa,
        _groups: [Columns<'_, Self>; N],
    ) -> Option<[[Self; GROUP]; N]> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
impl ColumnSums for f32 {
    #[inline(always)]
    fn column_chains<const N: usize>(
        isa: Isa,
        groups: [Columns<'_, f32>; N],
    ) -> Option<[[f32; GROUP]; N]> {
        let len = groups.first()?.vector.len();
        let fits = |group: &Columns<'_, f32>| {
            let end = group.stride.checked_mul(GROUP - 1).and_then(|last| last.checked_add(len));
            group.vector.len() == len && end.is_some_and(|end| end <= group.elements.len())
        };
        if !isa.has_avx2() || !groups.iter().all(fits) {
            return None;
        }
        // SAFETY: the instructions were detected, and all columns are in the elements.
        Some(unsafe { singles(groups, len) })
    }
}

/// # Safety
/// Vectors and columns have `len` elements.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn singles<const N: usize>(groups: [Columns<'_, f32>; N], len: usize) -> [[f32; GROUP]; N] {
    use std::arch::x86_64::*;
    let mut sums = [_mm256_setzero_ps(); N];
    let mut k = 0;
    while k + 4 <= len {
        for (sum, group) in sums.iter_mut().zip(&groups) {
            let (first, stride) = (group.elements.as_ptr().wrapping_add(k), group.stride);
            // Four elements of a column, and of that four columns further on.
            let pair = |column: usize| {
                let low = first.wrapping_add(column * stride);
                let high = low.wrapping_add(4 * stride);
                // SAFETY: both columns have these elements.
                let [low, high] = unsafe { [_mm_loadu_ps(low), _mm_loadu_ps(high)] };
                _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
            };
            let [a, b, c, d] = [pair(0), pair(1), pair(2), pair(3)];
            // Pairs of neighbouring columns: of their elements 0 and 1, and 2 and 3.
            let halves = [
                [_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d)],
                [_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d)],
            ];
            for (i, half) in halves.into_iter().enumerate() {
                let [left, right] = half.map(|pair| _mm256_castps_pd(pair));
                let rows = [_mm256_unpacklo_pd(left, right), _mm256_unpackhi_pd(left, right)];
                for (j, row) in rows.into_iter().enumerate() {
                    // SAFETY: there are at least four elements from `k` on.
                    let factor = unsafe { *group.vector.get_unchecked(k + 2 * i + j) };
                    *sum = _mm256_fmadd_ps(_mm256_set1_ps(factor), _mm256_castpd_ps(row), *sum);
                }
            }
        }
        k += 4;
    }
    let mut chains = sums.map(bytemuck::cast::<__m256, [f32; GROUP]>);
    for (chains, group) in chains.iter_mut().zip(&groups) {
        for (column, chain) in chains.iter_mut().enumerate() {
            let elements = &group.elements[column * group.stride..];
            for (factor, element) in group.vector.iter().zip(elements).skip(k) {
                *chain = factor.mul_add(*element, *chain);
            }
        }
    }
    chains
}

#[cfg(not(target_arch = "x86_64"))]
impl ColumnSums for f32 {}
impl ColumnSums for f64 {}
impl ColumnSums for I1 {}
impl ColumnSums for i32 {}
impl ColumnSums for i64 {}
impl ColumnSums for Complex32 {}
impl ColumnSums for Complex64 {}
