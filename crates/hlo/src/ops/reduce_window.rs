//! `stablehlo.reduce_window`.

use super::prelude::*;

op! {
    /// The reduction of windows of `inputs`, which slide over padded and dilated inputs, with `body`, from
    /// `init_values`.
    pub ReduceWindowOp, "stablehlo.reduce_window" {
        operands { inputs: variadic TENSOR, init_values: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            window_dimensions: required I64Array,
            window_strides: optional I64Array,
            base_dilations: optional I64Array,
            window_dilations: optional I64Array,
            padding: optional IntElements(64),
        }
        regions { body: one }
        traits [SameVariadicOperandSize, RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
        hooks { eval: Some(eval) }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let mut inputs = eval::all_tensors(operands)?;
    let init_values = inputs.split_off(inputs.len() / 2);
    let reduce = ReduceWindowOp(op);
    let sizes = reduce.window_dimensions().and_then(|d| d.as_int_array());
    let window = eval::window_dims(
        sizes.ok_or_else(|| eval::missing(op, "window_dimensions"))?,
        reduce.window_strides(),
        reduce.padding(),
        reduce.base_dilations(),
        reduce.window_dilations(),
    )?;
    let results = eval::reduce_window(env, reduce.body(), &inputs, &init_values, &window)?;
    Ok(results.into_iter().map(RuntimeValue::Tensor).collect())
}
