//! Finds the value of a program that stays dynamic, and the chain of ops responsible.

use crate::calls::callee;
use crate::refine_arguments::entry_function;
use hlo::ops::CustomCallOp;
use mlir::ir::ValueDef;
use mlir::rewrite::fold::constant_value;
use mlir::types::DYNAMIC;
use mlir::{Diagnostic, Module, OpId, OpRef, Type, TypeKind, Value};
use std::collections::HashSet;

/// Maximum length of the reported chain.
const MAX_NOTES: usize = 12;

/// Finds the first value of dynamic shape in the entry function or a function that it calls. The
/// error explains why it is dynamic.
pub(crate) fn first_dynamic_value(module: &Module, root: OpId) -> Option<Diagnostic> {
    let entry = entry_function(module, root).ok()?;
    let block = module.entry(entry.body())?;
    let arguments = module.arguments(block);
    if let Some(index) = arguments.iter().position(|&v| is_dynamic(module.ty(v))) {
        return Some(entry.error("dynamic", argument_message(module, arguments[index], index)));
    }
    let mut seen = HashSet::from([entry.id()]);
    let mut functions = vec![entry.id()];
    let mut first = None;
    while let Some(function) = functions.pop() {
        for op in module.walk(function).skip(1) {
            functions.extend(callee(op).map(|f| f.id()).filter(|f| seen.insert(*f)));
            let Some(index) = op.result_types().position(is_dynamic) else { continue };
            // Prefer the op that introduces dynamism over ops that inherit it, and over calls,
            // whose functions are searched, too.
            let calls = || callee(op).is_some_and(|function| !function.is_declaration());
            if op.operand_types().any(is_dynamic) || calls() {
                first = first.or(Some((op, index)));
                continue;
            }
            return Some(explain(op, index));
        }
    }
    first.map(|(op, index)| explain(op, index))
}

/// True if a type has a dynamic dimension, or is unranked.
fn is_dynamic(ty: &Type) -> bool {
    match &**ty {
        TypeKind::RankedTensor(tensor) => !tensor.has_static_shape(),
        TypeKind::UnrankedTensor(_) => true,
        TypeKind::Tuple(elements) => elements.iter().any(is_dynamic),
        _ => false,
    }
}

fn argument_message(module: &Module, value: Value, index: usize) -> String {
    let ty = module.ty(value);
    let unknown: Vec<String> = match ty.shape() {
        Some(shape) => {
            (0..shape.len()).filter(|&d| shape[d] == DYNAMIC).map(|d| d.to_string()).collect()
        }
        None => {
            return format!("argument {index} has type {ty}, of which not even the rank is known");
        }
    };
    let dimensions = if unknown.len() == 1 { "dimension" } else { "dimensions" };
    format!(
        "argument {index} has type {ty}: nothing determines the size of {dimensions} {}",
        unknown.join(", ")
    )
}

/// The error for an op with a dynamic result, with notes that follow the dependencies of its shape.
fn explain(op: OpRef<'_>, index: usize) -> Diagnostic {
    let module = op.module();
    let message = format!(
        "result {index} of {} stays dynamic: its type is {}",
        described(op),
        op.result_type(index)
    );
    let mut error = op.error("dynamic", message);
    let mut seen = HashSet::from([op.id()]);
    let mut value = returned(op, index).or_else(|| cause(op));
    while let Some((current, why)) = value.filter(|_| error.notes.len() < MAX_NOTES) {
        match module.definition(current) {
            ValueDef::Result { op, index } => {
                let op = module.op(op);
                error =
                    error.note(format!("{why} is computed by {}", described(op)), op.position());
                let next = || returned(op, index as usize).or_else(|| cause(op));
                value = if seen.insert(op.id()) { next() } else { None };
            }
            ValueDef::Argument { block, index } => {
                let index = index as usize;
                let owner =
                    module.block_parent(block).and_then(|region| module.region_parent(region));
                let owner = owner.map(|op| module.op(op));
                let name = owner.map_or(String::new(), |op| match op.symbol_name() {
                    Some(name) => format!(" of @{name}"),
                    None => format!(" of a region of {}", op.name()),
                });
                let position = module.position(&module.argument_locs(block)[index]);
                error = error.note(
                    format!("{why} is argument {index}{name}, which is not a constant"),
                    position,
                );
                value = owner.filter(|op| seen.insert(op.id())).and_then(|op| passed(op, index));
            }
        }
    }
    error
}

/// An op's name, with the target of a custom call or the function of a call.
fn described(op: OpRef<'_>) -> String {
    let target = CustomCallOp::cast(op).map(|op| op.call_target_name());
    let called = || callee(op).map(|f| f.sym_name());
    match target.or_else(called) {
        Some(name) => format!("{} @{name}", op.name()),
        None => op.name().to_string(),
    }
}

/// The value that a called function returns for a result of the call.
fn returned(call: OpRef<'_>, index: usize) -> Option<(Value, String)> {
    let module = call.module();
    let function = callee(call)?;
    let returned = module.terminator(module.entry(function.body())?)?;
    let value = *returned.operands().get(index)?;
    let name = function.sym_name();
    Some((value, format!("result {index} of @{name}")))
}

/// The value that the first call of a function passes for an argument.
fn passed(function: OpRef<'_>, index: usize) -> Option<(Value, String)> {
    let module = function.module();
    let name = function.symbol_name()?;
    let call = module
        .walk(module.top().id())
        .find(|op| callee(*op).is_some_and(|f| f.id() == function.id()))?;
    let value = *call.operands().get(index)?;
    let unknown = is_dynamic(module.ty(value)) || constant_value(module, value).is_none();
    unknown.then(|| (value, format!("argument {index} of @{name}")))
}

/// The operand responsible for a dynamic result: a dynamic one, else an integer operand that is not
/// constant.
fn cause(op: OpRef<'_>) -> Option<(Value, String)> {
    let module = op.module();
    let name = |i: usize| match op.def() {
        Some(def) => {
            match def.operands.get(i).filter(|_| def.operands.len() == op.operands().len()) {
                Some(slot) => format!("{} of {}", slot.name, op.name()),
                None => format!("operand {i} of {}", op.name()),
            }
        }
        None => format!("operand {i}"),
    };
    let operands = || op.operands().iter().copied().enumerate();
    let dynamic = operands().find(|(_, v)| is_dynamic(module.ty(*v)));
    let integers =
        || operands().rev().filter(|(_, v)| module.ty(*v).element_type().is_integer(None));
    // Shape operands follow data operands.
    let unknown = || integers().find(|(_, v)| constant_value(module, *v).is_none());
    let other = || operands().find(|(_, v)| constant_value(module, *v).is_none());
    let sizes = op.def().is_some_and(|def| def.to_static.is_some());
    let (index, value) = dynamic.or_else(unknown).or_else(|| if sizes { None } else { other() })?;
    Some((value, name(index)))
}
