//! Syntax of the attributes: one module per attribute, with `parse` and `print` for the text after
//! its name.

use super::attrs::{self, REDUCTION_OP, SUM, int, ints, list, text_of};
use super::params;
use mlir::Attribute;
use mlir::OpRef;
use mlir::ods::{AttrDef, DirectiveArg};
use mlir::text::{OpState, Parsed, Parser, Printer};

type Params = Vec<Option<Attribute>>;

/// Reads attributes of one declaration between two tokens.
fn parse_list(
    p: &mut Parser<'_>,
    open: &str,
    def: &'static AttrDef,
    close: &str,
) -> Parsed<Attribute> {
    p.expect(open)?;
    let mut elements = Vec::new();
    p.list_until(close, |p| {
        elements.push(p.bare_attribute(def)?);
        Ok(())
    })?;
    Ok(Attribute::array(elements))
}

/// Reads a list in brackets that must not be empty.
fn parse_some(p: &mut Parser<'_>, def: &'static AttrDef, element: &str) -> Parsed<Attribute> {
    let span = p.here();
    let elements = parse_list(p, "[", def, "]")?;
    match elements.as_array() {
        Some([]) => p.error_at(p.span_from(span), format!("the list must have {element}")),
        _ => Ok(elements),
    }
}

fn print_list(
    p: &mut Printer<'_>,
    open: &str,
    def: &'static AttrDef,
    elements: &[Attribute],
    close: &str,
) {
    p.write(open);
    p.separated(", ", elements, |p, e| p.bare_attribute(def, e));
    p.write(close);
}

fn none() -> Attribute {
    Attribute::array(Vec::new())
}

pub(super) mod mesh_axis {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        let name = Attribute::string(p.string_bytes()?);
        p.expect("=")?;
        Ok(vec![Some(name), Some(Attribute::i64(p.integer()?))])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.string(text_of(params, 0).as_bytes());
        p.number(format_args!("={}", int(params, 1).unwrap_or(0)));
    }
}

pub(super) mod mesh {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("<")?;
        let axes = parse_list(p, "[", &attrs::MESH_AXIS, "]")?;
        let mut ids = Vec::new();
        if p.eat(",") {
            p.expect("device_ids")?;
            p.expect("=")?;
            let span = p.here();
            ids = p.i64_list()?;
            if ids.is_empty() {
                return p.error_at(span, "device ids may be left out, but not be an empty list");
            }
        }
        p.expect(">")?;
        let device_ids = params::device_ids(axes.as_array().unwrap_or(&[]), ids);
        Ok(vec![Some(axes), device_ids])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        print_list(p, "<[", &attrs::MESH_AXIS, list(params, 0), "]");
        if params.get(1).is_some_and(Option::is_some) {
            p.write(", device_ids=[");
            p.separated(", ", ints(params, 1), |p, id| p.number(id));
            p.write("]");
        }
        p.write(">");
    }
}

pub(super) mod sub_axis_info {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("(")?;
        let pre_size = p.integer()?;
        p.expect(")")?;
        Ok(vec![Some(Attribute::i64(pre_size)), Some(Attribute::i64(p.integer()?))])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.number(format_args!("({}){}", int(params, 0).unwrap_or(1), int(params, 1).unwrap_or(1)));
    }
}

pub(super) mod axis_ref {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        let name = Attribute::string(p.string_bytes()?);
        let part = if p.eat(":") { Some(p.bare_attribute(&attrs::SUB_AXIS_INFO)?) } else { None };
        Ok(vec![Some(name), part])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.string(text_of(params, 0).as_bytes());
        if let Some(Some(part)) = params.get(1) {
            p.write(":");
            p.bare_attribute(&attrs::SUB_AXIS_INFO, part);
        }
    }
}

/// Declares attributes that are plain lists of others.
macro_rules! lists {
    ($($name:ident = $open:literal $element:ident $close:literal;)*) => {
        $(pub(super) mod $name {
            use super::*;

            pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
                let elements = parse_list(p, &$open[..1], &attrs::$element, &$close[..1])?;
                Ok(vec![Some(elements)])
            }

            pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
                print_list(p, $open, &attrs::$element, list(params, 0), $close);
            }
        })*
    };
}

lists! {
    axis_ref_list = "{" AXIS_REF "}";
    list_of_axis_ref_lists = "[" AXIS_REF_LIST "]";
    tensor_mapping = "[" DIM_MAPPING "]";
    all_to_all_param_list = "[" ALL_TO_ALL_PARAM "]";
}

