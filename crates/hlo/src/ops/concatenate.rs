//! `stablehlo.concatenate`.

use super::prelude::*;

op! {
    /// `inputs` one after the other along `dimension`; their other dimensions agree.
    pub ConcatenateOp, "stablehlo.concatenate" {
        operands { inputs: variadic TENSOR }
        results { result: single TENSOR }
        attributes { dimension: required Int(64) }
        traits [NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "custom<VariadicOperandWithAttribute>($inputs) `dim` `=` $dimension \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
