//! Tests of `extremum.rs`.

use kernels::extremum::{choose_rows, combine, reduce_rows};
use numerics::Tensor;
use numerics::math::Direction;
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

/// Rows without NaNs are folds of the choice by a relation, from the initial pair on.
#[test]
fn choices_are_folds_of_the_body() {
    const NUMBERS: [f32; 6] = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, 2.0];
    for count in [1, 2, 7, 16, 33, 100] {
        for range in 1..=NUMBERS.len() {
            let values: Vec<f32> =
                (0..4 * count).map(|i| NUMBERS[(i * i / 3 + i) % range]).collect();
            let indices: Vec<i64> = (0..4 * count as i64).map(|i| i * 7 % 13).collect();
            let tensors = [
                Tensor::from_vec([4, count], values.clone()).unwrap(),
                Tensor::from_vec([4, count], indices.clone()).unwrap(),
            ];
            for (relation, start) in [
                (Direction::Ge, f32::NEG_INFINITY),
                (Direction::Gt, 1.0),
                (Direction::Le, 0.0),
                (Direction::Lt, f32::INFINITY),
            ] {
                let keeps = |x: f32, y: f32| match relation {
                    Direction::Ge => x >= y,
                    Direction::Gt => x > y,
                    Direction::Le => x <= y,
                    _ => x < y,
                };
                let init = [Tensor::scalar(start), Tensor::scalar(-1_i64)];
                let found = choose_rows(relation, tensors.each_ref(), init.each_ref(), count);
                let [best, places] = found.unwrap().unwrap();
                for row in 0..4 {
                    let pairs = values.iter().copied().zip(indices.iter().copied());
                    let pairs = pairs.skip(row * count).take(count);
                    let (value, place) =
                        pairs.fold((start, -1), |x, y| if keeps(x.0, y.0) { x } else { y });
                    let found = best.as_slice::<f32>().unwrap()[row];
                    assert_eq!(found.to_bits(), value.to_bits(), "{relation:?} {count} {range}");
                    assert_eq!(places.as_slice::<i64>().unwrap()[row], place, "{relation:?}");
                }
            }
            // With a NaN, the order of the body matters.
            let mut values = values;
            values[3 * count] = f32::NAN;
            let values = Tensor::from_vec([4, count], values).unwrap();
            let init = [Tensor::scalar(0.0_f32), Tensor::scalar(-1_i64)];
            let rows = [&values, &tensors[1]];
            assert!(choose_rows(Direction::Ge, rows, init.each_ref(), count).unwrap().is_none());
        }
    }
}
