//! Transposition, in registers where the machine has instructions for it.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::Isa;
use super::permuted::{pattern_reach, read_strided};
use crate::dispatch::by_size;
use bytemuck::{Pod, cast_slice, cast_slice_mut};

/// Elements along both sides of a tile.
const TILE: usize = 8;
/// Rows of a narrow matrix whose columns are copied in turn: a near cache holds these.
const TOGETHER: usize = 1 << 10;

/// Copies a matrix of `rows` x `columns` elements, transposed: element `c` of row `r` of `source`
/// becomes element `r` of row `c` of `target`. Both have a distance between their rows.
///
/// # Panics
/// If a slice is shorter than its rows.
pub fn transpose<T: Pod>(source: (&[T], usize), target: (&mut [T], usize), size: [usize; 2]) {
    transpose_to::<T, false>(source, target, size);
}

/// As [`transpose`]. Whole lines of the cache are written to memory where the machine has
/// instructions for it: results that are larger than caches need not be read before.
///
/// # Panics
/// As there.
pub fn transpose_streamed<T: Pod>(
    source: (&[T], usize),
    target: (&mut [T], usize),
    size: [usize; 2],
) {
    transpose_to::<T, true>(source, target, size);
}

fn transpose_to<T: Pod, const STREAMED: bool>(
    (source, source_stride): (&[T], usize),
    (target, target_stride): (&mut [T], usize),
    size: [usize; 2],
) {
    by_size!(T, transpose_plain<STREAMED>(
        (cast_slice(source), source_stride),
        (cast_slice_mut(target), target_stride),
        size
    ));
}

