//! `stablehlo.case`.

use super::prelude::*;

op! {
    /// The results of branch number `index`, or of the last branch if there is no such; the branches take no arguments
    /// and return values of the same types.
    pub CaseOp, "stablehlo.case" {
        operands { index: single I32_TENSOR }
        results { results: variadic ANY_TENSOR_OR_TOKEN }
        regions { branches: each one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
    }
}
