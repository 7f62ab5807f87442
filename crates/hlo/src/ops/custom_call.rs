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
    for alias in view.output_operand_aliases().and_then(Attribute::as_array).unwrap_or(&[]) {
        verify_alias(op, alias)?;
    }
    let version = integer(view.api_version());
    let Some(config) = view.backend_config() else { return Ok(()) };
    let (kind, fits) = match version {
        TYPED_FFI => ("a dictionary", config.as_dictionary().is_some()),
        _ => ("a string", config.as_dictionary().is_none()),
    };
    let fits = fits || view.api_version().is_none();
    require(op, "custom_call_backend_config", fits, || {
        format!("backend_config must be {kind} for api_version {version}; found {config}")
    })
}

/// The version of the calling convention whose configuration is a dictionary.
const TYPED_FFI: i64 = 4;

/// The part of `ty` that the indices of nested tuples lead to.
fn part<'t>(ty: &'t Type, indices: &[i64]) -> Option<&'t Type> {
    indices.iter().try_fold(ty, |ty, &i| ty.as_tuple()?.get(usize::try_from(i).ok()?))
}

/// The parts of operand and result that share a buffer are there and have one type.
fn verify_alias(op: OpRef<'_>, alias: &Attribute) -> Verdict {
    let Some([output, operand, within]) = alias.as_dialect(&OUTPUT_OPERAND_ALIAS) else { return Ok(()) };
    let label = "custom_call_aliases";
    let operand = integer(operand.as_ref());
    check::in_range(op, label, "operand_index", &[operand], op.operands().len())?;
    let given = op.operand_type(operand as usize);
    let results = match op.num_results() {
        1 => op.result_type(0).clone(),
        _ => Type::tuple(op.result_types().cloned().collect()),
    };
    let (output, within) = (ints(output.as_ref()), ints(within.as_ref()));
    let Some(from) = part(given, within) else {
        return Err(op.error(label, format!("operand_tuple_indices {within:?} name no part of {given}")));
    };
    let Some(to) = part(&results, output) else {
        return Err(op.error(label, format!("output_tuple_indices {output:?} name no part of {results}")));
    };
    require(op, label, from == to, || format!("aliased parts must have one type; found {from} and {to}"))
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
