//! `stablehlo.reverse`.

use super::prelude::*;

op! {
    /// `operand` with the order of elements along `dimensions` reversed; the shape stays.
    pub ReverseOp, "stablehlo.reverse" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes { dimensions: required I64Array }
        traits [NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "$operand `,` `dims` `=` $dimensions \
                 attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
            ),
        }
    }
}
