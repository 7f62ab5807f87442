//! The ops, one file per mnemonic; elementwise families share `unary` and `binary`.

mod abs;
mod add;
mod after_all;
mod all_gather;
mod all_reduce;
mod all_to_all;
mod async_done;
mod async_start;
mod batch_norm_grad;
mod batch_norm_inference;
mod batch_norm_training;
mod binary;
mod bitcast_convert;
mod broadcast;
mod broadcast_in_dim;
mod case;
mod cholesky;
mod clamp;
mod collective_broadcast;
mod collective_permute;
mod collective_reduce;
mod compare;
mod complex;
mod composite;
mod concatenate;
mod constant;
mod convert;
mod convolution;
mod create_token;
mod cross_replica_sum;
mod custom_call;
mod dot;
mod dot_general;
mod dynamic_broadcast_in_dim;
mod dynamic_conv;
mod dynamic_gather;
mod dynamic_iota;
mod dynamic_pad;
mod dynamic_reshape;
mod dynamic_slice;
mod dynamic_update_slice;
mod einsum;
mod fft;
mod gather;
mod get_dimension_size;
mod get_tuple_element;
mod r#if;
mod imag;
mod infeed;
mod iota;
mod is_finite;
mod map;
mod optimization_barrier;
mod outfeed;
mod pad;
mod partition_id;
mod real;
mod real_dynamic_slice;
mod recv;
mod reduce;
mod reduce_precision;
mod reduce_scatter;
mod reduce_window;
mod replica_id;
mod reshape;
mod r#return;
mod reverse;
mod rng;
mod rng_bit_generator;
mod scatter;
mod select;
mod select_and_scatter;
mod send;
mod set_dimension_size;
mod slice;
mod sort;
mod torch_index_select;
mod transpose;
mod triangular_solve;
mod tuple;
mod unary;
mod unary_einsum;
mod uniform_dequantize;
mod uniform_quantize;
mod r#while;

/// Imports shared by the declarations in this directory.
mod prelude {
    pub(super) use super::async_start::ASYNC;
    pub(super) use crate::attrs::*;
    pub(super) use crate::check::{self, rank, require, shape};
    pub(super) use crate::compat;
    pub(super) use crate::constraints::*;
    pub(super) use crate::enums::*;
    pub(super) use crate::infer::{self, Inferred};
    pub(super) use crate::prepare;
    pub(super) use crate::quantized;
    pub(super) use crate::refine;
    pub(super) use crate::reify;
    pub(super) use crate::speculation;
    pub(super) use mlir::ods::Speculation;
    pub(super) use mlir::prepare::{Prepared, Preparer, native_with_env};
    pub(super) use mlir::rewrite::Rewriter;
    pub(super) use mlir::types::DYNAMIC;
    pub(super) use mlir::{Attribute, Diagnostic, OpId, OpRef, RegionId, Type, Value, Verdict, op};
    pub(super) use numerics::math::Direction;
    pub(super) use program::collective::CollectiveKind;
    pub(super) use program::primitives::{
        self, BatchNormKind, Comparison, Convolution, Dynamic, Fourier, Generator,
        RandomDistribution,
    };
    pub(super) use program::{EvalError, Primitive, RuntimeValue};
}

pub use abs::*;
pub use add::*;
pub use after_all::*;
pub use all_gather::*;
pub use all_reduce::*;
pub use all_to_all::*;
pub use async_done::*;
pub use async_start::*;
pub use batch_norm_grad::*;
pub use batch_norm_inference::*;
pub use batch_norm_training::*;
pub use binary::*;
pub use bitcast_convert::*;
pub use broadcast::*;
pub use broadcast_in_dim::*;
pub use case::*;
pub use cholesky::*;
pub use clamp::*;
pub use collective_broadcast::*;
pub use collective_permute::*;
pub use collective_reduce::*;
pub use compare::*;
pub use complex::*;
pub use composite::*;
pub use concatenate::*;
pub use constant::*;
pub use convert::*;
pub use convolution::*;
pub use create_token::*;
pub use cross_replica_sum::*;
pub use custom_call::*;
pub use dot::*;
pub use dot_general::*;
pub use dynamic_broadcast_in_dim::*;
pub use dynamic_conv::*;
pub use dynamic_gather::*;
pub use dynamic_iota::*;
pub use dynamic_pad::*;
pub use dynamic_reshape::*;
pub use dynamic_slice::*;
pub use dynamic_update_slice::*;
pub use einsum::*;
pub use fft::*;
pub use gather::*;
pub use get_dimension_size::*;
pub use get_tuple_element::*;
pub use r#if::*;
pub use imag::*;
pub use infeed::*;
pub use iota::*;
pub use is_finite::*;
pub use map::*;
pub use optimization_barrier::*;
pub use outfeed::*;
pub use pad::*;
pub use partition_id::*;
pub use real::*;
pub use real_dynamic_slice::*;
pub use recv::*;
pub use reduce::*;
pub use reduce_precision::*;
pub use reduce_scatter::*;
pub use reduce_window::*;
pub use replica_id::*;
pub use reshape::*;
pub use r#return::*;
pub use reverse::*;
pub use rng::*;
pub use rng_bit_generator::*;
pub use scatter::*;
pub use select::*;
pub use select_and_scatter::*;
pub use send::*;
pub use set_dimension_size::*;
pub use slice::*;
pub use sort::*;
pub use torch_index_select::*;
pub use transpose::*;
pub use triangular_solve::*;
pub use tuple::*;
pub use unary::*;
pub use unary_einsum::*;
pub use uniform_dequantize::*;
pub use uniform_quantize::*;
pub use r#while::*;

