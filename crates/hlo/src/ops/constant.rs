//! `stablehlo.constant`.

use super::prelude::*;
use mlir::ir::{Loc, OpName, OpParts};
use mlir::text::{OpState, Parsed, Parser, Printer};

op! {
    /// The tensor that the attribute `value` holds.
    pub ConstantOp, "stablehlo.constant" {
        results { output: single STATIC_TENSOR }
        attributes { value: required Elements }
        traits [ConstantLike, Pure]
        rules include_str!("constant.txt");
        hooks {
            parse: parse,
            print: print,
            result_name: ByOp(result_name),
            infer: infer,
            infer_label: "constant_c1",
            prepare: prepare,
        }
    }
}

/// Parts of a `stablehlo.constant` op with the given value, for constant materialization.
pub fn constant_parts(value: &Attribute, ty: &Type) -> Option<OpParts> {
    let mut parts = OpParts::new(OpName::Registered(ConstantOp::DEF), Loc::Unknown);
    let fits = value.is_elements() && (value.ty() == *ty || quantized::quantized(ty).is_some());
    parts.properties.push(Some(value.clone()));
    parts.result_types.push(ty.clone());
    fits.then_some(parts)
}

/// The value of a quantized constant has the storage type.
fn infer(op: OpRef<'_>) -> Inferred {
    let Some(value) = op.property(0).map(Attribute::ty) else { return Ok(Vec::new()) };
    let Some(result) = op.result_types().next() else { return Ok(vec![value]) };
    let stored =
        quantized::quantized(result).map(|view| compat::with_element(result, view.storage.clone()));
    Ok(vec![if stored.as_ref() == Some(&value) { result.clone() } else { value }])
}

/// `{attributes} dense<…> : T`, or the generic form without quotes if the result type differs from
/// that of the value.
fn parse(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    if parser.eat("(") {
        parser.expect(")")?;
        if parser.eat("<") {
            for (name, value) in parser.dictionary()?.iter() {
                state.set_attr(name, value.clone());
            }
            parser.expect(">")?;
        }
        parser.optional_attr_dict(state)?;
        parser.expect(":")?;
        let (_, results) = parser.function_signature()?;
        state.all_result_types = Some(results);
        return Ok(());
    }
    parser.optional_attr_dict(state)?;
    let at = parser.here();
    let value = parser.attribute(None)?;
    if !value.is_elements() {
        let message = format!(
            "expected elements with a type, such as `dense<[1, 2]> : tensor<2xi32>`, found `{value:.80}`"
        );
        return parser.error_at(at, message);
    }
    state.set_result_type(0, value.ty());
    state.properties[0] = Some(value);
    Ok(())
}

fn print(printer: &mut Printer<'_>, op: OpRef<'_>) {
    match op.property(0) {
        Some(value) if op.result_types().eq([&value.ty()]) => {
            printer.attr_dict(op, &["value"]);
            printer.write(" ");
            printer.attribute(value);
        }
        _ => printer.generic_op_after_name(op),
    }
}

/// `c` for integers, `cst` for others.
fn result_name(op: OpRef<'_>) -> String {
    let integer = op.result_types().next().is_some_and(|t| t.element_type().is_integer(None));
    if integer { "c" } else { "cst" }.to_string()
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let message = "the value is no dense literal or defined resource of numbers";
    let unknown = || Err(EvalError::new("constant_i1", message));
    mlir::prepare::constant(ConstantOp(op).value()).unwrap_or_else(unknown)
}
