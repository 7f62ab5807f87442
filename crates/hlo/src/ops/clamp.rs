//! `stablehlo.clamp`.

use super::prelude::*;

op! {
    /// Elementwise limitation of `operand` to at least `min` and at most `max`, each of the same shape or
    /// 0-dimensional.
    pub ClampOp, "stablehlo.clamp" {
        operands { min: single TENSOR, operand: single TENSOR, max: single TENSOR }
        results { result: single TENSOR }
        traits [NoMemoryEffect, SpeculatableIfAllInputsStatic]
        hooks {
            assembly: Assembly::Format(
                "$min `,` $operand `,` $max \
                 attr-dict `:` custom<SameOperandsAndResultType>(type($min), type($operand), type($max), type($result))",
            ),
        }
    }
}
