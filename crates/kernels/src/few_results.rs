//! Products of long and narrow matrices, which have few results with many products each.

use super::accumulator::Accumulator;
use super::matmul::BLOCK;
use super::rows::Matrix;
use super::tree::Tree;
use super::vector_products::add_groups;
use numerics::simd::{Isa, Kernel};
use numerics::{DType, Number};

/// At most this many rows and columns.
const SIDE: usize = 8;
/// Rows whose sums are in registers at a time.
const ROWS: usize = 4;

/// Adds the sums of a block. Inlined into the loop over blocks, it would keep them in memory.
#[inline(never)]
fn push<T: Number, const LANES: usize>(
    tree: &mut Tree<[[T; LANES]; ROWS]>,
    sums: [[T; LANES]; ROWS],
) {
    tree.push(sums, add_groups);
}

/// True for products of `m` x `k` and `k` x `n` elements that [`FewResults`] computes best: tiles
/// of usual sizes would be mostly empty, and vectors have other loops.
pub(crate) fn are_few<T: Accumulator>([m, k, n]: [usize; 3]) -> bool {
    let is_float = const { matches!(T::DTYPE, DType::F32 | DType::F64) };
    let sides = 2..=SIDE;
    is_float && sides.contains(&m) && sides.contains(&n) && k >= BLOCK
}

/// Writes the product of a matrix of `m` x `k` elements and one of `k` x `n`, as
/// [`matmul`](super::matmul) defines it.
///
/// # Panics
/// If an element is outside of the memory.
pub(crate) fn multiply<T: Accumulator>(
    [m, k, n]: [usize; 3],
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    out: &mut [T],
) {
    // Of few columns, lanes for eight would be mostly empty.
    match n {
        ..=4 => Isa::best().run(FewResults::<T, 4> { m, k, n, a, b, out }),
        _ => Isa::best().run(FewResults::<T, SIDE> { m, k, n, a, b, out }),
    }
}

/// With lanes for `LANES` columns.
struct FewResults<'a, T, const LANES: usize> {
    m: usize,
    k: usize,
    n: usize,
    a: Matrix<'a, T>,
    b: Matrix<'a, T>,
    out: &'a mut [T],
}

impl<T: Accumulator, const LANES: usize> Kernel for FewResults<'_, T, LANES> {
    #[inline(always)]
    fn run(self) {
        let FewResults { m, k, n, a, b, out } = self;
        // Missing rows and columns repeat the last one.
        let columns: [usize; LANES] = std::array::from_fn(|i| i.min(n - 1) * b.strides[1]);
        for (first, out) in (0..m).step_by(ROWS).zip(out.chunks_mut(ROWS * n)) {
            let rows: [usize; ROWS] =
                std::array::from_fn(|i| (first + i).min(m - 1) * a.strides[0]);
            let mut tree = Tree::new();
            for start in (0..k).step_by(BLOCK) {
                let mut sums = [[T::ZERO; LANES]; ROWS];
                for l in start..k.min(start + BLOCK) {
                    let a = &a.elements[l * a.strides[1]..];
                    let elements = &b.elements[l * b.strides[0]..];
                    // Neighbours are read together, if there are elements beyond the last.
                    let y = match elements.first_chunk::<LANES>() {
                        Some(y) if b.strides[1] == 1 => *y,
                        _ => columns.map(|at| elements[at]),
                    };
                    for (sums, at) in sums.iter_mut().zip(rows) {
                        let x = a[at];
                        for (sum, y) in sums.iter_mut().zip(y) {
                            *sum = sum.multiply_add(x, y);
                        }
                    }
                }
                push(&mut tree, sums);
            }
            let sums = tree.finish(add_groups).unwrap_or([[T::ZERO; LANES]; ROWS]);
            for (out, sums) in out.chunks_exact_mut(n).zip(sums) {
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum.finish());
            }
        }
    }

    /// One result at a time.
    fn run_shared(self) {
        let FewResults { k, n, a, b, out, .. } = self;
        for (number, out) in out.iter_mut().enumerate() {
            let (row, column) = (number / n * a.strides[0], number % n * b.strides[1]);
            let step = |sum: T, l: usize| {
                let x = a.elements[row + l * a.strides[1]];
                sum.multiply_add(x, b.elements[column + l * b.strides[0]])
            };
            let mut tree = Tree::new();
            for start in (0..k).step_by(BLOCK) {
                tree.push((start..k.min(start + BLOCK)).fold(T::ZERO, step), T::add);
            }
            *out = tree.finish(T::add).unwrap_or(T::ZERO).finish();
        }
    }
}
