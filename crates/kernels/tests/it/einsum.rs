//! Tests of `einsum.rs`.

use kernels::einsum;
use numerics::{DType, Tensor};

fn tensor(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    Tensor::from_vec(shape, (1..=count as i64).collect()).unwrap()
}

fn values(config: &str, operands: Vec<Tensor>) -> Vec<i64> {
    einsum(config, operands, DType::I64).unwrap().to_vec().unwrap()
}

#[test]
fn one_operand() {
    // 1 2 3
    // 4 5 6
    assert_eq!(values("ab->ba", vec![tensor(&[2, 3])]), [1, 4, 2, 5, 3, 6]);
    assert_eq!(values("ab->a", vec![tensor(&[2, 3])]), [6, 15]);
    assert_eq!(values(",ab->b", vec![tensor(&[2, 3])]), [5, 7, 9]);
    assert_eq!(values("ab->", vec![tensor(&[2, 3])]), [21]);
    // 1 2
    // 3 4
    assert_eq!(values("aa->a", vec![tensor(&[2, 2])]), [1, 4]);
    assert_eq!(values("aa->", vec![tensor(&[2, 2])]), [5]);
    assert_eq!(values("...ab->...ba", vec![tensor(&[1, 2, 2])]), [1, 3, 2, 4]);
}

#[test]
fn two_operands() {
    let (x, y) = (tensor(&[2, 2]), tensor(&[2, 2]));
    assert_eq!(values("ab,bc->ac", vec![x.clone(), y.clone()]), [7, 10, 15, 22]);
    assert_eq!(values("ab,bc->ca", vec![x.clone(), y.clone()]), [7, 15, 10, 22]);
    assert_eq!(values("ab,ab->ab", vec![x.clone(), y.clone()]), [1, 4, 9, 16]);
    // Dimensions of only one operand are summed in it: row sums 3 and 7 times column sums 4 and
    // 6.
    assert_eq!(values("ab,cd->ad", vec![x.clone(), y.clone()]), [12, 18, 28, 42]);
    assert_eq!(values("a,b->ab", vec![tensor(&[2]), tensor(&[3])]), [1, 2, 3, 2, 4, 6]);
    assert_eq!(values("...ab,...bc->...ac", vec![tensor(&[2, 1, 1]), tensor(&[2, 1, 1])]), [1, 4]);
}

#[test]
fn what_is_no_notation_is_refused() {
    let x = || vec![tensor(&[2, 3])];
    for config in ["ab", "abc->a", "ab->c", "ab->aa", "a1->a", "aa->a", "ab,b->a", "->"] {
        assert!(einsum(config, x(), DType::I64).is_err(), "{config}");
    }
}
