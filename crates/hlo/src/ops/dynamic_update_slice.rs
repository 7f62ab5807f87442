//! `stablehlo.dynamic_update_slice`.

use super::prelude::*;

op! {
    /// `operand` with the part that starts at `start_indices` (moved inwards where it would stick out) replaced by
    /// `update`.
    pub DynamicUpdateSliceOp, "stablehlo.dynamic_update_slice" {
        operands { operand: single TENSOR, update: single TENSOR, start_indices: variadic SCALAR_INT_TENSOR }
        results { result: single TENSOR }
        traits [Pure]
        hooks { assembly: Assembly::Format("operands attr-dict `:` functional-type(operands, results)") }
    }
}
