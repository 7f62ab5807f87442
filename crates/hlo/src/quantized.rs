//! Quantized element types, as StableHLO's type constraints see them.

use mlir::{Type, TypeKind};

/// How scales are spread over a quantized tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// One scale for all.
    PerTensor,
    /// One scale a slice.
    PerAxis,
}

/// Whether `ty` is a quantized element type, and of which kind.
pub fn granularity(ty: &Type) -> Option<Granularity> {
    match &**ty {
        TypeKind::Dialect(t) if t.def.dialect == "quant" => Some(Granularity::PerTensor),
        _ => None,
    }
}
