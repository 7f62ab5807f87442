//! Tests of `contract.rs`.

use kernels::fused::Registers;
use kernels::{DotKernel, Kernel, RowOperand, RowWise, ScaleLayout, ScaledDot, Tree, dot_general};
use numerics::shape::StridedView;
use numerics::simd::Isa;
use numerics::{DType, Tensor, math};
use program::primitives::DotDims;

fn tensor(shape: &[usize], values: &[i64]) -> Tensor {
    Tensor::from_vec(shape, values.to_vec()).expect("shape and values agree")
}

#[test]
fn dot_general_example_of_the_specification() {
    let lhs = tensor(&[2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]);
    let rhs = tensor(&[2, 2, 2], &[1, 0, 0, 1, 1, 0, 0, 1]);
    let numbers = DotDims {
        lhs_batching_dimensions: vec![0],
        rhs_batching_dimensions: vec![0],
        lhs_contracting_dimensions: vec![2],
        rhs_contracting_dimensions: vec![1],
    };
    assert_eq!(dot_general(lhs.clone(), rhs, &numbers, DType::I64).expect("valid"), lhs);
}

/// Threads divide batches, also into parts of which the last is shorter.
#[test]
fn products_of_many_small_matrices() {
    let numbers = DotDims {
        lhs_batching_dimensions: vec![0],
        rhs_batching_dimensions: vec![0],
        lhs_contracting_dimensions: vec![2],
        rhs_contracting_dimensions: vec![1],
    };
    let squares = [(5_001, 2, 2, 2), (3_003, 3, 3, 3), (777, 4, 4, 4)];
    let others = [(20_003, 4, 8, 8), (60_001, 2, 5, 3), (997, 9, 12, 17), (7, 0, 3, 2)];
    for (count, m, k, n) in squares.into_iter().chain(others) {
        let a = |at: usize| (at * 40503 % 17) as f32 - 8.0;
        let b = |at: usize| (at * 31 % 13) as f32 - 6.0;
        // Small integers, of which sums are exact in any order.
        let sum = |at: usize| {
            let (matrix, row, column) = (at / (m * n), at / n % m, at % n);
            let product =
                |l: usize| a((matrix * m + row) * k + l) * b((matrix * k + l) * n + column);
            (0..k).map(product).sum::<f32>()
        };
        let made = |shape: [usize; 3], number: &dyn Fn(usize) -> f32| {
            let numbers = (0..shape.iter().product()).map(number).collect::<Vec<f32>>();
            Tensor::from_vec(shape, numbers).unwrap()
        };
        let (left, right) = (made([count, m, k], &a), made([count, k, n], &b));
        let expected = made([count, m, n], &sum);
        for workers in [1, 3] {
            let _entered = host::Host::default().with_workers(workers).enter();
            let found = dot_general(left.clone(), right.clone(), &numbers, DType::F32).unwrap();
            assert!(found == expected, "{count} of {m} x {k} x {n}, {workers} threads");
        }
    }
}

