//! Tests of `top_k.rs`.

use kernels::top_k;
use numerics::{I1, Tensor};

#[test]
fn floats_are_in_total_order() {
    let x = [1.0, f32::NAN, 3.0, -0.0, 0.0, f32::INFINITY, 3.0];
    let x = Tensor::from_vec([1, 7], x.to_vec()).unwrap();
    let [_, indices] = top_k(&x, 7, true).unwrap();
    assert_eq!(indices, Tensor::from_vec([1, 7], vec![1, 5, 2, 6, 0, 4, 3]).unwrap());
    assert!(top_k(&x, 8, true).is_err());
}

#[test]
fn the_ends_of_integers() {
    let indices = |x: Tensor| top_k(&x, 3, true).unwrap()[1].to_vec::<i32>().unwrap();
    assert_eq!(indices(Tensor::from_vec([3], vec![0, u64::MAX, u64::MAX - 1]).unwrap()), [1, 2, 0]);
    assert_eq!(indices(Tensor::from_vec([3], vec![0, i64::MIN, i64::MAX]).unwrap()), [2, 0, 1]);
    assert_eq!(
        indices(Tensor::from_vec([3], [false, true, false].map(I1::from).to_vec()).unwrap()),
        [1, 0, 2]
    );
    assert!(top_k(&Tensor::zeros(numerics::DType::C64, [3]).unwrap(), 3, true).is_err());
}

#[test]
fn rows_and_directions() {
    let x = Tensor::from_vec([2, 3], vec![3u8, 1, 2, 5, 255, 5]).unwrap();
    let [values, indices] = top_k(&x, 2, true).unwrap();
    assert_eq!(values, Tensor::from_vec([2, 2], vec![3u8, 2, 255, 5]).unwrap());
    assert_eq!(indices, Tensor::from_vec([2, 2], vec![0, 2, 1, 0]).unwrap());
    let [values, _] = top_k(&x, 1, false).unwrap();
    assert_eq!(values, Tensor::from_vec([2, 1], vec![1u8, 5]).unwrap());
    let [values, _] = top_k(&x, 0, false).unwrap();
    assert_eq!(values.shape(), [2, 0]);
}

#[test]
fn few_of_many() {
    for (size, k) in [(50, 5), (512, 1), (513, 1), (300, 17), (300, 74), (4000, 16), (4000, 999)] {
        // Ascending, descending, and in no order, with equal elements.
        for order in 0..3 {
            let element = |i: usize| match order {
                0 => i as u32 / 2,
                1 => (size - i) as u32 / 2,
                _ => (i as u32).wrapping_mul(2_654_435_761) >> 20,
            };
            let x: Vec<u32> = (0..size).map(element).collect();
            let mut sorted: Vec<usize> = (0..size).collect();
            sorted.sort_by_key(|&i| x[i]);
            let expected: Vec<i32> = sorted[..k].iter().map(|&i| i as i32).collect();
            let [_, indices] = top_k(&Tensor::from_vec([size], x).unwrap(), k, false).unwrap();
            assert_eq!(indices.to_vec::<i32>().unwrap(), expected, "{k} of {size}");
        }
    }
}
