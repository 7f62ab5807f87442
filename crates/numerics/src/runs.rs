//! Views read and written piece by piece, whose innermost lines may have a few elements only.

use crate::dispatch::{by_size, dispatch_storage};
use crate::shape::{Axis, StridedView, at, elements, walk_runs};
use crate::simd::{PATTERN, pattern_reach, read_patterns, read_strided, transpose, write_patterns};
use crate::transposes::MIN_SIDE;
use crate::{DType, TensorError};
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use smallvec::{SmallVec, smallvec};

/// Lines of at least this many elements are written some elements at a time.
const LONG_LINE: usize = 256;

/// A view to be read piece by piece, in row-major order of its shape.
#[derive(Clone, Debug)]
pub struct Runs {
    offset: usize,
    axes: Vec<Axis>,
}

impl Runs {
    /// Runs along the dimensions of a checked view, from the position of its first element.
    pub(crate) fn along(offset: usize, axes: Vec<Axis>) -> Runs {
        Runs { offset, axes }
    }

    /// The runs of a view of `len` elements.
    ///
    /// # Errors
    /// If the view reaches outside of them.
    pub fn new(view: &StridedView, len: usize) -> Result<Runs, TensorError> {
        view.check(len)?;
        Ok(Runs { offset: view.offset(), axes: view.axes() })
    }

    /// The distance of neighbours along the innermost dimension; 0 for a single element, repeated.
    pub fn stride(&self) -> isize {
        self.axes.last().map_or(0, |axis| axis.stride)
    }

    /// The position of the first element.
    pub fn first(&self) -> usize {
        self.offset
    }

    /// The position of the first element, if all are adjacent and in order.
    pub fn contiguous(&self) -> Option<usize> {
        matches!(self.axes[..], [] | [Axis { stride: 1, .. }]).then_some(self.offset)
    }

    /// The number of rows, and the elements of memory from one to the next, if rows follow each
    /// other from the start of the memory and none reaches into the next one.
    pub fn rows(&self) -> Option<[usize; 2]> {
        let (first, inner) = self.axes.split_first()?;
        let row = usize::try_from(first.stride).ok()?;
        let last = inner.iter().try_fold(self.offset, |last, axis| {
            let stride = usize::try_from(axis.stride).ok()?;
            last.checked_add(axis.size.checked_sub(1)?.checked_mul(stride)?)
        });
        (last? < row).then_some([first.size, row])
    }

    /// The first ones of [`Runs::rows`].
    pub fn first_rows(&self, count: usize) -> Runs {
        let mut runs = self.clone();
        runs.axes.first_mut().into_iter().for_each(|axis| axis.size = axis.size.min(count));
        runs
    }

    /// After how many elements the same ones come again; `None` if they do not.
    pub fn period(&self) -> Option<usize> {
        let (first, rest) = self.axes.split_first()?;
        (first.stride == 0).then(|| rest.iter().map(|axis| axis.size).product())
    }

    /// The distance of neighbouring elements of memory, and how many times each of them comes, one
    /// after the other; `None` if the view is another one.
    pub fn times(&self) -> Option<[usize; 2]> {
        match self.axes[..] {
            [Axis { stride, .. }, Axis { size, stride: 0 }] => {
                Some([usize::try_from(stride).ok()?, size])
            }
            _ => None,
        }
    }

    /// True if the view is of `rows` elements, each of which is repeated `row` times.
    pub fn repeats_each(&self, rows: usize, row: usize) -> bool {
        self.offset == 0 && self.times() == Some([1, row]) && self.axes[0].size == rows
    }

    /// True if the view repeats one element.
    pub fn is_splat(&self) -> bool {
        self.axes.iter().all(|axis| axis.stride == 0)
    }

    /// Fills `out` with the elements of the view from position `start` on, of the elements that the
    /// view was made for.
    pub fn read<T: Pod>(&self, source: &[T], start: usize, out: &mut [T]) {
        by_size!(T, Runs::read_plain(self, cast_slice(source), start, cast_slice_mut(out)));
    }

