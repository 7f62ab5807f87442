//! Products of a vector with the columns of a matrix, which is read once, from where it is.

use super::accumulator::Accumulator;
use super::matmul::BLOCK;
use super::rows::Matrix;
use super::tree::Tree;
use numerics::simd::{
    ColumnScales, ColumnSums, Columns, GROUP, Isa, Kernel, PanelColumns, WIDE_GROUP, transpose,
};
use numerics::{DType, Number, Widen};
use std::cell::Cell;

/// Results that are summed at a time where columns are neighbours: in the first-level cache of
/// every machine beside the rows that are read.
const RESULTS: usize = 1024;
/// Results of whole panels that are summed at a time: chains that hide the latency of additions.
const PANEL_RESULTS: usize = 128;
/// Columns that are read at a time where the elements of a column are neighbours: no more than a
/// first-level cache has ways, as columns are often a power of two apart.
const COLUMNS: usize = GROUP;
/// Elements of each of these columns that become rows at a time, on the stack.
const LINE: usize = 64;

/// The products of a vector with the columns of `b`, as [`Product`](super::matmul::Product) defines
/// them. One of the strides of `b` is 1. Elements of `b` may be stored in a narrower type; integers
/// are multiplied with their scales, where there are some.
pub(crate) struct VectorProduct<'a, T, S = T> {
    pub isa: Isa,
    pub a: &'a [T],
    pub b: Matrix<'a, S>,
    pub scales: ColumnScales<'a, T>,
    pub out: &'a mut [T],
}

impl<T: Accumulator + ColumnSums<S>, S: Widen<T>> Kernel for VectorProduct<'_, T, S> {
    #[inline(always)]
    fn run(self) {
        let VectorProduct { isa, a, b, scales, out } = self;
        match b.strides {
            [_, 1] => {
                let done = in_panels(isa, a, b, scales, out);
                let b = Matrix { elements: b.elements.get(done..).unwrap_or_default(), ..b };
                with_rows(a, b, scales.from(0, done), &mut out[done..]);
            }
            _ => with_columns(isa, a, b, scales, out),
        }
        for sum in out {
            *sum = sum.finish();
        }
    }

    /// One result at a time.
    fn run_shared(self) {
        let VectorProduct { a, b: Matrix { elements, strides }, scales, out, .. } = self;
        for (column, out) in out.iter_mut().enumerate() {
            let mut tree = Tree::new();
            for (block, a) in a.chunks(BLOCK).enumerate() {
                let first = block * BLOCK * strides[0] + column * strides[1];
                let scales = scales.from(block * BLOCK, column);
                let b = |k: usize| scaled(elements[first + k * strides[0]].widen(), scales, k, 0);
                let step = |sum: T, (k, &a): (usize, &T)| sum.multiply_add(a, b(k));
                tree.push(a.iter().enumerate().fold(T::ZERO, step), T::add);
            }
            *out = tree.finish(T::add).unwrap_or(T::ZERO).finish();
        }
    }
}

/// True if elements that are stored so may have scales: integers whose products are summed as
/// floats.
fn has_scales<T: Accumulator, S: Widen<T>>() -> bool {
    const { matches!(S::DTYPE, DType::I8 | DType::U8) }
}

/// An element in a row and a column with its scale, if it has one.
#[inline(always)]
fn scaled<T: Accumulator>(element: T, scales: ColumnScales<'_, T>, row: usize, column: usize) -> T {
    if !scales.are_some() {
        return element;
    }
    let shifted = match scales.shifts_of_row(row).get(column) {
        Some(&shift) => element.add(shift),
        None => element,
    };
    shifted.multiply(scales.of_row(row)[column])
}

/// Writes the sums of as many columns as are whole panels, and returns their number: where loops do
/// not become vectors with fused multiply-adds.
#[inline(always)]
fn in_panels<T: Accumulator, S: Widen<T>>(
    isa: Isa,
    a: &[T],
    b: Matrix<'_, S>,
    scales: ColumnScales<'_, T>,
    out: &mut [T],
) -> usize {
    if !cfg!(target_family = "wasm") || S::DTYPE != T::DTYPE || scales.are_some() {
        return 0;
    }
    let elements = bytemuck::cast_slice::<S, T>(b.elements);
    let columns = PanelColumns { elements, stride: b.strides[0], distance: T::COLUMNS };
    let whole = out.len() / T::COLUMNS * T::COLUMNS;
    let chains = |_, a: &[T], columns: PanelColumns<'_, T>, sums: &mut [T]| {
        T::row_chains(isa, a, columns, sums)
    };
    if with_panels(a, columns, [T::COLUMNS, 1], &mut out[..whole], chains) { whole } else { 0 }
}