/// As [`transpose_to`], compiled once for all crates.
#[inline(never)]
fn transpose_plain<T: Pod, const STREAMED: bool>(
    (source, source_stride): (&[T], usize),
    (target, target_stride): (&mut [T], usize),
    [rows, columns]: [usize; 2],
) {
    if rows == 0 || columns == 0 {
        return;
    }
    // Narrow matrices have no tiles.
    let reach = pattern_reach::<T>();
    if columns < TILE && (1..=reach / 2).contains(&source_stride) && rows >= 2 * reach {
        for r in (0..rows).step_by(TOGETHER) {
            let rows = TOGETHER.min(rows - r);
            for c in 0..columns {
                let target = &mut target[c * target_stride + r..][..rows];
                read_strided(&source[r * source_stride + c..], source_stride, target);
            }
        }
        return;
    }
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if Isa::best().has_vectors()
        && let Ok(source) = bytemuck::try_cast_slice::<T, [u8; 4]>(source)
        && let Ok(target) = bytemuck::try_cast_slice_mut::<T, [u8; 4]>(target)
        && size_of::<T>() == 4
    {
        let (source, target) = ((source, source_stride), (target, target_stride));
        return words::transpose::<STREAMED>(source, target, [rows, columns]);
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

    /// Rows and columns of a tile of AVX-512.
    const SIDE: usize = 16;
    /// Bytes of a line of the cache.
    const LINE: usize = 64;

    /// As [`super::transpose_to`], where there is AVX2.
    pub(crate) fn transpose<const STREAMED: bool>(
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
        let wide = match Isa::best().has_avx512() {
            true => size.map(|size| size - size % SIDE),
            false => [0; 2],
        };
        let from = (source.as_ptr().cast(), source_stride);
        let to: (*mut f32, usize) = (target.as_mut_ptr().cast(), target_stride);
        let are_lines = to.0.addr().is_multiple_of(LINE) && target_stride.is_multiple_of(SIDE);
        // SAFETY: AVX-512 was detected if there are such tiles, and all are parts of the slices.
        // Streams are of whole lines.
        unsafe {
            match STREAMED && are_lines {
                true => wide_tiles::<true>(from, to, wide),
                false => wide_tiles::<false>(from, to, wide),
            }
        }
        // Below and beside these.
        for [first_row, first_column, end_column] in
            [[wide[0], 0, whole[1]], [0, wide[1], whole[1]]]
        {
            let end_row = if first_column == 0 { whole[0] } else { wide[0] };
            let (rows, columns) = (end_row - first_row, end_column - first_column);
            let from = from.0.wrapping_add(first_row * source_stride + first_column);
            let to = to.0.wrapping_add(first_column * target_stride + first_row);
            // SAFETY: AVX2 was detected, and the tiles are parts of the slices.
            unsafe { tiles((from, source_stride), (to, target_stride), [rows, columns]) };
        }
        rest((source, source_stride), (target, target_stride), size, whole);
    }

    /// Transposes whole tiles of 16 rows and columns, whose rows are read in order.
    /// Streams if lines are to be written to memory.
    #[target_feature(enable = "avx512f")]
    unsafe fn wide_tiles<const STREAMED: bool>(
        (source, source_stride): (*const f32, usize),
        (target, target_stride): (*mut f32, usize),
        [rows, columns]: [usize; 2],
    ) {
        /// Columns whose lines are written before others: a few caches, and tables of pages, hold
        /// them. Streams do not stay in caches.
        const COLUMNS: [usize; 2] = [512, 1024];
        for first in (0..columns).step_by(COLUMNS[usize::from(STREAMED)]) {
            let end = columns.min(first + COLUMNS[usize::from(STREAMED)]);
            for r in (0..rows).step_by(SIDE) {
                for c in (first..end).step_by(SIDE) {
                    // SAFETY: the caller has matrices of this many rows and columns.
                    unsafe {
                        let row = source.add(r * source_stride + c);
                        let column = target.add(c * target_stride + r);
                        wide_tile::<STREAMED>((row, source_stride), (column, target_stride));
                    }
                }
            }
        }
        if STREAMED {
            // Threads that read the results later see them.
            _mm_sfence();
        }
    }

    /// A tile of 16 rows and columns.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn wide_tile<const STREAMED: bool>(
        (row, source_stride): (*const f32, usize),
        (column, target_stride): (*mut f32, usize),
    ) {
        let mut rows = [_mm512_setzero_ps(); SIDE];
        for (i, vector) in rows.iter_mut().enumerate() {
            // SAFETY: the caller has these rows.
            *vector = unsafe { _mm512_loadu_ps(row.add(i * source_stride)) };
        }
        // Tiles of four rows and columns, in the lanes.
        for four in rows.as_chunks_mut::<4>().0 {
            let [w, x, y, z] = *four;
            let (wx, yz) = (_mm512_unpacklo_ps(w, x), _mm512_unpacklo_ps(y, z));
            let (upper_wx, upper_yz) = (_mm512_unpackhi_ps(w, x), _mm512_unpackhi_ps(y, z));
            *four = [
                _mm512_shuffle_ps::<0b01_00_01_00>(wx, yz),
                _mm512_shuffle_ps::<0b11_10_11_10>(wx, yz),
                _mm512_shuffle_ps::<0b01_00_01_00>(upper_wx, upper_yz),
                _mm512_shuffle_ps::<0b11_10_11_10>(upper_wx, upper_yz),
            ];
        }
        // Lanes of every fourth row.
        for i in 0..4 {
            let [w, x, y, z] = [rows[i], rows[4 + i], rows[8 + i], rows[12 + i]];
            let (wx, yz) = (
                _mm512_shuffle_f32x4::<0b01_00_01_00>(w, x),
                _mm512_shuffle_f32x4::<0b01_00_01_00>(y, z),
            );
            let (upper_wx, upper_yz) = (
                _mm512_shuffle_f32x4::<0b11_10_11_10>(w, x),
                _mm512_shuffle_f32x4::<0b11_10_11_10>(y, z),
            );
            let columns = [
                _mm512_shuffle_f32x4::<0b10_00_10_00>(wx, yz),
                _mm512_shuffle_f32x4::<0b11_01_11_01>(wx, yz),
                _mm512_shuffle_f32x4::<0b10_00_10_00>(upper_wx, upper_yz),
                _mm512_shuffle_f32x4::<0b11_01_11_01>(upper_wx, upper_yz),
            ];
            for (lane, vector) in columns.into_iter().enumerate() {
                // SAFETY: the caller has these columns; they are lines if `STREAMED`.
                unsafe {
                    let column = column.add((4 * lane + i) * target_stride);
                    match STREAMED {
                        true => _mm512_stream_ps(column, vector),
                        false => _mm512_storeu_ps(column, vector),
                    }
                }
            }
        }
    }

    /// Transposes whole tiles of eight rows and four columns: the elements of a row become a lane
    /// of a vector, beside the fourth row after.
    #[target_feature(enable = "avx2")]
    unsafe fn tiles(
        (source, source_stride): (*const f32, usize),
        (target, target_stride): (*mut f32, usize),
        [rows, columns]: [usize; 2],
    ) {
        // The columns of a cache line, four at a time.
        for first in (0..columns).step_by(16) {
            for r in (0..rows).step_by(8) {
                for c in (first..columns.min(first + 16)).step_by(4) {
                    // SAFETY: the caller has matrices of this many rows and columns.
                    unsafe {
                        let row = source.add(r * source_stride + c);
                        let column = target.add(c * target_stride + r);
                        four_columns((row, source_stride), (column, target_stride));
                    }
                }
            }
        }
    }

    /// Four columns of eight rows.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn four_columns(
        (row, source_stride): (*const f32, usize),
        (column, target_stride): (*mut f32, usize),
    ) {
        // SAFETY: the caller has these rows and columns.
        unsafe {
            let w = two_lanes(row, source_stride);
            let x = two_lanes(row.add(source_stride), source_stride);
            let y = two_lanes(row.add(2 * source_stride), source_stride);
            let z = two_lanes(row.add(3 * source_stride), source_stride);
            let (wx, yz) = (_mm256_unpacklo_ps(w, x), _mm256_unpacklo_ps(y, z));
            let (upper_wx, upper_yz) = (_mm256_unpackhi_ps(w, x), _mm256_unpackhi_ps(y, z));
            _mm256_storeu_ps(column, _mm256_shuffle_ps::<0b01_00_01_00>(wx, yz));
            let column = column.add(target_stride);
            _mm256_storeu_ps(column, _mm256_shuffle_ps::<0b11_10_11_10>(wx, yz));
            let column = column.add(target_stride);
            _mm256_storeu_ps(column, _mm256_shuffle_ps::<0b01_00_01_00>(upper_wx, upper_yz));
            let column = column.add(target_stride);
            _mm256_storeu_ps(column, _mm256_shuffle_ps::<0b11_10_11_10>(upper_wx, upper_yz));
        }
    }

    /// Four elements of a row, and of the fourth one after.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn two_lanes(row: *const f32, stride: usize) -> __m256 {
        // SAFETY: the caller has these rows.
        unsafe { _mm256_loadu2_m128(row.add(4 * stride), row) }
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

    /// As [`super::transpose_to`], without streams.
    pub(crate) fn transpose<const STREAMED: bool>(
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