pub(super) mod manual_axes {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("{")?;
        let mut axes = Vec::new();
        p.list_until("}", |p| {
            axes.push(Attribute::string(p.string_bytes()?));
            Ok(())
        })?;
        Ok(vec![Some(Attribute::array(axes))])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.write("{");
        p.separated(", ", list(params, 0), |p, axis| p.attribute(axis));
        p.write("}");
    }
}

pub(super) mod dimension_sharding {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("{")?;
        let mut axes = Vec::new();
        let mut is_closed = true;
        p.list_until("}", |p| {
            if !is_closed {
                return p.error("`?` must come last");
            }
            if p.eat("?") {
                is_closed = false;
            } else {
                axes.push(p.bare_attribute(&attrs::AXIS_REF)?);
            }
            Ok(())
        })?;
        let span = p.here();
        let mut priority = None;
        if let Some(word) = p.eat_word() {
            match word.strip_prefix('p').and_then(|digits| digits.parse::<i64>().ok()) {
                Some(number) if word == format!("p{number}") => {
                    priority = Some(Attribute::i64(number));
                }
                _ => {
                    let message = format!(
                        "expected a priority such as p1, without leading zeros, found `{word}`"
                    );
                    return p.error_at(span, message);
                }
            }
        }
        Ok(vec![Some(Attribute::array(axes)), Some(Attribute::bool(is_closed)), priority])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        let axes = list(params, 0);
        print_list(p, "{", &attrs::AXIS_REF, axes, "");
        let is_closed =
            params.get(1).and_then(Option::as_ref).and_then(|a| a.as_bool()).unwrap_or(true);
        if !is_closed {
            p.write(if axes.is_empty() { "?" } else { ", ?" });
        }
        p.write("}");
        if let Some(priority) = int(params, 2) {
            p.number(format_args!("p{priority}"));
        }
    }
}

pub(super) mod sharding {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("<")?;
        let mesh = if p.eat("mesh") { p.bare_attribute(&attrs::MESH)? } else { p.attribute(None)? };
        p.expect(",")?;
        let dims = parse_list(p, "[", &attrs::DIMENSION_SHARDING, "]")?;
        let (mut replicated, mut unreduced, mut reduction) = (none(), none(), SUM);
        while p.eat(",") {
            let span = p.here();
            let word = p.word("`replicated` or `unreduced`")?;
            let axes = match word {
                "replicated" => &mut replicated,
                "unreduced" => &mut unreduced,
                other => {
                    return p.error_at(
                        span,
                        format!("expected `replicated` or `unreduced`, found `{other}`"),
                    );
                }
            };
            if axes.as_array().is_some_and(|axes| !axes.is_empty()) {
                return p.error_at(span, format!("`{word}` is given twice"));
            }
            if word == "replicated" {
                p.expect("=")?;
            } else if p.eat("=") {
                let found = REDUCTION_OP.cases.iter().find(|(_, name)| p.eat(name));
                reduction = found.map_or(SUM, |&(number, _)| number as i64);
            }
            let span = p.here();
            *axes = parse_list(p, "{", &attrs::AXIS_REF, "}")?;
            if axes.as_array().is_some_and(<[Attribute]>::is_empty) {
                return p.error_at(
                    p.span_from(span),
                    format!("`{word}` must name an axis, or be left out"),
                );
            }
        }
        p.expect(">")?;
        let reduction = (reduction != SUM).then(|| Attribute::i64(reduction));
        Ok(vec![Some(mesh), Some(dims), Some(replicated), Some(unreduced), reduction])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.write("<");
        if let Some(Some(mesh)) = params.first() {
            if mesh.as_dialect(&attrs::MESH).is_some() {
                p.write("mesh");
            }
            p.bare_attribute(&attrs::MESH, mesh);
        }
        print_list(p, ", [", &attrs::DIMENSION_SHARDING, list(params, 1), "]");
        for (name, axes, reduction) in
            [("replicated", list(params, 2), None), ("unreduced", list(params, 3), int(params, 4))]
        {
            if !axes.is_empty() {
                let reduction = reduction.filter(|&number| number != SUM);
                p.number(format_args!(", {name}={}", reduction.map_or("", attrs::reduction_name)));
                print_list(p, "{", &attrs::AXIS_REF, axes, "}");
            }
        }
        p.write(">");
    }
}

pub(super) mod sharding_per_value {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("<")?;
        let shardings = parse_list(p, "[", &attrs::SHARDING, "]")?;
        p.expect(">")?;
        Ok(vec![Some(shardings)])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        print_list(p, "<[", &attrs::SHARDING, list(params, 0), "]>");
    }
}

