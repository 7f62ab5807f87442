//! Products of operands in every layout: sums of small integers, which are exact in every order, by
//! the formula of the specification.

use kernels::{DotKernel, dot_general};
use numerics::shape::StridedView;
use numerics::{DType, Tensor, math};
use program::primitives::DotDims;

/// Sizes at and beside those at which kernels change their way: 4 products are few, vectors have 8
/// to 32 elements, chains 256.
const EDGES: [usize; 24] =
    [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 512, 513];
/// Multiplications of a case, at most: tests are not optimized.
const MAX_WORK: usize = 40_000;

/// Operand types and that of the result, all for which there is code.
const TYPES: [[DType; 3]; 11] = [
    [DType::F32; 3],
    [DType::F64; 3],
    [DType::I32; 3],
    [DType::I64; 3],
    [DType::I1; 3],
    [DType::C64; 3],
    [DType::C128; 3],
    [DType::BF16, DType::BF16, DType::F32],
    [DType::F16, DType::F8E4M3FN, DType::F16],
    [DType::I8, DType::U8, DType::I32],
    [DType::F32, DType::BF16, DType::F64],
];

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end
    }

    fn choose<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

/// The sizes of the dimensions of each role: batch, left free, contracted, right free.
type Sizes = [Vec<usize>; 4];

/// The roles of the dimensions of an operand in the order of memory: a role, and which of its
/// dimensions.
type Order = Vec<(usize, usize)>;

