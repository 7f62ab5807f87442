//! Tests of `math/compare.rs`.

use numerics::math::{Direction, clamp, compare, compare_total_order, select};
use numerics::{Complex32, Element, F8E4M3FN, I1, Tensor};

fn bools(tensor: Tensor) -> Vec<bool> {
    tensor.as_slice::<I1>().unwrap().iter().map(|bit| bit.get()).collect()
}

fn vector<T: Element>(elements: &[T]) -> Tensor {
    Tensor::from_vec([elements.len()], elements.to_vec()).unwrap()
}

#[test]
fn floats_compare_as_ieee() {
    let x = vector(&[1.0f32, 2.0, -0.0, f32::NAN]);
    let y = vector(&[2.0f32, 2.0, 0.0, f32::NAN]);
    let expected = [
        [false, true, true, false],
        [true, false, false, true],
        [false, true, true, false],
        [false, false, false, false],
        [true, true, true, false],
        [true, false, false, false],
    ];
    for (direction, expected) in Direction::ALL.into_iter().zip(expected) {
        assert_eq!(bools(compare(direction, &x, &y).unwrap()), expected, "{direction:?}");
    }
}

#[test]
fn total_order() {
    let ordered = [
        f32::from_bits(0xFFC0_0000),
        f32::NEG_INFINITY,
        -1.0,
        -0.0,
        0.0,
        1.0,
        f32::INFINITY,
        f32::NAN,
    ];
    for pair in ordered.windows(2) {
        let (x, y) = (Tensor::scalar(pair[0]), Tensor::scalar(pair[1]));
        assert_eq!(bools(compare_total_order(Direction::Lt, &x, &y).unwrap()), [true]);
        assert_eq!(bools(compare_total_order(Direction::Eq, &x, &x).unwrap()), [true]);
        assert_eq!(bools(compare_total_order(Direction::Ge, &x, &y).unwrap()), [false]);
    }
}

#[test]
fn other_types_compare() {
    let (x, y) = (Tensor::scalar(200u8), Tensor::scalar(100u8));
    assert_eq!(bools(compare(Direction::Gt, &x, &y).unwrap()), [true]);
    let (x, y) =
        (Tensor::scalar(Complex32::new(1.0, 2.0)), Tensor::scalar(Complex32::new(1.0, 3.0)));
    assert_eq!(bools(compare(Direction::Ne, &x, &y).unwrap()), [true]);
    assert_eq!(bools(compare(Direction::Lt, &x, &y).unwrap()), [true]);
    let (x, y) =
        (Tensor::scalar(F8E4M3FN::from_bits(0x7F)), Tensor::scalar(F8E4M3FN::from_bits(0x7F)));
    assert_eq!(bools(compare(Direction::Eq, &x, &y).unwrap()), [false]);
    assert!(compare(Direction::Eq, &x, &Tensor::scalar(1i32)).is_err());
}

#[test]
fn a_scalar_compares_with_every_element() {
    let (x, y) = (vector(&[1i32, 2, 3]), Tensor::scalar(2i32));
    assert_eq!(bools(compare(Direction::Lt, &x, &y).unwrap()), [true, false, false]);
    assert_eq!(bools(compare(Direction::Lt, &y, &x).unwrap()), [false, false, true]);
    assert!(compare(Direction::Lt, &x, &vector(&[1i32, 2])).is_err());
}

#[test]
fn selects() {
    let (x, y) = (vector(&[1i64, 2]), vector(&[3i64, 4]));
    let pred = vector(&[I1::new(true), I1::new(false)]);
    assert_eq!(select(&pred, &x, &y).unwrap(), vector(&[1i64, 4]));
    assert_eq!(select(&Tensor::scalar(I1::new(false)), &x, &y).unwrap(), y);
    assert!(select(&x, &x, &y).is_err());
    assert!(select(&vector(&[I1::new(true)]), &x, &y).is_err());
}

#[test]
fn clamps() {
    let x = vector(&[-2.0f64, 0.5, 7.0, f64::NAN]);
    let clamped = clamp(&Tensor::scalar(0.0f64), x, &Tensor::scalar(1.0f64)).unwrap();
    let clamped = clamped.as_slice::<f64>().unwrap();
    assert_eq!(clamped[..3], [0.0, 0.5, 1.0]);
    assert!(clamped[3].is_nan());
    assert!(clamp(&vector(&[0i32, 0]), Tensor::scalar(1i32), &Tensor::scalar(1i32)).is_err());
}
