//! Sums of products in registers, with the instructions that the machine has for them.
//!
//! The compiler vectorizes a generic loop over a tile of sums in some builds and not in others, by
//! a factor of twenty; so there are loops with vectors of their own for the types that programs
//! multiply most.

use crate::{Complex32, Complex64, I1};
use std::ops::Range;

/// Rows of a tile in vector registers.
pub const TILE_ROWS: usize = 12;

/// A type with a tile of sums in vector registers.
pub trait Tile: Sized {
    /// True if some machines have instructions for it.
    const HAS_TILES: bool = false;

    /// Writes the sums of products of each of the first `used` of [`TILE_ROWS`] rows with each
    /// column of a panel to `sums`: chains of fused multiply-adds from zero on, in the order of the
    /// elements. These are in `segments` of each row, one after the other. The panel has a row, of
    /// so many columns as a tile has, for each element; its rows are `stride` elements apart. They
    /// are copied to `copy`, one after the other, if that is given, and then those on their right
    /// are asked for, which are the rows of the next panel.
    ///
    /// False, and nothing is written, if the machine has no instructions for the type, or the
    /// sizes are not those of a tile.
    ///
    /// # Panics
    /// If a row ends before a segment.
    #[inline(always)]
    fn chains(
        _rows: &[&[Self]],
        _segments: &[Range<usize>],
        _used: usize,
        _panel: (&[Self], usize),
        _copy: Option<&mut [Self]>,
        _sums: &mut [Self],
    ) -> bool {
        false
    }
}

/// Tiles of AVX2, as two halves one after the other, and of AVX-512.
#[cfg(target_arch = "x86_64")]
mod vectors {
    use super::{TILE_ROWS, Tile};
    use crate::simd::Isa;
    use std::ops::Range;

    const HALF: usize = TILE_ROWS / 2;
    /// Rows of a half of which only the first ones are used.
    const QUARTER: usize = HALF / 2;

    /// A module with chains of `R` rows, in so many vectors each.
    macro_rules! chains {
        (
            $module:ident $features:literal $vectors:literal
            $ty:ident $columns:literal $vector:ident $zero:ident $set:ident $fma:ident
        ) => {
            mod $module {
                use crate::simd::prefetch;
                use std::arch::x86_64::{$fma, $set, $vector, $zero};
                use std::ops::Range;

                #[target_feature(enable = $features)]
                pub fn chains<const R: usize, const COPY: bool>(
                    rows: &[&[$ty]; R],
                    segments: &[Range<usize>],
                    (panel, stride): (&[$ty], usize),
                    copy: &mut [[$ty; $columns]],
                    sums: &mut [[$ty; $columns]; R],
                ) {
                    let mut chains = [[$zero(); $vectors]; R];
                    let (mut next, mut copy) = (0, copy.iter_mut());
                    for segment in segments {
                        let len = segment.len();
                        // Closures of other functions are not compiled for these instructions.
                        let mut parts = [&[][..]; R];
                        for (part, row) in parts.iter_mut().zip(rows) {
                            *part = &row[segment.start..segment.end][..len];
                        }
                        for k in 0..len {
                            // The caller has checked that there is a row for each element.
                            let Some(columns) = panel[next..].first_chunk::<$columns>() else {
                                return;
                            };
                            if COPY && let Some(copy) = copy.next() {
                                *copy = *columns;
                                // Its last element, as the first may be in the line just read.
                                let right = panel.get(next + 2 * $columns - 1);
                                right.into_iter().for_each(prefetch);
                            }
                            next += stride;
                            let columns: [$vector; $vectors] = bytemuck::cast(*columns);
                            for (chain, part) in chains.iter_mut().zip(parts) {
                                let a = $set(part[k]);
                                for (sum, columns) in chain.iter_mut().zip(columns) {
                                    *sum = $fma(a, columns, *sum);
                                }
                            }
                        }
                    }
                    for (sums, chain) in sums.iter_mut().zip(chains) {
                        *sums = bytemuck::cast(chain);
                    }
                }
            }
        };
    }

