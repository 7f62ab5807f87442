//! Tests of `reduce.rs`.

use kernels::long_windows::combine_windows;
use kernels::{Reduction, Tree};
use numerics::math::{BinaryOp, convert};
use numerics::{DType, Number, Tensor, bf16};
use program::BodyShape;

#[test]
fn windows_that_share_subtrees_have_the_sums_of_their_trees() {
    let elements: Vec<f32> = (0..4000).map(|i| 1.0 / (3.0 + (i * 37 % 101) as f32)).collect();
    let add = |x: f32, y: f32| x + y;
    for (count, step, stride) in [(33, 1, 1), (64, 1, 2), (100, 3, 1), (127, 2, 5), (900, 1, 1)] {
        let line = (elements.len() / 2 - (count - 1) * step) / stride;
        let starts = [0, elements.len() / 2];
        let expected = (0..2 * line).map(|number| {
            let first = starts[number / line] + number % line * stride;
            let mut tree = Tree::new();
            (0..count).for_each(|tap| tree.push(elements[first + tap * step], add));
            0.5 + tree.finish(add).expect("elements")
        });
        let expected: Vec<f32> = expected.collect();
        // Of which some have no cache for two sizes of subtrees.
        for machine in host::Machine::presets() {
            let _entered = host::Host::default().with_machine(machine).enter();
            let mut found = vec![0.0; 2 * line];
            let windows = (&starts[..], stride, count);
            combine_windows(&add, (&elements, 0.5), windows, step, &mut found)
                .expect("there is memory");
            assert_eq!(found, expected, "windows of {count} for {}", machine.name);
        }
    }
}

/// Windows below each other, in images of several lines that threads share.
#[test]
fn windows_of_columns_have_the_sums_of_their_trees() {
    let add = |x: f32, y: f32| x + y;
    for (count, columns, down, images) in [(33, 5, 1, 1), (100, 70, 2, 2), (257, 16, 1, 3)] {
        let rows = 3 * count;
        let number = |i: usize| 1.0 / (3.0 + (i * 37 % 101) as f32);
        let elements: Vec<f32> = (0..images * rows * columns).map(number).collect();
        let lines = (rows - count) / down + 1;
        let place = |line: usize| line / lines * rows * columns + line % lines * down * columns;
        let starts: Vec<usize> = (0..images * lines).map(place).collect();
        for workers in [1, 3] {
            let _entered = host::Host::default().with_workers(workers).enter();
            let mut found = vec![0.0; starts.len() * columns];
            let windows = (&starts[..], 1, count);
            combine_windows(&add, (&elements, 0.5), windows, columns, &mut found)
                .expect("there is memory");
            for (number, found) in found.iter().enumerate() {
                let first = starts[number / columns] + number % columns;
                let mut tree = Tree::new();
                (0..count).for_each(|tap| tree.push(elements[first + tap * columns], add));
                let expected = tree.finish(add).map(|sum| 0.5 + sum);
                assert_eq!(Some(*found), expected, "window {number} of {count}");
            }
        }
    }
}

/// Long rows and columns that threads share a subtree each have the sums of the whole tree, for
/// machines on which that pays and on which it does not.
#[test]
fn threads_share_the_subtrees_of_one_result() {
    let add = |x: f32, y: f32| x + y;
    let long = [1, 3, 20].map(|columns| [1000, 4096, 4097, 5000, 9 << 11].map(|n| (columns, n)));
    for (columns, rows) in long.into_iter().flatten().chain([(72, 196), (960, 49), (4000, 17)]) {
        let number = |i: usize| 1.0 / (3.0 + (i * 37 % 101) as f32);
        let elements: Vec<f32> = (0..rows * columns).map(number).collect();
        let expected: Vec<f32> = (0..columns)
            .map(|column| {
                let mut tree = Tree::new();
                (0..rows).for_each(|row| tree.push(elements[row * columns + column], add));
                0.5 + tree.finish(add).expect("rows")
            })
            .collect();
        let input = Tensor::from_vec([rows, columns], elements).expect("small");
        let body = BodyShape::Binary { op: BinaryOp::Add, swapped: false };
        let reduction = Reduction::new(body, DType::F32, &[rows, columns], &[0]);
        let reduction = reduction.expect("a sum");
        let init = Tensor::scalar(0.5f32);
        for machine in host::Machine::presets() {
            let host = host::Host::default().with_machine(machine).with_workers(3);
            let _entered = host.enter();
            let mut found = Tensor::zeros(DType::F32, [columns]).expect("small");
            let out = found.bytes_mut().expect("unshared");
            reduction.run(input.bytes(), init.bytes(), out).expect("valid");
            let found = found.as_slice::<f32>().expect("of f32");
            assert_eq!(found, expected, "{rows} x {columns} for {}", machine.name);
        }
    }
}

