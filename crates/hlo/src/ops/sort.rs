//! `stablehlo.sort`.

use super::prelude::*;

op! {
    /// `inputs`, of one shape, sorted together along `dimension` by `comparator`, which takes a pair of elements of
    /// each.
    pub SortOp, "stablehlo.sort" {
        operands { inputs: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            dimension: implied Int(64) => DefaultValue::I64(-1),
            is_stable: implied Bool => DefaultValue::Bool(false),
        }
        regions { comparator: one }
        traits [RecursiveMemoryEffects]
    }
}
