//! The `custom<…>` directives of the dialect's assembly formats: abbreviated types and attributes.

use crate::attrs::{DOT_ALGORITHM, DOT_DIMENSION_NUMBERS};
use crate::compat;
use crate::enums::PRECISION;
use mlir::ods::CustomDirective;
use mlir::ods::DirectiveArg::{self, Attribute as AttrArg, Operand, OperandType, ResultType};
use mlir::text::{OpState, Parsed, Parser};
use mlir::{Attribute, Type, TypeKind};

mod convolution;

pub use convolution::{parse_conv_dims, print_conv_dims};

/// The directives, in alphabetical order.
pub static DIRECTIVES: &[CustomDirective] = &[
    CustomDirective { name: "ComplexOpType", parse: parse_complex_type, print: |_, _, _| {} },
    CustomDirective { name: "ConvolutionDimensions", parse: convolution::parse_dimensions, print: |_, _, _| {} },
    CustomDirective { name: "CustomCallTarget", parse: parse_call_target, print: |_, _, _| {} },
    CustomDirective { name: "DotDimensionNumbers", parse: parse_dot_dims, print: |_, _, _| {} },
    CustomDirective { name: "ExponentMantissa", parse: parse_exponent_mantissa, print: |_, _, _| {} },
    CustomDirective { name: "PairwiseOpType", parse: parse_pairwise_types, print: |_, _, _| {} },
    CustomDirective { name: "PrecisionConfig", parse: parse_precision, print: |_, _, _| {} },
    CustomDirective { name: "PrecisionConfigAndAlgorithm", parse: parse_precision_and_algorithm, print: |_, _, _| {} },
    CustomDirective { name: "SameOperandsAndResultType", parse: parse_same_type, print: |_, _, _| {} },
    CustomDirective { name: "SelectOpType", parse: parse_select_types, print: |_, _, _| {} },
    CustomDirective { name: "SliceRanges", parse: parse_slice_ranges, print: |_, _, _| {} },
    CustomDirective { name: "TupleOpType", parse: parse_tuple_type, print: |_, _, _| {} },
    CustomDirective { name: "VariadicOperandWithAttribute", parse: parse_operands_with_comma, print: |_, _, _| {} },
    CustomDirective { name: "VariadicSameOperandsAndResultType", parse: parse_same_type, print: |_, _, _| {} },
    CustomDirective { name: "WindowAttributes", parse: convolution::parse_window, print: |_, _, _| {} },
];

/// Gives the attribute slots that `args` name their values, in order.
fn set_attributes(state: &mut OpState, args: &[DirectiveArg], values: impl IntoIterator<Item = Option<Attribute>>) {
    for (arg, value) in args.iter().zip(values) {
        if let AttrArg(slot) = arg {
            state.properties[*slot] = value;
        }
    }
}

/// Gives the operand and result slots that `args` name their types. `types` are those of all operands, then of the result.
fn set_types(state: &mut OpState, args: &[DirectiveArg], types: Vec<Type>) {
    let mut types = types.into_iter();
    for arg in args {
        match *arg {
            OperandType(slot) => {
                let count = state.operands[slot].len();
                state.operand_types[slot] = Some(types.by_ref().take(count).collect());
            }
            ResultType(slot) => state.result_types[slot] = Some(types.by_ref().take(1).collect()),
            _ => {}
        }
    }
}

/// Number of operands whose types `args` name.
fn num_operands(state: &OpState, args: &[DirectiveArg]) -> usize {
    let count = |arg: &DirectiveArg| if let OperandType(slot) = arg { state.operands[*slot].len() } else { 0 };
    args.iter().map(count).sum()
}

/// The operand types and the result type of a function type of `inputs` inputs and one result.
fn signature(parser: &mut Parser<'_>, ty: &Type, inputs: usize) -> Parsed<Option<Vec<Type>>> {
    let Some((operands, results)) = ty.as_function() else { return Ok(None) };
    if operands.len() != inputs || results.len() != 1 {
        let message = format!("the type must have {inputs} inputs and 1 result; found {ty}");
        return parser.error(message);
    }
    Ok(Some([operands, results].concat()))
}

