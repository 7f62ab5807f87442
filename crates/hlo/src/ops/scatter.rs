//! `stablehlo.scatter`.

use super::prelude::*;

op! {
    /// `inputs` with the slices that start where the vectors in `scatter_indices` say combined with `updates` by
    /// `update_computation`; slices that would stick out are skipped.
    pub ScatterOp, "stablehlo.scatter" {
        operands { inputs: variadic TENSOR, scatter_indices: single INDICES_TENSOR, updates: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            scatter_dimension_numbers: required Def(&SCATTER_DIMENSION_NUMBERS),
            indices_are_sorted: implied Bool => DefaultValue::Bool(false),
            unique_indices: implied Bool => DefaultValue::Bool(false),
        }
        regions { update_computation: one }
        traits [SameVariadicOperandSize, RecursiveMemoryEffects]
    }
}