/// Long and narrow matrices have the sums of all products: chains of 256, combined in a tree.
#[test]
fn few_results_of_many_products() {
    for (m, k, n) in [
        (2, 600, 2),
        (3, 256, 4),
        (4, 1000, 3),
        (2, 5000, 4),
        (5, 700, 5),
        (8, 300, 3),
        (6, 1025, 8),
    ] {
        let left = |i: usize, l: usize| 1.0 / (1.0 + ((i * 7 + l * 29) % 37) as f32);
        let right = |l: usize, j: usize| 0.3 - 1.0 / (1.0 + ((j * 5 + l * 31) % 41) as f32);
        let expected: Vec<f32> = (0..m * n)
            .map(|at| {
                let mut tree = Tree::new();
                for start in (0..k).step_by(256) {
                    let range = start..k.min(start + 256);
                    let step = |sum: f32, l| left(at / n, l).mul_add(right(l, at % n), sum);
                    tree.push(range.fold(0.0, step), |x, y| x + y);
                }
                tree.finish(|x, y| x + y).expect("products")
            })
            .collect();
        let of = |shape: [usize; 2], element: &dyn Fn(usize) -> f32| {
            let elements = (0..shape[0] * shape[1]).map(element).collect();
            Tensor::from_vec(shape, elements).expect("as many elements")
        };
        let lefts =
            [of([m, k], &|at| left(at / k, at % k)), of([k, m], &|at| left(at % m, at / m))];
        let rights =
            [of([k, n], &|at| right(at / n, at % n)), of([n, k], &|at| right(at % k, at / k))];
        for (a, a_contracting) in lefts.iter().zip([1, 0]) {
            for (b, b_contracting) in rights.iter().zip([0, 1]) {
                let numbers = DotDims {
                    lhs_contracting_dimensions: vec![a_contracting],
                    rhs_contracting_dimensions: vec![b_contracting],
                    ..DotDims::default()
                };
                let found = dot_general(a.clone(), b.clone(), &numbers, DType::F32).expect("valid");
                assert_eq!(found.to_vec::<f32>().expect("f32"), expected, "{m} x {k} x {n}");
            }
        }
    }
}

#[test]
fn products_of_all_sizes() {
    let tiny = [(1, 1, 1), (1, 5, 9), (9, 3, 2), (4, 8, 8), (5, 7, 17), (13, 4, 1)];
    let small = [(6, 16, 6), (1, 64, 31), (2, 33, 20), (3, 40, 16), (30, 2, 33), (1, 24, 72)];
    let large = [(20, 65, 30), (40, 20, 9), (70, 80, 3), (33, 64, 4)];
    for (m, k, n) in tiny.into_iter().chain(small).chain(large) {
        let element = |i: usize, l: usize| (i * k + l) as i64;
        let other = |l: usize, j: usize| 3 * (j * k + l) as i64 - 7;
        let expected =
            (0..m * n).map(|at| (0..k).map(|l| element(at / n, l) * other(l, at % n)).sum::<i64>());
        let expected = tensor(&[m, n], &expected.collect::<Vec<_>>());
        let a = tensor(&[m, k], &(0..m * k).map(|at| element(at / k, at % k)).collect::<Vec<_>>());
        let columns = (0..k * n).map(|at| other(at % k, at / k)).collect::<Vec<_>>();
        let rows = (0..k * n).map(|at| other(at / n, at % n)).collect::<Vec<_>>();
        for (b, contracting) in [(tensor(&[n, k], &columns), 1), (tensor(&[k, n], &rows), 0)] {
            let numbers = DotDims {
                lhs_contracting_dimensions: vec![1],
                rhs_contracting_dimensions: vec![contracting],
                ..DotDims::default()
            };
            let found = dot_general(a.clone(), b, &numbers, DType::I64).expect("valid");
            assert_eq!(found, expected, "{m} x {k} x {n}");
        }
    }
}

/// Products with fewer columns than rows, and fewer than eight, are computed the other way round.
#[test]
fn prepared_products_with_few_columns() {
    let numbers = DotDims {
        lhs_batching_dimensions: vec![0],
        rhs_batching_dimensions: vec![0],
        lhs_contracting_dimensions: vec![2],
        rhs_contracting_dimensions: vec![1],
    };
    for (m, k, n) in [(33, 64, 4), (70, 80, 3), (200, 9, 7), (5, 0, 2), (9, 3, 2)] {
        for dtype in [DType::F32, DType::F64, DType::C64, DType::I32] {
            let [a, b] = [([2, m, k], 7), ([2, k, n], 11)].map(|(shape, step)| {
                let count = shape.iter().product::<usize>();
                let elements = (0..count).map(|i| (i * step % 31) as f64 - 15.0).collect();
                let elements = Tensor::from_vec(shape, elements).expect("small");
                math::convert(elements, dtype).expect("a number type")
            });
            let views = [&a, &b].map(|t| StridedView::dense(t.shape()).expect("small"));
            let dot = DotKernel::new((dtype, &views[0]), (dtype, &views[1]), &numbers, dtype);
            let dot = dot.expect("plain types");
            let mut found = Tensor::zeros(dtype, [2, m, n]).expect("small");
            dot.run(a.bytes(), b.bytes(), found.bytes_mut().expect("unshared")).expect("valid");
            let expected = dot_general(a, b, &numbers, dtype).expect("valid");
            assert_eq!(found, expected, "{m} x {k} x {n} of {dtype}");
        }
    }
}