    /// As [`Runs::read`], compiled once for all crates.
    #[inline(never)]
    fn read_plain<T: Pod>(&self, source: &[T], start: usize, out: &mut [T]) {
        let Some((&run, outer)) = self.axes.split_last() else {
            out.fill(source[self.offset]);
            return;
        };
        if run.size == 0 {
            return;
        }
        if let Some(small) = self.small_axes(pattern_reach::<T>()) {
            return self.read_patterns(source, start, out, small);
        }
        let (&lines, outer) = outer.split_last().unwrap_or((&Axis { size: 1, stride: 0 }, &[]));
        let mut index: SmallVec<[usize; 6]> = smallvec![0; outer.len()];
        let (mut rest, mut column) = (start / run.size, start % run.size);
        let mut line = rest % lines.size;
        rest /= lines.size;
        let mut position = self.offset;
        for (i, axis) in index.iter_mut().zip(outer).rev() {
            *i = rest % axis.size;
            rest /= axis.size;
            position = at(position, *i, axis.stride);
        }
        let mut out = out;
        while !out.is_empty() {
            let first = at(position, line, lines.stride);
            // The rest of a line, or all whole lines.
            let count = (out.len() / run.size).min(lines.size - line);
            let is_part = column > 0 || count == 0;
            let len = if is_part { out.len().min(run.size - column) } else { count * run.size };
            let (piece, tail) = out.split_at_mut(len);
            out = tail;
            if is_part {
                read_run(source, at(first, column, run.stride), run.stride, piece);
            } else {
                read_lines(source, first, lines.stride, run, piece);
            }
            column = 0;
            line += if is_part { 1 } else { count };
            if line < lines.size {
                continue;
            }
            line = 0;
            for (i, axis) in index.iter_mut().zip(outer).rev() {
                *i += 1;
                position = position.wrapping_add_signed(axis.stride);
                if *i < axis.size {
                    break;
                }
                position = at(position, axis.size, -axis.stride);
                *i = 0;
            }
        }
    }

    /// The number of the innermost dimensions that have few elements together, if they are read as
    /// patterns: several with shorter lines than are read as such, or one with two lines in `reach`
    /// of an element.
    fn small_axes(&self, reach: usize) -> Option<usize> {
        let [.., lines, run] = &self.axes[..] else { return None };
        if self.axes.len() < 3 || lines.size * run.size > PATTERN {
            let span = (run.size - 1).saturating_mul(run.stride.unsigned_abs());
            let is_near = span.saturating_add(lines.stride.unsigned_abs()) < reach;
            return (run.size <= PATTERN && is_near).then_some(1);
        }
        let mut elements = 1;
        let fits = |axis: &&Axis| {
            elements *= axis.size;
            elements <= PATTERN
        };
        let count = self.axes[1..].iter().rev().take_while(fits).count();
        Some(count)
    }

    /// As [`Runs::small_axes`], of elements that are written, if there are instructions for it:
    /// also a line that is in `reach` and not of adjacent elements, and none, where several
    /// elements of a long line are.
    fn written_axes(&self, reach: usize) -> Option<usize> {
        if reach == 0 {
            return None;
        }
        if let Some(small) = self.small_axes(reach) {
            return Some(small);
        }
        let run = self.axes.last().filter(|run| run.stride.unsigned_abs() > 1)?;
        let is_in_reach = |size: usize| {
            let span = run.stride.unsigned_abs().saturating_mul(size.saturating_sub(1));
            span < reach
        };
        let line = (run.size <= PATTERN && is_in_reach(run.size)).then_some(1);
        line.or_else(|| (run.size >= LONG_LINE && is_in_reach(3)).then_some(0))
    }

    /// As [`Runs::read`], where the innermost dimensions are few elements at the same distances
    /// from their first one again and again.
    fn read_patterns<T: Pod>(&self, source: &[T], start: usize, out: &mut [T], small: usize) {
        let (outer, inner) = self.axes.split_at(self.axes.len() - small);
        let Some((&line, outer)) = outer.split_last() else { return };
        let (mut position, pattern) = pattern_of(self.offset, inner);
        let mut index: SmallVec<[usize; 6]> = smallvec![0; outer.len()];
        let (mut rest, mut skipped) = (start / pattern.len(), start % pattern.len());
        let mut done = rest % line.size;
        rest /= line.size;
        for (i, axis) in index.iter_mut().zip(outer).rev() {
            *i = rest % axis.size;
            rest /= axis.size;
            position = at(position, *i, axis.stride);
        }
        let mut out = out;
        while !out.is_empty() {
            let elements = (line.size - done) * pattern.len() - skipped;
            let (piece, tail) = out.split_at_mut(elements.min(out.len()));
            out = tail;
            let first = at(position, done, line.stride);
            read_pattern_line(source, (first, line.stride), &pattern, skipped, piece);
            (done, skipped) = (0, 0);
            for (i, axis) in index.iter_mut().zip(outer).rev() {
                *i += 1;
                position = position.wrapping_add_signed(axis.stride);
                if *i < axis.size {
                    break;
                }
                position = at(position, axis.size, -axis.stride);
                *i = 0;
            }
        }
    }

