//! A cache of valid ops. Programs hold many ops of one template with the same types, and for most
//! declarations nothing else decides whether an op is valid.

use crate::ir::OpRef;
use crate::ods::{OpDef, Trait};
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Ops that were found valid, one of each kind.
#[derive(Default)]
pub(super) struct VerifiedOps<'m>(FxHashMap<u64, OpRef<'m>>);

impl<'m> VerifiedOps<'m> {
    /// The key of an op in the cache; `None` if more decides whether it is valid than its template
    /// and the types of its operands and results.
    pub(super) fn key(op: OpRef<'_>) -> Option<u64> {
        op.def().filter(|def| decided_by_types(def))?;
        if !op.attributes().is_empty() || !op.regions().is_empty() || !op.successors().is_empty() {
            return None;
        }
        let mut hasher = FxHasher::default();
        op.template().hash(&mut hasher);
        for ty in op.operand_types().chain(op.result_types()) {
            hasher.write_usize(address(ty));
        }
        Some(hasher.finish())
    }

    /// True if an op like this one, whose key this is, is valid.
    pub(super) fn contains(&self, key: u64, op: OpRef<'m>) -> bool {
        self.0.get(&key).is_some_and(|&known| are_alike(known, op))
    }

    /// Records a valid op.
    pub(super) fn insert(&mut self, key: u64, op: OpRef<'m>) {
        self.0.insert(key, op);
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

/// Types are compared by their addresses: those that are equal and apart are few, and cost a check
/// more.
fn are_alike(a: OpRef<'_>, b: OpRef<'_>) -> bool {
    a.template() == b.template()
        && a.operand_types().map(address).eq(b.operand_types().map(address))
        && a.result_types().map(address).eq(b.result_types().map(address))
}

fn address(ty: &Type) -> usize {
    std::ptr::from_ref(&**ty).addr()
}