#[test]
fn few_elements_are_converted() {
    let numbers = DotDims {
        lhs_contracting_dimensions: vec![1],
        rhs_contracting_dimensions: vec![0],
        ..DotDims::default()
    };
    let fractions = |shape: [usize; 2]| {
        let elements = (0..shape[0] * shape[1]).map(|i| (i % 23) as f32 / 7.0 - 1.0).collect();
        Tensor::from_vec(shape, elements).expect("shape and values agree")
    };
    for (m, k, n) in [(6, 16, 5), (7, 280, 2), (3, 4, 1), (2, 0, 3)] {
        for types in [
            [DType::BF16, DType::BF16, DType::BF16],
            [DType::F16, DType::F8E4M3FN, DType::F32],
            [DType::I8, DType::U8, DType::I32],
            [DType::F32, DType::BF16, DType::F16],
        ] {
            let [a, b] = [[m, k], [k, n]].map(fractions);
            let (a, b) = (math::convert(a, types[0]).unwrap(), math::convert(b, types[1]).unwrap());
            let views = [&a, &b].map(|t| StridedView::dense(t.shape()).expect("small"));
            let dot =
                DotKernel::new((types[0], &views[0]), (types[1], &views[1]), &numbers, types[2]);
            let dot = dot.expect("few elements");
            assert!(dot.is_converted() && dot.products().is_none());
            let mut found = Tensor::zeros(types[2], [m, n]).expect("small");
            dot.run(a.bytes(), b.bytes(), found.bytes_mut().expect("unshared")).expect("valid");
            assert_eq!(found, dot_general(a, b, &numbers, types[2]).expect("valid"), "{types:?}");
        }
    }
}

/// Right operands that are packed for several runs give the same products, also where the result
/// has parts of tiles and the rows are divided among threads.
#[test]
fn packed_operands_have_the_same_products() {
    let swapped = DotDims {
        lhs_contracting_dimensions: vec![1],
        rhs_contracting_dimensions: vec![1],
        ..DotDims::default()
    };
    let plain = DotDims { rhs_contracting_dimensions: vec![0], ..swapped.clone() };
    for (round, (m, k, n)) in
        [(2, 64, 64), (17, 96, 288), (49, 300, 33), (1, 64, 64), (200, 520, 40), (64, 5, 1000)]
            .into_iter()
            .enumerate()
    {
        for dtype in [DType::F32, DType::F64, DType::I32, DType::I64] {
            for (dims, shape) in [(&plain, [k, n]), (&swapped, [n, k])] {
                let _entered = host::Host::default().with_workers(1 + round % 3).enter();
                let [a, b] = [([m, k], 7), (shape, 11)].map(|(shape, step)| {
                    let numbers = (0..shape[0] * shape[1]).map(|i| (i * step % 31) as f64 - 15.0);
                    let numbers = Tensor::from_vec(shape, numbers.collect()).expect("small");
                    math::convert(numbers, dtype).expect("a number type")
                });
                let views = [&a, &b].map(|t| StridedView::dense(t.shape()).expect("small"));
                let dot = DotKernel::new((dtype, &views[0]), (dtype, &views[1]), dims, dtype);
                let dot = dot.expect("plain types");
                let mut found = Tensor::zeros(dtype, [m, n]).expect("small");
                dot.run(a.bytes(), b.bytes(), found.bytes_mut().expect("unshared")).expect("valid");
                let packed = dot.pack(b.bytes()).expect("there is memory");
                assert_eq!(packed.is_some(), dtype != DType::I64);
                let Some(packed) = packed else { continue };
                let mut again = Tensor::zeros(dtype, [m, n]).expect("small");
                let out = again.bytes_mut().expect("unshared");
                dot.run_packed(a.bytes(), b.bytes(), Some(&packed), out).expect("valid");
                assert_eq!(again, found, "{m} x {k} x {n} of {dtype}");
                let short = Some(&packed[..packed.len() - 64]);
                let out = again.bytes_mut().expect("unshared");
                assert!(dot.run_packed(a.bytes(), b.bytes(), short, out).is_err());
            }
        }
    }
}

