//! Compatibility of types, whose values may have the same type at run time: dynamic dimensions are
//! compatible with any size.
//!
//! Source: StableHLO `docs/type_inference.md`.

use crate::attrs;
use crate::quantized;
use mlir::types::{DYNAMIC, TensorType};
use mlir::verify::are_compatible;
use mlir::{Type, TypeKind};

/// True if two dimension sizes may be equal.
pub fn dims(a: i64, b: i64) -> bool {
    a == DYNAMIC || b == DYNAMIC || a == b
}

/// True if two shapes may be equal.
pub fn shapes(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| dims(a, b))
}

/// True if the element types agree; quantized ones may differ in scales and zero points.
pub fn elements(a: &Type, b: &Type) -> bool {
    let (a, b) = (a.element_type(), b.element_type());
    a == b || quantized::compatible(a, b)
}

/// True if two types may be equal: tensors in shape, element type and bounds.
pub fn types(a: &Type, b: &Type) -> bool {
    match (a.as_tuple(), b.as_tuple()) {
        (Some(a), Some(b)) => lists(a.iter(), b.iter()),
        _ => are_compatible(a, b),
    }
}

/// True if two lists of types may be equal.
pub fn lists<'a>(
    a: impl ExactSizeIterator<Item = &'a Type>,
    b: impl ExactSizeIterator<Item = &'a Type>,
) -> bool {
    a.len() == b.len() && a.zip(b).all(|(a, b)| types(a, b))
}

/// True if elements of type `x` may be accumulated in type `y`: the same kind of number, and no
/// wider.
///
/// Source: specification, `is_promotable`. As upstream, floats of any width may accumulate in each
/// other.
pub fn promotable(x: &Type, y: &Type) -> bool {
    match (&**x, &**y) {
        (TypeKind::Integer { width: a, .. }, TypeKind::Integer { width: b, .. }) => a <= b,
        (TypeKind::Float(_), TypeKind::Float(_)) => true,
        (TypeKind::Complex(a), TypeKind::Complex(b)) => a.bit_width() <= b.bit_width(),
        _ => x == y || quantized::promotable(x, y),
    }
}

/// The most specific type of tensors that must have equal shapes: static sizes take precedence over
/// `?`, smaller bounds over larger ones. `None` if they are incompatible. Element type and encoding
/// are those of the first.
pub fn most_specific<'a>(mut tensors: impl Iterator<Item = &'a Type>) -> Option<Type> {
    merge(
        tensors.next()?,
        tensors,
        |a, b| if a == DYNAMIC { b } else { a },
        |a, b| match (a, b) {
            (DYNAMIC, x) | (x, DYNAMIC) => x,
            (a, b) => a.min(b),
        },
    )
}

/// The most specific type of a value declared with type `declared` and inferred to have type
/// `found`, with the declared element types. `None` if they are incompatible.
pub fn refined(declared: &Type, found: &Type) -> Option<Type> {
    if declared == found {
        return Some(declared.clone());
    }
    if let (Some(a), Some(b)) = (declared.as_tuple(), found.as_tuple()) {
        let elements = (a.len() == b.len())
            .then(|| a.iter().zip(b).map(|(a, b)| refined(a, b)).collect::<Option<_>>());
        return elements.flatten().map(Type::tuple);
    }
    if !elements(declared, found) {
        return None;
    }
    match (&**declared, &**found) {
        (TypeKind::UnrankedTensor(element), TypeKind::RankedTensor(_)) => {
            Some(with_element(found, element.clone()))
        }
        (TypeKind::RankedTensor(_), TypeKind::UnrankedTensor(_)) => Some(declared.clone()),
        (TypeKind::RankedTensor(_), TypeKind::RankedTensor(_)) => {
            most_specific([declared, found].into_iter())
        }
        _ => None,
    }
}

/// The least specific type of tensors of the same rank: sizes that differ become `?`, with the
/// largest bound. `None` if there is none. Element type and encoding are those of the first.
pub fn least_specific<'a>(mut tensors: impl Iterator<Item = &'a Type>) -> Option<Type> {
    merge(
        tensors.next()?,
        tensors,
        |a, b| if a == b { a } else { DYNAMIC },
        |a, b| match (a, b) {
            (DYNAMIC, _) | (_, DYNAMIC) => DYNAMIC,
            (a, b) => a.max(b),
        },
    )
}

/// Folds shapes with `size` and bounds with `bound`; a static size that becomes dynamic is its own
/// bound.
fn merge<'a>(
    first: &Type,
    rest: impl Iterator<Item = &'a Type>,
    size: fn(i64, i64) -> i64,
    bound: fn(i64, i64) -> i64,
) -> Option<Type> {
    let Some(tensor) = first.as_tensor() else { return Some(first.clone()) };
    let known = |t: &TensorType| match t.encoding.as_ref().and_then(attrs::bounds) {
        Some(bounds) if bounds.len() == t.rank() => bounds.to_vec(),
        _ => vec![DYNAMIC; t.rank()],
    };
    let (mut shape, mut bounds) = (tensor.shape.clone(), known(tensor));
    let mut bounded = tensor.encoding.as_ref().is_some_and(|e| attrs::bounds(e).is_some());
    for other in rest {
        let other = other.as_tensor()?;
        if !shapes(&shape, &other.shape) {
            return None;
        }
        let other_bounds = known(other);
        bounded |= other_bounds.iter().any(|&b| b != DYNAMIC);
        for i in 0..shape.len() {
            let (a, b) = (shape[i], other.shape[i]);
            shape[i] = size(a, b);
            let or_size = |bound: i64, size: i64| if size == DYNAMIC { bound } else { size };
            bounds[i] = if shape[i] == DYNAMIC {
                bound(or_size(bounds[i], a), or_size(other_bounds[i], b))
            } else {
                DYNAMIC
            };
        }
    }
    let encoding = match &tensor.encoding {
        encoding if !bounded => encoding.clone(),
        _ if bounds.iter().all(|&b| b == DYNAMIC) => None,
        _ => Some(attrs::type_extensions(bounds)),
    };
    Some(Type::encoded_tensor(shape, tensor.element.clone(), encoding))
}

/// The tensor type of `ty` with another element type.
pub fn with_element(ty: &Type, element: Type) -> Type {
    match &**ty {
        TypeKind::RankedTensor(t) => {
            Type::encoded_tensor(t.shape.clone(), element, t.encoding.clone())
        }
        _ => Type::unranked_tensor(element),
    }
}