    /// Writes elements to the places of the view, in its order.
    pub fn write<T: Pod>(&self, source: &[T], target: &mut [T]) {
        by_size!(T, Runs::write_plain(self, cast_slice(source), cast_slice_mut(target)));
    }

    /// As [`Runs::write`], compiled once for all crates.
    #[inline(never)]
    fn write_plain<T: Pod>(&self, source: &[T], target: &mut [T]) {
        let Some((&run, outer)) = self.axes.split_last() else {
            target[self.offset] = source[0];
            return;
        };
        if run.size == 0 {
            return;
        }
        if let Some(small) = self.written_axes(pattern_reach::<T>()) {
            return self.write_patterns(source, target, small);
        }
        if outer.is_empty() {
            write_lines(source, target, self.offset, 0, run);
            return;
        }
        let mut rest = source;
        walk_runs(self.offset, outer, |start, lines| {
            let (head, tail) = rest.split_at((lines.size * run.size).min(rest.len()));
            rest = tail;
            write_lines(head, target, start, lines.stride, run);
        });
    }

    /// As [`Runs::write`], where the innermost dimensions are few elements at the same distances
    /// from their first one again and again.
    fn write_patterns<T: Pod>(&self, source: &[T], target: &mut [T], small: usize) {
        let (outer, inner) = self.axes.split_at(self.axes.len() - small);
        let (first, pattern) = pattern_of(self.offset, inner);
        let mut rest = source;
        walk_runs(first, outer, |start, lines| {
            let (elements, tail) = rest.split_at((lines.size * pattern.len()).min(rest.len()));
            rest = tail;
            let done = write_patterns(elements, target, (start, lines.stride), &pattern);
            let elements = elements[done * pattern.len()..].chunks(pattern.len());
            for (i, elements) in elements.enumerate() {
                let position = at(start, done + i, lines.stride);
                for (&x, &place) in elements.iter().zip(&pattern) {
                    target[position + place] = x;
                }
            }
        });
    }

    /// Writes elements of a type, given as bytes, to the places of the view, in its order.
    ///
    /// # Errors
    /// If the bytes are not aligned for the type.
    pub fn write_bytes(
        &self,
        dtype: DType,
        source: &[u8],
        target: &mut [u8],
    ) -> Result<(), TensorError> {
        dispatch_storage!(dtype, S => {
            let (source, target) = elements::<S>(source, target)?;
            self.write(source, target);
            Ok(())
        })
    }

    /// As [`Runs::read`], of elements of a type, given as bytes.
    ///
    /// # Errors
    /// If the bytes are not aligned for the type.
    pub fn read_bytes(
        &self,
        dtype: DType,
        source: &[u8],
        start: usize,
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        dispatch_storage!(dtype, S => {
            let (source, out) = elements::<S>(source, out)?;
            self.read(source, start, out);
            Ok(())
        })
    }
}

/// The elements along some dimensions from the first one on, as distances from the one among them
/// that comes first in memory, and the position of that.
fn pattern_of(first: usize, axes: &[Axis]) -> (usize, SmallVec<[usize; PATTERN]>) {
    let (mut position, mut pattern) = (first, smallvec![0]);
    for axis in axes {
        let before: SmallVec<[usize; PATTERN]> = std::mem::take(&mut pattern);
        let size = axis.stride.unsigned_abs();
        let is_reversed = axis.stride < 0;
        for distance in before {
            let places = (0..axis.size).map(|i| if is_reversed { axis.size - 1 - i } else { i });
            pattern.extend(places.map(|i| distance + i * size));
        }
        if is_reversed {
            position = at(position, axis.size - 1, axis.stride);
        }
    }
    (position, pattern)
}

