//! Sums of products of integers of 16 bits, in pairs: a word of 32 bits has two factors of each
//! side, and their two products are added to a sum of 32 bits at once.
//!
//! Sums are exact modulo 2^32, so that their order does not matter.

use super::Isa;

/// Rows of a tile of sums.
pub const PAIR_ROWS: usize = 12;
/// Columns of a tile of sums.
pub const PAIR_COLUMNS: usize = 32;

/// Two factors, the first one in the lower half.
pub type Pair = u32;

/// A tile of sums.
pub type PairSums = [[i32; PAIR_COLUMNS]; PAIR_ROWS];

/// The sums of the products of rows of pairs with a panel, which has a row of columns for each
/// pair: as many as the shortest of these has.
pub fn multiply_pairs(
    isa: Isa,
    rows: [&[Pair]; PAIR_ROWS],
    panel: &[[Pair; PAIR_COLUMNS]],
) -> PairSums {
    let depth = rows.iter().map(|row| row.len()).min().unwrap_or(0).min(panel.len());
    #[cfg(target_arch = "x86_64")]
    if isa.has_avx2() {
        let (rows, panel) = (rows.map(<[Pair]>::as_ptr), panel.as_ptr().cast());
        let mut sums = [[0; PAIR_COLUMNS]; PAIR_ROWS];
        // SAFETY: the instructions were detected, and all rows and the panel have `depth` pairs.
        unsafe {
            match isa.has_avx512() {
                true if is_x86_feature_detected!("avx512vnni") => {
                    fused::multiply::<12, 2>(rows, panel, depth, &mut sums);
                }
                true => wide::multiply::<12, 2>(rows, panel, depth, &mut sums),
                false => narrow::multiply::<6, 2>(rows, panel, depth, &mut sums),
            }
        }
        return sums;
    }
    let _ = isa;
    let mut sums = [[0_i32; PAIR_COLUMNS]; PAIR_ROWS];
    for (sums, row) in sums.iter_mut().zip(rows) {
        for (a, columns) in row[..depth].iter().zip(panel) {
            for (sum, b) in sums.iter_mut().zip(columns) {
                let product = |shift: u32| {
                    i32::from((a >> shift) as i16).wrapping_mul(i32::from((b >> shift) as i16))
                };
                *sum = sum.wrapping_add(product(0)).wrapping_add(product(16));
            }
        }
    }
    sums
}

/// A module with tiles of a set of instructions, of `R` rows and `V` vectors at a time.
#[cfg(target_arch = "x86_64")]
macro_rules! tiles {
    (
        $module:ident $features:literal $lanes:literal
        $load:ident $store:ident $splat:ident $zero:ident |$sum:ident, $a:ident, $b:ident| $add:expr
    ) => {
        mod $module {
            use super::{PAIR_COLUMNS, PAIR_ROWS, Pair, PairSums};
            use std::arch::x86_64::*;

            /// # Safety
            /// The processor has the instructions, each row has `depth` pairs, and the panel
            /// [`PAIR_COLUMNS`] for each of them.
            #[target_feature(enable = $features)]
            pub(crate) unsafe fn multiply<const R: usize, const V: usize>(
                rows: [*const Pair; PAIR_ROWS],
                panel: *const Pair,
                depth: usize,
                sums: &mut PairSums,
            ) {
                for column in (0..PAIR_COLUMNS).step_by(V * $lanes) {
                    for first in (0..PAIR_ROWS).step_by(R) {
                        let mut chains = [[$zero(); V]; R];
                        let mut some = [rows[first]; R];
                        some.copy_from_slice(&rows[first..][..R]);
                        for k in 0..depth {
                            let line = panel.wrapping_add(k * PAIR_COLUMNS + column);
                            let mut columns = [$zero(); V];
                            for (v, columns) in columns.iter_mut().enumerate() {
                                // SAFETY: the panel has these columns.
                                *columns = unsafe { $load(line.add(v * $lanes).cast()) };
                            }
                            for (chain, row) in chains.iter_mut().zip(some) {
                                // SAFETY: the row has this pair.
                                let $a = $splat(unsafe { *row.add(k) } as i32);
                                for (sum, $b) in chain.iter_mut().zip(columns) {
                                    let $sum = *sum;
                                    *sum = $add;
                                }
                            }
                        }
                        for (sums, chain) in sums[first..].iter_mut().zip(&chains) {
                            let sums = sums[column..].chunks_exact_mut($lanes);
                            for (sums, &sum) in sums.zip(chain) {
                                // SAFETY: there is room for a vector.
                                unsafe { $store(sums.as_mut_ptr().cast(), sum) };
                            }
                        }
                    }
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
tiles! {
    narrow "avx2" 8
    _mm256_loadu_si256 _mm256_storeu_si256 _mm256_set1_epi32 _mm256_setzero_si256
    |sum, a, b| _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
}
#[cfg(target_arch = "x86_64")]
tiles! {
    wide "avx512f,avx512bw" 16
    _mm512_loadu_si512 _mm512_storeu_si512 _mm512_set1_epi32 _mm512_setzero_si512
    |sum, a, b| _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
}
#[cfg(target_arch = "x86_64")]
tiles! {
    fused "avx512f,avx512vnni" 16
    _mm512_loadu_si512 _mm512_storeu_si512 _mm512_set1_epi32 _mm512_setzero_si512
    |sum, a, b| _mm512_dpwssd_epi32(sum, a, b)
}
