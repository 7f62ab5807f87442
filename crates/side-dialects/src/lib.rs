//! The dialects that occur in StableHLO programs: one file or folder per dialect, one stanza per
//! op.
//!
//! [`DIALECTS`] lists them for a [`mlir::ods::Registry`].

pub mod arith;
pub mod cf;
pub mod check;
pub mod constraints;
pub mod expect;
mod folding;
pub mod func;
pub mod interpreter;
pub mod llvm;
pub mod memref;
pub mod mpmd;
pub mod quant;
pub mod scf;
pub mod sdy;
pub mod shape;
pub mod sparse_tensor;
pub mod tensor;

use mlir::ods::Dialect;

/// All dialects of this crate, in alphabetical order.
pub static DIALECTS: &[&Dialect] = &[
    &arith::ARITH,
    &memref::BUFFERIZATION,
    &cf::CF,
    &check::CHECK,
    &func::FUNC,
    &interpreter::INTERPRETER,
    &llvm::LLVM,
    &memref::MEMREF,
    &mpmd::MPMD,
    &quant::QUANT,
    &scf::SCF,
    &sdy::SDY,
    &shape::SHAPE_DIALECT,
    &sparse_tensor::SPARSE_TENSOR,
    &tensor::TENSOR,
];
