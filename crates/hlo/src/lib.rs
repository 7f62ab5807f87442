//! The StableHLO dialect: declarations, pretty syntax, type inference, verification and semantics
//! of its ops.
//!
//! Each op is in `ops/<mnemonic>.rs`; elementwise families share `ops/unary.rs` and
//! `ops/binary.rs`. Sources: StableHLO specification (`docs/spec.md`), whose constraint labels
//! (`add_c1`) are those of diagnostics.

pub mod attrs;
pub mod bytecode;
pub mod check;
pub mod compat;
pub mod constraints;
pub mod custom_calls;
pub mod directives;
pub mod distribution;
pub mod enums;
pub mod infer;
pub mod ops;
pub mod prepare;
pub mod quantized;
pub mod refine;
pub mod reify;
mod sharding;
pub mod speculation;
pub mod spmd;
mod synonyms;
pub mod types;
mod upstream;
pub mod window;

use mlir::ods::Dialect;

/// The StableHLO dialect.
pub static STABLEHLO: Dialect = Dialect {
    namespace: "stablehlo",
    ops: ops::OPS,
    constant: Some(ops::constant_parts),
    attributes: attrs::ATTRIBUTES,
    types: &[&types::FUTURE, &types::TOKEN],
    enums: enums::ENUMS,
    directives: directives::DIRECTIVES,
    aliases: &[("type_extensions", "bounds")],
    synonyms: synonyms::SYNONYMS,
    upstream_errors: upstream::ERRORS,
    bytecode: Some(&bytecode::BYTECODE),
    ..Dialect::EMPTY
};
