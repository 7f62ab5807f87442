//! Folding and selecting over windows: `reduce_window` and `select_and_scatter`.

use super::reduce::{Layout, SHORT_WINDOW, combine};
use super::sums::Tree;
use super::{Combiner, apply_updates, pad};
use numerics::budget::{self, Scratch};
use numerics::math::{self, BinaryOp};
use numerics::shape::{Indices, StridedView, num_elements, strides};
use numerics::{I1, Tensor, TensorError};
use program::{BlockId, Body, BodyShape, Env, EvalError, WindowDim};

/// The place of what a window selects that sees only padding: outside of all tensors.
const NOTHING: usize = usize::MAX;

/// Number of windows along each dimension.
fn num_windows(shape: &[usize], window: &[WindowDim]) -> Result<Vec<usize>, EvalError> {
    if shape.len() != window.len() {
        return Err(EvalError::new(
            "window",
            format!("a window of {} dimensions over {}", window.len(), shape.len()),
        ));
    }
    let count = |(&size, dim): (&usize, &WindowDim)| {
        let count = dim.num_windows(i64::try_from(size).ok()?)?;
        usize::try_from(count).ok()
    };
    let counts: Option<Vec<usize>> = shape.iter().zip(window).map(count).collect();
    counts.ok_or_else(|| EvalError::new("window", "the shape of the result is too large"))
}

/// `reduce_window`: the elements of each window are combined as [`reduce`](super::reduce) combines
/// them, in the order of their indices in the window, those of the padding included; those of short
/// windows one by one. Source: specification, section "reduce_window".
///
/// # Errors
/// Whatever stops the region, or attributes that do not fit.
pub fn reduce_window(
    inputs: Vec<Tensor>,
    init_values: Vec<Tensor>,
    window: &[WindowDim],
    body: &mut Combiner<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    reduce_windows(inputs, init_values, window, false, body)
}

/// As [`reduce_window`], without the elements of the padding: what XLA computes. The elements of
/// each window are combined one by one.
///
/// # Errors
/// As there.
pub fn reduce_window_inside(
    inputs: Vec<Tensor>,
    init_values: Vec<Tensor>,
    window: &[WindowDim],
    body: &mut Combiner<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    reduce_windows(inputs, init_values, window, true, body)
}

fn reduce_windows(
    inputs: Vec<Tensor>,
    init_values: Vec<Tensor>,
    window: &[WindowDim],
    without_padding: bool,
    body: &mut Combiner<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    let init_values = body.promote(0, init_values)?;
    let inputs = body.promote(init_values.len(), inputs)?;
    let shape = inputs.first().map_or(&[][..], |t| t.shape());
    let counts = num_windows(shape, window)?;
    let n =
        num_elements(&counts).ok_or_else(|| EvalError::new("window", "the result is too large"))?;
    let column = |f: fn(&WindowDim) -> i64| window.iter().map(f).collect::<Vec<i64>>();
    let (low, high) = (column(|d| d.pad_low), column(|d| d.pad_high));
    let interior = column(|d| d.base_dilation - 1);
    let padded = inputs.iter().zip(&init_values).map(|(t, v)| pad(t, v, &low, &high, &interior));
    let padded = padded.collect::<Result<Vec<_>, _>>()?;
    let mut results =
        init_values.iter().map(|v| v.broadcast_scalar([n])).collect::<Result<Vec<_>, _>>()?;
    let sizes: Vec<usize> = window.iter().map(|d| d.size as usize).collect();
    let shaped = |results: Vec<Tensor>| -> Result<Vec<Tensor>, EvalError> {
        results.into_iter().map(|t| Ok(t.into_shape(&counts)?)).collect()
    };
    if n == 0 || sizes.contains(&0) {
        return shaped(results);
    }
    let inside = if without_padding {
        let [yes, no] = [true, false].map(|bit| Tensor::scalar(I1::new(bit)));
        Some(pad(&yes.broadcast_scalar(shape)?, &no, &low, &high, &interior)?)
    } else {
        None
    };
    if let (BodyShape::Binary { op, .. }, [input], [init]) =
        (body.shape, &padded[..], &init_values[..])
        && !without_padding
        && let Some(result) = combine_windows(op, input, init, window, &counts)?
    {
        return shaped(vec![result]);
    }
    let steps: Vec<isize> = window.iter().map(|d| d.stride as isize).collect();
    let short = num_elements(&sizes).is_some_and(|taps| taps <= SHORT_WINDOW);
    let mut taps = Indices::new(&sizes);
    let mut tree = Tree::new();
    while let Some(tap) = taps.next_index() {
        let start: Vec<usize> =
            tap.iter().zip(window).map(|(&i, d)| i * d.window_dilation as usize).collect();
        let mut values = Vec::with_capacity(padded.len());
        for input in &padded {
            let view = StridedView::window(input.shape(), &start, &counts, &steps)?;
            values.push(input.gather(&view)?.into_shape([n])?);
        }
        if let Some(inside) = &inside {
            let view = StridedView::window(inside.shape(), &start, &counts, &steps)?;
            let inside = inside.gather(&view)?.into_shape([n])?;
            let combined = body.combine(n, results.clone(), values)?;
            let pairs = combined.iter().zip(&results);
            let chosen = pairs.map(|(new, old)| math::select(&inside, new, old));
            results = chosen.collect::<Result<_, _>>()?;
        } else if short {
            results = body.combine(n, results, values)?;
        } else {
            tree.try_push(values, |left, right| body.combine(n, left, right))?;
        }
    }
    if short || without_padding {
        return shaped(results);
    }
    let folded = tree.try_finish(|left, right| body.combine(n, left, right))?;
    shaped(body.combine(n, results, folded.unwrap_or_default())?)
}

