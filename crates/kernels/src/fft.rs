//! Discrete Fourier transforms along the last dimensions.
//!
//! All are computed in double precision and rounded once.

use super::parallel::task_size;
use crate::fft_lines::{Lanes, Pairs, Plan, Transform, Way};
use bytemuck::Pod;
use numerics::budget::reserve;
use numerics::math::AlignedBytes;
use numerics::simd::{DoublesArray, Isa, Kernel};
use numerics::{Complex32, Complex64, DType, Element, Tensor, TensorError};
use program::{EvalError, Fourier};
use std::cell::RefCell;
use std::sync::Arc;

/// Elementary operations for an element of a line, roughly.
const LINE_WORK: usize = 64;
/// At most so many plans are kept.
const MAX_PLANS: usize = 8;
/// Their lines have at most so many elements together.
const MAX_PLANNED: usize = 1 << 20;
/// Lines that are transformed at a time,
const LANES: usize = 4;
/// with AVX-512,
const WIDE: usize = 8;
/// if they are so short that these are in the first-level cache.
const MAX_WIDE: usize = 1 << 8;
/// At most so many lines are transformed one by one.
const FEW_LINES: usize = 2;
/// Their plans are for lines that are alone from this length on.
const MIN_ALONE: usize = 1 << 8;

/// Transforms the last `lengths.len()` dimensions. `lengths` are their sizes, on the real side of a
/// real transform.
///
/// # Errors
/// If the element type is not that of the transform, or the lengths do not fit the shape.
pub fn fourier(
    transform: Fourier,
    operand: Tensor,
    lengths: &[usize],
) -> Result<Tensor, EvalError> {
    let dtype = operand.dtype();
    let result = match (transform, dtype) {
        (Fourier::RealForward, DType::F32) => DType::C64,
        (Fourier::RealForward, DType::F64) => DType::C128,
        (Fourier::RealInverse, DType::C64) => DType::F32,
        (Fourier::RealInverse, DType::C128) => DType::F64,
        (Fourier::Forward | Fourier::Inverse, DType::C64 | DType::C128) => dtype,
        _ => {
            return Err(EvalError::new(
                "fft_c2",
                format!("no {transform:?} transform of elements of type {dtype}"),
            ));
        }
    };
    let rank = operand.rank();
    let Some(&length) = lengths.last().filter(|_| lengths.len() <= rank) else {
        return Err(EvalError::new(
            "fft_c1",
            format!("{} lengths do not fit rank {rank}", lengths.len()),
        ));
    };
    let given = &operand.shape()[rank - lengths.len()..];
    let mut required = lengths.to_vec();
    if transform == Fourier::RealInverse {
        required[lengths.len() - 1] = half(length);
    }
    if given != required {
        let message = format!(
            "the last dimensions have sizes {given:?}, but {required:?} are required for lengths {lengths:?}"
        );
        return Err(EvalError::new("fft_c4", message));
    }
    let shape = operand.shape().to_vec();
    let (outer, last) = (rank - lengths.len()..rank - 1, rank - 1);
    // The axes in turn, with the size that each has before and after.
    let mut passes = vec![(last, transform, length, shape[last])];
    if matches!(transform, Fourier::RealForward) {
        passes[0].3 = half(length);
    } else if matches!(transform, Fourier::RealInverse) {
        passes[0].3 = length;
    }
    let other = match transform {
        Fourier::Forward | Fourier::RealForward => Fourier::Forward,
        Fourier::Inverse | Fourier::RealInverse => Fourier::Inverse,
    };
    let others = outer.map(|axis| (axis, other, shape[axis], shape[axis]));
    match other {
        Fourier::Forward => passes.extend(others.rev()),
        _ => drop(passes.splice(0..0, others)),
    }
    let mut values = operand;
    let count = passes.len();
    for (nth, (axis, way, length, size)) in passes.into_iter().enumerate() {
        let to = if nth + 1 == count { result } else { DType::C128 };
        let mut shape = values.shape().to_vec();
        shape[axis] = size;
        let mut out = Tensor::zeros(to, &shape)?;
        if out.num_elements() > 0 {
            along(&values, axis, way, length, &mut out)?;
        }
        values = out;
    }
    Ok(values)
}

/// Number of elements of a real transform that determine the rest.
fn half(length: usize) -> usize {
    if length == 0 { 0 } else { length / 2 + 1 }
}

