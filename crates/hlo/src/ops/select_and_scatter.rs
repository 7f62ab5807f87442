//! `stablehlo.select_and_scatter`.

use super::prelude::*;

op! {
    /// For each window of `operand`, `select` chooses one element, and `scatter` combines the value of `source` for
    /// that window into the result at its place, from `init_value`. The result has the shape of `operand`.
    pub SelectAndScatterOp, "stablehlo.select_and_scatter" {
        operands { operand: single TENSOR, source: single TENSOR, init_value: single TENSOR }
        results { result: single TENSOR }
        attributes {
            window_dimensions: optional I64Array,
            window_strides: optional I64Array,
            padding: optional IntElements(64),
        }
        regions { select: one, scatter: one }
        traits [RecursiveMemoryEffects]
        hooks { eval: Some(eval) }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let [operand, source, init] = eval::tensors(operands)?;
    let scatter = SelectAndScatterOp(op);
    let ones = vec![1; operand.rank()];
    let sizes = scatter.window_dimensions().and_then(|d| d.as_int_array()).unwrap_or(&ones);
    let window = eval::window_dims(sizes, scatter.window_strides(), scatter.padding(), None, None)?;
    let regions = (scatter.select(), scatter.scatter());
    eval::one(eval::select_and_scatter(env, regions, &operand, &source, &init, &window)?)
}
