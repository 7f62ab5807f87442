//! `stablehlo.torch_index_select`.

use super::prelude::*;

op! {
    /// The slices of `operand` along `dim` that `index` names; deprecated in favour of `gather`.
    pub TorchIndexSelectOp, "stablehlo.torch_index_select" {
        operands { operand: single TENSOR, index: single TENSOR }
        results { result: single TENSOR }
        attributes { dim: required Int(64), batch_dims: required Int(64) }
        traits [Pure]
    }
}
