//! Cache of valid ops: programs contain many ops that are equal in all aspects that verification
//! depends on.

use crate::attrs::Attribute;
use crate::ir::{Module, OpId, OpRef};
use crate::ods::{OpDef, Trait};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// One valid op of each kind.
pub(super) struct KnownOps<'m> {
    module: &'m Module,
    by_signature: FxHashMap<u64, OpId>,
}

impl<'m> KnownOps<'m> {
    pub(super) fn new(module: &'m Module) -> KnownOps<'m> {
        KnownOps { module, by_signature: FxHashMap::default() }
    }

    /// The cache key of an op; `None` if its validity depends on more than its declaration, operand
    /// and result types, and properties.
    pub(super) fn signature(op: OpRef<'_>) -> Option<u64> {
        let def = op.def().filter(|def| decided_by_types(def))?;
        if !op.attributes().is_empty() || !op.regions().is_empty() || !op.successors().is_empty() {
            return None;
        }
        let mut hasher = FxHasher::default();
        hasher.write_usize(std::ptr::from_ref(def).addr());
        for ty in op.operand_types() {
            hasher.write_usize(address(&**ty));
        }
        for ty in op.result_types() {
            hasher.write_usize(address(&**ty));
        }
        for value in op.properties() {
            hasher.write_usize(value.as_deref().map_or(0, address));
        }
        Some(hasher.finish())
    }

    /// True if an equal op with this key is cached.
    pub(super) fn contains(&self, signature: u64, op: OpRef<'m>) -> bool {
        self.by_signature.get(&signature).is_some_and(|&known| are_alike(self.module.op(known), op))
    }

    /// Caches a valid op.
    pub(super) fn insert(&mut self, signature: u64, op: OpRef<'m>) {
        self.by_signature.insert(signature, op.id());
    }
}

fn decided_by_types(def: &OpDef) -> bool {
    let mut has_no_effect = false;
    for t in def.traits {
        match t {
            Trait::Pure | Trait::NoMemoryEffect => has_no_effect = true,
            Trait::Terminator | Trait::HasParent(_) | Trait::Symbol | Trait::ReadsOperands => {
                return false;
            }
            _ => {}
        }
    }
    has_no_effect && def.verify_symbols.is_none()
}

/// Compares types and attributes by address: equal ones with different addresses are rare, and only
/// cost another verification.
fn are_alike(a: OpRef<'_>, b: OpRef<'_>) -> bool {
    let property = |value: &Option<Attribute>| value.as_deref().map(address);
    a.def().map(std::ptr::from_ref) == b.def().map(std::ptr::from_ref)
        && a.operand_types().map(|ty| address(&**ty)).eq(b.operand_types().map(|ty| address(&**ty)))
        && a.result_types().map(|ty| address(&**ty)).eq(b.result_types().map(|ty| address(&**ty)))
        && a.properties().iter().map(property).eq(b.properties().iter().map(property))
}

fn address<T>(shared: &T) -> usize {
    std::ptr::from_ref(shared).addr()
}
