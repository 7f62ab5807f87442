//! `stablehlo.composite`.

use super::prelude::*;
use mlir::verify::nearest_symbol;
use side_dialects::func::FuncOp;

op! {
    /// The function `decomposition`, with a name and attributes by which a backend can recognize it
    /// and substitute a better implementation.
    pub CompositeOp, "stablehlo.composite" {
        operands { inputs: variadic ANY_TENSOR_TOKEN_OR_TUPLE }
        results { results: variadic ANY_TENSOR_TOKEN_OR_TUPLE }
        attributes {
            name: required String,
            composite_attributes: implied Dictionary => DefaultValue::EmptyDictionary,
            decomposition: required FlatSymbolRef,
            version: implied Int(32) => DefaultValue::I32(0),
        }
        regions { composite_regions: each any }
        traits [Call("decomposition")]
        rules include_str!("composite.txt");
        hooks {
            format:
                "$name operands (` ` `(` $composite_regions^ `)`)? attr-dict `:` \
                 functional-type(operands, results)",
            verify: verify,
            verify_symbols: verify_decomposition,
            prepare: prepare,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let name = CompositeOp(op).name();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut parts = name.split('.');
    let namespace = parts.next().unwrap_or("");
    let namespaced = namespace.starts_with(|c: char| c.is_ascii_alphabetic())
        && namespace.chars().all(is_word)
        && name.contains('.')
        && parts.all(|part| !part.is_empty() && part.chars().all(|c| is_word(c) || c == '$'));
    require(op, "composite_c1", namespaced, || {
        format!("name must be namespaced, such as `dialect.op`; found `{name}`")
    })
}

fn verify_decomposition(op: OpRef<'_>) -> Verdict {
    let symbol = CompositeOp(op).decomposition();
    let Some(function) = nearest_symbol(op, symbol) else {
        return Err(op.error("composite_c2", format!("decomposition `@{symbol}` is not defined")));
    };
    let Some((inputs, results)) = FuncOp::cast(function).map(FuncOp::signature) else {
        return Err(
            op.error("composite_c2", format!("decomposition `@{symbol}` is not a function"))
        );
    };
    require(op, "composite_c3", compat::lists(op.operand_types(), inputs.iter()), || {
        let (found, required) = (check::list(op.operand_types()), check::list(inputs.iter()));
        format!("inputs are {found}, but decomposition `@{symbol}` takes {required}")
    })?;
    require(op, "composite_c4", compat::lists(op.result_types(), results.iter()), || {
        let (found, required) = (check::list(op.result_types()), check::list(results.iter()));
        format!("results are {found}, but decomposition `@{symbol}` gives {required}")
    })
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Call(primitives::Call {
        function: cx.function(op, CompositeOp(op).decomposition())?,
    }))
}
