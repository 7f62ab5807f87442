//! `stablehlo.case`.

use super::prelude::*;

op! {
    /// The results of branch number `index`, or of the last branch if there is no such; the branches take no arguments
    /// and return values of the same types.
    pub CaseOp, "stablehlo.case" {
        operands { index: single I32_TENSOR }
        results { results: variadic ANY_TENSOR_OR_TOKEN }
        regions { branches: each one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
        hooks { eval: Some(eval) }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let [index] = eval::tensors(operands)?;
    let branches = CaseOp(op).branches();
    // An index out of range takes the last branch.
    let chosen = usize::try_from(index.item::<i32>()?).ok().and_then(|i| branches.get(i)).or(branches.last());
    let branch = chosen.ok_or_else(|| EvalError::new("case_c1", "there are no branches"))?;
    env.region(*branch, Vec::new())
}
