//! `stablehlo.case`.

use super::prelude::*;

op! {
    /// The results of branch number `index`, or of the last branch if `index` is out of range; the
    /// branches take no arguments and return values of the same types.
    pub CaseOp, "stablehlo.case" {
        operands { index: single I32_TENSOR }
        results { results: variadic ANY_TENSOR_OR_TOKEN }
        regions { branches: each one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
        rules include_str!("case.txt");
        hooks {
            verify: verify,
            verify_regions: verify_branches,
            refine: refine,
            prepare: prepare,
            speculate: speculation::as_regions,
            canonicalize: &[("case-of-constant", inline_chosen_branch)],
        }
    }
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    infer::branches(op, ["case_c2", "case_c3"]).ok()
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

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let branches = CaseOp(op).branches();
    let blocks = branches.iter().map(|&branch| cx.block(branch)).collect::<Result<_, _>>()?;
    Ok(Primitive::Case(primitives::Case { branches: blocks }))
}

/// `case(constant i) { branches }` is inlined to branch `i`.
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
