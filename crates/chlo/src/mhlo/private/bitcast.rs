//! `mhlo.bitcast`.

use super::invalid;
use crate::constraints::TENSOR;
use mlir::prepare::{Prepared, Preparer, native, value_type};
use mlir::{OpRef, Verdict, op};
use numerics::shape::StridedView;
use numerics::{Tensor, math};
use program::{EvalError, ValueType, operands};

op! {
    /// The bytes of `operand` in memory, read with another shape or element type. The discardable
    /// attributes `source_layout` and `result_layout` list dimensions from minor to major; without
    /// them, the last dimension is the most minor.
    pub BitcastOp, "mhlo.bitcast" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        traits [Pure]
        hooks {
            format: "operands attr-dict `:` functional-type(operands, results)",
            verify: verify,
            prepare: prepare,
        }
    }
}

/// The dimensions of a layout from major to minor.
fn layout(op: OpRef<'_>, name: &str, rank: usize) -> Result<Vec<usize>, EvalError> {
    let Some(attribute) = op.attr(name) else { return Ok((0..rank).collect()) };
    let values = attribute.as_dense().and_then(|dense| dense.int_values());
    let order: Vec<usize> = values
        .unwrap_or_default()
        .into_iter()
        .rev()
        .map(|d| usize::try_from(d).unwrap_or(usize::MAX))
        .collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..rank) {
        let message =
            format!("{name} must list each of {rank} dimensions once; found {attribute:.80}");
        return Err(invalid(message));
    }
    Ok(order)
}

/// The dimensions of operand and result from major to minor.
fn layouts(op: OpRef<'_>) -> Result<[Vec<usize>; 2], EvalError> {
    let rank = |ty: &mlir::Type| ty.shape().map_or(0, <[i64]>::len);
    let source = layout(op, "source_layout", rank(op.operand_type(0)))?;
    Ok([source, layout(op, "result_layout", rank(op.result_type(0)))?])
}

fn verify(op: OpRef<'_>) -> Verdict {
    layouts(op).map(drop).map_err(|error| op.error("mhlo", error.message()))
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let [source, target] = layouts(op)?;
    let ValueType::Tensor { dtype, shape, .. } = value_type(op.result_type(0)) else {
        return Err(invalid("the type of the result has no elements in memory"));
    };
    let shape: Vec<usize> = shape
        .iter()
        .map(|&size| usize::try_from(size))
        .collect::<Result<_, _>>()
        .map_err(|_| invalid("the shape of the result must be static"))?;
    native(op, move |operands| {
        let [operand] = operands::tensors(operands)?;
        let view = StridedView::dense(operand.shape())?.permute(&source)?;
        let count = operand.num_elements();
        let flat = operand.gather(&view)?.into_shape([count])?;
        // Narrow elements that make up a wider one come along a last dimension.
        let group = (dtype.bits() / flat.dtype().bits().max(1)) as usize;
        let grouped = match group > 1 && count.is_multiple_of(group) {
            true => flat.into_shape([count / group, group])?,
            false => flat,
        };
        let read: Tensor = math::bitcast(&grouped, dtype)?;
        let sizes: Vec<usize> = target.iter().map(|&d| shape[d]).collect();
        let read = read.into_shape(sizes)?;
        let mut back = vec![0; target.len()];
        target.iter().enumerate().for_each(|(to, &from)| back[from] = to);
        let view = StridedView::dense(read.shape())?.permute(&back)?;
        Ok(vec![read.gather(&view)?.into()])
    })
}
