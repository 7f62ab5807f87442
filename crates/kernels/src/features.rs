//! Sums and functions of the elements of features, which have one index along a dimension.
//!
//! All is computed in double precision. Sums are trees over the elements of a feature in row-major
//! order, as [`sums`](super::sums) defines them, whatever the layout and the number of threads.

use super::parallel::task_size;
use super::short_rows::combine_rows;
use super::sums::combine_columns;
use super::tree::Tree;
use numerics::simd::{Isa, Kernel};
use numerics::{Element, Number};
use std::convert::Infallible;

/// Neighbouring features, each with its elements `count` apart, that are computed at a time.
const LANES: usize = 8;
/// Rows of all features whose sums are a subtree.
const ROWS: usize = 256;
/// Rows of these that are combined at a time.
const GROUP: usize = 8;
/// Neighbouring elements of one feature whose sum is a subtree.
const BLOCK: usize = 4096;
/// Features of at most this many elements are summed together, in batches of at most this many.
const SHORT: usize = 1024;
/// The work for an element, in elementary operations.
const WORK: usize = 8;

/// Elements that are read and written as `f64`.
pub trait FeatureSample: Element {
    /// The number.
    fn wide(self) -> f64;

    /// The nearest element.
    fn narrow(number: f64) -> Self;
}

impl FeatureSample for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn narrow(number: f64) -> f32 {
        number as f32
    }
}

impl FeatureSample for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn narrow(number: f64) -> f64 {
        number
    }
}

/// A function of parameters and two elements, called by a pointer.
type Pointer<'f, const P: usize> = &'f dyn Fn([f64; P], f64, f64) -> f64;

/// A function of the elements at the same place of two tensors, with parameters of the feature.
#[derive(Clone, Copy)]
pub struct FeatureFunction<'a, S, F, const P: usize> {
    operands: [&'a [S]; 2],
    /// A number of each feature for each parameter.
    parameters: [&'a [f64]; P],
    f: F,
}

impl<'a, S: FeatureSample, F: Fn([f64; P], f64, f64) -> f64 + Copy, const P: usize>
    FeatureFunction<'a, S, F, P>
{
    /// The function `f` of parameters and elements.
    pub fn new(operands: [&'a [S]; 2], parameters: [&'a [f64]; P], f: F) -> Self {
        FeatureFunction { operands, parameters, f }
    }

    /// The function of elements from `start` on.
    fn part(self, start: usize, len: usize) -> Self {
        let operands = self.operands.map(|elements| &elements[start..][..len]);
        FeatureFunction { operands, ..self }
    }

    /// The same function, called by a pointer.
    fn shared<'f>(&self, f: Pointer<'f, P>) -> FeatureFunction<'f, S, Pointer<'f, P>, P>
    where
        'a: 'f,
    {
        FeatureFunction { operands: self.operands, parameters: self.parameters, f }
    }

    /// The parameters of features from the first one on.
    #[inline(always)]
    fn parameters<const N: usize>(&self, first: usize) -> [[f64; N]; P] {
        self.parameters.map(|numbers| {
            let numbers = &numbers[first..first + N];
            std::array::from_fn(|j| numbers[j])
        })
    }

    /// The values for neighbouring elements from the one at `start` on.
    #[inline(always)]
    fn values<const N: usize>(&self, start: usize, parameters: &[[f64; N]; P]) -> [f64; N] {
        let [x, y] = self.operands.map(|elements| &elements[start..start + N]);
        let of = |j: usize| std::array::from_fn(|p| parameters[p][j]);
        std::array::from_fn(|j| (self.f)(of(j), x[j].wide(), y[j].wide()))
    }
}

/// How the elements of features are arranged.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Number of features.
    pub count: usize,
    /// Neighbouring elements of one feature.
    pub inner: usize,
}

