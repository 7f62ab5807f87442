//! `stablehlo.dynamic_reshape`.

use super::prelude::*;

op! {
    /// `reshape` to the shape that the vector `output_shape` holds.
    pub DynamicReshapeOp, "stablehlo.dynamic_reshape" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED, output_shape: single STATIC_DIMENSION_TENSOR }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        traits [NoMemoryEffect, SpeculatableIfAllInputsStatic]
        hooks { assembly: Assembly::Format("operands attr-dict `:` functional-type(operands, results)") }
    }
}
