//! `stablehlo.torch_index_select`.

use super::prelude::*;

op! {
    /// The slices of `operand` along `dim` at the positions in `index`; deprecated in favour of
    /// `gather`.
    pub TorchIndexSelectOp, "stablehlo.torch_index_select" {
        operands { operand: single TENSOR, index: single TENSOR }
        results { result: single TENSOR }
        attributes { dim: required Int(64), batch_dims: required Int(64) }
        traits [Pure]
        hooks {
            verify_strict: verify,
            prepare: prepare,
        }
    }
}

const LABEL: &str = "torch_index_select";

/// Checks dimensions, and that the result has the shape and the elements that they give.
fn verify(op: OpRef<'_>) -> Verdict {
    let (operand, index, result) = (op.operand_type(0), op.operand_type(1), op.result_type(0));
    let (sizes, chosen) = (shape(operand), shape(index));
    let (dim, batch_dims) = (TorchIndexSelectOp(op).dim(), TorchIndexSelectOp(op).batch_dims());
    require(op, LABEL, (ANY_INTEGER.contains)(index.element_type()), || {
        format!("index must have integers as elements; found {index}")
    })?;
    // Both may count from the end.
    let within = |at: i64, end: usize| usize::try_from(if at < 0 { at + end as i64 } else { at });
    let out_of_range = |name: &str, found: i64, operand: &str, ty: &Type| {
        op.error(LABEL, format!("{name} is {found}, out of range for {operand} of type {ty}"))
    };
    let d = within(dim, sizes.len()).ok().filter(|&d| d < sizes.len());
    let d = d.ok_or_else(|| out_of_range("dim", dim, "operand", operand))?;
    let batch = within(batch_dims, chosen.len()).ok().filter(|&n| n <= chosen.len());
    let batch = batch.ok_or_else(|| out_of_range("batch_dims", batch_dims, "index", index))?;
    require(op, LABEL, batch <= d, || {
        format!("batch_dims must be at most dim; found {batch} batch dimensions and dimension {d}")
    })?;
    require(op, LABEL, compat::shapes(&sizes[..batch], &chosen[..batch]), || {
        format!("the {batch} batch dimensions of operand and index differ: {operand} and {index}")
    })?;
    let required = [&sizes[..d], &chosen[batch..], &sizes[d + 1..]].concat();
    check::has_shape(op, LABEL, "the result", shape(result), &required)?;
    require(op, LABEL, compat::elements(operand, result), || {
        format!("the result must have the elements of operand; found {result} and {operand}")
    })
}

/// The element at `(b, i, k, j)` is that of `operand` at `(b, i, index[b, k], j)`: `b` are
/// `batch_dims` dimensions, `i` those up to `dim`. Indices are clamped, as those of `gather`.
fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let (dimension, batch_dims) =
        (TorchIndexSelectOp(op).dim(), TorchIndexSelectOp(op).batch_dims());
    Ok(Primitive::IndexSelect(primitives::IndexSelect {
        dimension,
        batch_dims,
        declared: prepare::declared(op),
    }))
}
