//! Syntax of the dialect: one module per attribute and type, with `parse` and `print` for the text
//! after its name, and the directives of ops.

use super::attrs::{MESH_WITH_ORIGINS, NAMED_MESH, ORIGIN, REDUCTION_TYPE, USER_ORIGIN};
use crate::sdy::{MESH, SHARDING, parse_shardings_list, print_shardings_list};
use mlir::ods::{AttrDef, DirectiveArg};
use mlir::text::{OpState, Parsed, Parser, Printer};
use mlir::{Attribute, OpRef};

type Params = Vec<Option<Attribute>>;

/// Reads a string.
fn parse_string(p: &mut Parser<'_>) -> Parsed<Attribute> {
    Ok(Attribute::string(p.string_bytes()?))
}

/// Prints parameter `index`, a string.
fn print_string(p: &mut Printer<'_>, params: &[Option<Attribute>], index: usize) {
    let text = params.get(index).and_then(Option::as_ref).and_then(|a| a.as_str()).unwrap_or("");
    p.string(text.as_bytes());
}

/// Parameter `index` as a list; empty if it is not one.
fn list(params: &[Option<Attribute>], index: usize) -> &[Attribute] {
    params.get(index).and_then(Option::as_ref).and_then(|a| a.as_array()).unwrap_or(&[])
}

/// Reads at least one attribute of a declaration, up to a token.
fn parse_some(p: &mut Parser<'_>, def: &'static AttrDef, close: &str) -> Parsed<Attribute> {
    let mut elements = vec![p.bare_attribute(def)?];
    while p.eat(",") {
        elements.push(p.bare_attribute(def)?);
    }
    p.expect(close)?;
    Ok(Attribute::array(elements))
}

pub(super) mod named_mesh {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("<")?;
        let name = parse_string(p)?;
        p.expect(":")?;
        let mesh = p.bare_attribute(&MESH)?;
        p.expect(">")?;
        Ok(vec![Some(name), Some(mesh)])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.write("<");
        print_string(p, params, 0);
        p.write(" : ");
        if let Some(Some(mesh)) = params.get(1) {
            p.bare_attribute(&MESH, mesh);
        }
        p.write(">");
    }
}

pub(super) mod topology {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("<")?;
        Ok(vec![Some(parse_some(p, &NAMED_MESH, ">")?)])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.write("<");
        p.separated(", ", list(params, 0), |p, mesh| p.bare_attribute(&NAMED_MESH, mesh));
        p.write(">");
    }
}

pub(super) mod user_origin {
    use super::*;

    /// Reads `"name"` or `"name"(count)`.
    pub(crate) fn parse_short(p: &mut Parser<'_>) -> Parsed<Params> {
        let name = parse_string(p)?;
        let mut count = 0;
        if p.eat("(") {
            count = p.integer()?;
            p.expect(")")?;
        }
        Ok(vec![Some(name), Some(Attribute::i64(count))])
    }

    pub(crate) fn print_short(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        print_string(p, params, 0);
        let count = params.get(1).and_then(|count| count.as_ref()?.as_i64());
        if let Some(count) = count.filter(|&count| count > 0) {
            p.number(format_args!("({count})"));
        }
    }

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("<")?;
        let params = parse_short(p)?;
        p.expect(">")?;
        Ok(params)
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.write("<");
        print_short(p, params);
        p.write(">");
    }
}

pub(super) mod origin {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        Ok(vec![Some(parse_string(p)?)])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        print_string(p, params, 0);
    }
}

pub(super) mod mesh_with_origins {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        let name = parse_string(p)?;
        let origins = match p.eat("[") {
            true => parse_some(p, &ORIGIN, "]")?,
            false => Attribute::array(Vec::new()),
        };
        Ok(vec![Some(name), Some(origins)])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        print_string(p, params, 0);
        let origins = list(params, 1);
        if !origins.is_empty() {
            p.write("[");
            p.separated(", ", origins, |p, origin| p.bare_attribute(&ORIGIN, origin));
            p.write("]");
        }
    }
}

pub(super) mod meshes_with_origins {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("<")?;
        let meshes = match p.eat(">") {
            true => Attribute::array(Vec::new()),
            false => parse_some(p, &MESH_WITH_ORIGINS, ">")?,
        };
        Ok(vec![Some(meshes)])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.write("<");
        p.separated(", ", list(params, 0), |p, mesh| p.bare_attribute(&MESH_WITH_ORIGINS, mesh));
        p.write(">");
    }
}

pub(super) mod reduction {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("<")?;
        let case = p.enum_value(&REDUCTION_TYPE)?;
        p.expect(">")?;
        Ok(vec![Some(Attribute::enumeration(&REDUCTION_TYPE, case))])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        let case = params.first().and_then(|case| case.as_ref()?.as_enum(&REDUCTION_TYPE));
        p.write("<");
        p.enum_value(&REDUCTION_TYPE, case.unwrap_or(0));
        p.write(">");
    }
}

