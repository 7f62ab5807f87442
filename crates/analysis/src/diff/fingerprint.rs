//! Hashes of what an op is, without names, locations and what its operands are.

use mlir::attrs::AttrKind;
use mlir::rewrite::effects::is_memory_effect_free;
use mlir::{Attribute, BlockId, Module, OpId, OpRef, Value};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// The attributes that name an op or a function: differences in them do not count.
pub(crate) const NAMES: [&str; 2] = ["sym_name", "sym_visibility"];

/// The attributes of an op, declared ones with their defaults, except `ignored`.
pub(crate) fn attributes<'m>(
    op: OpRef<'m>,
    ignored: &[String],
) -> impl Iterator<Item = (&'m str, &'m Attribute)> {
    let declared = op.def().map_or(&[][..], |def| def.attributes);
    let declared = declared.iter().enumerate();
    let declared =
        declared.filter_map(move |(index, slot)| Some((slot.name, op.property_or_default(index)?)));
    let unregistered = op.properties().iter().flatten().filter(move |_| op.def().is_none());
    let unregistered = unregistered.map(|value| ("properties", value));
    let others = op.attributes().iter().map(|(name, value)| (&**name, value));
    let all = declared.chain(unregistered).chain(others);
    let ignored: Vec<String> = ignored.to_vec();
    all.filter(move |(name, _)| !NAMES.contains(name) && !ignored.iter().any(|own| own == name))
}

/// Hashes an attribute; symbols are names, and count as equal.
fn hash_attribute(attribute: &Attribute, hasher: &mut FxHasher) {
    match &**attribute {
        AttrKind::Symbol { .. } => 0u8.hash(hasher),
        AttrKind::Array(elements) => {
            elements.len().hash(hasher);
            elements.iter().for_each(|element| hash_attribute(element, hasher));
        }
        _ => attribute.hash(hasher),
    }
}

/// Hashes of the ops of a module by what they are: name, attributes, result types, and the
/// contents of regions. Equal ops have equal hashes.
pub(crate) fn fingerprints(module: &Module, ignored: &[String]) -> FxHashMap<OpId, u64> {
    let mut hashes = FxHashMap::default();
    // Ops within regions come before the ops around them.
    for id in module.post_order(module.top().id()) {
        let op = module.op(id);
        let mut hasher = FxHasher::default();
        op.name().hash(&mut hasher);
        for (name, value) in attributes(op, ignored) {
            name.hash(&mut hasher);
            hash_attribute(value, &mut hasher);
        }
        op.result_types().for_each(|ty| ty.hash(&mut hasher));
        for &region in op.regions() {
            for &block in module.blocks(region) {
                hash_block(module, block, &hashes, &mut hasher);
            }
        }
        hashes.insert(id, hasher.finish());
    }
    hashes
}

/// Hashes the contents of a block: the order of ops without side effects does not count.
fn hash_block(module: &Module, block: BlockId, ops: &FxHashMap<OpId, u64>, hasher: &mut FxHasher) {
    let mut values: FxHashMap<Value, u64> = FxHashMap::default();
    for (index, &argument) in module.arguments(block).iter().enumerate() {
        module.ty(argument).hash(hasher);
        values.insert(argument, index as u64);
    }
    let mut pure = 0u64;
    for op in module.ops(block) {
        let mut own = FxHasher::default();
        ops.get(&op.id()).hash(&mut own);
        for value in op.operands() {
            // A value from outside is anything of its type.
            match values.get(value) {
                Some(known) => known.hash(&mut own),
                None => module.ty(*value).hash(&mut own),
            }
        }
        let hash = own.finish();
        for (index, result) in op.results().enumerate() {
            values.insert(result, hash.wrapping_add(index as u64).rotate_left(7));
        }
        match is_memory_effect_free(op) {
            true => pure = pure.wrapping_add(hash),
            false => hash.hash(hasher),
        }
    }
    pure.hash(hasher);
}