/// Channels between batch and lines, as PyTorch has them: elements before and after a result have
/// the sums of the whole tree, in the order of their indices.
#[test]
fn results_between_the_dimensions_that_are_reduced() {
    let add = |x: f32, y: f32| x + y;
    for shape in [[2, 3, 5, 7], [4, 40, 16, 16], [3, 7, 1, 130], [5, 64, 2, 2], [1, 9, 33, 3]] {
        let [outer, channels, height, width] = shape;
        let inner = height * width;
        let number = |i: usize| 1.0 / (3.0 + (i * 37 % 101) as f32);
        let elements: Vec<f32> = (0..outer * channels * inner).map(number).collect();
        let expected: Vec<f32> = (0..channels)
            .map(|channel| {
                let mut tree = Tree::new();
                for line in 0..outer {
                    let first = (line * channels + channel) * inner;
                    elements[first..first + inner].iter().for_each(|&x| tree.push(x, add));
                }
                0.5 + tree.finish(add).expect("elements")
            })
            .collect();
        let body = BodyShape::Binary { op: BinaryOp::Add, swapped: false };
        let reduction = Reduction::new(body, DType::F32, &shape, &[3, 0, 2]).expect("a sum");
        for (result, number) in [(0, 0), (channels - 1, outer * inner - 1), (1, inner / 2)] {
            let expected = (number / inner * channels + result) * inner + number % inner;
            assert_eq!(reduction.element(result, number), expected);
        }
        let input = Tensor::from_vec(shape, elements).expect("small");
        let init = Tensor::scalar(0.5f32);
        for workers in [1, 2] {
            let _entered = host::Host::default().with_workers(workers).enter();
            let mut found = Tensor::zeros(DType::F32, [channels]).expect("small");
            let out = found.bytes_mut().expect("unshared");
            reduction.run(input.bytes(), init.bytes(), out).expect("valid");
            assert_eq!(found.as_slice::<f32>().expect("of f32"), expected, "{shape:?}");
        }
        // Not with results before all of these.
        assert!(Reduction::new(body, DType::F32, &shape, &[1, 3]).is_none());
    }
}

/// Many elements are converted some at a time: sums of trees, and extrema, with initial values that
/// may be combined with each part and others.
#[test]
fn elements_that_are_converted_in_parts() {
    let add = |x: f32, y: f32| x + y;
    for (shape, dimensions) in [([100, 90], 1), ([90, 100], 0), ([1, 20_000], 1), ([3000, 7], 0)] {
        let [rows, columns] = shape;
        let numbers: Vec<f32> =
            (0..rows * columns).map(|i| (i * 37 % 101) as f32 / 8.0 - 5.0).collect();
        let input = Tensor::from_vec(shape, numbers.iter().map(|&x| bf16::from_f32(x)).collect());
        let input = input.expect("small");
        let results = if dimensions == 0 { columns } else { rows };
        let of = |result: usize| -> Vec<f32> {
            let place = |i: usize| match dimensions {
                0 => i * columns + result,
                _ => result * columns + i,
            };
            (0..numbers.len() / results).map(|i| numbers[place(i)]).collect()
        };
        for (op, init) in [
            (BinaryOp::Add, 0.0),
            (BinaryOp::Add, 0.5),
            (BinaryOp::Maximum, 2.0),
            (BinaryOp::Maximum, -9.0),
        ] {
            let body = BodyShape::Binary { op, swapped: false };
            let reduction = Reduction::new(body, DType::BF16, &shape, &[dimensions]);
            let reduction = reduction.expect("a common operation");
            let expected: Vec<bf16> = (0..results)
                .map(|result| {
                    let elements = of(result);
                    if op == BinaryOp::Maximum {
                        return bf16::from_f32(elements.into_iter().fold(init, f32::max));
                    }
                    let mut tree = Tree::new();
                    elements.into_iter().for_each(|x| tree.push(x, add));
                    bf16::from_f32(init + tree.finish(add).expect("elements"))
                })
                .collect();
            for workers in [1, 2] {
                let _entered = host::Host::default().with_workers(workers).enter();
                let mut found = Tensor::zeros(DType::BF16, [results]).expect("small");
                let init = Tensor::scalar(bf16::from_f32(init));
                let out = found.bytes_mut().expect("unshared");
                reduction.run(input.bytes(), init.bytes(), out).expect("valid");
                assert_eq!(found.to_vec::<bf16>().expect("bf16"), expected, "{shape:?} {op:?}");
            }
        }
    }
}

