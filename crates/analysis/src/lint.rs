//! Lints: what is valid, but probably not meant, or costs for nothing.

use hlo::ops::{
    BroadcastInDimOp, ConvertOp, CustomCallOp, GetTupleElementOp, IotaOp, OptimizationBarrierOp,
    ReshapeOp, TransposeOp,
};
use mlir::diag::{Diagnostic, Diagnostics, Position, Severity, counted};
use mlir::ods::Trait;
use mlir::rewrite::effects::{is_memory_effect_free, is_removable_if_unused};
use mlir::types::DYNAMIC;
use mlir::verify::Label;
use mlir::{Module, OpId, OpRef, Type, Value};
use numerics::DType;
use side_dialects::func::FuncOp;
use std::collections::{HashMap, HashSet};

/// The lints, in alphabetical order.
pub const LINTS: &[Label] = &[
    (
        "constant-expression",
        "Arithmetic on constants alone is computed when the program is made, not each time it \
         runs.",
    ),
    (
        "custom-call",
        "Custom calls are to targets that the specification, the exporters' promises or \
         LAPACK's interface define: others run only where somebody has registered them.",
    ),
    ("dead-op", "The results of an op without side effects are used."),
    ("deprecated-op", "Deprecated ops are replaced by their successors."),
    (
        "dynamic-dimension",
        "A dimension is dynamic only if its size does not follow from the operands of the op.",
    ),
    (
        "float64",
        "A program without arguments and results of 64-bit floats computes with none: they \
         come from a constant or conversion that was not meant, and are slow or missing on \
         accelerators.",
    ),
    ("unused-function", "Private functions are called."),
];

/// Passes that mend what can be mended without changing results.
pub const FIXES: &str = "func.func(stablehlo-legalize-deprecated-ops{fail-on-unused=false}),\
    func.func(stablehlo-aggressive-folder),trivial-dce,symbol-dce";

/// Findings in a verified module, as warnings in the order of the program.
pub fn lint(module: &Module) -> Diagnostics {
    let ops: Vec<OpRef<'_>> = module.walk(module.top().id()).collect();
    let mut findings: Vec<(OpId, Diagnostic)> = Vec::new();
    let users = users(&ops);
    dead_ops(module, &users, &mut findings);
    unused_functions(&ops, &mut findings);
    constant_expressions(&ops, &users, &mut findings);
    float64(&ops, &mut findings);
    for op in &ops {
        findings.extend(deprecated(*op).map(|finding| (op.id(), finding)));
        findings.extend(custom_call(*op).map(|finding| (op.id(), finding)));
        findings.extend(dynamic_dimension(*op).map(|finding| (op.id(), finding)));
    }
    let order: HashMap<OpId, usize> = ops.iter().map(|op| op.id()).zip(0..).collect();
    findings.sort_by_key(|(op, _)| order.get(op).copied());
    findings.into_iter().map(|(_, finding)| finding).collect()
}

fn warning(op: OpRef<'_>, label: &'static str, message: String, help: &str) -> Diagnostic {
    let mut warning = op.error(label, message).help(Some(help.to_string()));
    warning.severity = Severity::Warning;
    warning
}

/// The ops that use each value.
fn users<'m>(ops: &[OpRef<'m>]) -> HashMap<Value, Vec<OpRef<'m>>> {
    let mut users: HashMap<Value, Vec<OpRef<'m>>> = HashMap::new();
    for op in ops {
        for &value in op.operands() {
            users.entry(value).or_default().push(*op);
        }
    }
    users
}

/// Ops whose results nothing uses, but for ops that are dead themselves.
fn dead_ops<'m>(
    module: &'m Module,
    users: &HashMap<Value, Vec<OpRef<'m>>>,
    findings: &mut Vec<(OpId, Diagnostic)>,
) {
    let mut dead: HashSet<OpId> = HashSet::new();
    // The number of ops that only the dead op needs, which is found last, first.
    let mut roots: Vec<OpRef<'_>> = Vec::new();
    for id in module.post_order(module.top().id()).into_iter().rev() {
        let op = module.op(id);
        let is_within_dead =
            std::iter::successors(op.parent(), |op| op.parent()).any(|op| dead.contains(&op.id()));
        if op.num_results() == 0 || is_within_dead || !is_removable_if_unused(op) {
            continue;
        }
        let mut used = op.results().flat_map(|result| users.get(&result)).flatten().peekable();
        let is_root = used.peek().is_none();
        let around = |op: &OpRef<'_>| {
            std::iter::successors(Some(*op), |op| op.parent()).any(|op| dead.contains(&op.id()))
        };
        if used.all(around) {
            dead.insert(id);
            if is_root {
                roots.push(op);
            }
        }
    }
    let others = dead.len() - roots.len();
    for (index, op) in roots.into_iter().rev().enumerate() {
        let message = format!("the results of `{}` are never used", op.name());
        let mut finding = warning(op, "dead-op", message, "the fix removes it");
        if index == 0 && others > 0 {
            let note = format!("other results that only dead ops use: {others}");
            finding = finding.note(note, Position::None);
        }
        findings.push((op.id(), finding));
    }
}

