//! The `custom<…>` directives of the dialect's assembly formats: abbreviated types and attributes.

use crate::attrs::{DOT_ALGORITHM, DOT_DIMENSION_NUMBERS, DotDims, integer, ints};
use crate::compat;
use crate::enums::PRECISION;
use mlir::diag::counted;
use mlir::ods::CustomDirective;
use mlir::ods::DirectiveArg::{self, Attribute as AttrArg, Operand, OperandType, ResultType};
use mlir::text::{OpState, Parsed, Parser, Printer, TypeList};
use mlir::{Attribute, OpRef, Type, TypeKind};

mod convolution;

pub use convolution::{Unnamed, parse_conv_dims, print_conv_dims};

/// The directives, in alphabetical order.
pub static DIRECTIVES: &[CustomDirective] = &[
    CustomDirective { name: "ComplexOpType", parse: parse_complex_type, print: print_complex_type },
    CustomDirective {
        name: "ConvolutionDimensions",
        parse: convolution::parse_dimensions,
        print: convolution::print_dimensions,
    },
    CustomDirective {
        name: "CustomCallTarget",
        parse: parse_call_target,
        print: print_call_target,
    },
    CustomDirective { name: "DotDimensionNumbers", parse: parse_dot_dims, print: print_dot_dims },
    CustomDirective {
        name: "ExponentMantissa",
        parse: parse_exponent_mantissa,
        print: print_exponent_mantissa,
    },
    CustomDirective {
        name: "PairwiseOpType",
        parse: parse_pairwise_types,
        print: print_operand_types,
    },
    CustomDirective { name: "PrecisionConfig", parse: parse_precision, print: print_precision },
    CustomDirective {
        name: "PrecisionConfigAndAlgorithm",
        parse: parse_precision_and_algorithm,
        print: print_precision_and_algorithm,
    },
    CustomDirective {
        name: "SameOperandsAndResultType",
        parse: parse_same_type,
        print: print_same_type,
    },
    CustomDirective { name: "SelectOpType", parse: parse_select_types, print: print_select_types },
    CustomDirective { name: "SliceRanges", parse: parse_slice_ranges, print: print_slice_ranges },
    CustomDirective { name: "TupleOpType", parse: parse_tuple_type, print: print_result_type },
    CustomDirective {
        name: "VariadicOperandWithAttribute",
        parse: parse_operands_with_comma,
        print: print_operands_with_comma,
    },
    CustomDirective {
        name: "VariadicSameOperandsAndResultType",
        parse: parse_same_type,
        print: print_same_type,
    },
    CustomDirective {
        name: "WindowAttributes",
        parse: convolution::parse_window,
        print: convolution::print_window,
    },
];

/// Sets the attribute slots in `args`, in order.
fn set_attributes(
    state: &mut OpState,
    args: &[DirectiveArg],
    values: impl IntoIterator<Item = Option<Attribute>>,
) {
    for (arg, value) in args.iter().zip(values) {
        if let AttrArg(slot) = arg {
            state.properties[*slot] = value;
        }
    }
}

/// Sets the types of the operand and result slots in `args`. `types` are those of all operands,
/// then of the result.
fn set_types(state: &mut OpState, args: &[DirectiveArg], types: impl IntoIterator<Item = Type>) {
    let mut types = types.into_iter();
    for arg in args {
        match *arg {
            OperandType(slot) => {
                let count = slot_size(state, slot);
                state.operand_types[slot] = Some(types.by_ref().take(count).collect());
            }
            ResultType(slot) => state.result_types[slot] = Some(types.by_ref().take(1).collect()),
            _ => {}
        }
    }
}

/// Number of operands in a slot. If the format reads all operands at once (`operands`), each slot
/// holds one.
fn slot_size(state: &OpState, slot: usize) -> usize {
    if state.all_operands.is_some() { 1 } else { state.operands[slot].len() }
}

