//! The largest or smallest of many elements. They are compared as integers of the same order, which
//! takes fewer instructions, and has vectors of narrow ones.

use super::key_order::{KeyBits, KeyOrder, with_key_order};
use super::parallel::{fold_work, task_size};
use super::short_rows::{largest_from_each, transposed_rows};
use super::sums::{BLOCK, copy_strided};
use numerics::budget::Scratch;
use numerics::math::BinaryOp;
use numerics::simd::{Isa, Kernel, transpose};
use numerics::{DType, TensorError};

/// Rows of fewer neighbours are compared side by side.
const SHORT_ROW: usize = 64;
/// Columns that are compared at a time: their results stay in the first-level cache.
const COLUMNS: usize = 2048;

/// Writes the extremum of each result's elements, which are `inner` apart, and of the initial
/// value, to `out`, which has an element for each result. False, and nothing is written, for other
/// operations and types.
///
/// # Errors
/// If there is no memory for threads, or sizes do not fit.
pub(super) fn combine(
    op: BinaryOp,
    dtype: DType,
    [input, init]: [&[u8]; 2],
    inner: usize,
    out: &mut [u8],
) -> Result<bool, TensorError> {
    let Some(is_largest) = is_largest(op, dtype) else { return Ok(false) };
    // Long lines of wide floats take fewer instructions as floats.
    let count = input.len() / out.len().max(1);
    if matches!(dtype, DType::F32 | DType::F64) && (inner > 1 || count >= SHORT_ROW) {
        return Ok(false);
    }
    with_key_order!(dtype, is_largest, (order, K, FLOATS) => {
        const LANES: usize = if size_of::<K>() < 4 { 128 } else { 256 / size_of::<K>() };
        run::<K, LANES, FLOATS>([input, init], inner, order, out)?;
    }, else return Ok(false));
    Ok(true)
}

/// True if [`combine`] computes an operation on elements of a type.
pub(super) fn is_computed(op: BinaryOp, dtype: DType) -> bool {
    is_largest(op, dtype).is_some()
}

/// True for the largest element, false for the smallest one, and `None` for operations that
/// [`combine`] does not compute.
fn is_largest(op: BinaryOp, dtype: DType) -> Option<bool> {
    use DType::{BF16, F16, F32, F64, I1, I8, I16, I32, I64, U8, U16, U32, U64};
    let is_integer = matches!(dtype, I1 | I8 | U8 | I16 | U16 | I32 | U32 | I64 | U64);
    if !is_integer && !matches!(dtype, BF16 | F16 | F32 | F64) {
        return None;
    }
    match (op, dtype) {
        (BinaryOp::Maximum, _) | (BinaryOp::Or | BinaryOp::Add, I1) => Some(true),
        (BinaryOp::Minimum, _) | (BinaryOp::And | BinaryOp::Multiply, I1) => Some(false),
        _ => None,
    }
}

fn run<K: KeyBits, const LANES: usize, const FLOATS: bool>(
    [input, init]: [&[u8]; 2],
    inner: usize,
    order: KeyOrder<K, FLOATS>,
    out: &mut [u8],
) -> Result<(), TensorError> {
    let misaligned = |_| TensorError::OutOfBounds;
    let elements = bytemuck::try_cast_slice::<u8, K>(input).map_err(misaligned)?;
    let &[init] = bytemuck::try_cast_slice::<u8, K>(init).map_err(misaligned)? else {
        return Err(TensorError::OutOfBounds);
    };
    let out = bytemuck::try_cast_slice_mut::<u8, K>(out).map_err(misaligned)?;
    if out.is_empty() {
        return Ok(());
    }
    let count = elements.len() / out.len();
    if inner == 0 || !out.len().is_multiple_of(inner) || elements.len() != out.len() * count {
        return Err(TensorError::OutOfBounds);
    }
    let extrema = |elements: &[K], out: &mut [K]| {
        let count = elements.len() / out.len();
        let init = order.key(init);
        let size = transposed_rows::<K>(count, out.len());
        let Some(size) = size.filter(|_| inner == 1 && count < SHORT_ROW) else {
            let extrema =
                LargestKeys::<K, LANES, FLOATS> { elements, count, inner, order, init, out };
            return Isa::best().run(extrema);
        };
        let mut columns = vec![K::ZERO; size * count];
        for (out, rows) in out.chunks_mut(size).zip(elements.chunks(size * count)) {
            let inner = out.len();
            let elements = &mut columns[..rows.len()];
            transpose((rows, count), (elements, inner), [inner, count]);
            Isa::best().run(LargestKeys::<K, LANES, FLOATS> {
                elements,
                count,
                inner,
                order,
                init,
                out,
            });
        }
    };
    if out.len() > inner {
        let groups = task_size(out.len() / inner, fold_work::<K>(count * inner), 1);
        let tasks = out.chunks_mut(groups * inner).zip(elements.chunks(groups * inner * count));
        return host::parallel(tasks.collect(), |(out, elements): (&mut [K], &[K])| {
            extrema(elements, out);
            Ok(())
        });
    }
    let part = task_size(count, fold_work::<K>(inner), 1);
    if part >= count {
        extrema(elements, out);
        return Ok(());
    }
    let mut extrema_of_parts = Scratch::filled(count.div_ceil(part) * inner, init)?;
    let tasks = extrema_of_parts.chunks_mut(inner).zip(elements.chunks(part * inner));
    host::parallel(tasks.collect(), |(out, elements): (&mut [K], &[K])| {
        extrema(elements, out);
        Ok::<(), TensorError>(())
    })?;
    extrema(&extrema_of_parts, out);
    Ok(())
}