/// The transforms of all lines along an axis, which have `length` elements on the real side.
fn along(
    from: &Tensor,
    axis: usize,
    transform: Fourier,
    length: usize,
    to: &mut Tensor,
) -> Result<(), TensorError> {
    match (from.dtype(), to.dtype()) {
        (DType::F32, DType::C64) => typed::<f32, Complex32>(from, axis, transform, length, to),
        (DType::F32, _) => typed::<f32, Complex64>(from, axis, transform, length, to),
        (DType::F64, _) => typed::<f64, Complex64>(from, axis, transform, length, to),
        (DType::C64, DType::F32) => typed::<Complex32, f32>(from, axis, transform, length, to),
        (DType::C64, DType::C64) => {
            typed::<Complex32, Complex32>(from, axis, transform, length, to)
        }
        (DType::C64, _) => typed::<Complex32, Complex64>(from, axis, transform, length, to),
        (_, DType::F32) => typed::<Complex64, f32>(from, axis, transform, length, to),
        (_, DType::F64) => typed::<Complex64, f64>(from, axis, transform, length, to),
        (_, DType::C64) => typed::<Complex64, Complex32>(from, axis, transform, length, to),
        _ => typed::<Complex64, Complex64>(from, axis, transform, length, to),
    }
}

/// Elements of lines.
trait Sample: Element {
    fn parts(self) -> [f64; 2];
    fn from_parts(parts: [f64; 2]) -> Self;
}

macro_rules! samples {
    ($($real:ident $complex:ident)*) => {$(
        impl Sample for $real {
            #[inline(always)]
            fn parts(self) -> [f64; 2] {
                [self.into(), 0.0]
            }
            #[inline(always)]
            fn from_parts([re, _]: [f64; 2]) -> $real {
                re as $real
            }
        }
        impl Sample for $complex {
            #[inline(always)]
            fn parts(self) -> [f64; 2] {
                [self.re.into(), self.im.into()]
            }
            #[inline(always)]
            fn from_parts([re, im]: [f64; 2]) -> $complex {
                $complex::new(re as $real, im as $real)
            }
        }
    )*};
}
samples! { f32 Complex32 f64 Complex64 }

/// Lines along an axis, to be transformed.
struct Lines<'a, S> {
    from: &'a [S],
    transform: Fourier,
    /// The number of elements of a line on the real side.
    length: usize,
    /// The number of elements of a line before and after.
    sizes: [usize; 2],
    /// The distance of the elements of a line, and that of neighbouring lines.
    strides: [usize; 2],
    plan: &'a Plan,
    /// For real lines of even length.
    pairs: Option<&'a Pairs>,
}

fn typed<S: Sample, D: Sample>(
    from: &Tensor,
    axis: usize,
    transform: Fourier,
    length: usize,
    to: &mut Tensor,
) -> Result<(), TensorError> {
    let stride: usize = from.shape()[axis + 1..].iter().product();
    let sizes = [from.shape()[axis], to.shape()[axis]];
    let is_real = matches!(transform, Fourier::RealForward | Fourier::RealInverse);
    let is_paired = is_real && length.is_multiple_of(2);
    let _reserved = reserve::<[Complex64; 8]>(length)?;
    let is_alone = length >= MIN_ALONE && from.num_elements() / sizes[0] <= FEW_LINES;
    let (plan, pairs) = plan((if is_paired { length / 2 } else { length }, is_paired, is_alone));
    let is_row = stride == 1;
    let lines = Lines {
        from: from.as_slice::<S>()?,
        transform,
        length,
        sizes,
        strides: if is_row { [1, sizes[0]] } else { [stride, 1] },
        plan: &plan,
        pairs: pairs.as_deref(),
    };
    let to = to.make_mut::<D>()?;
    let work = length.saturating_mul(LINE_WORK);
    if is_row {
        let size = task_size(to.len() / sizes[1], work, WIDE);
        let tasks = to.chunks_mut(size * sizes[1]).zip((0..).step_by(size)).collect();
        return host::parallel(tasks, |(to, first): (&mut [D], usize)| {
            let rows: Vec<&mut [D]> = to.chunks_mut(sizes[1]).collect();
            let count = rows.len();
            lines.transform(first * sizes[0], count, Results::Rows(rows))
        });
    }
    // Columns of some blocks of rows.
    let size = task_size(lines.from.len() / sizes[0], work, WIDE).min(stride);
    let mut tasks = Vec::new();
    for (block, to) in to.chunks_mut(sizes[1] * stride).enumerate() {
        let mut columns: Vec<Vec<&mut [D]>> = (0..stride.div_ceil(size)).map(|_| vec![]).collect();
        for row in to.chunks_mut(stride) {
            columns.iter_mut().zip(row.chunks_mut(size)).for_each(|(part, row)| part.push(row));
        }
        tasks.extend(columns.into_iter().enumerate().map(|(nth, rows)| (block, nth * size, rows)));
    }
    host::parallel(tasks, |(block, first, rows): (usize, usize, Vec<&mut [D]>)| {
        let (start, count) = (block * sizes[0] * stride + first, rows[0].len());
        lines.transform(start, count, Results::Columns(rows))
    })
}

