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
            eval: Some(eval),
            assembly: Assembly::Format(
                "$name operands (` ` `(` $composite_regions^ `)`)? attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let decomposition = CompositeOp(op).decomposition().and_then(|d| d.as_flat_symbol());
    env.call(decomposition.ok_or_else(|| eval::missing(op, "decomposition"))?, operands)
}