/// Number of operands whose types are in `args`.
fn num_operands(state: &OpState, args: &[DirectiveArg]) -> usize {
    let count =
        |arg: &DirectiveArg| if let OperandType(slot) = arg { slot_size(state, *slot) } else { 0 };
    args.iter().map(count).sum()
}

/// The attribute that an argument refers to.
fn attribute<'m>(op: OpRef<'m>, arg: Option<&DirectiveArg>) -> Option<&'m Attribute> {
    match arg {
        Some(AttrArg(slot)) => op.property(*slot),
        _ => None,
    }
}

/// The types of the operands in `args`.
fn operand_types<'m>(op: OpRef<'m>, args: &[DirectiveArg]) -> Vec<&'m Type> {
    let types = |arg: &DirectiveArg| match arg {
        OperandType(slot) => op.operand_slot(*slot),
        _ => &[],
    };
    args.iter().flat_map(types).map(|&v| op.module().ty(v)).collect()
}

/// Reads a type. If it is a function type, which must have `inputs` inputs and one result, also
/// returns its operand types with the result type.
fn type_or_signature(parser: &mut Parser<'_>, inputs: usize) -> Parsed<(Type, Option<Vec<Type>>)> {
    let start = parser.here();
    let ty = parser.ty()?;
    let Some((operands, results)) = ty.as_function() else { return Ok((ty, None)) };
    if operands.len() != inputs || results.len() != 1 {
        let inputs = counted(inputs, "input");
        let message = format!("the type must have {inputs} and one result; found {ty}");
        return parser.error_at(parser.span_from(start), message);
    }
    let signature = [operands, results].concat();
    Ok((ty, Some(signature)))
}

/// `T` if all operands and the result have that type, else `(T, U) -> V`.
fn parse_same_type(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let operands = num_operands(state, args);
    match type_or_signature(parser, operands)? {
        (_, Some(types)) => set_types(state, args, types),
        (ty, None) => set_types(state, args, std::iter::repeat_n(ty, operands + 1)),
    }
    Ok(())
}

fn print_same_type(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    match op.result_types().next() {
        Some(result) if operand_types(op, args).iter().all(|t| *t == result) => printer.ty(result),
        _ => printer.functional_type(op),
    }
}

/// The complex result type if it implies the types of the parts, else `(T, U) -> V`.
fn parse_complex_type(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let start = parser.here();
    match type_or_signature(parser, 2)? {
        (_, Some(types)) => set_types(state, args, types),
        (ty, None) => match part_type(&ty) {
            Some(part) => set_types(state, args, [part.clone(), part, ty]),
            None => {
                let message =
                    format!("expected a tensor of complex numbers or a function type; found {ty}");
                return parser.error_at(parser.span_from(start), message);
            }
        },
    }
    Ok(())
}

/// The type of the real parts of a tensor of complex numbers.
fn part_type(ty: &Type) -> Option<Type> {
    match &**ty.element_type() {
        TypeKind::Complex(part) if ty.is_shaped() => Some(compat::with_element(ty, part.clone())),
        _ => None,
    }
}

fn print_complex_type(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let implied = op.result_types().next().and_then(|result| Some((result, part_type(result)?)));
    match implied {
        Some((result, part)) if operand_types(op, args).iter().all(|t| **t == part) => {
            printer.ty(result)
        }
        _ => printer.functional_type(op),
    }
}

/// `predicate, T` if both choices have the result's type, else `(P, T, U) -> V`.
fn parse_select_types(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    match type_or_signature(parser, 3)? {
        (_, Some(types)) => set_types(state, args, types),
        (ty, None) => {
            parser.expect(",")?;
            let choice = parser.ty()?;
            set_types(state, args, [ty, choice.clone(), choice.clone(), choice]);
        }
    }
    Ok(())
}