/// Where transformed lines go.
enum Results<'o, D> {
    /// A slice for each line.
    Rows(Vec<&'o mut [D]>),
    /// A slice for each element of a line, with those of all lines.
    Columns(Vec<&'o mut [D]>),
}

impl<S: Sample> Lines<'_, S> {
    /// Transforms the `count` lines from that which begins at `start` on.
    fn transform<D: Sample>(
        &self,
        start: usize,
        count: usize,
        results: Results<'_, D>,
    ) -> Result<(), TensorError> {
        let is_wide = Isa::best().has_avx512() && self.plan.size() <= MAX_WIDE;
        if count <= FEW_LINES {
            self.transform_lanes::<D, 1>(start, count, results)
        } else if count > LANES && is_wide {
            self.transform_lanes::<D, WIDE>(start, count, results)
        } else {
            self.transform_lanes::<D, LANES>(start, count, results)
        }
    }

    /// The same, `L` lines at a time.
    fn transform_lanes<D: Sample, const L: usize>(
        &self,
        start: usize,
        count: usize,
        mut results: Results<'_, D>,
    ) -> Result<(), TensorError>
    where
        [f64; L]: Pod + DoublesArray,
    {
        let isa = Isa::best();
        // The last element of half a transform is beyond those of pairs.
        let size = self.plan.size() + 1;
        let _reserved = reserve::<[Lanes<[f64; L]>; 2]>(size)?;
        let mut memory = [0; 2].map(|_| AlignedBytes::zeros(size * size_of::<Lanes<[f64; L]>>()));
        let [mut x, mut scratch] = memory.each_mut().map(|bytes| bytemuck::cast_slice_mut(bytes));
        let way = match (self.transform, self.pairs) {
            (Fourier::RealForward, Some(pairs)) => Way::Separate(pairs),
            (Fourier::RealInverse, Some(pairs)) => Way::Join(pairs),
            _ => Way::Complex,
        };
        for first in (0..count).step_by(L) {
            let lanes = L.min(count - first);
            let start = start + first * self.strides[1];
            isa.run(Load { lines: self, start, lanes, x });
            isa.run_doubles(Transform { plan: self.plan, way, x: &mut x, scratch: &mut scratch });
            isa.run(Store { lines: self, x, first, lanes, results: &mut results });
        }
        Ok(())
    }

    /// True if lines are transformed back.
    #[inline(always)]
    fn are_inverse(&self) -> bool {
        matches!(self.transform, Fourier::Inverse | Fourier::RealInverse)
    }
}

/// Reads some lines from `start` on: those of real numbers in pairs; those to be transformed back
/// with their parts exchanged, but for halves of transforms of pairs.
struct Load<'a, S, const L: usize> {
    lines: &'a Lines<'a, S>,
    start: usize,
    lanes: usize,
    x: &'a mut [Lanes<[f64; L]>],
}

impl<S: Sample, const L: usize> Kernel for Load<'_, S, L> {
    #[inline(always)]
    fn run(self) {
        if self.lines.are_inverse() && self.lines.pairs.is_none() {
            self.load::<1>();
        } else {
            self.load::<0>();
        }
    }
}

impl<S: Sample, const L: usize> Load<'_, S, L> {
    /// Puts the real parts of elements first, or second if `RE` is 1.
    #[inline(always)]
    fn load<const RE: usize>(self) {
        let Load { lines, start, lanes, x } = self;
        let [stride, next] = lines.strides;
        let is_real = lines.transform == Fourier::RealForward;
        let is_pairs = is_real && lines.pairs.is_some();
        let count = if is_pairs { lines.length / 2 } else { lines.sizes[0] };
        let from = &lines.from[start..];
        let put = |x: &mut Lanes<[f64; L]>, lane: usize, [re, im]: [f64; 2]| {
            (x[RE][lane], x[1 - RE][lane]) = (re, im);
        };
        if next == 1 {
            for (k, x) in x[..count].iter_mut().enumerate() {
                let at = |k: usize| &from[k * stride..][..lanes];
                if is_pairs {
                    for (lane, (re, im)) in at(2 * k).iter().zip(at(2 * k + 1)).enumerate() {
                        put(x, lane, [re.parts()[0], im.parts()[0]]);
                    }
                } else {
                    for (lane, element) in at(k).iter().enumerate() {
                        put(x, lane, element.parts());
                    }
                }
            }
        } else {
            for lane in 0..lanes {
                let line = &from[lane * next..][..lines.sizes[0]];
                if is_pairs {
                    for (x, [re, im]) in x[..count].iter_mut().zip(line.as_chunks().0) {
                        put(x, lane, [re.parts()[0], im.parts()[0]]);
                    }
                } else {
                    for (x, element) in x[..count].iter_mut().zip(line) {
                        put(x, lane, element.parts());
                    }
                }
            }
        }
        if lines.transform == Fourier::RealInverse && lines.pairs.is_none() {
            // The second half is the first one backwards, conjugated.
            x[0][1 - RE] = [0.0; L];
            for k in count..lines.length {
                x[k] = x[lines.length - k];
                x[k][1 - RE].iter_mut().for_each(|im| *im = -*im);
            }
        }
    }
}