/// `T` if all operands and the result have that type, else `(T, U) -> V`.
fn parse_same_type(parser: &mut Parser<'_>, state: &mut OpState, args: &[DirectiveArg]) -> Parsed<()> {
    let ty = parser.ty()?;
    let operands = num_operands(state, args);
    let types = match signature(parser, &ty, operands)? {
        Some(types) => types,
        None => vec![ty; operands + 1],
    };
    set_types(state, args, types);
    Ok(())
}

/// The complex result type if it implies the types of the parts, else `(T, U) -> V`.
fn parse_complex_type(parser: &mut Parser<'_>, state: &mut OpState, args: &[DirectiveArg]) -> Parsed<()> {
    let start = parser.here();
    let ty = parser.ty()?;
    let types = match signature(parser, &ty, 2)? {
        Some(types) => types,
        None => match part_type(&ty) {
            Some(part) => vec![part.clone(), part, ty],
            None => {
                let message = format!("expected a tensor of complex numbers or a function type; found {ty}");
                return parser.error_at(parser.span_from(start), message);
            }
        },
    };
    set_types(state, args, types);
    Ok(())
}

/// The type of the real parts of a tensor of complex numbers.
fn part_type(ty: &Type) -> Option<Type> {
    match &**ty.element_type() {
        TypeKind::Complex(part) if ty.is_shaped() => Some(compat::with_element(ty, part.clone())),
        _ => None,
    }
}

/// `predicate, T` if both choices have the result's type, else `(P, T, U) -> V`.
fn parse_select_types(parser: &mut Parser<'_>, state: &mut OpState, args: &[DirectiveArg]) -> Parsed<()> {
    let ty = parser.ty()?;
    let types = match signature(parser, &ty, 3)? {
        Some(types) => types,
        None => {
            parser.expect(",")?;
            let choice = parser.ty()?;
            vec![ty, choice.clone(), choice.clone(), choice]
        }
    };
    set_types(state, args, types);
    Ok(())
}

/// The tuple type, which tells the types of the operands.
fn parse_tuple_type(parser: &mut Parser<'_>, state: &mut OpState, args: &[DirectiveArg]) -> Parsed<()> {
    let start = parser.here();
    let ty = parser.ty()?;
    let Some(elements) = ty.as_tuple() else {
        return parser.error_at(parser.span_from(start), format!("expected a tuple type; found {ty}"));
    };
    let elements = elements.to_vec();
    if let [OperandType(operands), ResultType(result)] = *args {
        state.operand_types[operands] = Some(elements);
        state.result_types[result] = Some(vec![ty]);
    }
    Ok(())
}

/// `T, U`: the types of the operands and, the same, of the results.
fn parse_pairwise_types(parser: &mut Parser<'_>, state: &mut OpState, args: &[DirectiveArg]) -> Parsed<()> {
    let mut types = Vec::new();
    parser.comma_separated(|p| {
        types.push(p.ty()?);
        Ok(())
    })?;
    if let [OperandType(operands), ResultType(results)] = *args {
        state.operand_types[operands] = Some(types.clone());
        state.result_types[results] = Some(types);
    }
    Ok(())
}

/// `%a, %b,`: operands, each followed by a comma.
fn parse_operands_with_comma(parser: &mut Parser<'_>, state: &mut OpState, args: &[DirectiveArg]) -> Parsed<()> {
    let [Operand(slot)] = *args else { return Ok(()) };
    while let Some(operand) = parser.optional_operand()? {
        state.operands[slot].push(operand);
        parser.expect(",")?;
    }
    Ok(())
}

