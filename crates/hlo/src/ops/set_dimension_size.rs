//! `stablehlo.set_dimension_size`.

use super::prelude::*;

op! {
    /// `operand` with one dimension made dynamic, of the size that `size` holds.
    pub SetDimensionSizeOp, "stablehlo.set_dimension_size" {
        operands { operand: single TENSOR, size: single I32_TENSOR }
        results { result: single TENSOR }
        attributes { dimension: required Int(64) }
        traits [NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "$operand `,` $size `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
