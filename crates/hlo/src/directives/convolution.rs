//! Abbreviated dimension numbers and windows of convolutions.

use super::{attribute, set_attributes};
use crate::attrs::{CONV_DIMENSION_NUMBERS, ConvDims, ints};
use mlir::diag::Span;
use mlir::ods::DirectiveArg;
use mlir::text::{OpState, Parsed, Parser, Printer};
use mlir::{Attribute, OpRef};

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
pub(super) fn parse_dimensions(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let params = parse_compact(parser, Unnamed::of(state.def.dialect()))?;
    set_attributes(state, args, [Some(Attribute::dialect(&CONV_DIMENSION_NUMBERS, params))]);
    Ok(())
}

/// The dimensions that no number names: MHLO writes `?` for them, StableHLO has none.
#[derive(Clone, Copy, PartialEq)]
pub enum Unnamed {
    /// `?` is an error, and dimension numbers that leave one out have no abbreviation.
    Refused,
    /// `?` stands for one.
    Written,
}

impl Unnamed {
    /// The syntax of the ops of a dialect.
    fn of(dialect: &str) -> Unnamed {
        if dialect == "mhlo" { Unnamed::Written } else { Unnamed::Refused }
    }
}

/// Reads the parameters of `#stablehlo.conv`: the abbreviation in brackets, or
/// `<raw name = value, …>`.
///
/// # Errors
/// If something else comes next.
pub fn parse_conv_dims(
    parser: &mut Parser<'_>,
    unnamed: Unnamed,
) -> Parsed<Vec<Option<Attribute>>> {
    parser.expect("<")?;
    if parser.eat("raw") {
        return parser.struct_params(CONV_DIMENSION_NUMBERS.params, ">");
    }
    let params = parse_compact(parser, unnamed)?;
    parser.expect(">")?;
    Ok(params)
}

fn parse_compact(parser: &mut Parser<'_>, unnamed: Unnamed) -> Parsed<Vec<Option<Attribute>>> {
    let input = parse_tensor(parser, ["b", "f"], unnamed)?;
    parser.expect("x")?;
    let kernel = parse_tensor(parser, ["i", "o"], unnamed)?;
    parser.expect("->")?;
    let output = parse_tensor(parser, ["b", "f"], unnamed)?;
    Ok([input, kernel, output].into_iter().flatten().map(Some).collect())
}

/// The dimensions of one tensor: the positions of its two named dimensions, then the spatial ones
/// in order.
fn parse_tensor(
    parser: &mut Parser<'_>,
    names: [&str; 2],
    unnamed: Unnamed,
) -> Parsed<[Attribute; 3]> {
    let start = parser.here();
    parser.expect("[")?;
    let mut named = [None; 2];
    let mut spatial: Vec<(i64, i64, Span)> = Vec::new();
    let mut position = 0;
    parser.list_until("]", |p| {
        let at = p.here();
        if p.eat("?") {
            if unnamed == Unnamed::Refused {
                let [first, second] = names;
                let message = format!(
                    "only MHLO has unknown dimensions; expected a number, {first} or {second}"
                );
                return p.error_at(at, message);
            }
            position += 1;
            return Ok(());
        }
        let repeated = match p.eat_word() {
            Some(word) => match names.iter().position(|n| *n == word) {
                Some(i) => named[i].replace(position).map(|_| word.to_string()),
                None => {
                    let message = format!(
                        "unknown dimension `{word}`; expected a number, {} or {}",
                        names[0], names[1]
                    );
                    return p.error_at(at, message);
                }
            },
            None => {
                let dim = p.integer()?;
                let repeated = spatial.iter().any(|s| s.0 == dim);
                spatial.push((dim, position, at));
                repeated.then(|| dim.to_string())
            }
        };
        if let Some(name) = repeated {
            return p.error_at(at, format!("dimension `{name}` is given twice"));
        }
        position += 1;
        Ok(())
    })?;
    spatial.sort_by_key(|s| s.0);
    // No number is repeated, so the sorted ones must be 0, 1, 2, ….
    if let Some((i, wrong)) = spatial.iter().enumerate().find(|(i, s)| s.0 != *i as i64) {
        return parser.error_at(wrong.2, format!("spatial dimension {i} is missing"));
    }
    let [Some(first), Some(second)] = named else {
        let missing = if named[0].is_none() { names[0] } else { names[1] };
        return parser
            .error_at(parser.span_from(start), format!("dimension `{missing}` is missing"));
    };
    let spatial: Vec<i64> = spatial.iter().map(|s| s.1).collect();
    Ok([Attribute::i64(first), Attribute::i64(second), Attribute::i64_array(spatial)])
}

pub(super) fn print_dimensions(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let unnamed = Unnamed::of(op.def().map_or("", |def| def.dialect()));
    let dims = attribute(op, args.first()).and_then(ConvDims::of);
    match dims.and_then(|dims| compact(&dims, unnamed)) {
        Some(text) => printer.write(&text),
        None => printer.write("[]x[]->[]"),
    }
}

/// Writes the parameters of `#stablehlo.conv` in brackets: the abbreviation, or `<raw name = value,
/// …>` if the numbers are not a permutation of the dimensions.
pub fn print_conv_dims(printer: &mut Printer<'_>, params: &[Option<Attribute>]) {
    printer.write("<");
    match compact(&ConvDims::from_params(params), Unnamed::Refused) {
        Some(text) => printer.write(&text),
        None => {
            printer.write("raw ");
            printer.struct_params(CONV_DIMENSION_NUMBERS.params, params);
        }
    }
    printer.write(">");
}

