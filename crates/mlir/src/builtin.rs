//! The builtin dialect: `builtin.module` and `builtin.unrealized_conversion_cast`.

use crate::ods::{Assembly, Dialect, TypeConstraint};
use crate::op;

/// The builtin dialect.
pub static BUILTIN: Dialect = Dialect {
    namespace: "builtin",
    ops: &[ModuleOp::DEF, UnrealizedConversionCastOp::DEF],
    bytecode: Some(&crate::bytecode::BUILTIN_BYTECODE),
    ..Dialect::EMPTY
};

op! {
    /// A container of functions and other symbols; the top of a program.
    pub ModuleOp, "builtin.module" {
        attributes { sym_name: optional SymbolName, sym_visibility: optional String }
        regions { body: one }
        traits [IsolatedFromAbove, SymbolTable, Symbol, SingleBlock, NoTerminator, NoRegionArguments, DefaultDialect("builtin")]
        hooks { assembly: Assembly::Custom { parse: crate::text::parse_module_op, print: crate::text::print_module_op } }
    }
}

op! {
    /// A cast between types that some later conversion is expected to remove.
    pub UnrealizedConversionCastOp, "builtin.unrealized_conversion_cast" {
        operands { inputs: variadic TypeConstraint::ANY }
        results { outputs: variadic TypeConstraint::ANY }
        traits [Pure]
        hooks { assembly: Assembly::Format("($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict") }
    }
}
