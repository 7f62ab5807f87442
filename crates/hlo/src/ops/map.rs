//! `stablehlo.map`.

use super::prelude::*;

op! {
    /// The scalar function `computation` at each position of `inputs`, which all have the shape of the result.
    pub MapOp, "stablehlo.map" {
        operands { inputs: variadic TENSOR }
        results { result: single TENSOR }
        attributes { dimensions: required I64Array }
        regions { computation: one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
    }
}
