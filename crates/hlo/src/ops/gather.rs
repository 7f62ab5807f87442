//! `stablehlo.gather`.

use super::prelude::*;

op! {
    /// Slices of `operand` of sizes `slice_sizes` that start where the vectors in `start_indices` say, moved inwards
    /// where they would stick out. The dimensions of `start_indices` without that of the vectors are the batch
    /// dimensions of the result.
    pub GatherOp, "stablehlo.gather" {
        operands { operand: single TENSOR, start_indices: single INT_TENSOR }
        results { result: single TENSOR }
        attributes {
            dimension_numbers: required Def(&GATHER_DIMENSION_NUMBERS),
            slice_sizes: required I64Array,
            indices_are_sorted: implied Bool => DefaultValue::Bool(false),
        }
        traits [NoMemoryEffect]
    }
}
