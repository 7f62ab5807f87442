//! `reduce`: folding of dimensions with a region.

use super::accumulator::Accumulator;
use super::body::Combiner;
use super::converted::{convert_into, converted};
use super::extremum;
use super::least_or_largest;
use super::long_windows::{combine_windows, doubling_step};
use super::narrow::{FEW_COLUMNS, NARROW, combine_adjacent, combine_narrow};
use super::operations::{on_bits, operation, operation_type};
use super::parallel::{fold_work, parts_in_parallel, task_size};
use super::row_sums::{add_rows, are_long};
use super::row_windows::combine_row_windows;
use super::short_rows::{are_small, combine_rows, combine_small};
use super::sums::{Addition, Combine, WindowLines, combine_columns};
use super::tree::Tree;
use numerics::budget::{Scratch, reserve};
use numerics::math::{self, AlignedBytes, BinaryOp};
use numerics::shape::{Indices, Runs, StridedView, num_elements};
use numerics::simd::AddEights;
use numerics::{Complex32, Complex64, DType, Element, Number, Tensor, TensorError, bf16, f16};
use program::{BodyShape, EvalError, WindowDim};
use smallvec::SmallVec;

/// Windows of at most this many elements are combined one by one, in the type of the elements.
pub const SHORT_WINDOW: usize = 32;
/// Vectors shorter than this are short: a pass costs more than its elements.
const SHORT_VECTOR: usize = 1024;
/// Rows of a subtree that a thread combines, at least.
const LEAVES: usize = 64;
/// Fewer results are combined with the initial value one by one.
const FEW_RESULTS: usize = 32;

/// The reduction of `inputs`, of one shape, along `dimensions`, from the scalars `init_values`.
/// Elements are combined in a tree over neighbours in the order of their indices, and then
/// with the initial value.
///
/// # Errors
/// If shapes or dimensions do not fit, or the body fails.
pub fn reduce(
    inputs: Vec<Tensor>,
    init_values: Vec<Tensor>,
    dimensions: &[usize],
    body: &mut Combiner<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    let init_values = body.promote(0, init_values)?;
    let inputs = body.promote(init_values.len(), inputs)?;
    let shape = inputs.first().map(|t| t.shape().to_vec()).unwrap_or_default();
    if inputs.iter().any(|t| t.shape() != shape) || inputs.len() != init_values.len() {
        return Err(EvalError::new(
            "reduce_c1",
            "inputs must have one shape, and one initial value each",
        ));
    }
    let rank = shape.len();
    let (mut kept, mut reduced) = (Vec::new(), Vec::new());
    for axis in 0..rank {
        if dimensions.contains(&axis) { reduced.push(axis) } else { kept.push(axis) }
    }
    if reduced.len() != dimensions.len() {
        return Err(EvalError::new(
            "reduce_c4",
            format!("{dimensions:?} are not dimensions of rank {rank}"),
        ));
    }
    let sizes = |axes: &[usize]| axes.iter().map(|&a| shape[a]).collect::<Vec<_>>();
    let result_shape = sizes(&kept);
    let rows = num_elements(&result_shape).unwrap_or(0);
    let count = num_elements(&sizes(&reduced)).unwrap_or(0);
    if rows == 0 || count == 0 {
        return Ok(init_values
            .iter()
            .map(|v| v.broadcast_scalar(&result_shape))
            .collect::<Result<_, _>>()?);
    }

    if let (BodyShape::Binary { op, .. }, [input], [init]) =
        (body.shape, &inputs[..], &init_values[..])
    {
        // Neighbouring dimensions are reduced where they are, unless few elements follow; others
        // are brought together, in front of the kept ones if these are many.
        let is_run = reduced.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let end = reduced.last().map_or(rank, |&axis| axis + 1);
        let inner: usize = shape[end..].iter().product();
        let (input, inner) = if is_run && (inner == 1 || inner >= 16 || inner == rows) {
            (input.clone(), inner)
        } else {
            let by_rows = rows < 8 || reduced.last().is_some_and(|&axis| axis == rank - 1);
            let order = if by_rows { [&kept[..], &reduced[..]] } else { [&reduced[..], &kept[..]] };
            let view = StridedView::dense(&shape)?.permute(&order.concat())?;
            (input.gather(&view)?, if by_rows { 1 } else { rows })
        };
        let layout = Layout::Columns(inner);
        if let Some(result) = combine(op, input, init, rows, &layout)? {
            return Ok(vec![result.into_shape(result_shape)?]);
        }
    }

    if let (true, [values, indices], [value, index]) =
        (body.extremum.is_some() || body.choice.is_some(), &inputs[..], &init_values[..])
    {
        let is_run = reduced.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let end = reduced.last().map_or(rank, |&axis| axis + 1);
        let (pair, inner) = if is_run {
            ([values.clone(), indices.clone()], shape[end..].iter().product())
        } else {
            let view = StridedView::dense(&shape)?.permute(&[&kept[..], &reduced].concat())?;
            ([values.gather(&view)?, indices.gather(&view)?], 1)
        };
        let (sizes, pair) = ([rows / inner, count, inner], pair.each_ref());
        let found = match (body.extremum, body.choice) {
            (Some(kind), _) => extremum::reduce(kind, pair, [value, index], sizes)?,
            (None, Some(by)) => extremum::choose(by, pair, [value, index], sizes)?,
            (None, None) => None,
        };
        if let Some(found) = found {
            let shaped = found.into_iter().map(|t| t.into_shape(&result_shape));
            return Ok(shaped.collect::<Result<_, _>>()?);
        }
    }

    let view = StridedView::dense(&shape)?.permute(&[reduced, kept].concat())?;
    let columns = inputs.iter().map(|t| t.gather(&view)?.into_shape([count * rows]));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let folded = if rows < SHORT_VECTOR {
        fold_levels(columns, count, rows, body)?
    } else {
        let mut tree = Tree::new();
        for i in 0..count {
            let column = run(&columns, i * rows, rows)?;
            tree.try_push(column, |left, right| body.combine(rows, left, right))?;
        }
        tree.try_finish(|left, right| body.combine(rows, left, right))?.unwrap_or_default()
    };
    let start =
        init_values.iter().map(|v| v.broadcast_scalar([rows])).collect::<Result<Vec<_>, _>>()?;
    let folded = body.combine(rows, start, folded)?;
    Ok(folded.into_iter().map(|t| t.into_shape(&result_shape)).collect::<Result<_, _>>()?)
}

