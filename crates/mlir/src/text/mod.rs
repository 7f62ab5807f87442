//! The MLIR textual format: lexer, recovering parser and printer.
//!
//! Source: MLIR language reference.

mod lexer;
mod parser;
mod printer;
mod state;

pub use parser::{ParseFailed, ParseOptions, Parsed, Parser, parse_module_op};
pub use printer::{Printer, print_module_op};
pub use state::{OpState, UnresolvedOperand};
