//! Sums of products in registers, with the instructions that the machine has for them.
//!
//! The compiler vectorizes a generic loop over a tile of sums in some builds and not in others, by
//! a factor of twenty; so there are loops with vectors of their own for the types that programs
//! multiply most.

use crate::{Complex32, Complex64, I1};

/// Rows of a tile in vector registers.
pub const TILE_ROWS: usize = 6;

/// A type with a tile of sums in vector registers.
pub trait Tile: Sized {
    /// Writes the sums of products of each of the first `used` of [`TILE_ROWS`] rows with each
    /// column of a panel to `sums`: chains of fused multiply-adds from zero on, in the order of the
    /// elements. The panel has a row, of so many columns as a tile has, for each element of a row.
    ///
    /// False, and nothing is written, if the machine has no instructions for the type, or the
    /// sizes are not those of a tile.
    ///
    /// # Panics
    /// If a row has fewer elements than the first one.
    #[inline(always)]
    fn chains(_rows: &[&[Self]], _used: usize, _panel: &[Self], _sums: &mut [Self]) -> bool {
        false
    }
}

/// Tiles of AVX2.
#[cfg(target_arch = "x86_64")]
mod vectors {
    use super::{TILE_ROWS, Tile};
    use crate::simd::{Isa, Level};

    /// Rows of a tile of which only the first ones are used.
    const FEW_ROWS: usize = 3;

    macro_rules! tiles {
        ($(
            $ty:ident $columns:literal $vector:ident $module:ident $zero:ident $set:ident $fma:ident;
        )*) => {$(
            impl Tile for $ty {
                #[inline(always)]
                fn chains(rows: &[&[$ty]], used: usize, panel: &[$ty], sums: &mut [$ty]) -> bool {
                    let (panel, rest) = panel.as_chunks::<$columns>();
                    let (sums, _) = sums.as_chunks_mut::<$columns>();
                    let (Ok(rows), Ok(sums)) = (
                        <&[&[$ty]; TILE_ROWS]>::try_from(rows),
                        <&mut [[$ty; $columns]; TILE_ROWS]>::try_from(sums),
                    ) else {
                        return false;
                    };
                    let is_tile = rest.is_empty() && panel.len() == rows[0].len();
                    if Isa::best().0 != Level::Avx2 || !is_tile {
                        return false;
                    }
                    match (rows.first_chunk::<FEW_ROWS>(), sums.first_chunk_mut()) {
                        // SAFETY: the instructions were detected.
                        (Some(rows), Some(sums)) if used <= FEW_ROWS => unsafe {
                            $module::chains(rows, panel, sums);
                        },
                        // SAFETY: the instructions were detected.
                        _ => unsafe { $module::chains(rows, panel, sums) },
                    }
                    true
                }
            }

            mod $module {
                use std::arch::x86_64::{$vector, $zero, $set, $fma};

                /// Chains of `R` rows, in two vectors each.
                #[target_feature(enable = "avx2,fma")]
                pub fn chains<const R: usize>(
                    rows: &[&[$ty]; R],
                    panel: &[[$ty; $columns]],
                    sums: &mut [[$ty; $columns]; R],
                ) {
                    // Closures of other functions are not compiled for these instructions.
                    let mut whole = [&[][..]; R];
                    for (whole, row) in whole.iter_mut().zip(rows) {
                        *whole = &row[..panel.len()];
                    }
                    let mut chains = [[$zero(); 2]; R];
                    for (k, &columns) in panel.iter().enumerate() {
                        let [low, high]: [$vector; 2] = bytemuck::cast(columns);
                        for (chain, row) in chains.iter_mut().zip(whole) {
                            let a = $set(row[k]);
                            chain[0] = $fma(a, low, chain[0]);
                            chain[1] = $fma(a, high, chain[1]);
                        }
                    }
                    for (sums, chain) in sums.iter_mut().zip(chains) {
                        *sums = bytemuck::cast(chain);
                    }
                }
            }
        )*};
    }

    tiles! {
        f32 16 __m256 single _mm256_setzero_ps _mm256_set1_ps _mm256_fmadd_ps;
        f64 8 __m256d double _mm256_setzero_pd _mm256_set1_pd _mm256_fmadd_pd;
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
        for (depth, used) in [(1, 6), (7, 6), (100, 4), (5, 3), (9, 1), (0, 6)] {
            let a: Vec<Vec<f32>> =
                (0..TILE_ROWS).map(|r| (0..depth).map(|k| number(r * 31 + k)).collect()).collect();
            let rows: Vec<&[f32]> = a.iter().map(|row| &row[..]).collect();
            let panel: Vec<f32> = (0..depth * 16).map(|i| number(7 * i)).collect();
            let mut sums = [f32::NAN; TILE_ROWS * 16];
            if !f32::chains(&rows, used, &panel, &mut sums) {
                return;
            }
            for r in 0..used {
                for c in 0..16 {
                    let chain =
                        (0..depth).fold(0.0, |sum: f32, k| a[r][k].mul_add(panel[k * 16 + c], sum));
                    assert_eq!(sums[r * 16 + c].to_bits(), chain.to_bits(), "{r} {c} of {depth}");
                }
            }
        }
        // Not the sizes of a tile.
        assert!(!f64::chains(&[&[1.0][..]; 5], 5, &[1.0; 8], &mut [0.0; 40]));
        assert!(!f64::chains(&[&[1.0][..]; 6], 6, &[1.0; 7], &mut [0.0; 48]));
        assert!(!f64::chains(&[&[1.0][..]; 6], 3, &[1.0; 16], &mut [0.0; 48]));
    }
}