/// Memory layout of the elements that are reduced to one result.
pub(super) enum Layout<'a> {
    /// This many elements apart, which is also the number of results before the elements of the
    /// next ones begin.
    Columns(usize),
    /// The elements of windows, of which at most [`SHORT_WINDOW`] are combined one by one. A line
    /// whose start is [`AT_EDGE`] is at an edge.
    Windows { windows: WindowLines<'a>, edges: Option<&'a Edges> },
    /// The elements of at most [`SHORT_WINDOW`] that a window along short rows of `row` elements
    /// sees, one by one. There is a window for each element.
    RowWindows { row: usize, window: WindowDim },
}

/// The start of a line of windows that see elements of the padding.
pub(super) const AT_EDGE: usize = usize::MAX;

/// Windows at the edges of a tensor, which see padding there.
#[derive(Debug)]
pub(super) struct Edges {
    /// The dimensions before that of a line.
    pub dims: Vec<EdgeDim>,
}

/// The window along a dimension, the number of windows, the size and the stride.
type EdgeDim = (WindowDim, usize, usize, usize);

/// The index of the first element that a window sees along a dimension; outside of every tensor
/// if that is out of range.
fn first_seen(window: WindowDim, number: usize) -> i64 {
    (number as i64).saturating_mul(window.stride).saturating_sub(window.pad_low)
}

impl Edges {
    /// Where a line begins whose windows see no padding; `None` for others.
    pub(crate) fn start(&self, index: &[usize]) -> Option<usize> {
        let place = |(&i, &(window, _, size, stride)): (&usize, &EdgeDim)| {
            let start = first_seen(window, i);
            let reach = (window.size - 1).saturating_mul(window.window_dilation);
            let last = start.saturating_add(reach);
            let is_inside = start >= 0 && usize::try_from(last).is_ok_and(|last| last < size);
            is_inside.then(|| start as usize * stride)
        };
        index.iter().zip(&self.dims).map(place).sum()
    }

