//! `stablehlo.dynamic_slice`.

use super::prelude::*;

op! {
    /// The part of `operand` of shape `slice_sizes` that starts at `start_indices`, moved inwards where it would stick
    /// out.
    pub DynamicSliceOp, "stablehlo.dynamic_slice" {
        operands { operand: single TENSOR, start_indices: variadic SCALAR_INT_TENSOR }
        results { result: single TENSOR }
        attributes { slice_sizes: required I64Array }
        traits [Pure]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$operand `,` custom<VariadicOperandWithAttribute>($start_indices) `sizes` `=` $slice_sizes \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let mut operands = eval::all_tensors(operands)?.into_iter();
    let operand = operands.next().ok_or_else(|| EvalError::new("operands", "no operand"))?;
    let starts: Vec<Tensor> = operands.collect();
    let sizes = eval::usizes(op, "slice_sizes")?;
    let starts = eval::clamped_starts(&starts, operand.shape(), &sizes)?;
    let view = StridedView::window(operand.shape(), &starts, &sizes, &vec![1; sizes.len()])?;
    eval::one(operand.gather(&view)?)
}