/// The sums stay in the cache while the rows of `b` are read in order.
#[inline(always)]
fn with_rows<T: Accumulator, S: Widen<T>>(
    a: &[T],
    b: Matrix<'_, S>,
    scales: ColumnScales<'_, T>,
    out: &mut [T],
) {
    let row_stride = b.strides[0];
    for (chunk, out) in out.chunks_mut(RESULTS).enumerate() {
        let b = &b.elements[chunk * RESULTS..];
        out.fill(T::ZERO);
        let is_deep = a.len() > BLOCK;
        let mut tree = Tree::new();
        for (block, a) in a.chunks(BLOCK).enumerate() {
            let mut sums = vec![T::ZERO; if is_deep { out.len() } else { 0 }];
            let first = block * BLOCK;
            let scales = scales.from(first, chunk * RESULTS);
            let to = if is_deep { &mut sums[..] } else { &mut *out };
            add_rows_scaled(to, a, &b[first * row_stride..], row_stride, scales);
            if is_deep {
                tree.push(sums, add_rows);
            }
        }
        if let Some(sums) = tree.finish(add_rows) {
            out.copy_from_slice(&sums);
        }
    }
}

/// Writes the sums of `a` with whole panels of columns, before they are finished; false, and
/// nothing is written, if `chains`, which writes the sums of a block from an element of `a` and a
/// column on, has no instructions for them. A panel has `width` columns, and a row of it elements
/// for `per_row` elements of `a`.
pub(crate) fn with_panels<T: Accumulator, E>(
    a: &[T],
    columns: PanelColumns<'_, E>,
    [width, per_row]: [usize; 2],
    out: &mut [T],
    chains: impl Fn([usize; 2], &[T], PanelColumns<'_, E>, &mut [T]) -> bool,
) -> bool {
    let groups = out.len().div_ceil(PANEL_RESULTS);
    let is_backward = is_backward(columns.elements, size_of_val(out).saturating_mul(a.len()));
    let mut tree = Tree::new();
    for i in 0..groups {
        let first = PANEL_RESULTS * if is_backward { groups - 1 - i } else { i };
        let end = out.len().min(first + PANEL_RESULTS);
        let out = &mut out[first..end];
        for (number, a) in a.chunks(BLOCK).enumerate() {
            let row = number * BLOCK / per_row;
            let start = first / width * columns.distance + row * columns.stride;
            let block = PanelColumns { elements: &columns.elements[start..], ..columns };
            let mut sums = [T::ZERO; PANEL_RESULTS];
            if !chains([number * BLOCK, first], a, block, &mut sums[..out.len()]) {
                return false;
            }
            tree.push(sums, add_columns);
        }
        if let Some(sums) = tree.finish(add_columns) {
            out.copy_from_slice(&sums[..out.len()]);
        }
    }
    true
}

/// Adds the products of the elements of `a` with rows of `b`, in order.
#[inline(always)]
fn add_rows_scaled<T: Accumulator, S: Widen<T>>(
    sums: &mut [T],
    a: &[T],
    b: &[S],
    row_stride: usize,
    scales: ColumnScales<'_, T>,
) {
    let (quads, rest) = a.as_chunks::<4>();
    for (quad, a) in quads.iter().enumerate() {
        let k = 4 * quad;
        let mut rows = [&b[k * row_stride..]; 4];
        let mut row_scales = [[scales.of_row(k), scales.shifts_of_row(k)]; 4];
        for i in 1..4 {
            rows[i] = &b[(k + i) * row_stride..];
            row_scales[i] = [scales.of_row(k + i), scales.shifts_of_row(k + i)];
        }
        add_scaled(sums, *a, rows, row_scales);
    }
    for (k, &a) in (4 * quads.len()..).zip(rest) {
        let scales = [scales.of_row(k), scales.shifts_of_row(k)];
        add_scaled(sums, [a], [&b[k * row_stride..]], [scales]);
    }
}

/// Adds the products of a few elements of `a` with rows of `b`, in order. To the elements of these,
/// the second numbers of `scales` are added, and then they are multiplied with the first ones,
/// unless these are empty.
#[inline(always)]
fn add_scaled<T: Accumulator, S: Widen<T>, const N: usize>(
    sums: &mut [T],
    a: [T; N],
    b: [&[S]; N],
    scales: [[&[T]; 2]; N],
) {
    let mut b = b;
    for row in &mut b {
        *row = &row[..sums.len()];
    }
    if !has_scales::<T, S>() || scales.iter().any(|[scales, _]| scales.is_empty()) {
        for (j, sum) in sums.iter_mut().enumerate() {
            for (a, b) in a.iter().zip(b) {
                *sum = sum.multiply_add(*a, b[j].widen());
            }
        }
        return;
    }
    if scales.iter().any(|[_, shifts]| shifts.is_empty()) {
        let scales = scales.map(|[scales, _]| &scales[..sums.len()]);
        for (j, sum) in sums.iter_mut().enumerate() {
            for ((a, b), scales) in a.iter().zip(b).zip(scales) {
                *sum = sum.multiply_add(*a, b[j].widen().multiply(scales[j]));
            }
        }
        return;
    }
    let scales = scales.map(|scales| scales.map(|scales| &scales[..sums.len()]));
    for (j, sum) in sums.iter_mut().enumerate() {
        for ((a, b), [scales, shifts]) in a.iter().zip(b).zip(scales) {
            *sum = sum.multiply_add(*a, b[j].widen().add(shifts[j]).multiply(scales[j]));
        }
    }
}

/// The sums of two rows into the left one.
fn add_rows<T: Number>(mut left: Vec<T>, right: Vec<T>) -> Vec<T> {
    for (x, &y) in left.iter_mut().zip(&right) {
        *x = x.add(y);
    }
    left
}

/// Some columns of `b` are read at a time, and turned into rows in registers.
#[inline(always)]
fn with_columns<T: Accumulator + ColumnSums<S>, S: Widen<T>>(
    isa: Isa,
    a: &[T],
    b: Matrix<'_, S>,
    scales: ColumnScales<'_, T>,
    out: &mut [T],
) {
    let (b, column_stride) = (b.elements, b.strides[1]);
    let mut done = 0;
    // There are instructions for these sums alone.
    if const { matches!(T::DTYPE, DType::F32) } {
        done = in_registers::<T, S, WIDE_GROUP>(isa, a, (b, column_stride), scales, out);
        if done < out.len() {
            // `b` may end with the last element of the last column.
            let rest = (&b[done * column_stride..], column_stride);
            let scales = scales.from(0, done);
            done += in_registers::<T, S, GROUP>(isa, a, rest, scales, &mut out[done..]);
        }
    }
    if done == out.len() {
        return;
    }
    let mut tree = Tree::new();
    let mut rows = [[S::ZERO; COLUMNS]; LINE];
    let (b, out) = (&b[done * column_stride..], &mut out[done..]);
    for (group, out) in out.chunks_mut(COLUMNS).enumerate() {
        for (block, a) in a.chunks(BLOCK).enumerate() {
            let columns = &b[group * COLUMNS * column_stride + block * BLOCK..];
            let scales = scales.from(block * BLOCK, done + group * COLUMNS);
            let columns = (columns, column_stride, out.len());
            tree.push(chains(a, columns, scales, &mut rows), add_columns);
        }
        if let Some(sums) = tree.finish(add_columns) {
            out.copy_from_slice(&sums[..out.len()]);
        }
    }
}

/// Writes the products of columns that are summed `W` at a time in registers, and returns how many
/// these are.
#[inline(always)]
fn in_registers<T: Accumulator + ColumnSums<S>, S: Widen<T>, const W: usize>(
    isa: Isa,
    a: &[T],
    b: (&[S], usize),
    scales: ColumnScales<'_, T>,
    out: &mut [T],
) -> usize {
    // Two chains where one would wait for its sums, and not for the memory of long columns.
    let are_paired = W < WIDE_GROUP || a.len() <= BLOCK;
    let done = if are_paired { in_groups::<T, S, W, 2>(isa, a, b, scales, out, 0) } else { 0 };
    in_groups::<T, S, W, 1>(isa, a, b, scales, out, done)
}

/// As [`in_registers`], of columns from `done` on, `N` groups at a time.
#[inline(always)]
fn in_groups<T: Accumulator + ColumnSums<S>, S: Widen<T>, const W: usize, const N: usize>(
    isa: Isa,
    a: &[T],
    (b, stride): (&[S], usize),
    scales: ColumnScales<'_, T>,
    out: &mut [T],
    done: usize,
) -> usize {
    let out = out[done..].as_chunks_mut::<W>().0.as_chunks_mut::<N>().0;
    if out.is_empty() {
        return done;
    }
    let bytes = (out.len() * N * W * size_of::<S>()).saturating_mul(a.len());
    let is_backward = is_backward(&b[done * stride..], bytes);
    let next = (N * W).wrapping_mul(stride);
    let next = if is_backward { next.wrapping_neg() } else { next };
    let mut tree = Tree::new();
    for i in 0..out.len() {
        let at = if is_backward { out.len() - 1 - i } else { i };
        for (block, vector) in a.chunks(BLOCK).enumerate() {
            let row = block * BLOCK;
            let groups = std::array::from_fn(|n| {
                let column = done + (N * at + n) * W;
                let (elements, scales) = (&b[column * stride + row..], scales.from(row, column));
                Columns { vector, elements, stride, next, scales }
            });
            let Some(sums) = T::column_chains::<W, N>(isa, groups) else { return done };
            tree.push(sums, add_groups);
        }
        if let Some(sums) = tree.finish(add_groups) {
            out[at] = sums;
        }
    }
    done + out.len() * N * W
}

/// True if columns of these bytes should be read in reverse order, because this thread read them in
/// order before. If the second-level cache cannot hold all of them, it holds the last columns.
fn is_backward<S>(columns: &[S], bytes: usize) -> bool {
    const FACTORS: usize = 16;
    thread_local! {
        /// The addresses of columns that were read in order.
        static FORWARD: [Cell<usize>; FACTORS] = const { [const { Cell::new(0) }; FACTORS] };
    }
    if bytes <= host::machine().l2.bytes / 2 {
        return false;
    }
    let start = columns.as_ptr().addr();
    FORWARD.with(|forward| {
        let before = &forward[(start >> 6) % FACTORS];
        let is_backward = before.get() == start;
        before.set(if is_backward { 0 } else { start });
        is_backward
    })
}

/// Chains of the products of the elements of `a` with the elements of `count` columns, which become
/// rows a part at a time.
#[inline(always)]
fn chains<T: Accumulator, S: Widen<T>>(
    a: &[T],
    (columns, stride, count): (&[S], usize, usize),
    scales: ColumnScales<'_, T>,
    rows: &mut [[S; COLUMNS]; LINE],
) -> [T; COLUMNS] {
    let mut sums = [T::ZERO; COLUMNS];
    for (part, a) in a.chunks(LINE).enumerate() {
        let first = part * LINE;
        let to = (rows.as_flattened_mut(), COLUMNS);
        transpose((&columns[first..], stride), to, [count, a.len()]);
        for ((k, &a), row) in (first..).zip(a).zip(&*rows) {
            if has_scales::<T, S>() && scales.are_some() {
                for (j, (sum, element)) in sums.iter_mut().zip(row).take(count).enumerate() {
                    *sum = sum.multiply_add(a, scaled(element.widen(), scales, k, j));
                }
            } else {
                for (sum, element) in sums.iter_mut().zip(row) {
                    *sum = sum.multiply_add(a, element.widen());
                }
            }
        }
    }
    sums
}

fn add_columns<T: Number, const W: usize>(left: [T; W], right: [T; W]) -> [T; W] {
    std::array::from_fn(|j| left[j].add(right[j]))
}

/// The sums of each two elements.
pub(crate) fn add_groups<T: Number, const W: usize, const N: usize>(
    left: [[T; W]; N],
    right: [[T; W]; N],
) -> [[T; W]; N] {
    std::array::from_fn(|n| add_columns(left[n], right[n]))
}

/// The products of a few vectors, rows of `a`, with the columns of `b`, which is read once. One of
/// the strides of `b` is 1.
pub(crate) struct VectorsProduct<'a, T, S> {
    pub isa: Isa,
    pub a: &'a [T],
    pub depth: usize,
    pub b: Matrix<'a, S>,
    /// The results, a row for each vector.
    pub out: &'a mut [T],
}

