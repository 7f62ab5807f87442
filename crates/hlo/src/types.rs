//! The types of the dialect: tokens and futures.

use mlir::Type;
use mlir::ods::{ParamAssembly, ParamDef, ParamKind, TypeDef};
use std::sync::OnceLock;

/// `!stablehlo.token`
pub static TOKEN: TypeDef = TypeDef {
    dialect: "stablehlo",
    mnemonic: "token",
    doc: "Orders effects: an op that takes a token runs after the op that made it.",
    params: &[],
    assembly: ParamAssembly::None,
    verify: None,
    compatible: None,
};

/// `!stablehlo.future<types>`
pub static FUTURE: TypeDef = TypeDef {
    dialect: "stablehlo",
    mnemonic: "future",
    doc: "The pending results, of the types listed, of an operation that was started and may not be done.",
    params: &[ParamDef { name: "types", kind: ParamKind::Types, optional: false }],
    assembly: ParamAssembly::List,
    verify: None,
    compatible: None,
};

/// The type `!stablehlo.token`.
pub fn token() -> Type {
    static CELL: OnceLock<Type> = OnceLock::new();
    CELL.get_or_init(|| Type::dialect(&TOKEN, Vec::new())).clone()
}
