//! Elementwise ops that broadcast their operands: with NumPy's rules, or along the dimensions
//! listed in `broadcast_dimensions`.

use crate::constraints::{BOOLEANS, BOOLEANS_OR_INTS, COMPLEXES, FLOATS, RANKED_BOOLEANS, TENSOR};
use crate::enums::{COMPARISON_DIRECTION, COMPARISON_TYPE};
use hlo::attrs::{bounds, type_extensions};
use hlo::{compat, reify};
use mlir::types::DYNAMIC;
use mlir::{Diagnostic, OpRef, Type, Verdict, op};

const FORMAT_TEXT: &str =
    "$lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)";

/// A dimension's size and, for a dynamic dimension, its bound.
#[doc(hidden)]
pub type Size = (i64, i64);

/// Sizes of a tensor type; `None` if it is unranked.
fn sizes(ty: &Type) -> Option<Vec<Size>> {
    let tensor = ty.as_tensor()?;
    let bounds = tensor.encoding.as_ref().and_then(bounds);
    let bound = |i| bounds.and_then(|bounds| bounds.get(i)).copied().unwrap_or(DYNAMIC);
    Some(tensor.shape.iter().enumerate().map(|(i, &size)| (size, bound(i))).collect())
}

/// The broadcast of two sizes; `None` if they are incompatible.
#[doc(hidden)]
pub fn broadcast_size(a: Size, b: Size) -> Option<Size> {
    match (a.0, b.0) {
        // A dynamic size may be 1 at run time, so only the larger bound holds.
        (DYNAMIC, DYNAMIC) if a.1 != DYNAMIC && b.1 != DYNAMIC => Some((DYNAMIC, a.1.max(b.1))),
        (DYNAMIC, DYNAMIC) => Some((DYNAMIC, DYNAMIC)),
        (1, _) => Some(b),
        (_, 1) => Some(a),
        // The dynamic size must equal the static one, or be 1.
        (DYNAMIC, _) => Some(b),
        (_, DYNAMIC) => Some(a),
        (size, other) => (size == other).then_some(a),
    }
}

/// The broadcast of two shapes; `None` if they are incompatible. Dimension `i` of the shape of
/// lower rank maps to dimension `dims[i]` of the other one; by default, to the trailing dimensions.
#[doc(hidden)]
pub fn broadcast_sizes(a: &[Size], b: &[Size], dims: Option<&[i64]>) -> Option<Vec<Size>> {
    let (large, small) = if a.len() > b.len() { (a, b) } else { (b, a) };
    let mut out = large.to_vec();
    let offset = large.len() - small.len();
    if dims.is_some_and(|dims| dims.len() != small.len()) {
        return None;
    }
    for (i, &size) in small.iter().enumerate() {
        let at = match dims {
            Some(dims) => usize::try_from(dims[i]).ok().filter(|&d| d < large.len())?,
            None => offset + i,
        };
        out[at] = broadcast_size(size, large[at])?;
    }
    Some(out)
}

/// The result type with the given element type; unranked if the sizes are unknown.
fn result_type(sizes: Option<Vec<Size>>, element: Type) -> Type {
    let Some(sizes) = sizes else { return Type::unranked_tensor(element) };
    let (shape, bounds): (Vec<i64>, Vec<i64>) = sizes.into_iter().unzip();
    let is_bounded = bounds.iter().any(|&bound| bound != DYNAMIC);
    Type::encoded_tensor(shape, element, is_bounded.then(|| type_extensions(bounds)))
}

fn infer_binary(op: OpRef<'_>, element: impl Fn(&Type) -> Type) -> Result<Vec<Type>, Diagnostic> {
    let (lhs, rhs) = (op.operand_type(0), op.operand_type(1));
    if !compat::elements(lhs, rhs) {
        return Err(op.error(
            "operand-type",
            format!("operands must have one element type, found {lhs} and {rhs}"),
        ));
    }
    let dims = op.int_array("broadcast_dimensions");
    if let Some(negative) = dims.and_then(|dims| dims.iter().find(|&&d| d < 0)) {
        let message = format!("broadcast_dimensions must not be negative; found {negative}");
        return Err(op.error("broadcast_dimensions", message));
    }
    // As upstream, operands of equal ranks need no dimensions, which are ignored, and a result of
    // shapes without a broadcast may have any type.
    let same_rank = lhs.shape().map(<[i64]>::len) == rhs.shape().map(<[i64]>::len);
    let dims = dims.filter(|_| !same_rank);
    let common = sizes(lhs).zip(sizes(rhs)).map(|(l, r)| broadcast_sizes(&l, &r, dims));
    Ok(vec![result_type(common.flatten(), element(lhs.element_type()))])
}