/// The combination of the elements of each window of `padded` with a common operation; none for
/// other operations. There is a window, and none is empty.
fn combine_windows(
    op: BinaryOp,
    padded: &Tensor,
    init: &Tensor,
    window: &[WindowDim],
    counts: &[usize],
) -> Result<Option<Tensor>, TensorError> {
    let strides = strides(padded.shape());
    // The flat positions that indices stand for, from the first element on.
    let positions = |sizes: &[usize], steps: &[usize]| -> Result<Scratch<usize>, TensorError> {
        let count = num_elements(sizes).unwrap_or(usize::MAX);
        let mut positions = Scratch::new(count)?;
        let mut indices = Indices::new(sizes);
        while let Some(index) = indices.next_index() {
            positions.push(index.iter().zip(steps).map(|(&i, &step)| i * step).sum());
        }
        Ok(positions)
    };
    let scaled = |f: fn(&WindowDim) -> i64| -> Vec<usize> {
        window.iter().zip(&strides).map(|(d, &stride)| f(d) as usize * stride).collect()
    };
    let sizes: Vec<usize> = window.iter().map(|d| d.size as usize).collect();
    let taps = positions(&sizes, &scaled(|d| d.window_dilation))?;
    // The windows along the last dimension that has several are a line.
    let steps = scaled(|d| d.stride);
    let line = counts.iter().rposition(|&count| count > 1).unwrap_or(0);
    let (stride, lines) = match steps.get(line) {
        Some(&stride) => (stride, positions(&counts[..line], &steps[..line])?),
        None => (1, positions(&[], &[])?),
    };
    let layout = Layout::Windows { line_starts: &lines, stride, taps: &taps };
    combine(op, padded.clone(), init, counts.iter().product(), &layout)
}

/// `select_and_scatter`: finds in each window the element that `select` prefers, and adds with
/// `scatter` the element of `source` that belongs to the window at its place. Source:
/// specification, section "select_and_scatter".
///
/// # Errors
/// Whatever stops the regions, or attributes that do not fit.
pub fn select_and_scatter(
    env: &mut dyn Env,
    (select, scatter): (BlockId, &Body),
    operand: &Tensor,
    source: &Tensor,
    init: &Tensor,
    window: &[WindowDim],
) -> Result<Tensor, EvalError> {
    let counts = num_windows(operand.shape(), window)?;
    if counts != source.shape() {
        return Err(EvalError::new(
            "select_and_scatter_c2",
            format!("there are {counts:?} windows for the source"),
        ));
    }
    let steps = strides(operand.shape());
    let n = source.num_elements();
    // The flat place of what each window selects.
    let mut selected = Scratch::filled(n, NOTHING)?;
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
    let mut body = Combiner::new(scatter, env);
    let results = body.promote(0, vec![init.broadcast_scalar(operand.shape())?])?;
    let sources = body.promote(1, vec![source.clone()])?;
    let mut results = apply_updates(results, &selected, sources, &mut body)?;
    results.pop().ok_or_else(|| EvalError::new("select_and_scatter_c10", "scatter returns nothing"))
}
