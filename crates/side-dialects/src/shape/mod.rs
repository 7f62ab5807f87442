//! The shape dialect: computation on tensor shapes, and constraints on them.
//!
//! Source: MLIR, "'shape' Dialect".

mod constraints;
mod fold;
mod functions;
mod prepare;
mod regions;
mod shapes;
mod sizes;
mod types;

pub use constraints::*;
pub use functions::{FuncOp, FunctionLibraryOp, ReturnOp};
pub use regions::{AssumingOp, AssumingYieldOp, ReduceOp, YieldOp};
pub use shapes::*;
pub use sizes::*;
pub use types::{SHAPE, SIZE, VALUE_SHAPE, WITNESS, shape, size, value_shape, witness};

use mlir::ods::Dialect;

/// The shape dialect.
pub static SHAPE_DIALECT: Dialect = Dialect {
    namespace: "shape",
    partial: true,
    constant: Some(fold::constant_parts),
    ops: &[
        AddOp::DEF,
        AnyOp::DEF,
        AssumingOp::DEF,
        AssumingAllOp::DEF,
        AssumingYieldOp::DEF,
        BroadcastOp::DEF,
        ConcatOp::DEF,
        ConstShapeOp::DEF,
        ConstSizeOp::DEF,
        ConstWitnessOp::DEF,
        CstrBroadcastableOp::DEF,
        CstrEqOp::DEF,
        CstrRequireOp::DEF,
        DebugPrintOp::DEF,
        DimOp::DEF,
        DivOp::DEF,
        FromExtentTensorOp::DEF,
        FromExtentsOp::DEF,
        FuncOp::DEF,
        FunctionLibraryOp::DEF,
        GetExtentOp::DEF,
        IndexToSizeOp::DEF,
        IsBroadcastableOp::DEF,
        MaxOp::DEF,
        MeetOp::DEF,
        MinOp::DEF,
        MulOp::DEF,
        NumElementsOp::DEF,
        RankOp::DEF,
        ReduceOp::DEF,
        ReturnOp::DEF,
        ShapeEqOp::DEF,
        ShapeOfOp::DEF,
        SizeToIndexOp::DEF,
        SplitAtOp::DEF,
        ToExtentTensorOp::DEF,
        ValueAsShapeOp::DEF,
        ValueOfOp::DEF,
        WithShapeOp::DEF,
        YieldOp::DEF,
    ],
    types: &[&SHAPE, &SIZE, &VALUE_SHAPE, &WITNESS],
    ..Dialect::EMPTY
};
