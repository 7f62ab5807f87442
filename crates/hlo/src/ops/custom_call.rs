//! `stablehlo.custom_call`.

use super::prelude::*;

op! {
    /// Calls `call_target_name`, which the implementation knows, on `inputs`.
    pub CustomCallOp, "stablehlo.custom_call" {
        operands { inputs: variadic CUSTOM_CALL_VALUE }
        results { results: variadic CUSTOM_CALL_VALUE }
        attributes {
            call_target_name: required String,
            has_side_effect: implied Bool => DefaultValue::Bool(false),
            backend_config: optional AnyOf(&[&String, &Dictionary]),
            api_version: implied IntEnum(32, &CUSTOM_CALL_API_VERSION) => DefaultValue::I32(1),
            called_computations: implied ArrayOf(&FlatSymbolRef) => DefaultValue::EmptyArray,
            operand_layouts: optional ArrayOf(&LAYOUT),
            result_layouts: optional ArrayOf(&LAYOUT),
            output_operand_aliases: implied ArrayOf(&Def(&OUTPUT_OPERAND_ALIAS)) => DefaultValue::EmptyArray,
            result_tilings: optional ArrayOf(&ArrayOf(&LAYOUT)),
        }
        hooks {
            eval: Some(crate::custom_calls::eval),
            assembly: Assembly::Format(
                "custom<CustomCallTarget>($call_target_name) `(` $inputs `)` \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
