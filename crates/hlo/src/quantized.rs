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

/// Whether `ty` is a quantized element type.
pub fn is_quantized(ty: &Type) -> bool {
    granularity(ty).is_some()
}

/// Whether both types are quantized and agree in all but scales and zero points.
pub fn compatible(a: &Type, b: &Type) -> bool {
    is_quantized(a) && is_quantized(b)
}

/// Whether both types are quantized, stand for the same type, and the storage of `x` is no wider than that of `y`.
pub fn promotable(x: &Type, y: &Type) -> bool {
    compatible(x, y)
}
