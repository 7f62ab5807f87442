//! `stablehlo.tuple`.

use super::prelude::*;

op! {
    /// A tuple of the values `val`.
    pub TupleOp, "stablehlo.tuple" {
        operands { val: variadic ANY_VALUE }
        results { result: single TUPLE }
        traits [Pure]
        hooks {
            assembly: Assembly::Format("$val attr-dict `:` custom<TupleOpType>(type($val), type($result))"),
            eval: Some(eval),
            infer: Some(infer),
            infer_label: "tuple_c1",
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    Ok(vec![Type::tuple(op.operand_types().cloned().collect())])
}

fn eval(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    Ok(vec![RuntimeValue::Tuple(operands)])
}
