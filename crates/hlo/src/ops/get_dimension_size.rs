//! `stablehlo.get_dimension_size`.

use super::prelude::*;

op! {
    /// The size of one dimension: an `i32`.
    pub GetDimensionSizeOp, "stablehlo.get_dimension_size" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single I32_TENSOR }
        attributes { dimension: required Int(64) }
        traits [Pure]
        hooks {
            assembly: Assembly::Format(
                "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