/// Vectors whose products are summed at a time.
const VECTORS: usize = 4;

impl<T: Accumulator + ColumnSums<S>, S: Widen<T>> Kernel for VectorsProduct<'_, T, S> {
    #[inline(always)]
    fn run(self) {
        let VectorsProduct { isa, a, depth, b, out } = self;
        let columns = out.len() / (a.len() / depth).max(1);
        let groups = a.chunks(VECTORS * depth).zip(out.chunks_mut(VECTORS * columns));
        for (a, out) in groups {
            if let (Ok(vectors), [_, stride]) = (
                <[&[T]; VECTORS]>::try_from(&a.chunks_exact(depth).collect::<Vec<_>>()[..]),
                b.strides,
            ) && stride != 1
            {
                several(isa, vectors, (b.elements, stride), out);
                continue;
            }
            for (a, out) in a.chunks_exact(depth).zip(out.chunks_exact_mut(columns)) {
                isa.run(VectorProduct { isa, a, b, scales: ColumnScales::NONE, out });
            }
        }
    }

    /// One vector at a time.
    fn run_shared(self) {
        let VectorsProduct { isa, a, depth, b, out } = self;
        let columns = out.len() / (a.len() / depth).max(1);
        for (a, out) in a.chunks_exact(depth).zip(out.chunks_exact_mut(columns)) {
            VectorProduct { isa, a, b, scales: ColumnScales::NONE, out }.run_shared();
        }
    }
}

