//! Tests of `simd/transpose.rs`.

use bytemuck::Pod;
use numerics::simd::transpose;

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