/// Reads elements that are `stride` apart.
#[inline]
fn read_run<T: Pod>(source: &[T], first: usize, stride: isize, out: &mut [T]) {
    match stride {
        _ if out.is_empty() => {}
        1 => out.copy_from_slice(&source[first..first + out.len()]),
        0 => out.fill(source[first]),
        -1 => {
            let run = &source[(first + 1).saturating_sub(out.len())..=first];
            out.iter_mut().zip(run.iter().rev()).for_each(|(element, &x)| *element = x);
        }
        2.. => read_strided(&source[first..], stride.unsigned_abs(), out),
        stride => {
            for (i, element) in out.iter_mut().enumerate() {
                *element = source[at(first, i, stride)];
            }
        }
    }
}

/// Reads patterns of elements whose first elements are `distance` apart, without the first
/// `skipped` elements of the first pattern.
fn read_pattern_line<T: Pod>(
    source: &[T],
    (first, distance): (usize, isize),
    pattern: &[usize],
    skipped: usize,
    out: &mut [T],
) {
    let read = |position: usize, pattern: &[usize], out: &mut [T]| {
        for (element, &place) in out.iter_mut().zip(pattern) {
            *element = source[position + place];
        }
    };
    let is_part = skipped > 0;
    let (part, whole) = match is_part {
        true => out.split_at_mut((pattern.len() - skipped).min(out.len())),
        false => (&mut [][..], out),
    };
    read(first, &pattern[skipped..], part);
    let first = at(first, usize::from(is_part), distance);
    let done = read_patterns(source, (first, distance), pattern, whole);
    for (i, out) in whole[done * pattern.len()..].chunks_mut(pattern.len()).enumerate() {
        read(at(first, done + i, distance), pattern, out);
    }
}

/// Reads runs that are `distance` apart.
fn read_lines<T: Pod>(source: &[T], first: usize, distance: isize, run: Axis, out: &mut [T]) {
    match run.size {
        2 => read_short_lines::<T, 2>(source, first, distance, run.stride, out),
        3 => read_short_lines::<T, 3>(source, first, distance, run.stride, out),
        4 => read_short_lines::<T, 4>(source, first, distance, run.stride, out),
        _ if distance == 0 => {
            // The same line, and then as much again as there is.
            let mut done = run.size;
            read_run(source, first, run.stride, &mut out[..done]);
            while done < out.len() {
                let len = done.min(out.len() - done);
                out.copy_within(..len, done);
                done += len;
            }
        }
        size if size >= MIN_SIDE && distance == 1 && run.stride > 1 => {
            let size = [run.size, out.len() / run.size];
            transpose((&source[first..], run.stride.unsigned_abs()), (out, run.size), size);
        }
        _ if distance == 1 && run.stride > 1 => {
            // Some lines at a time, which stay in the cache.
            for (i, lines) in out.chunks_mut(256 * run.size).enumerate() {
                let first = at(first, 256 * i, distance);
                for j in 0..run.size {
                    let row = &source[at(first, j, run.stride)..];
                    let places = lines[j..].iter_mut().step_by(run.size);
                    places.zip(row).for_each(|(place, &x)| *place = x);
                }
            }
        }
        ..=8 if run.stride.abs() <= 1 => read_blocks::<T, 8>(source, first, distance, run, out),
        ..=16 if matches!(run.stride, 0 | 1) => {
            read_blocks::<T, 16>(source, first, distance, run, out)
        }
        ..=32 if matches!(run.stride, 0 | 1) => {
            read_blocks::<T, 32>(source, first, distance, run, out)
        }
        _ => {
            for (i, line) in out.chunks_exact_mut(run.size).enumerate() {
                read_run(source, at(first, i, distance), run.stride, line);
            }
        }
    }
}

/// As [`read_lines`], for runs of `N` elements.
fn read_short_lines<T: Pod, const N: usize>(
    source: &[T],
    first: usize,
    distance: isize,
    stride: isize,
    out: &mut [T],
) {
    let lines = out.as_chunks_mut::<N>().0;
    if distance == 0 {
        let line = std::array::from_fn(|j| source[at(first, j, stride)]);
        // This many at a time are whole vectors.
        let (vectors, rest) = lines.as_chunks_mut::<16>();
        vectors.fill([line; 16]);
        rest.fill(line);
        return;
    }
    // Adjacent elements: elements of this many rows in turn.
    if distance == 1 && stride > 0 {
        let count = lines.len();
        let rows: [&[T]; N] = std::array::from_fn(|j| &source[at(first, j, stride)..][..count]);
        for (i, line) in lines.iter_mut().enumerate() {
            *line = std::array::from_fn(|j| rows[j][i]);
        }
        return;
    }
    if distance == 1 && stride == 0 {
        let elements = &source[first..first + lines.len()];
        lines.iter_mut().zip(elements).for_each(|(line, &x)| *line = [x; N]);
        return;
    }
    if stride == 1 {
        for (i, line) in lines.iter_mut().enumerate() {
            line.copy_from_slice(&source[at(first, i, distance)..][..N]);
        }
        return;
    }
    for (i, line) in lines.iter_mut().enumerate() {
        let start = at(first, i, distance);
        *line = std::array::from_fn(|j| source[at(start, j, stride)]);
    }
}

