//! A cache of converted types and attributes: programs hold the same ones over and over.

use mlir::{Attribute, Type};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The types and attributes that those of VHLO were converted to.
#[derive(Default)]
pub(crate) struct ConversionCache {
    pub types: FxHashMap<Type, Type>,
    /// Attributes with nested attributes or types.
    pub attributes: FxHashMap<Attribute, Attribute>,
    /// Lists of integers, which are tensors in VHLO.
    pub i64_arrays: FxHashMap<Attribute, Attribute>,
}

impl ConversionCache {
    /// The entry of `key` in `table`, made by `convert` at first.
    pub(crate) fn get_or_convert<T: Hash + Eq + Clone>(
        &mut self,
        table: fn(&mut ConversionCache) -> &mut FxHashMap<T, T>,
        key: &T,
        convert: impl FnOnce(&mut ConversionCache) -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = table(self).get(key) {
            return Some(found.clone());
        }
        let new = convert(self)?;
        table(self).insert(key.clone(), new.clone());
        Some(new)
    }
}
