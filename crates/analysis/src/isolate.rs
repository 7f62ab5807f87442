//! Programs of one op of another program.

use mlir::ir::{OpName, OpParts};
use mlir::ods::Trait;
use mlir::{Attribute, Module, OpId, OpRef, Type, Value};
use side_dialects::func::{FuncOp, ReturnOp};
use std::collections::{HashMap, HashSet};

/// A program whose function `main` computes one op, with its constants.
pub struct IsolatedOp {
    /// The program.
    pub module: Module,
    /// The arguments, as values of the other program.
    pub arguments: Vec<Value>,
}

/// The program of one op of a module. `None` if the op refers to symbols of its module.
pub fn isolate(source: &Module, op: OpId) -> Option<IsolatedOp> {
    let refers = |op: OpRef<'_>| {
        let mut properties = op.properties().iter().flatten();
        properties.any(|property| property.as_flat_symbol().is_some())
    };
    if source.walk(op).any(refers) {
        return None;
    }
    let mut inside: HashSet<Value> = HashSet::new();
    for op in source.walk(op) {
        inside.extend(op.results());
        let blocks = op.regions().iter().flat_map(|&region| source.blocks(region));
        inside.extend(blocks.flat_map(|&block| source.arguments(block)));
    }
    let used = source.walk(op).flat_map(|op| op.operands().to_vec());
    let (mut constants, mut arguments) = (Vec::new(), Vec::new());
    for value in used {
        if !inside.insert(value) {
            continue;
        }
        match source.defining_op(value) {
            Some(own) if own.has_trait(&Trait::ConstantLike) => constants.push(own.id()),
            _ => arguments.push(value),
        }
    }

    let mut module = source.clone();
    let top = module.entry(*module.top().regions().first()?)?;
    let loc = module.op(op).loc().clone();
    let region = module.create_region();
    let body = module.create_block(region);
    let mut values = HashMap::new();
    for &argument in &arguments {
        let ty = module.ty(argument).clone();
        let own = module.add_argument(body, ty, loc.clone());
        values.insert(argument, own);
    }
    for op in constants.into_iter().chain([op]) {
        let copy = module.clone_op(op, &mut values, &mut HashMap::new());
        module.append(body, copy);
    }
    let results: Vec<Value> = source.op(op).results().collect();
    let mut parts = OpParts::new(OpName::Registered(ReturnOp::DEF), loc.clone());
    parts.operands = results.iter().map(|value| values[value]).collect();
    let end = module.create_op(parts);
    module.append(body, end);
    let types = |all: &[Value]| all.iter().map(|&own| source.ty(own).clone()).collect();
    let signature = Type::function(types(&arguments), types(&results));
    let others: Vec<OpId> = module.ops(top).map(|op| op.id()).collect();
    others.into_iter().for_each(|other| module.erase(other));
    let mut parts = OpParts::new(OpName::Registered(FuncOp::DEF), loc);
    parts.regions.push(region);
    let function = module.create_op(parts);
    module.set_attr(function, "sym_name", Attribute::string("main"));
    module.set_attr(function, "function_type", signature.into());
    module.append(top, function);
    Some(IsolatedOp { module, arguments })
}