fn print_select_types(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    match (&operand_types(op, args)[..], op.result_types().next()) {
        (&[predicate, on_true, on_false], Some(result))
            if on_true == result && on_false == result =>
        {
            printer.types([predicate, result]);
        }
        _ => printer.functional_type(op),
    }
}

/// The tuple type, which implies the operand types.
fn parse_tuple_type(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let start = parser.here();
    let ty = parser.ty()?;
    let Some(elements) = ty.as_tuple() else {
        return parser
            .error_at(parser.span_from(start), format!("expected a tuple type; found {ty}"));
    };
    let elements = elements.into();
    if let [OperandType(operands), ResultType(result)] = *args {
        state.operand_types[operands] = Some(elements);
        state.set_result_type(result, ty);
    }
    Ok(())
}

fn print_result_type(printer: &mut Printer<'_>, op: OpRef<'_>, _args: &[DirectiveArg]) {
    printer.types(op.result_types());
}

/// `T, U`: the operand types, which are also the result types.
fn parse_pairwise_types(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let mut types = TypeList::new();
    parser.within("the list of types", |p| {
        p.comma_separated(|p| {
            types.push(p.ty()?);
            Ok(())
        })
    })?;
    if let [OperandType(operands), ResultType(results)] = *args {
        state.operand_types[operands] = Some(types.clone());
        state.result_types[results] = Some(types);
    }
    Ok(())
}

fn print_operand_types(printer: &mut Printer<'_>, op: OpRef<'_>, _args: &[DirectiveArg]) {
    printer.types(op.operand_types());
}

/// `%a, %b,`: operands, each followed by a comma. Without operands, accepts a single comma, which
/// upstream prints but does not read.
fn parse_operands_with_comma(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let [Operand(slot)] = *args else { return Ok(()) };
    while let Some(operand) = parser.optional_operand()? {
        state.operands[slot].push(operand);
        parser.expect(",")?;
    }
    if state.operands[slot].is_empty() {
        parser.eat(",");
    }
    Ok(())
}

fn print_operands_with_comma(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    if let [Operand(slot)] = *args {
        printer.values(op.operand_slot(slot));
        printer.write(",");
    }
}

/// `[start:limit:stride, …]`; a stride of 1 is omitted.
fn parse_slice_ranges(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let [mut starts, mut limits, mut strides] = [(); 3].map(|()| Vec::with_capacity(4));
    parser.expect("[")?;
    parser.list_until("]", |p| {
        starts.push(p.integer()?);
        p.expect(":")?;
        limits.push(p.integer()?);
        strides.push(if p.eat(":") { p.integer()? } else { 1 });
        Ok(())
    })?;
    set_attributes(
        state,
        args,
        [starts, limits, strides].map(|list| Some(parser.i64_array(&list))),
    );
    Ok(())
}

fn print_slice_ranges(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let list = |i: usize| ints(attribute(op, args.get(i)));
    let (starts, limits, strides) = (list(0), list(1), list(2));
    printer.write("[");
    if starts.len() == limits.len() && starts.len() == strides.len() {
        let ranges = starts.iter().zip(limits).zip(strides);
        printer.separated(", ", ranges, |p, ((start, limit), stride)| {
            p.number(format_args!("{start}:{limit}"));
            if *stride != 1 {
                p.number(format_args!(":{stride}"));
            }
        });
    } else {
        // Lists of different lengths are invalid; print them in a readable form that does not
        // parse.
        for (name, list) in
            [("start_indices: ", starts), (", limit_indices: ", limits), (", strides: ", strides)]
        {
            printer.write(name);
            printer.separated(", ", list, |p, n| p.number(n));
        }
    }
    printer.write("]");
}

/// `@target`
fn parse_call_target(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let name = parser.symbol_name()?;
    set_attributes(state, args, [Some(Attribute::string(&*name))]);
    Ok(())
}

fn print_call_target(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    match attribute(op, args.first()).and_then(Attribute::as_str) {
        Some(name) => printer.symbol_name(name),
        None => printer.symbol_name(""),
    }
}

