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
            verify: Some(|op, out| out.extend(verify(op).err())),
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let (state, output_state) = (op.operand_type(0), op.result_type(0));
    require(op, "rng_bit_generator_c1", compat::types(state, output_state), || {
        format!("output_state must have the type of initial_state; found {output_state} and {state}")
    })
}
