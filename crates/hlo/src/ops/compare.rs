//! `stablehlo.compare`.

use super::prelude::*;

op! {
    /// Elementwise comparison of `lhs` and `rhs`, of one type, in the given direction: booleans of the same shape.
    pub CompareOp, "stablehlo.compare" {
        operands { lhs: single TENSOR, rhs: single TENSOR }
        results { result: single PRED_TENSOR }
        attributes {
            comparison_direction: required Enum(&COMPARISON_DIRECTION),
            compare_type: optional Enum(&COMPARISON_TYPE),
        }
        traits [Elementwise, NoMemoryEffect, SpeculatableIfAllInputsStatic]
        hooks {
            assembly: Assembly::Format(
                "$comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
