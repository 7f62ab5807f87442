//! Tests of `narrow.rs`.

use kernels::Tree;
use kernels::narrow::{combine_adjacent, combine_narrow};

/// Neither associative nor commutative, so that it shows every change of order.
fn mix(x: u64, y: u64) -> u64 {
    (x ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(31).rotate_left(7) ^ y.wrapping_mul(17)
}

/// The columns of a matrix, each combined as the definition says.
fn columns_of(elements: &[u64], columns: usize) -> Vec<u64> {
    let column = |first: usize| {
        let mut tree = Tree::new();
        elements[first..].iter().step_by(columns).for_each(|&element| tree.push(element, mix));
        tree.finish(mix).unwrap()
    };
    (0..columns).map(column).collect()
}

#[test]
fn adjacent_rows_are_trees() {
    for count in [1, 7, 8, 9, 64, 511, 512, 513, 1024, 1543, 5000] {
        for columns in [1, 8, 9, 16, 23, 64] {
            let elements: Vec<u64> = (0..(count * columns) as u64).collect();
            let mut out = vec![0; columns];
            combine_adjacent(&elements, [count, columns], &mix, &mut out);
            assert_eq!(out, columns_of(&elements, columns), "{count} x {columns}");
        }
    }
}

#[test]
fn narrow_columns_are_trees() {
    for (count, columns, matrices) in [
        (1, 2, 3),
        (5, 3, 700),
        (256, 3, 9),
        (1000, 15, 2),
        (1024, 2, 2),
        (1025, 3, 2),
        (3100, 4, 3),
    ] {
        let elements: Vec<u64> = (0..(count * columns * matrices) as u64).collect();
        let mut out = vec![0; columns * matrices];
        combine_narrow(&elements, [count, columns], &mix, &mut out);
        let matrices = out.chunks(columns).zip(elements.chunks(count * columns));
        for (out, elements) in matrices {
            assert_eq!(out, columns_of(elements, columns), "{count} x {columns}");
        }
    }
}
