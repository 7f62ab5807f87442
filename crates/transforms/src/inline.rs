//! `inline`: replaces calls of functions by their bodies, and removes unused private functions.
//!
//! As in MLIR's inliner, callees come first, and each is canonicalized once its own calls are
//! inlined. Calls within a cycle and calls of functions marked `no_inline` stay.

use crate::calls::callees_first;
use crate::symbol_dce::remove_unused;
use mlir::attrs::{AttrKind, LocationKind};
use mlir::ir::Loc;
use mlir::pass::{OptionKind, Pass, PassContext, PassOption};
use mlir::rewrite::PatternSet;
use mlir::rewrite::greedy::{self, Config};
use mlir::verify::nearest_symbol;
use mlir::{Attribute, BlockId, Diagnostic, Module, OpId, OpRef, Value};
use side_dialects::func::{CallOp, FuncOp};
use std::collections::{HashMap, HashSet};

/// Replaces calls by the bodies of the callees.
pub(crate) const PASS: Pass =
    Pass::on_modules("inline", "Inline function calls, and remove unused private functions", run)
        .with_options(&[PassOption {
            name: "default-pipeline",
            doc: "Pipeline run on functions after inlining: `canonicalize`, or nothing",
            kind: OptionKind::Checked("canonicalize", |text| match text {
                "" | "canonicalize" => Ok(()),
                _ => Err(format!(
                    "only `canonicalize` or nothing can run on functions, found `{text}`"
                )),
            }),
        }]);

/// Inlining fails after copying this many ops, or [`MAX_GROWTH`] times those of a larger program:
/// chains of functions that call twice grow exponentially.
const MAX_COPIED_OPS: usize = 1 << 18;

/// The largest nesting of locations that inlining makes; deeper call sites are dropped.
const MAX_CALL_SITES: u32 = 128;

/// See [`MAX_COPIED_OPS`].
const MAX_GROWTH: usize = 64;

fn run(cx: &mut PassContext<'_>) {
    let limit = MAX_COPIED_OPS.max(cx.module.walk(cx.root).count().saturating_mul(MAX_GROWTH));
    let mut inliner = Inliner { copied: 0, limit, refused: None };
    let canonicalizes = !cx.options.text("default-pipeline").is_empty();
    for function in callees_first(cx.module) {
        inliner.inline_into(cx.module, function);
        if let Some(error) = inliner.refused {
            return cx.report(error);
        }
        if canonicalizes {
            let mut patterns = PatternSet::canonicalization(cx.module.registry());
            let outcome =
                greedy::rewrite(cx.module, function, &mut patterns, cx.options, Config::default());
            cx.diagnostics.extend(outcome.diagnostics);
            cx.statistics.merge(&outcome.statistics);
        }
    }
    remove_unused(cx.module, cx.root, |op| op.is(FuncOp::DEF));
}

/// The function that an op calls, if it has a body.
fn callee(op: OpRef<'_>) -> Option<FuncOp<'_>> {
    let call = CallOp::cast(op)?;
    let callee = FuncOp::cast(nearest_symbol(op, call.callee())?)?;
    (!callee.is_declaration()).then_some(callee)
}

fn callees(module: &Module, function: OpId) -> Vec<OpId> {
    module.walk(function).filter_map(callee).map(|f| f.id()).collect()
}

struct Inliner {
    copied: usize,
    /// The largest number of ops to copy.
    limit: usize,
    /// The error at the call whose body would exceed the limit.
    refused: Option<Diagnostic>,
}

impl Inliner {
    /// Inlines the calls in `function`; the callees' own calls are inlined already.
    fn inline_into(&mut self, module: &mut Module, function: OpId) {
        let mut results: HashMap<Value, Value> = HashMap::new();
        let mut calls = Vec::new();
        let blocks: Vec<BlockId> = module
            .walk(function)
            .flat_map(|op| {
                op.regions().iter().flat_map(|&region| module.blocks(region).iter().copied())
            })
            .collect();
        for block in blocks {
            let ops: Vec<OpId> = module.ops(block).map(OpRef::id).collect();
            for op in ops {
                if let Some(body) = self.inlinable(module, function, op) {
                    self.copy_body(module, op, body, &mut results);
                    module.detach(op);
                    calls.push(op);
                }
            }
        }
        if results.is_empty() {
            return;
        }
        let ops: Vec<OpId> = module.walk(function).map(OpRef::id).collect();
        for op in ops {
            for index in 0..module.op(op).operands().len() {
                let mut value = module.op(op).operand(index);
                // A callee may return an argument, which may be the result of another call.
                while let Some(&replacement) = results.get(&value) {
                    value = replacement;
                }
                module.set_operand(op, index, value);
            }
        }
        calls.into_iter().for_each(|call| module.erase(call));
    }

    /// The body to inline for `op`, if it is a call to inline.
    fn inlinable(&mut self, module: &Module, caller: OpId, op: OpId) -> Option<BlockId> {
        let call = module.op(op);
        let callee = callee(call)?;
        let may = CallOp::cast(call).is_some_and(|call| !call.no_inline()) && !callee.no_inline();
        let [body] = module.blocks(callee.body()) else { return None };
        let cyclic = || {
            callee.id() == caller
                || module.walk(callee.id()).any(|op| op.is(CallOp::DEF) && reaches(op, callee.id()))
        };
        if !may || self.refused.is_some() || cyclic() {
            return None;
        }
        if self.copied.saturating_add(module.ops(*body).len()) > self.limit {
            let message = format!(
                "inlining would copy more than {} ops; marking functions `no_inline` bounds it",
                self.limit
            );
            self.refused = Some(call.error("inline", message));
            return None;
        }
        Some(*body)
    }

    /// Copies the ops of `body`, but for its terminator, before `call`.
    fn copy_body(
        &mut self,
        module: &mut Module,
        call: OpId,
        body: BlockId,
        results: &mut HashMap<Value, Value>,
    ) {
        let caller_location = module.op(call).location();
        let operands = module.op(call).operands().to_vec();
        let mut values: HashMap<Value, Value> =
            module.arguments(body).iter().copied().zip(operands).collect();
        let source: Vec<OpId> = module.ops(body).map(OpRef::id).collect();
        let Some((&terminator, source)) = source.split_last() else { return };
        for &op in source {
            let copy = module.clone_op(op, &mut values, &mut HashMap::new());
            let within: Vec<OpId> = module.walk(copy).map(OpRef::id).collect();
            self.copied += within.len();
            for op in within {
                let callee = module.op(op).location();
                let location = LocationKind::CallSite { callee, caller: caller_location.clone() };
                let location = Attribute::from(AttrKind::Location(location));
                // Readers refuse locations that nest too deep.
                if location.extent().height <= MAX_CALL_SITES {
                    module.set_loc(op, Loc::Explicit(location, None));
                }
            }
            module.insert_before(copy, call);
        }
        let returned: Vec<Value> = module.op(terminator).operands().to_vec();
        let call_results: Vec<Value> = module.op(call).results().collect();
        for (result, value) in call_results.into_iter().zip(returned) {
            results.insert(result, *values.get(&value).unwrap_or(&value));
        }
    }
}

/// True if a call leads to `target`, directly or through other functions.
fn reaches(call: OpRef<'_>, target: OpId) -> bool {
    let module = call.module();
    let mut seen = HashSet::new();
    let mut stack: Vec<OpId> = callee(call).map(|f| f.id()).into_iter().collect();
    while let Some(function) = stack.pop() {
        if function == target {
            return true;
        }
        if seen.insert(function) {
            stack.extend(callees(module, function));
        }
    }
    false
}
