//! Tests of `matmul.rs`.

use kernels::accumulator::Accumulator;
use kernels::matmul::{BLOCK, Product, Results, multiply, pack};
use kernels::rows::Matrix;
use numerics::simd::{Isa, TILE_ROWS};
use numerics::{Complex32, Complex64, Tensor};

/// The definition, for one result.
fn defined<T: Accumulator>(a: &[T], b: &[T]) -> T {
    fn tree<T: Accumulator>(sums: &[T]) -> T {
        match sums {
            [] => T::ZERO,
            [sum] => *sum,
            _ => {
                let (left, right) = sums.split_at(sums.len().next_power_of_two() / 2);
                tree(left).add(tree(right))
            }
        }
    }
    let chain = |(a, b): (&[T], &[T])| {
        a.iter().zip(b).fold(T::ZERO, |sum, (&a, &b)| sum.multiply_add(a, b))
    };
    if a.len() <= 4 {
        let sum = |sum: T, (&a, &b): (&T, &T)| sum.add(a.multiply(b));
        return a.iter().zip(b).fold(T::ZERO, sum).finish();
    }
    let blocks: Vec<T> = a.chunks(256).zip(b.chunks(256)).map(chain).collect();
    tree(&blocks).finish()
}

fn dot(a: &[f32], b: &[f32], out: &mut [f32]) {
    let (elements, strides) = (a, [0, 1]);
    let a = Matrix { elements, strides };
    let b = Matrix { elements: b, strides: [1, 1] };
    let depth = elements.len();
    let product = Product { rows: 1, depth, columns: 1, a: &a, b, order: None, panels: None };
    multiply::<f32, TILE_ROWS, 32>(&[product], product.depth, out).unwrap();
}

/// Numbers of all kinds, many of them special, from a few bits each.
fn numbers<T>(len: usize, seed: u64, from_bits: impl Fn(u64) -> T) -> Vec<T> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        from_bits(state >> 16)
    };
    (0..len).map(|_| next()).collect()
}

/// Ordinary numbers, and if they may be `special` zeros, subnormal numbers, infinities and NaNs.
fn float(bits: u64, special: bool) -> f64 {
    let ordinary = (bits as i32 as f64) / 65536.0;
    match bits >> 40 & 15 {
        0 if special => 0.0,
        1 if special => -0.0,
        2 if special => 1e-45 * (bits % 7) as f64,
        3 if special => -1e-45,
        4 if special && bits >> 32 & 63 == 0 => f64::INFINITY,
        5 if special && bits >> 32 & 63 == 0 => f64::NEG_INFINITY,
        6 if special && bits >> 32 & 63 == 0 => f64::NAN,
        _ => ordinary,
    }
}

fn check<T: Accumulator, const C: usize>(seed: u64, from_bits: impl Fn(u64) -> T + Copy) {
    // A tree of three blocks, and more columns than are summed at a time, each by itself.
    let vectors = [(1, 1, 1), (1, 5, 40), (1, 600, 41), (1, 257, 1030)];
    let matrices = [(2, 3, 17), (3, 256, 16), (4, 257, 9), (13, 70, 33), (5, 700, 33), (9, 1, 5)];
    let matrices = matrices.into_iter().chain([(25, 600, 3)]);
    check_all::<T, C>(vectors.into_iter().chain(matrices), seed, from_bits);
}

