//! The quant dialect: quantized element types, and casts to and from their expressed and storage
//! types.
//!
//! Source: MLIR, "'quant' Dialect".

mod bytecode;
mod ops;
mod text;
mod types;

pub use ops::{DequantizeCastOp, QuantizeCastOp, StorageCastOp};
pub use types::{ANY, CALIBRATED, Granularity, UNIFORM, Uniform, UniformParts, storage_from_held};

use mlir::ods::Dialect;

/// The quant dialect.
pub static QUANT: Dialect = Dialect {
    namespace: "quant",
    ops: &[DequantizeCastOp::DEF, QuantizeCastOp::DEF, StorageCastOp::DEF],
    types: &[&ANY, &CALIBRATED, &UNIFORM],
    bytecode: Some(&bytecode::BYTECODE),
    ..Dialect::EMPTY
};
