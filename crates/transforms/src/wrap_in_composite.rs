//! `stablehlo-wrap-in-composite`: outlines ops with given names into functions, and replaces them
//! by composites of these functions.

use hlo::ops::CompositeOp;
use mlir::attrs::Attribute;
use mlir::builtin::ModuleOp;
use mlir::diag::Severity;
use mlir::ir::{OpName, OpParts};
use mlir::nearest::suggestion;
use mlir::pass::{OptionKind, Pass, PassContext, PassOption};
use mlir::rewrite::{PatternSet, Rewriter};
use mlir::verify::nearest_symbol;
use mlir::{BlockId, Diagnostic, OpId, OpRef, Type};
use side_dialects::func::{FuncOp, ReturnOp};
use std::collections::HashMap;

/// Wraps ops in composites.
pub(crate) const PASS: Pass = Pass::on_modules(
    "stablehlo-wrap-in-composite",
    "Outline ops into the decompositions of composites",
    run,
)
.with_options(&[
    PassOption {
        name: "op-names",
        doc: "The names of the ops, such as `stablehlo.add`",
        kind: OptionKind::List,
    },
    PassOption { name: "version", doc: "The version of the composites", kind: OptionKind::Int(0) },
]);

fn run(cx: &mut PassContext<'_>) {
    let names = cx.options.list("op-names");
    let registry = cx.module.registry();
    for name in names.iter().filter(|name| registry.op(name).is_none()) {
        let help = suggestion(name, registry.ops().map(|def| def.name));
        let message = format!("there is no op `{name}`, so none is wrapped");
        cx.report(Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error("op-names", message).help(help)
        });
    }
    // Upstream's driver folds, and places constants, before it reaches the ops.
    cx.rewrite_greedily(&mut PatternSet::default());
    let version = Attribute::i32(i32::try_from(cx.options.int("version")).unwrap_or(0));
    let selected =
        |op: OpRef<'_>| op.def().is_some_and(|def| names.iter().any(|name| name == def.name));
    let mut ops: Vec<OpId> = cx.module.post_order(cx.root);
    ops.retain(|&op| op != cx.root && selected(cx.module.op(op)));
    let mut rw = Rewriter::new(cx.module, cx.options);
    // In reverse, as upstream, which determines the order of the functions. Nested ops move into
    // the function unchanged.
    for op in ops.into_iter().rev() {
        if rw.is_attached(op) {
            let block = functions(rw.op(op));
            if let Some(block) = block {
                wrap(&mut rw, op, block, &version);
            }
        }
    }
}

/// The block of the enclosing module, where functions are inserted.
fn functions(op: OpRef<'_>) -> Option<BlockId> {
    let module =
        std::iter::successors(op.parent(), |op| op.parent()).find(|op| op.is(ModuleOp::DEF))?;
    op.module().entry(*module.regions().first()?)
}

/// Replaces an op by a composite, and adds its decomposition to `functions`.
fn wrap(rw: &mut Rewriter<'_>, op: OpId, functions: BlockId, version: &Attribute) {
    let name = rw.op(op).name().to_string();
    let decomposition = make_function(rw, op, functions, &name);
    let view = rw.op(op);
    let declared = view.def().map_or(&[][..], |def| def.attributes);
    let mut attributes = view.attributes().clone();
    for (slot, value) in declared.iter().zip(view.properties()) {
        value.iter().for_each(|value| attributes.set(slot.name, value.clone()));
    }
    let operands = view.operands().to_vec();
    let types: Vec<Type> = view.result_types().cloned().collect();
    rw.set_root(op);
    let composite = rw
        .make(CompositeOp::DEF, operands)
        .attr("name", Attribute::string(name))
        .attr("composite_attributes", attributes)
        .attr("decomposition", Attribute::symbol(decomposition.as_str()))
        .attr("version", version.clone())
        .results(types);
    rw.replace_with(op, composite);
}

/// Adds a private function that wraps the op, and returns its name.
fn make_function(rw: &mut Rewriter<'_>, op: OpId, functions: BlockId, name: &str) -> String {
    let view = rw.op(op);
    let (inputs, results): (Vec<Type>, Vec<Type>) =
        (view.operand_types().cloned().collect(), view.result_types().cloned().collect());
    let loc = view.loc().clone();
    let is_free = |symbol: &String| nearest_symbol(view, symbol).is_none();
    let symbol = format!("{name}.impl");
    let mut numbered =
        std::iter::once(symbol.clone()).chain((0u64..).map(|i| format!("{symbol}_{i}")));
    let symbol = numbered.find(is_free).unwrap_or_default();
    rw.set_loc(loc.clone());
    let (region, block) = rw.region_with_block(inputs.iter().cloned());
    let arguments = rw.arguments(block).to_vec();
    let mut values = HashMap::new();
    values.extend(rw.op(op).operands().iter().copied().zip(arguments.iter().copied()));
    rw.within(block, |rw| {
        let copy = rw.clone_with(op, &mut values);
        // An op may use one value as several operands, which become several arguments.
        rw.set_operands(copy, &arguments);
        let results: Vec<_> = rw.op(copy).results().collect();
        rw.make(ReturnOp::DEF, results).results([]);
    });
    let mut parts = OpParts::new(OpName::Registered(FuncOp::DEF), loc);
    parts.regions.push(region);
    let module = rw.module_mut();
    let function = module.create_op(parts);
    module.set_attr(function, "sym_name", Attribute::string(&symbol));
    module.set_attr(function, "sym_visibility", Attribute::string("private"));
    module.set_attr(function, "function_type", Type::function(inputs, results).into());
    module.append(functions, function);
    symbol
}
