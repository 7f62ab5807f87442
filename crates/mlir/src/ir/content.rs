//! The content of a module: all but locations and names of values.

use super::{Module, Value};
use crate::attrs::Attribute;
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// A piece of the content.
#[derive(PartialEq, Hash)]
enum ContentPiece<'m> {
    Number(usize),
    Text(&'m str),
    Type(&'m Type),
    Attribute(&'m Attribute),
}

/// The pieces of a module. Modules are the same but for locations if and only if these are.
fn parts(module: &Module) -> Vec<ContentPiece<'_>> {
    let mut parts = Vec::with_capacity(8 * module.num_ops());
    // Values are numbered as they are met.
    let mut numbers: FxHashMap<Value, usize> = FxHashMap::default();
    let mut blocks = FxHashMap::default();
    let mut number = |value: Value| {
        let next = numbers.len();
        *numbers.entry(value).or_insert(next)
    };
    for op in module.walk(module.top().id()) {
        parts.push(ContentPiece::Text(op.name()));
        parts.push(ContentPiece::Number(op.operands().len()));
        parts.extend(op.operands().iter().map(|&operand| ContentPiece::Number(number(operand))));
        parts.push(ContentPiece::Number(op.num_results()));
        for (result, ty) in op.results().zip(op.result_types()) {
            parts.extend([ContentPiece::Number(number(result)), ContentPiece::Type(ty)]);
        }
        for (slot, value) in op.properties().iter().enumerate() {
            let Some(value) = value else { continue };
            parts.extend([ContentPiece::Number(slot), ContentPiece::Attribute(value)]);
        }
        for (name, value) in op.attributes().iter() {
            parts.extend([ContentPiece::Text(name), ContentPiece::Attribute(value)]);
        }
        parts.push(ContentPiece::Number(op.successors().len()));
        for &block in op.successors() {
            let next = blocks.len();
            parts.push(ContentPiece::Number(*blocks.entry(block).or_insert(next)));
        }
        parts.push(ContentPiece::Number(op.regions().len()));
        for &region in op.regions() {
            parts.push(ContentPiece::Number(module.blocks(region).len()));
            for &block in module.blocks(region) {
                let next = blocks.len();
                parts.push(ContentPiece::Number(*blocks.entry(block).or_insert(next)));
                let arguments = module.arguments(block);
                let ops = module.ops(block).count();
                parts.extend([ContentPiece::Number(arguments.len()), ContentPiece::Number(ops)]);
                for &argument in arguments {
                    parts.extend([
                        ContentPiece::Number(number(argument)),
                        ContentPiece::Type(module.ty(argument)),
                    ]);
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
