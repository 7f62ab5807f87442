//! The func dialect: functions, calls and returns.
//!
//! Source: MLIR, "'func' Dialect".

use crate::constraints::FUNCTION;
use mlir::attrs::Dictionary;
use mlir::diag::counted;
use mlir::ods::{CustomDirective, Dialect, DirectiveArg, TypeConstraint};
use mlir::prepare::{Prepared, Preparer};
use mlir::text::{OpState, Parsed, Parser, Printer};
use mlir::verify::{nearest_symbol, suggest_symbol};
use mlir::{Attribute, OpRef, Type, Verdict, op};
use program::Primitive;
use program::primitives;

/// The func dialect.
pub static FUNC: Dialect = Dialect {
    namespace: "func",
    ops: &[CallOp::DEF, CallIndirectOp::DEF, ConstantOp::DEF, FuncOp::DEF, ReturnOp::DEF],
    directives: &[CustomDirective {
        name: "CalleeType",
        parse: parse_callee_type,
        print: print_callee_type,
    }],
    ..Dialect::EMPTY
};

op! {
    /// Calls a function by name.
    pub CallOp, "func.call" {
        operands { operands: variadic TypeConstraint::ANY }
        results { results: variadic TypeConstraint::ANY }
        attributes {
            callee: required FlatSymbolRef,
            arg_attrs: optional ArrayOf(&Dictionary),
            res_attrs: optional ArrayOf(&Dictionary),
            no_inline: optional Unit,
        }
        traits [Call("callee")]
        hooks {
            format: "$callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)",
            verify_symbols: verify_call,
            prepare: prepare_call,
        }
    }
}

fn prepare_call(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Call(primitives::Call { function: cx.function(op, CallOp(op).callee())? }))
}

fn verify_call(op: OpRef<'_>) -> Verdict {
    let name = CallOp(op).callee();
    let Some(callee) = nearest_symbol(op, name).and_then(FuncOp::cast) else {
        let error = op.error("symbol", format!("there is no function @{name} to call"));
        return Err(error.help(suggest_symbol(op, name)));
    };
    let (inputs, results) = callee.signature();
    let compare = |what: &str, found: &[&Type], expected: &[Type]| {
        if found.len() != expected.len() {
            let (found, expected) = (found.len(), expected.len());
            return Some(format!("has {found} {what}s, but @{name} has {expected}"));
        }
        let differs = found.iter().zip(expected).position(|(f, e)| *f != e)?;
        Some(format!(
            "{what} {differs} has type {}, but in @{name} it has type {}",
            found[differs], expected[differs]
        ))
    };
    let operand_types: Vec<&Type> = op.operand_types().collect();
    let result_types: Vec<&Type> = op.result_types().collect();
    let wrong = compare("operand", &operand_types, inputs)
        .or_else(|| compare("result", &result_types, results));
    if let Some(message) = wrong {
        return Err(op
            .error("call", message)
            .note(format!("@{name} is defined here"), callee.position()));
    }
    Ok(())
}

op! {
    /// Calls a function value.
    pub CallIndirectOp, "func.call_indirect" {
        operands { callee: single FUNCTION, callee_operands: variadic TypeConstraint::ANY }
        results { results: variadic TypeConstraint::ANY }
        attributes {
            arg_attrs: optional ArrayOf(&Dictionary),
            res_attrs: optional ArrayOf(&Dictionary),
        }
        hooks {
            format:
                "$callee `(` $callee_operands `)` attr-dict `:` custom<CalleeType>(type($callee))",
            verify: verify_call_indirect,
        }
    }
}

/// Reads the function type of the callee, which determines all other types.
fn parse_callee_type(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    _: &[DirectiveArg],
) -> Parsed<()> {
    let (inputs, results) = parser.function_signature()?;
    state.set_operand_type(0, Type::function(inputs.to_vec(), results.to_vec()));
    state.operand_types[1] = Some(inputs);
    state.result_types[0] = Some(results);
    Ok(())
}

fn print_callee_type(printer: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    printer.ty(op.operand_type(0));
}

fn verify_call_indirect(op: OpRef<'_>) -> Verdict {
    let Some((inputs, results)) = op.operand_type(0).as_function() else { return Ok(()) };
    if !op.operand_types().skip(1).eq(inputs) || !op.result_types().eq(results) {
        let message = format!(
            "operand or result types differ from those of the callee, {}",
            op.operand_type(0)
        );
        return Err(op.error("call", message));
    }
    Ok(())
}

