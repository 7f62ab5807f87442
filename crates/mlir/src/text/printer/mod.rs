//! The printer.

use crate::attrs::Attribute;
use crate::ir::OpRef;
use crate::types::Type;
use std::fmt;

/// Prints MLIR text.
pub struct Printer<'a> {
    out: &'a mut String,
}

/// Prints the pretty form of `builtin.module`.
pub fn print_module_op(printer: &mut Printer<'_>, _op: OpRef<'_>) {
    printer.out.push(' ');
}

impl fmt::Display for Type {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}