    /// Copies what the windows of line `number` see, tap after tap, each of `line` elements.
    fn copy<T: Element>(
        &self,
        mut number: usize,
        elements: &[T],
        init: T,
        line: usize,
        seen: &mut Vec<T>,
    ) {
        let mut starts: SmallVec<[i64; 6]> = SmallVec::new();
        for (window, count, ..) in self.dims.iter().rev() {
            starts.push(first_seen(*window, number % count));
            number /= count;
        }
        let sizes: SmallVec<[usize; 6]> =
            self.dims.iter().map(|(window, ..)| window.size as usize).collect();
        let mut taps = Indices::new(&sizes);
        seen.clear();
        while let Some(tap) = taps.next_index() {
            let places = tap.iter().zip(&self.dims).zip(starts.iter().rev());
            let place = places.map(|((&i, &(window, _, size, stride)), start)| {
                let reach = (i as i64).saturating_mul(window.window_dilation);
                let index = usize::try_from(start.saturating_add(reach)).ok()?;
                (index < size).then(|| index * stride)
            });
            match place.sum::<Option<usize>>() {
                Some(place) => seen.extend_from_slice(&elements[place..place + line]),
                None => seen.resize(seen.len() + line, init),
            }
        }
    }
}

impl Layout<'_> {
    /// True for windows whose elements are combined one by one.
    fn is_short_window(&self) -> bool {
        match self {
            Layout::Windows { windows, .. } => windows.taps.len() <= SHORT_WINDOW,
            Layout::RowWindows { .. } => true,
            Layout::Columns(_) => false,
        }
    }
}

/// The `rows` results of combining elements of `input` with a common operation, in a tree over
/// neighbours, and then with `init`; none for other operations. Floats narrower than f32 are
/// combined in f32 and rounded once.
fn combine(
    op: BinaryOp,
    input: Tensor,
    init: &Tensor,
    rows: usize,
    layout: &Layout<'_>,
) -> Result<Option<Tensor>, TensorError> {
    let dtype = input.dtype();
    if let Layout::Columns(inner) = *layout
        && least_or_largest::is_computed(op, dtype)
    {
        let mut result = Tensor::zeros(dtype, [rows])?;
        let elements = [input.bytes(), init.bytes()].map(|bytes| &bytes[..]);
        if least_or_largest::combine(op, dtype, elements, inner, result.bytes_mut()?)? {
            return Ok(Some(result));
        }
    }
    let wide = sum_type(dtype);
    let (input, init) = (math::convert(input, wide)?, math::convert(init.clone(), wide)?);
    let mut result = Tensor::zeros(wide, [rows])?;
    let combined = combine_into(op, wide, input.bytes(), init.bytes(), layout, result.bytes_mut()?);
    match combined? {
        Some(()) => math::convert(result, dtype).map(Some),
        None => Ok(None),
    }
}

/// True for an operation on elements of a type that [`combine_into`] computes.
pub(super) fn is_common(op: BinaryOp, dtype: DType) -> bool {
    operation(op, dtype).is_some()
}

/// The type in which elements are combined one by one.
pub(super) fn element_type(dtype: DType) -> DType {
    operation_type(dtype)
}

/// The type in which elements are combined in a tree: floats are at least `f32`.
pub(super) fn sum_type(dtype: DType) -> DType {
    let is_narrow = dtype.is_float() && dtype.bits() < 32;
    if is_narrow { DType::F32 } else { operation_type(dtype) }
}

/// As [`combine`], on the bytes of elements of one type.
fn combine_into(
    op: BinaryOp,
    dtype: DType,
    input: &[u8],
    init: &[u8],
    layout: &Layout<'_>,
    out: &mut [u8],
) -> Result<Option<()>, TensorError> {
    fn run<T: Element>(
        operation: &dyn Combine<T>,
        (input, init): (&[u8], &[u8]),
        layout: &Layout<'_>,
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        let misaligned = |_| TensorError::OutOfBounds;
        let input = bytemuck::try_cast_slice::<u8, T>(input).map_err(misaligned)?;
        let &[init] = bytemuck::try_cast_slice::<u8, T>(init).map_err(misaligned)? else {
            return Err(TensorError::OutOfBounds);
        };
        let out = bytemuck::try_cast_slice_mut::<u8, T>(out).map_err(misaligned)?;
        combine_typed(operation, input, init, layout, out)
    }
    if let (BinaryOp::Add, DType::C64 | DType::C128, &Layout::Columns(inner)) = (op, dtype, layout)
        && (inner > 1 || dtype == DType::C128)
    {
        // Each part is added separately. Negative zeros add nothing.
        let layout = Layout::Columns(2 * inner);
        if dtype == DType::C64 {
            combine_into(op, DType::F32, input, bytemuck::bytes_of(&-0.0_f32), &layout, out)?;
            add_to_all::<Complex32>(init, out)?;
        } else {
            combine_into(op, DType::F64, input, bytemuck::bytes_of(&-0.0_f64), &layout, out)?;
            add_to_all::<Complex64>(init, out)?;
        }
        quiet_nans(dtype, out);
        return Ok(Some(()));
    }
    let Some(operation) = operation(op, dtype) else { return Ok(None) };
    on_bits!(operation, |o| run(o, (input, init), layout, out))?;
    quiet_nans(dtype, out);
    Ok(Some(()))
}

