//! Tests of `iota.rs`.

use numerics::{DType, IotaElements, Tensor};

#[test]
fn parts_are_those_of_the_whole() {
    for (shape, dimension) in [(&[7][..], 0), (&[2, 3, 4], 0), (&[2, 3, 4], 1), (&[2, 3, 4], 2)] {
        let whole = Tensor::iota(DType::I32, shape, dimension).expect("a dimension");
        let count = whole.num_elements();
        let index = |i: usize| {
            let inner: usize = shape[dimension + 1..].iter().product();
            (i / inner % shape[dimension]) as i32
        };
        let expected: Vec<i32> = (0..count).map(index).collect();
        assert_eq!(whole.as_slice::<i32>().expect("its type"), expected);
        let iota = IotaElements::new(DType::I32, shape, dimension).expect("a dimension");
        for first in 0..count {
            let mut part = vec![-1; count - first];
            iota.write(first, bytemuck::cast_slice_mut(&mut part)).expect("aligned");
            assert_eq!(part, expected[first..]);
        }
    }
    assert!(Tensor::iota(DType::F32, [2, 0], 1).expect("empty").bytes().is_empty());
    assert!(Tensor::iota(DType::F32, [2], 1).is_err());
}