/// Factors of any types and orders in memory, converted some at a time, have the products of
/// converted tensors: of vectors and matrices, with any number of threads and for any machine.
#[test]
fn factors_are_converted_as_they_are_multiplied() {
    let sizes = [
        (1, 1, 70, 100),
        (1, 1, 300, 64),
        (1, 1, 1100, 41),
        (1, 1, 4, 1500),
        (1, 100, 257, 1),
        (3, 1, 65, 70),
        (1, 4, 300, 90),
        (2, 7, 520, 37),
        (1, 8, 100, 128),
        (1, 9, 100, 48),
        (5, 33, 64, 1),
        (1, 3, 80, 70),
        (2, 17, 300, 40),
        (1, 130, 70, 33),
        (1, 300, 40, 3),
        (2, 1100, 3, 7),
        (1, 40, 1, 120),
    ];
    let types = [
        [DType::BF16, DType::BF16, DType::BF16],
        [DType::F16, DType::F16, DType::F32],
        [DType::F32, DType::BF16, DType::F32],
        [DType::F16, DType::F8E4M3FN, DType::F16],
        [DType::I8, DType::I8, DType::I32],
        [DType::U8, DType::I16, DType::U16],
        [DType::F32, DType::F32, DType::F32],
    ];
    let machines = host::Machine::presets();
    for (round, (count, m, k, n)) in sizes.into_iter().enumerate() {
        for (nth, types) in types.into_iter().enumerate() {
            // The order of batch, kept and contracted dimensions in memory, with every element or
            // every second one.
            for (order, step) in [([0, 1, 2], 1), ([0, 2, 1], 1), ([1, 0, 2], 1), ([2, 1, 0], 2)] {
                let operand = |kept: usize, dtype: DType, seed: usize| {
                    let sizes = [count, kept, k];
                    let used: Vec<usize> = order.iter().map(|&d| sizes[d]).collect();
                    let mut shape = used.clone();
                    shape[2] *= step;
                    let number = |i: usize| match (i * seed) % 1009 {
                        0 => f64::INFINITY,
                        1 => -0.0,
                        2 => 1e-40,
                        other => (other as f64 - 500.0) / 7.0,
                    };
                    let numbers = (0..shape.iter().product()).map(number).collect();
                    let tensor = Tensor::from_vec(&shape, numbers).expect("small");
                    let tensor = math::convert(tensor, dtype).expect("a number type");
                    let steps = [1, 1, step as isize];
                    let view = StridedView::window(&shape, &[0; 3], &used, &steps).expect("small");
                    let place = |d: usize| order.iter().position(|&o| o == d).expect("three");
                    let roles = [place(0), place(1), place(2)];
                    (tensor, view, roles)
                };
                let (a, a_view, a_roles) = operand(m, types[0], 37 + round);
                let (b, b_view, b_roles) = operand(n, types[1], 91 + nth);
                let dims = DotDims {
                    lhs_batching_dimensions: vec![a_roles[0] as i64],
                    rhs_batching_dimensions: vec![b_roles[0] as i64],
                    lhs_contracting_dimensions: vec![a_roles[2] as i64],
                    rhs_contracting_dimensions: vec![b_roles[2] as i64],
                };
                let dense = |tensor: &Tensor, view| tensor.gather(view).expect("small");
                let (left, right) = (dense(&a, &a_view), dense(&b, &b_view));
                let expected = dot_general(left, right, &dims, types[2]).expect("valid");
                let dot = DotKernel::new((types[0], &a_view), (types[1], &b_view), &dims, types[2]);
                let Some(dot) = dot.filter(|dot| !dot.converts_all()) else { continue };
                let machine = &machines[(round + nth) % machines.len()];
                let host = host::Host::default().with_machine(machine);
                let _entered = host.with_workers(1 + (round + nth) % 3).enter();
                let mut found = Tensor::zeros(types[2], dot.shape()).expect("small");
                found.bytes_mut().expect("unshared").fill(1);
                dot.run(a.bytes(), b.bytes(), found.bytes_mut().expect("unshared")).expect("valid");
                let equal = found.bytes() == expected.bytes();
                assert!(equal, "{count} of {m} x {k} x {n} of {types:?} in order {order:?}");
                let short = &b.bytes()[..b.bytes().len() - types[1].bytes() * step];
                let out = found.bytes_mut().expect("unshared");
                if dot.is_converted() {
                    assert!(dot.run(a.bytes(), short, out).is_err(), "{m} x {k} x {n}");
                }
            }
        }
    }
}

