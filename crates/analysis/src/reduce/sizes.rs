//! Smaller dimensions.

use mlir::attrs::{AttrKind, DenseElements};
use mlir::{Attribute, Module, OpId, OpRef, Type, Value};
use std::collections::BTreeSet;

/// The sizes of dimensions in a program, the largest first.
pub(crate) fn sizes(module: &Module) -> Vec<i64> {
    let mut sizes = BTreeSet::new();
    for op in module.walk(module.top().id()) {
        let blocks = op.regions().iter().flat_map(|&region| module.blocks(region));
        let arguments = blocks.flat_map(|&block| module.arguments(block));
        let types = op.result_types().chain(arguments.map(|&value| module.ty(value)));
        types.for_each(|ty| sizes.extend(ty.shape().unwrap_or(&[])));
    }
    sizes.into_iter().rev().filter(|&size| size > 1).collect()
}

/// Replaces a size in all types and, if `in_attributes`, in lists of numbers. Constants of that
/// size become splats of their first element. `None` if no type has it.
pub(crate) fn replace(module: &mut Module, from: i64, to: i64, in_attributes: bool) -> Option<()> {
    let ops: Vec<OpId> = module.walk(module.top().id()).map(OpRef::id).collect();
    let mut changed = None;
    for id in ops {
        let op = module.op(id);
        let blocks = op.regions().iter().flat_map(|&region| module.blocks(region));
        let arguments = blocks.flat_map(|&block| module.arguments(block).iter().copied());
        let values: Vec<Value> = op.results().chain(arguments).collect();
        for value in values {
            if let Some(ty) = resized(module.ty(value), from, to) {
                module.set_type(value, ty);
                changed = Some(());
            }
        }
        let op = module.op(id);
        let attributes: Vec<(usize, Attribute)> = op
            .properties()
            .iter()
            .enumerate()
            .filter_map(|(slot, value)| Some((slot, value.clone()?)))
            .collect();
        for (slot, value) in attributes {
            if let Some(value) = attribute(&value, from, to, in_attributes) {
                module.set_property(id, slot, Some(value));
            }
        }
    }
    changed
}

/// A type with another size; `None` if it does not have it.
fn resized(ty: &Type, from: i64, to: i64) -> Option<Type> {
    if let Some(tensor) = ty.as_tensor() {
        if !tensor.shape.contains(&from) {
            return None;
        }
        let sizes = tensor.shape.iter().map(|&size| if size == from { to } else { size });
        let (sizes, element) = (sizes.collect::<Vec<i64>>(), tensor.element.clone());
        return Some(Type::encoded_tensor(sizes, element, tensor.encoding.clone()));
    }
    let (inputs, results) = ty.as_function()?;
    let all = |types: &[Type]| {
        let each = |ty: &Type| resized(ty, from, to).unwrap_or_else(|| ty.clone());
        types.iter().map(each).collect::<Vec<_>>()
    };
    let (new_inputs, new_results) = (all(inputs), all(results));
    let is_same = new_inputs == inputs && new_results == results;
    (!is_same).then(|| Type::function(new_inputs, new_results))
}

fn attribute(value: &Attribute, from: i64, to: i64, lists: bool) -> Option<Attribute> {
    match &**value {
        AttrKind::Type(ty) => Some(AttrKind::Type(resized(ty, from, to)?).into()),
        AttrKind::Dense(elements) => {
            let ty = resized(elements.ty(), from, to)?;
            let width = elements.dtype().bytes();
            let first = elements.data().slice(0..width)?;
            Some(DenseElements::new(ty, first)?.into())
        }
        AttrKind::DenseArray { element, values } if lists && values.contains(&from) => {
            let values = values.iter().map(|&v| if v == from { to } else { v }).collect();
            Some(AttrKind::DenseArray { element: element.clone(), values }.into())
        }
        _ => None,
    }
}