/// Adds numbers to an initial one.
fn add_to_all<T: Number>(init: &[u8], out: &mut [u8]) -> Result<(), TensorError> {
    let &[init] = bytemuck::try_cast_slice::<u8, T>(init).unwrap_or_default() else {
        return Err(TensorError::OutOfBounds);
    };
    for x in bytemuck::try_cast_slice_mut::<u8, T>(out).unwrap_or_default() {
        *x = init.add(*x);
    }
    Ok(())
}

/// As [`combine_into`], of elements of the first type that are combined in the second one.
pub(super) fn combine_converted(
    op: BinaryOp,
    [dtype, wide]: [DType; 2],
    input: &[u8],
    init: &[u8],
    layout: &Layout<'_>,
    out: &mut [u8],
) -> Result<(), TensorError> {
    let uncommon = TensorError::Unsupported { op: "a reduction", dtype };
    if let Layout::Columns(inner) = *layout
        && least_or_largest::combine(op, dtype, [input, init], inner, out)?
    {
        return Ok(());
    }
    if dtype == wide {
        return combine_into(op, dtype, input, init, layout, out)?.ok_or(uncommon);
    }
    let mut rooms = [const { AlignedBytes::new() }; 2];
    let [init_room, results] = &mut rooms;
    let init = converted(init, [dtype, wide], init_room)?;
    results.resize(out.len() / dtype.bytes() * wide.bytes());
    combine_widened(op, [dtype, wide], input, init, layout, results)?;
    convert_into(results, [wide, dtype], out)
}

/// As [`combine_converted`], with an initial value and results of the second type.
pub(super) fn combine_widened(
    op: BinaryOp,
    [dtype, wide]: [DType; 2],
    input: &[u8],
    init: &[u8],
    layout: &Layout<'_>,
    out: &mut [u8],
) -> Result<(), TensorError> {
    if let (BinaryOp::Add, Layout::Columns(1)) = (op, layout)
        && add_narrow_rows(dtype, input, out)?
    {
        add_to_all::<f32>(init, out)?;
        quiet_nans(wide, out);
        return Ok(());
    }
    let mut room = AlignedBytes::new();
    let input = converted(input, [dtype, wide], &mut room)?;
    combine_converted(op, [wide; 2], input, init, layout, out)
}

/// Writes the sums of rows of narrow floats as `f32`; false, and nothing, for other types and for
/// short rows.
fn add_narrow_rows(dtype: DType, input: &[u8], out: &mut [u8]) -> Result<bool, TensorError> {
    fn run<S: AddEights<Sum = f32>>(input: &[u8], out: &mut [u8]) -> Result<bool, TensorError> {
        let misaligned = |_| TensorError::OutOfBounds;
        let input = bytemuck::try_cast_slice::<u8, S>(input).map_err(misaligned)?;
        let out = bytemuck::try_cast_slice_mut(out).map_err(misaligned)?;
        let len = input.len() / out.len().max(1);
        if !are_long(len) {
            return Ok(false);
        }
        add_rows(input, len, &Addition(<f32 as Number>::add), out);
        Ok(true)
    }
    match dtype {
        DType::BF16 => run::<bf16>(input, out),
        DType::F16 => run::<f16>(input, out),
        _ => Ok(false),
    }
}