/// `[start:limit:stride, …]`, where a stride of 1 is not written.
fn parse_slice_ranges(parser: &mut Parser<'_>, state: &mut OpState, args: &[DirectiveArg]) -> Parsed<()> {
    let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    parser.expect("[")?;
    parser.list_until("]", |p| {
        starts.push(p.integer()?);
        p.expect(":")?;
        limits.push(p.integer()?);
        strides.push(if p.eat(":") { p.integer()? } else { 1 });
        Ok(())
    })?;
    set_attributes(state, args, [starts, limits, strides].map(|list| Some(Attribute::i64_array(list))));
    Ok(())
}

/// `@target`
fn parse_call_target(parser: &mut Parser<'_>, state: &mut OpState, args: &[DirectiveArg]) -> Parsed<()> {
    let name = parser.symbol_name()?;
    set_attributes(state, args, [Some(Attribute::string(&*name))]);
    Ok(())
}

/// `e8m23`
fn parse_exponent_mantissa(parser: &mut Parser<'_>, state: &mut OpState, args: &[DirectiveArg]) -> Parsed<()> {
    let start = parser.here();
    let word = parser.word("a format such as e8m23")?;
    let bits = word.strip_prefix('e').and_then(|w| w.split_once('m'));
    let number = |digits: &str| digits.parse::<i32>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
    let Some((exponent, mantissa)) = bits.and_then(|(e, m)| Some((number(e)?, number(m)?))) else {
        return parser.error_at(start, format!("expected a format such as e8m23; found `{word}`"));
    };
    set_attributes(state, args, [exponent, mantissa].map(|n| Some(Attribute::i32(n))));
    Ok(())
}

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`, where batching dimensions are optional.
fn parse_dot_dims(parser: &mut Parser<'_>, state: &mut OpState, args: &[DirectiveArg]) -> Parsed<()> {
    let pair = |p: &mut Parser<'_>| -> Parsed<(Vec<i64>, Vec<i64>)> {
        p.expect("=")?;
        let lhs = p.i64_list()?;
        p.expect("x")?;
        Ok((lhs, p.i64_list()?))
    };
    let (mut lhs_batching, mut rhs_batching) = (Vec::new(), Vec::new());
    if parser.eat("batching_dims") {
        (lhs_batching, rhs_batching) = pair(parser)?;
        parser.expect(",")?;
    }
    parser.expect("contracting_dims")?;
    let (lhs_contracting, rhs_contracting) = pair(parser)?;
    let params = [lhs_batching, rhs_batching, lhs_contracting, rhs_contracting];
    let params = params.map(|list| Some(Attribute::i64_array(list))).to_vec();
    set_attributes(state, args, [Some(Attribute::dialect(&DOT_DIMENSION_NUMBERS, params))]);
    Ok(())
}

/// `, precision = [HIGH, DEFAULT]`, or nothing.
fn parse_precision(parser: &mut Parser<'_>, state: &mut OpState, args: &[DirectiveArg]) -> Parsed<()> {
    if parser.eat(",") {
        let precision = parse_precision_list(parser)?;
        set_attributes(state, args, [Some(precision)]);
    }
    Ok(())
}

fn parse_precision_list(parser: &mut Parser<'_>) -> Parsed<Attribute> {
    parser.expect("precision")?;
    parser.expect("=")?;
    parser.expect("[")?;
    let mut cases = Vec::new();
    parser.list_until("]", |p| {
        cases.push(Attribute::enumeration(&PRECISION, p.enum_value(&PRECISION)?));
        Ok(())
    })?;
    Ok(Attribute::array(cases))
}

/// `, precision = […], algorithm = <…>`, or one of them, or nothing.
fn parse_precision_and_algorithm(parser: &mut Parser<'_>, state: &mut OpState, args: &[DirectiveArg]) -> Parsed<()> {
    let (mut precision, mut algorithm) = (None, None);
    let mut more = parser.eat(",");
    if more && parser.at("precision") {
        precision = Some(parse_precision_list(parser)?);
        more = parser.eat(",");
    }
    if more {
        parser.expect("algorithm")?;
        parser.expect("=")?;
        algorithm = Some(parser.bare_attribute(&DOT_ALGORITHM)?);
    }
    set_attributes(state, args, [precision, algorithm]);
    Ok(())
}
