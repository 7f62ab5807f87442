//! The types of the dialect: tokens and futures.

use mlir::ods::{ParamAssembly, ParamDef, ParamKind, TypeDef};
use mlir::text::{Parsed, Parser, Printer};
use mlir::{Attribute, Type};
use std::sync::OnceLock;

/// `!stablehlo.token`
pub static TOKEN: TypeDef = TypeDef {
    dialect: "stablehlo",
    mnemonic: "token",
    doc: "Orders effects: an op that takes a token runs after the op that made it.",
    params: &[],
    assembly: ParamAssembly::None,
    verify: None,
    compatible: None,
    storage: None,
    misfit: None,
};

/// `!stablehlo.future<types>`
pub static FUTURE: TypeDef = TypeDef {
    dialect: "stablehlo",
    mnemonic: "future",
    doc: "The pending results, of the types listed, of an operation that was started and may not be done.",
    params: &[ParamDef { name: "types", kind: ParamKind::Types, optional: false }],
    assembly: ParamAssembly::Custom { parse: parse_type_list, print: print_type_list },
    verify: Some(verify_future),
    compatible: None,
    storage: None,
    misfit: None,
};

/// The type `!stablehlo.token`.
pub fn token() -> Type {
    static CELL: OnceLock<Type> = OnceLock::new();
    CELL.get_or_init(|| Type::dialect(&TOKEN, Vec::new())).clone()
}

/// The type `!stablehlo.future<types>`.
pub fn future(types: Vec<Type>) -> Type {
    Type::dialect(
        &FUTURE,
        vec![Some(Attribute::array(types.into_iter().map(Attribute::from).collect()))],
    )
}

/// The types of a future's results.
pub fn future_types(ty: &Type) -> Option<Vec<Type>> {
    let types = ty.as_dialect(&FUTURE)?.first()?.as_ref()?.as_array()?;
    types.iter().map(|t| t.as_type().cloned()).collect()
}

/// Checks that the pending results are tensors.
fn verify_future(params: &[Option<Attribute>]) -> Result<(), String> {
    let types =
        params.first().and_then(Option::as_ref).and_then(Attribute::as_array).unwrap_or(&[]);
    match types.iter().filter_map(Attribute::as_type).find(|ty| ty.as_tensor().is_none()) {
        Some(ty) => Err(format!("a future must be of ranked tensors; found {ty}")),
        None => Ok(()),
    }
}

/// Parses the types of a future, `<T, U>`, as the only parameter of a type.
pub fn parse_type_list(parser: &mut Parser<'_>) -> Parsed<Vec<Option<Attribute>>> {
    let mut types = Vec::new();
    parser.expect("<")?;
    parser.list_until(">", |p| {
        types.push(p.ty()?.into());
        Ok(())
    })?;
    Ok(vec![Some(Attribute::array(types))])
}

/// Prints the types of a future, `<T, U>`.
pub fn print_type_list(printer: &mut Printer<'_>, values: &[Option<Attribute>]) {
    let types =
        values.first().and_then(Option::as_ref).and_then(Attribute::as_array).unwrap_or(&[]);
    printer.write("<");
    printer.separated(", ", types.iter().filter_map(Attribute::as_type), |p, ty| p.ty(ty));
    printer.write(">");
}
