//! `stablehlo.imag`.

use super::prelude::*;

op! {
    /// Elementwise imaginary part, which is zero for floats. The shape stays.
    pub ImagOp, "stablehlo.imag" {
        operands { operand: single FLOAT_OR_COMPLEX_TENSOR }
        results { result: single FLOAT_TENSOR }
        traits [Elementwise, NoMemoryEffect]
        hooks {
            prepare: Some(prepare::unary),
            assembly: Assembly::Format(
                "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
            ),
            infer: Some(infer::real_part),
            infer_label: "imag_c2",
        }
    }
}
