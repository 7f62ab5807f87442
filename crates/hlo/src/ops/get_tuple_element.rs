//! `stablehlo.get_tuple_element`.

use super::prelude::*;

op! {
    /// Element `index` of a tuple.
    pub GetTupleElementOp, "stablehlo.get_tuple_element" {
        operands { operand: single TUPLE }
        results { result: single ANY_VALUE }
        attributes { index: required Int(32) }
        traits [Pure]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format("$operand `[` $index `]` attr-dict `:` functional-type(operands, results)"),
        }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let index = eval::usize_attr(op, "index")?;
    match operands.into_iter().next() {
        Some(RuntimeValue::Tuple(mut elements)) if index < elements.len() => Ok(vec![elements.swap_remove(index)]),
        _ => Err(EvalError::new("get_tuple_element_c1", format!("there is no tuple with an element {index}"))),
    }
}
