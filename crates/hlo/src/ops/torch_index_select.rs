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
            prepare: prepare,
        }
    }
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
