//! Changes that make a program smaller. Each requires use lists, and is `None` if it cannot be
//! made; the module may then be half changed.

use hlo::ops::ConstantOp;
use mlir::attrs::{AttrKind, DenseElements};
use mlir::ir::{Loc, OpName, OpParts};
use mlir::rewrite::effects::is_dead;
use mlir::{Attribute, Module, OpId, OpRef, Type, Value};
use numerics::{Bytes, Tensor};
use side_dialects::func::FuncOp;
use std::collections::HashSet;

/// A replacement for a result of an op.
#[derive(Clone, Copy)]
pub(crate) enum Replacement {
    /// Zeros.
    Zero,
    /// Operands of the same types.
    Operand,
    /// New arguments of the function, if nothing calls it and the op stands in its body.
    Argument,
}

impl Replacement {
    /// All of them, the most effective first.
    pub(crate) const ALL: [Replacement; 3] =
        [Replacement::Zero, Replacement::Operand, Replacement::Argument];

    /// Replaces the results of an op that are used.
    pub(crate) fn apply(self, module: &mut Module, op: OpId) -> Option<()> {
        let results: Vec<Value> = module.op(op).results().collect();
        let used: Vec<Value> =
            results.into_iter().filter(|&result| !module.is_unused(result)).collect();
        let mut values = Vec::with_capacity(used.len());
        for &result in &used {
            values.push(match self {
                Replacement::Zero => zero(module, op, result)?,
                Replacement::Operand => operand(module, op, result)?,
                Replacement::Argument => argument(module, op, result)?,
            });
        }
        for (&old, &new) in used.iter().zip(&values) {
            module.replace_all_uses(old, new);
        }
        // An op without effects is dead now.
        (!used.is_empty()).then_some(())
    }
}

/// A constant of zeros before an op.
fn zero(module: &mut Module, op: OpId, result: Value) -> Option<Value> {
    let ty = module.ty(result).clone();
    let tensor = ty.as_tensor()?;
    let (dtype, _) = (ty.element_type().dtype()?, tensor.static_shape()?);
    let element = Tensor::zeros(dtype, []).ok()?;
    let value = DenseElements::new(ty.clone(), Bytes::from(element.bytes().to_vec()))?;
    let mut parts = OpParts::new(OpName::Registered(ConstantOp::DEF), Loc::Unknown);
    parts.result_types.push(ty);
    let constant = module.create_op(parts);
    module.set_attr(constant, "value", value.into());
    module.insert_before(constant, op);
    Some(module.op(constant).result(0))
}

/// An operand with the type of a result: that at the same position, else the first.
fn operand(module: &Module, op: OpId, result: Value) -> Option<Value> {
    let view = module.op(op);
    let position = view.results().position(|own| own == result)?;
    let ty = module.ty(result);
    let same = view.operands().get(position).filter(|&&value| module.ty(value) == ty);
    same.or_else(|| view.operands().iter().find(|&&value| module.ty(value) == ty)).copied()
}

/// A new argument of the function whose body an op stands in.
fn argument(module: &mut Module, op: OpId, result: Value) -> Option<Value> {
    let block = module.op(op).block()?;
    let function = module.op(op).parent()?;
    let function = FuncOp::cast(function)?.id();
    if !uncalled(module).contains(&function) {
        return None;
    }
    let ty = module.ty(result).clone();
    let value = module.add_argument(block, ty.clone(), Loc::Unknown);
    let (inputs, results) = FuncOp(module.op(function)).signature();
    let inputs = inputs.iter().cloned().chain([ty]).collect();
    let signature = Type::function(inputs, results.to_vec());
    if let Some(attributes) = FuncOp(module.op(function)).arg_attrs() {
        let empty = AttrKind::Dictionary(Default::default()).into();
        let attributes = attributes.iter().cloned().chain([empty]).collect();
        module.set_attr(function, "arg_attrs", Attribute::array(attributes));
    }
    module.set_attr(function, "function_type", signature.into());
    Some(value)
}

/// The functions with bodies that nothing refers to.
pub fn uncalled(module: &Module) -> Vec<OpId> {
    let ops = || module.walk(module.top().id());
    let mut called = HashSet::new();
    for op in ops() {
        let mut rest: Vec<&Attribute> = op
            .properties()
            .iter()
            .flatten()
            .chain(op.attributes().iter().map(|(_, a)| a))
            .collect();
        while let Some(attribute) = rest.pop() {
            match &**attribute {
                AttrKind::Symbol { root, .. } => drop(called.insert(root.clone())),
                AttrKind::Array(elements) => rest.extend(elements),
                AttrKind::Dictionary(entries) => rest.extend(entries.iter().map(|(_, a)| a)),
                _ => {}
            }
        }
    }
    let functions = ops().filter_map(FuncOp::cast).filter(|function| !function.is_declaration());
    let functions = functions.filter(|f| !f.symbol_name().is_some_and(|n| called.contains(n)));
    functions.map(|function| function.id()).collect()
}

/// Removes ops and private functions that nothing uses. Passes do the same, but number the ops
/// again.
pub(crate) fn remove_dead(module: &mut Module) {
    module.build_uses();
    loop {
        // Users before their operands.
        for op in module.post_order(module.top().id()).into_iter().rev() {
            if op != module.top().id() && module.is_attached(op) && is_dead(module, op) {
                module.erase(op);
            }
        }
        let is_private = |op: &OpId| module.op(*op).is_private();
        let unused: Vec<OpId> = uncalled(module).into_iter().filter(is_private).collect();
        if unused.is_empty() {
            return;
        }
        unused.into_iter().for_each(|function| module.erase(function));
    }
}

