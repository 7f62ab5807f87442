//! `stablehlo.dynamic_slice`.

use super::prelude::*;

op! {
    /// The part of `operand` of shape `slice_sizes` that starts at `start_indices`, moved inwards where it would stick
    /// out.
    pub DynamicSliceOp, "stablehlo.dynamic_slice" {
        operands { operand: single TENSOR, start_indices: variadic SCALAR_INT_TENSOR }
        results { result: single TENSOR }
        attributes { slice_sizes: required I64Array }
        traits [Pure]
        hooks {
            assembly: Assembly::Format(
                "$operand `,` custom<VariadicOperandWithAttribute>($start_indices) `sizes` `=` $slice_sizes \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