/// A small integer for an element: its real part, or the imaginary one.
fn element(seed: u64, at: usize, part: u64) -> i64 {
    let mixed = (at as u64 * 2 + part + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as i64 % 5 - 2
}

/// Elements as a tensor: of parts, if the type is complex.
fn tensor(dtype: DType, shape: &[usize], parts: &[[i64; 2]]) -> Tensor {
    let numbers: Vec<i64> = match dtype.is_complex() {
        true => parts.as_flattened().to_vec(),
        false => parts.iter().map(|&[re, _]| re).collect(),
    };
    let numbers = Tensor::from_vec([numbers.len()], numbers).expect("as many");
    let numbers = math::convert(numbers, dtype.part()).expect("numbers");
    Tensor::from_bytes(dtype, shape, numbers.bytes().clone()).expect("as many bytes")
}

/// The positions of all elements with some strides, in row-major order.
fn positions(dims: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    dims.fold(vec![0], |all, (size, stride)| {
        all.iter().flat_map(|at| (0..size).map(move |i| at + i * stride)).collect()
    })
}

/// Checks the product of operands whose dimensions are in some order.
fn check(types: [DType; 3], sizes: &Sizes, orders: [&Order; 2]) {
    let what = || format!("{types:?} {sizes:?} {orders:?}");
    let is_boolean = types[0] == DType::I1;
    // Elements by the index in the roles of the operand, one after the other.
    let roles = [[0, 1, 2], [0, 2, 3]];
    let value = |side: usize, at: usize| {
        let parts = [0, 1].map(|part| element(17 * side as u64, at, part));
        match types[side] {
            DType::I1 => [parts[0] & 1, 0],
            DType::U8 => [parts[0].abs(), 0],
            dtype if dtype.is_complex() => parts,
            _ => [parts[0], 0],
        }
    };
    let operand = |side: usize| {
        let order = orders[side];
        let shape: Vec<usize> = order.iter().map(|&(role, d)| sizes[role][d]).collect();
        let place = |role: usize, d: usize| {
            order.iter().position(|&own| own == (role, d)).expect("all dimensions are there")
        };
        // The strides of the dimensions if dimensions of a role are adjacent.
        let mut strides = vec![0; order.len()];
        let mut stride = 1;
        for role in roles[side].into_iter().rev() {
            for (d, size) in sizes[role].iter().enumerate().rev() {
                strides[place(role, d)] = stride;
                stride *= size;
            }
        }
        let positions = positions(shape.iter().copied().zip(strides));
        let parts: Vec<[i64; 2]> = positions.into_iter().map(|at| value(side, at)).collect();
        let dims =
            |role: usize| (0..sizes[role].len()).map(|d| place(role, d) as i64).collect::<Vec<_>>();
        (tensor(types[side], &shape, &parts), dims(0), dims(2))
    };
    let (lhs, lhs_batch, lhs_contracting) = operand(0);
    let (rhs, rhs_batch, rhs_contracting) = operand(1);
    let numbers = DotDims {
        lhs_batching_dimensions: lhs_batch,
        rhs_batching_dimensions: rhs_batch,
        lhs_contracting_dimensions: lhs_contracting,
        rhs_contracting_dimensions: rhs_contracting,
    };
    let [count, m, k, n] = [0, 1, 2, 3].map(|role| sizes[role].iter().product::<usize>());
    let mut sums = Vec::with_capacity(count * m * n);
    for at in 0..count * m * n {
        let (b, i, j) = (at / (m * n), at / n % m, at % n);
        let mut sum = [0, 0];
        for c in 0..k {
            let [x, y] = [value(0, (b * m + i) * k + c), value(1, (b * k + c) * n + j)];
            sum[0] += x[0] * y[0] - x[1] * y[1];
            sum[1] += x[0] * y[1] + x[1] * y[0];
        }
        sums.push(if is_boolean { [i64::from(sum[0] > 0), 0] } else { sum });
    }
    let shape = [&sizes[0][..], &sizes[1], &sizes[3]].concat();
    let expected = tensor(types[2], &shape, &sums);
    let found = dot_general(lhs.clone(), rhs.clone(), &numbers, types[2]).expect("valid");
    assert!(found == expected, "{}", what());
    let views = [&lhs, &rhs].map(|t| StridedView::dense(t.shape()).expect("small"));
    let dot = DotKernel::new((types[0], &views[0]), (types[1], &views[1]), &numbers, types[2]);
    let Some(dot) = dot else { return };
    let mut found = Tensor::zeros(types[2], &shape).expect("small");
    // Memory has what was there before.
    found.bytes_mut().expect("unshared").fill(1);
    dot.run(lhs.bytes(), rhs.bytes(), found.bytes_mut().expect("unshared")).expect("valid");
    assert!(found == expected, "prepared: {}", what());
    if let Some(packed) = dot.pack(rhs.bytes()).expect("there is memory") {
        found.bytes_mut().expect("unshared").fill(1);
        let out = found.bytes_mut().expect("unshared");
        dot.run_packed(lhs.bytes(), rhs.bytes(), Some(&packed), out).expect("valid");
        assert!(found == expected, "packed: {}", what());
    }
    for rows in [count * m, count].into_iter().filter(|&rows| rows > 1) {
        let Some(results) = dot.row_results(rows) else { continue };
        found.bytes_mut().expect("unshared").fill(1);
        let (half, bytes) = (rows / 2, results * types[2].bytes());
        let out = found.bytes_mut().expect("unshared");
        for range in [0..half, half..rows] {
            let operands = [(&lhs.bytes()[..], false), (&rhs.bytes()[..], false)];
            let out = &mut out[range.start * bytes..range.end * bytes];
            let run = dot.run_rows(rows, range, operands, None, out);
            run.unwrap_or_else(|error| panic!("{error} {rows} rows: {}", what()));
        }
        assert!(found == expected, "{rows} rows: {}", what());
    }
}

fn work(sizes: &Sizes) -> usize {
    sizes.iter().flatten().product()
}

/// All orders of the roles of an operand with one dimension of each.
fn orders(roles: [usize; 3]) -> Vec<Order> {
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        .map(|order| order.map(|at| (roles[at], 0)).to_vec())
        .to_vec()
}

/// Vectors and matrices with something between rows or columns: keys of attention are such.
#[test]
fn vectors_and_matrices_in_all_layouts() {
    let mut random = Random(1);
    let lengths = [4, 5, 16, 17, 256, 257, 512, 513];
    let columns = [1, 3, 7, 8, 9, 16, 17, 24, 32, 1024, 1025];
    for lhs in orders([0, 1, 2]) {
        for rhs in orders([0, 2, 3]) {
            for k in lengths {
                for n in columns.into_iter().filter(|n| k * n <= MAX_WORK / 5) {
                    let dtype = match random.below(3) {
                        0 => random.choose(&TYPES),
                        _ => [DType::F32; 3],
                    };
                    let count = random.choose(&[1, 2, 3]);
                    let sizes = [vec![count], vec![1], vec![k], vec![n]];
                    check(dtype, &sizes, [&lhs, &rhs]);
                    if random.below(4) == 0 {
                        let sizes = [vec![count], vec![n], vec![k], vec![1]];
                        check(dtype, &sizes, [&lhs, &rhs]);
                    }
                }
            }
        }
    }
}

/// Several dimensions of each role, in any order, some of them empty. `LAYOUTS` is the number of
/// cases, `LAYOUT_SEED` others.
#[test]
fn products_in_any_layout() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let mut random = Random(number("LAYOUT_SEED").unwrap_or(2));
    for case in 0..number("LAYOUTS").unwrap_or(300) {
        let _entered = host::Host::default().with_workers(1 + case as usize % 3).enter();
        let mut sizes: Sizes = Default::default();
        let total = random.below(6);
        for _ in 0..total {
            let size = random.choose(&EDGES);
            sizes[random.below(4)].push(size);
        }
        let ones = random.below(3);
        for _ in 0..ones {
            sizes[random.below(4)].push(1);
        }
        while work(&sizes) > MAX_WORK
            || [[0, 1, 2], [0, 2, 3], [0, 1, 3]].iter().any(|roles| {
                roles.iter().flat_map(|&role| &sizes[role]).product::<usize>() > MAX_WORK
            })
        {
            // The largest one becomes smaller.
            let largest = sizes.iter_mut().flatten().max().expect("some are large");
            let below = EDGES.partition_point(|edge| edge < largest);
            *largest = EDGES[random.below(below.max(2))].max(1);
        }
        let mut order = |roles: [usize; 3]| {
            let dims =
                roles.iter().flat_map(|&role| (0..sizes[role].len()).map(move |d| (role, d)));
            let mut order: Order = dims.collect();
            // Usually the dimensions of a role stay in order, as then there are strides for them.
            if random.below(3) == 0 {
                random.shuffle(&mut order);
            } else {
                let mut roles = roles;
                random.shuffle(&mut roles);
                order.sort_by_key(|&(role, d)| (roles.iter().position(|&own| own == role), d));
            }
            // Free dimensions are in the result as they are in memory.
            for free in [1, 3] {
                let own = order.iter_mut().filter(|(role, _)| *role == free);
                own.enumerate().for_each(|(nth, (_, d))| *d = nth);
            }
            order
        };
        let orders = [order([0, 1, 2]), order([0, 2, 3])];
        let types = if case % 2 == 0 { [DType::F32; 3] } else { random.choose(&TYPES) };
        check(types, &sizes, [&orders[0], &orders[1]]);
    }
}