/// Reads `[<…>, <…>]`: one sharding for each of several values.
pub(crate) fn parse_shardings_list(p: &mut Parser<'_>) -> Parsed<Attribute> {
    let shardings = parse_list(p, "[", &attrs::SHARDING, "]")?;
    Ok(Attribute::dialect(&attrs::SHARDING_PER_VALUE, vec![Some(shardings)]))
}

pub(crate) fn print_shardings_list(p: &mut Printer<'_>, shardings: &Attribute) {
    let params = shardings.as_dialect(&attrs::SHARDING_PER_VALUE).unwrap_or(&[]);
    print_list(p, "[", &attrs::SHARDING, list(params, 0), "]");
}

/// Reads such a list into the attribute slot named by `args`.
pub(super) fn parse_shardings(
    p: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let &[DirectiveArg::Attribute(slot)] = args else { return Ok(()) };
    state.properties[slot] = Some(parse_shardings_list(p)?);
    Ok(())
}

pub(super) fn print_shardings(p: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let &[DirectiveArg::Attribute(slot)] = args else { return };
    if let Some(shardings) = op.property(slot) {
        print_shardings_list(p, shardings);
    }
}

/// Factors are named `i` to `z`, then `z_1`, `z_2` and so on.
const LETTERS: i64 = 18;

/// The name of a factor.
pub(super) fn factor_name(factor: i64) -> String {
    match u8::try_from(factor) {
        Ok(n) if factor < LETTERS => ((b'i' + n) as char).to_string(),
        _ => format!("z_{}", factor.saturating_sub(LETTERS - 1)),
    }
}

/// The factors named by a word such as `ijz_2`; `None` if the word is invalid.
fn factors(word: &str) -> Option<Vec<i64>> {
    let mut out = Vec::new();
    let mut rest = word;
    while let Some(letter) = rest.bytes().next() {
        rest = &rest[1..];
        let letter = i64::from(letter.checked_sub(b'i').filter(|n| i64::from(*n) < LETTERS)?);
        match rest.strip_prefix('_').filter(|_| letter == LETTERS - 1) {
            None => out.push(letter),
            Some(number) => {
                let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
                let number_after = number[..end].parse::<u32>().ok().filter(|n| *n > 0)?;
                out.push(LETTERS - 1 + i64::from(number_after));
                rest = &number[end..];
            }
        }
    }
    Some(out)
}

/// Reads a non-empty list of factor names.
fn parse_factors(p: &mut Parser<'_>) -> Parsed<Vec<i64>> {
    let span = p.here();
    let word = p.word("factors such as i or jk")?;
    match factors(word).filter(|f| !f.is_empty()) {
        Some(factors) => Ok(factors),
        None => p.error_at(
            span,
            format!("`{word}` names no factors: those are i to z, then z_1, z_2 and so on"),
        ),
    }
}

pub(super) mod dim_mapping {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        Ok(vec![Some(Attribute::i64_array(parse_factors(p)?))])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.separated("", ints(params, 0), |p, &factor| p.number(factor_name(factor)));
    }
}

pub(super) mod op_sharding_rule {
    use super::*;

    /// Names of the lists of factors, in the order of the parameters from the fourth on.
    const KINDS: [&str; 4] =
        ["reduction", "need_replication", "permutation", "blocked_propagation"];

