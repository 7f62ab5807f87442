//! `stablehlo.concatenate`.

use super::prelude::*;

op! {
    /// `inputs` one after the other along `dimension`; their other dimensions agree.
    pub ConcatenateOp, "stablehlo.concatenate" {
        operands { inputs: variadic TENSOR }
        results { result: single TENSOR }
        attributes { dimension: required Int(64) }
        traits [NoMemoryEffect]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "custom<VariadicOperandWithAttribute>($inputs) `dim` `=` $dimension \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let inputs = eval::all_tensors(operands)?;
    let dimension = eval::usize_attr(op, "dimension")?;
    let first = inputs.first().ok_or_else(|| EvalError::new("concatenate_c1", "there are no inputs"))?;
    if dimension >= first.rank() {
        return Err(EvalError::new("concatenate_c4", format!("there is no dimension {dimension}")));
    }
    let sizes = inputs.iter().map(|t| t.shape().get(dimension).copied().unwrap_or(0));
    let mut shape = first.shape().to_vec();
    shape[dimension] = sizes.sum();
    let mut result = Tensor::zeros(first.dtype(), &shape)?;
    let mut start = vec![0; shape.len()];
    for input in &inputs {
        let view = StridedView::window(&shape, &start, input.shape(), &vec![1; shape.len()])?;
        result.scatter(&view, input)?;
        start[dimension] += input.shape()[dimension];
    }
    eval::one(result)
}
