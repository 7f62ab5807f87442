//! The llvm dialect, as far as StableHLO programs use it: integer arithmetic.
//!
//! Source: MLIR, "'llvm' Dialect".

use crate::constraints::is_signless_integer;
use mlir::ods::{Dialect, TypeConstraint, TypeRule};
use mlir::{TypeKind, op};

/// The llvm dialect.
pub static LLVM: Dialect = Dialect {
    namespace: "llvm",
    partial: true,
    ops: &[AddOp::DEF, MulOp::DEF, SubOp::DEF],
    ..Dialect::EMPTY
};

static INTEGERS: TypeConstraint = TypeConstraint {
    summary: "a signless integer or a vector of them",
    rule: TypeRule::Is(|ty| {
        is_signless_integer(ty.element_type())
            && (!ty.is_shaped() || matches!(**ty, TypeKind::Vector { .. }))
    }),
};

macro_rules! binary {
    ($($doc:literal $view:ident, $name:literal;)*) => {$(
        op! {
            #[doc = $doc]
            pub $view, $name {
                operands { lhs: single INTEGERS, rhs: single INTEGERS }
                results { res: single INTEGERS }
                traits [Pure, SameOperandsAndResultType]
                hooks {
                    format: "$lhs `,` $rhs attr-dict `:` type($res)",
                }
            }
        }
    )*};
}

binary! {
    "The sum of integers, modulo 2 to the power of their width." AddOp, "llvm.add";
    "The product of integers, modulo 2 to the power of their width." MulOp, "llvm.mul";
    "The difference of integers, modulo 2 to the power of their width." SubOp, "llvm.sub";
}