fn combine_typed<T: Element>(
    operation: &dyn Combine<T>,
    elements: &[T],
    init: T,
    layout: &Layout<'_>,
    out: &mut [T],
) -> Result<(), TensorError> {
    out.fill(init);
    let rows = out.len();
    if let Layout::Windows { windows: WindowLines { line_starts, stride, taps }, edges: None } =
        *layout
        && let Some(step) = doubling_step(elements.len(), rows, taps)
    {
        let windows = (line_starts, stride, taps.len());
        return combine_windows(operation, (elements, init), windows, step, out);
    }
    let count = elements.len() / rows;
    // The number of results of a task, and of its elements, if they are apart from the elements of
    // other tasks.
    let [size, step] = match *layout {
        Layout::Columns(inner) if inner == rows => {
            let unit = if inner == 1 { 1 } else { SHORT_VECTOR / 8 };
            [task_size(inner, fold_work::<T>(count), unit), 0]
        }
        Layout::Columns(inner) => {
            let groups = task_size(rows / inner, fold_work::<T>(count * inner), 1);
            [groups * inner, groups * inner * count]
        }
        Layout::Windows { windows: WindowLines { line_starts, taps, .. }, .. } => {
            let line = rows / line_starts.len();
            [task_size(line_starts.len(), line * taps.len(), 1) * line, 0]
        }
        Layout::RowWindows { row, window } => {
            let work = row * (window.size as usize + 1);
            [task_size(rows / row, work, 1) * row; 2]
        }
    };
    // The elements under windows at the edges, of a line at a time in each task.
    let seen = match *layout {
        Layout::Windows { windows: WindowLines { line_starts, taps, .. }, edges: Some(_) } => {
            (rows / line_starts.len()).saturating_mul(taps.len())
        }
        _ => 0,
    };
    // Few columns are divided by rows: a thread may have written these in the kernel before.
    if let Layout::Columns(inner) = *layout
        && inner == rows
        && inner < 4 * SHORT_VECTOR
        && combine_shared(operation, elements, [count, inner], out)?
    {
        add_init(operation, init, out);
        return Ok(());
    }
    let part = |task: usize, out: &mut [T]| {
        let _reserved = reserve::<T>(seen)?;
        let elements = &elements[task * step..];
        combine_part(operation, elements, (count, init), task * size, rows, layout, out);
        if !layout.is_short_window() {
            add_init(operation, init, out);
        }
        Ok(())
    };
    if size >= rows {
        return part(0, out);
    }
    parts_in_parallel(out, size, part)
}

/// Combines the initial value with each of some results.
fn add_init<T: Element>(operation: &dyn Combine<T>, init: T, out: &mut [T]) {
    if out.len() < FEW_RESULTS {
        out.iter_mut().for_each(|result| *result = operation.pair(init, *result));
        return;
    }
    let inits = vec![init; out.len().min(SHORT_VECTOR)];
    let mut copies = inits.clone();
    for out in out.chunks_mut(SHORT_VECTOR) {
        let (inits, copies) = (&inits[..out.len()], &mut copies[..out.len()]);
        copies.copy_from_slice(out);
        operation.merge_into(inits, copies, out);
    }
}

/// Combines `count` rows of `inner` results on several threads, a subtree each; false, and nothing
/// is written, if that does not pay.
#[inline(never)]
fn combine_shared<T: Element>(
    operation: &dyn Combine<T>,
    elements: &[T],
    [count, inner]: [usize; 2],
    out: &mut [T],
) -> Result<bool, TensorError> {
    // Subtrees of a power of two of rows, several for each thread if there are many.
    let leaves = LEAVES.max(1 << (count / (8 * host::workers())).max(1).ilog2());
    let parts = count.div_ceil(leaves);
    let together = task_size(parts, fold_work::<T>(leaves.saturating_mul(inner)), 1);
    if together >= parts {
        return Ok(false);
    }
    let mut subtrees: Scratch<T> = Scratch::filled(parts * inner, T::ZERO)?;
    parts_in_parallel(&mut subtrees, together * inner, |task, out| {
        for (nth, out) in out.chunks_mut(inner).enumerate() {
            let start = (task * together + nth) * leaves;
            let len = leaves.min(count - start);
            let elements = &elements[start * inner..(start + len) * inner];
            // The initial value is for padding.
            let layout = Layout::Columns(inner);
            combine_part(operation, elements, (len, T::ZERO), 0, inner, &layout, out);
        }
        Ok::<(), TensorError>(())
    })?;
    let merge = |mut left: Vec<T>, right: Vec<T>| {
        operation.merge(&mut left, &right);
        left
    };
    let mut tree = Tree::new();
    for (part, subtree) in subtrees.chunks(inner).enumerate() {
        // The last part may be smaller than the others.
        match count - part * leaves {
            rest if rest >= leaves => tree.push(subtree.to_vec(), merge),
            _ => tree.push_last(subtree.to_vec()),
        }
    }
    if let Some(results) = tree.finish(merge) {
        out.copy_from_slice(&results);
    }
    Ok(true)
}