fn check_all<T: Accumulator, const C: usize>(
    sizes: impl Iterator<Item = (usize, usize, usize)>,
    seed: u64,
    from_bits: impl Fn(u64) -> T + Copy,
) {
    for (m, k, n) in sizes {
        let (a, b) = (numbers(m * k, seed, from_bits), numbers(k * n, seed + 1, from_bits));
        for transposed in [false, true] {
            let b_strides = if transposed { [1, k] } else { [n, 1] };
            let a_matrix = Matrix { elements: &a, strides: [k, 1] };
            let b_matrix = Matrix { elements: &b, strides: b_strides };
            let (rows, depth, columns, panels) = (m, k, n, None);
            let product =
                Product { rows, depth, columns, a: &a_matrix, b: b_matrix, order: None, panels };
            // One value stays between the rows of the result.
            let mut expected = vec![T::ONE; m * (n + 1)];
            for j in 0..n {
                let at = |k: usize| b[k * b_strides[0] + j * b_strides[1]];
                let column: Vec<T> = (0..k).map(at).collect();
                for i in 0..m {
                    expected[i * (n + 1) + j] = defined(&a[i * k..][..k], &column);
                }
            }
            let expected = Tensor::from_vec([m * (n + 1)], expected).unwrap();
            for isa in Isa::available() {
                let mut out = vec![T::ONE; m * (n + 1)];
                let mut results = Results::Strided(&mut out, n + 1);
                product.compute::<TILE_ROWS, C>(isa, 0..m, 0..n, &mut results).unwrap();
                let out = Tensor::from_vec([m * (n + 1)], out).unwrap();
                let equal = out.bytes()[..] == expected.bytes()[..];
                assert!(equal, "{isa:?} {m} x {k} x {n}: {out:?}, not {expected:?}");
                // With all columns copied before.
                if let Some(packed) = pack::<T, C>(b_matrix, None, [k, n]).unwrap() {
                    let panels = Some(bytemuck::cast_slice(&packed));
                    let mut out = vec![T::ONE; m * (n + 1)];
                    let mut results = Results::Strided(&mut out, n + 1);
                    let product = Product { panels, ..product };
                    product.compute::<TILE_ROWS, C>(isa, 0..m, 0..n, &mut results).unwrap();
                    let out = Tensor::from_vec([m * (n + 1)], out).unwrap();
                    let equal = out.bytes()[..] == expected.bytes()[..];
                    assert!(equal, "{isa:?} {m} x {k} x {n} packed: {out:?}, not {expected:?}");
                }
                // Some of the columns.
                let (mut part, first) = (vec![T::ONE; m * (n + 1)], n / 3);
                let mut results = Results::Strided(&mut part, n + 1);
                product.compute::<TILE_ROWS, C>(isa, 0..m, first..n, &mut results).unwrap();
                let part = Tensor::from_vec([m * (n + 1)], part).unwrap();
                let size = size_of::<T>();
                for row in 0..m {
                    let (at, count) = (row * (n + 1) * size, (n - first) * size);
                    let expected = &expected.bytes()[at + first * size..][..count];
                    assert!(part.bytes()[at..][..count] == *expected, "{isa:?} {m} x {k} x {n}");
                }
            }
        }
    }
}

#[test]
fn every_path_gives_the_bits_of_the_definition() {
    for special in [false, true] {
        let seed = u64::from(special);
        check::<f32, 32>(seed, |bits| float(bits, special) as f32);
        check::<f64, 16>(seed, |bits| float(bits, special));
        check::<Complex32, 8>(seed, |bits| {
            Complex32::new(float(bits, special) as f32, float(bits << 5, special) as f32)
        });
        check::<Complex64, 4>(seed, |bits| {
            Complex64::new(float(bits, special), float(bits << 5, special))
        });
        check::<i32, 16>(seed, |bits| bits as i32);
        check::<i64, 8>(seed, |bits| bits.wrapping_mul(bits) as i64);
    }
}

/// Of some rows and of chunks of several blocks, of which the last one has one block, or all.
#[test]
fn deep_products() {
    let sizes = [(13, 1025, 3), (14, 2 * 1024 + 300, 33), (13, 5 * 1024, 1)];
    check_all::<f32, 32>(sizes.into_iter(), 2, |bits| float(bits, false) as f32);
    check_all::<i64, 8>(sizes.into_iter().take(1), 2, |bits| bits as i64);
}

