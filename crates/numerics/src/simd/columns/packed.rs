//! Products of a vector with panels of words.

use super::words::Words;
use super::{GROUP, PanelColumns, WIDE_GROUP, WORD_COLUMNS};
use crate::simd::{Isa, prefetch_at};
use std::arch::x86_64::*;

/// Rows of a panel between what is read and what is asked for.
const AHEAD: usize = 8;
/// Panels that are read side by side, as sums wait for the ones before.
const PANELS: usize = 4;

/// As [`ColumnSums::word_chains`](super::ColumnSums::word_chains).
#[inline(always)]
pub(super) fn chains<S: Words>(
    isa: Isa,
    vector: &[f32],
    panels: PanelColumns<'_, i32>,
    sums: &mut [f32],
) -> bool {
    let PanelColumns { elements, stride, distance } = panels;
    let (rows, count) = (vector.len() / S::PER_WORD, sums.len() / WORD_COLUMNS);
    let is_whole =
        vector.len().is_multiple_of(S::PER_WORD) && sums.len().is_multiple_of(WORD_COLUMNS);
    let last = count.saturating_sub(1).checked_mul(distance);
    let end = last.zip(rows.checked_mul(stride)).and_then(|(last, rows)| last.checked_add(rows));
    let fits = stride == WORD_COLUMNS && end.is_some_and(|end| end <= elements.len());
    if S::IS_SCALED || !is_whole || !fits || !isa.has_avx2() {
        return false;
    }
    let mut first = elements.as_ptr();
    let (groups, rest) = sums.as_chunks_mut::<{ PANELS * WORD_COLUMNS }>();
    for sums in groups {
        let sums = sums.as_chunks_mut().0;
        // SAFETY: the instructions were detected, and the elements have all panels.
        unsafe {
            match isa.has_avx512() {
                true => wide::<S, PANELS>(vector, first, distance, sums),
                // Of the registers, half as many hold sums.
                false => sums.iter_mut().enumerate().for_each(|(panel, sums)| {
                    let first = first.wrapping_add(panel * distance);
                    narrow::<S>(vector, first, sums);
                }),
            }
        }
        first = first.wrapping_add(PANELS * distance);
    }
    for sums in rest.as_chunks_mut::<WORD_COLUMNS>().0 {
        // SAFETY: likewise.
        unsafe {
            match isa.has_avx512() {
                true => wide::<S, 1>(vector, first, distance, std::slice::from_mut(sums)),
                false => narrow::<S>(vector, first, sums),
            }
        }
        first = first.wrapping_add(distance);
    }
    true
}

/// # Safety
/// The processor has AVX-512 F, there are `P` sums, and each panel, `distance` words after the one
/// before, has a row for each word of the vector.
#[target_feature(enable = "avx512f")]
unsafe fn wide<S: Words, const P: usize>(
    vector: &[f32],
    mut words: *const i32,
    distance: usize,
    sums: &mut [[f32; WORD_COLUMNS]],
) {
    const VECTORS: usize = WORD_COLUMNS / WIDE_GROUP;
    let mut chains = [[_mm512_setzero_ps(); VECTORS]; P];
    for factors in vector.chunks_exact(S::PER_WORD) {
        for (panel, chains) in chains.iter_mut().enumerate() {
            for (v, chain) in chains.iter_mut().enumerate() {
                let at = words.wrapping_add(panel * distance + v * WIDE_GROUP);
                prefetch_at(at.wrapping_add(AHEAD * WORD_COLUMNS));
                // SAFETY: the panel has this row, and this function the instructions.
                unsafe {
                    let row = _mm512_loadu_si512(at.cast());
                    for (e, &factor) in factors.iter().enumerate() {
                        *chain = _mm512_fmadd_ps(_mm512_set1_ps(factor), S::wide(row, e), *chain);
                    }
                }
            }
        }
        words = words.wrapping_add(WORD_COLUMNS);
    }
    for (sums, chains) in sums.iter_mut().zip(&chains) {
        sums.copy_from_slice(bytemuck::cast_slice(chains));
    }
}

/// As [`wide`], of one panel.
///
/// # Safety
/// The processor has AVX2 and FMA, and the panel has a row for each word of the vector.
#[target_feature(enable = "avx2,fma")]
unsafe fn narrow<S: Words>(vector: &[f32], mut words: *const i32, sums: &mut [f32; WORD_COLUMNS]) {
    let mut chains = [_mm256_setzero_ps(); WORD_COLUMNS / GROUP];
    for factors in vector.chunks_exact(S::PER_WORD) {
        for (v, chain) in chains.iter_mut().enumerate() {
            let at = words.wrapping_add(v * GROUP);
            prefetch_at(at.wrapping_add(AHEAD * WORD_COLUMNS));
            // SAFETY: the panel has this row, and this function the instructions.
            unsafe {
                let row = _mm256_loadu_si256(at.cast());
                for (e, &factor) in factors.iter().enumerate() {
                    *chain = _mm256_fmadd_ps(_mm256_set1_ps(factor), S::narrow(row, e), *chain);
                }
            }
        }
        words = words.wrapping_add(WORD_COLUMNS);
    }
    sums.copy_from_slice(bytemuck::cast_slice(&chains));
}
