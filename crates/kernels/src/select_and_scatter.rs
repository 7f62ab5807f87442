//! `select_and_scatter`: the selection of elements of windows, to which sources are added.

use super::parallel::task_size;
use super::window::num_windows;
use super::{Combiner, apply_updates};
use numerics::budget::{self, Scratch};
use numerics::math::Direction;
use numerics::shape::{Indices, num_elements, strides};
use numerics::simd::{Isa, Kernel};
use numerics::{DType, Element, I1, Tensor};
use program::{BlockId, Body, EvalError, Evaluator, WindowDim};
use std::convert::Infallible;

/// The place of what a window selects that sees only padding: outside of all tensors.
pub const NOTHING: usize = usize::MAX;
/// Neighbouring windows that select at a time.
const LANES: usize = 8;
/// Windows of more elements select by their block, and so do windows with larger attributes.
const MAX_TAPS: usize = 1 << 16;
const MAX_ATTRIBUTE: usize = 1 << 28;
/// The work for an element of a window, in elementary operations.
const WORK: usize = 16;

/// `select_and_scatter`: finds in each window the element that `select` prefers, and adds with
/// `scatter` the element of `source` that belongs to the window at its place. Source:
/// specification, section "select_and_scatter".
///
/// # Errors
/// Whatever stops the regions, or attributes that do not fit.
pub fn select_and_scatter(
    env: &mut dyn Evaluator,
    ((select, relation), scatter): ((BlockId, Option<Direction>), &Body),
    [operand, source, init]: [&Tensor; 3],
    window: &[WindowDim],
) -> Result<Tensor, EvalError> {
    let counts = num_windows(operand.shape(), window)?;
    if counts != source.shape() {
        return Err(EvalError::new(
            "select_and_scatter_c2",
            format!("there are {counts:?} windows for the source"),
        ));
    }
    let n = source.num_elements();
    // The flat place of what each window selects.
    let mut selected = Scratch::filled(n, NOTHING)?;
    if !relation.is_some_and(|by| select_by_comparison(by, operand, &counts, window, &mut selected))
    {
        select_by_block(env, select, operand, &counts, window, &mut selected)?;
    }
    let mut body = Combiner::new(scatter, env);
    let results = body.promote(0, vec![init.broadcast_scalar(operand.shape())?])?;
    let sources = body.promote(1, vec![source.clone()])?;
    let mut results = apply_updates(results, &selected, sources, &mut body)?;
    results.pop().ok_or_else(|| EvalError::new("select_and_scatter_c10", "scatter returns nothing"))
}

/// Selects by a comparison of floats; false for other comparisons and types.
fn select_by_comparison(
    relation: Direction,
    operand: &Tensor,
    counts: &[usize],
    window: &[WindowDim],
    selected: &mut [usize],
) -> bool {
    fn of<T: Element + PartialOrd>(
        relation: Direction,
        operand: &Tensor,
        counts: &[usize],
        window: &[WindowDim],
        selected: &mut [usize],
    ) -> bool {
        let is = |directions: &[Direction]| directions.contains(&relation);
        let less = is(&[Direction::Lt, Direction::Le]);
        let equal = is(&[Direction::Le, Direction::Ge]);
        let greater = is(&[Direction::Gt, Direction::Ge]);
        match relation {
            // The one of programs: the others have one loop.
            Direction::Ge => select::<T>(operand, counts, window, |x, y| x >= y, selected),
            _ if less || greater => {
                let keeps = |x, y| less & (x < y) | equal & (x == y) | greater & (x > y);
                select::<T>(operand, counts, window, keeps, selected)
            }
            _ => false,
        }
    }
    match operand.dtype() {
        DType::F32 => of::<f32>(relation, operand, counts, window, selected),
        DType::F64 => of::<f64>(relation, operand, counts, window, selected),
        _ => false,
    }
}

/// The windows along a dimension.
struct Dimension {
    count: usize,
    stride: isize,
    pad_low: isize,
    /// The elements that a window sees,
    size: isize,
    /// The number of positions inside of the input.
    extent: isize,
    /// The distance between them.
    step: isize,
}

impl Dimension {
    /// The index of the first element that a window sees.
    fn start(&self, number: usize) -> isize {
        number as isize * self.stride - self.pad_low
    }

    fn contains(&self, index: isize) -> bool {
        (0..self.extent).contains(&index)
    }
}

