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
    let whole = [rows, columns].map(|size| size - size % TILE);
    tiles((source, source_stride), (&mut *target, target_stride), whole);
    for r in 0..rows {
        let row = &source[r * source_stride..][..columns];
        let first = if r < whole[0] { whole[1] } else { 0 };
        for (c, &element) in row.iter().enumerate().skip(first) {
            target[c * target_stride + r] = element;
        }
    }
}

/// Transposes whole tiles.
fn tiles<T: Pod>(
    (source, source_stride): (&[T], usize),
    (target, target_stride): (&mut [T], usize),
    [rows, columns]: [usize; 2],
) {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if Isa::best().has_vectors()
        && let Ok(source) = bytemuck::try_cast_slice::<T, [u8; 4]>(source)
        && let Ok(target) = bytemuck::try_cast_slice_mut::<T, [u8; 4]>(target)
        && size_of::<T>() == 4
    {
        // SAFETY: the instructions were detected.
        return unsafe {
            words::tiles((source, source_stride), (target, target_stride), [rows, columns])
        };
    }
    for c in (0..columns).step_by(TILE) {
        for r in (0..rows).step_by(TILE) {
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
}

/// Elements of four bytes, with AVX2.
#[cfg(target_arch = "x86_64")]
mod words {
    use super::TILE;
    use std::arch::x86_64::{
        __m256, _mm256_setzero_ps, _mm256_shuffle_ps, _mm256_unpackhi_ps, _mm256_unpacklo_ps,
    };

    const HALF: usize = TILE / 2;

    /// Transposes whole tiles.
    #[target_feature(enable = "avx2")]
    pub fn tiles(
        (source, source_stride): (&[[u8; 4]], usize),
        (target, target_stride): (&mut [[u8; 4]], usize),
        [rows, columns]: [usize; 2],
    ) {
        for c in (0..columns).step_by(TILE) {
            for r in (0..rows).step_by(TILE) {
                // The left and the right halves of rows, each beside that of the fourth one after.
                // Closures of other functions are not compiled for these instructions.
                let mut halves = [[_mm256_setzero_ps(); HALF]; 2];
                for i in 0..HALF {
                    let above = &source[(r + i) * source_stride + c..][..TILE];
                    let below = &source[(r + i + HALF) * source_stride + c..][..TILE];
                    for (half, at) in halves.iter_mut().zip([0, HALF]) {
                        let mut elements = [[0; 4]; TILE];
                        elements[..HALF].copy_from_slice(&above[at..at + HALF]);
                        elements[HALF..].copy_from_slice(&below[at..at + HALF]);
                        half[i] = bytemuck::cast(elements);
                    }
                }
                let columns = [quarters(halves[0]), quarters(halves[1])];
                for (i, &column) in columns.as_flattened().iter().enumerate() {
                    let column: [[u8; 4]; TILE] = bytemuck::cast(column);
                    target[(c + i) * target_stride + r..][..TILE].copy_from_slice(&column);
                }
            }
        }
    }

    /// The columns of four rows, of four elements in the low half of each vector and of others in
    /// the high one.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn quarters([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
        let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
        let (upper_ab, upper_cd) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0b01_00_01_00>(ab, cd),
            _mm256_shuffle_ps::<0b11_10_11_10>(ab, cd),
            _mm256_shuffle_ps::<0b01_00_01_00>(upper_ab, upper_cd),
            _mm256_shuffle_ps::<0b11_10_11_10>(upper_ab, upper_cd),
        ]
    }
}

/// Elements of four bytes, with NEON.
#[cfg(target_arch = "aarch64")]
mod words {
    use super::TILE;
    use std::arch::aarch64::{
        uint32x4_t, uint64x2_t, vtrn1q_u32, vtrn1q_u64, vtrn2q_u32, vtrn2q_u64,
    };

    const HALF: usize = TILE / 2;

    /// Transposes whole tiles, as four quarters each.
    #[target_feature(enable = "neon")]
    pub fn tiles(
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Pod + PartialEq + std::fmt::Debug>(element: impl Fn(usize) -> T) {
        for [rows, columns] in [[1, 1], [8, 8], [7, 9], [16, 40], [17, 8], [33, 31], [0, 4]] {
            let (from, to) = (columns + 3, rows + 5);
            let source: Vec<T> = (0..rows * from).map(&element).collect();
            let mut target: Vec<T> = (0..columns * to).map(|_| element(0)).collect();
            let mut expected = target.clone();
            for r in 0..rows {
                for c in 0..columns {
                    expected[c * to + r] = source[r * from + c];
                }
            }
            transpose((&source, from), (&mut target, to), [rows, columns]);
            assert_eq!(target, expected, "{rows} x {columns}");
        }
    }

    #[test]
    fn elements_of_all_sizes() {
        check(|i| i as u8);
        check(|i| i as u16);
        check(|i| i as u32);
        check(|i| i as u64);
        check(|i| [i as u64, 7 * i as u64]);
        check(|i| [i as u8, 2, 3, 4]);
    }
}