/// The abbreviation, if the numbers of each of the three tensors are a permutation of its
/// dimensions, or of some of them where others may be unnamed.
fn compact(dims: &ConvDims<'_>, unnamed: Unnamed) -> Option<String> {
    let input = tensor_text(
        [("b", dims.input_batch_dimension), ("f", dims.input_feature_dimension)],
        dims.input_spatial_dimensions,
        unnamed,
    )?;
    let kernel = tensor_text(
        [("i", dims.kernel_input_feature_dimension), ("o", dims.kernel_output_feature_dimension)],
        dims.kernel_spatial_dimensions,
        unnamed,
    )?;
    let output = tensor_text(
        [("b", dims.output_batch_dimension), ("f", dims.output_feature_dimension)],
        dims.output_spatial_dimensions,
        unnamed,
    )?;
    Some(format!("{input}x{kernel}->{output}"))
}

/// The greatest number of dimensions that is written with `?`; no tensor has more.
const MAX_WRITTEN: i64 = 1000;

fn tensor_text(named: [(&str, i64); 2], spatial: &[i64], unnamed: Unnamed) -> Option<String> {
    let last = named.iter().map(|(_, position)| position).chain(spatial).max()?;
    let len = match unnamed {
        Unnamed::Refused => spatial.len() + 2,
        Unnamed::Written if *last >= MAX_WRITTEN => return None,
        Unnamed::Written => usize::try_from(last + 1).ok()?,
    };
    let mut out = vec![None; len];
    let numbered = spatial.iter().enumerate().map(|(i, &position)| (i.to_string(), position));
    for (text, position) in named.into_iter().map(|(n, p)| (n.to_string(), p)).chain(numbered) {
        let slot = out.get_mut(usize::try_from(position).ok()?)?;
        if slot.replace(text).is_some() {
            return None;
        }
    }
    let texts: Option<Vec<String>> = match unnamed {
        Unnamed::Refused => out.into_iter().collect(),
        Unnamed::Written => Some(out.into_iter().map(|t| t.unwrap_or("?".into())).collect()),
    };
    Some(format!("[{}]", texts?.join(", ")))
}

/// Names of the attributes in the syntax of a window.
const WINDOW: [&str; 5] = ["stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"];

/// `stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = …, rhs_dilate = …, reverse = [0, 1]`: any
/// subset in any order.
pub(super) fn parse_window(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let mut values: [Option<Attribute>; 5] = Default::default();
    loop {
        let at = parser.here();
        let Some(name) = parser.eat_word() else { break };
        let Some(i) = WINDOW.iter().position(|w| *w == name) else {
            return parser
                .error_at(at, format!("unknown `{name}`; known are {}", WINDOW.join(", ")));
        };
        if values[i].is_some() {
            return parser.error_at(at, format!("`{name}` is given twice"));
        }
        parser.expect("=")?;
        values[i] = Some(match name {
            "pad" => parse_padding(parser)?,
            "reverse" => parse_reversal(parser)?,
            _ => {
                let values = parser.i64_list()?;
                parser.i64_array(&values)
            }
        });
        if !parser.eat(",") {
            break;
        }
    }
    set_attributes(state, args, values);
    Ok(())
}

/// `[[low, high], …]`
fn parse_padding(parser: &mut Parser<'_>) -> Parsed<Attribute> {
    let start = parser.here();
    parser.expect("[")?;
    let mut values = Vec::new();
    parser.list_until("]", |p| {
        let at = p.here();
        let pair = p.i64_list()?;
        if pair.len() != 2 {
            return p.error_at(
                p.span_from(at),
                format!("padding is two numbers a dimension; found {}", pair.len()),
            );
        }
        values.extend(pair);
        Ok(())
    })?;
    match Attribute::i64_elements(&[values.len() as i64 / 2, 2], &values) {
        Some(padding) => Ok(padding),
        None => parser.error_at(parser.span_from(start), "padding of this size cannot be stored"),
    }
}

/// `[true, false]` or `[1, 0]`
fn parse_reversal(parser: &mut Parser<'_>) -> Parsed<Attribute> {
    parser.expect("[")?;
    let mut values = Vec::new();
    parser.list_until("]", |p| {
        values.push(if p.eat("true") {
            true
        } else if p.eat("false") {
            false
        } else {
            p.integer()? != 0
        });
        Ok(())
    })?;
    Ok(Attribute::bool_array(values))
}

pub(super) fn print_window(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let given = WINDOW
        .into_iter()
        .zip(args)
        .filter_map(|(name, arg)| Some((name, attribute(op, Some(arg))?)));
    printer.separated(", ", given, |p, (name, value)| {
        p.number(format_args!("{name} = ["));
        if name == "pad" {
            let numbers = value.as_dense().and_then(|d| d.int_values()).unwrap_or_default();
            p.separated(", ", numbers.chunks(2), |p, pair| p.number(format_args!("{pair:?}")));
        } else if name == "reverse" {
            p.separated(", ", ints(Some(value)), |p, &flag| {
                p.write(if flag != 0 { "true" } else { "false" })
            });
        } else {
            p.separated(", ", ints(Some(value)), |p, n| p.number(n));
        }
        p.write("]");
    });
}
