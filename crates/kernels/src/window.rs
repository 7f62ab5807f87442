//! Folding over windows: `reduce_window`.

use super::converted::MAX_CONVERTED;
use super::copies::{CopyPart, copy};
use super::kernel::{Kernel, expect_bytes};
use super::reduce::{
    AT_EDGE, Edges, Layout, SHORT_WINDOW, combine_converted, element_type, is_common, sum_type,
};
use super::sums::WindowLines;
use super::tree::Tree;
use super::{Combiner, pad};
use numerics::budget::{self, Scratch};
use numerics::math::{self, BinaryOp};
use numerics::shape::{Indices, Runs, StridedView, num_elements, strides};
use numerics::{DType, I1, Tensor, TensorError};
use program::{BodyShape, EvalError, WindowDim};

/// At most this many places are prepared.
const MAX_PREPARED: usize = 1 << 16;

/// Number of windows along each dimension.
///
/// # Errors
/// If there is not a window for each dimension, or it does not fit.
pub fn num_windows(shape: &[usize], window: &[WindowDim]) -> Result<Vec<usize>, EvalError> {
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
/// them, in the order of their indices in the window, including the padding; elements of short
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
    let mut results =
        init_values.iter().map(|v| v.broadcast_scalar([n])).collect::<Result<Vec<_>, _>>()?;
    let sizes: Vec<usize> = window.iter().map(|d| d.size as usize).collect();
    let shaped = |results: Vec<Tensor>| -> Result<Vec<Tensor>, EvalError> {
        results.into_iter().map(|t| Ok(t.into_shape(&counts)?)).collect()
    };
    if n == 0 || sizes.contains(&0) {
        return shaped(results);
    }
    if let (BodyShape::Binary { op, .. }, [input], [init]) =
        (body.shape, &inputs[..], &init_values[..])
        && !without_padding
        && let Some(result) = combine_windows(op, input, init, window)?
    {
        return shaped(vec![result]);
    }
    let column = |f: fn(&WindowDim) -> i64| window.iter().map(f).collect::<Vec<i64>>();
    let (low, high) = (column(|d| d.pad_low), column(|d| d.pad_high));
    let interior = column(|d| d.base_dilation - 1);
    let padded = inputs.iter().zip(&init_values).map(|(t, v)| pad(t, v, &low, &high, &interior));
    let padded = padded.collect::<Result<Vec<_>, _>>()?;
    let inside = if without_padding {
        let [yes, no] = [true, false].map(|bit| Tensor::scalar(I1::new(bit)));
        Some(pad(&yes.broadcast_scalar(shape)?, &no, &low, &high, &interior)?)
    } else {
        None
    };
    let steps: Vec<isize> = window.iter().map(|d| d.stride as isize).collect();
    let short = num_elements(&sizes).is_some_and(|taps| taps <= SHORT_WINDOW);
    if !short
        && inside.is_none()
        && let Some(axis) = long_axis(&padded, window, n)
    {
        let folded = fold_along(padded, axis, window, &counts, body)?;
        return shaped(body.combine(n, results, folded)?);
    }
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

/// The only dimension along which windows have several elements, if it takes less to combine
/// neighbours in the padded inputs, neighbours of the results, and so on, than the elements of each
/// of `n` windows.
fn long_axis(padded: &[Tensor], window: &[WindowDim], n: usize) -> Option<usize> {
    let mut long = window.iter().enumerate().filter(|(_, dim)| dim.size > 1);
    let (axis, dim) = long.next()?;
    let elements = padded.first()?.num_elements();
    let levels = dim.size.ilog2() as usize + 1;
    let takes_less = 2 * levels.saturating_mul(elements) < n.saturating_mul(dim.size as usize);
    (long.next().is_none() && takes_less).then_some(axis)
}

/// The elements of each window, which are along a dimension, combined in a tree over neighbours:
/// windows share the subtrees of a power of two of elements, one from each element on.
fn fold_along(
    padded: Vec<Tensor>,
    axis: usize,
    window: &[WindowDim],
    counts: &[usize],
    body: &mut Combiner<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    let n = num_elements(counts).unwrap_or(0);
    let steps: Vec<isize> = window.iter().map(|d| d.stride as isize).collect();
    let (count, step) = (window[axis].size as usize, window[axis].window_dilation as usize);
    // The parts of tensors from a place along the dimension on.
    let parts = |tensors: &[Tensor], start: usize, sizes: &[usize], steps: &[isize]| {
        let mut starts = vec![0; sizes.len()];
        starts[axis] = start;
        let part = |tensor: &Tensor| {
            let view = StridedView::window(tensor.shape(), &starts, sizes, steps)?;
            tensor.gather(&view)?.into_shape([num_elements(sizes).unwrap_or(0)])
        };
        tensors.iter().map(part).collect::<Result<Vec<_>, TensorError>>()
    };
    let (mut subtrees, mut folded, mut end) = (padded, None, count);
    for level in 0..=count.ilog2() {
        let leaves = 1 << level;
        if level > 0 {
            let distance = leaves / 2 * step;
            let mut sizes = subtrees.first().map_or(&[][..], |t| t.shape()).to_vec();
            sizes[axis] -= distance;
            let all = num_elements(&sizes).unwrap_or(0);
            let ones = vec![1; sizes.len()];
            let left = parts(&subtrees, 0, &sizes, &ones)?;
            let right = parts(&subtrees, distance, &sizes, &ones)?;
            let next = body.combine(all, left, right)?.into_iter().map(|t| t.into_shape(&sizes));
            subtrees = next.collect::<Result<_, _>>()?;
        }
        if count & leaves != 0 {
            // From the last and smallest subtree of a window on.
            end -= leaves;
            let left = parts(&subtrees, end * step, counts, &steps)?;
            folded = Some(match folded {
                None => left,
                Some(right) => body.combine(n, left, right)?,
            });
        }
    }
    Ok(folded.unwrap_or_default())
}

/// The combination of the elements of each window with a common operation; none for other
/// operations and empty tensors. There is a window, and none is empty.
fn combine_windows(
    op: BinaryOp,
    input: &Tensor,
    init: &Tensor,
    window: &[WindowDim],
) -> Result<Option<Tensor>, EvalError> {
    let dtype = input.dtype();
    let wide = type_of_sums(dtype, window);
    if !is_common(op, wide) {
        return Ok(None);
    }
    let _reserved = budget::reserve::<usize>(places(input.shape(), window)?)?;
    let Some(reduction) = WindowReduction::new(op, wide, input.shape(), window)? else {
        return Ok(None);
    };
    let input = math::convert(input.clone(), wide)?;
    let init = math::convert(init.clone(), wide)?;
    let mut result = Tensor::zeros(wide, [reduction.rows])?;
    reduction.run(input.bytes(), init.bytes(), result.bytes_mut()?)?;
    Ok(Some(math::convert(result, dtype)?))
}

/// The type in which the elements of windows are combined.
fn type_of_sums(dtype: DType, window: &[WindowDim]) -> DType {
    if num_taps(window) <= SHORT_WINDOW { element_type(dtype) } else { sum_type(dtype) }
}

fn num_taps(window: &[WindowDim]) -> usize {
    window.iter().fold(1, |n, dim| n.saturating_mul(dim.size as usize))
}

/// Dimensions of fewer windows are merged into the dimension before.
const SHORT_LINE: usize = 64;

/// The shape and the windows with short dimensions at the end that windows see one element of
/// merged into the one before, if there is a window from each of its elements on: the elements of a
/// window are further apart then.
fn merged(shape: &[usize], window: &[WindowDim]) -> (Vec<usize>, Vec<WindowDim>) {
    let (mut shape, mut window) = (shape.to_vec(), window.to_vec());
    while let ([.., outer, size], [.., before, last]) = (&shape[..], &window[..]) {
        let has_one = (last.size, last.stride, last.pad_low, last.pad_high) == (1, 1, 0, 0)
            && last.base_dilation == 1;
        let is_dense = before.stride == 1 && before.base_dilation == 1;
        let times = |x: i64| i64::try_from(*size).ok().and_then(|size| x.checked_mul(size));
        let (Some(pad_low), Some(pad_high), Some(window_dilation), Some(all)) = (
            times(before.pad_low),
            times(before.pad_high),
            times(before.window_dilation),
            outer.checked_mul(*size),
        ) else {
            break;
        };
        if !has_one || !is_dense || *size >= SHORT_LINE || *size == 0 {
            break;
        }
        let dim = WindowDim { pad_low, pad_high, window_dilation, ..*before };
        shape.truncate(shape.len() - 2);
        shape.push(all);
        window.truncate(window.len() - 2);
        window.push(dim);
    }
    (shape, window)
}

/// The number of lines of windows and of the elements of a window.
fn places(shape: &[usize], window: &[WindowDim]) -> Result<usize, EvalError> {
    let (shape, window) = merged(shape, window);
    let (shape, window) = (&shape[..], &window[..]);
    let counts = num_windows(shape, window)?;
    if row_window(shape, window, &counts).is_some() {
        return Ok(0);
    }
    let lines = num_elements(&counts[..line_of(&counts)]).unwrap_or(usize::MAX);
    Ok(lines.saturating_add(num_taps(window)))
}

/// The size of the last dimension and the window along it, if it is short, and there is a window
/// for each of its elements, which sees no elements along other dimensions.
fn row_window(
    shape: &[usize],
    window: &[WindowDim],
    counts: &[usize],
) -> Option<(usize, WindowDim)> {
    let ((&row, _), (last, others)) = (shape.split_last()?, window.split_last()?);
    let is_one = |d: &WindowDim| {
        (d.size, d.stride, d.pad_low, d.pad_high, d.base_dilation) == (1, 1, 0, 0, 1)
    };
    let is_for_each = (last.stride, last.base_dilation) == (1, 1) && counts == shape;
    let is_short = (2..SHORT_LINE).contains(&row) && last.size <= SHORT_WINDOW as i64;
    (is_for_each && is_short && others.iter().all(is_one)).then_some((row, *last))
}

/// The last dimension that has several windows, which are a line.
fn line_of(counts: &[usize]) -> usize {
    counts.iter().rposition(|&count| count > 1).unwrap_or(0)
}

/// A `reduce_window` of a tensor of known type and shape by a common operation.
#[derive(Debug)]
pub struct WindowReduction {
    op: BinaryOp,
    dtype: DType,
    /// The type in which elements are combined.
    wide: DType,
    /// Number of elements.
    elements: usize,
    /// Number of windows.
    rows: usize,
    padding: Option<Padding>,
    /// The windows along short rows, if there are no others.
    along_rows: Option<(usize, WindowDim)>,
    /// Lines of windows over the elements, or the padded ones.
    line_starts: Vec<usize>,
    stride: usize,
    taps: Vec<usize>,
    edges: Option<Edges>,
}

/// Where elements are in a padded tensor.
#[derive(Debug)]
struct Padding {
    /// Which are in it, unless all are.
    read: Option<Runs>,
    write: Runs,
    /// How many are in it, and how many it has.
    moved: usize,
    elements: usize,
}

impl WindowReduction {
    /// Prepares a `reduce_window`; `None` if there is nothing to combine, many elements have to be
    /// converted before, or the operation is not a common one.
    pub fn prepare(
        body: BodyShape,
        dtype: DType,
        shape: &[usize],
        window: &[WindowDim],
    ) -> Option<WindowReduction> {
        let BodyShape::Binary { op, .. } = body else { return None };
        let wide = type_of_sums(dtype, window);
        if !is_common(op, wide) || places(shape, window).ok()? > MAX_PREPARED {
            return None;
        }
        let reduction = WindowReduction::new(op, dtype, shape, window).ok()??;
        let elements = match &reduction.padding {
            Some(padding) => padding.elements,
            None => reduction.elements,
        };
        (wide == dtype || elements <= MAX_CONVERTED).then_some(reduction)
    }

    fn new(
        op: BinaryOp,
        dtype: DType,
        shape: &[usize],
        window: &[WindowDim],
    ) -> Result<Option<WindowReduction>, EvalError> {
        let (shape, window) = merged(shape, window);
        let (shape, window) = (&shape[..], &window[..]);
        let counts = num_windows(shape, window)?;
        let elements = num_elements(shape).unwrap_or(0);
        let rows = num_elements(&counts).unwrap_or(0);
        if elements == 0 || rows == 0 || num_taps(window) == 0 {
            return Ok(None);
        }
        let wide = type_of_sums(dtype, window);
        if let Some(along_rows) = row_window(shape, window, &counts) {
            return Ok(Some(WindowReduction {
                op,
                dtype,
                wide,
                elements,
                rows,
                padding: None,
                along_rows: Some(along_rows),
                line_starts: Vec::new(),
                stride: 1,
                taps: Vec::new(),
                edges: None,
            }));
        }
        let line = line_of(&counts);
        let is_dilated = |(d, &size): (&WindowDim, &usize)| d.base_dilation > 1 && size > 1;
        let has_holes = window.iter().zip(shape).any(is_dilated);
        let is_padded = has_holes || window.iter().any(|d| (d.pad_low, d.pad_high) != (0, 0));
        let is_whole = |d: usize| {
            let WindowDim { size, stride, pad_low, pad_high, .. } = window[d];
            (size, pad_low, pad_high) == (1, 0, 0) && (stride == 1 || shape[d] == 1)
        };
        let (padding, edges, shape) = if !is_padded {
            (None, None, shape.to_vec())
        } else if num_taps(window) <= SHORT_WINDOW
            && !has_holes
            && (line..shape.len()).all(is_whole)
            && shape[line + 1..].iter().all(|&size| size == 1)
        {
            // Lines see the padding as a whole, or not at all.
            let strides = strides(shape);
            let dim = |d: usize| (window[d], counts[d], shape[d], strides[d]);
            (None, Some(Edges { dims: (0..line).map(dim).collect() }), shape.to_vec())
        } else {
            let column = |f: fn(&WindowDim) -> i64| window.iter().map(f).collect::<Vec<i64>>();
            let (low, high) = (column(|d| d.pad_low), column(|d| d.pad_high));
            let views = StridedView::padded(shape, &low, &high, &column(|d| d.base_dilation - 1));
            let too_large = || EvalError::new("window", "the padded operand is too large");
            let (source, target, padded) = views.ok_or_else(too_large)?;
            let moved = num_elements(source.shape()).unwrap_or(0);
            let len = num_elements(&padded).ok_or_else(too_large)?;
            let is_all = moved == elements;
            let read = if is_all { None } else { Some(Runs::new(&source, elements)?) };
            let write = Runs::new(&target, len)?;
            (Some(Padding { read, write, moved, elements: len }), None, padded)
        };
        let strides = strides(&shape);
        let scaled = |f: fn(&WindowDim) -> i64| -> Vec<usize> {
            let steps = window.iter().zip(&strides);
            // Steps beyond the elements, of windows that see padding only there, are not taken.
            steps.map(|(d, &stride)| (f(d) as usize).saturating_mul(stride)).collect()
        };
        let sizes: Vec<usize> = window.iter().map(|d| d.size as usize).collect();
        let (steps, tap_steps) = (scaled(|d| d.stride), scaled(|d| d.window_dilation));
        let taps = positions(&sizes, |index| dot(index, &tap_steps))?;
        let stride = steps.get(line).copied().unwrap_or(1);
        let outer = &counts[..line.min(counts.len())];
        let line_starts = match (&edges, outer) {
            // Of many short lines.
            (None, &[count]) => {
                let mut starts = Scratch::new(count)?;
                starts.extend((0..count).map(|i| i.saturating_mul(steps[0])));
                starts.into_vec()
            }
            (None, _) => positions(outer, |index| dot(index, &steps))?,
            (Some(edges), _) => positions(outer, |index| edges.start(index).unwrap_or(AT_EDGE))?,
        };
        Ok(Some(WindowReduction {
            op,
            dtype,
            wide,
            elements,
            rows,
            padding,
            along_rows: None,
            line_starts,
            stride,
            taps,
            edges,
        }))
    }

    /// Computes it on the bytes of elements.
    ///
    /// # Errors
    /// If their sizes do not match the types and shapes, or there is no memory for a padded
    /// copy.
    pub fn run(&self, input: &[u8], init: &[u8], out: &mut [u8]) -> Result<(), TensorError> {
        let size = self.dtype.bytes();
        if input.len() != self.elements * size || out.len() != self.rows * size {
            return Err(TensorError::OutOfBounds);
        }
        let WindowReduction { line_starts, stride, taps, .. } = self;
        let windows = WindowLines { line_starts, stride: *stride, taps };
        let layout = Layout::Windows { windows, edges: self.edges.as_ref() };
        let types = [self.dtype, self.wide];
        if let Some((row, window)) = self.along_rows {
            let layout = Layout::RowWindows { row, window };
            return combine_converted(self.op, types, input, init, &layout, out);
        }
        let Some(padding) = &self.padding else {
            return combine_converted(self.op, types, input, init, &layout, out);
        };
        let mut padded = Tensor::unwritten(self.dtype, [padding.elements])?;
        let (read, write) = (padding.read.as_ref(), Some(&padding.write));
        let inside = CopyPart { source: input, elements: padding.moved, read, write };
        copy(&[inside], Some(init), self.dtype, padded.bytes_mut()?)?;
        combine_converted(self.op, types, padded.bytes(), init, &layout, out)
    }
}

impl Kernel for WindowReduction {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let ([input, init], result) = expect_bytes(operands, results)?;
        self.run(input, init, result)
    }

    fn table_entries(&self) -> usize {
        self.line_starts.len() + self.taps.len()
    }
}

/// The result of `place` for each index of a shape.
fn positions(
    sizes: &[usize],
    place: impl Fn(&[usize]) -> usize,
) -> Result<Vec<usize>, TensorError> {
    let mut positions = Scratch::new(num_elements(sizes).unwrap_or(usize::MAX))?;
    let mut indices = Indices::new(sizes);
    while let Some(index) = indices.next_index() {
        positions.push(place(index));
    }
    Ok(positions.into_vec())
}

/// The flat position of an index.
fn dot(index: &[usize], steps: &[usize]) -> usize {
    let products = index.iter().zip(steps).map(|(&i, &step)| i.saturating_mul(step));
    products.fold(0, usize::saturating_add)
}
