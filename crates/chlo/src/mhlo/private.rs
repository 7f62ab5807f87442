//! Ops of MHLO that are private to XLA and have no counterpart in StableHLO: dumps contain them.
//!
//! Source: openxla/xla, `xla/mlir_hlo` and the meaning that `xla/hlo/evaluator` and the CPU backend
//! give the instructions of those names.

mod asynchronous;
mod bitcast;
mod random;

pub use asynchronous::{ASYNC_BUNDLE, AsyncDoneOp, AsyncStartOp, AsyncUpdateOp};
pub use bitcast::BitcastOp;
pub use random::{StochasticConvertOp, XlaRngGetAndUpdateStateOp};

use super::function_attributes::part;
use crate::constraints::TENSOR;
use hlo::attrs::OUTPUT_OPERAND_ALIAS;
use mlir::ods::{EnumDef, EnumStyle, TypeConstraint};
use mlir::prepare::{Prepared, Preparer, native, native_with_env};
use mlir::{OpRef, Type, Verdict, op};
use program::{EvalError, Primitive};

/// The kind of a fusion.
pub static FUSION_KIND: EnumDef = EnumDef {
    dialect: "mhlo",
    mnemonic: "fusion_kind",
    cases: &[(0, "kLoop"), (1, "kInput"), (2, "kOutput"), (3, "kCustom")],
    style: EnumStyle::Spaced,
};

/// The point at which a custom call runs, as a discardable attribute of it.
pub static CUSTOM_CALL_SCHEDULE: EnumDef = EnumDef {
    dialect: "mhlo",
    mnemonic: "custom_call_schedule",
    cases: &[(0, "NONE"), (1, "LATEST"), (2, "EARLIEST")],
    style: EnumStyle::Spaced,
};

/// The kind of the metadata of a domain.
pub static DOMAIN_KIND: EnumDef = EnumDef {
    dialect: "mhlo",
    mnemonic: "kind",
    cases: &[(0, "sharding")],
    style: EnumStyle::Spaced,
};

op! {
    /// Returns `operand`; its uses come after `token`.
    pub AddDependencyOp, "mhlo.add_dependency" {
        operands { operand: single TypeConstraint::ANY, token: single TypeConstraint::ANY }
        results { output: single TypeConstraint::ANY }
        traits [Pure]
        hooks {
            format: "operands attr-dict `:` functional-type(operands, results)",
            infer: type_of_operand,
            prepare: prepare_first,
        }
    }
}

op! {
    /// A copy of `operand`.
    pub CopyOp, "mhlo.copy" {
        operands { operand: single TypeConstraint::ANY }
        results { result: single TypeConstraint::ANY }
        attributes { cross_program_prefetch_index: optional Int(32) }
        traits [Pure, Elementwise, SameOperandsAndResultType]
        hooks {
            format: "$operand attr-dict `:` type($result)",
            prepare: prepare_first,
        }
    }
}

op! {
    /// Returns `operand` at the border between two domains, such as shardings.
    pub DomainOp, "mhlo.domain" {
        operands { operand: single TypeConstraint::ANY }
        results { result: single TypeConstraint::ANY }
        attributes {
            kind: required Enum(&DOMAIN_KIND),
            entry_metadata: required String,
            exit_metadata: required String,
        }
        traits [Pure, SameOperandsAndResultType]
        hooks {
            prepare: prepare_first,
        }
    }
}

op! {
    /// The results of `fused_computation` on `inputs`, which XLA computes in one kernel. A region
    /// without arguments uses the values around it instead.
    pub FusionOp, "mhlo.fusion" {
        operands { inputs: variadic TypeConstraint::ANY }
        results { results: variadic TypeConstraint::ANY }
        attributes {
            fusion_kind: optional Enum(&FUSION_KIND),
            output_operand_aliases: implied ArrayOf(&Def(&OUTPUT_OPERAND_ALIAS))
                => DefaultValue::EmptyArray,
        }
        regions { fused_computation: one }
        traits [RecursiveMemoryEffects]
        hooks {
            verify_regions: verify_fusion,
            prepare: prepare_fusion,
        }
    }
}

op! {
    /// Marks `operand` in a trace. Computes nothing.
    pub TraceOp, "mhlo.trace" {
        operands { operand: single TENSOR }
        attributes { tag: required String }
        hooks {
            format: "$operand `,` $tag attr-dict `:` type($operand)",
            prepare: prepare_trace,
        }
    }
}

fn type_of_operand(op: OpRef<'_>) -> Result<Vec<Type>, mlir::Diagnostic> {
    Ok(op.operand_types().take(1).cloned().collect())
}

fn prepare_first(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    if op.operands().len() == 1 {
        return Ok(Primitive::Identity);
    }
    native(op, |operands| Ok(operands.into_iter().take(1).collect()))
}

fn prepare_trace(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |_| Ok(Vec::new()))
}

/// Checks that the region takes the operands, and that aliases are of parts that exist and have one
/// type.
fn verify_fusion(op: OpRef<'_>) -> Verdict {
    let (view, module) = (FusionOp(op), op.module());
    if let Some(block) = module.entry(view.fused_computation()) {
        let arguments = module.arguments(block).iter().map(|&value| module.ty(value));
        if arguments.len() > 0 && !arguments.eq(op.operand_types()) {
            let message =
                "`fused_computation` must take arguments of the types of the operands, or none";
            return Err(op.error("fusion", message));
        }
        let returned = module.terminator(block).map(|last| last.operand_types());
        if !returned.is_some_and(|types| types.eq(op.result_types())) {
            let message = "`fused_computation` must return values of the types of the results";
            return Err(op.error("fusion", message));
        }
    }
    for alias in view.output_operand_aliases() {
        let Some([output, index, within]) = alias.as_dialect(&OUTPUT_OPERAND_ALIAS) else {
            continue;
        };
        let list = |list: &Option<mlir::Attribute>| {
            list.as_ref().and_then(|list| list.as_int_array()).unwrap_or(&[]).to_vec()
        };
        let position = index.as_ref().and_then(|index| usize::try_from(index.as_i64()?).ok());
        let operand = position.and_then(|position| op.operand_types().nth(position));
        let operand = operand.and_then(|ty| part(ty, &list(within)));
        // Several results are parts of one tuple.
        let path = list(output);
        let result = match (op.num_results(), path.split_first()) {
            (1, _) => part(op.result_type(0), &path),
            (_, Some((&first, rest))) => usize::try_from(first)
                .ok()
                .and_then(|first| op.result_types().nth(first))
                .and_then(|ty| part(ty, rest)),
            (_, None) => None,
        };
        if operand.is_none() || operand != result {
            let message = format!(
                "output_operand_aliases: {alias} names {} of the operands and {} of the results; \
                 both must exist and have one type",
                named(operand),
                named(result)
            );
            return Err(op.error("fusion", message));
        }
    }
    Ok(())
}

fn named(ty: Option<&Type>) -> String {
    ty.map_or("no part".to_string(), |ty| format!("a part of type {ty}"))
}

fn prepare_fusion(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let region = FusionOp(op).fused_computation();
    let block = cx.block(region)?;
    // A region without arguments uses the values around it.
    let takes_operands =
        op.module().entry(region).is_some_and(|block| !op.module().arguments(block).is_empty());
    native_with_env(op, move |_, operands, env| {
        env.block(block, if takes_operands { operands } else { Vec::new() })
    })
}

/// An error of an op of this module when it runs.
fn invalid(message: impl Into<String>) -> EvalError {
    EvalError::new("mhlo", message.into())
}