/// Selects in lines of windows that see one element each along the last dimensions. False for
/// windows that are too large.
pub fn select<T: Element>(
    operand: &Tensor,
    counts: &[usize],
    window: &[WindowDim],
    keeps: impl Fn(T, T) -> bool + Copy + Sync,
    selected: &mut [usize],
) -> bool {
    let Ok(elements) = operand.as_slice::<T>() else { return false };
    let is_trivial = |d: &WindowDim| (d.size, d.stride, d.pad_low, d.pad_high) == (1, 1, 0, 0);
    let rank = window.iter().rposition(|d| !is_trivial(d)).map_or(0, |last| last + 1);
    // On overflow, there are no windows.
    let line = counts[rank..].iter().fold(1usize, |n, &count| n.saturating_mul(count));
    let steps = strides(operand.shape());
    let dimension = |d: usize| {
        let WindowDim { size, stride, pad_low, .. } = window[d];
        let fits = |x: i64| isize::try_from(x).ok().filter(|x| x.unsigned_abs() <= MAX_ATTRIBUTE);
        Some(Dimension {
            count: counts[d],
            stride: fits(stride)?,
            pad_low: fits(pad_low)?,
            size: fits(size)?,
            extent: isize::try_from(operand.shape()[d]).ok()?,
            step: isize::try_from(steps[d]).ok()?,
        })
    };
    let Some(dimensions) = (0..rank).map(dimension).collect::<Option<Vec<_>>>() else {
        return false;
    };
    if selected.is_empty() {
        return true;
    }
    let sizes: Vec<usize> = dimensions.iter().map(|d| d.size as usize).collect();
    if num_elements(&sizes).is_none_or(|taps| taps > MAX_TAPS) {
        return false;
    }
    let taps = Indices::new(sizes);
    let work = elements.len().div_ceil(selected.len()).max(1) * WORK;
    let lines = task_size(selected.len() / line, line * work, 1);
    let tasks = selected.chunks_mut(lines * line).enumerate();
    let done = host::parallel(tasks.collect(), |(task, selected): (usize, &mut [usize])| {
        let (dimensions, taps) = (&dimensions[..], taps.clone());
        let first = task * lines;
        Isa::best().run(SelectWindows { elements, dimensions, taps, first, line, keeps, selected });
        Ok::<_, Infallible>(())
    });
    let Ok(()) = done;
    true
}

/// The choice of windows in lines from number `first` on.
struct SelectWindows<'a, T, F> {
    elements: &'a [T],
    dimensions: &'a [Dimension],
    /// The indices of the elements of a window.
    taps: Indices,
    first: usize,
    line: usize,
    keeps: F,
    selected: &'a mut [usize],
}

impl<T: Element, F: Fn(T, T) -> bool + Copy> Kernel for SelectWindows<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let SelectWindows { elements, dimensions, mut taps, first, line, keeps, selected } = self;
        // The indices of a window, and the distances of its elements from its start: the distances
        // of windows that see no padding, and of the one at hand.
        let mut index = vec![0; dimensions.len()];
        let mut rest = first;
        for (index, dimension) in index.iter_mut().zip(dimensions).rev() {
            (*index, rest) = (rest % dimension.count, rest / dimension.count);
        }
        let distance = |tap: &[usize]| -> isize {
            tap.iter().zip(dimensions).map(|(&tap, d)| tap as isize * d.step).sum()
        };
        let mut all = Vec::new();
        let indices = taps.clone();
        while let Some(tap) = taps.next_index() {
            all.push(distance(tap));
        }
        let mut seen = Vec::new();
        for selected in selected.chunks_exact_mut(line) {
            let (mut start, mut is_inside) = (0, true);
            for (&number, dimension) in index.iter().zip(dimensions) {
                let at = dimension.start(number);
                start += at * dimension.step;
                is_inside &= at >= 0 && at + dimension.size <= dimension.extent;
            }
            if !is_inside {
                seen.clear();
                let mut taps = indices.clone();
                while let Some(tap) = taps.next_index() {
                    let mut places = index.iter().zip(tap).zip(dimensions);
                    if places.all(|((&i, &tap), d)| d.contains(d.start(i) + tap as isize)) {
                        seen.push(distance(tap));
                    }
                }
            }
            let distances = if is_inside { &all } else { &seen };
            let mut lanes = selected.chunks_exact_mut(LANES);
            for (chunk, selected) in lanes.by_ref().enumerate() {
                let start = start + (chunk * LANES) as isize;
                choose::<T, LANES>(elements, start, distances, keeps, selected);
            }
            let whole = (line - line % LANES) as isize;
            for (start, selected) in (start + whole..).zip(lanes.into_remainder().chunks_mut(1)) {
                choose::<T, 1>(elements, start, distances, keeps, selected);
            }
            for (index, dimension) in index.iter_mut().zip(dimensions).rev() {
                *index += 1;
                if *index < dimension.count {
                    break;
                }
                *index = 0;
            }
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<T: Element>(kernel: SelectWindows<'_, T, &dyn Fn(T, T) -> bool>) {
            kernel.run();
        }
        let SelectWindows { elements, dimensions, taps, first, line, selected, keeps } = self;
        run(SelectWindows { elements, dimensions, taps, first, line, selected, keeps: &keeps });
    }
}

