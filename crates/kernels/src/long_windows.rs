//! Long windows that share most of their elements, as those of cumulative sums.
//!
//! Subtrees of a power of two of elements, one from each element on, are combinations of two
//! subtrees of half the size. A window has the subtrees that the binary digits of its size name. So
//! the work for a window grows with the number of these digits.

use super::parallel::task_size;
use super::reduce::SHORT_WINDOW;
use super::sums::{Combine, copy_strided};
use numerics::budget::Scratch;
use numerics::{Element, TensorError};
use std::ops::Range;

/// Elements at a time that are copied, and stay in the cache.
const COPIED: usize = 1024;
/// Subtrees that are at least this far apart are combined where they are.
const FAR: usize = 64;
/// Neighbouring windows of a line are moved together, at least as many as a cache line has.
const MIN_COLUMNS: usize = 16;

/// The distance between the elements of windows, if it takes less to combine neighbours, then
/// neighbours of these, and so on, for all windows at once.
pub(super) fn doubling_step(elements: usize, rows: usize, taps: &[usize]) -> Option<usize> {
    let &[first, second, ..] = taps else { return None };
    let step = second.checked_sub(first)?;
    let is_progression = taps.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(step));
    let levels = taps.len().ilog2() as usize + 1;
    let takes_less = 4 * elements * levels < rows.saturating_mul(taps.len());
    (is_progression && first == 0 && takes_less && taps.len() > SHORT_WINDOW).then_some(step)
}

/// Combines an initial value with the `count` elements of each window, which are `step` apart, in a
/// tree over neighbours: the windows share their subtrees.
///
/// # Errors
/// If there is no memory for the subtrees.
pub fn combine_windows<T: Element>(
    operation: &dyn Combine<T>,
    (elements, init): (&[T], T),
    (line_starts, stride, count): (&[usize], usize, usize),
    step: usize,
    out: &mut [T],
) -> Result<(), TensorError> {
    let line = out.len() / line_starts.len();
    let work = count.ilog2() as usize + count.count_ones() as usize;
    if let Some((lines, down)) = lines_in_columns(line_starts, line * stride, step) {
        // Windows below each other share elements, and none with their neighbours.
        let rows = (lines - 1) * down + count;
        let near = host::machine().l2.bytes / 4 / size_of::<T>() / (rows * stride);
        let width = near.max(MIN_COLUMNS).min(task_size(line, rows * work, MIN_COLUMNS));
        let mut tasks = Vec::new();
        for (starts, out) in line_starts.chunks(lines).zip(out.chunks_mut(lines * line)) {
            let mut parts: Vec<_> =
                out.chunks_mut(line).map(|line| line.chunks_mut(width)).collect();
            for column in (0..line).step_by(width) {
                let out: Vec<&mut [T]> = parts.iter_mut().filter_map(Iterator::next).collect();
                tasks.push((starts[0] + column * stride, out));
            }
        }
        return host::parallel(tasks, |(start, mut out): (usize, Vec<&mut [T]>)| {
            let width = out.first().map_or(0, |line| (line.len() - 1) * stride + 1);
            let mut subtrees = Scratch::new(rows * width)?;
            for row in 0..rows {
                subtrees.extend_from_slice(&elements[start + row * step..][..width]);
            }
            let starts = (0..lines).map(|line| line * down * width);
            combine_lines(
                operation,
                (&mut subtrees, init),
                starts,
                (stride, count, width),
                &mut out,
            )
        });
    }
    let span = (line - 1) * stride + (count - 1) * step + 1;
    // Lines that share elements are combined together.
    let lines = match line_starts.len() {
        all if all * span > 2 * elements.len() => all,
        all => task_size(all, span * work, 1),
    };
    let tasks = line_starts.chunks(lines).zip(out.chunks_mut(lines * line));
    host::parallel(tasks.collect(), |(starts, out): (&[usize], &mut [T])| {
        if lines == line_starts.len() && lines > 1 {
            let mut subtrees = Scratch::new(elements.len())?;
            subtrees.extend_from_slice(elements);
            let mut out: Vec<&mut [T]> = out.chunks_mut(line).collect();
            let starts = starts.iter().copied();
            let sizes = (stride, count, step);
            return combine_lines(operation, (&mut subtrees, init), starts, sizes, &mut out);
        }
        let mut subtrees = Scratch::new(span)?;
        for (&start, out) in starts.iter().zip(out.chunks_mut(line)) {
            subtrees.clear();
            subtrees.extend_from_slice(&elements[start..][..span]);
            let (starts, sizes) = (std::iter::once(0), (stride, count, step));
            combine_lines(operation, (&mut subtrees, init), starts, sizes, &mut [out])?;
        }
        Ok(())
    })
}

