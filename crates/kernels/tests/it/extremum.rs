//! Tests of `extremum.rs`.

use kernels::extremum::{choose, reduce};
use numerics::math::{Direction, convert};
use numerics::{DType, Tensor};
use program::Extremum;

/// Sizes before, along and after the reduced dimension: long and short rows, and columns.
fn sizes() -> impl Iterator<Item = [usize; 3]> {
    let counts = [1, 2, 7, 16, 33, 100];
    let others = [[4, 1], [40, 1], [3, 2], [2, 15], [2, 16], [1, 37], [3, 31]];
    counts.into_iter().flat_map(move |count| others.map(|[outer, inner]| [outer, count, inner]))
}

/// The body of an `argmax` or `argmin` as JAX writes it, on an accumulator and a value.
fn combine(
    (p, s): (f32, i32),
    (q, t): (f32, i32),
    precedes: &impl Fn(f32, f32) -> bool,
) -> (f32, i32) {
    let is_first = precedes(p, q) || p.is_nan();
    let value = if is_first { p } else { q };
    (value, if is_first || (p == q && s < t) { s } else { t })
}

/// Pairs of an element and its index along the reduced dimension, for each result.
fn pairs<T: Copy, I: Copy>(
    [outer, count, inner]: [usize; 3],
    values: &[T],
    indices: &[I],
) -> Vec<Vec<(T, I)>> {
    let place =
        |result: usize, number: usize| (result / inner * count + number) * inner + result % inner;
    let of = |result| {
        let places = (0..count).map(|number| place(result, number));
        places.map(|at| (values[at], indices[at])).collect()
    };
    (0..outer * inner).map(of).collect()
}

#[test]
fn extrema_are_folds_of_the_body() {
    // NaNs of both signs and other bits, of which the first one is the result.
    const NANS: [f32; 3] =
        [f32::from_bits(0x7FC0_0000), f32::from_bits(0x7F80_0001), f32::from_bits(0xFFFF_FFFF)];
    const NUMBERS: [f32; 10] =
        [0.0, -0.0, 1.0, -1.0, f32::INFINITY, NANS[0], 2.0, NANS[1], NANS[2], 1.0];
    for sizes in sizes() {
        let len: usize = sizes.iter().product();
        for (range, offset) in [(4, 0), (10, 0), (2, 0), (1, 5), (3, 2), (5, 5)] {
            // The last ones have other indices than those of the places.
            let number = |i: usize| NUMBERS[offset + (i * i / 3 + i) % range];
            let values: Vec<f32> = (0..len).map(number).collect();
            let place = |i: usize| i / sizes[2] % sizes[1];
            let indices: Vec<i32> =
                (0..len).map(|i| if i < len / 2 { place(i) } else { i * 7 % 13 } as i32).collect();
            let tensors = (
                Tensor::from_vec(sizes, values.clone()).unwrap(),
                Tensor::from_vec(sizes, indices.clone()).unwrap(),
            );
            for (kind, start) in
                [(Extremum::Maximum, f32::NEG_INFINITY), (Extremum::Minimum, f32::INFINITY)]
            {
                let precedes = |x: f32, y: f32| match kind {
                    Extremum::Maximum => x > y,
                    Extremum::Minimum => x < y,
                };
                let init = (Tensor::scalar(start), Tensor::scalar(0i32));
                let found = reduce(kind, [&tensors.0, &tensors.1], [&init.0, &init.1], sizes);
                let [best, places] = found.unwrap().unwrap();
                let expected = pairs(sizes, &values, &indices);
                for (result, pairs) in expected.into_iter().enumerate() {
                    let folded = pairs.into_iter().reduce(|x, y| combine(x, y, &precedes));
                    let (value, place) = combine((start, 0), folded.unwrap(), &precedes);
                    let found = best.as_slice::<f32>().unwrap()[result];
                    assert_eq!(found.to_bits(), value.to_bits(), "{sizes:?} of {range}");
                    assert_eq!(places.as_slice::<i32>().unwrap()[result], place, "{sizes:?}");
                }
            }
        }
    }
}