fn unused_functions(ops: &[OpRef<'_>], findings: &mut Vec<(OpId, Diagnostic)>) {
    let Some(top) = ops.first() else { return };
    let uncalled: HashSet<OpId> = crate::reduce::uncalled(top.module()).into_iter().collect();
    for op in ops.iter().filter(|op| uncalled.contains(&op.id())) {
        if op.is_private() {
            let name = op.symbol_name().unwrap_or_default();
            let message = format!("nothing calls the private function @{name}");
            let help = "the fix removes it";
            findings.push((op.id(), warning(*op, "unused-function", message, help)));
        }
    }
}

/// Ops that compute with constants alone, for the users of their results.
fn constant_expressions<'m>(
    ops: &[OpRef<'m>],
    users: &HashMap<Value, Vec<OpRef<'m>>>,
    findings: &mut Vec<(OpId, Diagnostic)>,
) {
    /// Larger constants are better computed than stored.
    const MAX_ELEMENTS: usize = 1 << 16;
    let is_small = |ty: &Type| {
        ty.as_tensor().and_then(|ty| ty.num_elements()).is_some_and(|n| n <= MAX_ELEMENTS)
    };
    // For each value that follows from constants, the number of ops that do arithmetic for it.
    let mut known: HashMap<Value, usize> = HashMap::new();
    for op in ops {
        let is_constant = op.has_trait(&Trait::ConstantLike) || op.is(IotaOp::DEF);
        let is_evaluable = !op.operands().is_empty()
            && op.regions().is_empty()
            && is_memory_effect_free(*op)
            && !op.has_trait(&Trait::Terminator)
            && !op.is_any(&[OptimizationBarrierOp::DEF, CustomCallOp::DEF, GetTupleElementOp::DEF])
            && op.result_types().all(is_small);
        let operands: Option<Vec<usize>> =
            op.operands().iter().map(|value| known.get(value).copied()).collect();
        let arithmetic = match operands {
            _ if is_constant => 0,
            // Exporters broadcast constants everywhere, which costs nothing in the end.
            Some(operands) if is_evaluable => {
                let moves =
                    [BroadcastInDimOp::DEF, ConvertOp::DEF, ReshapeOp::DEF, TransposeOp::DEF];
                operands.iter().fold(0, |n: usize, &of| n.saturating_add(of))
                    + usize::from(!op.is_any(&moves))
            }
            _ => continue,
        };
        known.extend(op.results().map(|result| (result, arithmetic)));
    }
    for op in ops {
        let arithmetic = op.results().next().and_then(|result| known.get(&result).copied());
        let Some(arithmetic) = arithmetic.filter(|&count| count > 0) else { continue };
        let mut used = op.results().flat_map(|result| users.get(&result)).flatten().peekable();
        let is_last = used.peek().is_some()
            && used.any(|user| user.results().next().is_none_or(|r| !known.contains_key(&r)));
        if is_last {
            let message = format!(
                "`{}` follows from constants by {}, and is computed in each run",
                op.name(),
                counted(arithmetic, "op")
            );
            let help = "the fix folds it";
            findings.push((op.id(), warning(*op, "constant-expression", message, help)));
        }
    }
}

/// True for 64-bit floats and complex numbers of them.
fn is_f64(ty: &Type) -> bool {
    ty.element_type().dtype().is_some_and(|dtype| dtype.part() == DType::F64)
}

/// Ops that make 64-bit floats of something else, in a program whose functions show none.
fn float64(ops: &[OpRef<'_>], findings: &mut Vec<(OpId, Diagnostic)>) {
    let public = ops.iter().filter_map(|op| FuncOp::cast(*op)).filter(|function| {
        function.sym_visibility().is_none_or(|visibility| visibility == "public")
    });
    let mut types = public.flat_map(|function| {
        let (inputs, results) = function.signature();
        inputs.iter().chain(results)
    });
    if types.any(is_f64) {
        return;
    }
    for op in ops {
        if op.result_types().any(is_f64)
            && !op.operand_types().any(is_f64)
            && op.regions().is_empty()
        {
            let message = format!(
                "`{}` makes 64-bit floats, which no argument and no result of the program has",
                op.name()
            );
            let help =
                "give the constant or the conversion a 32-bit type where the program is made";
            findings.push((op.id(), warning(*op, "float64", message, help)));
        }
    }
}

fn deprecated(op: OpRef<'_>) -> Option<Diagnostic> {
    if !transforms::is_deprecated(op) {
        return None;
    }
    let message = format!("`{}` is deprecated", op.name());
    Some(warning(op, "deprecated-op", message, "the fix replaces it by its successor"))
}

fn custom_call(op: OpRef<'_>) -> Option<Diagnostic> {
    let call = CustomCallOp::cast(op)?;
    let target = call.call_target_name();
    if hlo::custom_calls::is_known(target) {
        return None;
    }
    let message = format!("the custom call `{target}` runs only where somebody has registered it");
    let help = "express it by StableHLO ops, or as a composite with a decomposition";
    Some(warning(op, "custom-call", message, help))
}

/// A result whose type leaves open what follows from the operands.
fn dynamic_dimension(op: OpRef<'_>) -> Option<Diagnostic> {
    let infer = op.def()?.infer?;
    let declared: Vec<&Type> = op.result_types().collect();
    if declared.iter().all(|ty| ty.shape().is_none_or(|shape| !shape.contains(&DYNAMIC))) {
        return None;
    }
    let inferred = infer(op).ok()?;
    let needless = |(declared, inferred): (&&Type, &Type)| {
        let sizes = declared.shape()?.iter().zip(inferred.shape()?);
        let dimension =
            sizes.enumerate().find(|(_, sizes)| *sizes.0 == DYNAMIC && *sizes.1 != DYNAMIC);
        dimension.map(|(dimension, (_, size))| (dimension, *size))
    };
    let (dimension, size) = declared.iter().zip(&inferred).find_map(needless)?;
    let message = format!(
        "dimension {dimension} of `{}` is dynamic, but its size {size} follows from the operands",
        op.name()
    );
    let help = "declare the size, or run the pass `stablehlo-refine-shapes`";
    Some(warning(op, "dynamic-dimension", message, help))
}
