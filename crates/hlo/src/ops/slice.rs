//! `stablehlo.slice`.

use super::prelude::*;

op! {
    /// The elements of `operand` from `start_indices` up to but without `limit_indices`, by `strides`, one of each a
    /// dimension.
    pub SliceOp, "stablehlo.slice" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes { start_indices: required I64Array, limit_indices: required I64Array, strides: required I64Array }
        traits [NoMemoryEffect]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$operand custom<SliceRanges>($start_indices, $limit_indices, $strides) \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    let (starts, limits) = (eval::usizes(op, "start_indices")?, eval::usizes(op, "limit_indices")?);
    let strides = eval::usizes(op, "strides")?;
    let sizes: Vec<usize> = (0..operand.rank().min(starts.len()).min(limits.len()).min(strides.len()))
        .map(|d| limits[d].saturating_sub(starts[d]).div_ceil(strides[d].max(1)))
        .collect();
    let steps: Vec<isize> = strides.iter().map(|&s| isize::try_from(s).unwrap_or(isize::MAX)).collect();
    let view = StridedView::window(operand.shape(), &starts, &sizes, &steps)?;
    eval::one(operand.gather(&view)?)
}