/// Combines `count` elements each for some of the `rows` results, from the `first` one on.
/// `elements` are theirs, or all elements if results share lines of elements. `init` is in
/// the padding.
#[inline(never)]
fn combine_part<T: Element>(
    operation: &dyn Combine<T>,
    elements: &[T],
    (count, init): (usize, T),
    first: usize,
    rows: usize,
    layout: &Layout<'_>,
    out: &mut [T],
) {
    match *layout {
        Layout::Columns(1) => combine_rows(elements, count, operation, out),
        Layout::Columns(inner)
            if inner < rows && are_small([count, inner]) && out.len().is_multiple_of(inner) =>
        {
            combine_small(&elements[..out.len() * count], [count, inner], operation, out);
        }
        Layout::Columns(inner) if inner < NARROW && out.len().is_multiple_of(inner) => {
            combine_narrow(elements, [count, inner], operation, out);
        }
        Layout::Columns(inner) => {
            let elements = if inner == rows { &elements[first..] } else { elements };
            let groups = out.chunks_mut(inner).zip(elements.chunks(count * inner));
            for (out, elements) in groups {
                if inner <= FEW_COLUMNS && out.len() == inner {
                    combine_adjacent(elements, [count, inner], operation, out);
                } else {
                    combine_columns(elements, 1, count, &|i| i * inner, operation, out);
                }
            }
        }
        Layout::RowWindows { row, window } => {
            combine_row_windows(operation, (&elements[..out.len()], init), row, window, out);
        }
        Layout::Windows { windows, edges } => {
            let WindowLines { line_starts, taps, .. } = windows;
            let line = rows / line_starts.len();
            let first = first / line;
            let own_taps: Vec<usize> = (0..taps.len()).map(|tap| tap * line).collect();
            let (mut seen, mut done) = (Vec::new(), 0);
            let starts = &line_starts[first..first + out.len() / line];
            for starts in starts.chunk_by(|&x, &y| x != AT_EDGE && y != AT_EDGE) {
                let out = &mut out[done * line..][..starts.len() * line];
                match edges.filter(|_| starts[0] == AT_EDGE) {
                    Some(edges) => {
                        edges.copy(first + done, elements, init, line, &mut seen);
                        let own = WindowLines { line_starts: &[0], stride: 1, taps: &own_taps };
                        combine_windows_of(operation, &seen, own, out);
                    }
                    None => {
                        let windows = WindowLines { line_starts: starts, ..windows };
                        combine_windows_of(operation, elements, windows, out);
                    }
                }
                done += starts.len();
            }
        }
    }
}

/// Combines the elements of each window.
fn combine_windows_of<T: Element>(
    operation: &dyn Combine<T>,
    elements: &[T],
    windows: WindowLines<'_>,
    out: &mut [T],
) {
    let WindowLines { line_starts, stride, taps } = windows;
    let line = out.len() / line_starts.len();
    if taps.len() <= SHORT_WINDOW {
        match common_distance(line_starts) {
            Some(distance) if stride == 1 && line < SHORT_LINE && distance < line + GAP => {
                chain_short_lines(operation, elements, windows, distance, out);
            }
            _ => operation.chain(elements, windows, out),
        }
        return;
    }
    for (out, &start) in out.chunks_exact_mut(line).zip(line_starts) {
        combine_columns(elements, stride, taps.len(), &|i| start + taps[i], operation, out);
    }
}

/// Lines of fewer windows are combined together if they are at equal distances, with fewer windows
/// than [`GAP`] between them.
const SHORT_LINE: usize = 64;
/// Windows that a vector combines.
const GAP: usize = 16;
/// Windows that are combined at a time then.
pub(super) const TOGETHER: usize = 2048;

