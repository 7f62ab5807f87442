//! `stablehlo.custom_call`.

use super::prelude::*;
use crate::custom_calls::dynamic;

op! {
    /// Calls the implementation-defined function `call_target_name` on `inputs`.
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
        traits [NoMemoryEffectIf(|op| !CustomCallOp(op).has_side_effect())]
        hooks {
            format:
                "custom<CustomCallTarget>($call_target_name) `(` $inputs `)` \
                 attr-dict `:` functional-type(operands, results)",
            verify: verify,
            refine: dynamic::refine,
            to_static: dynamic::to_static,
            prepare: crate::custom_calls::prepare,
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
        let Some(list) = list else { continue };
        // A single tuple has the layouts of its elements.
        let types = match types[..] {
            [tuple] => tuple.as_tuple().map_or(types, |elements| elements.iter().collect()),
            _ => types,
        };
        check::count(
            op,
            "custom_call_layouts",
            name,
            list.len(),
            types.len(),
            "the number of values",
        )?;
        for (layout, ty) in list.iter().zip(types) {
            verify_layout(op, name, layout, ty)?;
        }
    }
    for alias in view.output_operand_aliases() {
        verify_alias(op, alias)?;
    }
    verify_buffers(op)?;
    let version = view.api_version();
    let Some(config) = view.backend_config() else { return Ok(()) };
    let (kind, fits) = match version {
        TYPED_FFI => ("a dictionary", config.as_dictionary().is_some()),
        _ => ("a string", config.as_dictionary().is_none()),
    };
    let fits = fits || op.attr("api_version").is_none();
    require(op, "custom_call_backend_config", fits, || {
        format!("backend_config must be {kind} for api_version {version}; found {config}")
    })
}

/// The API version whose configuration is a dictionary.
const TYPED_FFI: i64 = 4;

/// The part of `ty` at a path of tuple indices.
fn part<'t>(ty: &'t Type, indices: &[i64]) -> Option<&'t Type> {
    indices.iter().try_fold(ty, |ty, &i| ty.as_tuple()?.get(usize::try_from(i).ok()?))
}

/// Checks that the aliased parts of operand and result exist and have the same type.
fn verify_alias(op: OpRef<'_>, alias: &Attribute) -> Verdict {
    let Some([output, operand, within]) = alias.as_dialect(&OUTPUT_OPERAND_ALIAS) else {
        return Ok(());
    };
    let label = "custom_call_aliases";
    let operand = integer(operand.as_ref());
    check::is_dimension(op, label, "operand_index", operand, op.operands().len())?;
    let given = op.operand_type(operand as usize);
    let results = match op.num_results() {
        1 => op.result_type(0).clone(),
        _ => Type::tuple(op.result_types().cloned().collect()),
    };
    let (output, within) = (ints(output.as_ref()), ints(within.as_ref()));
    let Some(from) = part(given, within) else {
        return Err(
            op.error(label, format!("operand_tuple_indices {within:?} name no part of {given}"))
        );
    };
    let Some(to) = part(&results, output) else {
        return Err(
            op.error(label, format!("output_tuple_indices {output:?} name no part of {results}"))
        );
    };
    require(op, label, from == to, || {
        format!("aliased parts must have one type; found {from} and {to}")
    })
}

/// Checks the ownership of buffers: they are created by `CreateBuffer` or `Pin`, consumed by
/// `Unpin`, and passed through other calls, each at most once; such a call returns only buffers
/// that it took.
fn verify_buffers(op: OpRef<'_>) -> Verdict {
    let target = CustomCallOp(op).call_target_name();
    let (operands, results): (Vec<&Type>, Vec<&Type>) =
        (op.operand_types().collect(), op.result_types().collect());
    let alike = |buffer: &Type, tensor: &Type| {
        is_buffer(buffer)
            && tensor.as_tensor().is_some()
            && buffer.shape() == tensor.shape()
            && buffer.element_type() == tensor.element_type()
    };
    let (fits, required) = match target {
        "CreateBuffer" => (
            operands.is_empty() && matches!(results[..], [r] if is_buffer(r)),
            "takes nothing and gives a buffer",
        ),
        "Pin" => (
            matches!((&operands[..], &results[..]), ([t], [b]) if alike(b, t)),
            "gives the buffer of a tensor",
        ),
        "Unpin" => (
            matches!((&operands[..], &results[..]), ([b], [t]) if alike(b, t)),
            "gives the tensor in a buffer",
        ),
        _ => return verify_buffer_aliases(op),
    };
    require(op, "custom_call_buffers", fits, || {
        let (takes, gives) = (check::list(operands.into_iter()), check::list(results.into_iter()));
        format!("{target} {required}; found {takes} -> {gives}")
    })
}

