//! Tests of `gather` in `index_vectors.rs`.

use kernels::gather;
use numerics::{DType, Element, Tensor, math};
use program::primitives::GatherDims;

fn tensor<T: Element>(shape: &[usize], element: impl Fn(usize) -> T) -> Tensor {
    let count = shape.iter().product();
    Tensor::from_vec(shape, (0..count).map(element).collect()).expect("small")
}

/// Elements, rows and blocks at vectors of one and two indices, inside and outside, which lie along
/// the last dimension or the first one, for machines on which threads share everything and nothing.
#[test]
fn windows_are_where_their_indices_are() {
    let (rows, columns, count) = (13i64, 7i64, 600usize);
    let operand = tensor(&[rows as usize, columns as usize], |i| i as i32);
    let at = |row: i64, column: i64| (row * columns + column) as i32;
    // Of windows of so many rows and columns.
    let start = |i: usize, salt: usize, size: i64, window: i64| {
        let index = (i * 31 + salt) as i64 % (size + 8) - 4;
        (index, index.clamp(0, size - window))
    };
    for machine in host::Machine::presets() {
        let host = host::Host::default().with_machine(machine).with_workers(3);
        let _entered = host.enter();
        for dtype in [DType::I64, DType::I32, DType::I8] {
            for is_last in [true, false] {
                // Both indices, of single elements.
                let shape = if is_last { [count, 2] } else { [2, count] };
                let index = |at: usize| {
                    let (i, entry) =
                        if is_last { (at / 2, at % 2) } else { (at % count, at / count) };
                    if entry == 0 { start(i, 3, rows, 1).0 } else { start(i, 5, columns, 1).0 }
                };
                let indices = math::convert(tensor(&shape, index), dtype).expect("small numbers");
                let dims = GatherDims {
                    collapsed_slice_dims: vec![0, 1],
                    start_index_map: vec![0, 1],
                    index_vector_dim: i64::from(is_last),
                    ..GatherDims::default()
                };
                let found = gather(&operand, &indices, &dims, &[1, 1]).expect("valid");
                let expected =
                    tensor(&[count], |i| at(start(i, 3, rows, 1).1, start(i, 5, columns, 1).1));
                assert_eq!(found, expected, "{} {dtype}", machine.name);
            }
            // Rows, before and after the dimension of the indices.
            let indices = tensor(&[count], |i| start(i, 3, rows, 1).0);
            let indices = math::convert(indices, dtype).expect("small numbers");
            for is_after in [true, false] {
                let dims = GatherDims {
                    offset_dims: vec![i64::from(is_after)],
                    collapsed_slice_dims: vec![0],
                    start_index_map: vec![0],
                    index_vector_dim: 1,
                    ..GatherDims::default()
                };
                let found = gather(&operand, &indices, &dims, &[1, columns as usize]);
                let shape =
                    if is_after { [count, columns as usize] } else { [columns as usize, count] };
                let expected = tensor(&shape, |at_result| {
                    let [first, second] = [at_result / shape[1], at_result % shape[1]];
                    let (i, column) = if is_after { (first, second) } else { (second, first) };
                    at(start(i, 3, rows, 1).1, column as i64)
                });
                assert_eq!(found.expect("valid"), expected, "{} {dtype}", machine.name);
            }
            // Blocks of two rows and three columns.
            let dims = GatherDims {
                offset_dims: vec![1, 2],
                start_index_map: vec![0],
                index_vector_dim: 1,
                ..GatherDims::default()
            };
            let found = gather(&operand, &indices, &dims, &[2, 3]).expect("valid");
            let expected = tensor(&[count, 2, 3], |at_result| {
                let (i, row, column) = (at_result / 6, at_result / 3 % 2, at_result % 3);
                at(start(i, 3, rows, 2).1 + row as i64, column as i64)
            });
            assert_eq!(found, expected, "{} {dtype}", machine.name);
        }
    }
}