/// The distance of neighbours among several numbers, if that is the same for all.
fn common_distance(starts: &[usize]) -> Option<usize> {
    let &[first, second, ..] = starts else { return None };
    let distance = second.checked_sub(first)?;
    let is_common = |pair: &[usize]| pair[1].checked_sub(pair[0]) == Some(distance);
    starts.windows(2).all(is_common).then_some(distance)
}

/// Combines the elements of windows in short lines as one line, with the windows between them,
/// whose results are dropped.
fn chain_short_lines<T: Element>(
    operation: &dyn Combine<T>,
    elements: &[T],
    windows: WindowLines<'_>,
    distance: usize,
    out: &mut [T],
) {
    let WindowLines { line_starts, taps, .. } = windows;
    let line = out.len() / line_starts.len();
    if line == distance {
        let windows = WindowLines { line_starts: &line_starts[..1], stride: 1, taps };
        return operation.chain(elements, windows, out);
    }
    let lines = (TOGETHER / distance.max(1)).max(1);
    let len = (lines - 1) * distance + line;
    let rows = StridedView::new(0, [lines, line], [distance as isize, 1]);
    let rows = rows.and_then(|rows| Runs::new(&rows, len));
    let (Some(&init), Ok(rows)) = (out.first(), rows) else {
        return operation.chain(elements, windows, out);
    };
    let mut room = [init; TOGETHER + 2 * SHORT_LINE];
    for (starts, out) in line_starts.chunks(lines).zip(out.chunks_mut(lines * line)) {
        let all = &mut room[..(starts.len() - 1) * distance + line];
        all.fill(init);
        operation.chain(elements, WindowLines { line_starts: &starts[..1], stride: 1, taps }, all);
        rows.read(&room[..len], 0, out);
    }
}

/// Replaces every NaN by one: which of several an operation gives is not defined.
fn quiet_nans(dtype: DType, elements: &mut [u8]) {
    fn quiet<T: Accumulator>(elements: &mut [u8], is_nan: impl Fn(T) -> bool) {
        let elements = bytemuck::try_cast_slice_mut::<u8, T>(elements).unwrap_or_default();
        for part in elements.chunks_mut(SHORT_VECTOR) {
            // Most parts have none, and stay as they are in the cache.
            if part.iter().fold(false, |found, &x| found | is_nan(x)) {
                part.iter_mut().for_each(|x| *x = x.quiet());
            }
        }
    }
    match dtype {
        DType::F32 | DType::C64 => quiet(elements, f32::is_nan),
        DType::F64 | DType::C128 => quiet(elements, f64::is_nan),
        _ => {}
    }
}

/// The part of flat tensors from `start` on, of `len` elements; shares their memory.
fn run(tensors: &[Tensor], start: usize, len: usize) -> Result<Vec<Tensor>, TensorError> {
    let part = |t: &Tensor| {
        let size = t.dtype().bytes();
        let bytes =
            t.bytes().slice(start * size..(start + len) * size).ok_or(TensorError::OutOfBounds)?;
        Tensor::from_bytes(t.dtype(), [len], bytes)
    };
    tensors.iter().map(part).collect()
}

/// The fold of `count` columns of `rows` elements as a [`Tree`] combines them, but level by level,
/// so that there are few passes over long vectors.
fn fold_levels(
    mut columns: Vec<Tensor>,
    mut count: usize,
    rows: usize,
    body: &mut Combiner<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    // The fold of the last columns, which do not fit into pairs.
    let mut rest: Option<Vec<Tensor>> = None;
    while count > 1 {
        if count % 2 == 1 {
            let last = run(&columns, (count - 1) * rows, rows)?;
            rest = Some(match rest {
                Some(rest) => body.combine(rows, last, rest)?,
                None => last,
            });
        }
        count /= 2;
        let side = |offset: usize| -> Result<Vec<Tensor>, TensorError> {
            let strides = [2 * rows as isize, 1];
            let view = StridedView::new(offset, [count, rows], strides)?;
            columns.iter().map(|t| t.gather(&view)?.into_shape([count * rows])).collect()
        };
        columns = body.combine(count * rows, side(0)?, side(rows)?)?;
    }
    match rest {
        Some(rest) => body.combine(rows, columns, rest),
        None => Ok(columns),
    }
}