impl Features {
    /// The sum of a function for each feature.
    pub fn sums<S, F, const P: usize>(self, function: FeatureFunction<'_, S, F, P>) -> Vec<f64>
    where
        S: FeatureSample,
        F: Fn([f64; P], f64, f64) -> f64 + Copy + Sync,
    {
        let Features { count, inner } = self;
        let mut sums = vec![0.0; count];
        let len = function.operands[0].len();
        if len == 0 {
            return sums;
        }
        if inner > 1 {
            let elements = len / count;
            let features = task_size(count, elements * WORK, 1);
            let together = (SHORT / elements).clamp(1, features);
            let tasks = sums.chunks_mut(features).zip((0..).step_by(features));
            in_parallel(tasks.collect(), |(sums, first): (&mut [f64], usize)| {
                let mut block = vec![0.0; BLOCK.min(elements * together)];
                for (sums, first) in sums.chunks_mut(together).zip((first..).step_by(together)) {
                    if elements > SHORT {
                        sums[0] = self.sum(first, function, &mut block);
                        continue;
                    }
                    for (feature, row) in (first..).zip(block.chunks_exact_mut(elements)) {
                        if feature < first + sums.len() {
                            self.collect(feature, function, row);
                        }
                    }
                    combine_rows(&block, elements, &<f64 as Number>::add, sums);
                }
            });
            return sums;
        }
        let blocks = (len / count).div_ceil(ROWS);
        let mut subtrees = vec![0.0; blocks * count];
        let together = task_size(blocks, ROWS * count * WORK, 1);
        let tasks = subtrees.chunks_mut(together * count).enumerate();
        in_parallel(tasks.collect(), |(task, subtrees): (usize, &mut [f64])| {
            let start = task * together * ROWS * count;
            let function = function.part(start, (len - start).min(together * ROWS * count));
            Isa::best().run(FeatureColumns { count, function, subtrees });
        });
        combine_columns(&subtrees, 1, blocks, &|i| i * count, &<f64 as Number>::add, &mut sums);
        sums
    }

    /// The sum of a function for a feature that has neighbouring elements. `block` has room for all
    /// of them, or for [`BLOCK`].
    fn sum<S, F, const P: usize>(
        self,
        feature: usize,
        function: FeatureFunction<'_, S, F, P>,
        block: &mut [f64],
    ) -> f64
    where
        S: FeatureSample,
        F: Fn([f64; P], f64, f64) -> f64 + Copy + Sync,
    {
        let Features { count, inner } = self;
        let add = <f64 as Number>::add;
        let combined = |numbers: &[f64]| {
            let mut sum = [0.0];
            combine_rows(numbers, numbers.len(), &add, &mut sum);
            sum[0]
        };
        let (mut tree, mut filled) = (Tree::new(), 0);
        let runs = (feature * inner..function.operands[0].len()).step_by(count * inner);
        for run in runs {
            let mut done = 0;
            while done < inner {
                let len = (inner - done).min(block.len() - filled);
                let function = function.part(run + done, len);
                let out = &mut block[filled..filled + len];
                Isa::best().run(FeatureRun::<_, _, _, P> { feature, function, out });
                (done, filled) = (done + len, filled + len);
                if filled == block.len() {
                    tree.push(combined(block), add);
                    filled = 0;
                }
            }
        }
        if filled > 0 {
            tree.push_last(combined(&block[..filled]));
        }
        tree.finish(add).unwrap_or_default()
    }

    /// Writes the function of the elements of a feature, one feature for each element of `out`.
    fn collect<S, F, const P: usize>(
        self,
        feature: usize,
        function: FeatureFunction<'_, S, F, P>,
        out: &mut [f64],
    ) where
        S: FeatureSample,
        F: Fn([f64; P], f64, f64) -> f64 + Copy + Sync,
    {
        let Features { count, inner } = self;
        let runs = (feature * inner..).step_by(count * inner);
        for (run, out) in runs.zip(out.chunks_exact_mut(inner)) {
            let function = function.part(run, inner);
            Isa::best().run(FeatureRun { feature, function, out });
        }
    }

    /// Writes a function of all elements.
    pub fn map<S, F, const P: usize>(self, function: FeatureFunction<'_, S, F, P>, out: &mut [S])
    where
        S: FeatureSample,
        F: Fn([f64; P], f64, f64) -> f64 + Copy + Sync,
    {
        let Features { count, inner } = self;
        if out.is_empty() {
            return;
        }
        if inner > 1 {
            let together = task_size(out.len() / inner, inner * WORK, 1);
            let tasks = out.chunks_mut(together * inner).enumerate();
            in_parallel(tasks.collect(), |(task, out): (usize, &mut [S])| {
                for (run, out) in (task * together..).zip(out.chunks_mut(inner)) {
                    let function = function.part(run * inner, inner);
                    Isa::best().run(FeatureRun { feature: run % count, function, out });
                }
            });
            return;
        }
        let together = task_size(out.len() / count, count * WORK, 1);
        let tasks = out.chunks_mut(together * count).enumerate();
        in_parallel(tasks.collect(), |(task, out): (usize, &mut [S])| {
            let function = function.part(task * together * count, out.len());
            Isa::best().run(MappedColumns { count, function, out });
        });
    }
}

fn in_parallel<T: Send>(tasks: Vec<T>, work: impl Fn(T) + Sync) {
    let done = host::parallel(tasks, |task| {
        work(task);
        Ok::<_, Infallible>(())
    });
    let Ok(()) = done;
}

/// The function of neighbouring elements of one feature.
struct FeatureRun<'a, S, F, T, const P: usize> {
    feature: usize,
    function: FeatureFunction<'a, S, F, P>,
    out: &'a mut [T],
}

impl<S, F, T, const P: usize> Kernel for FeatureRun<'_, S, F, T, P>
where
    S: FeatureSample,
    T: FeatureSample,
    F: Fn([f64; P], f64, f64) -> f64 + Copy,
{
    #[inline(always)]
    fn run(self) {
        let FeatureRun { feature, function, out } = self;
        let parameters = function.parameters.map(|numbers| numbers[feature]);
        let [x, y] = function.operands;
        for (out, (&x, &y)) in out.iter_mut().zip(x.iter().zip(y)) {
            *out = T::narrow((function.f)(parameters, x.wide(), y.wide()));
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<S: FeatureSample, T: FeatureSample, const P: usize>(
            kernel: FeatureRun<'_, S, Pointer<'_, P>, T, P>,
        ) {
            kernel.run();
        }
        let FeatureRun { feature, out, function } = self;
        run(FeatureRun { feature, out, function: function.shared(&function.f) });
    }
}

/// The sums of each feature in each block of rows.
struct FeatureColumns<'a, S, F, const P: usize> {
    count: usize,
    function: FeatureFunction<'a, S, F, P>,
    subtrees: &'a mut [f64],
}

impl<S, F, const P: usize> Kernel for FeatureColumns<'_, S, F, P>
where
    S: FeatureSample,
    F: Fn([f64; P], f64, f64) -> f64 + Copy,
{
    #[inline(always)]
    fn run(self) {
        let FeatureColumns { count, function, subtrees } = self;
        let rows = function.operands[0].len() / count;
        // No more than few rows need: there may be many features.
        let needed = (rows.min(ROWS) / GROUP).checked_ilog2().map_or(0, |level| level as usize + 1);
        let mut levels = vec![0.0; needed * count];
        for (block, out) in subtrees.chunks_exact_mut(count).enumerate() {
            let rows = block * ROWS..rows.min((block + 1) * ROWS);
            for group in 0..rows.len() / GROUP {
                let first = rows.start + group * GROUP;
                // The level that the sums of a group go to, combined with all below.
                let level = group.trailing_ones() as usize;
                for column in (0..count - count % LANES).step_by(LANES) {
                    push::<_, _, P, LANES>(&function, count, column, first, level, &mut levels);
                }
                for column in count - count % LANES..count {
                    push::<_, _, P, 1>(&function, count, column, first, level, &mut levels);
                }
            }
            let groups = rows.len() / GROUP;
            for (column, out) in out.iter_mut().enumerate() {
                let parameters = function.parameters::<1>(column);
                let value = |row: usize| function.values(row * count + column, &parameters);
                let rest: [[f64; 1]; GROUP] = std::array::from_fn(|i| {
                    let row = rows.start + groups * GROUP + i;
                    if row < rows.end { value(row) } else { [0.0] }
                });
                let rest = &rest.as_flattened()[..rows.len() % GROUP];
                let last = (!rest.is_empty()).then(|| tree(rest));
                let occupied = (0..needed).filter(|level| groups >> level & 1 == 1);
                let sums = occupied.map(|level| levels[level * count + column]);
                *out = last.into_iter().chain(sums).reduce(|sum, left| left + sum).unwrap_or(0.0);
            }
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<S: FeatureSample, const P: usize>(kernel: FeatureColumns<'_, S, Pointer<'_, P>, P>) {
            kernel.run();
        }
        let FeatureColumns { count, subtrees, function } = self;
        run(FeatureColumns { count, subtrees, function: function.shared(&function.f) });
    }
}

/// Adds the sums of neighbouring features over a group of rows to the sums of earlier groups.
#[inline(always)]
fn push<S, F, const P: usize, const N: usize>(
    function: &FeatureFunction<'_, S, F, P>,
    count: usize,
    column: usize,
    first: usize,
    level: usize,
    levels: &mut [f64],
) where
    S: FeatureSample,
    F: Fn([f64; P], f64, f64) -> f64 + Copy,
{
    let parameters = function.parameters::<N>(column);
    let row = |i: usize| function.values::<N>((first + i) * count + column, &parameters);
    let pair = |i: usize| add(row(i), row(i + 1));
    let mut sum = add(add(pair(0), pair(2)), add(pair(4), pair(6)));
    for lower in 0..level {
        let left = &levels[lower * count + column..][..N];
        sum = add(std::array::from_fn(|j| left[j]), sum);
    }
    levels[level * count + column..][..N].copy_from_slice(&sum);
}

#[inline(always)]
fn add<const N: usize>(left: [f64; N], right: [f64; N]) -> [f64; N] {
    std::array::from_fn(|j| left[j] + right[j])
}

/// The sum of some numbers, of which there is one at least, in a tree over neighbours.
fn tree(numbers: &[f64]) -> f64 {
    match numbers {
        [number] => *number,
        _ => {
            let (left, right) = numbers.split_at(numbers.len().next_power_of_two() / 2);
            tree(left) + tree(right)
        }
    }
}

/// The function of the elements of rows of all features.
struct MappedColumns<'a, S, F, const P: usize> {
    count: usize,
    function: FeatureFunction<'a, S, F, P>,
    out: &'a mut [S],
}

impl<S, F, const P: usize> Kernel for MappedColumns<'_, S, F, P>
where
    S: FeatureSample,
    F: Fn([f64; P], f64, f64) -> f64 + Copy,
{
    #[inline(always)]
    fn run(self) {
        let MappedColumns { count, function, out } = self;
        for (row, out) in out.chunks_exact_mut(count).enumerate() {
            let mut columns = out.chunks_exact_mut(LANES);
            for (chunk, out) in columns.by_ref().enumerate() {
                let column = chunk * LANES;
                let parameters = function.parameters::<LANES>(column);
                let values = function.values(row * count + column, &parameters);
                out.copy_from_slice(&values.map(S::narrow));
            }
            for (out, column) in columns.into_remainder().iter_mut().zip(count - count % LANES..) {
                let parameters = function.parameters::<1>(column);
                let [value] = function.values(row * count + column, &parameters);
                *out = S::narrow(value);
            }
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<S: FeatureSample, const P: usize>(kernel: MappedColumns<'_, S, Pointer<'_, P>, P>) {
            kernel.run();
        }
        let MappedColumns { count, out, function } = self;
        run(MappedColumns { count, out, function: function.shared(&function.f) });
    }
}