/// The number of lines that are below each other, and the number of steps from one to the next, if
/// the windows of a line, over `width` elements, are between two elements of a window.
fn lines_in_columns(starts: &[usize], width: usize, step: usize) -> Option<(usize, usize)> {
    let &[first, second, ..] = starts else { return None };
    let distance = second.checked_sub(first).filter(|distance| distance.is_multiple_of(step))?;
    let is_next = |pair: &[usize]| pair[1].checked_sub(pair[0]) == Some(distance);
    let lines = starts.windows(2).take_while(|pair| is_next(pair)).count() + 1;
    let is_whole = starts.len().is_multiple_of(lines)
        && starts.chunks(lines).all(|starts| starts.windows(2).all(is_next));
    (distance > 0 && width <= step && is_whole).then_some((lines, distance / step))
}

/// Writes the results of lines of windows to slices of `out`, given the elements, which become
/// subtrees, where lines begin, and the distance between windows, the number of elements of
/// each and the distance between these.
fn combine_lines<T: Element>(
    operation: &dyn Combine<T>,
    (subtrees, init): (&mut [T], T),
    line_starts: impl Iterator<Item = usize> + Clone,
    (stride, count, step): (usize, usize, usize),
    out: &mut [&mut [T]],
) -> Result<(), TensorError> {
    let mut len = subtrees.len();
    let mut copies: Scratch<T> = Scratch::filled(COPIED, T::ZERO)?;
    // The subtrees of a window from the last and smallest one on.
    let mut end = count;
    for level in 0..=count.ilog2() {
        let leaves = 1 << level;
        if level > 0 {
            let distance = leaves / 2 * step;
            len -= distance;
            double(operation, subtrees, 0..len, distance, &mut copies);
        }
        if count & leaves == 0 {
            continue;
        }
        let is_last = end == count;
        end -= leaves;
        for (out, start) in out.iter_mut().zip(line_starts.clone()) {
            let subtrees = &subtrees[start + end * step..];
            for (nth, out) in out.chunks_mut(COPIED).enumerate() {
                let left = &mut copies[..out.len()];
                copy_strided(&subtrees[nth * COPIED * stride..], stride, left);
                if !is_last {
                    operation.merge(left, out);
                }
                out.copy_from_slice(left);
            }
        }
    }
    for out in out.iter_mut().flat_map(|out| out.chunks_mut(COPIED)) {
        let left = &mut copies[..out.len()];
        left.fill(init);
        operation.merge(left, out);
        out.copy_from_slice(left);
    }
    Ok(())
}

/// Combines the subtree at each place with the one at a `distance` after it.
fn double<T: Element>(
    operation: &dyn Combine<T>,
    subtrees: &mut [T],
    places: Range<usize>,
    distance: usize,
    copies: &mut [T],
) {
    let together = if distance < FAR { COPIED } else { COPIED.min(distance) };
    for start in places.clone().step_by(together) {
        let count = (places.end - start).min(together);
        if distance < FAR {
            let rights = &mut copies[..count];
            rights.copy_from_slice(&subtrees[start + distance..][..count]);
            operation.merge(&mut subtrees[start..start + count], rights);
        } else {
            let (lefts, rights) = subtrees.split_at_mut(start + distance);
            operation.merge(&mut lefts[start..start + count], &rights[..count]);
        }
    }
}