op! {
    /// A function as a value.
    pub ConstantOp, "func.constant" {
        results { result: single TypeConstraint::ANY }
        attributes { value: required FlatSymbolRef }
        traits [Pure, ConstantLike]
        hooks {
            format: "attr-dict $value `:` type($result)",
            result_name: Fixed("f"),
            verify_symbols: verify_constant,
        }
    }
}

fn verify_constant(op: OpRef<'_>) -> Verdict {
    let name = ConstantOp(op).value();
    match nearest_symbol(op, name).and_then(FuncOp::cast) {
        None => return Err(op.error("symbol", format!("there is no function @{name}"))),
        Some(function) if function.function_type() != op.result_type(0) => {
            let message =
                format!("the result has another type than @{name}: {}", op.result_type(0));
            return Err(op
                .error("symbol", message)
                .note(format!("@{name} is defined here"), function.position()));
        }
        Some(_) => {}
    }
    Ok(())
}

op! {
    /// A function; without a body, the declaration of an external one.
    pub FuncOp, "func.func" {
        attributes {
            sym_name: required SymbolName,
            function_type: required Type(&FUNCTION),
            sym_visibility: optional String,
            arg_attrs: optional ArrayOf(&Dictionary),
            res_attrs: optional ArrayOf(&Dictionary),
            no_inline: optional Unit,
        }
        regions { body: any }
        traits [IsolatedFromAbove, Symbol, DefaultDialect("func")]
        hooks {
            parse: parse_func,
            print: print_func,
            verify: verify_func,
            verify_symbols: verify_value_attributes,
        }
    }
}

impl<'m> FuncOp<'m> {
    /// Types of the arguments and results. Empty for an op that does not satisfy its declaration.
    pub fn signature(self) -> (&'m [Type], &'m [Type]) {
        self.function_type().as_function().unwrap_or((&[], &[]))
    }

    /// True if there is no body.
    pub fn is_declaration(self) -> bool {
        self.module().blocks(self.body()).is_empty()
    }
}

/// Reads `visibility? @name(arguments) -> results attributes {…} body?`, also for function-like ops
/// of other dialects.
pub(crate) fn parse_func(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    for visibility in ["public", "private", "nested"] {
        if parser.eat(visibility) {
            state.set_attr("sym_visibility", Attribute::string(visibility));
        }
    }
    let name = parser.symbol_name()?;
    state.set_attr("sym_name", Attribute::string(&*name));
    let arguments = parser.function_arguments()?;
    let (results, result_attributes): (Vec<Type>, Vec<Dictionary>) =
        parser.function_results()?.into_iter().unzip();
    let inputs = arguments.iter().map(|a| a.ty.clone()).collect();
    state.set_attr("function_type", Attribute::from(Type::function(inputs, results)));
    let argument_attributes = arguments.iter().map(|a| a.attributes.clone()).collect();
    for (slot, dictionaries) in
        [("arg_attrs", argument_attributes), ("res_attrs", result_attributes)]
    {
        if dictionaries.iter().any(|d| !d.is_empty()) {
            state.set_attr(
                slot,
                Attribute::array(dictionaries.into_iter().map(Attribute::from).collect()),
            );
        }
    }
    parser.optional_attr_dict_with_keyword(state)?;
    let span = parser.here();
    let body = if parser.at("{") {
        let body = parser.region(state.def, arguments)?;
        if parser.module().blocks(body).is_empty() {
            return parser.error_at(
                span,
                "the body of a function is empty; an external function has no braces",
            );
        }
        body
    } else {
        parser.module().create_region()
    };
    state.regions[0].push(body);
    Ok(())
}

/// Writes what [`parse_func`] reads.
pub(crate) fn print_func(printer: &mut Printer<'_>, op: OpRef<'_>) {
    printer.write(" ");
    if let Some(visibility) = op.symbol_visibility() {
        printer.write(visibility);
        printer.write(" ");
    }
    printer.symbol_name(op.symbol_name().unwrap_or(""));
    let module = op.module();
    let body = op.regions()[0];
    let entry = module.entry(body);
    let signature =
        op.attr("function_type").and_then(|t| t.as_type()?.as_function()).unwrap_or((&[], &[]));
    printer.function_signature(
        module,
        entry,
        signature,
        op.attr("arg_attrs"),
        op.attr("res_attrs"),
    );
    let written = ["sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"];
    printer.attr_dict_with_keyword(op, &written);
    if entry.is_some() {
        printer.write(" ");
        printer.region(op, body, false, true);
    }
}