    /// Reads the factors of operands or results, of which there must be one.
    fn parse_mappings(p: &mut Parser<'_>) -> Parsed<Attribute> {
        let span = p.here();
        let mappings = parse_list(p, "(", &attrs::TENSOR_MAPPING, ")")?;
        match mappings.as_array() {
            Some([]) => p.error_at(p.span_from(span), "a rule needs an operand and a result"),
            _ => Ok(mappings),
        }
    }

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("<")?;
        let operands = parse_mappings(p)?;
        p.expect("->")?;
        let results = parse_mappings(p)?;
        let mut sizes = Vec::new();
        if p.eat("{") {
            p.list_until("}", |p| {
                let span = p.here();
                if parse_factors(p)? != [sizes.len() as i64] {
                    return p.error_at(
                        span,
                        "sizes must be given for i, j, k and so on, in that order",
                    );
                }
                p.expect("=")?;
                sizes.push(p.integer()?);
                Ok(())
            })?;
        }
        let mut params = vec![Some(Attribute::i64_array(sizes)), Some(operands), Some(results)];
        for kind in KINDS {
            let mut list = Vec::new();
            if p.eat(kind) {
                p.expect("=")?;
                p.expect("{")?;
                p.list_until("}", |p| {
                    list.extend(parse_factors(p)?);
                    Ok(())
                })?;
            }
            params.push(Some(Attribute::i64_array(list)));
        }
        let is_custom = p.eat(",");
        if is_custom {
            p.expect("custom")?;
        }
        params.push(Some(Attribute::bool(is_custom)));
        p.expect(">")?;
        Ok(params)
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        print_list(p, "<(", &attrs::TENSOR_MAPPING, list(params, 1), ")->");
        print_list(p, "(", &attrs::TENSOR_MAPPING, list(params, 2), ")");
        let sizes = ints(params, 0);
        if !sizes.is_empty() {
            p.write(" {");
            p.separated(", ", (0..).zip(sizes), |p, (factor, size)| {
                p.number(factor_name(factor));
                p.number(format_args!("={size}"));
            });
            p.write("}");
        }
        for (i, kind) in KINDS.iter().enumerate() {
            let factors = ints(params, 3 + i);
            if !factors.is_empty() {
                p.number(format_args!(" {kind}={{"));
                p.separated(", ", factors, |p, &factor| p.number(factor_name(factor)));
                p.write("}");
            }
        }
        if params.get(7).and_then(Option::as_ref).is_some_and(|a| a.as_bool() == Some(true)) {
            p.write(", custom");
        }
        p.write(">");
    }
}

pub(super) mod all_to_all_param {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        let axes = parse_list(p, "{", &attrs::AXIS_REF, "}")?;
        p.expect(":")?;
        let source = p.integer()?;
        p.expect("->")?;
        Ok(vec![Some(axes), Some(Attribute::i64(source)), Some(Attribute::i64(p.integer()?))])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        print_list(p, "{", &attrs::AXIS_REF, list(params, 0), "}");
        p.number(format_args!(
            ": {}->{}",
            int(params, 1).unwrap_or(0),
            int(params, 2).unwrap_or(0)
        ));
    }
}

pub(super) mod edge_value_ref {
    use super::*;
    use crate::sdy::EDGE_NODE_TYPE;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        let kind = p.enum_value(&EDGE_NODE_TYPE)?;
        p.expect("-")?;
        let kind = Attribute::enumeration(&EDGE_NODE_TYPE, kind);
        Ok(vec![Some(kind), Some(Attribute::i64(p.integer()?))])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        let kind = params.first().and_then(|kind| kind.as_ref()?.as_enum(&EDGE_NODE_TYPE));
        p.enum_value(&EDGE_NODE_TYPE, kind.unwrap_or(0));
        p.number(format_args!("-{}", int(params, 1).unwrap_or(0)));
    }
}

pub(super) mod axis_to_propagation_details {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("{")?;
        let axis = p.bare_attribute(&attrs::AXIS_REF)?;
        p.expect("=")?;
        let source = p.bare_attribute(&attrs::EDGE_VALUE_REF)?;
        p.expect("->")?;
        let targets = parse_some(p, &attrs::EDGE_VALUE_REF, "a value")?;
        p.expect("}")?;
        Ok(vec![Some(axis), Some(source), Some(targets)])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.write("{");
        if let [Some(axis), Some(source), _] = params {
            p.bare_attribute(&attrs::AXIS_REF, axis);
            p.write(" = ");
            p.bare_attribute(&attrs::EDGE_VALUE_REF, source);
        }
        print_list(p, " -> [", &attrs::EDGE_VALUE_REF, list(params, 2), "]}");
    }
}

pub(super) mod propagation_one_step {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("{")?;
        p.expect("step")?;
        p.expect("-")?;
        let step = p.integer()?;
        p.expect("=")?;
        let entries = parse_some(p, &attrs::AXIS_TO_PROPAGATION_DETAILS, "an axis")?;
        p.expect("}")?;
        Ok(vec![Some(Attribute::i64(step)), Some(entries)])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        p.number(format_args!("{{step-{} = ", int(params, 0).unwrap_or(0)));
        print_list(p, "[", &attrs::AXIS_TO_PROPAGATION_DETAILS, list(params, 1), "]}");
    }
}

pub(super) mod propagation_edges {
    use super::*;

    pub(crate) fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
        p.expect("<")?;
        let steps = parse_some(p, &attrs::PROPAGATION_ONE_STEP, "a step")?;
        p.expect(">")?;
        Ok(vec![Some(steps)])
    }

    pub(crate) fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
        print_list(p, "<[", &attrs::PROPAGATION_ONE_STEP, list(params, 0), "]>");
    }
}
