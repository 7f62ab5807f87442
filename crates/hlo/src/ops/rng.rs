//! `stablehlo.rng`.

use super::prelude::*;

op! {
    /// Random numbers of shape `shape`: uniform in `[a, b)`, or normal with mean `a` and standard deviation `b`.
    pub RngOp, "stablehlo.rng" {
        operands {
            a: single SCALAR_PRED_INT_OR_FLOAT_TENSOR,
            b: single SCALAR_PRED_INT_OR_FLOAT_TENSOR,
            shape: single STATIC_DIMENSION_TENSOR,
        }
        results { result: single PRED_INT_OR_FLOAT_TENSOR }
        attributes { rng_distribution: required Enum(&RNG_DISTRIBUTION) }
        hooks {
            assembly: Assembly::Format(
                "$a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
