//! Quantized element types, as StableHLO's type constraints see them.

use mlir::Type;
use side_dialects::quant::Uniform;

pub use side_dialects::quant::Granularity;

/// The quantized element type that `ty` is or that its elements have, if StableHLO allows it: zero points are storable.
pub fn quantized(ty: &Type) -> Option<Uniform<'_>> {
    let view = Uniform::of_element(ty)?;
    let storable = view.storage_min..=view.storage_max;
    view.zero_points.iter().all(|z| storable.contains(z)).then_some(view)
}

/// Whether `ty` is a quantized element type, and of which kind.
pub fn granularity(ty: &Type) -> Option<Granularity> {
    quantized(ty).map(|view| view.granularity())
}

/// Whether `ty` is a quantized element type or has such elements.
pub fn is_quantized(ty: &Type) -> bool {
    granularity(ty).is_some()
}

/// The quantized dimension of a per-axis quantized type.
pub fn axis(ty: &Type) -> Option<usize> {
    let view = quantized(ty).filter(|v| v.granularity() == Granularity::PerAxis)?;
    usize::try_from(*view.axes.first()?).ok()
}

/// Whether both types are quantized and agree in all but scales and zero points.
pub fn compatible(a: &Type, b: &Type) -> bool {
    let (Some(x), Some(y)) = (quantized(a), quantized(b)) else { return false };
    let per_axis = |u: &Uniform<'_>| u.granularity() == Granularity::PerAxis;
    (x.storage, x.storage_min, x.storage_max, x.expressed) == (y.storage, y.storage_min, y.storage_max, y.expressed)
        && per_axis(&x) == per_axis(&y)
}

/// Whether both types are quantized, stand for the same type, and the storage of `x` is no wider than that of `y`.
pub fn promotable(x: &Type, y: &Type) -> bool {
    let (Some(x), Some(y)) = (quantized(x), quantized(y)) else { return false };
    x.expressed == y.expressed && x.storage_width() <= y.storage_width()
}

/// Whether a per-axis quantized tensor has the quantized dimension, with one scale for each of its indices.
pub fn axis_fits(tensor: &Type) -> bool {
    let (Some(axis), Some(shape)) = (axis(tensor), tensor.shape()) else { return true };
    let scales = quantized(tensor).map_or(0, |v| v.scales().len());
    shape.get(axis).is_some_and(|&size| size < 0 || size as u64 == scales as u64)
}
