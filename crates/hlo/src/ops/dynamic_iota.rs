//! `stablehlo.dynamic_iota`.

use super::prelude::*;

op! {
    /// `iota` of the shape that the vector `output_shape` holds.
    pub DynamicIotaOp, "stablehlo.dynamic_iota" {
        operands { output_shape: single STATIC_DIMENSION_TENSOR }
        results { result: single TENSOR }
        attributes { iota_dimension: required Int(64) }
        traits [NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
