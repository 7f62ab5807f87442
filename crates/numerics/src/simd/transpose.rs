//! Transposition, in registers where the machine has instructions for it.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::Isa;
use bytemuck::Pod;

/// Elements along both sides of a tile.
const TILE: usize = 8;

/// Copies a matrix of `rows` x `columns` elements, transposed: element `c` of row `r` of `source`
/// becomes element `r` of row `c` of `target`. Both have a distance between their rows.
///
/// # Panics
/// If a slice is shorter than its rows.
pub fn transpose<T: Pod>(
    (source, source_stride): (&[T], usize),
    (target, target_stride): (&mut [T], usize),
    [rows, columns]: [usize; 2],
) {
    if rows == 0 || columns == 0 {
        return;
    }
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if Isa::best().has_vectors()
        && let Ok(source) = bytemuck::try_cast_slice::<T, [u8; 4]>(source)
        && let Ok(target) = bytemuck::try_cast_slice_mut::<T, [u8; 4]>(target)
        && size_of::<T>() == 4
    {
        return words::transpose((source, source_stride), (target, target_stride), [rows, columns]);
    }
    let whole = [rows, columns].map(|size| size - size % TILE);
    for c in (0..whole[1]).step_by(TILE) {
        for r in (0..whole[0]).step_by(TILE) {
            let mut tile = [[T::zeroed(); TILE]; TILE];
            for (i, row) in tile.iter_mut().enumerate() {
                row.copy_from_slice(&source[(r + i) * source_stride + c..][..TILE]);
            }
            for i in 0..TILE {
                let column: [T; TILE] = std::array::from_fn(|j| tile[j][i]);
                target[(c + i) * target_stride + r..][..TILE].copy_from_slice(&column);
            }
        }
    }
    rest((source, source_stride), (target, target_stride), [rows, columns], whole);
}

/// Transposes what is not in the first `whole` rows and columns.
fn rest<T: Copy>(
    (source, source_stride): (&[T], usize),
    (target, target_stride): (&mut [T], usize),
    [rows, columns]: [usize; 2],
    whole: [usize; 2],
) {
    for r in 0..rows {
        let row = &source[r * source_stride..][..columns];
        let first = if r < whole[0] { whole[1] } else { 0 };
        for (c, &element) in row.iter().enumerate().skip(first) {
            target[c * target_stride + r] = element;
        }
    }
}

/// Elements of four bytes, with AVX2 and AVX-512.
#[cfg(target_arch = "x86_64")]
mod words {
    use super::{Isa, rest};
    use std::arch::x86_64::*;

    /// As [`super::transpose`], where there is AVX2.
    pub fn transpose(
        (source, source_stride): (&[[u8; 4]], usize),
        (target, target_stride): (&mut [[u8; 4]], usize),
        size: [usize; 2],
    ) {
        let [rows, columns] = size;
        // All that is read and written is in these.
        let end =
            |count: usize, stride, len| (count - 1).saturating_mul(stride).saturating_add(len);
        let source = &source[..end(rows, source_stride, columns)];
        let target = &mut target[..end(columns, target_stride, rows)];
        let whole = [rows - rows % 8, columns - columns % 4];
        let wide = if Isa::best().has_avx512() { rows - rows % 16 } else { 0 };
        if wide > 0 && whole[1] > 0 {
            let from = (source.as_ptr().cast(), source_stride);
            let to = (target.as_mut_ptr().cast(), target_stride);
            // SAFETY: AVX-512 was detected, and the tiles are parts of the slices.
            unsafe { wide_tiles(from, to, [wide, whole[1]]) };
        }
        if whole[0] > wide && whole[1] > 0 {
            let from = (source[wide * source_stride..].as_ptr().cast(), source_stride);
            let to = (target[wide..].as_mut_ptr().cast(), target_stride);
            // SAFETY: as above, of AVX2.
            unsafe { tiles(from, to, [whole[0] - wide, whole[1]]) };
        }
        rest((source, source_stride), (target, target_stride), size, whole);
    }

    /// Transposes whole tiles of `$side` rows and four columns: the elements of a row become a lane
    /// of a vector, beside those of the fourth row after.
    macro_rules! tiles {
        ($name:ident $quarter:ident $features:literal $side:literal $load:ident
            $low:ident $high:ident $shuffle:ident $store:ident) => {
            #[target_feature(enable = $features)]
            unsafe fn $name(
                (source, source_stride): (*const f32, usize),
                (target, target_stride): (*mut f32, usize),
                [rows, columns]: [usize; 2],
            ) {
                // As many columns as a line of the cache has, four at a time.
                for first in (0..columns).step_by(16) {
                    for r in (0..rows).step_by($side) {
                        for c in (first..columns.min(first + 16)).step_by(4) {
                            // SAFETY: the caller has matrices of so many rows and columns.
                            unsafe {
                                let row = source.add(r * source_stride + c);
                                let column = target.add(c * target_stride + r);
                                $quarter((row, source_stride), (column, target_stride));
                            }
                        }
                    }
                }
            }

            /// Four columns.
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn $quarter(
                (row, source_stride): (*const f32, usize),
                (column, target_stride): (*mut f32, usize),
            ) {
                // SAFETY: the caller has these rows and columns.
                unsafe {
                    let w = $load(row, source_stride);
                    let x = $load(row.add(source_stride), source_stride);
                    let y = $load(row.add(2 * source_stride), source_stride);
                    let z = $load(row.add(3 * source_stride), source_stride);
                    let (wx, yz) = ($low(w, x), $low(y, z));
                    let (upper_wx, upper_yz) = ($high(w, x), $high(y, z));
                    $store(column, $shuffle::<0b01_00_01_00>(wx, yz));
                    $store(column.add(target_stride), $shuffle::<0b11_10_11_10>(wx, yz));
                    let column = column.add(2 * target_stride);
                    $store(column, $shuffle::<0b01_00_01_00>(upper_wx, upper_yz));
                    let last = $shuffle::<0b11_10_11_10>(upper_wx, upper_yz);
                    $store(column.add(target_stride), last);
                }
            }
        };
    }