/// The entries of a list of attributes that `keep` keeps.
fn keep_attributes(module: &mut Module, op: OpId, name: &str, keep: &dyn Fn(usize) -> bool) {
    let Some(entries) = module.op(op).attr(name).and_then(|value| value.as_array()) else { return };
    let kept = entries.iter().enumerate().filter(|(index, _)| keep(*index));
    let kept = kept.map(|(_, value)| value.clone()).collect();
    module.set_attr(op, name, Attribute::array(kept));
}

/// Removes the results of a function that `keep` does not keep.
pub(crate) fn keep_results(
    module: &mut Module,
    function: OpId,
    keep: &dyn Fn(usize) -> bool,
) -> Option<()> {
    let view = FuncOp(module.op(function));
    let (inputs, results) = view.signature();
    let kept: Vec<usize> = (0..results.len()).filter(|&index| keep(index)).collect();
    let terminator = module.terminator(module.entry(view.body())?)?;
    if kept.len() == results.len() || module.blocks(view.body()).len() != 1 {
        return None;
    }
    let operands: Vec<Value> =
        kept.iter().filter_map(|&index| terminator.operands().get(index).copied()).collect();
    let types = kept.iter().filter_map(|&index| results.get(index).cloned()).collect();
    let signature = Type::function(inputs.to_vec(), types);
    let terminator = terminator.id();
    module.set_operands(terminator, operands);
    keep_attributes(module, function, "res_attrs", keep);
    module.set_attr(function, "function_type", signature.into());
    Some(())
}

/// Makes a function return the results of an op of its body and nothing else, if it did not.
pub(crate) fn return_only(module: &mut Module, function: OpId, op: OpId) -> Option<()> {
    let view = FuncOp(module.op(function));
    let &[block] = module.blocks(view.body()) else { return None };
    let terminator = module.terminator(block)?;
    let results: Vec<Value> = module.op(op).results().collect();
    if terminator.operands().len() <= results.len()
        && results.iter().all(|r| terminator.operands().contains(r))
    {
        return None;
    }
    let types = module.op(op).result_types().cloned().collect();
    let signature = Type::function(view.signature().0.to_vec(), types);
    let terminator = terminator.id();
    module.set_operands(terminator, results);
    module.remove_attr(function, "res_attrs");
    module.set_attr(function, "function_type", signature.into());
    Some(())
}

/// Removes the unused arguments of a function.
pub(crate) fn drop_unused_arguments(module: &mut Module, function: OpId) -> Option<()> {
    let view = FuncOp(module.op(function));
    let (inputs, results) = view.signature();
    let block = module.entry(view.body())?;
    let used: Vec<bool> =
        module.arguments(block).iter().map(|&argument| !module.is_unused(argument)).collect();
    if used.iter().all(|&used| used) {
        return None;
    }
    let keep = |index: usize| used.get(index).copied().unwrap_or(true);
    let kept = inputs.iter().enumerate().filter(|(index, _)| keep(*index));
    let kept = kept.map(|(_, ty)| ty.clone()).collect();
    let signature = Type::function(kept, results.to_vec());
    for index in (0..used.len()).rev().filter(|&index| !used[index]) {
        module.erase_argument(block, index);
    }
    keep_attributes(module, function, "arg_attrs", &keep);
    module.set_attr(function, "function_type", signature.into());
    Some(())
}

/// Puts the only block of a region in the place of its op, if its arguments have the types of the
/// operands and its results those of the op.
pub(crate) fn inline_region(module: &mut Module, op: OpId, region: usize) -> Option<()> {
    let view = module.op(op);
    let &[block] = module.blocks(*view.regions().get(region)?) else { return None };
    let arguments = module.arguments(block);
    let mut values = view.operands().to_vec();
    values.truncate(arguments.len());
    let has_types = |values: &[Value], types: &[Value]| {
        values.len() == types.len()
            && values.iter().zip(types).all(|(&a, &b)| module.ty(a) == module.ty(b))
    };
    let terminator = module.terminator(block)?;
    let results: Vec<Value> = view.results().collect();
    if !has_types(&values, arguments) || !has_types(terminator.operands(), &results) {
        return None;
    }
    let terminator = terminator.id();
    module.inline_block_before(block, op, &values);
    // Arguments among the operands are replaced by now.
    let replacements = module.op(terminator).operands().to_vec();
    for (old, new) in results.into_iter().zip(replacements) {
        module.replace_all_uses(old, new);
    }
    module.erase(terminator);
    module.erase(op);
    Some(())
}

/// Removes the attributes of ops that their declarations do not have.
pub(crate) fn drop_attributes(module: &mut Module, ops: &[OpId]) -> Option<()> {
    let mut changed = None;
    for &op in ops {
        if !module.is_attached(op) {
            continue;
        }
        let view = module.op(op);
        let names: Vec<_> = view.attributes().iter().map(|(name, _)| name.clone()).collect();
        for name in names {
            module.remove_attr(op, &name);
            changed = Some(());
        }
    }
    changed
}

/// Removes all locations.
pub(crate) fn forget_locations(module: &mut Module) {
    let ops: Vec<OpId> = module.walk(module.top().id()).map(OpRef::id).collect();
    for op in ops {
        module.set_loc(op, Loc::Unknown);
        let regions = module.op(op).regions().to_vec();
        let blocks: Vec<_> =
            regions.iter().flat_map(|&region| module.blocks(region)).copied().collect();
        for block in blocks {
            for index in 0..module.arguments(block).len() {
                module.set_argument_loc(block, index, Loc::Unknown);
            }
        }
    }
}