/// Checks that the shapes have a broadcast.
fn verify_strict(op: OpRef<'_>) -> Verdict {
    let types = [op.operand_type(0), op.operand_type(1)];
    let Some((lhs, rhs)) = sizes(types[0]).zip(sizes(types[1])) else { return Ok(()) };
    let dims = op.int_array("broadcast_dimensions").filter(|_| lhs.len() != rhs.len());
    let is_distinct = |dims: &[i64]| !(1..dims.len()).any(|i| dims[..i].contains(&dims[i]));
    if broadcast_sizes(&lhs, &rhs, dims).is_some() && dims.is_none_or(is_distinct) {
        return Ok(());
    }
    let Some(dims) = dims else { return Err(incompatible(op)) };
    let message = format!(
        "broadcast_dimensions {dims:?} do not map the dimensions of one operand to equal ones of \
         the other, or to ones of size 1; found {} and {}",
        types[0], types[1]
    );
    Err(op.error("broadcast_dimensions", message))
}

/// The error for operands whose shapes have no broadcast.
fn incompatible(op: OpRef<'_>) -> Diagnostic {
    let types: Vec<String> = op.operand_types().map(Type::to_string).collect();
    let message = format!(
        "the shapes of the operands must be equal or 1 in each dimension, from the last; found {}",
        types.join(", ")
    );
    op.error("broadcast", message)
}

fn same_element(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    infer_binary(op, Type::clone)
}

