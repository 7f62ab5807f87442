//! The arith dialect: arithmetic on scalars, and elementwise on vectors and tensors.
//!
//! Source: MLIR, "'arith' Dialect".

mod casts;
mod compare;
mod constant;
mod floats;
mod fold;
mod integers;
mod prepare;

pub use casts::*;
pub use compare::{CMPF_PREDICATE, CMPI_PREDICATE, CmpFOp, CmpIOp, SelectOp};
pub use constant::{ConstantOp, constant_parts};
pub use floats::*;
pub use integers::*;

use mlir::ods::{CustomDirective, Dialect, EnumDef, EnumStyle, TypeConstraint, TypeRule};
use mlir::{Type, TypeKind};

/// The arith dialect.
pub static ARITH: Dialect = Dialect {
    namespace: "arith",
    partial: true,
    has_all_types: true,
    constant: Some(constant_parts),
    ops: &[
        AddFOp::DEF,
        AddIOp::DEF,
        AddUIExtendedOp::DEF,
        AndIOp::DEF,
        BitcastOp::DEF,
        CeilDivSIOp::DEF,
        CeilDivUIOp::DEF,
        CmpFOp::DEF,
        CmpIOp::DEF,
        ConstantOp::DEF,
        ConvertFOp::DEF,
        DivFOp::DEF,
        DivSIOp::DEF,
        DivUIOp::DEF,
        ExtFOp::DEF,
        ExtSIOp::DEF,
        ExtUIOp::DEF,
        FloorDivSIOp::DEF,
        FlushDenormalsOp::DEF,
        FPToSIOp::DEF,
        FPToUIOp::DEF,
        IndexCastOp::DEF,
        IndexCastUIOp::DEF,
        MaximumFOp::DEF,
        MaxNumFOp::DEF,
        MaxSIOp::DEF,
        MaxUIOp::DEF,
        MinimumFOp::DEF,
        MinNumFOp::DEF,
        MinSIOp::DEF,
        MinUIOp::DEF,
        MulFOp::DEF,
        MulIOp::DEF,
        MulSIExtendedOp::DEF,
        MulUIExtendedOp::DEF,
        NegFOp::DEF,
        OrIOp::DEF,
        RemFOp::DEF,
        RemSIOp::DEF,
        RemUIOp::DEF,
        ScalingExtFOp::DEF,
        ScalingTruncFOp::DEF,
        SelectOp::DEF,
        ShLIOp::DEF,
        ShRSIOp::DEF,
        ShRUIOp::DEF,
        SIToFPOp::DEF,
        SubFOp::DEF,
        SubIOp::DEF,
        SubUIExtendedOp::DEF,
        TruncFOp::DEF,
        TruncIOp::DEF,
        UIToFPOp::DEF,
        XOrIOp::DEF,
    ],
    enums: &[&FASTMATH, &OVERFLOW],
    directives: &[CustomDirective {
        name: "SelectTypes",
        parse: compare::parse_select_types,
        print: compare::print_select_types,
    }],
    ..Dialect::EMPTY
};

/// Assumptions that optimizations may make about floating-point arithmetic.
pub static FASTMATH: EnumDef = EnumDef {
    dialect: "arith",
    mnemonic: "fastmath",
    cases: &[
        (0, "none"),
        (1, "reassoc"),
        (2, "nnan"),
        (4, "ninf"),
        (8, "nsz"),
        (16, "arcp"),
        (32, "contract"),
        (64, "afn"),
        (127, "fast"),
    ],
    style: EnumStyle::Bits(","),
};

/// Integer overflows that cannot happen.
pub static OVERFLOW: EnumDef = EnumDef {
    dialect: "arith",
    mnemonic: "overflow",
    cases: &[(0, "none"), (1, "nsw"), (2, "nuw")],
    style: EnumStyle::Bits(", "),
};

/// Rounding mode of a float; an `i32`.
pub static ROUNDING_MODE: EnumDef = EnumDef {
    dialect: "arith",
    mnemonic: "roundingmode",
    cases: &[
        (0, "to_nearest_even"),
        (1, "downward"),
        (2, "upward"),
        (3, "toward_zero"),
        (4, "to_nearest_away"),
    ],
    style: EnumStyle::Spaced,
};

fn is_signless(ty: &Type) -> bool {
    crate::constraints::is_signless_integer(ty)
}

/// True for a scalar, vector or tensor whose element type satisfies `holds`.
fn elementwise(ty: &Type, holds: impl Fn(&Type) -> bool) -> bool {
    match &**ty {
        TypeKind::Vector { element, .. } | TypeKind::UnrankedTensor(element) => holds(element),
        TypeKind::RankedTensor(tensor) => holds(&tensor.element),
        _ => holds(ty),
    }
}

macro_rules! elementwise_sets {
    ($($name:ident = $summary:literal, $holds:expr;)*) => {
        $(static $name: TypeConstraint =
            TypeConstraint { summary: $summary, rule: TypeRule::Is(|t| elementwise(t, $holds)) };)*
    };
}

elementwise_sets! {
    INTEGERS = "signless integers or indices, or a vector or tensor of those", |e| is_signless(e) || e.is_index();
    FIXED_INTEGERS = "signless integers, or a vector or tensor of those", is_signless;
    BOOLEANS = "i1, or a vector or tensor of i1", |e| *e == Type::i1();
    FLOATS = "floats, or a vector or tensor of floats", Type::is_float;
    NUMBERS = "signless integers, indices or floats, or a vector or tensor of those",
        |e| is_signless(e) || e.is_index() || e.is_float();
}

/// The type with the shape of `ty` and another element type.
fn with_element(ty: &Type, element: Type) -> Type {
    match &**ty {
        TypeKind::RankedTensor(t) => {
            Type::encoded_tensor(t.shape.clone(), element, t.encoding.clone())
        }
        TypeKind::UnrankedTensor(_) => Type::unranked_tensor(element),
        TypeKind::Vector { shape, scalable, .. } => {
            TypeKind::Vector { shape: shape.clone(), scalable: scalable.clone(), element }.into()
        }
        _ => element,
    }
}
