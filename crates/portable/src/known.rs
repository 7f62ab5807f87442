//! What was converted before: programs hold the same types and attributes over and over.

use mlir::{Attribute, Type};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// What types and attributes of VHLO became.
#[derive(Default)]
pub(crate) struct Known {
    pub types: FxHashMap<Type, Type>,
    /// Those that hold others.
    pub attributes: FxHashMap<Attribute, Attribute>,
    /// Lists of integers, which are tensors in VHLO.
    pub i64_arrays: FxHashMap<Attribute, Attribute>,
}

impl Known {
    /// What `key` became, or becomes by `convert`; `table` is the one that it is looked up in.
    pub fn or_convert<T: Hash + Eq + Clone>(
        &mut self,
        table: fn(&mut Known) -> &mut FxHashMap<T, T>,
        key: &T,
        convert: impl FnOnce(&mut Known) -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = table(self).get(key) {
            return Some(found.clone());
        }
        let new = convert(self)?;
        table(self).insert(key.clone(), new.clone());
        Some(new)
    }
}
