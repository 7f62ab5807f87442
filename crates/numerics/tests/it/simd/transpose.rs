//! Tests of `simd/transpose.rs`.

use bytemuck::Pod;
use numerics::simd::{transpose, transpose_streamed};

fn check<T: Pod + PartialEq + std::fmt::Debug>(element: impl Fn(usize) -> T) {
    for [rows, columns] in [
        [1, 1],
        [8, 8],
        [7, 9],
        [16, 40],
        [17, 8],
        [33, 31],
        [0, 4],
        [48, 64],
        [17, 1070],
        [99, 2],
        [140, 5],
        [70, 7],
    ] {
        let (from, to) = (columns + 3, usize::next_multiple_of(rows, 16));
        let source: Vec<T> = (0..rows * from).map(&element).collect();
        // Some of the targets begin with a line of the cache.
        let mut targets: Vec<T> = (0..columns * to + 15).map(|_| element(0)).collect();
        for first in 0..16 {
            let target = &mut targets[first..][..columns * to];
            target.fill(element(0));
            let mut expected = target.to_vec();
            for r in 0..rows {
                for c in 0..columns {
                    expected[c * to + r] = source[r * from + c];
                }
            }
            transpose((&source, from), (target, to), [rows, columns]);
            assert_eq!(target, expected, "{rows} x {columns}");
            target.fill(element(0));
            transpose_streamed((&source, from), (target, to), [rows, columns]);
            assert_eq!(target, expected, "{rows} x {columns}, streamed");
        }
    }
}

#[test]
#[should_panic = "out of range"]
fn short_slices() {
    transpose((&[1u32; 63], 8), (&mut [0; 64], 8), [8, 8]);
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