/// Types of all sizes, signed and unsigned.
#[test]
fn extrema_of_other_types() {
    // Groups of few results, more than are converted at a time, and none.
    let others = [[5000, 3, 2], [700, 9, 3], [3, 5, 0], [0, 5, 2]];
    for sizes in sizes().chain(others) {
        let len: usize = sizes.iter().product();
        let values: Vec<i64> = (0..len).map(|i| (i * i / 3 + 5 * i) as i64 % 11 - 5).collect();
        let positive: Vec<i64> = values.iter().map(|x| x + 5).collect();
        let indices: Vec<i64> = (0..len).map(|i| (i / sizes[2] % sizes[1]) as i64).collect();
        let unsigned = [DType::U8, DType::U16, DType::U32, DType::U64];
        let places = Tensor::from_vec(sizes, indices.clone()).unwrap();
        let kinds = [(Extremum::Maximum, 1), (Extremum::Minimum, -1)];
        let floats = [DType::F16, DType::BF16, DType::F64];
        let signed = [DType::I8, DType::I16, DType::I32, DType::I64].into_iter().chain(floats);
        let dtypes = signed.chain(unsigned);
        for (dtype, (kind, sign)) in dtypes.flat_map(|dtype| kinds.map(|kind| (dtype, kind))) {
            let best = |pairs: Vec<(i64, i64)>| {
                pairs.into_iter().max_by_key(|&(x, at)| (sign * x, -at)).unwrap()
            };
            let is_unsigned = unsigned.contains(&dtype);
            let values = if is_unsigned { &positive } else { &values };
            let all = Tensor::from_vec(sizes, values.clone()).unwrap();
            let start = if is_unsigned && sign > 0 { 0 } else { -100 * sign };
            let expected = pairs(sizes, values, &indices).into_iter().map(best);
            let expected: Vec<(i64, i64)> = expected.collect();
            for index in [DType::I32, DType::I64] {
                let of = |tensor: &Tensor, dtype| convert(tensor.clone(), dtype).unwrap();
                let tensors = [of(&all, dtype), of(&places, index)];
                let init = [of(&Tensor::scalar(start), dtype), of(&Tensor::scalar(0i64), index)];
                let found = reduce(kind, tensors.each_ref(), init.each_ref(), sizes).unwrap();
                let [best, places] = found.unwrap();
                assert_eq!((best.dtype(), places.dtype()), (dtype, index));
                let wide = [best, places].map(|t| of(&t, DType::I64).to_vec::<i64>().unwrap());
                let found: Vec<_> = wide[0].iter().copied().zip(wide[1].clone()).collect();
                assert_eq!(found, expected, "{sizes:?} of {dtype} and {index}");
            }
        }
    }
}

/// Threads divide the results: rows, and lanes of columns.
#[test]
fn extrema_of_many_results() {
    for sizes in [[1, 9, 60_000], [60_000, 9, 1], [3, 9, 20_001]] {
        let len: usize = sizes.iter().product();
        let values: Vec<f32> = (0..len).map(|i| (i * 40503 % 1009) as f32).collect();
        let indices: Vec<i32> = (0..len).map(|i| (i / sizes[2] % sizes[1]) as i32).collect();
        let tensors = [
            Tensor::from_vec(sizes, values.clone()).unwrap(),
            Tensor::from_vec([sizes[0], sizes[1], sizes[2]], indices.clone()).unwrap(),
        ];
        let init = [Tensor::scalar(f32::NEG_INFINITY), Tensor::scalar(0i32)];
        for workers in [1, 3] {
            let _entered = host::Host::default().with_workers(workers).enter();
            let found =
                reduce(Extremum::Maximum, tensors.each_ref(), init.each_ref(), sizes).unwrap();
            let [best, places] = found.unwrap();
            let (best, places) = (best.as_slice::<f32>(), places.as_slice::<i32>());
            let (best, places) = (best.unwrap(), places.unwrap());
            for (result, pairs) in pairs(sizes, &values, &indices).into_iter().enumerate() {
                let first = |best: (f32, i32), next: (f32, i32)| {
                    if next.0 > best.0 { next } else { best }
                };
                let expected = pairs.into_iter().reduce(first).unwrap();
                assert_eq!((best[result], places[result]), expected, "{sizes:?}, {workers}");
            }
        }
    }
}

/// Without NaNs, results are folds of the choice by a relation, from the initial pair on.
#[test]
fn choices_are_folds_of_the_body() {
    const NUMBERS: [f32; 6] = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, 2.0];
    for sizes in sizes() {
        let len: usize = sizes.iter().product();
        for range in 1..=NUMBERS.len() {
            let values: Vec<f32> = (0..len).map(|i| NUMBERS[(i * i / 3 + i) % range]).collect();
            let indices: Vec<i64> = (0..len as i64).map(|i| i * 7 % 13).collect();
            let tensors = [
                Tensor::from_vec(sizes, values.clone()).unwrap(),
                Tensor::from_vec(sizes, indices.clone()).unwrap(),
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
                let found = choose(relation, tensors.each_ref(), init.each_ref(), sizes);
                let [best, places] = found.unwrap().unwrap();
                let expected = pairs(sizes, &values, &indices);
                for (result, pairs) in expected.into_iter().enumerate() {
                    let choose = |x: (f32, i64), y: (f32, i64)| if keeps(x.0, y.0) { x } else { y };
                    let (value, place) = pairs.into_iter().fold((start, -1), choose);
                    let found = best.as_slice::<f32>().unwrap()[result];
                    assert_eq!(found.to_bits(), value.to_bits(), "{sizes:?} of {range}");
                    assert_eq!(places.as_slice::<i64>().unwrap()[result], place, "{sizes:?}");
                }
            }
            // With a NaN, the order matters.
            let mut nans = values;
            nans[len / 2] = f32::NAN;
            let nans = Tensor::from_vec(sizes, nans).unwrap();
            let init = [Tensor::scalar(0_f32), Tensor::scalar(-1_i64)];
            let found = choose(Direction::Ge, [&nans, &tensors[1]], init.each_ref(), sizes);
            assert!(found.unwrap().is_none());
        }
    }
}
