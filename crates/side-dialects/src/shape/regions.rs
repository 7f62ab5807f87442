//! Ops with regions: code that runs under a witness, and folds over the sizes of a shape.

use super::types::{SHAPE_OR_EXTENTS, WITNESS_ONLY};
use mlir::ods::{Assembly, TypeConstraint};
use mlir::{Diagnostics, OpRef, Type, op};

op! {
    /// Runs its region, which may assume what the witness stands for.
    pub AssumingOp, "shape.assuming" {
        operands { witness: single WITNESS_ONLY }
        results { results: variadic TypeConstraint::ANY }
        regions { do_region: one }
        traits [ImplicitTerminator("shape.assuming_yield"), SingleBlock, RecursiveMemoryEffects]
        hooks { verify_regions: Some(verify_assuming) }
    }
}

fn verify_assuming(op: OpRef<'_>, errors: &mut Diagnostics) {
    let module = op.module();
    let Some(last) = module.entry(AssumingOp(op).do_region()).and_then(|b| module.terminator(b)) else { return };
    if !last.operand_types().eq(op.result_types()) {
        errors.push(last.error("terminator", "the values must have the types of the results of `shape.assuming`"));
    }
}

op! {
    /// Ends the region of `shape.assuming` with its results.
    pub AssumingYieldOp, "shape.assuming_yield" {
        operands { operands: variadic TypeConstraint::ANY }
        traits [Pure, Terminator, ReturnLike, HasParent(&["shape.assuming"])]
        hooks { assembly: Assembly::Format("attr-dict ($operands^ `:` type($operands))?") }
    }
}

op! {
    /// Folds over the sizes of a shape: the region takes an index, a size and the values so far.
    pub ReduceOp, "shape.reduce" {
        operands { shape: single SHAPE_OR_EXTENTS, initVals: variadic TypeConstraint::ANY }
        results { result: variadic TypeConstraint::ANY }
        regions { region: one }
        traits [SingleBlock]
        hooks { verify_regions: Some(verify_reduce) }
    }
}

fn verify_reduce(op: OpRef<'_>, errors: &mut Diagnostics) {
    let module = op.module();
    let Some(block) = module.entry(ReduceOp(op).region()) else { return };
    let arguments: Vec<&Type> = module.arguments(block).iter().map(|&v| module.ty(v)).collect();
    let initial: Vec<&Type> = op.operand_types().skip(1).collect();
    if arguments.len() != initial.len() + 2 {
        let (found, expected) = (arguments.len(), initial.len() + 2);
        errors.push(op.error("region", format!("the region has {found} arguments, but must have {expected}")));
        return;
    }
    if arguments[2..] != initial[..] || !op.result_types().eq(initial.iter().copied()) {
        errors.push(op.error("region", "initial values, arguments and results must have the same types"));
        return;
    }
    if let Some(last) = module.terminator(block)
        && !last.operand_types().eq(op.result_types())
    {
        errors.push(last.error("terminator", "the values must have the types of the results of `shape.reduce`"));
    }
}

op! {
    /// Ends the region of `shape.reduce` with the values so far.
    pub YieldOp, "shape.yield" {
        operands { operands: variadic TypeConstraint::ANY }
        traits [Pure, Terminator, ReturnLike, HasParent(&["shape.reduce", "shape.function_library"])]
        hooks { assembly: Assembly::Format("attr-dict ($operands^ `:` type($operands))?") }
    }
}