macro_rules! binary {
    ($($(#[doc = $doc:literal])+ $view:ident, $name:literal, $from:ident, $to:ident, $infer:expr $(, $extra:ident)*;)*) => {
        $(op! {
            $(#[doc = $doc])+
            pub $view, $name {
                operands { lhs: single $from, rhs: single $from }
                results { result: single $to }
                attributes { broadcast_dimensions: optional I64Array }
                traits [Pure $(, $extra)*]
                hooks {
                    format: FORMAT_TEXT,
                    verify_strict: verify_strict,
                    infer: $infer,
                    reify: reify::common_shape,
                }
            }
        })*
    };
}

binary! {
    /// Sum.
    BroadcastAddOp, "chlo.broadcast_add", TENSOR, TENSOR, same_element, Commutative, ConstantsLast;
    /// Logical and of booleans, bitwise and of integers.
    BroadcastAndOp, "chlo.broadcast_and", BOOLEANS_OR_INTS, BOOLEANS_OR_INTS, same_element, Commutative, ConstantsLast;
    /// The angle of the point with ordinate `lhs` and abscissa `rhs`.
    BroadcastAtan2Op, "chlo.broadcast_atan2", TENSOR, TENSOR, same_element;
    /// Quotient.
    BroadcastDivideOp, "chlo.broadcast_divide", TENSOR, TENSOR, same_element;
    /// The greater number.
    BroadcastMaximumOp, "chlo.broadcast_maximum", TENSOR, TENSOR, same_element, Commutative, ConstantsLast;
    /// The lesser number.
    BroadcastMinimumOp, "chlo.broadcast_minimum", TENSOR, TENSOR, same_element, Commutative, ConstantsLast;
    /// Product.
    BroadcastMultiplyOp, "chlo.broadcast_multiply", TENSOR, TENSOR, same_element, Commutative, ConstantsLast;
    /// The number next to `lhs` in the direction of `rhs`.
    BroadcastNextAfterOp, "chlo.broadcast_next_after", TENSOR, TENSOR, same_element;
    /// Logical or of booleans, bitwise or of integers.
    BroadcastOrOp, "chlo.broadcast_or", BOOLEANS_OR_INTS, BOOLEANS_OR_INTS, same_element, Commutative, ConstantsLast;
    /// The derivative of order `lhs` of the digamma function at `rhs`.
    BroadcastPolygammaOp, "chlo.broadcast_polygamma", TENSOR, TENSOR, same_element;
    /// `lhs` to the power of `rhs`.
    BroadcastPowerOp, "chlo.broadcast_power", TENSOR, TENSOR, same_element;
    /// Remainder of truncating division.
    BroadcastRemainderOp, "chlo.broadcast_remainder", TENSOR, TENSOR, same_element;
    /// Shift to the left.
    BroadcastShiftLeftOp, "chlo.broadcast_shift_left", TENSOR, TENSOR, same_element;
    /// Shift to the right that copies the sign.
    BroadcastShiftRightArithmeticOp, "chlo.broadcast_shift_right_arithmetic", TENSOR, TENSOR, same_element;
    /// Shift to the right.
    BroadcastShiftRightLogicalOp, "chlo.broadcast_shift_right_logical", TENSOR, TENSOR, same_element;
    /// Difference.
    BroadcastSubtractOp, "chlo.broadcast_subtract", TENSOR, TENSOR, same_element;
    /// Logical exclusive or of booleans, bitwise exclusive or of integers.
    BroadcastXorOp, "chlo.broadcast_xor", BOOLEANS_OR_INTS, BOOLEANS_OR_INTS, same_element, Commutative, ConstantsLast;
    /// The Hurwitz zeta function.
    BroadcastZetaOp, "chlo.broadcast_zeta", FLOATS, FLOATS, same_element;
}

op! {
    /// The complex number of real part `lhs` and imaginary part `rhs`.
    pub BroadcastComplexOp, "chlo.broadcast_complex" {
        operands { lhs: single FLOATS, rhs: single FLOATS }
        results { result: single COMPLEXES }
        attributes { broadcast_dimensions: optional I64Array }
        traits [Pure]
        hooks {
            format: FORMAT_TEXT,
            verify_strict: verify_strict,
            infer: infer_broadcast_complex,
            reify: reify::common_shape,
        }
    }
}

fn infer_broadcast_complex(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    infer_binary(op, |part| Type::complex(part.clone()))
}

op! {
    /// Compares numbers.
    pub BroadcastCompareOp, "chlo.broadcast_compare" {
        operands { lhs: single TENSOR, rhs: single TENSOR }
        results { result: single BOOLEANS }
        attributes {
            broadcast_dimensions: optional I64Array,
            comparison_direction: required Enum(&COMPARISON_DIRECTION),
            compare_type: optional Enum(&COMPARISON_TYPE),
        }
        traits [Pure]
        hooks {
            format: FORMAT_TEXT,
            verify_strict: verify_strict,
            infer: infer_broadcast_compare,
            reify: reify::common_shape,
        }
    }
}

fn infer_broadcast_compare(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    infer_binary(op, |_| Type::i1())
}

op! {
    /// The element of `on_true` where `pred` is true, else that of `on_false`.
    pub BroadcastSelectOp, "chlo.broadcast_select" {
        operands { pred: single RANKED_BOOLEANS, on_true: single TENSOR, on_false: single TENSOR }
        results { result: single TENSOR }
        traits [Pure]
        hooks {
            format:
                "$pred `,` $on_true `,` $on_false attr-dict \
                 `:` `(` type($pred) `,` type($on_true) `,` type($on_false) `)` `->` type($result)",
            verify_strict: verify_select_strictly,
            infer: infer_select,
            reify: reify::common_shape,
        }
    }
}

fn infer_select(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    let (on_true, on_false) = (op.operand_type(1), op.operand_type(2));
    if !compat::elements(on_true, on_false) {
        let message =
            format!("both values must have one element type, found {on_true} and {on_false}");
        return Err(op.error("operand-type", message));
    }
    let common = common_sizes(op).flatten();
    Ok(vec![result_type(common, on_true.element_type().clone())])
}

/// The broadcast of all operands, `Some(None)` if they have none. `None` if one is unranked.
fn common_sizes(op: OpRef<'_>) -> Option<Option<Vec<Size>>> {
    let known: Option<Vec<Vec<Size>>> = op.operand_types().map(sizes).collect();
    let mut all = known?.into_iter();
    Some(all.try_fold(Vec::new(), |common, next| broadcast_sizes(&common, &next, None)))
}

/// Checks that the shapes have a broadcast.
fn verify_select_strictly(op: OpRef<'_>) -> Verdict {
    if common_sizes(op) == Some(None) { Err(incompatible(op)) } else { Ok(()) }
}
