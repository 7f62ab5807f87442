//! `stablehlo.case`.

use super::prelude::*;

op! {
    /// The results of branch number `index`, or of the last branch if there is no such; the
    /// branches take no arguments and return values of the same types.
    pub CaseOp, "stablehlo.case" {
        operands { index: single I32_TENSOR }
        results { results: variadic ANY_TENSOR_OR_TOKEN }
        regions { branches: each one }
        traits [RegionsByTypes, RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
        hooks {
            upstream_infers: UpstreamInfers::Everything,
            eval: Some(eval),
            canonicalize: &[("case-of-constant", inline_chosen_branch)],
            refine: Some(|op| infer::branches(op, ["case_c2", "case_c3"]).ok()),
            verify: Some(|op, out| out.extend(verify(op).err())),
            verify_regions: Some(|op, out| out.extend(verify_branches(op).err())),
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    require(op, "case_c1", !op.regions().is_empty(), || {
        "there must be at least one branch; found none".to_string()
    })?;
    check::scalar(op, "case_i1", "index", 0)
}

fn verify_branches(op: OpRef<'_>) -> Verdict {
    let results = infer::branches(op, ["case_c2", "case_c3"])?;
    check::results(op, "case_c4", &results)
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let [index] = eval::tensors(operands)?;
    let branches = CaseOp(op).branches();
    // An index out of range takes the last branch.
    let chosen = usize::try_from(index.item::<i32>()?)
        .ok()
        .and_then(|i| branches.get(i))
        .or(branches.last());
    let branch = chosen.ok_or_else(|| EvalError::new("case_c1", "there are no branches"))?;
    env.region(*branch, Vec::new())
}

/// `case(constant i) { branches }` is what branch `i` computes.
fn inline_chosen_branch(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let index = rw.constant_of(rw.op(op).operands().first().copied()?)?;
    let index = *index.as_dense()?.int_values()?.first()?;
    let branches = rw.op(op).regions();
    let chosen =
        usize::try_from(index).ok().and_then(|i| branches.get(i)).or(branches.last()).copied()?;
    let block = rw.entry(chosen)?;
    let results = rw.inline_block_before(block, op, &[]);
    rw.replace(op, &results);
    Some(())
}
