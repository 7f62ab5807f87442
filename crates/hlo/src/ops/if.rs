//! `stablehlo.if`.

use super::prelude::*;

op! {
    /// The results of `true_branch` if `pred` is true, else those of `false_branch`; the branches take no arguments and
    /// return values of the same types.
    pub IfOp, "stablehlo.if" {
        operands { pred: single PRED_TENSOR }
        results { results: variadic ANY_TENSOR_OR_TOKEN }
        regions { true_branch: one, false_branch: one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
        hooks { eval: Some(eval) }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let [pred] = eval::tensors(operands)?;
    let branches = IfOp(op);
    let taken = eval::truth(&pred)?;
    env.region(if taken { branches.true_branch() } else { branches.false_branch() }, Vec::new())
}