/// The products of a vector with rows of a matrix are the same some rows at a time, whichever
/// operand the vector is.
#[test]
fn matrices_are_multiplied_with_a_vector_by_rows() {
    let (rows, k) = (200, 300);
    let fractions = |shape: [usize; 2], step: usize| {
        let numbers = (0..shape[0] * shape[1]).map(|i| (i * step % 101) as f32 / 7.0 - 6.0);
        Tensor::from_vec(shape, numbers.collect()).expect("small")
    };
    let (matrix, vector) = (fractions([rows, k], 37), fractions([1, k], 11));
    let dims = DotDims {
        lhs_contracting_dimensions: vec![1],
        rhs_contracting_dimensions: vec![1],
        ..DotDims::default()
    };
    for is_right in [true, false] {
        let operands = if is_right { [&vector, &matrix] } else { [&matrix, &vector] };
        let views = operands.map(|t| StridedView::dense(t.shape()).expect("small"));
        let dot =
            DotKernel::new((DType::F32, &views[0]), (DType::F32, &views[1]), &dims, DType::F32);
        let dot = dot.expect("plain types");
        let number = usize::from(is_right);
        let by_rows: &dyn RowWise = &dot;
        assert_eq!(by_rows.rows(), Some(rows));
        assert_eq!([by_rows.row_results(rows), by_rows.row_inputs(rows)], [Some(1), Some(k)]);
        assert_eq!([by_rows.row_results(100), by_rows.row_inputs(100)], [None, None]);
        assert!(by_rows.reads_rows(rows, number, k) && !by_rows.reads_rows(rows, number, 2 * k));
        assert!(!by_rows.reads_rows(rows, 1 - number, k));
        let mut all = Tensor::zeros(DType::F32, [rows]).expect("small");
        let [lhs, rhs] = operands.map(Tensor::bytes);
        dot.run(lhs, rhs, all.bytes_mut().expect("unshared")).expect("valid");
        let registers = &mut Registers::default();
        for range in [0..rows, 0..1, 7..40, 199..200] {
            for is_part in [false, true] {
                let bytes = matrix.bytes();
                let bytes =
                    if is_part { &bytes[range.start * k * 4..range.end * k * 4] } else { bytes };
                let matrix = RowOperand { bytes, is_part };
                let vector = RowOperand { bytes: vector.bytes(), is_part: false };
                let operands = if is_right { [vector, matrix] } else { [matrix, vector] };
                let mut found = Tensor::zeros(DType::F32, [range.len()]).expect("small");
                let out = &mut [found.bytes_mut().expect("unshared")];
                by_rows.run_rows(rows, range.clone(), &operands, None, out, registers).unwrap();
                let run = by_rows.run_rows(rows, 150..201, &operands, None, out, registers);
                assert!(run.is_err());
                assert!(found.bytes()[..] == all.bytes()[range.start * 4..range.end * 4]);
            }
        }
    }
}

