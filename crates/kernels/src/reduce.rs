//! `reduce`: folding of dimensions with a region.

use super::body::{Combiner, dispatch_operation};
use numerics::math::BinaryOp;
use numerics::shape::{StridedView, num_elements};
use numerics::{Element, Tensor, TensorError};
use program::{BodyShape, EvalError};

/// A tree of few passes over long vectors replaces a chain of more short passes than this.
const LONG_CHAIN: usize = 32;
/// Vectors shorter than this are short: a pass costs more than its elements.
const SHORT_VECTOR: usize = 1024;

/// The reduction of `inputs`, of one shape, along `dimensions`, from the scalars `init_values`.
/// Elements are folded in index order.
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
        // Rows of neighbouring elements where they are in memory, or few; else columns, all at a
        // time.
        let by_rows = rows < 8 || reduced.iter().eq(&(kept.len()..rank).collect::<Vec<_>>());
        let order =
            if by_rows { [&kept[..], &reduced[..]] } else { [&reduced[..], &kept[..]] }.concat();
        let input = input.gather(&StridedView::dense(&shape)?.permute(&order)?)?;
        if let Some(result) = fold(op, &input, init, rows, by_rows)? {
            return Ok(vec![result.into_shape(result_shape)?]);
        }
    }

    let view = StridedView::dense(&shape)?.permute(&[reduced, kept].concat())?;
    let columns = inputs.iter().map(|t| t.gather(&view)?.into_shape([count * rows]));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let start =
        init_values.iter().map(|v| v.broadcast_scalar([rows])).collect::<Result<Vec<_>, _>>()?;
    let folded = if count > LONG_CHAIN && rows < SHORT_VECTOR {
        let folded = fold_tree(columns, count, rows, body)?;
        body.combine(rows, start, folded)?
    } else {
        let mut folded = start;
        for i in 0..count {
            let values = run(&columns, i * rows, rows)?;
            folded = body.combine(rows, folded, values)?;
        }
        folded
    };
    Ok(folded.into_iter().map(|t| t.into_shape(&result_shape)).collect::<Result<_, _>>()?)
}

/// The fold of `rows` rows of a tensor with a common operation, each from `init`; none for other
/// operations. The operations commute. With `by_rows` the elements of a row are neighbours, else
/// those of a column.
fn fold(
    op: BinaryOp,
    input: &Tensor,
    init: &Tensor,
    rows: usize,
    by_rows: bool,
) -> Result<Option<Tensor>, TensorError> {
    fn typed<T: Element>(
        f: impl Fn(T, T) -> T + Copy,
        input: &Tensor,
        init: &Tensor,
        rows: usize,
        by_rows: bool,
    ) -> Result<Option<Tensor>, TensorError> {
        let (elements, init) = (input.as_slice::<T>()?, init.item::<T>()?);
        let mut folded = vec![init; rows];
        if by_rows {
            for (accumulator, row) in
                folded.iter_mut().zip(elements.chunks_exact(elements.len() / rows))
            {
                *accumulator = row.iter().fold(init, |x, &y| f(x, y));
            }
        } else {
            for column in elements.chunks_exact(rows) {
                for (accumulator, &x) in folded.iter_mut().zip(column) {
                    *accumulator = f(*accumulator, x);
                }
            }
        }
        Tensor::from_vec([rows], folded).map(Some)
    }
    dispatch_operation!(op, input.dtype(), |T, f| typed::<T>(f, input, init, rows, by_rows), else Ok(None))
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

/// The fold of `count` columns of `rows` elements, neighbours first: a balanced tree, in order.
fn fold_tree(
    mut columns: Vec<Tensor>,
    mut count: usize,
    rows: usize,
    body: &mut Combiner<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    // What does not fit into pairs: the fold of the last columns.
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