/// Writes transformed lines, the first of which is that at `first`; those that were transformed
/// back with their parts in order, and divided by the length.
struct Store<'a, 'o, S, D, const L: usize> {
    lines: &'a Lines<'a, S>,
    x: &'a mut [Lanes<[f64; L]>],
    first: usize,
    lanes: usize,
    results: &'a mut Results<'o, D>,
}

/// The numbers changed one by one. In loops: maps of arrays are not always inlined.
#[inline(always)]
fn each<const L: usize>(mut x: Lanes<[f64; L]>, change: impl Fn(&mut f64)) -> Lanes<[f64; L]> {
    for part in &mut x {
        for number in part {
            change(number);
        }
    }
    x
}

impl<S: Sample, D: Sample, const L: usize> Kernel for Store<'_, '_, S, D, L> {
    #[inline(always)]
    fn run(self) {
        let (lines, length) = (self.lines, self.lines.length as f64);
        if !lines.are_inverse() {
            self.store(|x| x);
        } else if lines.length.is_power_of_two() {
            // The inverse is exact.
            let factor = 1.0 / length;
            self.store(|[im, re]| each([re, im], |x| *x *= factor));
        } else {
            self.store(|[im, re]| each([re, im], |x| *x /= length));
        }
    }
}

impl<S: Sample, D: Sample, const L: usize> Store<'_, '_, S, D, L> {
    #[inline(always)]
    fn store(self, finish: impl Fn(Lanes<[f64; L]>) -> Lanes<[f64; L]>) {
        let Store { lines, x, first, lanes, results } = self;
        let is_pairs = lines.transform == Fourier::RealInverse && lines.pairs.is_some();
        let x = &x[..if is_pairs { lines.length / 2 } else { lines.sizes[1] }];
        let part = |part: f64| D::from_parts([part, 0.0]);
        match results {
            Results::Rows(rows) => {
                let rows = &mut rows[first..first + lanes];
                for (k, x) in x.iter().enumerate() {
                    let [re, im] = finish(*x);
                    for (row, (re, im)) in rows.iter_mut().zip(re.into_iter().zip(im)) {
                        if is_pairs {
                            (row[2 * k], row[2 * k + 1]) = (part(re), part(im));
                        } else {
                            row[k] = D::from_parts([re, im]);
                        }
                    }
                }
            }
            Results::Columns(columns) if is_pairs => {
                let (pairs, _) = columns.as_chunks_mut();
                for ([even, odd], x) in pairs.iter_mut().zip(x) {
                    let both = even[first..][..lanes].iter_mut().zip(&mut odd[first..][..lanes]);
                    let [re, im] = finish(*x);
                    for ((even, odd), (re, im)) in both.zip(re.into_iter().zip(im)) {
                        (*even, *odd) = (part(re), part(im));
                    }
                }
            }
            Results::Columns(columns) => {
                for (column, x) in columns.iter_mut().zip(x) {
                    let [re, im] = finish(*x);
                    let column = &mut column[first..][..lanes];
                    for (to, (re, im)) in column.iter_mut().zip(re.into_iter().zip(im)) {
                        *to = D::from_parts([re, im]);
                    }
                }
            }
        }
    }
}

/// A plan for lines, and for pairs of twice as many real numbers if asked for.
type Prepared = (Arc<Plan>, Option<Arc<Pairs>>);

/// The length of lines; true if they are pairs of real numbers; and true if they are alone.
type Key = (usize, bool, bool);

/// A plan for lines; the last ones are kept.
fn plan(key: Key) -> Prepared {
    thread_local! {
        static PLANS: RefCell<Vec<(Key, Prepared)>> = const { RefCell::new(Vec::new()) };
    }
    let (length, is_paired, is_alone) = key;
    let new = || {
        let pairs = is_paired.then(|| Arc::new(Pairs::new(2 * length)));
        (Arc::new(Plan::new(length, is_alone)), pairs)
    };
    if length > MAX_PLANNED {
        return new();
    }
    PLANS.with_borrow_mut(|plans| {
        let (_, prepared) = match plans.iter().position(|(other, _)| *other == key) {
            Some(at) => plans.remove(at),
            None => (key, new()),
        };
        plans.truncate(MAX_PLANS - 1);
        // The last one used is the first.
        plans.insert(0, (key, prepared.clone()));
        let mut planned = 0;
        plans.retain(|((length, ..), _)| {
            planned += length;
            planned <= MAX_PLANNED
        });
        prepared
    })
}
