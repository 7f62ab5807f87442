//! `stablehlo.composite`.

use super::prelude::*;

op! {
    /// The function `decomposition`, under a name and with attributes by which a backend may know a better
    /// implementation.
    pub CompositeOp, "stablehlo.composite" {
        operands { inputs: variadic ANY_TENSOR_TOKEN_OR_TUPLE }
        results { results: variadic ANY_TENSOR_TOKEN_OR_TUPLE }
        attributes {
            name: required String,
            composite_attributes: implied Dictionary => DefaultValue::EmptyDictionary,
            decomposition: required FlatSymbolRef,
            version: implied Int(32) => DefaultValue::I32(0),
        }
        regions { composite_regions: each any }
        traits [Call("decomposition")]
        hooks {
            assembly: Assembly::Format(
                "$name operands (` ` `(` $composite_regions^ `)`)? attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