    macro_rules! tiles {
        ($(
            $ty:ident $columns:literal
            $narrow:ident $vector:ident $zero:ident $set:ident $fma:ident
            $wide:ident $wide_vector:ident $wide_zero:ident $wide_set:ident $wide_fma:ident;
        )*) => {$(
            impl Tile for $ty {
                const HAS_TILES: bool = true;

                #[inline(always)]
                fn chains(
                    rows: &[&[$ty]],
                    segments: &[Range<usize>],
                    used: usize,
                    panel: (&[$ty], usize),
                    copy: Option<&mut [$ty]>,
                    sums: &mut [$ty],
                ) -> bool {
                    let (sums, _) = sums.as_chunks_mut::<$columns>();
                    let (Ok(rows), Ok(sums)) = (
                        <&[&[$ty]; TILE_ROWS]>::try_from(rows),
                        <&mut [[$ty; $columns]; TILE_ROWS]>::try_from(sums),
                    ) else {
                        return false;
                    };
                    let (isa, used) = (Isa::best(), used.min(TILE_ROWS));
                    let depth = segments.iter().map(|segment| segment.len()).sum::<usize>();
                    let last = depth.saturating_sub(1).saturating_mul(panel.1);
                    let has_rows = depth == 0 || last.saturating_add($columns) <= panel.0.len();
                    if !has_rows || !isa.has_avx2() {
                        return false;
                    }
                    let copies = copy.is_some();
                    let copy = copy.unwrap_or_default().as_chunks_mut().0;
                    if isa.has_avx512() && used > HALF {
                        // SAFETY: the instructions were detected.
                        unsafe {
                            if copies {
                                $wide::chains::<_, true>(rows, segments, panel, copy, sums);
                            } else {
                                $wide::chains::<_, false>(rows, segments, panel, copy, sums);
                            }
                        }
                        return true;
                    }
                    let halves = rows.as_chunks().0.iter().zip(sums.as_chunks_mut().0);
                    for (half, (rows, sums)) in halves.take(used.div_ceil(HALF)).enumerate() {
                        let quarter = (rows.first_chunk::<QUARTER>(), sums.first_chunk_mut());
                        let is_quarter = used - half * HALF <= QUARTER;
                        // SAFETY: the instructions were detected.
                        unsafe {
                            match quarter {
                                (Some(rows), Some(sums)) if is_quarter && copies && half == 0 => {
                                    $narrow::chains::<_, true>(rows, segments, panel, copy, sums);
                                }
                                (Some(rows), Some(sums)) if is_quarter => {
                                    $narrow::chains::<_, false>(rows, segments, panel, copy, sums);
                                }
                                _ if copies && half == 0 => {
                                    $narrow::chains::<HALF, true>(rows, segments, panel, copy, sums);
                                }
                                _ => {
                                    $narrow::chains::<HALF, false>(rows, segments, panel, copy, sums);
                                }
                            }
                        }
                    }
                    true
                }
            }

            chains!($wide "avx512f" 1 $ty $columns $wide_vector $wide_zero $wide_set $wide_fma);
            chains!($narrow "avx2,fma" 2 $ty $columns $vector $zero $set $fma);
        )*};
    }

    tiles! {
        f32 16
        single __m256 _mm256_setzero_ps _mm256_set1_ps _mm256_fmadd_ps
        wide_single __m512 _mm512_setzero_ps _mm512_set1_ps _mm512_fmadd_ps;
        f64 8
        double __m256d _mm256_setzero_pd _mm256_set1_pd _mm256_fmadd_pd
        wide_double __m512d _mm512_setzero_pd _mm512_set1_pd _mm512_fmadd_pd;
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Tile for f32 {}
#[cfg(not(target_arch = "x86_64"))]
impl Tile for f64 {}
impl Tile for I1 {}
impl Tile for i32 {}
impl Tile for i64 {}
impl Tile for Complex32 {}
impl Tile for Complex64 {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_fused_multiply_adds() {
        let number = |i: usize| 1.0 / (1 + i * 37 % 101) as f32 - 0.3;
        for (depth, used) in [(1, 12), (7, 11), (100, 7), (9, 6), (5, 4), (5, 3), (9, 1), (0, 12)] {
            // The elements as they are, and in two segments in the other order.
            let (whole, third) = (0..depth, depth / 3);
            for segments in [vec![whole], vec![third..depth, 0..third]] {
                let row = |r: usize| (0..depth).map(|k| number(r * 31 + k)).collect();
                let stride = 16 + depth % 3;
                let a: Vec<Vec<f32>> = (0..TILE_ROWS).map(row).collect();
                let rows: Vec<&[f32]> = a.iter().map(|row| &row[..]).collect();
                let panel: Vec<f32> = (0..depth * stride).map(|i| number(7 * i)).collect();
                let mut sums = [f32::NAN; TILE_ROWS * 16];
                let mut copy = vec![0.0; depth * 16];
                if !f32::chains(
                    &rows,
                    &segments,
                    used,
                    (&panel, stride),
                    Some(&mut copy),
                    &mut sums,
                ) {
                    return;
                }
                for (row, copy) in panel.chunks(stride).zip(copy.chunks(16)) {
                    assert_eq!(row[..16], *copy);
                }
                for r in 0..used {
                    for c in 0..16 {
                        let elements = segments.iter().cloned().flatten().zip(0..);
                        let chain = elements.fold(0.0, |sum: f32, (k, n)| {
                            a[r][k].mul_add(panel[n * stride + c], sum)
                        });
                        let found = sums[r * 16 + c];
                        assert_eq!(found.to_bits(), chain.to_bits(), "{r} {c} of {depth}");
                    }
                }
            }
        }
        // Not the sizes of a tile.
        let (mut sums, one) = ([0.0; 8 * TILE_ROWS], std::slice::from_ref(&(0..1)));
        assert!(!f64::chains(&[&[1.0][..]; 11], one, 11, (&[1.0; 8], 8), None, &mut sums[..88]));
        assert!(!f64::chains(&[&[1.0][..]; TILE_ROWS], one, 12, (&[1.0; 7], 8), None, &mut sums));
        let two = std::slice::from_ref(&(0..2));
        assert!(!f64::chains(
            &[&[1.0; 2][..]; TILE_ROWS],
            two,
            3,
            (&[1.0; 16], 9),
            None,
            &mut sums
        ));
    }
}
