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
        hooks { eval: Some(eval) }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand, indices, sizes] = eval::tensors(operands)?;
    let dims = DynamicGatherOp(op).dimension_numbers().and_then(GatherDims::of);
    let dims = dims.ok_or_else(|| eval::missing(op, "dimension_numbers"))?;
    let sizes = eval::sizes(&sizes)?;
    eval::one(eval::gather(&operand, &indices, dims, &sizes)?)
}
