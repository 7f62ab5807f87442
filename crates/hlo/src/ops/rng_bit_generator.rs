//! `stablehlo.rng_bit_generator`.

use super::prelude::*;

op! {
    /// Random bits of the type of `output`, and the state of the generator after them, from
    /// `initial_state`.
    pub RngBitGeneratorOp, "stablehlo.rng_bit_generator" {
        operands { initial_state: single INT_OR_FLOAT_TENSOR }
        results {
            output_state: single INT_OR_FLOAT_TENSOR,
            output: single STATIC_INT_OR_FLOAT_TENSOR,
        }
        attributes { rng_algorithm: required Enum(&RNG_ALGORITHM) }
        traits [NoMemoryEffect]
        rules include_str!("rng_bit_generator.txt");
        hooks {
            format:
                "$initial_state `,` `algorithm` `=` $rng_algorithm attr-dict `:` \
                 functional-type(operands, results)",
            verify: verify,
            verify_strict: verify_strict,
            prepare: prepare,
            speculate: speculation::shaped_as_operand,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let (state, output_state) = (op.operand_type(0), op.result_type(0));
    require(op, "rng_bit_generator_c1", compat::types(state, output_state), || {
        format!(
            "output_state must have the type of initial_state; found {output_state} and {state}"
        )
    })
}

/// Checks that the state is one of the algorithm: upstream's verifier accepts any numbers.
fn verify_strict(op: OpRef<'_>) -> Verdict {
    let state = op.operand_type(0);
    let is_of_words = [Type::ui64(), Type::i64()].contains(state.element_type());
    let is_vector = state.shape().is_none_or(|shape| shape.len() == 1);
    require(op, "rng_bit_generator_i2", is_of_words && is_vector, || {
        format!("initial_state must be a vector of ui64; found {state}")
    })?;
    let &[size] = shape(state) else { return Ok(()) };
    let algorithm = RNG_ALGORITHM.case(RngBitGeneratorOp(op).rng_algorithm()).unwrap_or_default();
    let (sizes, fits) = match algorithm {
        "THREE_FRY" => ("2", size == 2),
        _ => ("2 or 3", matches!(size, 2 | 3)),
    };
    require(op, "rng_bit_generator_c2", size == DYNAMIC || fits, || {
        format!("initial_state must have {sizes} elements for {algorithm}; found {state}")
    })
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    // XLA's default on CPU is Philox, and so it is here.
    let generator = match RNG_ALGORITHM.case(RngBitGeneratorOp(op).rng_algorithm()) {
        Some("THREE_FRY") => Generator::ThreeFry,
        Some("DEFAULT" | "PHILOX") => Generator::Philox,
        _ => return Err(prepare::missing(op, "rng_algorithm")),
    };
    let shape = Some(prepare::expect_static(op, 1)?);
    let dtype = prepare::storage_dtype(op.result_type(1))?;
    Ok(Primitive::RandomBits(primitives::RandomBits { generator, shape, dtype }))
}