fn verify_buffer_aliases(op: OpRef<'_>) -> Verdict {
    let aliases = CustomCallOp(op).output_operand_aliases();
    // The source, starting with the operand, and the target of each alias, as paths.
    let path = |alias: &Attribute| {
        let [output, operand, within] = alias.as_dialect(&OUTPUT_OPERAND_ALIAS)? else {
            return None;
        };
        let from = std::iter::once(integer(operand.as_ref()))
            .chain(ints(within.as_ref()).iter().copied())
            .collect();
        Some((from, ints(output.as_ref()).to_vec()))
    };
    let (from, to): (Vec<Vec<i64>>, Vec<Vec<i64>>) = aliases.iter().filter_map(path).unzip();
    let mut given = Vec::new();
    op.operand_types().zip(0..).for_each(|(ty, i)| buffers(ty, vec![i], &mut given));
    let mut returned = Vec::new();
    match op.num_results() {
        1 => buffers(op.result_type(0), Vec::new(), &mut returned),
        _ => op.result_types().zip(0..).for_each(|(ty, i)| buffers(ty, vec![i], &mut returned)),
    }
    let uses =
        |paths: &[Vec<i64>], buffer: &Vec<i64>| paths.iter().filter(|p| *p == buffer).count();
    let label = "custom_call_buffers";
    for buffer in given {
        require(op, label, uses(&from, &buffer) <= 1, || {
            format!("the buffer at {buffer:?} of the operands is in several output_operand_aliases")
        })?;
    }
    for buffer in returned {
        let found = uses(&to, &buffer);
        require(op, label, found == 1, || {
            format!(
                "the buffer at {buffer:?} of the results must be in one of output_operand_aliases; it is in {found}"
            )
        })?;
    }
    Ok(())
}

fn is_buffer(ty: &Type) -> bool {
    matches!(**ty, mlir::TypeKind::MemRef { .. })
}

/// Collects the paths of the buffers in a type, with the prefix `path`.
fn buffers(ty: &Type, path: Vec<i64>, found: &mut Vec<Vec<i64>>) {
    if is_buffer(ty) {
        found.push(path);
    } else {
        for (element, index) in ty.as_tuple().unwrap_or(&[]).iter().zip(0..) {
            buffers(element, path.iter().copied().chain([index]).collect(), found);
        }
    }
}

/// Checks that a layout is a permutation of the dimensions of a tensor.
fn verify_layout(op: OpRef<'_>, name: &str, layout: &Attribute, ty: &Type) -> Verdict {
    let mut order = layout.as_dense().and_then(|d| d.int_values()).unwrap_or_default();
    order.sort_unstable();
    let fits = match ty.as_tensor() {
        Some(tensor) => order.iter().copied().eq(0..tensor.rank() as i64),
        None => !ty.is_shaped() && order.is_empty() && ty.as_tuple().is_none() || ty.is_shaped(),
    };
    require(op, "custom_call_layouts", fits, || {
        format!(
            "{name} must hold a permutation of the dimensions of each tensor, and nothing for other values; found {layout} for {ty}"
        )
    })
}

/// Attribute of exporters with the indices of operands that hold result shapes: one per result,
/// with tuples flattened.
pub(crate) const SHAPE_OPERANDS: &str = "indices_of_shape_operands";

/// The operands that hold the shapes of the results, if the attribute is present.
///
/// # Errors
/// If the attribute does not list one operand per result, or a constant shape is incompatible with
/// its result.
pub fn shape_operands(op: OpRef<'_>) -> Result<Option<Vec<usize>>, Diagnostic> {
    let Some(indices) = op.attr(SHAPE_OPERANDS) else { return Ok(None) };
    let ty = indices.ty();
    require(op, SHAPE_OPERANDS, rank(&ty) == 1 && *ty.element_type() == Type::i64(), || {
        format!("{SHAPE_OPERANDS} must be a tensor of i64 with one dimension; found {ty}")
    })?;
    let mut results = Vec::new();
    op.result_types().for_each(|ty| flatten(ty, &mut results));
    check::count(
        op,
        SHAPE_OPERANDS,
        SHAPE_OPERANDS,
        shape(&ty)[0] as usize,
        results.len(),
        "the number of results",
    )?;
    let indices = indices.as_dense().and_then(|d| d.int_values()).unwrap_or_default();
    check::in_range(op, SHAPE_OPERANDS, SHAPE_OPERANDS, &indices, op.operands().len())?;
    let indices: Vec<usize> = indices.into_iter().map(|i| i as usize).collect();
    for (&operand, ty) in indices.iter().zip(results) {
        let Some(sizes) = check::constant_ints(op, operand) else { continue };
        require(
            op,
            SHAPE_OPERANDS,
            ty.shape().is_none_or(|found| compat::shapes(found, &sizes)),
            || {
                format!(
                    "operand {operand} holds the shape {sizes:?}, which a result of type {ty} cannot have"
                )
            },
        )?;
    }
    Ok(Some(indices))
}

/// The elements of nested tuples, in order.
fn flatten<'t>(ty: &'t Type, types: &mut Vec<&'t Type>) {
    match ty.as_tuple() {
        Some(elements) => elements.iter().for_each(|ty| flatten(ty, types)),
        None => types.push(ty),
    }
}
