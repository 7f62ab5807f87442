//! Windows along short rows.

use super::reduce::TOGETHER;
use super::sums::{Combine, WindowLines};
use numerics::Element;
use program::WindowDim;

/// True if each window sees padding before its row, and then the row up to an element: in order,
/// the results are a scan of the row if the padding changes nothing.
fn are_prefixes(row: usize, window: WindowDim) -> bool {
    let WindowDim { size, stride, pad_low, base_dilation, window_dilation, .. } = window;
    let is_dense = (stride, base_dilation, window_dilation) == (1, 1, 1);
    is_dense && pad_low == size - 1 && usize::try_from(size).is_ok_and(|size| size >= row)
}

/// True for numbers of the same bits.
fn is_same<T: Element>(x: T, y: T) -> bool {
    bytemuck::bytes_of(&x) == bytemuck::bytes_of(&y)
}

/// Combines the elements of each window along rows of `row` elements, in order: all elements of
/// many rows, moved by the distance of a tap, at a time.
pub(super) fn combine_row_windows<T: Element>(
    operation: &dyn Combine<T>,
    (elements, init): (&[T], T),
    row: usize,
    window: WindowDim,
    out: &mut [T],
) {
    if are_prefixes(row, window) && is_same(operation.pair(init, init), init) {
        operation.scan_rows(elements, row, init, out);
        return;
    }
    let block = (TOGETHER / row).max(1) * row;
    let mut room = vec![init; block.min(elements.len())];
    for (out, elements) in out.chunks_mut(block).zip(elements.chunks(block)) {
        let len = elements.len();
        for tap in 0..window.size {
            // Beyond the row, windows see the initial value.
            let distance =
                tap.saturating_mul(window.window_dilation).saturating_sub(window.pad_low);
            let beyond = usize::try_from(distance.unsigned_abs()).unwrap_or(row).min(row);
            // As other windows, also in which of two NaNs is the sum.
            let tap = WindowLines { line_starts: &[0], stride: 1, taps: &[0] };
            if beyond == 0 {
                operation.chain(elements, tap, out);
                continue;
            }
            let seen = &mut room[..len];
            let edge = if distance < 0 {
                seen[beyond..].copy_from_slice(&elements[..len - beyond]);
                0..beyond
            } else {
                seen[..len - beyond].copy_from_slice(&elements[beyond..]);
                row - beyond..row
            };
            for place in edge {
                for x in seen[place..].iter_mut().step_by(row) {
                    *x = init;
                }
            }
            operation.chain(seen, tap, out);
        }
    }
}
