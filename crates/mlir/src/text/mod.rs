//! The MLIR textual format: lexer, recovering parser and printer.
//!
//! Source: MLIR language reference.

mod lexer;
mod parser;
mod printer;
mod source_map;
mod state;

pub use crate::node::{MAX_NESTING, MAX_PARTS};
pub use lexer::{Kind as TokenKind, Token, tokens};
pub use parser::{
    ParseFailed, ParseOptions, ParseOutput, Parsed, Parser, RegionArgument, narrow, parse,
    parse_attribute, parse_module_op, parse_type,
};
pub use printer::{
    PrintOptions, Printer, ValueNames, print_attribute, print_module, print_module_op, print_op,
    try_print_module,
};
pub use source_map::{Defined, Definition, OpExtent, Scope, SourceMap};
pub use state::{OpState, OperandList, TypeList, UnresolvedOperand};
