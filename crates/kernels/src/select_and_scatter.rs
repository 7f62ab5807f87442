//! `select_and_scatter`: the selection of elements of windows, to which sources are added.

use super::window::num_windows;
use super::{Combiner, apply_updates};
use numerics::budget::{self, Scratch};
use numerics::math::Direction;
use numerics::shape::{Indices, strides};
use numerics::simd::{Isa, Kernel};
use numerics::{DType, Element, I1, Tensor};
use program::{BlockId, Body, Env, EvalError, WindowDim};

/// The place of what a window selects that sees only padding: outside of all tensors.
const NOTHING: usize = usize::MAX;

/// `select_and_scatter`: finds in each window the element that `select` prefers, and adds with
/// `scatter` the element of `source` that belongs to the window at its place. Source:
/// specification, section "select_and_scatter".
///
/// # Errors
/// Whatever stops the regions, or attributes that do not fit.
pub fn select_and_scatter(
    env: &mut dyn Env,
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
    if !relation.is_some_and(|by| select_by_line(by, operand, &counts, window, &mut selected)) {
        select_by_block(env, select, operand, &counts, window, &mut selected)?;
    }
    let mut body = Combiner::new(scatter, env);
    let results = body.promote(0, vec![init.broadcast_scalar(operand.shape())?])?;
    let sources = body.promote(1, vec![source.clone()])?;
    let mut results = apply_updates(results, &selected, sources, &mut body)?;
    results.pop().ok_or_else(|| EvalError::new("select_and_scatter_c10", "scatter returns nothing"))
}

/// Selects by a comparison where windows have one element along the last dimension: line by line.
/// False for other windows, comparisons and types.
fn select_by_line(
    relation: Direction,
    operand: &Tensor,
    counts: &[usize],
    window: &[WindowDim],
    selected: &mut [usize],
) -> bool {
    let (Some((last, outer)), Some(&line)) = (window.split_last(), counts.last()) else {
        return false;
    };
    let is_whole = (last.size, last.stride, last.pad_low, last.pad_high) == (1, 1, 0, 0);
    if !is_whole || line == 0 {
        return false;
    }
    macro_rules! dispatch {
        ($(($dtype:ident $T:ty))*) => {
            match (operand.dtype(), relation) {
                $((DType::$dtype, Direction::Ge) => {
                    select_lines::<$T>(operand, counts, outer, |x, y| x >= y, selected)
                }
                (DType::$dtype, Direction::Gt) => {
                    select_lines::<$T>(operand, counts, outer, |x, y| x > y, selected)
                }
                (DType::$dtype, Direction::Le) => {
                    select_lines::<$T>(operand, counts, outer, |x, y| x <= y, selected)
                }
                (DType::$dtype, Direction::Lt) => {
                    select_lines::<$T>(operand, counts, outer, |x, y| x < y, selected)
                })*
                _ => false,
            }
        };
    }
    dispatch! { (F32 f32) (F64 f64) }
}

fn select_lines<T: Element>(
    operand: &Tensor,
    counts: &[usize],
    window: &[WindowDim],
    keeps: impl Fn(T, T) -> bool,
    selected: &mut [usize],
) -> bool {
    let Ok(elements) = operand.as_slice::<T>() else { return false };
    let strides = strides(operand.shape());
    let line = counts.last().copied().unwrap_or(1);
    let sizes: Vec<usize> = window.iter().map(|d| d.size as usize).collect();
    let mut held = vec![T::ZERO; line];
    let mut lines = Indices::new(&counts[..window.len()]);
    for selected in selected.chunks_exact_mut(line) {
        let Some(index) = lines.next_index() else { break };
        let mut is_first = true;
        let mut taps = Indices::new(&sizes);
        while let Some(tap) = taps.next_index() {
            let places = index.iter().zip(tap).zip(window).enumerate();
            let place = places.map(|(d, ((&i, &tap), dim))| {
                let place = i as i128 * i128::from(dim.stride) - i128::from(dim.pad_low);
                let place = usize::try_from(place + tap as i128).ok()?;
                (place < operand.shape()[d]).then_some(place * strides[d])
            });
            let Some(start) = place.sum::<Option<usize>>() else { continue };
            let challengers = &elements[start..start + line];
            let selected = &mut *selected;
            Isa::best().run(Select {
                challengers,
                start,
                is_first,
                keeps: &keeps,
                held: &mut held,
                selected,
            });
            is_first = false;
        }
    }
    true
}

/// A choice between what windows have selected and the elements that they see next.
struct Select<'a, T, F> {
    challengers: &'a [T],
    /// The place of the first one.
    start: usize,
    /// True if nothing has been selected.
    is_first: bool,
    keeps: &'a F,
    held: &'a mut [T],
    selected: &'a mut [usize],
}

impl<T: Element, F: Fn(T, T) -> bool> Kernel for Select<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let Select { challengers, start, is_first, keeps, held, selected } = self;
        let holders = held.iter_mut().zip(selected).zip(challengers);
        for (place, ((held, selected), &x)) in (start..).zip(holders) {
            let stays = !is_first && keeps(*held, x);
            *held = if stays { *held } else { x };
            *selected = if stays { *selected } else { place };
        }
    }
}

/// Selects by running the block on pairs of elements, for all windows at a time.
fn select_by_block(
    env: &mut dyn Env,
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
