//! `stablehlo.reduce_window`.

use super::prelude::*;

op! {
    /// The reduction of windows of `inputs`, which slide over padded and dilated inputs, with `body`, from
    /// `init_values`.
    pub ReduceWindowOp, "stablehlo.reduce_window" {
        operands { inputs: variadic TENSOR, init_values: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            window_dimensions: required I64Array,
            window_strides: optional I64Array,
            base_dilations: optional I64Array,
            window_dilations: optional I64Array,
            padding: optional IntElements(64),
        }
        regions { body: one }
        traits [SameVariadicOperandSize, RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
    }
}
