//! Arithmetic on sizes.

use super::types::{INDEX_ONLY, SHAPE_OR_SIZE, SIZE_ONLY, SIZE_OR_INDEX};
use crate::eval;
use mlir::ods::Assembly;
use mlir::op;

macro_rules! binary {
    ($($(#[doc = $doc:literal])+ $view:ident, $name:literal = $eval:ident, $set:ident $(, $extra:ident)*;)*) => {
        $(op! {
            $(#[doc = $doc])+
            pub $view, $name {
                operands { lhs: single $set, rhs: single $set }
                results { result: single $set }
                traits [Pure $(, $extra)*]
                hooks {
                    eval: Some(eval::$eval),
                    assembly: Assembly::Format("$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"),
                }
            }
        })*
    };
}

binary! {
    /// Sum of two sizes.
    AddOp, "shape.add" = ADD, SIZE_OR_INDEX, Commutative, ConstantsLast;
    /// Quotient of two sizes, rounded down.
    DivOp, "shape.div" = DIVIDE, SIZE_OR_INDEX;
    /// The greater size, or the greater of each pair of sizes of two shapes of one rank.
    MaxOp, "shape.max" = MAXIMUM, SHAPE_OR_SIZE, Commutative, ConstantsLast;
    /// The lesser size, or the lesser of each pair of sizes of two shapes of one rank.
    MinOp, "shape.min" = MINIMUM, SHAPE_OR_SIZE, Commutative, ConstantsLast;
    /// Product of two sizes.
    MulOp, "shape.mul" = MULTIPLY, SIZE_OR_INDEX, Commutative, ConstantsLast;
}

op! {
    /// A constant size.
    pub ConstSizeOp, "shape.const_size" {
        results { result: single SIZE_ONLY }
        attributes { value: required Index }
        traits [Pure, ConstantLike]
        hooks {
            eval: Some(eval::constant), assembly: Assembly::Format("$value attr-dict"),
            result_name: Some(|op| ConstSizeOp(op).value().and_then(|v| v.as_i64()).map_or("c".into(), |n| format!("c{n}"))),
        }
    }
}

op! {
    /// The size that an index is.
    pub IndexToSizeOp, "shape.index_to_size" {
        operands { arg: single INDEX_ONLY }
        results { result: single SIZE_ONLY }
        traits [Pure]
        hooks { eval: Some(eval::IDENTITY), assembly: Assembly::Format("$arg attr-dict") }
    }
}

op! {
    /// The index that a size is.
    pub SizeToIndexOp, "shape.size_to_index" {
        operands { arg: single SIZE_OR_INDEX }
        results { result: single INDEX_ONLY }
        traits [Pure]
        hooks { eval: Some(eval::IDENTITY), assembly: Assembly::Format("$arg attr-dict `:` type($arg)") }
    }
}
