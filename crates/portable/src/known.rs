//! Cache of converted types and attributes, which programs repeat many times.

use mlir::{Attribute, Type};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Caches of conversions from VHLO.
#[derive(Default)]
pub(crate) struct Known {
    pub types: FxHashMap<Type, Type>,
    /// Attributes with nested attributes or types.
    pub attributes: FxHashMap<Attribute, Attribute>,
    /// Lists of integers, which are tensors in VHLO.
    pub i64_arrays: FxHashMap<Attribute, Attribute>,
}

impl Known {
    /// Looks up `key` in `table`, or converts and inserts it.
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
