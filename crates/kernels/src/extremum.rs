//! The largest or smallest element of each row with its index: `argmax` and `argmin` as exporters
//! write them, a `reduce` of elements and indices.

use super::parallel::task_size;
use numerics::budget::Scratch;
use numerics::math::Direction;
use numerics::simd::{Isa, Kernel};
use numerics::{DType, Element, Integer, Tensor, TensorError};
use program::Extremum;
use std::sync::atomic::{AtomicBool, Ordering};

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
            Extremum::Maximum => Isa::best().run(ExtremumRows {
                elements: (values, indices),
                count,
                init,
                outs,
                precedes: |x: T, y: T| x > y,
            }),
            Extremum::Minimum => Isa::best().run(ExtremumRows {
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

/// Returns the element of each row of `count` elements that is in a relation to all others, with
/// its index, combined with the initial ones; of equal elements the first one, or the last one if the
/// relation is not that of equal ones. `None` for other types and relations, or if there are NaNs,
/// with which the order of the body matters.
///
/// # Errors
/// If there is no memory for the results.
pub fn choose_rows(
    relation: Direction,
    [values, indices]: [&Tensor; 2],
    init: [&Tensor; 2],
    count: usize,
) -> Result<Option<[Tensor; 2]>, TensorError> {
    macro_rules! dispatch {
        ($(($dtype:ident $T:ty))*) => {
            match (values.dtype(), relation) {
                $((DType::$dtype, Direction::Ge | Direction::Gt) => {
                    let precedes = |x: $T, y: $T| x > y;
                    choose(relation, [values, indices], init, count, precedes)
                }
                (DType::$dtype, Direction::Le | Direction::Lt) => {
                    let precedes = |x: $T, y: $T| x < y;
                    choose(relation, [values, indices], init, count, precedes)
                })*
                _ => Ok(None),
            }
        };
    }
    dispatch! { (F32 f32) (F64 f64) (I32 i32) (I64 i64) }
}

fn choose<T: Element + PartialOrd>(
    relation: Direction,
    [values, indices]: [&Tensor; 2],
    init: [&Tensor; 2],
    count: usize,
    precedes: impl Fn(T, T) -> bool + Copy + Sync,
) -> Result<Option<[Tensor; 2]>, TensorError> {
    let (elements, first) = (values.as_slice::<T>()?, init[0].item::<T>()?);
    let is_first = matches!(relation, Direction::Ge | Direction::Le);
    if count == 0 || is_nan(first) {
        return Ok(None);
    }
    let rows = elements.len() / count;
    let mut places = Scratch::filled(rows, 0)?;
    let has_nans = AtomicBool::new(false);
    let size = task_size(rows, count, 1);
    let tasks = places.chunks_mut(size).zip(elements.chunks(size * count)).enumerate();
    host::parallel(
        tasks.collect(),
        |(task, (places, elements)): (usize, (&mut [usize], &[T]))| {
            let start = task * size * count;
            let has_nans = &has_nans;
            let chosen =
                ChosenRows { elements, count, start, is_first, precedes, places, has_nans };
            Isa::best().run(chosen);
            Ok::<(), TensorError>(())
        },
    )?;
    if has_nans.into_inner() {
        return Ok(None);
    }
    let stays = |&&at: &&usize| match elements[at] {
        x if is_first => !precedes(x, first),
        x => precedes(first, x),
    };
    let initial: Vec<usize> = (0..rows).filter(|&row| stays(&&places[row])).collect();
    let chosen = |from: &Tensor, init: &Tensor| -> Result<Tensor, TensorError> {
        let mut result = from.take(&places)?;
        result.put(&initial, &init.broadcast_scalar([initial.len()])?)?;
        Ok(result)
    };
    Ok(Some([chosen(values, init[0])?, chosen(indices, init[1])?]))
}

/// The places of the chosen elements of rows, which are not empty.
struct ChosenRows<'a, T, F> {
    elements: &'a [T],
    count: usize,
    /// The place of the first element.
    start: usize,
    /// True for the first one of equal elements, else the last one.
    is_first: bool,
    precedes: F,
    places: &'a mut [usize],
    /// Set if an element is a NaN.
    has_nans: &'a AtomicBool,
}

impl<T: Element + PartialOrd, F: Fn(T, T) -> bool> Kernel for ChosenRows<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let ChosenRows { elements, count, start, is_first, precedes, places, has_nans } = self;
        for (row, (place, values)) in
            places.iter_mut().zip(elements.chunks_exact(count)).enumerate()
        {
            let (best, is_ordered) = best_of(values, &precedes);
            if !is_ordered {
                return has_nans.store(true, Ordering::Relaxed);
            }
            let at = match is_first {
                true => values.iter().position(|&x| x == best),
                false => values.iter().rposition(|&x| x == best),
            };
            *place = start + row * count + at.unwrap_or(0);
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<T: Element + PartialOrd>(kernel: ChosenRows<'_, T, &dyn Fn(T, T) -> bool>) {
            kernel.run();
        }
        let ChosenRows { elements, count, start, is_first, precedes, places, has_nans } = self;
        let precedes: &dyn Fn(T, T) -> bool = &precedes;
        run(ChosenRows { elements, count, start, is_first, precedes, places, has_nans });
    }
}

/// An element of a row, which is not empty, that no other one precedes, and true if there are no
/// NaNs.
#[inline(always)]
fn best_of<T: Element + PartialOrd>(values: &[T], precedes: &impl Fn(T, T) -> bool) -> (T, bool) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let first = values[0];
    let (mut lanes, mut nans) = ([first; LANES], [false; LANES]);
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
    (best, !(nans.contains(&true) || rest.iter().any(|&x| is_nan(x))))
}

struct ExtremumRows<'a, T, I, F> {
    elements: (&'a [T], &'a [I]),
    count: usize,
    init: (T, I),
    outs: (&'a mut [T], &'a mut [I]),
    precedes: F,
}

impl<T: Element + PartialOrd, I: Integer + Ord, F: Fn(T, T) -> bool> Kernel
    for ExtremumRows<'_, T, I, F>
{
    #[inline(always)]
    fn run(self) {
        let ExtremumRows { elements: (values, indices), count, init, outs, precedes } = self;
        let rows = values.chunks_exact(count).zip(indices.chunks_exact(count));
        for ((best, place), (values, indices)) in outs.0.iter_mut().zip(outs.1).zip(rows) {
            let found = row(values, indices, &precedes);
            (*best, *place) = combine(init, found, &precedes);
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<T: Element + PartialOrd, I: Integer + Ord>(
            kernel: ExtremumRows<'_, T, I, &dyn Fn(T, T) -> bool>,
        ) {
            kernel.run();
        }
        let ExtremumRows { elements, count, init, outs, precedes } = self;
        run(ExtremumRows { elements, count, init, outs, precedes: &precedes });
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
    let (mut best, is_ordered) = best_of(values, precedes);
    if !is_ordered {
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
