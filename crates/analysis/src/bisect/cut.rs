//! Programs of a single block: what a device can be asked for the values of its ops.

use mlir::ir::{OpName, OpParts};
use mlir::{BlockId, Module, OpId, Type, Value};
use side_dialects::func::{FuncOp, ReturnOp};
use std::collections::{HashMap, HashSet};

/// A module with one more function, which computes the values of a block.
pub(crate) struct Cut {
    pub module: Module,
    /// The name of the function.
    pub entry: String,
    /// Its arguments: the values that the block gets and those that it uses from outside.
    pub inputs: Vec<Value>,
    /// Its results, as values of the block.
    pub results: Vec<Value>,
}

/// True for tensors of known shape, which functions of all devices return.
fn is_returned(ty: &Type) -> bool {
    let is_static = |ty: &Type| ty.as_tensor().is_some_and(|own| own.static_shape().is_some());
    is_static(ty) && interpreter::storage_dtype(ty).is_some()
}

impl Cut {
    /// A function that computes the block's ops up to `last`, or all, and returns the values that
    /// `is_wanted` picks of them. `None` if it is not possible.
    pub(crate) fn of(
        source: &Module,
        block: BlockId,
        last: Option<OpId>,
        is_wanted: &dyn Fn(OpId) -> bool,
    ) -> Option<Cut> {
        let terminator = source.terminator(block)?.id();
        let mut ops: Vec<OpId> = source.ops(block).map(|op| op.id()).collect();
        ops.retain(|&op| op != terminator);
        if let Some(last) = last {
            let end = ops.iter().position(|&op| op == last)?;
            ops.truncate(end + 1);
        }
        let results = ops.iter().filter(|&&op| is_wanted(op));
        let results = results.flat_map(|&op| source.op(op).results());
        let results: Vec<Value> = results.filter(|&own| is_returned(source.ty(own))).collect();
        let inputs = inputs(source, block, &ops);

        let mut module = source.clone();
        let mut name = "cut".to_string();
        while module.top().lookup_symbol(&name).is_some() {
            name.push('_');
        }
        let loc = module.op(terminator).loc().clone();
        let region = module.create_region();
        let body = module.create_block(region);
        let mut values = HashMap::new();
        for &input in &inputs {
            let ty = module.ty(input).clone();
            let argument = module.add_argument(body, ty, loc.clone());
            values.insert(input, argument);
        }
        for op in ops {
            let copy = module.clone_op(op, &mut values, &mut HashMap::new());
            module.append(body, copy);
        }
        let mut parts = OpParts::new(OpName::Registered(ReturnOp::DEF), loc.clone());
        parts.operands = results.iter().map(|value| values[value]).collect();
        let end = module.create_op(parts);
        module.append(body, end);
        let types = |all: &[Value]| all.iter().map(|&own| source.ty(own).clone()).collect();
        let mut parts = OpParts::new(OpName::Registered(FuncOp::DEF), loc);
        parts.regions.push(region);
        let function = module.create_op(parts);
        let signature = Type::function(types(&inputs), types(&results));
        module.set_attr(function, "sym_name", mlir::Attribute::string(name.as_str()));
        module.set_attr(function, "function_type", signature.into());
        let top = module.entry(*module.top().regions().first()?)?;
        module.append(top, function);
        Some(Cut { module, entry: name, inputs, results })
    }
}

/// The arguments of a block, and the values that its ops use from outside of it.
fn inputs(module: &Module, block: BlockId, ops: &[OpId]) -> Vec<Value> {
    let mut inputs = module.arguments(block).to_vec();
    let mut known: HashSet<Value> = inputs.iter().copied().collect();
    for op in ops.iter().flat_map(|&op| module.walk(op)) {
        known.extend(op.results());
        let blocks = op.regions().iter().flat_map(|&region| module.blocks(region));
        known.extend(blocks.flat_map(|&block| module.arguments(block)));
    }
    for op in ops.iter().flat_map(|&op| module.walk(op)) {
        for &operand in op.operands() {
            if known.insert(operand) {
                inputs.push(operand);
            }
        }
    }
    inputs
}
