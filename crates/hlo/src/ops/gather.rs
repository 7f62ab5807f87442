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
        hooks { eval: Some(eval) }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand, indices] = eval::tensors(operands)?;
    let dims = GatherOp(op).dimension_numbers().and_then(GatherDims::of);
    let dims = dims.ok_or_else(|| eval::missing(op, "dimension_numbers"))?;
    eval::one(eval::gather(&operand, &indices, dims, &eval::usizes(op, "slice_sizes")?)?)
}