/// Sizes of caches and vectors decide how products are divided, and never their bits.
#[test]
fn bits_do_not_depend_on_the_machine_model() {
    // Of the last one, the small caches of some models do not hold all rows.
    let vectors = [(1, 700, 90), (1, 300, 400)];
    let matrices = [(70, 300, 65), (3, 5, 2000), (90, 1500, 33)];
    let sizes = vectors.into_iter().chain(matrices);
    for (m, k, n) in sizes {
        let number = |bits| float(bits, false) as f32;
        let (a, b) = (numbers(m * k, 5, number), numbers(k * n, 6, number));
        for strides in [[n, 1], [1, k]] {
            let left = Matrix { elements: &a, strides: [k, 1] };
            let right = Matrix { elements: &b, strides };
            let (rows, depth, columns, panels) = (m, k, n, None);
            let product = Product { rows, depth, columns, a: &left, b: right, order: None, panels };
            let expected = (0..m * n).map(|at| {
                let (i, j) = (at / n, at % n);
                let at = |k: usize| b[k * strides[0] + j * strides[1]];
                defined(&a[i * k..][..k], &(0..k).map(at).collect::<Vec<_>>()).to_bits()
            });
            let expected: Vec<u32> = expected.collect();
            for machine in host::Machine::presets() {
                for workers in [1, 3] {
                    let host = host::Host::default().with_workers(workers).with_machine(machine);
                    let _entered = host.enter();
                    let packed = pack::<f32, 32>(right, None, [k, n]).unwrap().unwrap();
                    let packed = Some(bytemuck::cast_slice(&packed));
                    // The second time, a vector's columns are read from the last one on.
                    let times = if m == 1 { 2 } else { 1 };
                    let ways = [None, packed].into_iter();
                    for panels in ways.flat_map(|panels| std::iter::repeat_n(panels, times)) {
                        let mut out = vec![0f32; m * n];
                        let product = Product { panels, ..product };
                        multiply::<f32, TILE_ROWS, 32>(&[product], k, &mut out).unwrap();
                        let found: Vec<u32> = out.into_iter().map(f32::to_bits).collect();
                        assert_eq!(found, expected, "{m} x {k} x {n} for {}", machine.name);
                    }
                }
            }
        }
    }
}

#[test]
fn products_are_rounded_where_there_are_few() {
    // (1 + 2^-23)(1 - 2^-23) = 1 - 2^-46, which f32 rounds to 1.
    let (a, b) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON);
    let product = |a: &[f32], b: &[f32]| {
        let mut out = [1.0];
        dot(a, b, &mut out);
        out[0]
    };
    assert_eq!(product(&[-1.0, 0.0, 0.0, 0.0, a], &[1.0, 0.0, 0.0, 0.0, b]), -2f32.powi(-46));
    assert_eq!(product(&[-1.0, 0.0, 0.0, a], &[1.0, 0.0, 0.0, b]), 0.0);
    // Perpendicular vectors.
    assert_eq!(product(&[0.1, 0.7], &[-0.7, 0.1]), 0.0);
    for depth in [1, 9] {
        let zero = product(&vec![-1e-30; depth], &vec![1e-30; depth]);
        assert_eq!(zero.to_bits(), 0, "no negative zero");
    }
}

/// Products of integers that are exact in an `i128`: 256 of a chain, and a tree of blocks.
#[test]
fn errors_grow_with_the_logarithm_of_blocks() {
    for k in [1usize, 3, 256, 257, 4096, 300_000] {
        let number = |bits: u64| ((bits as i32) >> 8) as f32;
        let (a, b) = (numbers(k, 3, number), numbers(k, 4, number));
        let mut out = [0.0];
        dot(&a, &b, &mut out);
        let exact = |(&a, &b): (&f32, &f32)| (a as i128) * (b as i128);
        let sum: i128 = a.iter().zip(&b).map(exact).sum();
        let magnitude: i128 = a.iter().zip(&b).map(|pair| exact(pair).abs()).sum();
        let levels = k.div_ceil(BLOCK).next_power_of_two().trailing_zeros() as usize;
        let bound = (k.min(BLOCK) + levels) as f64 * 2f64.powi(-24) * 1.0001;
        assert!((out[0] as i128 - sum).abs() as f64 <= bound * magnitude as f64, "{k}");
    }
}
