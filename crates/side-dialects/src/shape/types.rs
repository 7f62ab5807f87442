//! The types of the shape dialect, and its type constraints.

use mlir::ods::{ParamAssembly, TypeConstraint, TypeDef, TypeRule};
use mlir::types::DYNAMIC;
use mlir::{Type, TypeKind};
use std::sync::OnceLock;

macro_rules! types {
    ($($(#[doc = $doc:literal])+ $def:ident, $make:ident, $only:ident, $mnemonic:literal, $summary:literal;)*) => {
        $($(#[doc = $doc])+
        pub static $def: TypeDef = TypeDef {
            dialect: "shape",
            mnemonic: $mnemonic,
            doc: concat!($($doc),+),
            params: &[],
            assembly: ParamAssembly::None,
            verify: None,
            compatible: None,
            storage: None,
            misfit: None,
        };

        #[doc = concat!("`!shape.", $mnemonic, "`")]
        pub fn $make() -> Type {
            static CELL: OnceLock<Type> = OnceLock::new();
            CELL.get_or_init(|| Type::dialect(&$def, Vec::new())).clone()
        }

        pub(super) static $only: TypeConstraint = TypeConstraint { summary: $summary, rule: TypeRule::Exactly($make) };)*
    };
}

types! {
    /// The rank and sizes of a value, known or not, or an error.
    SHAPE, shape, SHAPE_ONLY, "shape", "a shape";
    /// The size of a dimension, known or not, or an error.
    SIZE, size, SIZE_ONLY, "size", "a size";
    /// A value together with its shape.
    VALUE_SHAPE, value_shape, VALUE_SHAPE_ONLY, "value_shape", "a value with its shape";
    /// Evidence that a constraint holds.
    WITNESS, witness, WITNESS_ONLY, "witness", "a witness";
}

pub(super) static INDEX_ONLY: TypeConstraint =
    TypeConstraint { summary: "an index", rule: TypeRule::Exactly(Type::index) };

pub(super) static I1_ONLY: TypeConstraint =
    TypeConstraint { summary: "i1", rule: TypeRule::Exactly(Type::i1) };

/// True for a vector of indices.
pub(super) fn is_extent_tensor(ty: &Type) -> bool {
    ty.as_tensor().is_some_and(|t| t.rank() == 1 && t.element.is_index())
}

pub(super) static EXTENT_TENSOR: TypeConstraint = TypeConstraint {
    summary: "a 1-dimensional tensor of indices",
    rule: TypeRule::Is(is_extent_tensor),
};

pub(super) static SHAPE_OR_EXTENTS: TypeConstraint = TypeConstraint {
    summary: "a shape or a 1-dimensional tensor of indices",
    rule: TypeRule::AnyOf(&[&SHAPE_ONLY, &EXTENT_TENSOR]),
};

pub(super) static SIZE_OR_INDEX: TypeConstraint = TypeConstraint {
    summary: "a size or an index",
    rule: TypeRule::AnyOf(&[&SIZE_ONLY, &INDEX_ONLY]),
};

pub(super) static SHAPE_OR_SIZE: TypeConstraint = TypeConstraint {
    summary: "a shape or a size",
    rule: TypeRule::AnyOf(&[&SHAPE_ONLY, &SIZE_ONLY]),
};

pub(super) static ANY_SHAPE_OR_SIZE: TypeConstraint = TypeConstraint {
    summary: "a shape, a size, an index or a 1-dimensional tensor of indices",
    rule: TypeRule::AnyOf(&[&SHAPE_OR_EXTENTS, &SIZE_OR_INDEX]),
};

pub(super) static SHAPED: TypeConstraint =
    TypeConstraint { summary: "a tensor, vector or memref", rule: TypeRule::Is(Type::is_shaped) };

pub(super) static SHAPED_OR_VALUE_SHAPE: TypeConstraint = TypeConstraint {
    summary: "a tensor, vector, memref or a value with its shape",
    rule: TypeRule::AnyOf(&[&SHAPED, &VALUE_SHAPE_ONLY]),
};

/// The type of the extents of a value of type `ty`: `tensor<2xindex>` for a matrix,
/// `tensor<?xindex>` for an unranked one.
pub(super) fn extent_tensor_of(ty: &Type) -> Option<Type> {
    let rank = match &**ty {
        TypeKind::UnrankedTensor(_) | TypeKind::UnrankedMemRef { .. } => DYNAMIC,
        _ => i64::try_from(ty.shape()?.len()).ok()?,
    };
    Some(Type::tensor([rank], Type::index()))
}