/// Products of integers of 8 and 16 bits, of every order in memory, are exact modulo the type of
/// the result.
#[test]
fn products_of_small_integers() {
    let types = [DType::I8, DType::U8, DType::I16];
    for (round, (m, k, n)) in
        [(4, 8, 8), (13, 9, 33), (25, 130, 70), (12, 64, 32), (4, 301, 9)].into_iter().enumerate()
    {
        for (left, right) in types.iter().flat_map(|&left| types.map(|right| (left, right))) {
            for (transposed, result) in [(false, DType::I32), (true, DType::I32), (true, DType::I8)]
            {
                let _entered = host::Host::default().with_workers(1 + round % 2).enter();
                let numbers = |shape: [usize; 2], seed: i64, dtype| {
                    let count = (shape[0] * shape[1]) as i64;
                    let numbers = (0..count).map(|i| (i * i * 7919 + i * seed) % 40009 - 20000);
                    let numbers = Tensor::from_vec(shape, numbers.collect()).expect("small");
                    math::convert(numbers, dtype).expect("integers")
                };
                let [a, b] = match transposed {
                    false => [numbers([m, k], 3, left), numbers([k, n], 5, right)],
                    true => [numbers([k, m], 3, left), numbers([n, k], 5, right)],
                };
                let dims = DotDims {
                    lhs_contracting_dimensions: vec![i64::from(!transposed)],
                    rhs_contracting_dimensions: vec![i64::from(transposed)],
                    ..DotDims::default()
                };
                let views = [&a, &b].map(|t| StridedView::dense(t.shape()).expect("small"));
                let dot = DotKernel::new((left, &views[0]), (right, &views[1]), &dims, result);
                let mut found = Tensor::zeros(result, [m, n]).expect("small");
                let out = found.bytes_mut().expect("unshared");
                dot.expect("few elements").run(a.bytes(), b.bytes(), out).expect("valid");
                let wide = |t: &Tensor| math::convert(t.clone(), DType::I64).expect("integers");
                let (a, b) = (wide(&a), wide(&b));
                let (a, b) = (a.as_slice::<i64>().unwrap(), b.as_slice::<i64>().unwrap());
                let sum = |at: usize| {
                    let (i, j) = (at / n, at % n);
                    let product = |l: usize| match transposed {
                        false => a[i * k + l] * b[l * n + j],
                        true => a[l * m + i] * b[j * k + l],
                    };
                    (0..k).map(product).sum::<i64>()
                };
                let sums = Tensor::from_vec([m, n], (0..m * n).map(sum).collect()).expect("small");
                let expected = math::convert(sums, result).expect("integers");
                assert_eq!(found, expected, "{m} x {k} x {n} of {left} and {right}");
            }
        }
    }
}

