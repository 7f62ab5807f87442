//! Long windows that share most of their elements, such as the windows of cumulative sums.
//!
//! Subtrees of a power of two of elements, one from each element on, are combinations of two
//! subtrees of half the size. A window has the subtrees that the binary digits of its size name. So
//! the work for a window grows with the number of these digits.

use super::parallel::task_size;
use super::reduce::SHORT_WINDOW;
use super::sums::{Combine, copy_strided};
use numerics::budget::Scratch;
use numerics::{Element, TensorError};

/// Subtrees that are at least this far apart are combined without copies.
const FAR: usize = 64;
/// Windows of a line that are combined at a time.
const TOGETHER: usize = 1024;
/// The minimum number of windows in a part of a line: the elements of a line of the cache.
const MIN_COLUMNS: usize = 16;
/// The same if lines of windows are adjacent: calls for short lines take longer
/// than their elements.
const MIN_TOGETHER: usize = 128;

/// The distance between the elements of windows, if it takes less to combine neighbours, then
/// neighbours of these, and so on, for all windows together.
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
        let least = if stride == 1 && down == 1 { MIN_TOGETHER } else { MIN_COLUMNS };
        let width = near.max(least).min(task_size(line, rows * work, least));
        if width >= line && stride == 1 && down == 1 {
            // Adjacent lines are one.
            let tasks = line_starts.chunks(lines).zip(out.chunks_mut(lines * line)).collect();
            return host::parallel(tasks, |(starts, out): (&[usize], &mut [T])| {
                let rows = (0..rows).map(|row| &elements[starts[0] + row * step..][..line]);
                let mut room = Subtrees::new(rows.len() * line, out.len())?;
                let first = std::iter::once(0);
                room.combine(operation, (rows, init), first, (1, count, line), &mut [out]);
                Ok(())
            });
        }
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
            let rows = (0..rows).map(|row| &elements[start + row * step..][..width]);
            let mut room = Subtrees::new(rows.len() * width, lines * width)?;
            let starts = (0..lines).map(|line| line * down * width);
            room.combine(operation, (rows, init), starts, (stride, count, width), &mut out);
            Ok(())
        });
    }
    let span = (line - 1) * stride + (count - 1) * step + 1;
    let sizes = (stride, count, step);
    if line_starts.len() > 1 && line_starts.len() * span > 2 * elements.len() {
        // Lines that share elements.
        let (mut out, starts): (Vec<_>, _) = (out.chunks_mut(line).collect(), line_starts.iter());
        let all = std::iter::once(elements);
        let mut room = Subtrees::new(elements.len(), line_starts.len() * line)?;
        room.combine(operation, (all, init), starts.copied(), sizes, &mut out);
        return Ok(());
    }
    let lines = task_size(line_starts.len(), span * work, 1);
    let tasks = line_starts.chunks(lines).zip(out.chunks_mut(lines * line));
    host::parallel(tasks.collect(), |(starts, out): (&[usize], &mut [T])| {
        let mut room = Subtrees::new(span, line)?;
        for (&start, out) in starts.iter().zip(out.chunks_mut(line)) {
            let all = std::iter::once(&elements[start..][..span]);
            room.combine(operation, (all, init), std::iter::once(0), sizes, &mut [out]);
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

/// Memory for subtrees and for results.
struct Subtrees<T> {
    /// The subtrees of a size.
    subtrees: Scratch<T>,
    /// Those of twice that size; none if they do not fit in a cache beside the others, which they
    /// replace then.
    next: Scratch<T>,
    /// The results for some of the subtrees of each window, before or after the next one.
    results: Scratch<T>,
    /// Some elements that are not neighbours elsewhere.
    neighbours: Scratch<T>,
}

impl<T: Element> Subtrees<T> {
    /// Memory for this many elements, and this many windows.
    fn new(len: usize, windows: usize) -> Result<Subtrees<T>, TensorError> {
        let room = |len: usize| Scratch::filled(len, T::ZERO);
        let is_near = 4 * len * size_of::<T>() <= host::machine().l2.bytes;
        Ok(Subtrees {
            subtrees: room(len)?,
            next: room(if is_near { len } else { 0 })?,
            results: room(windows)?,
            neighbours: room(TOGETHER)?,
        })
    }

    /// Writes the results of lines of windows to slices of `out`, given all elements, where lines
    /// begin among them, and the distance between windows, the number of elements of each and the
    /// distance between these.
    fn combine<'a>(
        &mut self,
        operation: &dyn Combine<T>,
        (parts, init): (impl Iterator<Item = &'a [T]>, T),
        line_starts: impl Iterator<Item = usize> + Clone,
        (stride, count, step): (usize, usize, usize),
        out: &mut [&mut [T]],
    ) {
        let Subtrees { subtrees, next, results, neighbours } = self;
        let (mut current, mut next) = (&mut subtrees[..], &mut next[..]);
        let mut len = 0;
        for part in parts {
            current[len..][..part.len()].copy_from_slice(part);
            len += part.len();
        }
        let line = out.first().map_or(0, |line| line.len());
        // The subtrees of a window from the last and smallest one on.
        let mut end = count;
        for level in 0..=count.ilog2() {
            let leaves = 1 << level;
            if level > 0 {
                let distance = leaves / 2 * step;
                len -= distance;
                if next.is_empty() {
                    double(operation, &mut current[..len + distance], distance, neighbours);
                } else {
                    operation.merge_into(current, &current[distance..], &mut next[..len]);
                    std::mem::swap(&mut current, &mut next);
                }
            }
            if count & leaves == 0 {
                continue;
            }
            let is_last = end == count;
            end -= leaves;
            // Before the last one, results are not in `out`.
            let is_out = (end.count_ones() % 2) == 1;
            let lines = out.iter_mut().zip(results.chunks_mut(line.max(1)));
            for ((out, results), start) in lines.zip(line_starts.clone()) {
                let (to, from) = if is_out { (&mut **out, results) } else { (results, &mut **out) };
                let subtrees = &current[start + end * step..];
                for first in (0..line).step_by(TOGETHER) {
                    let place = first..line.min(first + TOGETHER);
                    let subtrees = match stride {
                        1 => &subtrees[place.clone()],
                        _ => {
                            let neighbours = &mut neighbours[..place.len()];
                            copy_strided(&subtrees[first * stride..], stride, neighbours);
                            &*neighbours
                        }
                    };
                    match is_last {
                        true => to[place].copy_from_slice(subtrees),
                        false => {
                            operation.merge_into(subtrees, &from[place.clone()], &mut to[place]);
                        }
                    }
                }
            }
        }
        neighbours.fill(init);
        for (out, results) in out.iter_mut().zip(results.chunks(line.max(1))) {
            for (out, results) in out.chunks_mut(TOGETHER).zip(results.chunks(TOGETHER)) {
                operation.merge_into(neighbours, results, out);
            }
        }
    }
}

/// Combines each subtree with the one at a `distance` after it, where it is.
fn double<T: Element>(
    operation: &dyn Combine<T>,
    subtrees: &mut [T],
    distance: usize,
    copies: &mut [T],
) {
    let len = subtrees.len() - distance;
    let together = if distance < FAR { copies.len() } else { copies.len().min(distance) };
    for start in (0..len).step_by(together) {
        let count = (len - start).min(together);
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
