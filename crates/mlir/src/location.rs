//! Fusion of locations.

use crate::attrs::{AttrKind, Attribute, LocationKind};
use std::collections::HashSet;

impl LocationKind {
    /// Fuses locations, without duplicates and unknown ones. Fused ones with the same metadata are
    /// flattened first.
    ///
    /// Source: MLIR's `FusedLoc::get`.
    pub fn fused(locations: Vec<Attribute>, metadata: Option<Attribute>) -> Attribute {
        let mut seen = HashSet::new();
        let mut known = Vec::with_capacity(locations.len());
        for location in locations {
            let parts = match location.as_location() {
                Some(LocationKind::Unknown) => Vec::new(),
                Some(LocationKind::Fused { metadata: inner, locations }) if *inner == metadata => {
                    locations.clone()
                }
                _ => vec![location],
            };
            known.extend(parts.into_iter().filter(|part| seen.insert(part.clone())));
        }
        match (known.len(), &metadata) {
            (0, None) => return Attribute::unknown_location(),
            (0, Some(_)) => known.push(Attribute::unknown_location()),
            (1, None) => return known.swap_remove(0),
            _ => {}
        }
        AttrKind::Location(LocationKind::Fused { metadata, locations: known }).into()
    }
}
