//! The largest or smallest of many elements. They are compared as integers of the same order, which
//! takes fewer instructions, and has vectors of narrow ones.

use super::parallel::{fold_work, task_size};
use super::short_rows::{largest_from_each, transposed_rows};
use super::sums::{BLOCK, copy_strided};
use numerics::budget::Scratch;
use numerics::math::BinaryOp;
use numerics::simd::{Isa, Kernel, transpose};
use numerics::{DType, Element, TensorError};
use std::ops::BitXor;

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
    use DType::{BF16, F16, F32, F64, I1, I8, I16, I32, I64, U8, U16, U32, U64};
    let Some(is_largest) = is_largest(op, dtype) else { return Ok(false) };
    // Long lines of wide floats take fewer instructions as floats.
    let count = input.len() / out.len().max(1);
    if matches!(dtype, F32 | F64) && (inner > 1 || count >= SHORT_ROW) {
        return Ok(false);
    }
    // Complements are in the reverse order, and positive floats in the order of their bits.
    let sign = match dtype {
        U8 | U16 | U32 | U64 => 1_i64.rotate_right(1) >> (64 - dtype.bits()),
        _ => 0,
    };
    let flipped = if is_largest { sign } else { !sign };
    let operands = [input, init];
    match dtype {
        I1 | I8 | U8 => run::<i8, 128, false>(operands, inner, flipped as i8, [0; 2], out),
        I16 | U16 => run::<i16, 128, false>(operands, inner, flipped as i16, [0; 2], out),
        I32 | U32 => run::<i32, 64, false>(operands, inner, flipped as i32, [0; 2], out),
        I64 | U64 => run::<i64, 32, false>(operands, inner, flipped, [0; 2], out),
        BF16 | F16 => {
            let flipped = if is_largest { 0 } else { i16::MIN };
            let special = if dtype == BF16 { [0x7F80, 0x7FC0] } else { [0x7C00, 0x7E00] };
            run::<i16, 128, true>(operands, inner, flipped, special, out)
        }
        F32 => {
            let flipped = if is_largest { 0 } else { i32::MIN };
            run::<i32, 64, true>(operands, inner, flipped, [0x7F80_0000, 0x7FC0_0000], out)
        }
        F64 => {
            let flipped = if is_largest { 0 } else { i64::MIN };
            let special = [0x7FF0_0000_0000_0000, 0x7FF8_0000_0000_0000];
            run::<i64, 32, true>(operands, inner, flipped, special, out)
        }
        _ => return Ok(false),
    }?;
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

/// Integers that are compared.
trait OrderedBits: Element + Ord + BitXor<Output = Self> {
    /// The bits of a float as an integer in the order of floats and back, as long as it is none of
    /// the NaNs.
    fn turned(self) -> Self;

    /// The complement.
    fn complement(self) -> Self;

    /// The largest integer.
    const LARGEST: Self;
}

macro_rules! keys {
    ($($ty:ident)*) => {$(
        impl OrderedBits for $ty {
            #[inline(always)]
            fn turned(self) -> $ty {
                self ^ ((self >> ($ty::BITS - 1)) & $ty::MAX)
            }
            #[inline(always)]
            fn complement(self) -> $ty {
                !self
            }
            const LARGEST: $ty = $ty::MAX;
        }
    )*};
}
keys!(i8 i16 i32 i64);

fn run<K: OrderedBits, const LANES: usize, const FLOATS: bool>(
    [input, init]: [&[u8]; 2],
    inner: usize,
    flipped: K,
    [infinity, nan]: [K; 2],
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
    let order = KeyOrder::<K, FLOATS> { flipped, infinity, nan };
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

/// The order in which the largest element is looked for.
#[derive(Clone, Copy)]
struct KeyOrder<K, const FLOATS: bool> {
    /// The bits in which an element differs from the integer of this order.
    flipped: K,
    /// The bits of infinity.
    infinity: K,
    /// The bits of the NaN that is a result.
    nan: K,
}

impl<K: OrderedBits, const FLOATS: bool> KeyOrder<K, FLOATS> {
    /// The integer of an element; of every NaN, one above all numbers.
    #[inline(always)]
    fn key(self, element: K) -> K {
        let bits = element ^ self.flipped;
        if !FLOATS {
            return bits;
        }
        // Negative NaNs are below infinity.
        let key = bits.turned();
        if key < self.infinity.complement() { K::LARGEST } else { key }
    }

    /// The element of an integer.
    #[inline(always)]
    fn element(self, key: K) -> K {
        if FLOATS && key > self.infinity {
            return self.nan;
        }
        let bits = if FLOATS { key.turned() } else { key };
        bits ^ self.flipped
    }
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

impl<K: OrderedBits, const LANES: usize, const FLOATS: bool> Kernel
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
}

/// Combines integers with elements.
#[inline(always)]
fn merge<K: OrderedBits, const FLOATS: bool>(
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
fn short_rows<K: OrderedBits, const FLOATS: bool>(
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