fn verify_func(op: OpRef<'_>) -> Verdict {
    let func = FuncOp(op);
    let (inputs, results) = func.signature();
    for (what, attrs, count) in [
        ("arg_attrs", func.arg_attrs(), inputs.len()),
        ("res_attrs", func.res_attrs(), results.len()),
    ] {
        let Some(list) = attrs else { continue };
        if list.len() != count {
            let message = format!(
                "`{what}` has {} for {}",
                counted(list.len(), "entry"),
                counted(count, "value")
            );
            return Err(op.error("attribute", message));
        }
        let mut names = list
            .iter()
            .filter_map(|a| a.as_dictionary())
            .flat_map(|d| d.iter().map(|(name, _)| name));
        if let Some(name) = names.find(|name| !name.contains('.')) {
            let message = format!(
                "`{what}` may hold only attributes of dialects (`dialect.name`), found `{name}`"
            );
            return Err(op.error("attribute", message));
        }
    }
    let module = op.module();
    let Some(entry) = module.entry(func.body()) else { return Ok(()) };
    let arguments = module.arguments(entry);
    if arguments.len() != inputs.len() {
        let (found, expected) = (arguments.len(), inputs.len());
        return Err(op.error(
            "func",
            format!(
                "the body has {}, the function type has {expected}",
                counted(found, "argument")
            ),
        ));
    }
    if let Some(i) = (0..inputs.len()).find(|&i| *module.ty(arguments[i]) != inputs[i]) {
        let (found, expected) = (module.ty(arguments[i]), &inputs[i]);
        let message =
            format!("argument {i} of the body has type {found}, the function type says {expected}");
        return Err(op.error("func", message));
    }
    Ok(())
}

/// Checks the attributes of arguments and results with the hooks of their dialects.
fn verify_value_attributes(op: OpRef<'_>) -> Verdict {
    let func = FuncOp(op);
    let (inputs, results) = func.signature();
    let module = op.module();
    let arguments = module.entry(func.body()).map_or(&[][..], |entry| module.argument_locs(entry));
    for (kind, attributes, types) in
        [("argument", func.arg_attrs(), inputs), ("result", func.res_attrs(), results)]
    {
        for (i, (dictionary, ty)) in attributes.unwrap_or(&[]).iter().zip(types).enumerate() {
            for (name, attr) in dictionary.as_dictionary().into_iter().flat_map(|d| d.iter()) {
                let dialect = name.split_once('.').and_then(|(n, _)| module.registry().dialect(n));
                let Some(verify) = dialect.and_then(|d| d.verify_value_attribute) else { continue };
                if let Err(message) = verify(op, ty, name, attr) {
                    let error = op.error("attribute", format!("`{name}` of {kind} {i}: {message}"));
                    let place = arguments.get(i).filter(|_| kind == "argument");
                    return Err(match place {
                        Some(loc) => error.at(module.position(loc)),
                        None => error,
                    });
                }
            }
        }
    }
    Ok(())
}

op! {
    /// Ends a function with its results.
    pub ReturnOp, "func.return" {
        operands { operands: variadic TypeConstraint::ANY }
        traits [Pure, Terminator, ReturnLike, HasParent(&["func.func"])]
        hooks {
            format: "attr-dict ($operands^ `:` type($operands))?",
            verify: verify_return,
        }
    }
}

fn verify_return(op: OpRef<'_>) -> Verdict {
    let Some(func) = op.parent().and_then(FuncOp::cast) else { return Ok(()) };
    let results = func.signature().1;
    let name = func.symbol_name().unwrap_or("");
    if op.operands().len() != results.len() {
        let (found, expected) = (op.operands().len(), results.len());
        return Err(op.error(
            "return",
            format!(
                "returns {}, but @{name} has {}",
                counted(found, "value"),
                counted(expected, "result")
            ),
        ));
    }
    let differs = op
        .operand_types()
        .zip(results)
        .enumerate()
        .find(|(_, (found, expected))| found != expected);
    if let Some((i, (found, expected))) = differs {
        let message =
            format!("value {i} has type {found}, but result {i} of @{name} has type {expected}");
        return Err(op.error("return", message));
    }
    Ok(())
}
