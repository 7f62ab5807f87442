//! `stablehlo.select`.

use super::prelude::*;

op! {
    /// Elementwise choice: `on_true` where `pred` is true, else `on_false`. `pred` has the shape of
    /// the others or is 0-dimensional.
    pub SelectOp, "stablehlo.select" {
        operands { pred: single PRED_TENSOR, on_true: single TENSOR, on_false: single TENSOR }
        results { result: single TENSOR }
        traits [Elementwise, NoMemoryEffect, SpeculatableIfAllInputsStatic]
        hooks {
            upstream_infers: UpstreamInfers::Everything,
            eval: Some(eval),
            assembly: Assembly::Format(
                "operands \
                 attr-dict `:` custom<SelectOpType>(type($pred), type($on_true), type($on_false), type($result))",
            ),
            infer: Some(infer),
            infer_label: "select_c2",
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let result = infer::merged(op, "select_c2", 1)?;
    let (pred, choice) = (op.operand_type(0), op.operand_type(1));
    let fits = rank(pred) == 0 || compat::shapes(shape(pred), shape(choice));
    require(op, "select_c1", fits, || {
        format!(
            "pred must be 0-dimensional or have the shape of on_true; found {pred} and {choice}"
        )
    })?;
    Ok(vec![result])
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    eval::quantize::around(op, operands, |operands| {
        let [pred, on_true, on_false] = eval::exactly(operands)?;
        let [on_true, on_false] = if pred.rank() == 0 || on_true.shape() != on_false.shape() {
            eval::level([on_true, on_false])?
        } else {
            // Both of them scalars, one for each element of the predicate.
            let [on_true, on_false, _] = eval::level([on_true, on_false, pred.clone()])?;
            [on_true, on_false]
        };
        Ok(vec![math::select(&pred, &on_true, &on_false)?])
    })
}
