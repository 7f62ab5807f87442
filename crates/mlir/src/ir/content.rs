//! The content of a module: all but locations and names of values.

use super::{Module, Value};
use crate::attrs::Attribute;
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// A piece of the content.
#[derive(PartialEq, Hash)]
enum Part<'m> {
    Number(usize),
    Text(&'m str),
    Type(&'m Type),
    Attribute(&'m Attribute),
}

/// The pieces of a module. Modules are the same but for locations if and only if these are.
fn parts(module: &Module) -> Vec<Part<'_>> {
    let mut parts = Vec::with_capacity(8 * module.num_ops());
    // Values are numbered as they are met.
    let mut numbers: FxHashMap<Value, usize> = FxHashMap::default();
    let mut blocks = FxHashMap::default();
    let mut number = |value: Value| {
        let next = numbers.len();
        *numbers.entry(value).or_insert(next)
    };
    for op in module.walk(module.top().id()) {
        parts.push(Part::Text(op.name()));
        parts.push(Part::Number(op.operands().len()));
        parts.extend(op.operands().iter().map(|&operand| Part::Number(number(operand))));
        parts.push(Part::Number(op.num_results()));
        for (result, ty) in op.results().zip(op.result_types()) {
            parts.extend([Part::Number(number(result)), Part::Type(ty)]);
        }
        for (slot, value) in op.properties().iter().enumerate() {
            let Some(value) = value else { continue };
            parts.extend([Part::Number(slot), Part::Attribute(value)]);
        }
        for (name, value) in op.attributes().iter() {
            parts.extend([Part::Text(name), Part::Attribute(value)]);
        }
        parts.push(Part::Number(op.successors().len()));
        for &block in op.successors() {
            let next = blocks.len();
            parts.push(Part::Number(*blocks.entry(block).or_insert(next)));
        }
        parts.push(Part::Number(op.regions().len()));
        for &region in op.regions() {
            parts.push(Part::Number(module.blocks(region).len()));
            for &block in module.blocks(region) {
                let next = blocks.len();
                parts.push(Part::Number(*blocks.entry(block).or_insert(next)));
                let arguments = module.arguments(block);
                let ops = module.ops(block).count();
                parts.extend([Part::Number(arguments.len()), Part::Number(ops)]);
                for &argument in arguments {
                    parts.extend([Part::Number(number(argument)), Part::Type(module.ty(argument))]);
                }
            }
        }
    }
    parts
}

impl Module {
    /// A hash of all but locations and names of values; see [`Module::has_content_of`].
    pub fn content_hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        parts(self).hash(&mut hasher);
        hasher.finish()
    }

    /// True if two modules are the same but for locations and names of values.
    pub fn has_content_of(&self, other: &Module) -> bool {
        self.num_ops() == other.num_ops() && parts(self) == parts(other)
    }
}