struct LargestKeys<'a, K, const LANES: usize, const FLOATS: bool> {
    elements: &'a [K],
    /// The number of elements of each result.
    count: usize,
    inner: usize,
    order: KeyOrder<K, FLOATS>,
    /// The integer of the initial value.
    init: K,
    out: &'a mut [K],
}

impl<K: KeyBits, const LANES: usize, const FLOATS: bool> Kernel
    for LargestKeys<'_, K, LANES, FLOATS>
{
    #[inline(always)]
    fn run(self) {
        let LargestKeys { elements, count, inner, order, init, out } = self;
        if inner == 1 && count < SHORT_ROW {
            let rows = BLOCK / count.max(1);
            for (out, elements) in out.chunks_mut(rows).zip(elements.chunks(rows * count)) {
                short_rows(elements, count, order, out);
            }
        } else if inner < LANES {
            // Several rows of columns are one.
            let together = (LANES / inner).min(count);
            for (out, elements) in out.chunks_mut(inner).zip(elements.chunks(count * inner)) {
                let mut lanes = [init; LANES];
                if together * inner == LANES {
                    let (chunks, rest) = elements.as_chunks::<LANES>();
                    for chunk in chunks {
                        for (lane, &x) in lanes.iter_mut().zip(chunk) {
                            *lane = order.key(x).max(*lane);
                        }
                    }
                    merge(&mut lanes, rest, order);
                } else {
                    for row in elements.chunks(together * inner) {
                        merge(&mut lanes, row, order);
                    }
                }
                let mut rows = together;
                while rows > 1 {
                    let half = rows / 2;
                    let (kept, others) = lanes.split_at_mut((rows - half) * inner);
                    for (lane, &x) in kept.iter_mut().zip(&others[..half * inner]) {
                        *lane = x.max(*lane);
                    }
                    rows -= half;
                }
                out.copy_from_slice(&lanes[..inner]);
            }
        } else {
            out.fill(init);
            for (out, elements) in out.chunks_mut(inner).zip(elements.chunks(count * inner)) {
                for (number, out) in out.chunks_mut(COLUMNS).enumerate() {
                    for row in elements.chunks(inner) {
                        merge(out, &row[number * COLUMNS..][..out.len()], order);
                    }
                }
            }
        }
        for key in out {
            *key = order.element(init.max(*key));
        }
    }

    /// One result at a time.
    fn run_shared(self) {
        let LargestKeys { elements, count, inner, order, init, out } = self;
        for (number, out) in out.iter_mut().enumerate() {
            let first = number / inner * count * inner + number % inner;
            let own = elements.iter().skip(first).step_by(inner).take(count);
            *out = order.element(own.fold(init, |largest, &x| order.key(x).max(largest)));
        }
    }
}

/// Combines integers with elements.
#[inline(always)]
fn merge<K: KeyBits, const FLOATS: bool>(
    keys: &mut [K],
    elements: &[K],
    order: KeyOrder<K, FLOATS>,
) {
    for (key, &x) in keys.iter_mut().zip(elements) {
        *key = order.key(x).max(*key);
    }
}

/// Writes the largest integer of each of some rows, which have at most [`BLOCK`] elements.
#[inline(always)]
fn short_rows<K: KeyBits, const FLOATS: bool>(
    elements: &[K],
    count: usize,
    order: KeyOrder<K, FLOATS>,
    out: &mut [K],
) {
    let mut rooms = [[K::ZERO; BLOCK]; 2];
    let [from, to] = rooms.each_mut().map(|room| &mut room[..elements.len()]);
    for (key, &x) in from.iter_mut().zip(elements) {
        *key = order.key(x);
    }
    copy_strided(largest_from_each([from, to], count), count, out);
}
