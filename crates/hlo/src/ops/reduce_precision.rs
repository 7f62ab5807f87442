//! `stablehlo.reduce_precision`.

use super::prelude::*;

op! {
    /// Elementwise rounding to a float format of `exponent_bits` and `mantissa_bits`, and back;
    /// type and shape stay.
    pub ReducePrecisionOp, "stablehlo.reduce_precision" {
        operands { operand: single FLOAT_OR_QUANTIZED_TENSOR }
        results { output: single FLOAT_OR_QUANTIZED_TENSOR }
        attributes { exponent_bits: required Int(32), mantissa_bits: required Int(32) }
        traits [Elementwise, NoMemoryEffect, quantized::EXPRESSED]
        rules include_str!("reduce_precision.txt");
        hooks {
            format:
                "$operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits) \
                 attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($output))",
            verify: verify,
            infer: infer::first_operand,
            infer_label: "reduce_precision_c1",
            prepare: prepare,
            speculate: speculation::shaped_as_operand,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::at_least(
        op,
        "reduce_precision_c2",
        "exponent_bits",
        &[ReducePrecisionOp(op).exponent_bits()],
        1,
    )?;
    check::at_least(
        op,
        "reduce_precision_c3",
        "mantissa_bits",
        &[ReducePrecisionOp(op).mantissa_bits()],
        0,
    )
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let bits = |n: i64| u32::try_from(n).unwrap_or(u32::MAX);
    let view = ReducePrecisionOp(op);
    Ok(Primitive::ReducePrecision(primitives::ReducePrecision {
        exponent_bits: bits(view.exponent_bits()),
        mantissa_bits: bits(view.mantissa_bits()),
    }))
}
