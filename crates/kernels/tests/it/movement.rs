//! Tests of `movement.rs`.

use kernels::{clamped_starts, concatenate, pad, transpose};
use numerics::Tensor;
use program::operands::part;

fn ints(shape: &[usize], values: &[i64]) -> Tensor {
    Tensor::from_vec(shape, values.to_vec()).expect("shape and values agree")
}

#[test]
fn pad_example_of_the_specification() {
    let operand = ints(&[2, 3], &[1, 2, 3, 4, 5, 6]);
    let result =
        pad(&operand, &ints(&[], &[0]), &[0, 1], &[2, 1], &[1, 2]).expect("valid paddings");
    let expected = [
        [0, 1, 0, 0, 2, 0, 0, 3, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 4, 0, 0, 5, 0, 0, 6, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0],
    ];
    assert_eq!(result, ints(&[5, 9], expected.as_flattened()));
}

#[test]
fn negative_padding_cuts() {
    let operand = ints(&[5], &[1, 2, 3, 4, 5]);
    let result = pad(&operand, &ints(&[], &[0]), &[-1], &[-2], &[0]).expect("valid paddings");
    assert_eq!(result, ints(&[2], &[2, 3]));
    // [1 0 2 0 3 0 4 0 5] without its first three.
    let result = pad(&operand, &ints(&[], &[0]), &[-3], &[0], &[1]).expect("valid paddings");
    assert_eq!(result, ints(&[6], &[0, 3, 0, 4, 0, 5]));
    let result = pad(&operand, &ints(&[], &[0]), &[-9], &[0], &[0]).expect("valid paddings");
    assert_eq!(result.shape(), [0]);
}

#[test]
fn start_indices_are_clamped() {
    let scalar = |v: i64| ints(&[], &[v]);
    assert_eq!(
        clamped_starts(&[scalar(-3), scalar(9)], &[4, 4], &[2, 3]).expect("two indices"),
        [0, 1]
    );
}

#[test]
fn parts_put_together_are_the_whole() {
    let whole = Tensor::from_vec([2, 4], (0..8i64).collect()).expect("eight elements");
    let parts: Vec<Tensor> = (0..2).map(|i| part(&whole, 1, i, 2).expect("divisible")).collect();
    assert_eq!(parts[1].to_vec::<i64>().expect("i64"), [2, 3, 6, 7]);
    assert_eq!(concatenate(&parts.iter().collect::<Vec<_>>(), 1).expect("one shape"), whole);
    assert!(part(&whole, 1, 0, 3).is_err());
}

#[test]
fn transposes_on_several_threads() {
    let _entered = host::Host::default().with_workers(3).enter();
    for (shape, order) in [(vec![900, 1001], [1, 0, 2]), (vec![3, 700, 500], [0, 2, 1])] {
        let order = &order[..].iter().copied().filter(|&d| d < shape.len()).collect::<Vec<_>>();
        let count: usize = shape.iter().product();
        let operand = ints(&shape, &(0..count as i64).collect::<Vec<_>>());
        let result = transpose(&operand, order).expect("a permutation");
        let sizes: Vec<usize> = order.iter().map(|&d| shape[d]).collect();
        assert_eq!(result.shape(), sizes);
        let found = result.as_slice::<i64>().expect("i64");
        let strides = numerics::shape::strides(&shape);
        for (at, &element) in found.iter().enumerate().step_by(997) {
            let (mut rest, mut expected) = (at, 0);
            for (&d, &size) in order.iter().zip(&sizes).rev() {
                expected += rest % size * strides[d];
                rest /= size;
            }
            assert_eq!(element, expected as i64, "{at} of {sizes:?}");
        }
    }
}
