//! Tests of `features.rs`.

use kernels::features::{FeatureFunction, Features};

/// The sum in a tree over neighbours: the left half has a power of two of the numbers.
fn neighbours(numbers: &[f64]) -> f64 {
    let mut half = 1;
    while 2 * half < numbers.len() {
        half *= 2;
    }
    match numbers {
        [] => 0.0,
        [number] => *number,
        _ => neighbours(&numbers[..half]) + neighbours(&numbers[half..]),
    }
}

#[test]
fn sums_are_trees_in_every_layout() {
    let columns = [(1, 1, 1), (7, 3, 1), (300, 9, 1), (1030, 8, 1)];
    let few = [(3, 5, 4), (1, 17, 96), (2, 70, 15), (1, 3, 1023), (4, 3, 256), (1, 1500, 2)];
    let many = [(2, 3, 5000), (1, 2, 1025), (4100, 2, 2)];
    let shapes = columns.into_iter().chain(few).chain(many);
    for (outer, count, inner) in shapes {
        let number = |i: usize| 1.0 / (i % 1009 + 1) as f64 - 0.01;
        let x: Vec<f64> = (0..outer * count * inner).map(number).collect();
        let y: Vec<f64> = x.iter().rev().copied().collect();
        let shift: Vec<f64> = (0..count).map(|feature| feature as f64 / 3.0).collect();
        let f = |[shift]: [f64; 1], x: f64, y: f64| (x - shift) * y;
        let function = FeatureFunction::new([&x, &y], [&shift], f);
        let features = Features { count, inner };
        let mut mapped = vec![0.0; x.len()];
        features.map(function, &mut mapped);
        let sums = features.sums(function);
        for feature in 0..count {
            let own = |&i: &usize| i / inner % count == feature;
            let places: Vec<usize> = (0..x.len()).filter(own).collect();
            let of = |&i: &usize| f([shift[feature]], x[i], y[i]);
            let values: Vec<f64> = places.iter().map(of).collect();
            let found: Vec<f64> = places.iter().map(|&i| mapped[i]).collect();
            assert_eq!((found, sums[feature]), (values.clone(), neighbours(&values)));
        }
    }
    let nothing = FeatureFunction::new([&[0f32; 0][..]; 2], [], |[], x, _| x);
    assert_eq!(Features { count: 2, inner: 3 }.sums(nothing), [0.0; 2]);
    assert_eq!(Features { count: 0, inner: 1 }.sums(nothing), []);
}
