//! `stablehlo.map`.

use super::prelude::*;

op! {
    /// The scalar function `computation` at each position of `inputs`, which all have the shape of the result.
    pub MapOp, "stablehlo.map" {
        operands { inputs: variadic TENSOR }
        results { result: single TENSOR }
        attributes { dimensions: required I64Array }
        regions { computation: one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
        hooks { eval: Some(eval) }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let inputs = eval::all_tensors(operands)?;
    let shape = inputs.first().map(|t| t.shape().to_vec());
    let shape = shape.ok_or_else(|| EvalError::new("map_c1", "there are no inputs"))?;
    let n = inputs[0].num_elements();
    let flat: Result<Vec<Tensor>, _> = inputs.into_iter().map(|t| t.into_shape([n])).collect();
    let results = env.scalar_region(MapOp(op).computation(), n, flat?)?;
    results.into_iter().map(|t| Ok(t.into_shape(&shape)?.into())).collect()
}
