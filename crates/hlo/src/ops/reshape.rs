//! `stablehlo.reshape`.

use super::prelude::*;

op! {
    /// The elements of `operand` in row-major order under another shape.
    pub ReshapeOp, "stablehlo.reshape" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single STATIC_OR_BOUNDED_TENSOR }
        traits [NoMemoryEffect]
        hooks { assembly: Assembly::Format("operands attr-dict `:` functional-type(operands, results)") }
    }
}
