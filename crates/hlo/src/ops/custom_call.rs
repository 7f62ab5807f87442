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
            verify: Some(|op, out| out.extend(verify(op).err())),
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let view = CustomCallOp(op);
    let layouts = [
        ("operand_layouts", view.operand_layouts(), op.operand_types().collect::<Vec<_>>()),
        ("result_layouts", view.result_layouts(), op.result_types().collect()),
    ];
    require(op, "custom_call_layouts", layouts[0].1.is_some() == layouts[1].1.is_some(), || {
        "operand_layouts and result_layouts must be given together or not at all".to_string()
    })?;
    for (name, list, types) in layouts {
        let Some(list) = list.and_then(Attribute::as_array) else { continue };
        // A single tuple is laid out by its elements.
        let types = match types[..] {
            [tuple] => tuple.as_tuple().map_or(types, |elements| elements.iter().collect()),
            _ => types,
        };
        check::count(op, "custom_call_layouts", name, list.len(), types.len(), "the number of values")?;
        for (layout, ty) in list.iter().zip(types) {
            verify_layout(op, name, layout, ty)?;
        }
    }
    Ok(())
}

/// A layout lists the dimensions of a tensor, from the one that varies fastest.
fn verify_layout(op: OpRef<'_>, name: &str, layout: &Attribute, ty: &Type) -> Verdict {
    let mut order = layout.as_dense().and_then(|d| d.int_values()).unwrap_or_default();
    let written = order.clone();
    order.sort_unstable();
    let fits = match ty.as_tensor() {
        Some(tensor) => order.iter().copied().eq(0..tensor.rank() as i64),
        None => !ty.is_shaped() && order.is_empty() && ty.as_tuple().is_none() || ty.is_shaped(),
    };
    require(op, "custom_call_layouts", fits, || {
        format!(
            "{name} must hold a permutation of the dimensions of each tensor, and nothing for other values; found {written:?} for {ty}"
        )
    })
}
