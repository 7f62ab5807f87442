//! Reductions of many elements that are converted to be combined: some at a time, which stay in the
//! cache.

use super::converted::{convert_into, converted};
use super::parallel::task_size;
use super::reduce::{Layout, combine_converted, combine_widened};
use numerics::math::{AlignedBytes, BinaryOp};
use numerics::{DType, TensorError};

/// Elements that are converted at a time.
const PART: usize = 1 << 13;

/// True if reductions by an operation, with `inner` elements between two of one result, can be
/// computed in parts for some initial values.
pub(crate) fn may_have_parts(op: BinaryOp, inner: usize) -> bool {
    use BinaryOp::{Add, And, Maximum, Minimum, Or, Xor};
    inner <= PART / 8 && matches!(op, Add | And | Maximum | Minimum | Or | Xor)
}

/// True if it makes no difference that each part is combined with the initial value, too. A sum of
/// zero and the parts is the same also where these are negative zeros, as the whole is added to
/// zero in the end.
fn is_neutral(op: BinaryOp, init: &[u8]) -> bool {
    !matches!(op, BinaryOp::Add | BinaryOp::Xor) || init.iter().all(|&byte| byte == 0)
}

/// Writes the `rows` results of elements of the first type, combined in the second one, if
/// [`may_have_parts`]. False, and nothing is written, if the initial value does not allow it.
///
/// # Errors
/// If types are not convertible, or sizes do not fit.
pub(crate) fn combine_in_parts(
    op: BinaryOp,
    types: [DType; 2],
    [rows, inner]: [usize; 2],
    input: &[u8],
    init: &[u8],
    out: &mut [u8],
) -> Result<bool, TensorError> {
    if !is_neutral(op, init) {
        return Ok(false);
    }
    let (size, layout) = (types[0].bytes(), Layout::Columns(inner));
    let count = input.len() / size / rows;
    let group = count * inner;
    if group <= PART {
        // Whole results, some at a time.
        let together = PART / group * inner;
        let work = task_size(rows, count, together).next_multiple_of(together);
        let tasks = input.chunks(work * count * size).zip(out.chunks_mut(work * size));
        host::parallel(tasks.collect(), |(input, out): (&[u8], &mut [u8])| {
            let parts = input.chunks(together * count * size).zip(out.chunks_mut(together * size));
            for (input, out) in parts {
                combine_converted(op, types, input, init, &layout, out)?;
            }
            Ok::<(), TensorError>(())
        })?;
        return Ok(true);
    }
    // Subtrees of a power of two of elements for each result.
    let wide = types[1].bytes();
    let step = (PART / inner).next_power_of_two() / 2;
    let mut room = AlignedBytes::new();
    let init = converted(init, types, &mut room)?;
    for (input, out) in input.chunks(group * size).zip(out.chunks_mut(inner * size)) {
        let parts = count.div_ceil(step);
        let mut partial = AlignedBytes::new();
        partial.try_resize(parts * inner * wide)?;
        let together = task_size(parts, step * inner, 1);
        let tasks = input
            .chunks(together * step * inner * size)
            .zip(partial.chunks_mut(together * inner * wide));
        host::parallel(tasks.collect(), |(input, partial): (&[u8], &mut [u8])| {
            let parts = input.chunks(step * inner * size).zip(partial.chunks_mut(inner * wide));
            for (input, partial) in parts {
                combine_widened(op, types, input, init, &layout, partial)?;
            }
            Ok::<(), TensorError>(())
        })?;
        let mut results = AlignedBytes::new();
        results.try_resize(inner * wide)?;
        combine_converted(op, [types[1]; 2], &partial, init, &layout, &mut results)?;
        convert_into(&results, [types[1], types[0]], out)?;
    }
    Ok(true)
}
