//! `stablehlo.slice`.

use super::prelude::*;

op! {
    /// The elements of `operand` from `start_indices` up to but without `limit_indices`, by `strides`, one of each a
    /// dimension.
    pub SliceOp, "stablehlo.slice" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes { start_indices: required I64Array, limit_indices: required I64Array, strides: required I64Array }
        traits [NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "$operand custom<SliceRanges>($start_indices, $limit_indices, $strides) \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
