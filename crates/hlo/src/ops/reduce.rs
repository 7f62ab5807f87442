//! `stablehlo.reduce`.

use super::prelude::*;

op! {
    /// The reduction of `inputs` along `dimensions` with `body`, from `init_values`; the dimensions disappear from the
    /// shapes.
    pub ReduceOp, "stablehlo.reduce" {
        operands { inputs: variadic TENSOR, init_values: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes { dimensions: required I64Array }
        regions { body: one }
        traits [SameVariadicOperandSize, RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
    }
}
