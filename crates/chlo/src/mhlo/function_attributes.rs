//! Attributes of MHLO on the arguments of functions: aliased results and replication.

use mlir::attrs::Attribute;
use mlir::ods::{AttrDef, ParamAssembly, ParamDef, ParamKind, Params};
use mlir::text::{Parsed, Parser, Printer};
use mlir::verify::are_compatible;
use mlir::{OpRef, Type, TypeKind, Verdict};

/// `#mhlo.result_alias<tuple_indices = [0], result_index = [2, 1], must_alias>`: the part of an
/// argument at `tuple_indices` shares its buffer with the part of a result; the first element of
/// `result_index` says of which.
pub static RESULT_ALIAS: AttrDef = AttrDef {
    dialect: "mhlo",
    mnemonic: "result_alias",
    doc: "The result of a function whose buffer is that of an argument.",
    params: &[
        ParamDef { name: "tuple_indices", kind: ParamKind::I64s, optional: true },
        ParamDef { name: "result_index", kind: ParamKind::I64s, optional: false },
        ParamDef { name: "must_alias", kind: ParamKind::Bool, optional: true },
    ],
    assembly: ParamAssembly::Custom { parse, print },
    verify: Some(verify_params),
    bounds: None,
    verify_encoding: None,
    becomes: None,
};

fn list(param: Option<&Option<Attribute>>) -> &[i64] {
    param.and_then(|param| param.as_ref()?.as_int_array()).unwrap_or(&[])
}

fn verify_params(params: &Params) -> Result<(), String> {
    match list(params.get(1)) {
        [] => Err("`result_index` must have at least one element".to_string()),
        _ => Ok(()),
    }
}

fn parse(parser: &mut Parser<'_>) -> Parsed<Vec<Option<Attribute>>> {
    let mut params: Vec<Option<Attribute>> = vec![None; RESULT_ALIAS.params.len()];
    parser.expect("<")?;
    let start = parser.here();
    parser.list_until(">", |p| {
        let at = p.here();
        let name = p.word("the name of a parameter")?;
        let Some(index) = RESULT_ALIAS.params.iter().position(|param| param.name == name) else {
            let known = RESULT_ALIAS.params.iter().map(|param| param.name).collect::<Vec<_>>();
            let message = format!("unknown parameter `{name}`; known are {}", known.join(", "));
            return p.error_at(at, message);
        };
        if params[index].is_some() {
            return p.error_at(at, format!("the parameter `{name}` is given twice"));
        }
        params[index] = Some(match RESULT_ALIAS.params[index].kind {
            ParamKind::Bool => Attribute::bool(true),
            _ => {
                p.expect("=")?;
                Attribute::i64_array(p.i64_list()?)
            }
        });
        Ok(())
    })?;
    if params[1].is_none() {
        return parser.error_at(start, "the parameter `result_index` is missing");
    }
    Ok(params)
}

fn print(printer: &mut Printer<'_>, params: &[Option<Attribute>]) {
    let numbers =
        |values: &[i64]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    printer.write("<");
    if let indices @ [_, ..] = list(params.first()) {
        printer.write(&format!("tuple_indices = [{}], ", numbers(indices)));
    }
    printer.write(&format!("result_index = [{}]", numbers(list(params.get(1)))));
    if params.get(2).is_some_and(|must| must.as_ref().and_then(|must| must.as_bool()) == Some(true))
    {
        printer.write(", must_alias");
    }
    printer.write(">");
}

/// The part of a nested tuple type at the indices of `path`.
pub(super) fn part<'t>(ty: &'t Type, path: &[i64]) -> Option<&'t Type> {
    path.iter().try_fold(ty, |ty, &index| match &**ty {
        TypeKind::Tuple(types) => types.get(usize::try_from(index).ok()?),
        _ => None,
    })
}

/// The number of types in a nested tuple that are no tuples.
fn leaves(ty: &Type) -> usize {
    match &**ty {
        TypeKind::Tuple(types) => types.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// Verifies an attribute of an argument of a function.
pub(super) fn verify_value_attribute(
    op: OpRef<'_>,
    ty: &Type,
    name: &str,
    attribute: &Attribute,
) -> Result<(), String> {
    if let Some(params) = attribute.as_dialect(&RESULT_ALIAS) {
        return verify_alias(op, ty, params);
    }
    if name == "mhlo.parameter_replication" {
        let Some(values) = attribute.as_array() else {
            return Err(format!("must be an array; found {attribute:.80}"));
        };
        let (found, parts) = (values.len(), leaves(ty));
        if found > 1 && found != parts {
            return Err(format!(
                "must have a value for each of {parts} parts of {ty}; found {found}"
            ));
        }
    }
    Ok(())
}

fn verify_alias(op: OpRef<'_>, ty: &Type, params: &Params) -> Result<(), String> {
    let (within, [index, path @ ..]) = (list(params.first()), list(params.get(1))) else {
        return Ok(());
    };
    let function = op.attr("function_type").and_then(Attribute::as_type);
    let results = match function.map(|ty| &**ty) {
        Some(TypeKind::Function { results, .. }) => &results[..],
        _ => &[],
    };
    let Some(result) = usize::try_from(*index).ok().and_then(|index| results.get(index)) else {
        return Err(format!(
            "result_index names result {index}; the function has {}",
            mlir::diag::counted(results.len() as u64, "result")
        ));
    };
    let Some(argument) = part(ty, within) else {
        return Err(format!("tuple_indices {within:?} name no part of {ty}"));
    };
    let Some(result) = part(result, path) else {
        return Err(format!("result_index {path:?} names no part of {result}"));
    };
    if !are_compatible(argument, result) {
        return Err(format!(
            "argument and result must have compatible types; found {argument} and {result}"
        ));
    }
    Ok(())
}

/// Verifies an attribute of an op.
pub(super) fn verify_attribute(op: OpRef<'_>, name: &str, attribute: &Attribute) -> Verdict {
    if attribute.as_dialect(&RESULT_ALIAS).is_some() && op.attr("function_type").is_none() {
        let message = format!("`{name}` must be an attribute of a function's argument");
        return Err(op.error("attribute", message));
    }
    Ok(())
}