/// Selects for neighbouring windows among the elements at some distances from their starts.
#[inline(always)]
fn choose<T: Element, const N: usize>(
    elements: &[T],
    start: isize,
    distances: &[isize],
    keeps: impl Fn(T, T) -> bool,
    selected: &mut [usize],
) {
    let Some((first, others)) = distances.split_first() else { return };
    // Of elements that there are.
    let place = |distance: &isize| (start + distance) as usize;
    let at = place(first);
    let mut held: [T; N] = std::array::from_fn(|j| elements[at..at + N][j]);
    let mut places: [usize; N] = std::array::from_fn(|j| at + j);
    for at in others.iter().map(place) {
        let challengers = &elements[at..at + N];
        for j in 0..N {
            let stays = keeps(held[j], challengers[j]);
            held[j] = if stays { held[j] } else { challengers[j] };
            places[j] = if stays { places[j] } else { at + j };
        }
    }
    selected.copy_from_slice(&places);
}

/// Selects by running the block on pairs of elements, for all windows at a time.
fn select_by_block(
    env: &mut dyn Evaluator,
    select: BlockId,
    operand: &Tensor,
    counts: &[usize],
    window: &[WindowDim],
    selected: &mut [usize],
) -> Result<(), EvalError> {
    let (n, steps) = (selected.len(), strides(operand.shape()));
    let _reserved = budget::reserve::<[usize; 3]>(n)?;
    let sizes: Vec<usize> = window.iter().map(|d| d.size as usize).collect();
    let mut taps = Indices::new(&sizes);
    while let Some(tap) = taps.next_index().filter(|_| n > 0) {
        // The windows that see here something that is no padding, and what, if they have selected
        // something before.
        let (mut contested, mut challengers) = (Vec::with_capacity(n), Vec::with_capacity(n));
        // The input position of this tap for each window, by dimensions.
        let tables = counts.iter().zip(window).enumerate().map(|(d, (&count, dim))| {
            let place = |i: usize| {
                let start = i as i128 * i128::from(dim.stride) - i128::from(dim.pad_low);
                let index = usize::try_from(start + tap[d] as i128).ok()?;
                (index < operand.shape()[d]).then_some(index * steps[d])
            };
            (0..count).map(place).collect::<Vec<_>>()
        });
        let mut tables: Vec<Vec<Option<usize>>> = tables.collect();
        let line = tables.pop().unwrap_or_else(|| vec![Some(0)]);
        let mut lines = Indices::new(&counts[..counts.len().saturating_sub(1)]);
        let mut number = 0;
        while let Some(at) = lines.next_index() {
            let start: Option<usize> = at.iter().zip(&tables).map(|(&i, table)| table[i]).sum();
            for (selected, &place) in selected[number..].iter_mut().zip(&line) {
                if let (Some(start), Some(place)) = (start, place) {
                    if *selected == NOTHING {
                        *selected = start + place;
                    } else {
                        contested.push(number);
                        challengers.push(start + place);
                    }
                }
                number += 1;
            }
        }
        if contested.is_empty() {
            continue;
        }
        let holders: Vec<usize> = contested.iter().map(|&w| selected[w]).collect();
        let args = vec![operand.take(&holders)?, operand.take(&challengers)?];
        let keeps = env.scalar_block(select, challengers.len(), args)?;
        let keeps = keeps
            .first()
            .ok_or_else(|| EvalError::new("select_and_scatter_c9", "select returns nothing"))?;
        let keeps = if keeps.rank() == 0 {
            keeps.broadcast_scalar([contested.len()])?
        } else {
            keeps.clone()
        };
        for ((w, place), keep) in
            contested.into_iter().zip(challengers).zip(keeps.as_slice::<I1>()?)
        {
            if !keep.get() {
                selected[w] = place;
            }
        }
    }
    Ok(())
}
