//! Compatibility of types, where equality is too strict: dynamic dimensions and quantized elements.

use crate::attrs::{AttrKind, Attribute};
use crate::types::{DYNAMIC, Type, TypeKind};

/// True if a value of inferred type `a` may be declared with type `b`, or the reverse: shapes are
/// compatible, sizes are within bounds, and elements are equal or, for dialect types, compatible.
/// Encodings are ignored.
pub fn are_compatible(a: &Type, b: &Type) -> bool {
    if a == b {
        return true;
    }
    let elements = || elements_are_compatible(a.element_type(), b.element_type());
    if a.is_shaped() != b.is_shaped() {
        return elements();
    }
    have_compatible_shapes(a, b)
        && stays_within_bounds(a, b)
        && stays_within_bounds(b, a)
        && elements()
}

/// True if both types have compatible shapes: ranks are equal unless one is unranked, sizes are
/// equal unless one is dynamic. Types without shape are compatible.
pub fn have_compatible_shapes(a: &Type, b: &Type) -> bool {
    match (a.shape(), b.shape()) {
        (Some(a), Some(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(&x, &y)| x == y || x == DYNAMIC || y == DYNAMIC)
        }
        _ => a.is_shaped() == b.is_shaped(),
    }
}

fn elements_are_compatible(a: &Type, b: &Type) -> bool {
    match (&**a, &**b) {
        (TypeKind::Dialect(x), TypeKind::Dialect(y)) if std::ptr::eq(x.def, y.def) && a != b => {
            x.def.compatible.is_some_and(|compatible| compatible(&x.params, &y.params))
        }
        _ => a == b,
    }
}

/// True if no size of `ty` exceeds the bounds in the encoding of `bounded`.
fn stays_within_bounds(ty: &Type, bounded: &Type) -> bool {
    let (Some(ty), Some(bounded)) = (ty.as_tensor(), bounded.as_tensor()) else { return true };
    let Some(bounds) = bounded.encoding.as_ref().and_then(bounds) else { return true };
    ty.shape.iter().zip(bounds).all(|(&size, &bound)| bound == DYNAMIC || size <= bound)
}

/// The dimension bounds in a tensor encoding, `DYNAMIC` where there is none.
fn bounds(encoding: &Attribute) -> Option<&[i64]> {
    let AttrKind::Dialect(attr) = &**encoding else { return None };
    attr.params.get(attr.def.bounds?)?.as_ref()?.as_int_array()
}