/// Of elements of all sizes, as rows and as columns, with NaNs, infinities and zeros
/// of both signs.
#[test]
fn extrema_of_narrow_types_are_folds() {
    use DType::{BF16, F16, F32, F64, I1, I8, I16, I32, I64, U8, U16, U32, U64};
    let number = |i: usize| match (i * 37 + i / 7) % 53 {
        0 if i.is_multiple_of(5) => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => -0.0,
        4 => 0.0,
        n => (n as f64 - 29.0) * if i.is_multiple_of(3) { 4.5 } else { 0.25 },
    };
    let shapes = [[1, 700, 1], [3, 5, 1], [40, 31, 1], [9, 130, 1], [1, 9, 3], [2, 70, 5]];
    let others = [[1, 33, 300], [2, 3, 129], [1, 2, 2500], [1, 3, 1], [5, 64, 1], [2, 128, 1]];
    for (shape, dtype) in shapes.into_iter().chain(others).flat_map(|shape| {
        [I1, I8, U8, I16, U16, I32, U32, I64, U64, BF16, F16, F32, F64].map(|dtype| (shape, dtype))
    }) {
        let [outer, count, inner] = shape;
        let len = outer * count * inner;
        for (op, with_nans) in [(BinaryOp::Maximum, true), (BinaryOp::Minimum, false)] {
            let numbers: Vec<f64> = (0..len).map(number).collect();
            let numbers =
                numbers.into_iter().map(|x| if with_nans || !x.is_nan() { x } else { 1.0 });
            let values = Tensor::from_vec(shape, numbers.collect()).expect("elements");
            let mut values = convert(values, dtype).expect("real numbers have every type");
            if dtype.is_float() {
                let bytes = values.bytes_mut().expect("memory").chunks_mut(dtype.bytes());
                let nans = bytes.enumerate().filter(|(i, _)| number(*i).is_nan());
                // Of both signs.
                nans.for_each(|(i, bits)| bits[dtype.bytes() - 1] ^= (i % 2 * 0x80) as u8);
            }
            let doubles = convert(values.clone(), F64).expect("real numbers");
            let doubles = doubles.as_slice::<f64>().expect("of this type");
            let init = values.take(&[0]).expect("an element");
            let body = BodyShape::Binary { op, swapped: false };
            let reduction = Reduction::new(body, dtype, &shape, &[1]).expect("a common one");
            let expected = (0..outer * inner).map(|result| {
                let place = |i| (result / inner * count + i) * inner + result % inner;
                let elements = (0..count).map(|i| doubles[place(i)]).chain([doubles[0]]);
                let folded = elements.reduce(|x, y| match op {
                    BinaryOp::Maximum => Number::maximum(x, y),
                    _ => Number::minimum(x, y),
                });
                let folded = folded.expect("elements");
                // A NaN is the one without sign and payload.
                if folded.is_nan() { f64::NAN } else { folded }
            });
            let expected = Tensor::from_vec([outer * inner], expected.collect());
            let expected = convert(expected.expect("elements"), dtype).expect("real numbers");
            for workers in [1, 3] {
                let _entered = host::Host::default().with_workers(workers).enter();
                let mut out = vec![0_u64; outer * inner];
                let out = &mut bytemuck::cast_slice_mut(&mut out)[..expected.bytes().len()];
                reduction.run(values.bytes(), init.bytes(), out).expect("sizes fit");
                assert_eq!(&**expected.bytes(), out, "{op:?} of {dtype}, {shape:?}");
            }
        }
    }
}

/// Of matrices of a few rows and columns, and of complex numbers, whose parts are added separately.
#[test]
fn sums_of_small_matrices_are_trees() {
    let add = |x: f32, y: f32| x + y;
    let number = |i: usize| 1.0 / (3.0 + (i * 37 % 101) as f32);
    for [outer, count, inner] in [
        [100, 30, 17],
        [1000, 5, 2],
        [7, 63, 3],
        [300, 3, 5],
        [40, 2, 31],
        [9, 33, 1],
        [200, 17, 1],
        [6, 1000, 1],
        [2, 40_001, 1],
    ] {
        let shape = [outer, count, inner];
        let elements: Vec<f32> = (0..shape.iter().product()).map(number).collect();
        let tree = |result: usize, part: usize, parts: usize| {
            let place = |i| (result / inner * count + i) * inner + result % inner;
            let mut tree = Tree::new();
            (0..count).for_each(|i| tree.push(elements[place(i) * parts + part], add));
            tree.finish(add).expect("elements")
        };
        let body = BodyShape::Binary { op: BinaryOp::Add, swapped: false };
        for workers in [1, 3] {
            let _entered = host::Host::default().with_workers(workers).enter();
            let reduction = Reduction::new(body, DType::F32, &shape, &[1]).expect("a common one");
            let mut found = vec![0_f32; outer * inner];
            let input = bytemuck::cast_slice(&elements);
            let out = bytemuck::cast_slice_mut(&mut found);
            reduction.run(input, bytemuck::bytes_of(&0.5_f32), out).expect("sizes fit");
            for (result, &found) in found.iter().enumerate() {
                assert_eq!(found, 0.5 + tree(result, 0, 1), "{result} of {shape:?}");
            }
        }
        if outer % 2 == 0 {
            let half = [outer / 2, count, inner];
            let reduction = Reduction::new(body, DType::C64, &half, &[1]).expect("a common one");
            let mut found = vec![0_f32; outer * inner];
            let (input, init) = (bytemuck::cast_slice(&elements), [0.5_f32, -0.0]);
            let out = bytemuck::cast_slice_mut(&mut found);
            reduction.run(input, bytemuck::bytes_of(&init), out).expect("sizes fit");
            for (at, &found) in found.iter().enumerate() {
                let expected = init[at % 2] + tree(at / 2, at % 2, 2);
                assert_eq!(found, expected, "part {at} of {half:?}");
            }
        }
    }
}
