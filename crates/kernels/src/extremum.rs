//! The largest or smallest element of each row with its index: `argmax` and `argmin` as exporters
//! write them, a `reduce` of elements and indices.

use super::parallel::task_size;
use numerics::simd::{Isa, Kernel};
use numerics::{DType, Element, Integer, Tensor, TensorError};
use program::Extremum;

/// Elements that are compared at a time.
const LANES: usize = 16;

/// The extremum of each row of `count` elements with its index, combined with the initial ones;
/// `None` for other types of elements. Every order of the body gives these bits: the bits of the
/// first NaN, if any, and otherwise the bits of the last extremum and the least index of one.
pub fn reduce_rows(
    kind: Extremum,
    [values, indices]: [&Tensor; 2],
    init: [&Tensor; 2],
    count: usize,
) -> Result<Option<[Tensor; 2]>, TensorError> {
    macro_rules! dispatch {
        ($(($dtype:ident $T:ty, $index:ident $I:ty))*) => {
            match (values.dtype(), indices.dtype()) {
                $((DType::$dtype, DType::$index) => {
                    typed::<$T, $I>(kind, [values, indices], init, count).map(Some)
                })*
                _ => Ok(None),
            }
        };
    }
    dispatch! { (F32 f32, I32 i32) (F32 f32, I64 i64) (F64 f64, I32 i32) (I32 i32, I32 i32) }
}

fn typed<T: Element + PartialOrd, I: Integer + Ord>(
    kind: Extremum,
    [values, indices]: [&Tensor; 2],
    init: [&Tensor; 2],
    count: usize,
) -> Result<[Tensor; 2], TensorError> {
    let (values, indices) = (values.as_slice::<T>()?, indices.as_slice::<I>()?);
    let init = (init[0].item::<T>()?, init[1].item::<I>()?);
    let rows = values.len() / count.max(1);
    let mut results = [Tensor::zeros(T::DTYPE, [rows])?, Tensor::zeros(I::DTYPE, [rows])?];
    let [best, places] = &mut results;
    let (best, places) = (best.make_mut::<T>()?, places.make_mut::<I>()?);
    let size = task_size(rows, count, 1);
    let outs = best.chunks_mut(size).zip(places.chunks_mut(size));
    let rows = values.chunks(size * count).zip(indices.chunks(size * count));
    host::parallel(outs.zip(rows).collect(), |(outs, (values, indices))| {
        match kind {
            Extremum::Maximum => Isa::best().run(Rows {
                elements: (values, indices),
                count,
                init,
                outs,
                precedes: |x: T, y: T| x > y,
            }),
            Extremum::Minimum => Isa::best().run(Rows {
                elements: (values, indices),
                count,
                init,
                outs,
                precedes: |x: T, y: T| x < y,
            }),
        }
        Ok::<(), TensorError>(())
    })?;
    Ok(results)
}

struct Rows<'a, T, I, F> {
    elements: (&'a [T], &'a [I]),
    count: usize,
    init: (T, I),
    outs: (&'a mut [T], &'a mut [I]),
    precedes: F,
}

impl<T: Element + PartialOrd, I: Integer + Ord, F: Fn(T, T) -> bool> Kernel for Rows<'_, T, I, F> {
    #[inline(always)]
    fn run(self) {
        let Rows { elements: (values, indices), count, init, outs, precedes } = self;
        let rows = values.chunks_exact(count).zip(indices.chunks_exact(count));
        for ((best, place), (values, indices)) in outs.0.iter_mut().zip(outs.1).zip(rows) {
            let found = row(values, indices, &precedes);
            (*best, *place) = combine(init, found, &precedes);
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<T: Element + PartialOrd, I: Integer + Ord>(
            kernel: Rows<'_, T, I, &dyn Fn(T, T) -> bool>,
        ) {
            kernel.run();
        }
        let Rows { elements, count, init, outs, precedes } = self;
        run(Rows { elements, count, init, outs, precedes: &precedes });
    }
}

/// The body, on an accumulator and a value.
#[inline(always)]
pub fn combine<T: Element + PartialOrd, I: Integer + Ord>(
    (p, s): (T, I),
    (q, t): (T, I),
    precedes: &impl Fn(T, T) -> bool,
) -> (T, I) {
    let is_first = precedes(p, q) || is_nan(p);
    let value = if is_first { p } else { q };
    (value, if is_first || (p == q && s < t) { s } else { t })
}

#[inline(always)]
#[allow(clippy::eq_op, reason = "only NaN is not equal to itself")]
fn is_nan<T: PartialOrd>(x: T) -> bool {
    x != x
}

/// The extremum of a row, which is not empty.
#[inline(always)]
fn row<T: Element + PartialOrd, I: Integer + Ord>(
    values: &[T],
    indices: &[I],
    precedes: &impl Fn(T, T) -> bool,
) -> (T, I) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let first = values[0];
    let mut lanes = [first; LANES];
    let mut nans = [false; LANES];
    for chunk in chunks {
        for ((lane, nan), &x) in lanes.iter_mut().zip(&mut nans).zip(chunk) {
            *lane = if precedes(x, *lane) { x } else { *lane };
            *nan |= is_nan(x);
        }
    }
    let mut best = first;
    for &x in lanes.iter().chain(rest) {
        best = if precedes(x, best) { x } else { best };
    }
    if nans.contains(&true) || rest.iter().any(|&x| is_nan(x)) {
        let at = values.iter().position(|&x| is_nan(x)).unwrap_or(0);
        return (values[at], indices[at]);
    }
    // The least index of an element that is equal, and the bits of the last such element.
    let mut least = [I::MAX; LANES];
    let (index_chunks, index_rest) = indices.as_chunks::<LANES>();
    for (chunk, indices) in chunks.iter().zip(index_chunks) {
        for ((lane, &x), &index) in least.iter_mut().zip(chunk).zip(indices) {
            let candidate = if x == best { index } else { I::MAX };
            *lane = if candidate < *lane { candidate } else { *lane };
        }
    }
    let mut place = I::MAX;
    for &lane in &least {
        place = place.min(lane);
    }
    for (&x, &index) in rest.iter().zip(index_rest) {
        place = if x == best { place.min(index) } else { place };
    }
    if best == T::ZERO {
        best = values.iter().rev().copied().find(|&x| x == best).unwrap_or(best);
    }
    (best, place)
}
