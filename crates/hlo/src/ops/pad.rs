//! `stablehlo.pad`.

use super::prelude::*;

op! {
    /// `operand` with `padding_value` at the edges and between elements, as many a dimension as the three lists say;
    /// negative edges cut.
    pub PadOp, "stablehlo.pad" {
        operands { operand: single TENSOR, padding_value: single SCALAR_TENSOR }
        results { result: single TENSOR }
        attributes {
            edge_padding_low: required I64Array,
            edge_padding_high: required I64Array,
            interior_padding: required I64Array,
        }
        traits [NoMemoryEffect]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` \
                 `high` `=` $edge_padding_high `,` `interior` `=` $interior_padding \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand, padding] = eval::tensors(operands)?;
    let list = |name| op.int_array(name).ok_or_else(|| eval::missing(op, name));
    let (low, high) = (list("edge_padding_low")?, list("edge_padding_high")?);
    eval::one(eval::pad(&operand, &padding, low, high, list("interior_padding")?)?)
}