/// As [`read_lines`], for runs of at most `N` elements that are adjacent in memory, in either
/// order, or the same one.
fn read_blocks<T: Pod, const N: usize>(
    source: &[T],
    first: usize,
    distance: isize,
    run: Axis,
    out: &mut [T],
) {
    match run.stride {
        0 => write_blocks(run.size, out, |i| [source[at(first, i, distance)]; N]),
        1 => write_blocks(run.size, out, |i| -> [T; N] {
            let rest = &source[at(first, i, distance)..];
            rest.first_chunk().copied().unwrap_or_else(|| {
                let mut block = [T::zeroed(); N];
                block.iter_mut().zip(rest).for_each(|(element, &x)| *element = x);
                block
            })
        }),
        _ => write_blocks(run.size, out, |i| -> [T; N] {
            let start = at(first, i, distance);
            match source[..=start].last_chunk::<N>() {
                Some(block) => std::array::from_fn(|j| block[N - 1 - j]),
                None => std::array::from_fn(|j| source[start.saturating_sub(j)]),
            }
        }),
    }
}

/// Writes lines of `size` elements, the first of a block each. The rest of a block is written over
/// by the next one: copies of a constant length take less time than shorter ones.
#[inline(always)]
fn write_blocks<T: Pod, const N: usize>(
    size: usize,
    out: &mut [T],
    block: impl Fn(usize) -> [T; N],
) {
    let count = out.len() / size;
    for i in 0..count {
        let rest = &mut out[i * size..];
        let block = block(i);
        match rest.first_chunk_mut() {
            Some(line) => *line = block,
            None => rest.iter_mut().zip(block).for_each(|(element, x)| *element = x),
        }
    }
}

/// Writes lines of a run's size to places that are `distance` apart.
fn write_lines<T: Pod>(source: &[T], target: &mut [T], first: usize, distance: isize, run: Axis) {
    match (run.stride, run.size) {
        (1, 2) => write_halves::<T, 1>(source, target, first, distance, run.size),
        (1, 3..=4) => write_halves::<T, 2>(source, target, first, distance, run.size),
        (1, 5..=8) => write_halves::<T, 4>(source, target, first, distance, run.size),
        (1, 9..=16) => write_halves::<T, 8>(source, target, first, distance, run.size),
        (1, 17..=32) => write_halves::<T, 16>(source, target, first, distance, run.size),
        (1, _) => {
            for (i, line) in source.chunks(run.size).enumerate() {
                target[at(first, i, distance)..][..line.len()].copy_from_slice(line);
            }
        }
        (stride, _) => {
            for (i, line) in source.chunks(run.size).enumerate() {
                let start = at(first, i, distance);
                match usize::try_from(stride) {
                    Ok(stride) if stride > 0 && line.len() >= 8 => {
                        let places = target[start..].iter_mut().step_by(stride);
                        places.zip(line).for_each(|(place, &x)| *place = x);
                    }
                    _ => {
                        let each = line.iter().enumerate();
                        each.for_each(|(j, &x)| target[at(start, j, stride)] = x);
                    }
                }
            }
        }
    }
}

/// As [`write_lines`], of adjacent elements, between `N` and `2 N`: the first and the last `N` of
/// a line, which may overlap.
fn write_halves<T: Pod, const N: usize>(
    source: &[T],
    target: &mut [T],
    first: usize,
    distance: isize,
    size: usize,
) {
    for (i, line) in source.chunks(size).enumerate() {
        let start = at(first, i, distance);
        let place = &mut target[start..start + line.len()];
        match (line.first_chunk::<N>(), line.last_chunk::<N>()) {
            (Some(head), Some(tail)) if place.len() == size => {
                let at_end = size - N;
                place[..N].copy_from_slice(head);
                place[at_end..].copy_from_slice(tail);
            }
            _ => place.copy_from_slice(line),
        }
    }
}