/// Writes the products of several vectors with columns of neighbouring elements.
#[inline(always)]
fn several<T: Accumulator + ColumnSums<S>, S: Widen<T>, const M: usize>(
    isa: Isa,
    vectors: [&[T]; M],
    (b, stride): (&[S], usize),
    out: &mut [T],
) {
    let columns = out.len() / M;
    let mut done = shared::<T, S, WIDE_GROUP, M>(isa, vectors, (b, stride), out, 0);
    done = shared::<T, S, GROUP, M>(isa, vectors, (b, stride), out, done);
    if done == columns {
        return;
    }
    let b = Matrix { elements: &b[done * stride..], strides: [1, stride] };
    for (a, out) in vectors.into_iter().zip(out.chunks_exact_mut(columns)) {
        let out = &mut out[done..];
        isa.run(VectorProduct { isa, a, b, scales: ColumnScales::NONE, out });
    }
}

/// Writes the sums of columns from `first` on that are summed `W` at a time in registers, and
/// returns the first of the others.
#[inline(always)]
fn shared<T: Accumulator + ColumnSums<S>, S: Widen<T>, const W: usize, const M: usize>(
    isa: Isa,
    vectors: [&[T]; M],
    (b, stride): (&[S], usize),
    out: &mut [T],
    first: usize,
) -> usize {
    let columns = out.len() / M;
    let depth = vectors[0].len();
    let mut done = first;
    let mut tree = Tree::new();
    while columns - done >= W {
        for start in (0..depth).step_by(BLOCK) {
            let end = depth.min(start + BLOCK);
            let vectors = vectors.map(|vector| &vector[start..end]);
            let elements = &b[done * stride + start..];
            let next = W.saturating_mul(stride);
            let group =
                Columns { vector: vectors[0], elements, stride, next, scales: ColumnScales::NONE };
            let Some(sums) = T::shared_chains::<W, M>(isa, vectors, group) else { return done };
            tree.push(sums, add_groups);
        }
        if let Some(sums) = tree.finish(add_groups) {
            for (out, sums) in out.chunks_exact_mut(columns).zip(&sums) {
                let out = &mut out[done..done + W];
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum.finish());
            }
        }
        done += W;
    }
    done
}
