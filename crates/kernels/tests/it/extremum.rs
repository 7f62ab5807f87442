//! Tests of `extremum.rs`.

use kernels::extremum::{combine, reduce_rows};
use numerics::Tensor;
use program::Extremum;

#[test]
fn rows_are_folds_of_the_body() {
    const NUMBERS: [f32; 8] = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NAN, 2.0, 1.0];
    for count in [1, 2, 7, 16, 33, 100] {
        for (range, offset) in [(4, 0), (8, 0), (2, 0), (1, 5), (3, 2)] {
            // The last rows have other indices than those of the places.
            let number = |i: usize| NUMBERS[offset + (i * i / 3 + i) % range];
            let values: Vec<f32> = (0..4 * count).map(number).collect();
            let indices: Vec<i32> = (0..4 * count)
                .map(|i| if i < 2 * count { i % count } else { i * 7 % 13 } as i32)
                .collect();
            let tensors = (
                Tensor::from_vec([4, count], values.clone()).unwrap(),
                Tensor::from_vec([4, count], indices.clone()).unwrap(),
            );
            for (kind, start) in
                [(Extremum::Maximum, f32::NEG_INFINITY), (Extremum::Minimum, f32::INFINITY)]
            {
                let precedes = |x: f32, y: f32| match kind {
                    Extremum::Maximum => x > y,
                    Extremum::Minimum => x < y,
                };
                let init = (Tensor::scalar(start), Tensor::scalar(0i32));
                let [best, places] =
                    reduce_rows(kind, [&tensors.0, &tensors.1], [&init.0, &init.1], count)
                        .unwrap()
                        .unwrap();
                for row in 0..4 {
                    let pairs = values.iter().copied().zip(indices.iter().copied());
                    let mut pairs = pairs.skip(row * count).take(count);
                    let first = pairs.next().unwrap();
                    let folded = pairs.fold(first, |x, y| combine(x, y, &precedes));
                    let (value, place) = combine((start, 0), folded, &precedes);
                    let found = best.as_slice::<f32>().unwrap()[row];
                    assert_eq!(found.to_bits(), value.to_bits(), "{count} of {range}");
                    assert_eq!(places.as_slice::<i32>().unwrap()[row], place);
                }
            }
        }
    }
}
