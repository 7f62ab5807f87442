//! VHLO, the versioned dialect: StableHLO as it was in every version since 0.9.0, in which portable
//! artifacts are written.
//!
//! Ops ([`ops`]), attributes ([`attrs`], [`enums`]) and types ([`types`]) are table rows with the
//! range of versions that have them. The crate `portable` converts between StableHLO and VHLO.
//! Source: StableHLO `docs/vhlo.md`.

pub mod attrs;
mod bytecode;
pub mod enums;
mod func;
pub mod ops;
pub mod types;
mod version;

pub use version::{CompatibilityRequirement, InvalidVersion, Version};

use mlir::ods::Dialect;

/// The VHLO dialect.
pub static VHLO: Dialect = Dialect {
    namespace: "vhlo",
    ops: ops::OPS,
    attributes: attrs::ATTRIBUTES,
    types: types::TYPES,
    enums: enums::ENUMS,
    bytecode: Some(&bytecode::BYTECODE),
    ..Dialect::EMPTY
};
