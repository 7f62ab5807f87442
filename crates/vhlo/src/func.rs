//! Syntax of `vhlo.func_v1`: `@name(%arg0: T) -> (U) { … } {…}`.

use crate::{attrs, types};
use mlir::text::{OpState, Parsed, Parser, Printer, TypeList};
use mlir::{Attribute, OpRef, Type};

/// Attribute slots of the name and the type.
const NAME: usize = 0;
const TYPE: usize = 1;

/// Parses the op after its name.
pub(crate) fn parse(p: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    let name = p.symbol_name()?;
    let mut arguments = Vec::new();
    p.expect("(")?;
    p.list_until(")", |p| {
        arguments.push(p.region_argument()?);
        Ok(())
    })?;
    p.expect("->")?;
    let outputs = p.result_types()?;
    let inputs = arguments.iter().map(|a| a.ty.clone()).collect();
    let body = p.region(state.def, arguments)?;
    state.regions[0].push(body);
    let list =
        |types: TypeList| Some(Attribute::array(types.into_iter().map(Attribute::from).collect()));
    let ty = Type::dialect(&types::FUNCTION, vec![list(inputs), list(outputs)]);
    p.optional_attr_dict(state)?;
    state.properties[NAME] = Some(attrs::string(&*name));
    state.properties[TYPE] = Some(attrs::ty(ty));
    Ok(())
}

/// Prints the op after its name.
pub(crate) fn print(p: &mut Printer<'_>, op: OpRef<'_>) {
    let name = op.property(NAME).and_then(attrs::as_str).unwrap_or_default();
    let ty = op.property(TYPE).and_then(attrs::as_type);
    let outputs = ty
        .and_then(|t| t.as_dialect(&types::FUNCTION)?.get(1)?.as_ref()?.as_array())
        .unwrap_or(&[]);
    p.write(" ");
    p.symbol_name(name);
    p.write("(");
    let body = op.regions().first().copied();
    if let Some(entry) = body.and_then(|b| op.module().entry(b)) {
        let count = op.module().arguments(entry).len();
        p.separated(", ", 0..count, |p, i| p.argument(op.module(), entry, i));
    }
    p.write(") -> (");
    p.separated(", ", outputs, |p, t| p.attribute(t));
    p.write(") ");
    if let Some(body) = body {
        p.region(op, body, false, true);
    }
    p.attr_dict(op, &["sym_name", "function_type"]);
}