pub(super) mod mesh_tensor {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("<")?;
        let name = parse_string(p)?;
        p.expect(",")?;
        let tensor = p.ty()?;
        let (mut sharding, mut memory_kind) = (None, None);
        let mut more = p.eat(",");
        if more && p.eat("sharding") {
            p.expect("=")?;
            sharding = Some(p.bare_attribute(&SHARDING)?);
            more = p.eat(",");
        }
        if more {
            p.expect("memory_kind")?;
            p.expect("=")?;
            memory_kind = Some(parse_string(p)?);
        }
        p.expect(">")?;
        Ok(vec![Some(name), Some(tensor.into()), sharding, memory_kind])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.write("<");
        print_string(p, params, 0);
        p.write(", ");
        if let Some(ty) = params.get(1).and_then(|tensor| tensor.as_ref()?.as_type()) {
            p.ty(ty);
        }
        if let Some(Some(sharding)) = params.get(2) {
            p.write(", sharding=");
            p.bare_attribute(&SHARDING, sharding);
        }
        if let Some(Some(_)) = params.get(3) {
            p.write(", memory_kind=");
            print_string(p, params, 3);
        }
        p.write(">");
    }
}

/// Reads `"name"(count)` into the attribute slot named by `args`.
pub(super) fn parse_user_origin(
    p: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let &[DirectiveArg::Attribute(slot)] = args else { return Ok(()) };
    let params = user_origin::parse_short(p)?;
    state.properties[slot] = Some(Attribute::dialect(&USER_ORIGIN, params));
    Ok(())
}

pub(super) fn print_user_origin(p: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let &[DirectiveArg::Attribute(slot)] = args else { return };
    let params = op.property(slot).and_then(|origin| origin.as_dialect(&USER_ORIGIN));
    user_origin::print_short(p, params.unwrap_or(&[]));
}

/// Reads `mesh="name", origin=[…]` into the two attribute slots named by `args` and, if there are
/// more slots, `, stage=1`, `, in_shardings=[…]` and `, out_shardings=[…]` into these.
pub(super) fn parse_assignment(
    p: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let [DirectiveArg::Attribute(mesh), DirectiveArg::Attribute(origin), rest @ ..] = args else {
        return Ok(());
    };
    p.expect("mesh")?;
    p.expect("=")?;
    state.properties[*mesh] = Some(parse_string(p)?);
    p.expect(",")?;
    p.expect("origin")?;
    p.expect("=")?;
    p.expect("[")?;
    let mut origins = Vec::new();
    p.list_until("]", |p| {
        origins.push(Attribute::dialect(&USER_ORIGIN, user_origin::parse_short(p)?));
        Ok(())
    })?;
    state.properties[*origin] = Some(Attribute::array(origins));
    let &[
        DirectiveArg::Attribute(stage),
        DirectiveArg::Attribute(ins),
        DirectiveArg::Attribute(outs),
    ] = rest
    else {
        return Ok(());
    };
    let mut more = p.eat(",");
    if more && p.eat("stage") {
        p.expect("=")?;
        state.properties[stage] = Some(p.attribute(Some(&mlir::Type::i64()))?);
        more = p.eat(",");
    }
    for (name, slot) in [("in_shardings", ins), ("out_shardings", outs)] {
        if more && p.eat(name) {
            p.expect("=")?;
            state.properties[slot] = Some(parse_shardings_list(p)?);
            more = p.eat(",");
        }
    }
    if more {
        p.unexpected("`stage`, `in_shardings` or `out_shardings`, in that order")
    } else {
        Ok(())
    }
}

pub(super) fn print_assignment(p: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let slot = |index: usize| match args.get(index) {
        Some(&DirectiveArg::Attribute(slot)) => op.property(slot),
        _ => None,
    };
    p.write("mesh=");
    p.string(slot(0).and_then(|mesh| mesh.as_str()).unwrap_or("").as_bytes());
    p.write(", origin=[");
    p.separated(", ", slot(1).and_then(|o| o.as_array()).unwrap_or(&[]), |p, origin| {
        user_origin::print_short(p, origin.as_dialect(&USER_ORIGIN).unwrap_or(&[]));
    });
    p.write("]");
    if let Some(stage) = slot(2).and_then(Attribute::as_i64) {
        p.number(format_args!(", stage={stage}"));
    }
    for (name, index) in [(", in_shardings=", 3), (", out_shardings=", 4)] {
        if let Some(shardings) = slot(index) {
            p.write(name);
            print_shardings_list(p, shardings);
        }
    }
}
