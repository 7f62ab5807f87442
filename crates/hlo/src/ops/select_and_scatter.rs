//! `stablehlo.select_and_scatter`.

use super::prelude::*;

op! {
    /// For each window of `operand`, `select` chooses one element, and `scatter` combines the value of `source` for
    /// that window into the result at its place, from `init_value`. The result has the shape of `operand`.
    pub SelectAndScatterOp, "stablehlo.select_and_scatter" {
        operands { operand: single TENSOR, source: single TENSOR, init_value: single TENSOR }
        results { result: single TENSOR }
        attributes {
            window_dimensions: optional I64Array,
            window_strides: optional I64Array,
            padding: optional IntElements(64),
        }
        regions { select: one, scatter: one }
        traits [RecursiveMemoryEffects]
    }
}
