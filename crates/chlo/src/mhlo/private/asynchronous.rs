//! Calls that are started, updated and waited for. A run calls the function when it is started.

use super::invalid;
use hlo::types::{parse_type_list, print_type_list};
use mlir::ods::{ParamAssembly, ParamDef, ParamKind, TypeConstraint, TypeDef, TypeRule};
use mlir::prepare::{Prepared, Preparer, native, native_with_env};
use mlir::verify::{nearest_symbol, suggest_symbol};
use mlir::{Attribute, Diagnostic, OpRef, Type, TypeKind, Verdict, op};
use program::{Primitive, RuntimeValue};

/// `!mhlo.async_bundle<inputs, results, state…>`, where several inputs or results are a tuple.
pub static ASYNC_BUNDLE: TypeDef = TypeDef {
    dialect: "mhlo",
    mnemonic: "async_bundle",
    doc: "The inputs, results and state of a call that was started and may not be done.",
    params: &[ParamDef { name: "types", kind: ParamKind::Types, optional: false }],
    assembly: ParamAssembly::Custom { parse: parse_type_list, print: print_type_list },
    verify: None,
    compatible: None,
    storage: None,
    misfit: None,
};

static BUNDLE: TypeConstraint = TypeConstraint {
    summary: "a !mhlo.async_bundle",
    rule: TypeRule::Is(|ty| ty.as_dialect(&ASYNC_BUNDLE).is_some()),
};

op! {
    /// Starts a call of `called_computation`.
    pub AsyncStartOp, "mhlo.async_start" {
        operands { inputs: variadic TypeConstraint::ANY }
        results { bundle: single BUNDLE }
        attributes { called_computation: required FlatSymbolRef, execution_thread: required String }
        traits [Call("called_computation")]
        hooks {
            verify_symbols: verify_start,
            prepare: prepare_start,
        }
    }
}

op! {
    /// Waits for a step of a call that was started.
    pub AsyncUpdateOp, "mhlo.async_update" {
        operands { bundle: single BUNDLE }
        results { result: single BUNDLE }
        traits [ReadsOperands]
        hooks {
            verify: verify_chain,
            infer: infer_update,
            prepare: prepare_update,
        }
    }
}

op! {
    /// Waits for the end of a call that was started, and returns its results.
    pub AsyncDoneOp, "mhlo.async_done" {
        operands { bundle: single BUNDLE }
        results { results: variadic TypeConstraint::ANY }
        traits [ReadsOperands]
        hooks {
            verify: verify_done,
            prepare: prepare_done,
        }
    }
}

/// The types in a bundle.
fn bundled(ty: &Type) -> Vec<Type> {
    let types =
        ty.as_dialect(&ASYNC_BUNDLE).and_then(|params| params.first()?.as_ref()?.as_array());
    types.unwrap_or(&[]).iter().filter_map(Attribute::as_type).cloned().collect()
}

/// The values that one type of a bundle stands for.
fn unpacked(ty: Option<&Type>) -> Vec<Type> {
    match ty.map(|ty| &**ty) {
        Some(TypeKind::Tuple(types)) => types.to_vec(),
        _ => ty.into_iter().cloned().collect(),
    }
}

fn verify_start(op: OpRef<'_>) -> Verdict {
    let view = AsyncStartOp(op);
    let (name, thread) = (view.called_computation(), view.execution_thread());
    let Some(callee) = nearest_symbol(op, name) else {
        let error = op.error("symbol", format!("there is no function @{name} to call"));
        return Err(error.help(suggest_symbol(op, name)));
    };
    let own = callee.attr("execution_thread").and_then(|thread| thread.as_str());
    if own != Some(thread) {
        let found = own.map_or("none".to_string(), |own| format!("\"{own}\""));
        let message =
            format!("the execution_thread must be that of @{name}; found \"{thread}\" and {found}");
        return Err(op.error("async", message));
    }
    let types = callee.attr("function_type").and_then(Attribute::as_type);
    let Some(TypeKind::Function { inputs, results }) = types.map(|ty| &**ty) else {
        return Err(op.error("symbol", format!("@{name} is no function")));
    };
    if !op.operand_types().eq(inputs) {
        let message = format!("the operands must have the types of the inputs of @{name}");
        return Err(op.error("async", message));
    }
    let bundle = bundled(op.result_type(0));
    let fits = |at: usize, types: &[Type]| {
        bundle.get(at).is_some_and(|ty| types == [ty.clone()]) || {
            bundle.get(at).is_some_and(|ty| matches!(**ty, TypeKind::Tuple(_)))
                && unpacked(bundle.get(at)) == types
        }
    };
    if !fits(0, inputs) || !fits(1, results) {
        let message = format!(
            "the bundle must have the types of the inputs and then of the results of @{name}; \
             found {}",
            op.result_type(0)
        );
        return Err(op.error("async", message));
    }
    Ok(())
}

/// Checks that the operand comes from the start of a call or an update of it.
fn verify_chain(op: OpRef<'_>) -> Verdict {
    let source = op.operands().first().and_then(|&bundle| op.module().defining_op(bundle));
    match source {
        Some(source) if source.is(AsyncStartOp::DEF) || source.is(AsyncUpdateOp::DEF) => Ok(()),
        _ => {
            let message = "the operand must be a result of mhlo.async_start or mhlo.async_update";
            Err(op.error("async", message))
        }
    }
}

fn verify_done(op: OpRef<'_>) -> Verdict {
    verify_chain(op)?;
    let bundle = bundled(op.operand_type(0));
    let results: Vec<Type> = op.result_types().cloned().collect();
    if unpacked(bundle.get(1)) != results && bundle.get(1..2) != Some(&results) {
        let message = "the results must have the types of the second part of the bundle";
        return Err(op.error("async", message));
    }
    Ok(())
}

fn infer_update(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    Ok(vec![op.operand_type(0).clone()])
}

fn prepare_start(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let function = cx.function(op, AsyncStartOp(op).called_computation())?;
    native_with_env(op, move |_, operands, env| {
        Ok(vec![RuntimeValue::Tuple(env.call(function, operands)?)])
    })
}

fn prepare_update(_: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Identity)
}

fn prepare_done(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| match operands.into_iter().next() {
        Some(RuntimeValue::Tuple(results)) => Ok(results),
        _ => Err(invalid("the operand is no call that was started")),
    })
}
