//! `stablehlo.scatter`.

use super::prelude::*;

op! {
    /// `inputs` with the slices that start where the vectors in `scatter_indices` say combined with `updates` by
    /// `update_computation`; slices that would stick out are skipped.
    pub ScatterOp, "stablehlo.scatter" {
        operands { inputs: variadic TENSOR, scatter_indices: single INDICES_TENSOR, updates: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            scatter_dimension_numbers: required Def(&SCATTER_DIMENSION_NUMBERS),
            indices_are_sorted: implied Bool => DefaultValue::Bool(false),
            unique_indices: implied Bool => DefaultValue::Bool(false),
        }
        regions { update_computation: one }
        traits [SameVariadicOperandSize, RecursiveMemoryEffects]
        hooks { eval: Some(eval) }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let mut tensors = eval::all_tensors(operands)?;
    let n = tensors.len() / 2;
    let updates = tensors.split_off((n + 1).min(tensors.len()));
    let (Some(indices), Some(first)) = (tensors.pop(), updates.first()) else {
        return Err(EvalError::new("operands", "there are no indices or updates"));
    };
    let mut results = tensors;
    let dims = ScatterOp(op).scatter_dimension_numbers().and_then(ScatterDims::of);
    let dims = dims.ok_or_else(|| eval::missing(op, "scatter_dimension_numbers"))?;
    let shape = results.first().map(|t| t.shape().to_vec()).unwrap_or_default();
    let targets = eval::scatter_targets(&shape, &indices, first.shape(), dims)?;
    eval::update(env, ScatterOp(op).update_computation(), &mut results, &updates, &targets)?;
    Ok(results.into_iter().map(RuntimeValue::Tensor).collect())
}
