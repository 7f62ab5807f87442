//! Tests of `narrow.rs`.

use kernels::Tree;
use kernels::narrow::combine_narrow;

#[test]
fn narrow_columns_are_trees() {
    // Neither associative nor commutative, so that it shows every change of order.
    let mix = |x: u64, y: u64| {
        (x ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(31).rotate_left(7) ^ y.wrapping_mul(17)
    };
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
        for (number, out) in out.into_iter().enumerate() {
            let first = number / columns * columns * count + number % columns;
            let column = elements[first..].iter().step_by(columns).take(count);
            let mut tree = Tree::new();
            column.for_each(|&element| tree.push(element, mix));
            assert_eq!(Some(out), tree.finish(mix), "{count} x {columns}");
        }
    }
}