/// `e8m23`
fn parse_exponent_mantissa(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let start = parser.here();
    let word = parser.word("a format such as e8m23")?;
    let bits = word.strip_prefix('e').and_then(|w| w.split_once('m'));
    let number = |digits: &str| {
        digits.parse::<i32>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))
    };
    let Some((exponent, mantissa)) = bits.and_then(|(e, m)| Some((number(e)?, number(m)?))) else {
        return parser.error_at(start, format!("expected a format such as e8m23; found `{word}`"));
    };
    set_attributes(state, args, [exponent, mantissa].map(|n| Some(Attribute::i32(n))));
    Ok(())
}

fn print_exponent_mantissa(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    for (letter, arg) in ["e", "m"].into_iter().zip(args) {
        printer.write(letter);
        printer.number(integer(attribute(op, Some(arg))));
    }
}

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`, with optional batching dimensions.
fn parse_dot_dims(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
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

fn print_dot_dims(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let Some(dims) = attribute(op, args.first()).and_then(DotDims::of) else { return };
    let mut pair = |name: &str, lhs: &[i64], rhs: &[i64]| {
        printer.number(format_args!("{name} = {lhs:?} x {rhs:?}"));
    };
    if !dims.lhs_batching_dimensions.is_empty() || !dims.rhs_batching_dimensions.is_empty() {
        pair("batching_dims", dims.lhs_batching_dimensions, dims.rhs_batching_dimensions);
        pair(
            ", contracting_dims",
            dims.lhs_contracting_dimensions,
            dims.rhs_contracting_dimensions,
        );
    } else {
        pair("contracting_dims", dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions);
    }
}

/// `, precision = [HIGH, DEFAULT]`, or nothing.
fn parse_precision(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    if parser.eat(",") {
        let precision = parse_precision_list(parser)?;
        set_attributes(state, args, [Some(precision)]);
    }
    Ok(())
}

fn print_precision(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let Some(cases) = attribute(op, args.first()).and_then(Attribute::as_array) else { return };
    printer.write(", precision = [");
    printer.separated(", ", cases, |p, case| match case.as_enum(&PRECISION) {
        Some(value) => p.enum_value(&PRECISION, value),
        None => p.attribute(case),
    });
    printer.write("]");
}

fn parse_precision_list(parser: &mut Parser<'_>) -> Parsed<Attribute> {
    parser.expect("precision")?;
    parser.expect("=")?;
    parser.expect("[")?;
    let mut cases = Vec::new();
    parser.within("the list of precisions", |p| {
        p.list_until("]", |p| {
            cases.push(Attribute::enumeration(&PRECISION, p.enum_value(&PRECISION)?));
            Ok(())
        })
    })?;
    Ok(Attribute::array(cases))
}

/// `, precision = […], algorithm = <…>`, or one of them, or nothing.
fn parse_precision_and_algorithm(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let (mut precision, mut algorithm) = (None, None);
    let mut more = parser.eat(",");
    if more && parser.at("precision") {
        precision = Some(parse_precision_list(parser)?);
        more = parser.eat(",");
    }
    if more {
        if !parser.eat("algorithm") {
            let both = precision.is_none();
            let expected = if both { "`precision` or `algorithm`" } else { "`algorithm`" };
            return parser.unexpected_name(expected, &["precision", "algorithm"]);
        }
        parser.expect("=")?;
        algorithm = Some(parser.bare_attribute(&DOT_ALGORITHM)?);
    }
    set_attributes(state, args, [precision, algorithm]);
    Ok(())
}

fn print_precision_and_algorithm(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    print_precision(printer, op, args);
    if let Some(algorithm) = attribute(op, args.get(1)) {
        printer.write(", algorithm = ");
        printer.bare_attribute(&DOT_ALGORITHM, algorithm);
    }
}
