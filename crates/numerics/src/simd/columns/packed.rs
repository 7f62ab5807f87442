//! Products of a vector with panels of words.

use super::words::Words;
use super::{ColumnScales, GROUP, PanelColumns, WIDE_GROUP, WORD_COLUMNS, are_scaled};
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
    scales: ColumnScales<'_, f32>,
    sums: &mut [f32],
) -> bool {
    let PanelColumns { elements, stride, distance } = panels;
    let (rows, count) = (vector.len() / S::PER_WORD, sums.len() / WORD_COLUMNS);
    let is_whole =
        vector.len().is_multiple_of(S::PER_WORD) && sums.len().is_multiple_of(WORD_COLUMNS);
    let last = count.saturating_sub(1).checked_mul(distance);
    let end = last.zip(rows.checked_mul(stride)).and_then(|(last, rows)| last.checked_add(rows));
    let fits = stride == WORD_COLUMNS && end.is_some_and(|end| end <= elements.len());
    let are_scaled = are_scaled::<S>(scales, [vector.len(), sums.len()], 1);
    if !is_whole || !fits || !are_scaled || !isa.has_avx2() {
        return false;
    }
    let mut panels = WordPanels { vector, words: elements.as_ptr(), distance, scales };
    let (groups, rest) = sums.as_chunks_mut::<{ PANELS * WORD_COLUMNS }>();
    for sums in groups {
        let sums = sums.as_chunks_mut().0;
        // SAFETY: the instructions were detected, and the elements and scales have all panels.
        unsafe {
            match isa.has_avx512() {
                true => wide::<S, PANELS>(panels, sums),
                // There are half the registers.
                false => sums.iter_mut().enumerate().for_each(|(panel, sums)| {
                    narrow::<S>(panels.after(panel), sums);
                }),
            }
        }
        panels = panels.after(PANELS);
    }
    for sums in rest.as_chunks_mut::<WORD_COLUMNS>().0 {
        // SAFETY: likewise.
        unsafe {
            match isa.has_avx512() {
                true => wide::<S, 1>(panels, std::slice::from_mut(sums)),
                false => narrow::<S>(panels, sums),
            }
        }
        panels = panels.after(1);
    }
    true
}

/// A vector, and panels that it is multiplied with.
#[derive(Clone, Copy)]
struct WordPanels<'a> {
    vector: &'a [f32],
    /// The first word.
    words: *const i32,
    /// The distance between panels.
    distance: usize,
    scales: ColumnScales<'a, f32>,
}

impl WordPanels<'_> {
    /// The panels after some.
    #[inline(always)]
    fn after(self, panels: usize) -> Self {
        let words = self.words.wrapping_add(panels * self.distance);
        WordPanels { words, scales: self.scales.from(0, panels * WORD_COLUMNS), ..self }
    }
}

/// # Safety
/// The processor has AVX-512 F, there are `P` sums, and `P` panels, which have a row for each word
/// of the vector, and scales if the elements need them.
#[target_feature(enable = "avx512f")]
unsafe fn wide<S: Words, const P: usize>(panels: WordPanels<'_>, sums: &mut [[f32; WORD_COLUMNS]]) {
    const VECTORS: usize = WORD_COLUMNS / WIDE_GROUP;
    let WordPanels { vector, mut words, distance, scales } = panels;
    let mut chains = [[_mm512_setzero_ps(); VECTORS]; P];
    for (row, factors) in vector.chunks_exact(S::PER_WORD).enumerate() {
        let [factors_of_row, shifts_of_row] = of_row::<S>(scales, row);
        for (panel, chains) in chains.iter_mut().enumerate() {
            for (v, chain) in chains.iter_mut().enumerate() {
                let at = words.wrapping_add(panel * distance + v * WIDE_GROUP);
                prefetch_at(at.wrapping_add(AHEAD * WORD_COLUMNS));
                let column = panel * WORD_COLUMNS + v * WIDE_GROUP;
                // SAFETY: the panel has this row, `are_scaled` has checked that there is a scale
                // for each column, and a shift if there are any, and this function has the
                // instructions.
                unsafe {
                    let row = _mm512_loadu_si512(at.cast());
                    let (mut scale, mut shift) = (_mm512_setzero_ps(), _mm512_setzero_ps());
                    if S::IS_SCALED {
                        scale = _mm512_loadu_ps(factors_of_row.as_ptr().add(column));
                    }
                    if !shifts_of_row.is_empty() {
                        shift = _mm512_loadu_ps(shifts_of_row.as_ptr().add(column));
                    }
                    for (e, &factor) in factors.iter().enumerate() {
                        let mut elements = S::wide(row, e);
                        if S::IS_SCALED {
                            elements = _mm512_mul_ps(_mm512_add_ps(elements, shift), scale);
                        }
                        *chain = _mm512_fmadd_ps(_mm512_set1_ps(factor), elements, *chain);
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
/// The processor has AVX2 and FMA, and the panel is as there.
#[target_feature(enable = "avx2,fma")]
unsafe fn narrow<S: Words>(panels: WordPanels<'_>, sums: &mut [f32; WORD_COLUMNS]) {
    let WordPanels { vector, mut words, scales, .. } = panels;
    let mut chains = [_mm256_setzero_ps(); WORD_COLUMNS / GROUP];
    for (row, factors) in vector.chunks_exact(S::PER_WORD).enumerate() {
        let [factors_of_row, shifts_of_row] = of_row::<S>(scales, row);
        for (v, chain) in chains.iter_mut().enumerate() {
            let at = words.wrapping_add(v * GROUP);
            prefetch_at(at.wrapping_add(AHEAD * WORD_COLUMNS));
            // SAFETY: as in `wide`.
            unsafe {
                let row = _mm256_loadu_si256(at.cast());
                let (mut scale, mut shift) = (_mm256_setzero_ps(), _mm256_setzero_ps());
                if S::IS_SCALED {
                    scale = _mm256_loadu_ps(factors_of_row.as_ptr().add(v * GROUP));
                }
                if !shifts_of_row.is_empty() {
                    shift = _mm256_loadu_ps(shifts_of_row.as_ptr().add(v * GROUP));
                }
                for (e, &factor) in factors.iter().enumerate() {
                    let mut elements = S::narrow(row, e);
                    if S::IS_SCALED {
                        elements = _mm256_mul_ps(_mm256_add_ps(elements, shift), scale);
                    }
                    *chain = _mm256_fmadd_ps(_mm256_set1_ps(factor), elements, *chain);
                }
            }
        }
        words = words.wrapping_add(WORD_COLUMNS);
    }
    sums.copy_from_slice(bytemuck::cast_slice(&chains));
}

/// The factors and the shifts of the elements in a row of words, if elements have them.
#[inline(always)]
fn of_row<S: Words>(scales: ColumnScales<'_, f32>, row: usize) -> [&[f32]; 2] {
    match S::IS_SCALED {
        true => [scales.of_row(row * S::PER_WORD), scales.shifts_of_row(row * S::PER_WORD)],
        false => [&[]; 2],
    }
}