    tiles!(tiles columns "avx2" 8 two_lanes
        _mm256_unpacklo_ps _mm256_unpackhi_ps _mm256_shuffle_ps _mm256_storeu_ps);
    tiles!(wide_tiles wide_columns "avx512f" 16 four_lanes
        _mm512_unpacklo_ps _mm512_unpackhi_ps _mm512_shuffle_ps _mm512_storeu_ps);

    /// Four elements of a row, and of the fourth one after.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn two_lanes(row: *const f32, stride: usize) -> __m256 {
        // SAFETY: the caller has these rows.
        unsafe { _mm256_loadu2_m128(row.add(4 * stride), row) }
    }

    /// Four elements of every fourth row.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn four_lanes(row: *const f32, stride: usize) -> __m512 {
        // SAFETY: the caller has these rows.
        unsafe {
            let lanes = _mm512_castps128_ps512(_mm_loadu_ps(row));
            let lanes = _mm512_insertf32x4::<1>(lanes, _mm_loadu_ps(row.add(4 * stride)));
            let lanes = _mm512_insertf32x4::<2>(lanes, _mm_loadu_ps(row.add(8 * stride)));
            _mm512_insertf32x4::<3>(lanes, _mm_loadu_ps(row.add(12 * stride)))
        }
    }
}

/// Elements of four bytes, with NEON.
#[cfg(target_arch = "aarch64")]
mod words {
    use super::{TILE, rest};
    use std::arch::aarch64::{
        uint32x4_t, uint64x2_t, vtrn1q_u32, vtrn1q_u64, vtrn2q_u32, vtrn2q_u64,
    };

    const HALF: usize = TILE / 2;

    /// As [`super::transpose`].
    pub fn transpose(
        source: (&[[u8; 4]], usize),
        (target, target_stride): (&mut [[u8; 4]], usize),
        size: [usize; 2],
    ) {
        let whole = size.map(|size| size - size % TILE);
        // SAFETY: these instructions are part of the baseline.
        unsafe { tiles(source, (&mut *target, target_stride), whole) };
        rest(source, (target, target_stride), size, whole);
    }

    /// Transposes whole tiles, as four quarters each.
    #[target_feature(enable = "neon")]
    fn tiles(
        (source, source_stride): (&[[u8; 4]], usize),
        (target, target_stride): (&mut [[u8; 4]], usize),
        [rows, columns]: [usize; 2],
    ) {
        for c in (0..columns).step_by(TILE) {
            for r in (0..rows).step_by(TILE) {
                for left in [c, c + HALF] {
                    let above = quarter(&source[r * source_stride + left..], source_stride);
                    let below = (r + HALF) * source_stride + left;
                    let below = quarter(&source[below..], source_stride);
                    for (i, column) in above.into_iter().zip(below).enumerate() {
                        let column: [[u8; 4]; TILE] = bytemuck::cast([column.0, column.1]);
                        target[(left + i) * target_stride + r..][..TILE].copy_from_slice(&column);
                    }
                }
            }
        }
    }

    /// The first four columns of four rows.
    #[inline]
    #[target_feature(enable = "neon")]
    fn quarter(source: &[[u8; 4]], stride: usize) -> [uint64x2_t; HALF] {
        let mut rows = [[[0; 4]; HALF]; HALF];
        for (i, row) in rows.iter_mut().enumerate() {
            row.copy_from_slice(&source[i * stride..][..HALF]);
        }
        let [a, b, c, d]: [uint32x4_t; HALF] = bytemuck::cast(rows);
        // The even columns of two rows, as pairs, and the odd ones.
        let even: [uint64x2_t; 2] = bytemuck::cast([vtrn1q_u32(a, b), vtrn1q_u32(c, d)]);
        let odd: [uint64x2_t; 2] = bytemuck::cast([vtrn2q_u32(a, b), vtrn2q_u32(c, d)]);
        [
            vtrn1q_u64(even[0], even[1]),
            vtrn1q_u64(odd[0], odd[1]),
            vtrn2q_u64(even[0], even[1]),
            vtrn2q_u64(odd[0], odd[1]),
        ]
    }
}
