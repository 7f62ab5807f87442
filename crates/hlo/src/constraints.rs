//! Type constraints of operands and results, as the specification and the dialect name them.

use crate::attrs;
use crate::quantized::{self, Granularity};
use crate::types::{FUTURE, TOKEN as TOKEN_DEF};
use mlir::ods::{AttrConstraint, ElementSet, Ranks, TensorRule, TypeConstraint, TypeRule};
use mlir::types::{DYNAMIC, FloatKind, Signedness};
use mlir::{Type, TypeKind};

macro_rules! elements {
    ($($(#[doc = $doc:literal])+ $name:ident = $summary:literal, $contains:expr;)+) => {
        $($(#[doc = $doc])+
        pub static $name: ElementSet = ElementSet { name: $summary, contains: $contains };)+
    };
}

elements! {
    /// `i1`
    PRED = "boolean", |t| t.is_integer(Some(1));
    /// `i2` to `i64`, read as signed
    SIGNED = "signed integer", |t| is_int(t, Signedness::Signless);
    /// `ui2` to `ui64`
    UNSIGNED = "unsigned integer", |t| is_int(t, Signedness::Unsigned);
    /// The float types that the specification lists (not tf32, f80 or f128)
    FLOAT = "float", |t| {
        matches!(&**t, TypeKind::Float(k) if !matches!(k, FloatKind::TF32 | FloatKind::F80 | FloatKind::F128))
    };
    /// `f32` and `f64`
    FLOAT32_OR_64 = "f32 or f64", |t| matches!(&**t, TypeKind::Float(FloatKind::F32 | FloatKind::F64));
    /// `complex<f32>` and `complex<f64>`
    COMPLEX = "complex", |t| {
        matches!(&**t, TypeKind::Complex(p) if matches!(&**p, TypeKind::Float(FloatKind::F32 | FloatKind::F64)))
    };
    /// Quantized with one scale for the whole tensor
    QUANTIZED = "per-tensor quantized", |t| quantized::granularity(t) == Some(Granularity::PerTensor);
    /// Quantized with one scale per slice along an axis
    PER_AXIS_QUANTIZED = "per-axis quantized", |t| quantized::granularity(t) == Some(Granularity::PerAxis);
    /// `index`
    INDEX = "index", Type::is_index;
    /// Integers of any width and signedness
    ANY_INTEGER = "integer", |t| t.is_integer(None);
    /// `i32`
    I32 = "i32", |t| *t == Type::i32();
    /// `ui32`
    UI32 = "ui32", |t| *t == Type::ui32();
}

fn is_int(ty: &Type, of: Signedness) -> bool {
    matches!(&**ty, TypeKind::Integer { width: 2 | 4 | 8 | 16 | 32 | 64, signedness } if *signedness == of)
}

macro_rules! tensors {
    ($($(#[doc = $doc:literal])+ $name:ident = $summary:literal, [$($set:ident),+] $(, $field:ident: $value:expr)*;)+) => {
        $($(#[doc = $doc])+
        pub static $name: TypeConstraint = TypeConstraint {
            summary: $summary,
            rule: TypeRule::Tensor(TensorRule { $($field: $value,)* ..TensorRule::ranked(&[$(&$set),+]) }),
        };)+
    };
}

tensors! {
    /// Tensors of any StableHLO element type except per-axis quantized ones.
    TENSOR = "a ranked tensor of boolean, integer, float, complex or per-tensor quantized elements",
        [FLOAT, PRED, SIGNED, UNSIGNED, COMPLEX, QUANTIZED];
    /// Tensors of any StableHLO element type.
    TENSOR_OR_PER_AXIS_QUANTIZED = "a ranked tensor of boolean, integer, float, complex or quantized elements",
        [FLOAT, PRED, SIGNED, UNSIGNED, COMPLEX, QUANTIZED, PER_AXIS_QUANTIZED], also: Some(quantized::axis_fits);
    /// Tensors that are not quantized.
    NON_QUANTIZED_TENSOR = "a ranked tensor of boolean, integer, float or complex elements",
        [FLOAT, PRED, SIGNED, UNSIGNED, COMPLEX];
    /// Booleans.
    PRED_TENSOR = "a ranked tensor of booleans", [PRED];
    /// Integers.
    INT_TENSOR = "a ranked tensor of integers", [SIGNED, UNSIGNED];
    /// One integer.
    SCALAR_INT_TENSOR = "a 0-dimensional tensor of an integer", [SIGNED, UNSIGNED], ranks: Ranks::OneOf(&[0]);
    /// `i32` elements.
    I32_TENSOR = "a ranked tensor of i32", [I32];
    /// `ui32` elements.
    UI32_TENSOR = "a ranked tensor of ui32", [UI32];
    /// Floats.
    FLOAT_TENSOR = "a ranked tensor of floats", [FLOAT];
    /// `f32` or `f64` elements.
    FLOAT32_OR_64_TENSOR = "a ranked tensor of f32 or f64", [FLOAT32_OR_64];
    /// Complex numbers.
    COMPLEX_TENSOR = "a ranked tensor of complex numbers", [COMPLEX];
    /// Booleans or integers.
    PRED_OR_INT_TENSOR = "a ranked tensor of booleans or integers", [PRED, SIGNED, UNSIGNED];
    /// Booleans, integers or floats.
    PRED_INT_OR_FLOAT_TENSOR = "a ranked tensor of booleans, integers or floats", [PRED, SIGNED, UNSIGNED, FLOAT];
    /// One boolean, integer or float.
    SCALAR_PRED_INT_OR_FLOAT_TENSOR = "a 0-dimensional tensor of a boolean, integer or float",
        [PRED, SIGNED, UNSIGNED, FLOAT], ranks: Ranks::OneOf(&[0]);
    /// Integers or floats.
    INT_OR_FLOAT_TENSOR = "a ranked tensor of integers or floats", [SIGNED, UNSIGNED, FLOAT];
    /// Floats or complex numbers.
    FLOAT_OR_COMPLEX_TENSOR = "a ranked tensor of floats or complex numbers", [FLOAT, COMPLEX];
    /// Floats, or per-tensor quantized.
    FLOAT_OR_QUANTIZED_TENSOR = "a ranked tensor of floats or per-tensor quantized elements", [FLOAT, QUANTIZED];
    /// A vector of floats, or per-tensor quantized.
    FLOAT_OR_QUANTIZED_1D_TENSOR = "a 1-dimensional tensor of floats or per-tensor quantized elements",
        [FLOAT, QUANTIZED], ranks: Ranks::OneOf(&[1]);
    /// Floats or complex numbers, or per-tensor quantized.
    FLOAT_COMPLEX_OR_QUANTIZED_TENSOR = "a ranked tensor of float, complex or per-tensor quantized elements",
        [FLOAT, COMPLEX, QUANTIZED];
    /// Signed numbers, or per-tensor quantized.
    SIGNED_FLOAT_OR_QUANTIZED_TENSOR = "a ranked tensor of signed integer, float or per-tensor quantized elements",
        [SIGNED, FLOAT, QUANTIZED];
    /// Signed or complex numbers, or per-tensor quantized.
    SIGNED_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR =
        "a ranked tensor of signed integer, float, complex or per-tensor quantized elements",
        [SIGNED, FLOAT, COMPLEX, QUANTIZED];
    /// Numbers, or per-tensor quantized.
    INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR =
        "a ranked tensor of integer, float, complex or per-tensor quantized elements",
        [SIGNED, UNSIGNED, FLOAT, COMPLEX, QUANTIZED];
    /// Quantized, per tensor or per axis.
    QUANTIZED_TENSOR = "a ranked tensor of quantized elements", [QUANTIZED, PER_AXIS_QUANTIZED],
        also: Some(quantized::axis_fits);
    /// Floats, or quantized per tensor or per axis.
    FLOAT_OR_ANY_QUANTIZED_TENSOR = "a ranked tensor of floats or quantized elements",
        [FLOAT, QUANTIZED, PER_AXIS_QUANTIZED], also: Some(quantized::axis_fits);
    /// One element of any type except per-axis quantized ones.
    SCALAR_TENSOR = "a 0-dimensional tensor of a boolean, integer, float, complex or per-tensor quantized element",
        [FLOAT, PRED, SIGNED, UNSIGNED, COMPLEX, QUANTIZED], ranks: Ranks::OneOf(&[0]);
    /// Statically shaped, of any element type.
    STATIC_TENSOR = "a statically shaped tensor",
        [FLOAT, PRED, SIGNED, UNSIGNED, COMPLEX, QUANTIZED, PER_AXIS_QUANTIZED],
        static_shape: true, also: Some(quantized::axis_fits);
    /// Statically shaped numbers.
    STATIC_INT_OR_FLOAT_TENSOR = "a statically shaped tensor of integers or floats", [SIGNED, UNSIGNED, FLOAT],
        static_shape: true;
    /// Statically shaped numbers, also complex or per-tensor quantized.
    STATIC_INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR =
        "a statically shaped tensor of integer, float, complex or per-tensor quantized elements",
        [SIGNED, UNSIGNED, FLOAT, COMPLEX, QUANTIZED], static_shape: true;
    /// Statically shaped, except for at most one dimension, which is bounded.
    STATIC_OR_BOUNDED_TENSOR = "a tensor of static shape or with a single bounded dimension",
        [FLOAT, PRED, SIGNED, UNSIGNED, COMPLEX, QUANTIZED, PER_AXIS_QUANTIZED], also: Some(static_or_single_bounded);
    /// A shape, or part of one, as a vector.
    DIMENSION_TENSOR = "a 1-dimensional tensor of integers or indices", [INDEX, SIGNED, UNSIGNED],
        ranks: Ranks::OneOf(&[1]);
    /// A shape of static rank, as a vector.
    STATIC_DIMENSION_TENSOR = "a statically shaped 1-dimensional tensor of integers or indices",
        [INDEX, SIGNED, UNSIGNED], ranks: Ranks::OneOf(&[1]), static_shape: true;
    /// A vector of integers.
    STATIC_1D_INT_TENSOR = "a statically shaped 1-dimensional tensor of integers", [SIGNED, UNSIGNED],
        ranks: Ranks::OneOf(&[1]), static_shape: true;
    /// A matrix of integers.
    STATIC_2D_INT_TENSOR = "a statically shaped 2-dimensional tensor of integers", [SIGNED, UNSIGNED],
        ranks: Ranks::OneOf(&[2]), static_shape: true;
    /// Indices of any integer type.
    INDICES_TENSOR = "a ranked tensor of integers or indices", [ANY_INTEGER, INDEX];
    /// Tensors of any StableHLO element type, ranked or unranked.
    ANY_RANK_TENSOR = "a tensor of boolean, integer, float, complex or quantized elements",
        [FLOAT, PRED, SIGNED, UNSIGNED, COMPLEX, QUANTIZED, PER_AXIS_QUANTIZED],
        ranks: Ranks::Any, also: Some(quantized::axis_fits);
}

macro_rules! unions {
    ($($(#[doc = $doc:literal])+ $name:ident = $summary:literal, $rule:expr;)+) => {
        $($(#[doc = $doc])+
        pub static $name: TypeConstraint = TypeConstraint { summary: $summary, rule: $rule };)+
    };
}

unions! {
    /// `!stablehlo.token`
    TOKEN = "a token", TypeRule::Is(|t| t.as_dialect(&TOKEN_DEF).is_some());
    /// `!stablehlo.future<…>`
    FUTURE_VALUE = "a future", TypeRule::Is(|t| t.as_dialect(&FUTURE).is_some());
    /// `memref<…>`
    BUFFER = "a memref of boolean, integer, float, complex or per-tensor quantized elements", TypeRule::Is(is_buffer);
    /// Tensors and tokens.
    TENSOR_OR_TOKEN = "a tensor or token", TypeRule::AnyOf(&[&TENSOR, &TOKEN]);
    /// Tensors, also per-axis quantized, and tokens.
    ANY_TENSOR_OR_TOKEN = "a tensor or token", TypeRule::AnyOf(&[&TENSOR_OR_PER_AXIS_QUANTIZED, &TOKEN]);
    /// [`ANY_TENSOR_OR_TOKEN`], and buffers.
    ANY_TENSOR_TOKEN_OR_BUFFER = "a tensor, token or buffer", TypeRule::AnyOf(&[&ANY_TENSOR_OR_TOKEN, &BUFFER]);
    /// Tuples of [`ANY_TENSOR_TOKEN_OR_BUFFER`].
    TUPLE = "a tuple of tensors, tokens or buffers", TypeRule::TupleOf(&ANY_TENSOR_TOKEN_OR_BUFFER);
    /// Tensors, tokens and tuples.
    ANY_TENSOR_TOKEN_OR_TUPLE = "a tensor, token or tuple", TypeRule::AnyOf(&[&ANY_TENSOR_OR_TOKEN, &TUPLE]);
    /// Any element of a tuple, tuples included.
    ANY_VALUE = "a tensor, token, tuple or buffer", TypeRule::AnyOf(&[&ANY_TENSOR_TOKEN_OR_TUPLE, &BUFFER]);
    /// Statically shaped tensors and tokens.
    STATIC_TENSOR_OR_TOKEN = "a statically shaped tensor or a token", TypeRule::AnyOf(&[&STATIC_TENSOR, &TOKEN]);
    /// Tensors, ranked or unranked, buffers and tokens.
    CUSTOM_CALL_LEAF = "a tensor, buffer or token", TypeRule::AnyOf(&[&ANY_RANK_TENSOR, &BUFFER, &TOKEN]);
    /// Tuples of [`CUSTOM_CALL_LEAF`].
    CUSTOM_CALL_TUPLE = "a tuple of tensors, buffers or tokens", TypeRule::TupleOf(&CUSTOM_CALL_LEAF);
    /// Operands and results of custom calls.
    CUSTOM_CALL_VALUE = "a tensor, buffer, token, tuple or future",
        TypeRule::AnyOf(&[&CUSTOM_CALL_LEAF, &CUSTOM_CALL_TUPLE, &FUTURE_VALUE]);
}

fn is_buffer(ty: &Type) -> bool {
    let sets = [&FLOAT, &PRED, &SIGNED, &UNSIGNED, &COMPLEX, &QUANTIZED];
    matches!(&**ty, TypeKind::MemRef { element, .. } if sets.iter().any(|s| (s.contains)(element)))
}

/// True if at most one dimension is dynamic, and that one is bounded.
fn static_or_single_bounded(ty: &Type) -> bool {
    let Some(tensor) = ty.as_tensor() else { return false };
    let dynamic = tensor.shape.iter().filter(|&&d| d == DYNAMIC).count();
    let bounded = tensor
        .encoding
        .as_ref()
        .and_then(attrs::bounds)
        .map_or(0, |b| b.iter().filter(|&&b| b != DYNAMIC).count());
    (dynamic == 0 || (dynamic == 1 && bounded == 1)) && quantized::axis_fits(ty)
}

/// A layout (minor-to-major order) or tile: a vector of indices.
pub const LAYOUT: AttrConstraint =
    AttrConstraint::Is("a 1-dimensional tensor of type index", |a| {
        a.is_elements()
            && a.ty().element_type().is_index()
            && a.ty().shape().is_some_and(|s| s.len() == 1)
    });
