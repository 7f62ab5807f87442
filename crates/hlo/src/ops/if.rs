//! `stablehlo.if`.

use super::prelude::*;

op! {
    /// The results of `true_branch` if `pred` is true, else those of `false_branch`; the branches
    /// take no arguments and return values of the same types.
    pub IfOp, "stablehlo.if" {
        operands { pred: single PRED_TENSOR }
        results { results: variadic ANY_TENSOR_OR_TOKEN }
        regions { true_branch: one, false_branch: one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
        rules include_str!("if.txt");
        hooks {
            verify: verify,
            verify_regions: verify_branches,
            refine: refine,
            prepare: prepare,
            speculate: speculation::as_regions,
        }
    }
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    infer::branches(op, ["if_c1", "if_c2"]).ok()
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::scalar(op, "if_i1", "pred", 0)
}

fn verify_branches(op: OpRef<'_>) -> Verdict {
    let results = infer::branches(op, ["if_c1", "if_c2"])?;
    check::results(op, "if_c3", &results)
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let branches = IfOp(op);
    Ok(Primitive::If(primitives::If {
        branches: [cx.block(branches.true_branch())?, cx.block(branches.false_branch())?],
    }))
}
