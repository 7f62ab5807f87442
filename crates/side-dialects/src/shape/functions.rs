//! Functions that compute shapes, and libraries of them.

use crate::constraints::FUNCTION;
use mlir::ods::{Assembly, AttrConstraint, TypeConstraint};
use mlir::op;

static DICTIONARIES: AttrConstraint = AttrConstraint::ArrayOf(&AttrConstraint::Dictionary);

op! {
    /// A function that computes shapes.
    pub FuncOp, "shape.func" {
        attributes {
            sym_name: required SymbolName,
            function_type: required Type(&FUNCTION),
            sym_visibility: optional String,
            arg_attrs: optional DICTIONARIES,
            res_attrs: optional DICTIONARIES,
        }
        regions { body: any }
        traits [IsolatedFromAbove, Symbol, DefaultDialect("shape")]
    }
}

op! {
    /// Functions that compute the shapes of the results of ops, by the names of the ops.
    pub FunctionLibraryOp, "shape.function_library" {
        attributes { sym_name: required SymbolName, sym_visibility: optional String, mapping: required Dictionary }
        regions { body: one }
        traits [SymbolTable, Symbol, NoTerminator, IsolatedFromAbove, SingleBlock, DefaultDialect("shape")]
    }
}

op! {
    /// Ends a function with its results.
    pub ReturnOp, "shape.return" {
        operands { operands: variadic TypeConstraint::ANY }
        traits [Pure, Terminator, ReturnLike, HasParent(&["shape.func"])]
        hooks { assembly: Assembly::Format("attr-dict ($operands^ `:` type($operands))?") }
    }
}
