//! `stablehlo.get_tuple_element`.

use super::prelude::*;

op! {
    /// Element `index` of a tuple.
    pub GetTupleElementOp, "stablehlo.get_tuple_element" {
        operands { operand: single TUPLE }
        results { result: single ANY_VALUE }
        attributes { index: required Int(32) }
        traits [Pure]
        hooks {
            assembly: Assembly::Format("$operand `[` $index `]` attr-dict `:` functional-type(operands, results)"),
        }
    }
}