/// Weights that are scaled while they are multiplied have the products of wide ones, which are
/// rounded after they are scaled.
#[test]
fn scaled_weights_have_the_products_of_wide_ones() {
    let numbers = |contracting: i64| DotDims {
        lhs_contracting_dimensions: vec![1],
        rhs_contracting_dimensions: vec![contracting],
        ..DotDims::default()
    };
    let number = |i: usize| 1.0 / (1 + i * 37 % 101) as f32 - 0.3;
    let floats = |shape: &[usize]| {
        let count = shape.iter().product();
        Tensor::from_vec(shape, (0..count).map(number).collect::<Vec<f32>>()).unwrap()
    };
    // With a zero point for each group, for all groups, and none.
    let mut packed_ones = 0;
    let all = [(1_usize, 512_usize, 37), (1, 300, 160), (2, 256, 64), (20, 128, 50)];
    for ((m, k, n), zero_groups) in all.into_iter().flat_map(|all| [(all, 0), (all, 1), (all, 2)]) {
        for (group, is_transposed, ty) in [
            (k, false, DType::I8),
            (k, true, DType::U8),
            (64, true, DType::I4),
            (64, false, DType::I8),
            (24, true, DType::I16),
            (16, false, DType::U4),
        ] {
            let groups = k.div_ceil(group);
            let (x, scales) = (floats(&[m, k]), floats(&[groups, n]));
            let shape = if is_transposed { [n, k] } else { [k, n] };
            let integers = (0..k * n).map(|i| ((i * 40503) >> 3) as i64 % 8).collect::<Vec<_>>();
            let stored = math::convert(tensor(&shape, &integers), ty).unwrap();
            let factors = scales.as_slice::<f32>().unwrap();
            let zero_group = if zero_groups == 1 { group } else { k };
            let points = |i: usize| if i.is_multiple_of(3) { 2.5 } else { (i % 7) as f32 };
            let points: Vec<f32> = (0..k.div_ceil(zero_group) * n).map(points).collect();
            let zeros = Tensor::from_vec([points.len()], points.clone()).unwrap();
            let converted = math::convert(stored.clone(), DType::F32).unwrap();
            let converted = converted.as_slice::<f32>().unwrap();
            let wide = converted.iter().enumerate().map(|(i, w)| {
                let [k, n] = if is_transposed { [i % k, i / k] } else { [i / n, i % n] };
                let columns = scales.shape()[1];
                let zero = match zero_groups {
                    0 => 0.0,
                    _ => points[k / zero_group * columns + n],
                };
                (w - zero) * factors[k / group * columns + n]
            });
            let wide = Tensor::from_vec(shape, wide.collect::<Vec<f32>>()).unwrap();
            let numbers = numbers(i64::from(is_transposed));
            let expected = dot_general(x.clone(), wide, &numbers, DType::F32).unwrap();
            let views = [x.shape(), &shape].map(|shape| StridedView::dense(shape).unwrap());
            let dot =
                DotKernel::new((DType::F32, &views[0]), (ty, &views[1]), &numbers, DType::F32);
            let layout = ScaleLayout { operand: 1, dtype: DType::F32, group, strides: [1, n] };
            let zero_layout = ScaleLayout { group: zero_group, ..layout.clone() };
            let zero_layout = (zero_groups > 0).then_some(zero_layout);
            let scaled = ScaledDot::new(dot.unwrap(), layout, zero_layout).unwrap();
            let operands = [x.bytes(), stored.bytes(), scales.bytes(), zeros.bytes()];
            let operands = operands.each_ref().map(|bytes| &bytes[..]);
            let operands = &operands[..if zero_groups > 0 { 4 } else { 3 }];
            let packed = scaled.prepack(stored.bytes()).unwrap();
            packed_ones += usize::from(packed.is_some());
            let packed = packed.as_deref();
            for (workers, packed) in [(1, None), (3, None), (1, packed), (3, packed)] {
                let _entered = host::Host::default().with_workers(workers).enter();
                let mut result = Tensor::zeros(DType::F32, expected.shape()).unwrap();
                let results = &mut [result.bytes_mut().unwrap()];
                scaled.run_prepacked(operands, packed, results).unwrap();
                assert_eq!(result, expected, "{m} x {k} x {n} in groups of {group}, {ty:?}");
            }
            // Memory that is too short is an error, and so is another number of operands.
            let mut out = vec![0; m * n * 4];
            let (last, others) = operands.split_last().unwrap();
            let short = [others, &[&last[..last.len() - 4]]].concat();
            assert!(scaled.run(&short, &mut [&mut out]).is_err());
            assert!(scaled.run(others, &mut [&mut out]).is_err());
        }
    }
    // Bytes in columns of 300, of which there are 160.
    assert_eq!(packed_ones, if Isa::best().has_avx2() { 6 } else { 0 });
}