use mlir::ods::OpDef;

/// All ops, in alphabetical order of their names.
pub static OPS: &[&OpDef] = &[
    AbsOp::DEF,
    AddOp::DEF,
    AfterAllOp::DEF,
    AllGatherOp::DEF,
    AllReduceOp::DEF,
    AllToAllOp::DEF,
    AndOp::DEF,
    AsyncDoneOp::DEF,
    AsyncStartOp::DEF,
    Atan2Op::DEF,
    BatchNormGradOp::DEF,
    BatchNormInferenceOp::DEF,
    BatchNormTrainingOp::DEF,
    BitcastConvertOp::DEF,
    BroadcastOp::DEF,
    BroadcastInDimOp::DEF,
    CaseOp::DEF,
    CbrtOp::DEF,
    CeilOp::DEF,
    CholeskyOp::DEF,
    ClampOp::DEF,
    CollectiveBroadcastOp::DEF,
    CollectivePermuteOp::DEF,
    CollectiveReduceOp::DEF,
    CompareOp::DEF,
    ComplexOp::DEF,
    CompositeOp::DEF,
    ConcatenateOp::DEF,
    ConstantOp::DEF,
    ConvertOp::DEF,
    ConvolutionOp::DEF,
    CosineOp::DEF,
    CountLeadingZerosOp::DEF,
    CreateTokenOp::DEF,
    CrossReplicaSumOp::DEF,
    CustomCallOp::DEF,
    DivideOp::DEF,
    DotOp::DEF,
    DotGeneralOp::DEF,
    DynamicBroadcastInDimOp::DEF,
    DynamicConvOp::DEF,
    DynamicGatherOp::DEF,
    DynamicIotaOp::DEF,
    DynamicPadOp::DEF,
    DynamicReshapeOp::DEF,
    DynamicSliceOp::DEF,
    DynamicUpdateSliceOp::DEF,
    EinsumOp::DEF,
    ExponentialOp::DEF,
    ExponentialMinusOneOp::DEF,
    FftOp::DEF,
    FloorOp::DEF,
    GatherOp::DEF,
    GetDimensionSizeOp::DEF,
    GetTupleElementOp::DEF,
    IfOp::DEF,
    ImagOp::DEF,
    InfeedOp::DEF,
    IotaOp::DEF,
    IsFiniteOp::DEF,
    LogOp::DEF,
    LogPlusOneOp::DEF,
    LogisticOp::DEF,
    MapOp::DEF,
    MaximumOp::DEF,
    MinimumOp::DEF,
    MultiplyOp::DEF,
    NegateOp::DEF,
    NotOp::DEF,
    OptimizationBarrierOp::DEF,
    OrOp::DEF,
    OutfeedOp::DEF,
    PadOp::DEF,
    PartitionIdOp::DEF,
    PopcntOp::DEF,
    PowerOp::DEF,
    RealOp::DEF,
    RealDynamicSliceOp::DEF,
    RecvOp::DEF,
    ReduceOp::DEF,
    ReducePrecisionOp::DEF,
    ReduceScatterOp::DEF,
    ReduceWindowOp::DEF,
    RemainderOp::DEF,
    ReplicaIdOp::DEF,
    ReshapeOp::DEF,
    ReturnOp::DEF,
    ReverseOp::DEF,
    RngOp::DEF,
    RngBitGeneratorOp::DEF,
    RoundNearestAfzOp::DEF,
    RoundNearestEvenOp::DEF,
    RsqrtOp::DEF,
    ScatterOp::DEF,
    SelectOp::DEF,
    SelectAndScatterOp::DEF,
    SendOp::DEF,
    SetDimensionSizeOp::DEF,
    ShiftLeftOp::DEF,
    ShiftRightArithmeticOp::DEF,
    ShiftRightLogicalOp::DEF,
    SignOp::DEF,
    SineOp::DEF,
    SliceOp::DEF,
    SortOp::DEF,
    SqrtOp::DEF,
    SubtractOp::DEF,
    TanOp::DEF,
    TanhOp::DEF,
    TorchIndexSelectOp::DEF,
    TransposeOp::DEF,
    TriangularSolveOp::DEF,
    TupleOp::DEF,
    UnaryEinsumOp::DEF,
    UniformDequantizeOp::DEF,
    UniformQuantizeOp::DEF,
    WhileOp::DEF,
    XorOp::DEF,
];
