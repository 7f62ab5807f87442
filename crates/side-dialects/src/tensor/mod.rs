//! The tensor dialect: making, reshaping, slicing and indexing tensors.
//!
//! Source: MLIR, "'tensor' Dialect".

mod elements;
pub(crate) mod fold;
mod prepare;
mod reshapes;
mod slices;

pub use elements::*;
pub use reshapes::*;
pub use slices::*;

use mlir::ods::{
    AttrConstraint, CustomDirective, Dialect, Ranks, TensorRule, TypeConstraint, TypeRule,
};
use mlir::{Type, TypeKind};

/// The tensor dialect.
pub static TENSOR: Dialect = Dialect {
    namespace: "tensor",
    partial: true,
    has_all_types: true,
    constant: Some(crate::arith::constant_parts),
    ops: &[
        BitcastOp::DEF,
        CastOp::DEF,
        CollapseShapeOp::DEF,
        ConcatOp::DEF,
        DimOp::DEF,
        EmptyOp::DEF,
        ExpandShapeOp::DEF,
        ExtractOp::DEF,
        ExtractSliceOp::DEF,
        FromElementsOp::DEF,
        GatherOp::DEF,
        GenerateOp::DEF,
        InsertOp::DEF,
        InsertSliceOp::DEF,
        PadOp::DEF,
        ParallelInsertSliceOp::DEF,
        RankOp::DEF,
        ReshapeOp::DEF,
        ScatterOp::DEF,
        SplatOp::DEF,
        YieldOp::DEF,
    ],
    directives: &[CustomDirective {
        name: "DynamicIndexList",
        parse: parse_indices,
        print: print_indices,
    }],
    ..Dialect::EMPTY
};

static ANY_TENSOR: TypeConstraint = TypeConstraint {
    summary: "a tensor",
    rule: TypeRule::Tensor(TensorRule { ranks: Ranks::Any, ..TensorRule::ranked(&[]) }),
};

static RANKED: TypeConstraint =
    TypeConstraint { summary: "a ranked tensor", rule: TypeRule::Tensor(TensorRule::ranked(&[])) };

static UNRANKED_OR_NOT_SCALAR: TypeConstraint = TypeConstraint {
    summary: "a tensor that is not 0-dimensional",
    rule: TypeRule::Is(|t| match &**t {
        TypeKind::RankedTensor(t) => t.rank() > 0,
        other => matches!(other, TypeKind::UnrankedTensor(_)),
    }),
};

static STATIC: TypeConstraint = TypeConstraint {
    summary: "a statically shaped tensor",
    rule: TypeRule::Tensor(TensorRule { static_shape: true, ..TensorRule::ranked(&[]) }),
};

static INDICES: TypeConstraint = TypeConstraint {
    summary: "a ranked tensor of integers or indices",
    rule: TypeRule::Is(|t| {
        t.as_tensor().is_some_and(|t| t.element.is_integer(None) || t.element.is_index())
    }),
};

static INDEX: TypeConstraint =
    TypeConstraint { summary: "an index", rule: TypeRule::Exactly(Type::index) };

static REASSOCIATION_GROUP: AttrConstraint = AttrConstraint::ArrayOf(&AttrConstraint::Int(64));
