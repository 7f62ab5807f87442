//! `stablehlo.dynamic_gather`.

use super::prelude::*;

op! {
    /// `gather` with the slice sizes that the vector `slice_sizes` holds.
    pub DynamicGatherOp, "stablehlo.dynamic_gather" {
        operands {
            operand: single TENSOR,
            start_indices: single INT_TENSOR,
            slice_sizes: single STATIC_1D_INT_TENSOR,
        }
        results { result: single TENSOR }
        attributes {
            dimension_numbers: required Def(&GATHER_DIMENSION_NUMBERS),
            indices_are_sorted: implied Bool => DefaultValue::Bool(false),
        }
        traits [NoMemoryEffect, SpeculatableIfAllInputsStatic]
    }
}
