//! `stablehlo.rng_bit_generator`.

use super::prelude::*;

op! {
    /// Random bits of the type of `output`, and the state of the generator after them, from `initial_state`.
    pub RngBitGeneratorOp, "stablehlo.rng_bit_generator" {
        operands { initial_state: single INT_OR_FLOAT_TENSOR }
        results { output_state: single INT_OR_FLOAT_TENSOR, output: single STATIC_INT_OR_FLOAT_TENSOR }
        attributes { rng_algorithm: required Enum(&RNG_ALGORITHM) }
        traits [NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "$initial_state `,` `algorithm` `=` $rng_algorithm attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
