//! `stablehlo.uniform_quantize`.

use super::prelude::*;

op! {
    /// Elementwise quantization of floats, or requantization, to the quantized element type of the result; the shape
    /// stays.
    pub UniformQuantizeOp, "stablehlo.uniform_quantize" {
        operands { operand: single FLOAT_OR_ANY_QUANTIZED_TENSOR }
        results { result: single QUANTIZED_TENSOR }
        traits [Elementwise, NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
            ),
        }
    }
}
